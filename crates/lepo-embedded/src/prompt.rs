//! Converts messages to the tokens that the model reads: ChatML, with a system message only if the first message is
//! one, and without the default one of the model's template. The oldest messages are omitted if they do not fit.

use lepo_base::error::{Error, ExitKind, Result};

use crate::protocol::{InputMessage, InputRole};
use crate::tokenizer::Tokenizer;

/// Maximum number of tokens, read and written: the length of candle's position tables.
pub const CONTEXT: usize = 4096;

/// Maximum number of tokens reserved for the answer, even if it may be longer.
const RESERVED: usize = 1024;

/// The prompt of the model.
pub struct TokenPrompt {
    pub tokens: Vec<u32>,
    /// Number of omitted messages, the oldest.
    pub left_out: usize,
}

/// A message in the model's format: whether it is the assistant's, and the tokens of its text.
struct TokenMessage {
    assistant: bool,
    tokens: Vec<u32>,
}

/// Builds the prompt for an answer of up to `max_tokens`. The newest message is always complete: it is an error if it
/// is too long alone, or if there is no message to answer.
pub fn render(messages: &[InputMessage], max_tokens: usize, tokenizer: &Tokenizer) -> Result<TokenPrompt> {
    let frame = ChatTemplate::new(tokenizer)?;
    let mut room = CONTEXT - max_tokens.min(RESERVED) - frame.answer.len();
    let mut non_empty: Vec<&InputMessage> = messages.iter().filter(|m| !is_silent(m)).collect();
    // The system message stays, unless it needs over a quarter of the room.
    let mut system = Vec::new();
    if non_empty.len() > 1 && non_empty.first().is_some_and(|message| message.role == InputRole::System) {
        let message = non_empty.remove(0);
        if let Some(tokens) = tokenizer.encode_within(&message.content, room / 4)? {
            system = frame.system(tokens);
            room -= system.len();
        }
    }

    // Starts at the newest message, so that a conversation of 100,000 messages costs no more than the part that fits.
    let mut kept = Vec::new();
    let mut used = 0;
    for message in non_empty.iter().rev() {
        let most = room.saturating_sub(used + frame.cost());
        let Some(tokens) = tokenizer.encode_within(&message.content, most)? else {
            if kept.is_empty() {
                let why = format!(
                    "the last message is longer than the {most} tokens that the embedded model can \
                        read"
                );
                return Err(Error::new(ExitKind::Overflow, why));
            }
            break;
        };
        used += tokens.len() + frame.cost();
        kept.push(TokenMessage { assistant: message.role == InputRole::Assistant, tokens });
    }
    // If the cut is between a question and its answer, the answer is omitted too.
    if kept.len() < non_empty.len() && kept.len() > 1 && kept.last().is_some_and(|turn| turn.assistant) {
        kept.pop();
    }
    if kept.is_empty() {
        return Err(Error::usage("no message has any text"));
    }
    let left_out = non_empty.len() - kept.len();
    kept.reverse();
    let tokens = [system, frame.lay_out(&kept)].concat();
    Ok(TokenPrompt { tokens, left_out })
}

/// Empty system messages are dropped; other empty messages stay.
fn is_silent(message: &InputMessage) -> bool {
    message.role == InputRole::System && message.content.trim().is_empty()
}

/// The marks between messages, as tokens.
struct ChatTemplate {
    system: Vec<u32>,
    user: Vec<u32>,
    answer: Vec<u32>,
    close: Vec<u32>,
    gap: Vec<u32>,
}

impl ChatTemplate {
    fn new(tokenizer: &Tokenizer) -> Result<Self> {
        let open = |role: &str| -> Result<Vec<u32>> {
            Ok([vec![tokenizer.im_start], tokenizer.encode(role)?].concat())
        };
        Ok(ChatTemplate {
            system: open("system\n")?,
            user: open("user\n")?,
            answer: open("assistant\n")?,
            close: [vec![tokenizer.im_end], tokenizer.encode("\n")?].concat(),
            gap: tokenizer.encode("\n\n")?,
        })
    }

    /// Formats the system message.
    fn system(&self, tokens: Vec<u32>) -> Vec<u32> {
        [self.system.clone(), tokens, self.close.clone()].concat()
    }

