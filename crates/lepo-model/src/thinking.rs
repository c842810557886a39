//! Separates thinking from an answer's text, for all providers: between marks at the start, in channels, or before
//! a lone end mark.

use super::event::{ChatEvent, EventQueue, FinishReason};
use super::harmony::{Channels, OPENINGS};
use super::think_marks::{LONE, MARKS, OPENED_BEFORE, ThinkMark, is_mention, open_end};

/// The bytes of text in which a lone mark is searched.
const LOOKED_AT: usize = 4 << 20;

/// Turns the text between marks into thinking, only before all other text.
#[derive(Default)]
pub(super) struct ThinkFilter {
    state: Stage,
    buffer: String,
    /// Emitted text, while a lone mark may still turn it into thinking.
    emitted: String,
    /// Whether the model is known to start within thinking.
    begins_thinking: bool,
    /// Thinking that may turn out to be text.
    unsure: String,
    lesson: Option<Lesson>,
}

/// A fact about the start of the model's answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lesson {
    /// They start within thinking.
    BeginsThinking,
    /// They no longer do.
    BeginsWithText,
}

#[derive(Default)]
enum Stage {
    /// So far only white space, and possibly a partial mark.
    #[default]
    Start,
    Thinking(ThinkMark),
    Channels(Channels),
    /// After the end mark: following white space is not part of the answer.
    After,
    /// Text that a lone mark may still turn into thinking.
    Text,
    /// Text, finally.
    Settled,
}

impl ThinkFilter {
    /// Creates a filter for a model whose answers start within thinking.
    pub fn beginning_with_thinking() -> ThinkFilter {
        ThinkFilter { begins_thinking: true, ..ThinkFilter::default() }
    }

    /// Returns what the answer has taught, once.
    pub fn take_lesson(&mut self) -> Option<Lesson> {
        self.lesson.take()
    }

    /// Adds an event to `events`; a text is delayed until its kind is known.
    pub fn pass(&mut self, event: ChatEvent, events: &mut EventQueue) {
        match event {
            ChatEvent::Text(text) => match &mut self.state {
                Stage::Settled => events.push_back(ChatEvent::Text(text)),
                Stage::Channels(channels) => channels.feed(&text, events),
                _ => {
                    self.buffer.push_str(&text);
                    while self.step(events) {}
                }
            },
            ChatEvent::Thinking(_) => {
                // The server separates thinking itself.
                self.begins_thinking &= !matches!(self.state, Stage::Start);
                events.push_back(event);
            }
            ChatEvent::Done(ref finish) => {
                let is_whole = *finish == FinishReason::Stop;
                self.flush(events);
                if is_whole && !self.unsure.is_empty() {
                    // The end mark never arrived, so this was the answer.
                    events.push_back(ChatEvent::Text(std::mem::take(&mut self.unsure)));
                    self.lesson = Some(Lesson::BeginsWithText);
                }
                events.push_back(event);
            }
            ChatEvent::ToolCall(_)
            | ChatEvent::Replay(_)
            | ChatEvent::Usage(_)
            | ChatEvent::AgentCall(_)
            | ChatEvent::AgentCallOpen(_)
            | ChatEvent::AgentAsks(_) => {
                self.flush(events);
                if let ChatEvent::ToolCall(_) = event {
                    self.unsure.clear();
                }
                events.push_back(event);
            }
            other => events.push_back(other),
        }
    }

    /// Emits the buffered text at the end.
    pub fn flush(&mut self, events: &mut EventQueue) {
        if let Stage::Channels(channels) = &mut self.state {
            return channels.end(events);
        }
        if let Stage::Text = self.state
            && self.find_lone(true, events)
        {
            while self.step(events) {}
        }
        let held = std::mem::take(&mut self.buffer);
        match self.state {
            _ if held.is_empty() => {}
            Stage::Thinking(mark) => self.think(held, mark, events),
            _ => events.push_back(ChatEvent::Text(held)),
        }
    }

    /// Makes one step; returns whether another may follow.
    fn step(&mut self, events: &mut EventQueue) -> bool {
        match self.state {
            Stage::Start => self.start_thinking(events),
            Stage::Thinking(mark) => {
                let (thought, rest) = match self.buffer.split_once(mark.close) {
                    Some((thought, rest)) => (thought.to_owned(), Some(rest.to_owned())),
                    None => {
                        let kept = open_end(&self.buffer, &[mark.close]);
                        (self.buffer.split_at(self.buffer.len() - kept).0.to_owned(), None)
                    }
                };
                self.buffer = match &rest {
                    Some(rest) => rest.clone(),
                    None => self.buffer.split_off(thought.len()),
                };
                self.think(thought, mark, events);
                if rest.is_some() {
                    self.unsure.clear();
                    self.state = Stage::After;
                }
                rest.is_some()
            }
            Stage::After => self.step_after(events),
            Stage::Text => self.find_lone(false, events),
            Stage::Channels(_) | Stage::Settled => {
                self.hand_on(events);
                false
            }
        }
    }

