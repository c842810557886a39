//! Consent to the instructions of a repository: which files of a conversation still need it, and its record.
//!
//! Consent applies to these bytes, as written to the store, at this path.

use std::path::{Path, PathBuf};

use super::find::{InstructionFile, Instructions, is_path_of_instructions, read_instructions};
use super::text::read;
use crate::Masking;
use crate::body::Body;
use crate::config::Trust;
use crate::message::Message;
use lepo_base::error::Result;

/// A file of instructions in a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SentInstructions {
    /// Path of the file on this machine.
    pub absolute_path: PathBuf,
    /// Path below the root of the repository.
    pub path: String,
    /// The text, as written to the store.
    pub text: String,
}

/// Returns the files of a path that need consent, in the repository at `root`.
pub(crate) fn unagreed(
    path: &[Message],
    root: &Path,
    (trust, masking): (&Trust, &Masking),
) -> Result<Vec<SentInstructions>> {
    let mut files: Vec<SentInstructions> = Vec::new();
    for message in path.iter().filter(|message| message.body == Body::Instructions) {
        // A bubb that another program wrote counts as a single file.
        let read =
            read(&message.text).filter(|read| read.iter().all(|(path, _)| is_path_of_instructions(path)));
        let read = read.unwrap_or_else(|| vec![("AGENTS.md", &message.text)]);
        for (path, text) in read {
            // In the turn that wrote it, the text is still unmasked in memory.
            let text = masking.masked(text).into_owned();
            let file = SentInstructions { absolute_path: root.join(path), path: path.to_string(), text };
            if !files.contains(&file) {
                files.push(file);
            }
        }
    }
    let agreed = trust
        .has_consent_each(files.iter().map(|file| (file.absolute_path.as_path(), file.text.as_str())))?;
    Ok(files.into_iter().zip(agreed).filter(|(_, agreed)| !agreed).map(|(file, _)| file).collect())
}

/// Returns the instructions for a folder that need consent, as they would be written.
pub fn unagreed_here(dir: &Path, trust: &Trust, masking: &Masking) -> Result<Vec<SentInstructions>> {
    let found = Instructions::read(dir);
    let Some(root) = found.root else { return Ok(Vec::new()) };
    let file = |file: InstructionFile| SentInstructions {
        absolute_path: root.join(&file.path),
        text: masking.masked(&file.text).into_owned(),
        path: file.path,
    };
    let files: Vec<SentInstructions> = found.files.into_iter().map(file).collect();
    let agreed = trust
        .has_consent_each(files.iter().map(|file| (file.absolute_path.as_path(), file.text.as_str())))?;
    Ok(files.into_iter().zip(agreed).filter(|(_, agreed)| !agreed).map(|(file, _)| file).collect())
}

/// Records the user's consent to these files.
pub fn record_consent(files: &[SentInstructions], trust: &Trust) -> Result<()> {
    trust.record_consent(files.iter().map(|file| (file.absolute_path.as_path(), file.text.as_str())))
}

/// Instructions of a repository that the user agreed to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstructionsConsent {
    /// The path as recorded.
    pub path: String,
    /// Whether the file is unchanged since then.
    pub is_as_now: bool,
}

/// Returns the consents to instructions below these folders.
pub fn agreements(trust: &Trust, masking: &Masking, folders: &[&Path]) -> Result<Vec<InstructionsConsent>> {
    let mut found = Vec::new();
    for path in trust.recorded_paths(folders)? {
        let path = path.trim_matches('"').to_string();
        if !is_path_of_instructions(path.trim_start_matches('/')) {
            continue;
        }
        let text = read_instructions(None, Path::new(&path)).map(|(text, _)| text).unwrap_or_default();
        let text = masking.masked(&text);
        let is_as_now = trust.has_consent_each([(Path::new(&path), &*text)].into_iter())?.contains(&true);
        found.push(InstructionsConsent { path, is_as_now });
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::super::text::{GONE, written};
    use super::*;
    use lepo_base::role::Role;

    fn instructions_message(text: &str) -> Message {
        Message::new(Role::System, true, text)
    }

    #[test]
    fn a_yes_is_for_these_bytes_at_this_place() {
        let state = tempfile::tempdir().unwrap();
        let trust = Trust::in_state(state.path());
        let one = instructions_message(&written([("AGENTS.md", "one"), ("sub/AGENTS.md", "low")]));
        let names = |path: &[Message], root: &str| {
            let files = unagreed(path, Path::new(root), (&trust, &Masking::shapes_only())).unwrap();
            files.into_iter().map(|file| file.path).collect::<Vec<_>>().join(" ")
        };
        let conv = [one.clone(), instructions_message(GONE)];
        assert_eq!(names(&conv, "/r"), "AGENTS.md sub/AGENTS.md", "also when they are gone");
        record_consent(&unagreed(&conv, Path::new("/r"), (&trust, &Masking::shapes_only())).unwrap(), &trust)
            .unwrap();
        assert_eq!(names(&conv, "/r"), "");
        assert_eq!(names(&conv, "/other"), "AGENTS.md sub/AGENTS.md");
        let two = instructions_message(&written([("AGENTS.md", "two"), ("sub/AGENTS.md", "low")]));
        assert_eq!(names(&[one.clone(), two], "/r"), "AGENTS.md");
        let visible = Message::new(Role::System, false, written([("AGENTS.md", "three")]));
        assert_eq!(names(&[one.clone(), visible], "/r"), "");
        // Part of an agreed file is not agreed to.
        let glued =
            instructions_message(&written([("AGENTS.md", "one\n\n== sub/AGENTS.md, 3 bytes ==\nlow")]));
        assert_eq!(names(&[glued], "/r"), "AGENTS.md");
        assert_eq!(trust.forget(Path::new("/r/AGENTS.md")).unwrap(), 1);
        assert_eq!(names(&[one], "/r"), "AGENTS.md");
    }

    #[test]
    fn no_bubb_passes_for_another_file_than_instructions() {
        let state = tempfile::tempdir().unwrap();
        let trust = Trust::in_state(state.path());
        for forged in [
            written([(".lepo/_config.toml", "x = 1")]),
            written([("../other/AGENTS.md", "x")]),
            written([("/etc/AGENTS.md", "x")]),
            written([(".git/AGENTS.md", "x")]),
            written([("AGENTS.md", "x")]).replace("1 bytes", "9 bytes"),
        ] {
            let files = unagreed(
                &[instructions_message(&forged)],
                Path::new("/r"),
                (&trust, &Masking::shapes_only()),
            )
            .unwrap();
            assert_eq!(files.len(), 1, "{forged}");
            assert_eq!((files[0].path.as_str(), &files[0].text), ("AGENTS.md", &forged));
        }
    }
}
