//! The path of a turn: the bubbs with their texts, the bubbs to add, and the answers with calls.

use super::attach::AttachedFile;
use super::body::Body;
use lepo_model::{MediaFile, ProviderMessage, SharedText, ToolCall};
use lepo_secrets::ScreenedBytes;
use lepo_store::bubb::Kind;

/// A bubb of the path, with its text.
#[derive(Debug, Clone, PartialEq)]
pub struct PathEntry {
    pub kind: Kind,
    pub hidden: bool,
    /// Whether it has no prev.
    pub root: bool,
    /// The text; bytes that are not UTF-8 are U+FFFD.
    pub text: SharedText,
    pub body: Body,
    /// The files attached to it; only questions and results of servers' tools have files.
    pub files: Vec<AttachedFile>,
}

impl PathEntry {
    pub fn new(
        (kind, hidden, root): (Kind, bool, bool),
        text: SharedText,
        files: Vec<AttachedFile>,
    ) -> PathEntry {
        let body = Body::read(kind, hidden, &text);
        PathEntry { kind, hidden, root, text, body, files }
    }

    /// Returns the files to send with it.
    pub fn sent_files(&self) -> Vec<MediaFile> {
        self.files.iter().filter_map(|attached| attached.file.clone()).collect()
    }
}

/// A bubb to insert before the answer.
pub struct OpeningBubb {
    pub kind: Kind,
    pub hidden: bool,
    /// The text that the model receives.
    pub text: String,
    /// The text to write.
    pub kept: ScreenedBytes<'static>,
}

/// An answer of this turn with calls.
#[derive(Debug, Clone, PartialEq)]
pub struct CalledAnswer {
    /// Index of its first bubb on the path.
    pub at: usize,
    pub calls: Vec<ToolCall>,
    /// The answer as received.
    pub replay: Option<ProviderMessage>,
    /// Whether a call of it was pending when an earlier process ended.
    pub waited: bool,
}

/// Paths for the tests of this crate.
#[cfg(test)]
pub mod fixture {
    use super::{Kind, PathEntry};

    /// An entry that is not the root.
    pub fn entry(kind: Kind, hidden: bool, text: &str) -> PathEntry {
        PathEntry::new((kind, hidden, false), text.into(), Vec::new())
    }

    /// `s1 prompt / u0 hi`: the first is the root.
    pub fn path(text: &str) -> Vec<PathEntry> {
        let entry = |(i, line): (usize, &str)| {
            let (tag, text) = line.split_once(' ').unwrap();
            let kind = Kind::from_letter(tag.as_bytes()[0]).unwrap();
            PathEntry::new((kind, tag.ends_with('1'), i == 0), text.into(), Vec::new())
        };
        text.split(" / ").enumerate().map(entry).collect()
    }
}
