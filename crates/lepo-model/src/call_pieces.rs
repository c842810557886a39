//! Calls of chat completions, assembled from streamed pieces, each of which is matched by its fields.

use serde_json::{Map, Value, json};

use super::arguments::ArgumentText;
use super::merge::merge;
use super::message::ToolCall;
use super::tool_names::{ToolNames, legal_name};
use lepo_base::error::{Error, Result};
use lepo_net::client::LIMIT;

/// The most tool calls in one answer: each is compared with all others.
const MOST_CALLS: usize = 1000;

#[derive(Default)]
pub(super) struct CallPieces {
    calls: Vec<PartialCall>,
    names: ToolNames,
    /// Bytes of arguments, stored or dropped.
    length: usize,
}

#[derive(Default)]
struct PartialCall {
    index: Option<String>,
    id: String,
    name: String,
    arguments: ArgumentText,
    /// Other fields of the call, such as a signature.
    extra: Map<String, Value>,
}

struct ToolCallDelta {
    index: Option<String>,
    id: String,
    name: String,
    arguments: String,
    extra: Map<String, Value>,
}

/// A complete call, and its form for later requests.
pub(super) struct WholeCall {
    pub call: ToolCall,
    pub received: Value,
}

impl CallPieces {
    pub fn new(names: ToolNames) -> CallPieces {
        CallPieces { names, ..CallPieces::default() }
    }

    pub fn is_empty(&self) -> bool {
        self.calls.is_empty()
    }

    /// Adds the pieces of a list, or a single piece. Returns whether it found any.
    pub fn add(&mut self, pieces: &Value) -> Result<bool> {
        let each: &[Value] = match pieces {
            Value::Array(pieces) => pieces,
            piece @ Value::Object(_) => std::slice::from_ref(piece),
            _ => return Ok(false),
        };
        let mut is_any = false;
        for piece in each.iter().filter_map(ToolCallDelta::read) {
            self.add_piece(piece)?;
            is_any = true;
        }
        Ok(is_any)
    }

    /// Adds the piece of a call in the deprecated form, before `tool_calls`.
    pub fn add_legacy(&mut self, function: &Value) -> Result<bool> {
        self.add(&json!([{ "function": function }]))
    }

    fn add_piece(&mut self, piece: ToolCallDelta) -> Result<()> {
        self.length += piece.arguments.len();
        if !piece.extra.is_empty() {
            self.length += Value::Object(piece.extra.clone()).to_string().len();
        }
        if self.length > LIMIT {
            return Err(Error::remote("the arguments of a tool call exceed 16 MiB"));
        }
        let at = match self.position(&piece) {
            Some(at) => at,
            None if self.calls.len() >= MOST_CALLS => {
                return Err(Error::remote(format!(
                    "the model asked for more than {MOST_CALLS} tool calls at once"
                )));
            }
            None => {
                self.calls.push(PartialCall { index: piece.index.clone(), ..PartialCall::default() });
                self.calls.len() - 1
            }
        };
        let Some(call) = self.calls.get_mut(at) else { return Ok(()) };
        if call.id.is_empty() {
            call.id = piece.id;
        }
        if piece.name.is_empty() && call.arguments.is_empty() && piece.index.is_some() {
            call.index = piece.index;
        }
        if piece.name.starts_with(&call.name) {
            // The piece repeats the name so far.
            call.name = piece.name;
        } else if call.arguments.is_empty() {
            call.name.push_str(&piece.name);
        }
        merge(&mut call.extra, piece.extra);
        call.arguments.add(&piece.arguments);
        Ok(())
    }

    /// Returns the index of the call that a piece belongs to.
    fn position(&self, piece: &ToolCallDelta) -> Option<usize> {
        let last = || self.calls.len().checked_sub(1);
        let by_index = || {
            piece
                .index
                .as_ref()
                .and_then(|index| self.calls.iter().rposition(|call| call.index.as_ref() == Some(index)))
        };
        let by_id = || {
            (!piece.id.is_empty()).then(|| self.calls.iter().rposition(|call| call.id == piece.id)).flatten()
        };
        if piece.name.is_empty() {
            // Ignore an unknown id: some servers send another one in each piece.
            return match piece.index {
                // Arguments alone at a new index belong to the call that has none yet.
                Some(_) => by_index().or_else(by_id).or_else(|| {
                    let is_alone = piece.id.is_empty() && !piece.arguments.is_empty();
                    let is_open =
                        |call: &PartialCall| call.index.is_none() || is_alone && call.arguments.is_empty();
                    last().filter(|&at| self.calls.get(at).is_some_and(is_open))
                }),
                None => by_id().or_else(last),
            };
        }
        let candidate = match piece.index {
            Some(_) => by_index(),
            None => by_id().or_else(|| last().filter(|_| piece.id.is_empty())),
        };
        candidate.filter(|&at| self.calls.get(at).is_some_and(|call| self.continues(call, piece)))
    }

