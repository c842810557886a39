//! Stopped answers are part of the talk: the rule of docs/format.md, section 12, which needs no journal.

use std::collections::{HashMap, HashSet};

use super::body::Body;
use super::message::{Message, NewMessage};
use lepo_base::role::Role;
use lepo_model::ChatMessage;
use lepo_secrets::ScreenedBytes;
use lepo_store::bubb::{BubbId, BubbName};
use lepo_store::conv::{Forest, Ix};
use lepo_store::store::Store;

/// Marks thinking where nothing else came; answers never begin with it.
const THINKING: &str = "<think>";

/// Asks for the rest of a stopped answer: a hidden message of the user after it.
const REST: &str =
    "Go on exactly where your answer stopped: repeat nothing of it, and write no introduction.";

/// Returns the request for the rest of a stopped answer.
pub fn rest_message() -> NewMessage {
    NewMessage::new(Role::User, true, REST.to_string(), ScreenedBytes::typed(REST))
}

/// Returns the text of an answer of thinking alone, which nothing follows.
pub fn thinking_alone(thought: &str) -> String {
    format!("{THINKING}\n{}\n</think>", thought.trim())
}

/// Whether the text of a hidden message of the assistant is neither blank, a call nor thinking alone.
pub fn is_stopped_text(text: &str) -> bool {
    is_spoken(text) && !Body::read(Role::Assistant, true, text).is_call()
}

/// Whether a request for this path ends with a stopped answer that the model continues.
pub fn ends_with_part(path: &[Message]) -> bool {
    path.last().is_some_and(|message| message.role == Role::Assistant)
}

/// Trims that answer, because a server refuses it with white space at its end.
pub fn trim_part(messages: &mut [ChatMessage]) {
    if let Some(part) = messages.last_mut().filter(|last| last.role == Role::Assistant) {
        part.text = part.text.trim_end().into();
    }
}

fn is_spoken(text: &str) -> bool {
    !text.trim().is_empty() && !text.starts_with(THINKING)
}

/// The hidden messages that are between question and answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum HiddenText {
    Call,
    Text,
    /// The answer before or after it does not fit its schema.
    Complaint,
    Other,
}

fn hidden_text(store: &Store, name: &BubbName) -> HiddenText {
    if !name.hidden || !matches!(name.role, Role::Assistant | Role::System) {
        return HiddenText::Other;
    }
    let Ok(text) = store.text(name) else { return HiddenText::Other };
    match Body::read_named(name, &text) {
        body if body.is_call() => HiddenText::Call,
        Body::Complaint => HiddenText::Complaint,
        _ if name.role == Role::Assistant && is_spoken(&text) => HiddenText::Text,
        _ => HiddenText::Other,
    }
}

/// The stopped answers on the conversations of a forest.
#[derive(Debug, Default)]
pub struct StoppedAnswers {
    ids: HashSet<BubbId>,
}

impl StoppedAnswers {
    /// Finds the stopped answers; side branches of answered questions are on no conversation.
    pub fn new(store: &Store, forest: &Forest) -> StoppedAnswers {
        let is_candidate = |ix: &Ix| forest.name(*ix).hidden && forest.name(*ix).role == Role::Assistant;
        let candidates: Vec<Ix> = forest.all().filter(is_candidate).collect();
        if candidates.is_empty() {
            return StoppedAnswers::default();
        }
        let on_path = on_path(forest);
        let next_of = next_of(forest, &on_path);
        let mut stopped = StoppedAnswers::default();
        let mut leads = HashSet::new();
        // Backwards, so that what follows a message is known before it.
        for ix in candidates.into_iter().rev().filter(|ix| on_path.contains(ix)) {
            let name = forest.name(ix);
            let next = next_of.get(&ix).map(Vec::as_slice).unwrap_or_default();
            let is_followed =
                |by: HiddenText| next.iter().any(|&ix| hidden_text(store, &forest.name(ix)) == by);
            match hidden_text(store, &name) {
                HiddenText::Text
                    if is_followed(HiddenText::Call) || next.iter().any(|ix| leads.contains(ix)) =>
                {
                    leads.insert(ix);
                }
                HiddenText::Text => {
                    if !is_followed(HiddenText::Complaint) && !follows_complaint(store, forest, ix) {
                        stopped.ids.insert(name.id);
                    }
                }
                HiddenText::Call | HiddenText::Complaint | HiddenText::Other => {}
            }
        }
        stopped
    }

