//! Decodes answers of OpenAI's chat completions: a stream of events, or one document.

use serde_json::{Map, Value};

use super::chunk::{ChatChoice, ChatChunk, ChatDelta, usage};
use crate::call_pieces::CallPieces;
use crate::event::{ChatEvent, EventQueue, FinishReason, TextKind, Usage};
use crate::failure::failure_in;
use crate::merge::merge;
use crate::message::ToolSpec;
use crate::replay::{ProviderMessage, ReplayBudget};
use crate::sse_answer::{Decoder, EventUse};
use crate::tool_names::ToolNames;
use lepo_base::error::Result;

#[derive(Default)]
pub struct ChatDecoder {
    calls: CallPieces,
    usage: Option<Usage>,
    /// The word of the finish reason.
    finish: Option<String>,
    /// The message as received, without its calls, if it may be needed for later requests.
    message: Option<Map<String, Value>>,
    /// The size of its fields besides the texts.
    other: ReplayBudget,
    /// Whether the answer is one document, whose message counts, and not a stream, whose deltas count.
    is_whole: bool,
    has_begun: bool,
    /// Whether text other than thinking has arrived.
    has_text: bool,
    has_thinking: bool,
    is_done: bool,
}

impl ChatDecoder {
    /// Creates a decoder for an answer to a request with these tools. With any, the message is stored in case it
    /// has calls.
    pub(super) fn new(tools: &[ToolSpec]) -> ChatDecoder {
        let kept = (!tools.is_empty()).then(Map::new);
        ChatDecoder { calls: CallPieces::new(ToolNames::new(tools)), message: kept, ..ChatDecoder::default() }
    }
}

impl Decoder for ChatDecoder {
    const END: &'static str = "`finish_reason` or `[DONE]`";
    const FORM: &'static str = "a chat completion";

    fn document(&mut self, whole: &Value, events: &mut EventQueue) -> Result<bool> {
        self.is_whole = true;
        let taken = self.data(whole.to_string().as_bytes(), events)?;
        if taken == EventUse::Used || self.has_message(whole) {
            // A complete document needs no other end mark.
            self.finish.get_or_insert_with(|| "stop".to_owned());
            return Ok(true);
        }
        Ok(false)
    }

    fn finish(&mut self, events: &mut EventQueue) -> Result<()> {
        self.is_done = true;
        self.hand_on(events);
        Ok(())
    }

    fn has_begun(&self) -> bool {
        self.has_begun
    }

    fn is_done(&self) -> bool {
        self.is_done
    }

    fn has_finish(&self) -> bool {
        self.finish.is_some()
    }

    fn failure_reason(&self) -> Option<&str> {
        self.finish.as_deref().filter(|word| FinishReason::is_failure(word))
    }

    fn is_finishing(&self) -> bool {
        // A finish reason after thinking alone is premature.
        let is_only_thinking = self.has_thinking && !self.has_text && self.calls.is_empty();
        self.finish.is_some() && !is_only_thinking
    }

    fn data(&mut self, data: &[u8], events: &mut EventQueue) -> Result<EventUse> {
        let Ok(chunk) = serde_json::from_slice::<ChatChunk<'_>>(data) else { return Ok(EventUse::Unread) };
        if let Some(counts) = chunk.usage.filter(Value::is_object) {
            self.has_begun = true;
            self.usage = Some(usage(&counts));
        }
        let Some(choice) = chunk.choices.first else { return Ok(EventUse::Unused) };
        let ChatChoice { delta, message, text, finish_reason } = *choice;
        self.has_begun = true;
        if let Some(word) = finish_reason.as_ref().and_then(FinishReason::word_in) {
            self.finish = Some(word);
        }
        let part = if self.is_whole { message.0.or(delta.0) } else { delta.0.or(message.0) };
        if part.is_some()
            && let Some(kept) = &mut self.message
        {
            merge_event(kept, data, self.is_whole, &mut self.other)?;
        }
        let mut is_used = match part {
            Some(delta) => self.delta(&delta, events)?,
            None => false,
        };
        if !text.0.is_empty() && !is_used {
            is_used = true;
            self.has_text = true;
            TextKind::Text.push_event(&text.0, events);
        }
        // Calls in a choice of their own, as Copilot sends them.
        for choice in chunk.choices.more {
            let more = if self.is_whole { choice.message.0.or(choice.delta.0) } else { choice.delta.0 };
            is_used |=
                more.and_then(|more| more.tool_calls).map_or(Ok(false), |calls| self.calls.add(&calls))?;
        }
        Ok(if is_used { EventUse::Used } else { EventUse::Unused })
    }
}