    /// Returns the maximum number of tokens of a message's marks.
    fn cost(&self) -> usize {
        self.user.len().max(self.answer.len()) + self.close.len().max(self.gap.len())
    }

    /// Formats the messages. The model knows only two alternating roles: every role except the assistant's becomes the
    /// user's, and adjacent messages of a role are joined.
    fn lay_out(&self, turns: &[TokenMessage]) -> Vec<u32> {
        let mut tokens = Vec::new();
        for run in turns.chunk_by(|a, b| a.assistant == b.assistant) {
            let voice = if run.iter().any(|turn| turn.assistant) { &self.answer } else { &self.user };
            tokens.extend_from_slice(voice);
            let texts: Vec<&[u32]> = run.iter().map(|turn| turn.tokens.as_slice()).collect();
            tokens.extend(texts.join(self.gap.as_slice()));
            tokens.extend_from_slice(&self.close);
        }
        tokens.extend_from_slice(&self.answer);
        tokens
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tokenizer::tests::ascii;

    fn message(role: InputRole, content: impl Into<String>) -> InputMessage {
        InputMessage { role, content: content.into() }
    }

    /// Formats the prompt as text, with `[` and `]` for the two marks.
    fn rendered(messages: &[InputMessage]) -> String {
        let tokenizer = ascii();
        let prompt = render(messages, 1024, &tokenizer).unwrap();
        prompt
            .tokens
            .iter()
            .map(|&t| match t {
                t if t == tokenizer.im_start => "[".to_owned(),
                t if t == tokenizer.im_end => "]".to_owned(),
                t => String::from_utf8(tokenizer.bytes(t)).unwrap(),
            })
            .collect()
    }

    #[test]
    fn layout() {
        use InputRole::*;
        let cases: [(&[(InputRole, &str)], &str); 6] = [
            (&[(User, "hi")], "[user\nhi]\n[assistant\n"),
            (
                &[(User, "hi"), (Assistant, "yes"), (User, "so")],
                "[user\nhi]\n[assistant\nyes]\n[user\nso]\n[assistant\n",
            ),
            (&[(System, " \n"), (User, "hi")], "[user\nhi]\n[assistant\n"),
            (&[(System, "be"), (Tool, "2"), (User, "hi")], "[system\nbe]\n[user\n2\n\nhi]\n[assistant\n"),
            (&[(User, "hi"), (System, "be")], "[user\nhi\n\nbe]\n[assistant\n"),
            (&[(User, "<|im_end|>")], "[user\n<|im_end|>]\n[assistant\n"),
        ];
        for (messages, text) in cases {
            let messages: Vec<InputMessage> =
                messages.iter().map(|&(role, text)| message(role, text)).collect();
            assert_eq!(rendered(&messages), text);
        }
    }

    #[test]
    fn oldest_are_left_out() {
        let tokenizer = ascii();
        let long = |role| message(role, "x".repeat(1000));
        let cases = [
            (vec![long(InputRole::User), long(InputRole::Assistant), long(InputRole::User)], 1024, 0),
            (vec![long(InputRole::User); 4], 1024, 1),
            (vec![long(InputRole::User); 4], 5, 0),
            (vec![long(InputRole::User); 4], 100_000, 1),
            // Three fit, but the oldest of them answers an omitted question.
            (
                [
                    InputRole::Assistant,
                    InputRole::User,
                    InputRole::Assistant,
                    InputRole::User,
                    InputRole::User,
                ]
                .map(long)
                .to_vec(),
                1024,
                3,
            ),
        ];
        for (messages, max_tokens, left_out) in cases {
            let prompt = render(&messages, max_tokens, &tokenizer).unwrap();
            assert_eq!(prompt.left_out, left_out);
            assert!(prompt.tokens.len() + max_tokens.min(RESERVED) <= CONTEXT);
        }
    }

    #[test]
    fn refused() {
        let cases = [
            (vec![message(InputRole::User, "x".repeat(5000))], "is longer than"),
            (
                vec![message(InputRole::User, "hi"), message(InputRole::User, "x".repeat(5000))],
                "is longer than",
            ),
            (vec![message(InputRole::System, "")], "no message has any text"),
        ];
        for (messages, why) in cases {
            let error = render(&messages, 1024, &ascii()).err().unwrap();
            assert!(error.message.contains(why), "{error}");
        }
    }
}
