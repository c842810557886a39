//! Counts the user's messages that an import stores as typed although they have what looks like a secret.

use lepo_base::error::Result;
use lepo_base::role::Role;
use lepo_secrets::{SecretCounts, SecretFinder};
use lepo_store::bubb::plural;

use super::ImportWriter;
use crate::import::ImportPlan;

/// New messages of the user with apparent secrets.
#[derive(Default)]
pub struct TypedSecrets {
    messages: u64,
    kinds: SecretCounts,
}

impl TypedSecrets {
    /// Formats the note on them; `None` without any.
    pub fn to_note(&self) -> Option<String> {
        let (have, they, them) = match self.messages {
            0 => return None,
            1 => ("has", "it is", "it"),
            _ => ("have", "they are", "them"),
        };
        Some(format!(
            "{} of yours {have} what looks like a secret ({}); {they} stored as typed. `lepo fsck --secrets` finds \
             {them}, `lepo rm --redact` takes {them} out",
            plural(self.messages, "message"),
            self.kinds.kind_list()
        ))
    }
}

/// Counts the new messages of a conversation with apparent secrets, before it is added.
pub fn count_typed(
    writer: &mut ImportWriter<'_>,
    plan: &ImportPlan,
    finder: &SecretFinder,
    typed: &mut TypedSecrets,
) -> Result<()> {
    for bubb in &plan.bubbs {
        let (name, is_redacted) = writer.current_name(bubb.name, bubb.text.as_bytes())?;
        if name.role != Role::User || is_redacted || writer.has(name.id)? {
            continue;
        }
        let found = finder.find(bubb.text.as_bytes());
        found.iter().for_each(|found| typed.kinds.add(found));
        typed.messages += u64::from(!found.is_empty());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_note_counts_messages_and_names_kinds() {
        let finder = SecretFinder::shapes_only();
        let mut typed = TypedSecrets::default();
        assert_eq!(typed.to_note(), None);
        let key = format!("sk-{}-api03-{}", "ant", "aZ7Or0xhGfxTEUQXbx6Ppv9AVlolLA1z");
        finder.find(key.as_bytes()).iter().for_each(|found| typed.kinds.add(found));
        for (messages, start, end) in [
            (
                1,
                "1 message of yours has what looks like a secret (anthropic-key); it is stored",
                "takes it out",
            ),
            (
                2,
                "2 messages of yours have what looks like a secret (anthropic-key); they are",
                "takes them out",
            ),
        ] {
            let note = TypedSecrets { messages, ..std::mem::take(&mut typed) };
            let text = note.to_note().unwrap();
            assert!(text.starts_with(start) && text.ends_with(end), "{text}");
            typed = note;
        }
    }
}