impl ChatDecoder {
    fn delta(&mut self, delta: &ChatDelta<'_>, events: &mut EventQueue) -> Result<bool> {
        let mut is_used = false;
        for (text, kind) in texts(delta) {
            if !text.is_empty() {
                is_used = true;
                self.has_thinking |= kind == TextKind::Thinking;
                self.has_text |= kind == TextKind::Text && !text.trim().is_empty();
                kind.push_event(text, events);
            }
        }
        // Servers that send both forms repeat the call.
        is_used |= match (&delta.tool_calls, &delta.function_call) {
            (Some(calls @ Value::Array(each)), _) if !each.is_empty() => self.calls.add(calls)?,
            (Some(call @ Value::Object(_)), _) => self.calls.add(call)?,
            (_, Some(function @ Value::Object(_))) => self.calls.add_legacy(function)?,
            _ => false,
        };
        Ok(is_used)
    }

    /// Whether a document has a message, even an empty one.
    fn has_message(&self, whole: &Value) -> bool {
        let choices = whole.get("choices").and_then(Value::as_array);
        choices.is_some_and(|choices| {
            choices.first().and_then(|choice| choice.get("message")).is_some_and(Value::is_object)
        }) && failure_in(whole, false).is_none()
    }

    /// Emits events that were possibly incomplete until now.
    fn hand_on(&mut self, events: &mut EventQueue) {
        let calls = self.calls.take_whole();
        if let Some(mut message) = self.message.take().filter(|_| !calls.is_empty()) {
            let received = calls.iter().map(|whole| whole.received.clone()).collect();
            message.insert("tool_calls".to_owned(), received);
            let mut whole = Map::new();
            whole.insert("role".to_owned(), "assistant".into());
            whole.insert("content".to_owned(), message.shift_remove("content").unwrap_or_else(|| "".into()));
            whole.extend(message);
            events.push_back(ChatEvent::Replay(ProviderMessage::new(Value::Object(whole))));
        }
        events.extend(calls.into_iter().map(|whole| ChatEvent::ToolCall(whole.call)));
        events.extend(self.usage.map(ChatEvent::Usage));
        let word = self.finish.take();
        events.push_back(ChatEvent::Done(
            word.map_or(FinishReason::Stop, |word| FinishReason::from_word(&word)),
        ));
    }
}

/// Merges an event into the stored message; calls are assembled elsewhere.
fn merge_event(
    kept: &mut Map<String, Value>,
    data: &[u8],
    is_whole: bool,
    other: &mut ReplayBudget,
) -> Result<()> {
    let mut chunk: Value = serde_json::from_slice(data).unwrap_or_default();
    let choices = chunk.get_mut("choices").and_then(Value::as_array_mut);
    let Some(choice) = choices.and_then(|choices| choices.iter_mut().find(|choice| choice.is_object()))
    else {
        return Ok(());
    };
    let names = if is_whole { ["message", "delta"] } else { ["delta", "message"] };
    let present = names.into_iter().find(|name| choice.get(name).is_some_and(Value::is_object));
    let Some(Value::Object(mut delta)) = present.and_then(|name| choice.get_mut(name)).map(Value::take)
    else {
        return Ok(());
    };
    for skipped in ["role", "tool_calls", "function_call"] {
        delta.shift_remove(skipped);
    }
    // The API rejects content that is neither text nor a list of parts.
    if delta
        .get("content")
        .is_some_and(|content| content.is_boolean() || content.is_number() || content.is_object())
    {
        delta.shift_remove("content");
    }
    if delta.get("content").is_some_and(Value::is_null) {
        kept.entry("content").or_insert(Value::Null);
    }
    // The texts are part of the answer, and limited with it.
    if delta.values().any(|value| value.is_array() || value.is_object()) {
        other.count(data)?;
    }
    merge(kept, delta);
    Ok(())
}

/// Returns the texts of a delta, in order.
fn texts<'a>(delta: &'a ChatDelta<'_>) -> [(&'a str, TextKind); 4] {
    // Some servers send the same text under an old and a new name.
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