    /// Whether this message is a stopped answer.
    pub fn contains(&self, id: BubbId) -> bool {
        self.ids.contains(&id)
    }

    /// Whether a reader sees the message without asking for hidden ones.
    pub fn is_shown(&self, name: &BubbName) -> bool {
        !name.hidden || self.contains(name.id)
    }
}

/// Returns the messages of all conversations: tails and visible messages, and what is before them.
fn on_path(forest: &Forest) -> HashSet<Ix> {
    let mut on_path = HashSet::new();
    let visible = forest.all().filter(|&ix| !forest.name(ix).hidden);
    for end in visible.chain(forest.tails(false)) {
        for ix in forest.up(end) {
            if !on_path.insert(ix) {
                break;
            }
        }
    }
    on_path
}

/// Returns what follows each hidden message of these. [`Forest::children`] reads all names for a single one.
fn next_of(forest: &Forest, on_path: &HashSet<Ix>) -> HashMap<Ix, Vec<Ix>> {
    let mut next: HashMap<Ix, Vec<Ix>> = HashMap::new();
    for &ix in on_path {
        if let Some(prev) = forest.prev(ix).filter(|prev| forest.name(*prev).hidden) {
            next.entry(prev).or_default().push(ix);
        }
    }
    next
}

fn follows_complaint(store: &Store, forest: &Forest, ix: Ix) -> bool {
    let prev = forest.prev(ix).map(|prev| hidden_text(store, &forest.name(prev)));
    prev == Some(HiddenText::Complaint)
}

/// Steps back over what an unfinished turn left at this end of a conversation: calls, results, a pending
/// request, and hidden messages that are not stopped answers. From a retry without an answer it leads to the stopped
/// answer that the question got before.
pub fn step_back(store: &Store, forest: &Forest, tip: Ix) -> Option<Ix> {
    let end = spoken_end(store, forest, tip)?;
    let question = forest.name(end);
    if end == tip || question.hidden || question.role != Role::User {
        return Some(end);
    }
    let later = forest.newest_first(false).take_while(|&tail| forest.name(tail).id > question.id);
    let mut tries = later.filter(|&tail| tail != tip && forest.up(tail).any(|ix| ix == end));
    let stopped = |tail: Ix| spoken_end(store, forest, tail).filter(|&stopped| forest.name(stopped).hidden);
    tries.find_map(stopped).or(Some(end))
}

