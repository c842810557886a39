//! Harmony's channels in the text of an answer: `<|channel|>analysis<|message|>…<|end|>` is thinking, `final` is
//! the answer, and `commentary` to a function is a call.

use super::arguments::read_arguments;
use super::event::{ChatEvent, EventQueue, TextKind};
use super::message::ToolCall;
use super::think_marks::open_end;
use super::tool_names::ToolNames;

/// The possible starts of an answer in channels.
pub(super) const OPENINGS: &[&str] = &["<|channel|>", "<|start|>assistant"];

const MESSAGE: &str = "<|message|>";

/// Marks that end a message, or start the next one.
const ENDS: &[&str] = &["<|end|>", "<|return|>", "<|call|>", "<|start|>", "<|channel|>"];

/// Parses channels from a stream.
#[derive(Debug, Default)]
pub(super) struct Channels {
    buffer: String,
    channel: Channel,
    calls: usize,
}

#[derive(Debug, Default)]
enum Channel {
    /// Between two messages, or in the header of one.
    #[default]
    Header,
    Thinking,
    Text,
    /// A call of the function of this name, with its arguments so far.
    Call(String, String),
}

impl Channels {
    /// Parses more text.
    pub fn feed(&mut self, text: &str, events: &mut EventQueue) {
        self.buffer.push_str(text);
        while self.step(events) {}
    }

    /// Emits the buffered text at the end of the answer.
    pub fn end(&mut self, events: &mut EventQueue) {
        let held = std::mem::take(&mut self.buffer);
        match &mut self.channel {
            // Text without a header is part of the answer.
            Channel::Header if !held.trim().is_empty() && !held.starts_with("<|") => {
                TextKind::Text.push_event(&held, events);
            }
            Channel::Header => {}
            _ => self.push_text(&held, events),
        }
        self.close(events);
    }

    fn step(&mut self, events: &mut EventQueue) -> bool {
        if let Channel::Header = self.channel {
            let Some((header, body)) = self.buffer.split_once(MESSAGE) else { return false };
            (self.channel, self.buffer) = (channel(header), body.to_owned());
            return true;
        }
        let end = ENDS.iter().filter_map(|end| Some((self.buffer.find(end)?, end.len()))).min();
        let Some((at, length)) = end else {
            let held = self.buffer.len() - open_end(&self.buffer, ENDS);
            let rest = self.buffer.split_off(held);
            let now = std::mem::replace(&mut self.buffer, rest);
            self.push_text(&now, events);
            return false;
        };
        let rest = self.buffer.split_off(at);
        let body = std::mem::replace(&mut self.buffer, rest);
        self.push_text(&body, events);
        self.close(events);
        // A mark that starts the next header is part of that header.
        if !self.buffer.starts_with("<|start|>") && !self.buffer.starts_with("<|channel|>") {
            self.buffer.drain(..length);
        }
        true
    }

    fn push_text(&mut self, text: &str, events: &mut EventQueue) {
        match &mut self.channel {
            Channel::Header => {}
            Channel::Thinking => TextKind::Thinking.push_event(text, events),
            Channel::Text => TextKind::Text.push_event(text, events),
            Channel::Call(_, arguments) => arguments.push_str(text),
        }
    }

    fn close(&mut self, events: &mut EventQueue) {
        if let Channel::Call(name, arguments) = std::mem::take(&mut self.channel) {
            self.calls += 1;
            let arguments = read_arguments(&arguments);
            events.push_back(ChatEvent::ToolCall(ToolCall {
                id: format!("call_{}", self.calls),
                name,
                arguments,
            }));
        }
    }
}

fn channel(header: &str) -> Channel {
    let name = header.rsplit_once("<|channel|>").map_or(header, |(_, name)| name);
    // The recipient precedes or follows the channel.
    let recipient = header
        .split_once("to=")
        .map(|(_, to)| to.split(|c: char| c.is_whitespace() || c == '<').next().unwrap_or_default());
    match recipient.filter(|to| !to.is_empty()) {
        Some(to) => Channel::Call(ToolNames::default().resolve(to), String::new()),
        None if name.trim_start().starts_with("analysis") => Channel::Thinking,
        None => Channel::Text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn channels_are_thinking_text_and_calls() {
        for (answer, expected) in [
            (
                "<|channel|>analysis<|message|>hm<|end|><|start|>assistant<|channel|>final<|message|>Four.<|return|>",
                "(hm)Four.",
            ),
            ("<|channel|>final<|message|>Four.", "Four."),
            ("<|start|>assistant<|channel|>analysis<|message|>a < b<|end|>", "(a < b)"),
            ("<|channel|>commentary<|message|>I look.<|end|>", "I look."),
            (
                "<|channel|>commentary to=functions.run <|constrain|>json<|message|>{\"a\":1}<|call|>",
                "run={\"a\":1}",
            ),
            ("<|channel|>analysis<|message|>a<|channel|>final<|message|>b", "(a)b"),
            ("<|channel|>analysis<|message|>cut", "(cut)"),
            ("<|channel|>analysis<|message|>a<|end|>late words", "(a)late words"),
        ] {
            for size in [1, 3, 1000] {
                let (mut channels, mut events) = (Channels::default(), EventQueue::new());
                let chars: Vec<char> = answer.chars().collect();
                chars
                    .chunks(size)
                    .for_each(|piece| channels.feed(&piece.iter().collect::<String>(), &mut events));
                channels.end(&mut events);
                let text_of = |event: &ChatEvent| match event {
                    ChatEvent::Thinking(text) => format!("({text})"),
                    ChatEvent::Text(text) => text.clone(),
                    ChatEvent::ToolCall(call) => format!("{}={}", call.name, call.arguments),
                    other => panic!("{other:?}"),
                };
                let message: String = events.iter().map(text_of).collect();
                assert_eq!(message.replace(")(", ""), expected, "{answer} by {size}");
            }
        }
    }
}
