//! The history as debaters read it: all visible messages of the conv, each with the name of its author,
//! parsed from the path, so that a debate can be continued from any bubb.

use super::protocol::{Bid, OrchestratorDecision, decision, selected};
use crate::message::Message;
use lepo_base::error::Result;
use lepo_base::role::Role;
use lepo_store::conv::{Forest, Ix};
use lepo_store::store::Store;

/// Author of the conclusion.
pub(super) const ORCHESTRATOR: &str = "orchestrator";

/// The debate so far.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct DebateHistory<'s> {
    /// The last question.
    pub topic: &'s str,
    /// The other visible bubbs, oldest first: author and text.
    pub heard: Vec<(&'s str, &'s str)>,
}

/// Parses a path; `None` if it has no question.
pub fn read_history(path: &[Message]) -> Option<DebateHistory<'_>> {
    let topic = path.iter().rposition(Message::is_question)?;
    let mut past = DebateHistory { topic: &path[topic].text, heard: Vec::new() };
    let mut speaker = None;
    for (i, message) in path.iter().enumerate() {
        let text = &*message.text;
        if message.hidden {
            speaker = match decision(text, &[]) {
                Some((_, OrchestratorDecision::End(_))) => Some(ORCHESTRATOR),
                _ => selected(text),
            };
        } else if i != topic {
            let role = message.role.as_str();
            let speaker = speaker.take().filter(|_| message.role == Role::Assistant);
            past.heard.push((speaker.unwrap_or(role), text));
        }
    }
    Some(past)
}

/// The models of a debate, according to its messages and the journal.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct DebateModels {
    /// The participants, ordered by their first appearance.
    pub participants: Vec<String>,
    /// The model that led it; `None` if the journal does not contain it, as in another clone.
    pub orchestrator: Option<String>,
}

/// Reads the models of the debate that ends at `tip`.
pub fn debate_models(store: &Store, forest: &Forest, tip: Ix) -> Result<DebateModels> {
    let facts = store.journal().facts();
    let mut models = DebateModels::default();
    for ix in forest.conv(tip).path {
        let name = forest.name(ix);
        if !name.hidden || name.role != Role::System {
            continue;
        }
        let text = store.text(&name)?;
        let fact = facts.get(&name.id).filter(|fact| fact.what == "orchestrator");
        if let Some(model) = fact.and_then(|fact| fact.model.clone()) {
            models.orchestrator = Some(model);
            continue;
        }
        for named in named_participants(&text) {
            if !models.participants.iter().any(|known| known == named) {
                models.participants.push(named.to_string());
            }
        }
    }
    Ok(models)
}

/// Returns the participants that a hidden message names: the bidders, or the next speaker.
fn named_participants(text: &str) -> Vec<&str> {
    if let Some(name) = selected(text) {
        // A conclusion without END is preceded by its author's line.
        return if name == ORCHESTRATOR { Vec::new() } else { vec![name] };
    }
    let bidder = |line: &'_ str| {
        let (_, bid) = line.rsplit_once(": ")?;
        [Bid::Request, Bid::Pass]
            .iter()
            .any(|known| known.as_str() == bid)
            .then_some(line.len() - bid.len() - 2)
    };
    let bidders = text.lines().map(|line| bidder(line).and_then(|end| line.get(..end)));
    bidders.collect::<Option<Vec<&str>>>().unwrap_or_default()
}

impl DebateHistory<'_> {
    /// Formats the history as lines `[NAME] text`.
    pub fn history(&self) -> String {
        if self.heard.is_empty() {
            return "(nothing yet)".into();
        }
        let line = |(name, text): &(&str, &str)| format!("[{name}] {}", text.trim());
        self.heard.iter().map(line).collect::<Vec<_>>().join("\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::fixture::path;

    #[test]
    fn a_hidden_message_names_participants() {
        for (text, names) in [
            ("SELECT: gpt", &["gpt"][..]),
            ("gpt: REQUEST\nollama:qwen3: PASS", &["gpt", "ollama:qwen3"]),
            ("SELECT: orchestrator", &[]),
            ("So.\nSELECT: gpt", &[]),
            ("gpt: REQUEST\nand more", &[]),
            ("a system prompt", &[]),
        ] {
            assert_eq!(named_participants(text), names, "{text}");
        }
    }

    #[test]
    fn what_was_said_is_told_with_who_said_it() {
        for (text, topic, history) in [
            ("s1 prompt / u0 which?", "which?", "(nothing yet)"),
            (
                "u0 which? / s1 a: REQUEST / s1 SELECT: a / s1 SELECT: a / a0 one\n\ntwo / s1 a: PASS",
                "which?",
                "[a] one\n\ntwo",
            ),
            ("u0 which? / s1 So.\nEND: x / a0 x", "which?", "[orchestrator] x"),
            // an ordinary turn before, a command's output, and a question that continues a debate
            (
                "u0 hi / a0 hello / s0 $ ls / u0 which?",
                "which?",
                "[user] hi\n[assistant] hello\n[system] $ ls",
            ),
            ("u0 1 / s1 SELECT: b / a0 x / u0 2", "2", "[user] 1\n[b] x"),
            // a hidden answer that was cut short does not count
            ("u0 1 / s1 SELECT: b / a1 half / s1 SELECT: c / a0 x", "1", "[c] x"),
        ] {
            let path = path(text);
            let past = read_history(&path).unwrap();
            assert_eq!((past.topic, past.history().as_str()), (topic, history), "{text}");
        }
        assert_eq!(read_history(&path("s1 prompt / a0 x")), None);
    }
}
