//! A recorded answer, with what a client receives of it: text, calls, the reason of its end, tokens.

use lepo_base::role::Role;
use lepo_store::bubb::{BubbId, BubbName};
use lepo_store::store::JournalRecord;

use crate::answer::{FinishWord, TokenCounts};

/// Bytes of a piece of text in a stream, at least; a piece ends after a blank.
const PIECE: usize = 32;

/// A part of a recorded answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReplyPart {
    /// Text.
    Text(String),
    /// A call of one of the client's tools.
    Call(ReplyCall),
}

/// A recorded call. Its ids are made of the message's id, so that they are the same at each run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplyCall {
    /// The message.
    pub bubb: BubbId,
    /// The tool.
    pub name: String,
    /// The arguments: JSON, or a text in the tool's own form.
    pub input: String,
}

impl ReplyCall {
    /// Whether the arguments are an object, as most tools have them.
    pub fn has_object(&self) -> bool {
        serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(&self.input).is_ok()
    }

    /// Returns the arguments as an object; a text of another form is its field `input`.
    pub fn input_object(&self) -> serde_json::Value {
        serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(&self.input)
            .map_or_else(|_| serde_json::json!({ "input": self.input }), serde_json::Value::Object)
    }
}

/// A recorded answer.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordedReply {
    /// The message with the answer's line in the journal.
    pub answer: BubbId,
    /// Its parts, without thinking.
    pub parts: Vec<ReplyPart>,
    /// Why it ended.
    pub finish: FinishWord,
    /// The tokens in the journal.
    pub counts: TokenCounts,
    /// Whether secrets in it are masked.
    pub has_masks: bool,
}

impl RecordedReply {
    /// Assembles an answer from its messages with their texts, in order, and the facts of its line. `prefill` is the
    /// beginning of its text, which the client has already.
    pub fn new(
        answer: BubbId,
        texts: Vec<(BubbName, String)>,
        facts: &JournalRecord,
        prefill: Option<&str>,
    ) -> RecordedReply {
        let has_masks = texts.iter().any(|(_, text)| lepo_secrets::has_mask(text));
        let mut prefill = prefill.filter(|prefill| !prefill.is_empty());
        let mut parts = Vec::new();
        for (name, text) in texts {
            match (name.role, name.hidden) {
                (Role::Assistant, true) => {
                    let (tool, input) = text.split_once('\n').unwrap_or((&text, ""));
                    let call = ReplyCall {
                        bubb: name.id,
                        name: tool.trim().to_string(),
                        input: input.trim().to_string(),
                    };
                    parts.push(ReplyPart::Call(call));
                }
                (Role::Assistant, false) => {
                    let rest = prefill.take().and_then(|begin| text.strip_prefix(begin));
                    let text = rest.map_or_else(|| text.clone(), str::to_string);
                    parts.push(ReplyPart::Text(text));
                }
                _ => {}
            }
        }
        let has_calls = parts.iter().any(|part| matches!(part, ReplyPart::Call(_)));
        let usual = if has_calls { FinishWord::Tools } else { FinishWord::Stop };
        let finish = facts.finish.as_deref().and_then(FinishWord::from_journal).unwrap_or(usual);
        let counts =
            TokenCounts { input: facts.input, cached: facts.cached, cache_write: None, output: facts.output };
        RecordedReply { answer, parts, finish, counts, has_masks }
    }

    /// Returns the texts, joined by a blank line.
    pub fn joined_text(&self) -> String {
        let texts = self.parts.iter().filter_map(|part| match part {
            ReplyPart::Text(text) => Some(text.as_str()),
            ReplyPart::Call(_) => None,
        });
        texts.collect::<Vec<_>>().join("\n\n")
    }

    /// Returns the calls in order.
    pub fn calls(&self) -> impl Iterator<Item = &ReplyCall> {
        self.parts.iter().filter_map(|part| match part {
            ReplyPart::Call(call) => Some(call),
            ReplyPart::Text(_) => None,
        })
    }

    /// Returns the time of the message, in seconds since 1970.
    pub fn seconds(&self) -> u64 {
        self.answer.time() / 1000
    }
}

/// Splits a text into pieces, which a stream sends one by one.
pub fn text_pieces(text: &str) -> Vec<String> {
    let mut pieces: Vec<String> = Vec::new();
    for word in text.split_inclusive(char::is_whitespace) {
        match pieces.last_mut().filter(|last| last.len() < PIECE) {
            Some(last) => last.push_str(word),
            None => pieces.push(word.to_string()),
        }
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_the_text_and_end_after_a_blank() {
        for (text, count) in [
            ("", 0),
            ("short", 1),
            ("one two three four five six seven eight nine", 2),
            ("a\n\nb ", 1),
            ("한국어로 된 글도 낱말 사이에서만 나뉩니다, 그리고 그대로입니다.", 2),
        ] {
            let found = text_pieces(text);
            assert_eq!((found.concat().as_str(), found.len()), (text, count), "{found:?}");
        }
    }
}
