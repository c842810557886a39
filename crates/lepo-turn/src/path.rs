//! A path as a turn has it: the bubbs with their texts, what is to be added to them, and the answers that have calls.

use super::attach::Attached;
use lepo_model::{MediaFile, Replay, Text, ToolCall};
use lepo_secrets::Kept;
use lepo_store::bubb::Kind;
use lepo_tool::ToolRequest;

/// One bubb of the path, with its text.
#[derive(Debug, Clone, PartialEq)]
pub struct PathEntry {
    /// The kind of the bubb.
    pub kind: Kind,
    /// Not shown.
    pub hidden: bool,
    /// The bubb has no prev.
    pub root: bool,
    /// The text; bytes that are not UTF-8 as U+FFFD.
    pub text: Text,
    /// The files that it attaches; only a question and a result of a server's tool have any.
    pub files: Vec<Attached>,
}

impl PathEntry {
    /// The files that are sent with it.
    pub fn sent_files(&self) -> Vec<MediaFile> {
        self.files.iter().filter_map(|attached| attached.file.clone()).collect()
    }
}

/// A bubb of what comes before the answer.
pub struct Opening {
    /// Its kind.
    pub kind: Kind,
    /// Not shown.
    pub hidden: bool,
    /// Its text, as the model is told it.
    pub text: String,
    /// Its text as it is written.
    pub kept: Kept<'static>,
}

/// An answer of this turn that has calls.
#[derive(Debug, Clone, PartialEq)]
pub struct CalledAnswer {
    /// The place on the path at which its bubbs begin.
    pub at: usize,
    /// The calls.
    pub calls: Vec<ToolCall>,
    /// The answer as it was received.
    pub replay: Option<Replay>,
    /// One of its calls waited for consent when an earlier process ended.
    pub waited: bool,
}

/// The request that a bubb is: hidden, lepo's or the model's, and its canonical form to the letter.
pub fn request(kind: Kind, hidden: bool, text: &str) -> Option<ToolRequest> {
    let may = hidden && matches!(kind, Kind::System | Kind::Assistant);
    ToolRequest::from_canonical(text).filter(|_| may)
}

/// Paths for the tests of this crate.
#[cfg(test)]
pub mod fixture {
    use super::{Kind, PathEntry};

    /// `s1 prompt / u0 hi`: the first is the root.
    pub fn path(text: &str) -> Vec<PathEntry> {
        let entry = |(i, line): (usize, &str)| {
            let (tag, text) = line.split_once(' ').unwrap();
            let kind = Kind::of_letter(tag.as_bytes()[0]).unwrap();
            PathEntry { kind, hidden: tag.ends_with('1'), root: i == 0, text: text.into(), files: Vec::new() }
        };
        text.split(" / ").enumerate().map(entry).collect()
    }
}
