//! The steps of an answer, in one form for all wires.

use serde_json::Value;

use crate::request::MessageItem;

/// A step of an answer. Several answers to one request have an index each.
#[derive(Debug, Clone, PartialEq)]
pub enum AnswerUpdate {
    /// More text.
    Text(usize, String),
    /// The text that follows is a message of its own.
    NewText(usize),
    /// More thinking.
    Thinking(usize, String),
    /// A call, or more of one.
    Call(usize, CallUpdate),
    /// The result of a tool that the provider's server ran: the id of its call, its text.
    Output(usize, String, String),
    /// Why the answer ended.
    Finish(usize, FinishWord),
    /// Tokens so far.
    Usage(TokenCounts),
    /// The provider's id of the answer.
    Response(String),
    /// The server failed after it began to answer.
    Failed(String),
    /// The end mark of a stream, or the end of a whole answer.
    End,
}

/// A call, or more of one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CallUpdate {
    /// Tells the calls of an answer apart while they come.
    pub key: String,
    /// The provider's id, once.
    pub id: String,
    /// The tool, once.
    pub name: String,
    /// More of the arguments.
    pub input: String,
    /// `input` is the whole, and counts only if no piece of it came.
    pub is_whole: bool,
}

/// Why an answer ended, as the journal has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FinishWord {
    /// At its end.
    Stop,
    /// At a limit of tokens.
    Length,
    /// To call tools.
    Tools,
    /// By a filter.
    Filter,
    /// The model refused.
    Refusal,
}

impl FinishWord {
    /// Returns the word in the journal.
    pub fn as_str(self) -> &'static str {
        match self {
            FinishWord::Stop => "stop",
            FinishWord::Length => "length",
            FinishWord::Tools => "tools",
            FinishWord::Filter => "filter",
            FinishWord::Refusal => "refusal",
        }
    }

    /// Parses a word of the journal.
    pub fn from_journal(word: &str) -> Option<FinishWord> {
        use FinishWord::{Filter, Length, Refusal, Stop, Tools};
        [Stop, Length, Tools, Filter, Refusal].into_iter().find(|finish| finish.as_str() == word)
    }

    /// Parses the reason of any wire; an unknown reason counts as `stop`.
    pub fn parse(reason: &str) -> FinishWord {
        match reason {
            "length" | "max_tokens" | "max_output_tokens" | "model_context_window_exceeded" => {
                FinishWord::Length
            }
            "tool_calls" | "function_call" | "tool_use" => FinishWord::Tools,
            "content_filter" => FinishWord::Filter,
            "refusal" => FinishWord::Refusal,
            _ => FinishWord::Stop,
        }
    }
}

/// Tokens as counted by the provider; the input includes cached tokens.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TokenCounts {
    /// Tokens of the request.
    pub input: Option<u64>,
    /// Read from the cache.
    pub cached: Option<u64>,
    /// Written to the cache.
    pub cache_write: Option<u64>,
    /// Tokens of the answer.
    pub output: Option<u64>,
}

impl TokenCounts {
    /// Reads the counts of a wire by the names of its fields.
    pub fn read(usage: &Value, input: &str, output: &str) -> TokenCounts {
        let number = |value: Option<&Value>| value.and_then(Value::as_u64);
        let details = usage.get("prompt_tokens_details").or_else(|| usage.get("input_tokens_details"));
        TokenCounts {
            input: number(usage.get(input)),
            cached: number(details.and_then(|details| details.get("cached_tokens"))),
            cache_write: None,
            output: number(usage.get(output)),
        }
    }

    /// Overwrites the counts that `later` has.
    pub fn merge(&mut self, later: TokenCounts) {
        self.input = later.input.or(self.input);
        self.cached = later.cached.or(self.cached);
        self.cache_write = later.cache_write.or(self.cache_write);
        self.output = later.output.or(self.output);
    }
}

/// Adds the parts of a message that came whole.
pub fn push_items(choice: usize, items: Vec<MessageItem>, to: &mut Vec<AnswerUpdate>) {
    for (index, item) in items.into_iter().enumerate() {
        to.push(match item {
            MessageItem::Text(text) => AnswerUpdate::Text(choice, text),
            MessageItem::Thinking(text) => AnswerUpdate::Thinking(choice, text),
            MessageItem::Call(call) => AnswerUpdate::Call(
                choice,
                CallUpdate {
                    key: format!("whole {index}"),
                    id: call.id,
                    name: call.name,
                    input: call.input,
                    is_whole: true,
                },
            ),
            MessageItem::Output(output) => AnswerUpdate::Output(choice, output.call, output.text),
            // No wire answers with a file in this form.
            MessageItem::File(_) => continue,
        });
    }
}
