//! Editor sessions as recorded in the journal: an issued id, and the last bubb written in the session.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::io::{BufRead, BufReader, Read};

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::journal::{JOURNAL, id_of_text};
use super::proof::Statement;
use super::{Journal, JournalEntry, now};
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

#[derive(Deserialize)]
struct SessionLine {
    what: String,
    session: String,
    #[serde(default)]
    under: Option<String>,
}

impl Journal<'_> {
    /// Issues the id of a new session: an empty one, or one that starts at a bubb.
    pub fn new_session(&self, fork_of: Option<BubbId>) -> String {
        // Time and a random number, so that two processes issue different ids.
        let id = format!("s{:011x}-{:016x}", now(), RandomState::new().hash_one(std::process::id()));
        let what = if fork_of.is_some() { "fork" } else { "session" };
        self.add(JournalEntry { what, session: Some(&id), under: fork_of, ..JournalEntry::default() });
        id
    }

    pub fn note_session(&self, id: &str, end: BubbId) {
        self.add(JournalEntry {
            what: "session",
            session: Some(id),
            under: Some(end),
            ..JournalEntry::default()
        });
    }

    /// Returns the recorded sessions; the last line of a session counts.
    pub fn sessions(&self) -> HashMap<String, SessionEnd> {
        self.store.dir.open_file(JOURNAL).map(sessions).unwrap_or_default()
    }
}

/// A line about an answer of an agent.
#[derive(Deserialize)]
struct AgentLine {
    agent_session: String,
    #[serde(default, deserialize_with = "id_of_text")]
    bubb: Option<BubbId>,
    #[serde(default)]
    model: Option<String>,
    /// A copy of an answer is not an answer of the agent.
    #[serde(default)]
    copy_of: Option<IgnoredAny>,
    #[serde(default)]
    proof: Option<String>,
}

impl Journal<'_> {
    /// Returns the session of a model's agent that ends at this answer. `None` if the session continued after it, or
    /// if the user's own lepo did not write the line: otherwise another user's session could be resumed.
    pub fn agent_session(&self, answer: BubbId, model: &str) -> Option<String> {
        let is_proven = |session: &str, proof: &str| {
            self.store.is_proven(Statement::AgentSession(answer, model, session), proof)
        };
        agent_session(self.store.dir.open_file(JOURNAL).ok()?, answer, model, &is_proven)
    }
}

fn agent_session(
    journal: impl Read,
    answer: BubbId,
    model: &str,
    is_proven: &dyn Fn(&str, &str) -> bool,
) -> Option<String> {
    const KEY: &[u8] = b"\"agent_session\":";
    let mut found = None;
    let lines = BufReader::new(journal).split(b'\n').map_while(std::io::Result::ok);
    for line in lines.filter(|line| memchr::memmem::find(line, KEY).is_some()) {
        let Ok(line) = serde_json::from_slice::<AgentLine>(&line) else { continue };
        if line.copy_of.is_some() {
            continue;
        }
        let is_this = line.bubb == Some(answer) && line.model.as_deref() == Some(model);
        if is_this {
            let proof = line.proof.as_deref().unwrap_or_default();
            if !is_proven(&line.agent_session, proof) {
                continue;
            }
            found = Some(line.agent_session);
        } else if found.as_ref() == Some(&line.agent_session) {
            found = None;
        }
    }
    found
}

fn sessions(journal: impl Read) -> HashMap<String, SessionEnd> {
    const KEY: &[u8] = b"\"session\":";
    let lines = BufReader::new(journal).split(b'\n').map_while(std::io::Result::ok);
    let lines = lines.filter(|line| memchr::memmem::find(line, KEY).is_some());
    let told = lines.filter_map(|line| serde_json::from_slice::<SessionLine>(&line).ok());
    let end = |line: SessionLine| {
        let under = line.under.and_then(|id| BubbId::parse(id.as_bytes()));
        let end = match (line.what.as_str(), under) {
            ("session", Some(id)) => SessionEnd::Written(id),
            ("fork", Some(id)) => SessionEnd::Fork(id),
            ("session", None) => SessionEnd::Empty,
            _ => return None,
        };
        Some((line.session, end))
    };
    told.filter_map(end).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let copy = line('C', "s").replace("\"model\"", "\"copy_of\":\"x\",\"model\"");
        let lines = [line('A', "s"), line('B', "s"), copy, line('D', "t")];
        let end = |bubb, model| agent_session(lines.join("\n").as_bytes(), bubb, model, &is_proven);
        assert_eq!(end(bubb('B'), "m").as_deref(), Some("s"));
        assert_eq!((end(bubb('A'), "m"), end(bubb('C'), "m"), end(bubb('B'), "n")), (None, None, None));
        // An interrupted turn without a message.
        let cut = r#"{"bubb":null,"what":"partial","model":"m","agent_session":"t"}"#;
        let lines = [lines.join("\n"), cut.to_string()].join("\n");
        assert_eq!(agent_session(lines.as_bytes(), bubb('D'), "m", &is_proven), None);
        // A forged line after the user's own, and a forged line alone.
        let forged = line('B', "x").replace("proof of", "guess of");
        let lines = [line('B', "s"), forged.clone()].join("\n");
        assert_eq!(agent_session(lines.as_bytes(), bubb('B'), "m", &is_proven).as_deref(), Some("s"));
        let bare = forged.split(",\"proof\"").next().unwrap().to_string() + "}";
        for lines in [forged, bare] {
            assert_eq!(agent_session(lines.as_bytes(), bubb('B'), "m", &is_proven), None, "{lines}");
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
        let found = sessions(lines.join("\n").as_bytes());
        let expected = [
            ("a", SessionEnd::Empty),
            ("b", SessionEnd::Fork(bubb('A'))),
            ("c", SessionEnd::Written(bubb('B'))),
        ];
        assert_eq!(found, expected.map(|(id, end)| (id.to_string(), end)).into());
    }
}