    /// Whether a piece with a name belongs to the call at its index, and does not start another one.
    fn continues(&self, call: &PartialCall, piece: &ToolCallDelta) -> bool {
        let is_other_id = !piece.id.is_empty() && !call.id.is_empty() && piece.id != call.id;
        let is_one_id = !piece.id.is_empty() && piece.id == call.id;
        if call.name.is_empty() {
            return !is_other_id || call.arguments.is_empty();
        }
        let begins = piece.arguments.trim_start().starts_with('{');
        if call.name == piece.name {
            let is_told = call.arguments.is_whole() && call.arguments.len() > 2;
            let is_again = || {
                let mut with = ArgumentText::default();
                with.add(&piece.arguments);
                !with.is_whole() || with.value() == call.arguments.value()
            };
            return match (is_other_id, is_one_id) {
                // The server sends another id in each piece, and the name, too.
                (true, _) => !begins && !call.arguments.is_empty() && !call.arguments.is_whole(),
                (_, true) => !is_told || is_again(),
                _ if piece.index.is_none() => call.arguments.is_empty() || !begins && !is_told,
                _ => !begins || !is_told || is_again(),
            };
        }
        // The name is split over pieces.
        let is_piece = piece.index.is_some() || is_one_id || call.arguments.is_empty() && piece.id.is_empty();
        !is_other_id && is_piece && call.arguments.is_empty() && !self.names.has(&call.name)
            || !is_other_id && piece.name.starts_with(&call.name) && call.arguments.is_empty()
    }

    /// Returns the complete calls: repeated calls once, each with a unique id.
    pub fn take_whole(&mut self) -> Vec<WholeCall> {
        let mut whole: Vec<PartialCall> = Vec::new();
        let is_any = |call: &PartialCall| !call.name.is_empty() || !call.arguments.is_empty();
        for call in std::mem::take(&mut self.calls).into_iter().filter(is_any) {
            match whole.iter_mut().find(|before| before.is_repeated_by(&call)) {
                Some(before) if before.arguments.len() < call.arguments.len() => {
                    before.arguments = call.arguments
                }
                Some(_) => {}
                None => whole.push(call),
            }
        }
        let ids = own_ids(whole.iter().map(|call| call.id.clone()).collect());
        whole.into_iter().zip(ids).map(|(call, id)| call.into_whole(id, &self.names)).collect()
    }
}

impl PartialCall {
    /// Whether another call with the same id and name repeats this one: with its arguments, or a part of them.
    fn is_repeated_by(&self, other: &PartialCall) -> bool {
        if self.id.is_empty() || self.id != other.id || self.name != other.name && !other.name.is_empty() {
            return false;
        }
        let (a, b) = (self.arguments.text(), other.arguments.text());
        self.arguments.is_empty()
            || other.arguments.is_empty()
            || self.arguments.value() == other.arguments.value()
            || is_part(&a, &b)
    }

    fn into_whole(self, id: String, names: &ToolNames) -> WholeCall {
        let name = names.resolve(&self.name);
        let function = json!({"name": legal_name(&name), "arguments": self.arguments.text()});
        let mut received = json!({"id": id, "type": "function", "function": function});
        if let Value::Object(fields) = &mut received {
            merge(fields, self.extra);
        }
        WholeCall { call: ToolCall { id, name, arguments: self.arguments.value() }, received }
    }
}

/// Whether one text is a prefix of the other, and not a complete object.
fn is_part(a: &str, b: &str) -> bool {
    let is_object = |text: &str| serde_json::from_str::<Map<String, Value>>(text).is_ok();
    let (short, long) = if a.len() < b.len() { (a, b) } else { (b, a) };
    long.starts_with(short) && !is_object(short)
}

/// Returns unique ids: a missing one is made from its index, and the second of two equal ids is changed.
pub(super) fn own_ids(ids: Vec<String>) -> Vec<String> {
    let mut taken = std::collections::BTreeSet::new();
    let given: std::collections::BTreeSet<String> = ids.iter().cloned().collect();
    let mut own = Vec::with_capacity(ids.len());
    for (at, id) in ids.into_iter().enumerate() {
        let made = (1..).map(|number| match (id.is_empty(), number) {
            (true, 1) => format!("call_{}", at + 1),
            (true, _) => format!("call_{}_{number}", at + 1),
            (false, 1) => id.clone(),
            (false, _) => format!("{id}_{number}"),
        });
        let is_free = |candidate: &String| {
            !taken.contains(candidate) && (*candidate == id || !given.contains(candidate))
        };
        let id = made.into_iter().find(is_free).unwrap_or_default();
        taken.insert(id.clone());
        own.push(id);
    }
    own
}

impl ToolCallDelta {
    /// Parses a piece; `None` if it is not an object.
    fn read(value: &Value) -> Option<ToolCallDelta> {
        let mut fields = value.as_object()?.clone();
        let index = fields.shift_remove("index").as_ref().and_then(index_of);
        let id = fields.shift_remove("id").as_ref().map(text_of).unwrap_or_default();
        fields.shift_remove("type");
        let mut function = match fields.shift_remove("function") {
            Some(Value::Object(function)) => function,
            // Name and arguments are siblings of the id.
            _ => {
                let own = ["name", "arguments"].into_iter();
                own.filter_map(|name| Some((name.to_owned(), fields.shift_remove(name)?))).collect()
            }
        };
        let name = function.shift_remove("name").as_ref().map(text_of).unwrap_or_default();
        let value_sent = function.shift_remove("arguments").or_else(|| function.shift_remove("parameters"));
        let arguments = match value_sent {
            Some(Value::String(text)) => text,
            None | Some(Value::Null) => String::new(),
            Some(value) => value.to_string(),
        };
        let has_any = [&id, &name, &arguments].iter().any(|text| !text.is_empty()) || !fields.is_empty();
        has_any.then_some(ToolCallDelta { index, id, name, arguments, extra: fields })
    }
}

/// Returns an index as text: a number of any form, or a string.
fn index_of(index: &Value) -> Option<String> {
    let number = match index {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text.trim().parse().ok(),
        _ => return None,
    };
    match number {
        Some(number) => Some(number.to_string()),
        None => index.as_str().map(|text| text.trim().to_owned()).filter(|text| !text.is_empty()),
    }
}

/// Returns a string, or a number as text.
pub(super) fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests;
