//! The past as debaters read it: all visible messages of the conv, each under the name of the one who
//! said it. Read from the path itself, so that a debate goes on wherever it was left.

use super::protocol::{OrchestratorDecision, decision, selected};
use crate::path::PathEntry;
use lepo_store::bubb::Kind;

/// The name of the conclusion's author.
pub(super) const ORCHESTRATOR: &str = "orchestrator";

/// The debate so far.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Past<'s> {
    /// The last question.
    pub topic: &'s str,
    /// The other visible bubbs, oldest first: a name, and its words.
    pub heard: Vec<(&'s str, &'s str)>,
}

/// Reads it from a path; none if the path has no question.
pub fn past(path: &[PathEntry]) -> Option<Past<'_>> {
    let is_question = |entry: &PathEntry| !entry.hidden && entry.kind == Kind::User;
    let topic = path.iter().rposition(is_question)?;
    let mut past = Past { topic: &path[topic].text, heard: Vec::new() };
    let mut speaker = None;
    for (i, entry) in path.iter().enumerate() {
        let text = &*entry.text;
        if entry.hidden {
            speaker = match decision(text, &[]) {
                Some((_, OrchestratorDecision::End(_))) => Some(ORCHESTRATOR),
                _ => selected(text),
            };
        } else if i != topic {
            let by_kind = entry.kind.word();
            let speaker = speaker.take().filter(|_| entry.kind == Kind::Assistant);
            past.heard.push((speaker.unwrap_or(by_kind), text));
        }
    }
    Some(past)
}

impl Past<'_> {
    /// The lines `[NAME] text`.
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
    use crate::path::fixture::path;

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
            // an ordinary turn before, a command's output, and a question that goes on from a debate
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
            let past = past(&path).unwrap();
            assert_eq!((past.topic, past.history().as_str()), (topic, history), "{text}");
        }
        assert_eq!(past(&path("s1 prompt / a0 x")), None);
    }
}