fn spoken_end(store: &Store, forest: &Forest, tip: Ix) -> Option<Ix> {
    let mut after = HiddenText::Other;
    for ix in forest.up(tip) {
        let name = forest.name(ix);
        let this = hidden_text(store, &name);
        match (name.role, this) {
            _ if !name.hidden => return Some(ix),
            (Role::Assistant, HiddenText::Text) if after == HiddenText::Call => continue,
            (Role::Assistant, HiddenText::Text) => {
                if after != HiddenText::Complaint && !follows_complaint(store, forest, ix) {
                    return Some(ix);
                }
            }
            (Role::User, _) if store.text(&name).is_ok_and(|text| text == REST) => {}
            (Role::Assistant | Role::Tool, _) | (Role::System, HiddenText::Call | HiddenText::Complaint) => {}
            (Role::System | Role::User, _) => return Some(ix),
        }
        after = this;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    const CALL: &str = r#"{"access":"read","command":"ls"}"#;
    const AGENT: &str = r#"{"arguments":{},"name":"Read"}"#;

    /// Writes `A u0 - hi / B a1 A part`, each with the letter before it, and returns the letters by id.
    fn made(text: &str) -> (tempfile::TempDir, Store, Vec<(char, BubbName)>) {
        let work = tempfile::tempdir().unwrap();
        let store = Store::make(work.path(), Path::new(".lepo"), "").unwrap().0;
        let mut names: Vec<(char, BubbName)> = Vec::new();
        for (i, line) in text.split(" / ").enumerate() {
            let mut fields = line.splitn(4, ' ');
            let mut field = || fields.next().unwrap();
            let (letter, tag, prev, text) = (field(), field(), field(), field());
            let prev = names.iter().find(|(letter, _)| prev.starts_with(*letter)).map(|(_, name)| name.id);
            let text = text.replace("CALL", CALL).replace("AGENT", AGENT).replace("REST", REST);
            let text = text.replace("COMPLAINT", &super::super::schema::complaint("no"));
            let text = text.replace("THOUGHT", &thinking_alone("hm"));
            let role = Role::from_letter(tag.as_bytes()[0]).unwrap();
            // Ids of one store are in the order of the lines.
            let name = store
                .create_bubb_at(role, tag.ends_with('1'), prev, 1000 + i as u64, text.as_bytes())
                .unwrap();
            names.push((letter.chars().next().unwrap(), name));
        }
        (work, store, names)
    }

    #[test]
    fn a_stopped_answer_is_what_the_page_of_the_format_says() {
        for (text, stopped, start) in [
            // The end of a conversation, and a message before it.
            ("A u0 - hi / B a1 A part", "B", "B"),
            ("A u0 - hi / B a1 A part / C u0 B on / D a0 C yes", "B", "D"),
            ("A u0 - hi / B a1 A part / C u1 B on / D a0 C yes", "B", "D"),
            ("A u0 - hi / S s1 A planned / B a1 S part / C u0 B on", "B", "C"),
            // Beside the calls of its turn.
            ("A u0 - hi / B a1 A CALL / C t1 B x / D a1 A part", "D", "D"),
            ("A u0 - hi / B a1 A AGENT / C t1 B x / D a1 A part / E u0 D on", "D", "E"),
            // … by an earlier version, behind them.
            ("A u0 - hi / B a1 A CALL / C t1 B x / D a1 C part", "D", "D"),
            // Words around calls, and calls.
            ("A u0 - hi / B a1 A I look. / C a1 B CALL", "", "A"),
            ("A u0 - hi / B a1 A I look. / N a1 B (2 requests) / C a1 N CALL / D t1 C x", "", "A"),
            ("A u0 - hi / B a1 A I look. / C s1 B CALL / D s1 C x", "", "D"),
            ("A u0 - hi / B a1 A AGENT / C t1 B x", "", "A"),
            // A retry that got nothing, beside the part.
            ("A u0 - hi / B a1 A part / C a1 A THOUGHT / D a1 A THOUGHT", "B", "B"),
            ("A u0 - hi / B a1 A THOUGHT / C a1 A THOUGHT", "", "A"),
            ("A u0 - hi / B a1 A part / C a1 A CALL / D t1 C x", "B", "B"),
            // Beside a whole answer.
            ("A u0 - hi / B a1 A part / C a0 A yes", "", "C"),
            // Its rest was asked for, and nothing came.
            ("A u0 - hi / B a1 A part / C u1 B REST", "B", "B"),
            // Thinking alone, and a blank.
            ("A u0 - hi / B a1 A THOUGHT", "", "A"),
            ("A u0 - hi / B a1 A  ", "", "A"),
            // Not of the schema.
            ("A u0 - hi / B a1 A {} / C s1 B COMPLAINT", "", "A"),
            ("A u0 - hi / B a1 A {} / C s1 B COMPLAINT / D a1 C {}", "", "A"),
            // The answer that was gone on with calls tools.
            ("A u0 - hi / B a1 A part / C a1 B CALL / D t1 C x / E a0 B yes", "B", "E"),
        ] {
            let (_work, store, names) = made(text);
            let forest = store.forest().unwrap();
            let found = StoppedAnswers::new(&store, &forest);
            let letters = |is: &dyn Fn(&BubbName) -> bool| -> String {
                names.iter().filter(|(_, name)| is(name)).map(|(letter, _)| *letter).collect()
            };
            assert_eq!(letters(&|name| found.contains(name.id)), stopped, "{text}");
            let from = step_back(&store, &forest, forest.newest().unwrap()).map(|ix| forest.name(ix).id);
            assert_eq!(letters(&|name| Some(name.id) == from), start, "{text}");
        }
    }
}
