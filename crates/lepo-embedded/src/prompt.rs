//! From messages to the tokens the model reads: ChatML, with a system message only where the first message is
//! one, and not that of the model's own template. What does not fit is left out, oldest first.

use lepo_base::error::{Error, Kind, Result};

use crate::protocol::{Message, Role};
use crate::tokenizer::Tokenizer;

/// The most tokens, read and written together: the length of candle's position tables.
pub const CONTEXT: usize = 4096;

/// The most tokens kept free for the answer, however long it may become.
const RESERVED: usize = 1024;

/// The prompt of the model.
pub struct Prompt {
    pub tokens: Vec<u32>,
    /// The number of messages, the oldest, that had no room.
    pub left_out: usize,
}

/// One message of the model's own format: who, and the tokens of what.
struct Turn {
    assistant: bool,
    tokens: Vec<u32>,
}

/// Makes the prompt for an answer of up to `max_tokens`, the newest message always whole.
/// Fails if that alone is too long, or if there is nothing to answer.
pub fn render(messages: &[Message], max_tokens: usize, tokenizer: &Tokenizer) -> Result<Prompt> {
    let frame = Frame::new(tokenizer)?;
    let mut room = CONTEXT - max_tokens.min(RESERVED) - frame.answer.len();
    let mut said: Vec<&Message> = messages.iter().filter(|m| !is_silent(m)).collect();
    // The system message stays, unless there would be no room for anything else.
    let mut system = Vec::new();
    if said.len() > 1 && said.first().is_some_and(|message| message.role == Role::System) {
        let message = said.remove(0);
        if let Some(tokens) = tokenizer.encode_within(&message.content, room / 4)? {
            system = frame.system(tokens);
            room -= system.len();
        }
    }

    // From the newest back, so that a conversation of 100,000 messages costs no more than what fits.
    let mut kept = Vec::new();
    let mut used = 0;
    for message in said.iter().rev() {
        let most = room.saturating_sub(used + frame.cost());
        let Some(tokens) = tokenizer.encode_within(&message.content, most)? else {
            if kept.is_empty() {
                let why = format!(
                    "the last message is longer than the {most} tokens that the embedded model can \
                        read"
                );
                return Err(Error::new(Kind::Overflow, why));
            }
            break;
        };
        used += tokens.len() + frame.cost();
        kept.push(Turn { assistant: message.role == Role::Assistant, tokens });
    }
    // If the cut falls between a question and its answer, the answer would follow no question.
    if kept.len() < said.len() && kept.len() > 1 && kept.last().is_some_and(|turn| turn.assistant) {
        kept.pop();
    }
    if kept.is_empty() {
        return Err(Error::usage("no message has any text"));
    }
    let left_out = said.len() - kept.len();
    kept.reverse();
    let tokens = [system, frame.lay_out(&kept)].concat();
    Ok(Prompt { tokens, left_out })
}

/// An instruction without words is none; any other message counts, even an empty one.
fn is_silent(message: &Message) -> bool {
    message.role == Role::System && message.content.trim().is_empty()
}

/// The marks between messages, as tokens.
struct Frame {
    system: Vec<u32>,
    user: Vec<u32>,
    answer: Vec<u32>,
    close: Vec<u32>,
    gap: Vec<u32>,
}

impl Frame {
    fn new(tokenizer: &Tokenizer) -> Result<Self> {
        let open = |role: &str| -> Result<Vec<u32>> {
            Ok([vec![tokenizer.im_start], tokenizer.encode(role)?].concat())
        };
        Ok(Frame {
            system: open("system\n")?,
            user: open("user\n")?,
            answer: open("assistant\n")?,
            close: [vec![tokenizer.im_end], tokenizer.encode("\n")?].concat(),
            gap: tokenizer.encode("\n\n")?,
        })
    }

    /// The system message.
    fn system(&self, tokens: Vec<u32>) -> Vec<u32> {
        [self.system.clone(), tokens, self.close.clone()].concat()
    }

    /// The most tokens that a message costs beside its own.
    fn cost(&self) -> usize {
        self.user.len().max(self.answer.len()) + self.close.len().max(self.gap.len())
    }

    /// The model knows two roles that alternate: every kind but the assistant's becomes the user's,
    /// and neighbours with the same role become one message.
    fn lay_out(&self, turns: &[Turn]) -> Vec<u32> {
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

    fn message(role: Role, content: impl Into<String>) -> Message {
        Message { role, content: content.into() }
    }

    /// The prompt as text, `[` and `]` for the two marks.
    fn rendered(messages: &[Message]) -> String {
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
        use Role::*;
        let cases: [(&[(Role, &str)], &str); 6] = [
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
            let messages: Vec<Message> = messages.iter().map(|&(role, text)| message(role, text)).collect();
            assert_eq!(rendered(&messages), text);
        }
    }

    #[test]
    fn oldest_are_left_out() {
        let tokenizer = ascii();
        let long = |role| message(role, "x".repeat(1000));
        let cases = [
            (vec![long(Role::User), long(Role::Assistant), long(Role::User)], 1024, 0),
            (vec![long(Role::User); 4], 1024, 1),
            (vec![long(Role::User); 4], 5, 0),
            (vec![long(Role::User); 4], 100_000, 1),
            // Three fit, but the oldest of them answers what is gone.
            (
                [Role::Assistant, Role::User, Role::Assistant, Role::User, Role::User].map(long).to_vec(),
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
            (vec![message(Role::User, "x".repeat(5000))], "is longer than"),
            (vec![message(Role::User, "hi"), message(Role::User, "x".repeat(5000))], "is longer than"),
            (vec![message(Role::System, "")], "no message has any text"),
        ];
        for (messages, why) in cases {
            let error = render(&messages, 1024, &ascii()).err().unwrap();
            assert!(error.message.contains(why), "{error}");
        }
    }
}
