//! OpenAI's chat completions: what comes back, a stream of events or one document.

use serde_json::{Map, Value};

use super::chunk::{Choice, Chunk, Delta, usage};
use crate::call_pieces::CallPieces;
use crate::event::{Event, Events, Finish, TextKind, Usage};
use crate::failure::failure_in;
use crate::kept::Kept;
use crate::merge::merge;
use crate::message::ToolSpec;
use crate::replay::Replay;
use crate::sse_answer::{Decoder, EventUse};
use crate::tool_names::ToolNames;
use lepo_base::error::Result;

/// The answer so far.
#[derive(Default)]
pub struct ChatDecoder {
    calls: CallPieces,
    usage: Option<Usage>,
    /// The word of the finish reason.
    finish: Option<String>,
    /// The message as received, but for its calls; only where it may have to be sent back.
    kept: Option<Map<String, Value>>,
    /// Its fields besides the texts.
    other: Kept,
    /// The answer is one document, whose message counts, and no stream, whose deltas do.
    whole: bool,
    begun: bool,
    /// Text has come, which is no thinking.
    has_text: bool,
    has_thinking: bool,
    done: bool,
}

impl ChatDecoder {
    /// Reads an answer to a request with these tools; with any, it is kept to be sent back should it have calls.
    pub(super) fn new(tools: &[ToolSpec]) -> ChatDecoder {
        let kept = (!tools.is_empty()).then(Map::new);
        ChatDecoder { calls: CallPieces::new(ToolNames::new(tools)), kept, ..ChatDecoder::default() }
    }
}

impl Decoder for ChatDecoder {
    const END: &'static str = "`finish_reason` or `[DONE]`";
    const FORM: &'static str = "a chat completion";

    fn document(&mut self, whole: &Value, events: &mut Events) -> Result<bool> {
        self.whole = true;
        let taken = self.data(whole.to_string().as_bytes(), events)?;
        if taken == EventUse::Used || self.has_message(whole) {
            // A whole document needs no other end mark.
            self.finish.get_or_insert_with(|| "stop".to_owned());
            return Ok(true);
        }
        Ok(false)
    }

    fn finish(&mut self, events: &mut Events) -> Result<()> {
        self.done = true;
        self.hand_on(events);
        Ok(())
    }

    fn has_begun(&self) -> bool {
        self.begun
    }

    fn is_done(&self) -> bool {
        self.done
    }

    fn has_finish(&self) -> bool {
        self.finish.is_some()
    }

    fn failed_word(&self) -> Option<&str> {
        self.finish.as_deref().filter(|word| Finish::is_failure(word))
    }

    fn is_finishing(&self) -> bool {
        // An end behind nothing but thinking is none yet.
        let is_only_thinking = self.has_thinking && !self.has_text && self.calls.is_empty();
        self.finish.is_some() && !is_only_thinking
    }

    fn data(&mut self, data: &[u8], events: &mut Events) -> Result<EventUse> {
        let Ok(chunk) = serde_json::from_slice::<Chunk<'_>>(data) else { return Ok(EventUse::Unread) };
        if let Some(told) = chunk.usage.filter(Value::is_object) {
            self.begun = true;
            self.usage = Some(usage(&told));
        }
        let Some(Choice { delta, message, text, finish_reason }) = chunk.choices.first else {
            return Ok(EventUse::Unused);
        };
        self.begun = true;
        if let Some(word) = finish_reason.as_ref().and_then(Finish::word_in) {
            self.finish = Some(word);
        }
        let said = if self.whole { message.0.or(delta.0) } else { delta.0.or(message.0) };
        if said.is_some()
            && let Some(kept) = &mut self.kept
        {
            keep(kept, data, self.whole, &mut self.other)?;
        }
        let mut is_used = match said {
            Some(delta) => self.delta(delta, events)?,
            None => false,
        };
        if !text.0.is_empty() && !is_used {
            is_used = true;
            self.has_text = true;
            TextKind::Text.say(&text.0, events);
        }
        // Calls that stand in a choice of their own, as Copilot has them.
        for choice in chunk.choices.more {
            let more = if self.whole { choice.message.0.or(choice.delta.0) } else { choice.delta.0 };
            is_used |=
                more.and_then(|more| more.tool_calls).map_or(Ok(false), |calls| self.calls.add(&calls))?;
        }
        Ok(if is_used { EventUse::Used } else { EventUse::Unused })
    }
}