    /// Decides how the answer starts.
    fn start_thinking(&mut self, events: &mut EventQueue) -> bool {
        let text = self.buffer.trim_start();
        if OPENINGS.iter().any(|opening| text.starts_with(opening)) {
            let mut channels = Channels::default();
            channels.feed(text, events);
            (self.state, self.buffer) = (Stage::Channels(channels), String::new());
            return false;
        }
        if let Some(mark) = MARKS.iter().find(|mark| mark.begins(text) == Some(true)) {
            self.buffer = text.split_at(mark.open.len()).1.to_owned();
            self.state = Stage::Thinking(*mark);
            return true;
        }
        let may_begin = MARKS.iter().any(|mark| mark.begins(text).is_none());
        if may_begin || OPENINGS.iter().any(|opening| opening.starts_with(text)) {
            return false;
        }
        self.state = if self.begins_thinking { Stage::Thinking(OPENED_BEFORE) } else { Stage::Text };
        true
    }

    fn think(&mut self, thought: String, mark: ThinkMark, events: &mut EventQueue) {
        if thought.is_empty() {
            return;
        }
        if mark.is_unsure {
            self.unsure.push_str(&thought);
        }
        events.push_back(ChatEvent::Thinking(thought));
    }

    /// Emits text except for a partial lone mark at its end; returns whether a lone mark was found. `is_end` marks
    /// the last call.
    fn find_lone(&mut self, is_end: bool, events: &mut EventQueue) -> bool {
        let mut from = 0;
        while let Some((at, mark)) =
            LONE.iter().filter_map(|mark| Some((self.buffer.get(from..)?.find(mark)? + from, *mark))).min()
        {
            let (before, behind) = self.buffer.split_at(at);
            let after = behind.split_at(mark.len()).1;
            // The next characters decide whether the mark is only mentioned.
            if !is_end && after.chars().count() < 2 {
                self.emit_text_to(at, events);
                return false;
            }
            if !is_mention(&format!("{}{before}", self.emitted), after) {
                let thought = before.to_owned();
                self.buffer = after.to_owned();
                self.lesson = Some(Lesson::BeginsThinking);
                match self.emitted.is_empty() {
                    // Nothing was emitted yet.
                    true if !thought.is_empty() => events.push_back(ChatEvent::Thinking(thought)),
                    true => {}
                    false => {
                        if !thought.is_empty() {
                            events.push_back(ChatEvent::Thinking(thought));
                        }
                        events.push_back(ChatEvent::WasThinking);
                    }
                }
                self.emitted = String::new();
                self.state = Stage::After;
                self.step_after(events);
                return true;
            }
            from = at + mark.len();
        }
        let kept = if is_end { 0 } else { open_end(&self.buffer, LONE) };
        self.emit_text_to(self.buffer.len() - kept, events);
        if self.emitted.len() > LOOKED_AT {
            (self.state, self.emitted) = (Stage::Settled, String::new());
        }
        false
    }

    /// Makes the step after an end mark. Models think again directly after it; without its own end mark, that is the
    /// answer.
    fn step_after(&mut self, events: &mut EventQueue) -> bool {
        self.buffer = self.buffer.trim_start().to_owned();
        let marks = || MARKS.iter().filter(|mark| !mark.is_unsure);
        if let Some(mark) = marks().find(|mark| mark.begins(&self.buffer) == Some(true)) {
            self.buffer = self.buffer.split_at(mark.open.len()).1.to_owned();
            self.state = Stage::Thinking(mark.as_unsure());
            return true;
        }
        if marks().any(|mark| mark.begins(&self.buffer).is_none()) {
            return false;
        }
        self.state = Stage::Settled;
        self.hand_on(events);
        false
    }

    /// Emits the buffered text up to an offset.
    fn emit_text_to(&mut self, at: usize, events: &mut EventQueue) {
        let rest = self.buffer.split_off(at);
        let now = std::mem::replace(&mut self.buffer, rest);
        if !now.is_empty() {
            self.emitted.push_str(&now);
            events.push_back(ChatEvent::Text(now));
        }
    }

