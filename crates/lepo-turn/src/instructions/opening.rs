//! Decides whether instructions precede a question: once per conversation, and again after they changed.

use std::borrow::Cow;

use super::find::Instructions;
use super::text::{GONE, written};
use crate::Masking;
use crate::body::Body;
use crate::message::{Message, NewMessage};
use lepo_secrets::ScreenedBytes;

/// Returns the bubb to insert before a question at the end of this path, if one is needed.
pub(crate) fn opening(found: &Instructions, path: &[Message], masking: &Masking) -> Option<NewMessage> {
    let last = path.iter().rfind(|message| message.body == Body::Instructions);
    if found.is_empty() {
        return last
            .filter(|message| *message.text != *GONE)
            .map(|_| NewMessage::hidden(GONE.to_string(), ScreenedBytes::typed(GONE)));
    }
    let masked: Vec<(&str, Cow<'_, str>)> =
        found.files.iter().map(|file| (file.path.as_str(), masking.masked(&file.text))).collect();
    // Compares the text as it would be written, since secrets are masked on disk.
    let screened = written(masked.iter().map(|(path, text)| (*path, &**text)));
    if last.is_some_and(|message| *message.text == *screened) {
        return None;
    }
    for file in &found.files {
        // Secrets are counted only when the bubb is written.
        masking.screen(file.text.as_bytes(), "AGENTS.md");
    }
    let text = written(found.files.iter().map(|file| (file.path.as_str(), file.text.as_str())));
    Some(NewMessage::hidden(text, masking.screen_uncounted(&screened)))
}

#[cfg(test)]
mod tests {
    use super::super::find::InstructionFile;
    use super::*;
    use crate::Notice;
    use crate::message::fixture::path;
    use lepo_base::role::Role;

    fn instructions(texts: &[&str]) -> Instructions {
        let file = |text: &&str| InstructionFile { path: "AGENTS.md".into(), text: text.to_string() };
        Instructions { files: texts.iter().map(file).collect(), ..Instructions::default() }
    }

    #[test]
    fn they_are_told_once_and_when_they_changed_and_when_they_are_gone() {
        let masking = Masking::shapes_only();
        let mut conv = path("s1 P / u0 hi / a0 x");
        let mut opening_text = |found: &Instructions| {
            let opening = opening(found, &conv, &masking)?;
            assert_eq!((opening.message.role, opening.message.hidden), (Role::System, true));
            let text = opening.screened.text().into_owned();
            let more = path(&format!("s1 {text}"));
            conv.extend(more.into_iter().map(|message| Message { is_root: false, ..message }));
            Some(text)
        };
        assert_eq!(opening_text(&instructions(&[])), None);
        assert!(opening_text(&instructions(&["one"])).unwrap().contains("== AGENTS.md, 3 bytes ==\none\n"));
        assert_eq!(opening_text(&instructions(&["one"])), None);
        assert!(opening_text(&instructions(&["two"])).is_some());
        assert!(opening_text(&instructions(&["one"])).is_some(), "only the last counts");
        assert_eq!(opening_text(&instructions(&[])).as_deref(), Some(GONE));
        assert_eq!(opening_text(&instructions(&[])), None);
        assert!(opening_text(&instructions(&["one"])).is_some());
    }

    #[test]
    fn a_secret_in_them_is_masked_and_no_change() {
        let masking = Masking::shapes_only();
        let key = format!("-----BEGIN {} KEY-----\n{}\n-----END {0} KEY-----", "PRIVATE", "QUJD".repeat(12));
        let found = instructions(&[&key]);
        let new_message = opening(&found, &[], &masking).unwrap();
        let screened = new_message.screened.text().into_owned();
        assert!(
            new_message.message.text.contains("QUJDQUJD") && screened.contains("[secret: private-key]"),
            "{screened}"
        );
        let Some(Notice::Secrets(secrets)) = masking.secrets_notice() else { panic!() };
        assert_eq!(secrets.sources, ["AGENTS.md"]);
        let message = Message::new(Role::System, true, screened.as_str());
        assert!(opening(&found, &[message], &masking).is_none());
        assert_eq!(masking.secrets_notice(), None, "nothing was written");
    }
}
