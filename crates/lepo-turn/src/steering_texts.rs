//! Texts of others that a question is about: their names, and the consent to them.

use super::instructions::{SentInstructions, record_consent};
use super::unproven::{UnprovenMessage, agree_to_messages};
use crate::config::{RepoFile, Trust};
use lepo_base::error::Result;
use lepo_base::hash::hash_of;
use lepo_tool::Unagreed;

/// Texts of others without the user's consent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct SteeringTexts {
    /// Instructions of the repository.
    pub(crate) files: Vec<SentInstructions>,
    /// Messages of the conversation without a proof.
    pub(crate) messages: Vec<UnprovenMessage>,
    /// Instructions of the store, which are ignored so far.
    pub(crate) insts: Option<RepoFile>,
    /// Whether the user was asked, and did not agree.
    pub(crate) refused: bool,
}

impl SteeringTexts {
    /// Returns their names, for the question.
    pub fn names(&self) -> Vec<Unagreed> {
        let files = self.files.iter().map(|file| Unagreed::File(file.path.clone()));
        let messages = self
            .messages
            .iter()
            .map(|message| Unagreed::Message(message.name.id.to_string(), message.name.tag()));
        let insts = self.insts.iter().map(|file| Unagreed::Insts(file.path.to_string_lossy().into_owned()));
        let all = files.chain(messages).chain(insts);
        match self.refused {
            true => all.map(|word| Unagreed::Refused(word.label())).collect(),
            false => all.collect(),
        }
    }

    /// Identifies the texts of the conversation: an answer is about all of them.
    pub fn identity(&self) -> Option<String> {
        let files = self.files.iter().flat_map(|file| [file.path.as_bytes(), file.text.as_bytes()]);
        let ids: Vec<String> = self.messages.iter().map(|message| message.name.id.to_string()).collect();
        let parts: Vec<&[u8]> = files.chain(ids.iter().map(String::as_bytes)).collect();
        (!parts.is_empty()).then(|| hash_of(&parts))
    }

    /// Records the user's consent.
    pub fn record_consent(&self, trust: &Trust) -> Result<()> {
        record_consent(&self.files, trust)?;
        agree_to_messages(&self.messages, trust)?;
        trust.save(self.insts.as_slice())
    }
}
