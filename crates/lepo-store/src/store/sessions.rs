//! Editor sessions as recorded in the journal: an issued id, and the last bubb written in the session.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};

use super::proof::Statement;
use super::{Journal, JournalRecord, now};
use crate::bubb::BubbId;

/// Where a session ends, by its last line in the journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionEnd {
    /// The session has no bubbs.
    Empty,
    /// The session starts at this bubb and has no bubbs of its own.
    Fork(BubbId),
    /// The last bubb written in the session.
    Written(BubbId),
}

impl Journal<'_> {
    /// Issues the id of a new session: an empty one, or one that starts at a bubb.
    pub fn new_session(&self, fork_of: Option<BubbId>) -> String {
        // Time and a random number, so that two processes issue different ids.
        let id = format!("s{:011x}-{:016x}", now(), RandomState::new().hash_one(std::process::id()));
        let what = if fork_of.is_some() { "fork" } else { "session" };
        self.add_session(what, &id, fork_of);
        id
    }

    pub fn note_session(&self, id: &str, end: BubbId) {
        self.add_session("session", id, Some(end));
    }

    fn add_session(&self, what: &str, id: &str, under: Option<BubbId>) {
        let (what, session) = (what.to_string(), Some(id.to_string()));
        self.add(JournalRecord { what, session, under, ..JournalRecord::default() });
    }

    /// Returns the recorded sessions; the last line of a session counts.
    pub fn sessions(&self) -> HashMap<String, SessionEnd> {
        sessions(self.records_with(["\"session\":"]))
    }

    /// Returns the session of a model's agent that ends at this answer. `None` if the session continued after it, or
    /// if the user's own lepo did not write the line: otherwise another user's session could be resumed.
    pub fn agent_session(&self, answer: BubbId, model: &str) -> Option<String> {
        let is_proven = |session: &str, proof: &str| {
            self.store.is_proven(Statement::AgentSession(answer, model, session), proof)
        };
        agent_session(self.records_with(["\"agent_session\":"]), answer, model, &is_proven)
    }
}

fn agent_session(
    records: impl Iterator<Item = JournalRecord>,
    answer: BubbId,
    model: &str,
    is_proven: &dyn Fn(&str, &str) -> bool,
) -> Option<String> {
    let mut found = None;
    // A copy of an answer is not an answer of the agent.
    for record in records.filter(|record| record.copy_of.is_none()) {
        let Some(session) = record.agent_session else { continue };
        if record.bubb == Some(answer) && record.model.as_deref() == Some(model) {
            if is_proven(&session, record.proof.as_deref().unwrap_or_default()) {
                found = Some(session);
            }
        } else if found.as_ref() == Some(&session) {
            found = None;
        }
    }
    found
}

fn sessions(records: impl Iterator<Item = JournalRecord>) -> HashMap<String, SessionEnd> {
    let end = |record: JournalRecord| {
        let end = match (record.what.as_str(), record.under) {
            ("session", Some(id)) => SessionEnd::Written(id),
            ("fork", Some(id)) => SessionEnd::Fork(id),
            ("session", None) => SessionEnd::Empty,
            _ => return None,
        };
        Some((record.session?, end))
    };
    records.filter_map(end).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn records(lines: &[String]) -> impl Iterator<Item = JournalRecord> {
        lines.iter().filter_map(|line| JournalRecord::parse(line.as_bytes()))
    }

    #[test]
    fn an_agents_session_is_found_only_at_its_end() {
        let id = |end: char| format!("01JB3Z0Q4N8V2K5T7W9X1Y3Z5{end}");
        let bubb = |end: char| BubbId::parse(id(end).as_bytes()).unwrap();
        let line = |end: char, session: &str| {
            let (id, proof) = (id(end), format!("proof of {session}"));
            format!(
                r#"{{"bubb":"{id}","what":"answer","model":"m","agent_session":"{session}","proof":"{proof}"}}"#
            )
        };
        let is_proven = |session: &str, proof: &str| proof == format!("proof of {session}");
        let copy = line('C', "s").replace("\"model\"", &format!("\"copy_of\":\"{}\",\"model\"", id('B')));
        let lines = [line('A', "s"), line('B', "s"), copy, line('D', "t")];
        let end = |bubb, model| agent_session(records(&lines), bubb, model, &is_proven);
        assert_eq!(end(bubb('B'), "m").as_deref(), Some("s"));
        assert_eq!((end(bubb('A'), "m"), end(bubb('C'), "m"), end(bubb('B'), "n")), (None, None, None));
        // An interrupted turn without a message.
        let cut = r#"{"bubb":null,"what":"partial","model":"m","agent_session":"t"}"#;
        let lines = [lines.as_slice(), &[cut.to_string()]].concat();
        assert_eq!(agent_session(records(&lines), bubb('D'), "m", &is_proven), None);
        // A forged line after the user's own, and a forged line alone.
        let forged = line('B', "x").replace("proof of", "guess of");
        let lines = [line('B', "s"), forged.clone()];
        assert_eq!(agent_session(records(&lines), bubb('B'), "m", &is_proven).as_deref(), Some("s"));
        let bare = forged.split(",\"proof\"").next().unwrap().to_string() + "}";
        for line in [forged, bare] {
            let found = agent_session(records(std::slice::from_ref(&line)), bubb('B'), "m", &is_proven);
            assert_eq!(found, None, "{line}");
        }
    }

    #[test]
    fn the_last_line_of_a_session_counts_and_torn_ones_are_skipped() {
        let id = |end: char| format!("01JB3Z0Q4N8V2K5T7W9X1Y3Z5{end}");
        let bubb = |end: char| BubbId::parse(id(end).as_bytes()).unwrap();
        let lines = [
            r#"{"time":1,"bubb":null,"what":"session","ms":0,"session":"a"}"#.to_string(),
            format!(r#"{{"time":1,"bubb":null,"what":"fork","ms":0,"under":"{}","session":"b"}}"#, id('A')),
            format!(
                r#"{{"time":2,"bubb":null,"what":"session","ms":0,"under":"{}","session":"c"}}"#,
                id('A')
            ),
            format!(
                r#"{{"time":3,"bubb":null,"what":"session","ms":0,"under":"{}","session":"c"}}"#,
                id('B')
            ),
            format!(r#"{{"time":3,"bubb":null,"what":"other","under":"{}","session":"d"}}"#, id('B')),
            format!(r#"{{"time":4,"bubb":null,"what":"session","under":"{}","sess"#, id('C')),
            r#"{"what":"session","session":7}"#.to_string(),
        ];
        let found = sessions(records(&lines));
        let expected = [
            ("a", SessionEnd::Empty),
            ("b", SessionEnd::Fork(bubb('A'))),
            ("c", SessionEnd::Written(bubb('B'))),
        ];
        assert_eq!(found, expected.map(|(id, end)| (id.to_string(), end)).into());
    }
}
