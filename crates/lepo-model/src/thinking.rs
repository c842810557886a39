//! Separates thinking that stands in the answer itself: `<think>…</think>` at its start, from any provider.

use super::event::{Event, Events};

const OPEN: &str = "<think>";
const CLOSE: &str = "</think>";

/// Turns the text between the marks into thinking. Only what stands before all other text is meant.
#[derive(Default)]
pub(super) struct ThinkFilter {
    state: Stage,
    held: String,
}

#[derive(Default)]
enum Stage {
    /// Nothing but white space and perhaps the beginning of the mark has come.
    #[default]
    Start,
    Thinking,
    /// The mark's end has come: white space after it is no part of the answer.
    After,
    Text,
}

impl ThinkFilter {
    /// Adds an event to `events`; a text is added as thinking or as text, once it is known which.
    pub fn pass(&mut self, event: Event, events: &mut Events) {
        match event {
            Event::Text(text) if matches!(self.state, Stage::Text) => events.push_back(Event::Text(text)),
            Event::Text(text) => {
                self.held.push_str(&text);
                while self.step(events) {}
            }
            Event::ToolCall(_)
            | Event::Replay(_)
            | Event::Usage(_)
            | Event::AgentCall(_)
            | Event::AgentCallOpen(_)
            | Event::AgentAsks(_)
            | Event::Done(_) => {
                self.flush(events);
                events.push_back(event);
            }
            other => events.push_back(other),
        }
    }

    /// Adds the text that was held back, as no more comes.
    pub fn flush(&mut self, events: &mut Events) {
        let held = std::mem::take(&mut self.held);
        match self.state {
            _ if held.is_empty() => {}
            Stage::Thinking => events.push_back(Event::Thinking(held)),
            _ => events.push_back(Event::Text(held)),
        }
    }

    /// Takes one step; true if another may follow.
    fn step(&mut self, events: &mut Events) -> bool {
        match self.state {
            Stage::Start => {
                let text = self.held.trim_start();
                if text.starts_with(OPEN) {
                    self.held = text.split_at(OPEN.len()).1.to_owned();
                    self.state = Stage::Thinking;
                    return true;
                }
                if OPEN.starts_with(text) {
                    return false;
                }
                self.state = Stage::Text;
            }
            Stage::Thinking => {
                let (thought, rest) = match self.held.split_once(CLOSE) {
                    Some((thought, rest)) => (thought.to_owned(), Some(rest.to_owned())),
                    None => (self.held.split_at(self.held.len() - open_end(&self.held)).0.to_owned(), None),
                };
                self.held = match &rest {
                    Some(rest) => rest.clone(),
                    None => self.held.split_off(thought.len()),
                };
                if !thought.is_empty() {
                    events.push_back(Event::Thinking(thought));
                }
                if rest.is_some() {
                    self.state = Stage::After;
                }
                return rest.is_some();
            }
            Stage::After => {
                self.held = self.held.trim_start().to_owned();
                if self.held.is_empty() {
                    return false;
                }
                self.state = Stage::Text;
            }
            Stage::Text => {}
        }
        self.flush(events);
        false
    }
}

/// The length of the beginning of [`CLOSE`] that a text ends in.
fn open_end(text: &str) -> usize {
    (1..CLOSE.len()).rev().find(|&length| text.ends_with(CLOSE.split_at(length).0)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Thinking in parentheses, then the text.
    fn filtered(pieces: &[&str]) -> String {
        let (mut filter, mut events) = (ThinkFilter::default(), Events::new());
        pieces.iter().for_each(|piece| filter.pass(Event::Text(piece.to_string()), &mut events));
        filter.flush(&mut events);
        let (mut thinking, mut text) = (String::new(), String::new());
        for event in events {
            match event {
                Event::Thinking(piece) => thinking += &piece,
                Event::Text(piece) => text += &piece,
                other => panic!("{other:?}"),
            }
        }
        format!("({thinking}){text}")
    }

    #[test]
    fn only_marks_at_the_start_are_thinking() {
        for (answer, expected) in [
            ("<think>a</think>b", "(a)b"),
            ("\n <think>\na <b> </thin\n</think>\n\n b", "(\na <b> </thin\n)b"),
            ("<think>생각</think>답", "(생각)답"),
            ("plain", "()plain"),
            ("  indented", "()  indented"),
            ("<thin", "()<thin"),
            ("a <think>b</think>", "()a <think>b</think>"),
            ("<think>never closed", "(never closed)"),
            ("<think></think>x<think>y</think>", "()x<think>y</think>"),
            ("", "()"),
        ] {
            assert_eq!(filtered(&[answer]), expected, "{answer}");
            let chars: Vec<String> = answer.chars().map(String::from).collect();
            let chars: Vec<&str> = chars.iter().map(String::as_str).collect();
            assert_eq!(filtered(&chars), expected, "{answer} a character at a time");
        }
    }
}