    fn hand_on(&mut self, events: &mut EventQueue) {
        let held = std::mem::take(&mut self.buffer);
        if !held.is_empty() {
            events.push_back(ChatEvent::Text(held));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the thinking in parentheses, then the text.
    fn filtered(pieces: &[&str]) -> String {
        let (mut filter, mut events) = (ThinkFilter::default(), EventQueue::new());
        pieces.iter().for_each(|piece| filter.pass(ChatEvent::Text(piece.to_string()), &mut events));
        filter.flush(&mut events);
        let (mut thinking, mut text) = (String::new(), String::new());
        for event in events {
            match event {
                ChatEvent::Thinking(piece) => thinking += &piece,
                ChatEvent::Text(piece) => text += &piece,
                ChatEvent::WasThinking => thinking = std::mem::take(&mut text) + &thinking,
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
            // https://github.com/kekzl/imp/pull/793: it thinks again directly after its thinking.
            ("<think>a</think>\n\n<think>b</think>\nc", "(ab)c"),
            ("a</think>\n<think>b</think>c", "(ab)c"),
            ("a</think><thi", "(a)<thi"),
            ("<think>a</think> <b>", "(a)<b>"),
            ("", "()"),
            ("[THINK]a[/THINK]b", "(a)b"),
            ("<thinking>a</thinking>\nb", "(a)b"),
            ("◁think▷a◁/think▷b", "(a)b"),
            ("<|channel>thought\na<channel|>b", "(\na)b"),
            ("<|channel|>analysis<|message|>a<|end|><|start|>assistant<|channel|>final<|message|>b", "(a)b"),
            ("analysisWe think.assistantfinalFour.", "(We think.)Four."),
            ("analysis of it", "()analysis of it"),
            // The start mark was part of the template.
            ("I think.\n</think>\n\nFour.", "(I think.\n)Four."),
            ("I think.</think>Four.", "(I think.)Four."),
            ("I think.[/THINK]Four.", "(I think.)Four."),
            ("I think.</think>", "(I think.)"),
            ("</think>Four.", "()Four."),
            ("a</think>b</think>c", "(a)b</think>c"),
            ("`</think>` ends it", "()`</think>` ends it"),
            ("a < b </thi", "()a < b </thi"),
        ] {
            assert_eq!(filtered(&[answer]), expected, "{answer}");
            let chars: Vec<String> = answer.chars().map(String::from).collect();
            let chars: Vec<&str> = chars.iter().map(String::as_str).collect();
            assert_eq!(filtered(&chars), expected, "{answer} a character at a time");
        }
    }

    /// Returns the texts of a complete answer, with thinking in parentheses, and its lesson.
    fn whole(mut filter: ThinkFilter, given: Vec<ChatEvent>) -> (String, Option<Lesson>) {
        let mut events = EventQueue::new();
        given.into_iter().for_each(|event| filter.pass(event, &mut events));
        let text_of = |event: &ChatEvent| match event {
            ChatEvent::Thinking(text) => format!("({text})"),
            ChatEvent::Text(text) => text.clone(),
            ChatEvent::WasThinking => "!".to_owned(),
            _ => String::new(),
        };
        (events.iter().map(text_of).collect(), filter.take_lesson())
    }

    #[test]
    fn a_model_that_begins_within_thinking_is_learned_and_unlearned() {
        let text = |text: &str| ChatEvent::Text(text.to_owned());
        let thought = |text: &str| ChatEvent::Thinking(text.to_owned());
        let done = || ChatEvent::Done(FinishReason::Stop);
        let (new, known) = (ThinkFilter::default, ThinkFilter::beginning_with_thinking);
        for (filter, given, expected, lesson) in [
            (new(), vec![text("hm"), text("</think>Four"), done()], "hm!Four", Some(Lesson::BeginsThinking)),
            (new(), vec![text("hm</think>Four"), done()], "(hm)Four", Some(Lesson::BeginsThinking)),
            (new(), vec![text("Four"), done()], "Four", None),
            (known(), vec![text("hm"), text("</think>Four"), done()], "(hm)Four", None),
            (known(), vec![text("<think>hm</think>Four"), done()], "(hm)Four", None),
            (known(), vec![thought("hm"), text("Four"), done()], "(hm)Four", None),
            (known(), vec![text("Four"), done()], "(Four)Four", Some(Lesson::BeginsWithText)),
            (
                new(),
                vec![text("<think>hm</think><think> is a tag."), done()],
                "(hm)( is a tag.) is a tag.",
                Some(Lesson::BeginsWithText),
            ),
            // Truncated at a limit, the text was thinking.
            (known(), vec![text("hm"), ChatEvent::Done(FinishReason::Length)], "(hm)", None),
        ] {
            assert_eq!(whole(filter, given.clone()), (expected.to_owned(), lesson), "{given:?}");
        }
    }
}