impl ChatDecoder {
    fn delta(&mut self, delta: Delta<'_>, events: &mut Events) -> Result<bool> {
        let mut is_used = false;
        for (text, kind) in texts(&delta) {
            if !text.is_empty() {
                is_used = true;
                self.has_thinking |= kind == TextKind::Thinking;
                self.has_text |= kind == TextKind::Text && !text.trim().is_empty();
                kind.say(text, events);
            }
        }
        // Servers that send both forms say the same in both.
        is_used |= match (&delta.tool_calls, &delta.function_call) {
            (Some(calls @ Value::Array(each)), _) if !each.is_empty() => self.calls.add(calls)?,
            (Some(call @ Value::Object(_)), _) => self.calls.add(call)?,
            (_, Some(function @ Value::Object(_))) => self.calls.add_legacy(function)?,
            _ => false,
        };
        Ok(is_used)
    }

    /// True if a document has a message, however empty.
    fn has_message(&self, whole: &Value) -> bool {
        let choices = whole.get("choices").and_then(Value::as_array);
        choices.is_some_and(|choices| {
            choices.first().and_then(|choice| choice.get("message")).is_some_and(Value::is_object)
        }) && failure_in(whole, false).is_none()
    }

    /// Hands on what could not be known to be complete before.
    fn hand_on(&mut self, events: &mut Events) {
        let calls = self.calls.take_whole();
        if let Some(mut message) = self.kept.take().filter(|_| !calls.is_empty()) {
            let received = calls.iter().map(|whole| whole.received.clone()).collect();
            message.insert("tool_calls".to_owned(), received);
            let mut whole = Map::new();
            whole.insert("role".to_owned(), "assistant".into());
            whole.insert("content".to_owned(), message.shift_remove("content").unwrap_or_else(|| "".into()));
            whole.extend(message);
            events.push_back(Event::Replay(Replay::new(Value::Object(whole))));
        }
        events.extend(calls.into_iter().map(|whole| Event::ToolCall(whole.call)));
        events.extend(self.usage.map(Event::Usage));
        let word = self.finish.take();
        events.push_back(Event::Done(word.map_or(Finish::Stop, |word| Finish::from_word(&word))));
    }
}

/// Adds what an event says to the message that may have to be sent back; calls are put together elsewhere.
fn keep(kept: &mut Map<String, Value>, data: &[u8], whole: bool, other: &mut Kept) -> Result<()> {
    let mut chunk: Value = serde_json::from_slice(data).unwrap_or_default();
    let choices = chunk.get_mut("choices").and_then(Value::as_array_mut);
    let Some(choice) = choices.and_then(|choices| choices.iter_mut().find(|choice| choice.is_object()))
    else {
        return Ok(());
    };
    let names = if whole { ["message", "delta"] } else { ["delta", "message"] };
    let said = names.into_iter().find(|name| choice.get(name).is_some_and(Value::is_object));
    let Some(Value::Object(mut delta)) = said.and_then(|name| choice.get_mut(name)).map(Value::take) else {
        return Ok(());
    };
    for skipped in ["role", "tool_calls", "function_call"] {
        delta.shift_remove(skipped);
    }
    // What is no text and no list of parts would not be accepted.
    if delta
        .get("content")
        .is_some_and(|content| content.is_boolean() || content.is_number() || content.is_object())
    {
        delta.shift_remove("content");
    }
    if delta.get("content").is_some_and(Value::is_null) {
        kept.entry("content").or_insert(Value::Null);
    }
    // Texts are counted as the answer is.
    if delta.values().any(|value| value.is_array() || value.is_object()) {
        other.count(data)?;
    }
    merge(kept, delta);
    Ok(())
}

/// The texts of a delta, in order.
fn texts<'a>(delta: &'a Delta<'_>) -> [(&'a str, TextKind); 4] {
    // Servers in between two names send the same text under both.
    let names = [
        &delta.reasoning_content,
        &delta.reasoning,
        &delta.reasoning_text,
        &delta.thinking,
        &delta.reasoning_details,
    ];
    let thinking = names.into_iter().find(|text| !text.0.is_empty()).map_or("", |text| &text.0);
    [
        (thinking, TextKind::Thinking),
        (&delta.content.thinking, TextKind::Thinking),
        (&delta.content.text, TextKind::Text),
        (&delta.refusal.0, TextKind::Text),
    ]
}
