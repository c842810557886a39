//! The messages before an answer, by which two requests are compared: kinds, hidden flags and texts, but not
//! times.

use std::path::Path;

use super::paths;
use crate::body::Body;
use crate::config::is_as_made;
use crate::masking::Masking;
use crate::message::{Message, NewMessage};
use crate::opening::{OpeningParts, opening, output_message, prompt_message, question_message};
use crate::{Question, TurnStart};
use lepo_base::error::Result;
use lepo_base::role::Role;
use lepo_secrets::without_digits;
use lepo_store::bubb::{Attachment, BubbId, with_attachments};
use lepo_store::conv::Forest;
use lepo_store::store::Store;

/// A message before an answer; the question is the last.
#[derive(Debug, Clone, PartialEq)]
pub struct PastMessage {
    /// Role of the message.
    pub role: Role,
    /// Whether it is hidden.
    pub hidden: bool,
    /// Its text, as it would be stored; masks of the same kind are equal.
    pub text: String,
    /// Its id, if it is in the store.
    pub id: Option<BubbId>,
}

impl PastMessage {
    /// Creates a message that is not in a store yet.
    pub(super) fn new(role: Role, hidden: bool, text: &str) -> PastMessage {
        PastMessage { role, hidden, text: without_digits(text).into_owned(), id: None }
    }

    /// Whether a recorded text is equal.
    pub(super) fn matches(&self, recorded: &str) -> bool {
        let recorded = without_digits(recorded);
        match self.role {
            // The default system prompt differs between runs with and without servers.
            Role::System if self.hidden && is_as_made(&self.text) => is_as_made(&recorded),
            Role::User => paths::is_same(&recorded, &self.text),
            _ => recorded == self.text,
        }
    }

    /// Whether a file of this size may contain the text. The digits in masks are optional, and paths may be
    /// longer.
    pub(super) fn may_have(&self, size: Option<u64>) -> bool {
        let any = self.hidden && is_as_made(&self.text)
            || lepo_secrets::has_mask(&self.text)
            || self.role == Role::User && paths::names_files(&self.text);
        any || size.is_none_or(|size| size == self.text.len() as u64)
    }
}

/// Returns the messages up to the start of a turn.
pub fn before(store: &Store, forest: &Forest, start: TurnStart) -> Result<Vec<PastMessage>> {
    let conv = start.id().and_then(|id| forest.find(id)).map(|ix| forest.conv(ix).path);
    let mut messages = Vec::new();
    for ix in conv.unwrap_or_default() {
        let name = forest.name(ix);
        let text = store.text(&name)?;
        if !Body::read_named(&name, &text).is_added() {
            messages
                .push(PastMessage { id: Some(name.id), ..PastMessage::new(name.role, name.hidden, &text) });
        }
    }
    Ok(messages)
}

/// Returns the messages of a turn before its answer as they would be stored, without the added ones. Reads the files of the
/// question, and writes nothing.
pub fn opening_messages(
    prompt: Option<String>,
    outputs: &[Vec<u8>],
    question: Option<&Question>,
    masking: &Masking,
    (cwd, root): (&Path, &Path),
) -> Result<Vec<PastMessage>> {
    let parts = OpeningParts {
        prompt: prompt.map(|prompt| prompt_message(masking, prompt)),
        outputs: outputs.iter().map(|output| output_message(masking, output)).collect(),
        question: question.map(|question| unwritten(question, masking)).transpose()?,
        ..OpeningParts::default()
    };
    let messages = |new: &NewMessage| {
        let Message { role, hidden, .. } = new.message;
        match role {
            Role::User => PastMessage::new(role, hidden, &paths::relative(&new.screened.text(), cwd, root)),
            _ => PastMessage::new(role, hidden, &new.screened.text()),
        }
    };
    Ok(opening(parts).iter().filter(|new| !new.message.body.is_added()).map(messages).collect())
}

fn unwritten(question: &Question, masking: &Masking) -> Result<NewMessage> {
    let lines = question.files.iter().map(|file| file.line_of()).collect::<Result<Vec<Attachment>>>()?;
    Ok(question_message(masking, with_attachments(&question.text, &lines), &question.typed_ranges))
}
