//! The journal's lines about copies: the original's line with `copy_of`, so that a copy has model, tokens and time,
//! and the fact that no request was sent for it.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value};

use super::copies::PlannedCopy;
use super::dir::now;
use super::journal::{JOURNAL, Journal};
use super::proof::{PROVEN, Statement};
use crate::bubb::{BubbId, BubbName};
use lepo_base::error::Result;

/// Because of this field a request is not pending.
const COPY_KEY: &str = "\"copy_of\"";

#[derive(Default)]
struct CopyFacts {
    /// The last line of each original.
    originals: HashMap<BubbId, Map<String, Value>>,
    /// The copies that have a line.
    copies: HashSet<BubbId>,
}

impl Journal<'_> {
    /// Appends a line for each copy that has none, except messages copied onto their own prev.
    pub(super) fn add_copies(&self, copies: &[PlannedCopy]) -> Result<()> {
        let copies: Vec<&PlannedCopy> =
            copies.iter().filter(|copy| copy.name.id != copy.original.id).collect();
        if copies.is_empty() {
            return Ok(());
        }
        let facts = self.facts_of(&copies);
        let proven = self.proven_originals(&copies);
        let mut lines = Vec::new();
        for copy in copies.iter().filter(|copy| !facts.copies.contains(&copy.name.id)) {
            // The model's facts are not about replacement text.
            let same = copy.new_text().is_none().then(|| facts.originals.get(&copy.original.id)).flatten();
            let mut line = same.cloned().unwrap_or_default();
            line.insert("time".into(), now().into());
            line.insert("bubb".into(), copy.name.id.to_string().into());
            line.entry("what").or_insert_with(|| "copy".into());
            line.insert("copy_of".into(), copy.original.id.to_string().into());
            // The original's proof and session are not about the copy.
            line.remove("proof");
            line.remove("agent_session");
            if proven.contains(&copy.original.id)
                && let Some(proof) = self.store.proof(Statement::Message(copy.name.id))
            {
                line.insert("proof".into(), proof.into());
            }
            lines.extend_from_slice(Value::Object(line).to_string().as_bytes());
            lines.push(b'\n');
        }
        if lines.is_empty() { Ok(()) } else { self.store.dir.append(JOURNAL, &lines) }
    }

    /// Returns the proven and unedited originals, whose copies are proven, too.
    fn proven_originals(&self, copies: &[&PlannedCopy]) -> HashSet<BubbId> {
        let steering = copies.iter().map(|copy| copy.original).filter(BubbName::is_steering);
        let steering: HashMap<BubbId, BubbName> = steering.map(|name| (name.id, name)).collect();
        let mut proven = self.proven(&steering.keys().copied().collect());
        let is_unedited = |name: &BubbName| self.store.read_unedited(name).is_ok();
        proven.retain(|id| steering.get(id).is_some_and(is_unedited));
        proven
    }

    /// Whether the journal records that a message is a copy: a copied request is not pending.
    pub fn is_copy(&self, id: BubbId) -> bool {
        // Any value of the field counts, even if it cannot be an id.
        let mut lines = self.lines_with([COPY_KEY]).filter_map(|line| object(&line));
        lines.any(|(bubb, line)| bubb == id && line.contains_key("copy_of"))
    }

    /// Reads the journal once.
    fn facts_of(&self, copies: &[&PlannedCopy]) -> CopyFacts {
        let mut facts = CopyFacts::default();
        let originals: HashSet<BubbId> = copies.iter().map(|copy| copy.original.id).collect();
        let made: HashSet<BubbId> = copies.iter().map(|copy| copy.name.id).collect();
        for (bubb, line) in self.lines(0).filter_map(|(line, _)| object(&line)) {
            if made.contains(&bubb) && line.contains_key("copy_of") {
                facts.copies.insert(bubb);
            }
            if originals.contains(&bubb) && line.get("what").and_then(Value::as_str) != Some(PROVEN) {
                facts.originals.insert(bubb, line);
            }
        }
        facts
    }
}

/// Parses a line with all its fields, unknown ones included.
fn object(line: &[u8]) -> Option<(BubbId, Map<String, Value>)> {
    let line: Map<String, Value> = serde_json::from_slice(line).ok()?;
    let bubb = BubbId::parse(line.get("bubb")?.as_str()?.as_bytes())?;
    Some((bubb, line))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use tempfile::TempDir;

    use super::super::journal_record::JournalRecord;
    use super::super::oracle::store;
    use super::super::{STORE, note_copy};
    use super::*;
    use lepo_base::role::Role;

    #[test]
    fn a_copys_line_has_all_fields_of_the_originals_except_its_proof_and_session() {
        let dir = TempDir::new().unwrap();
        let store = store(&dir);
        let [a, b] = [b"a", b"b"].map(|text| {
            let text: &[u8] = text;
            store.create_bubb(Role::Assistant, false, None, 0, text).unwrap()
        });
        let path = dir.path().join(STORE).join(JOURNAL);
        let record_line = |id: BubbId, rest: &str| {
            format!(
                r#"{{"time":0,"bubb":"{id}","what":"answer","model":"m","new":[1,{{"a":0.10}}],"ms":5{rest}}}"#
            )
        };
        fs::write(&path, record_line(a.id, r#","agent_session":"s","proof":"00""#) + "\n").unwrap();
        assert!(!store.journal().is_copy(b.id));
        note_copy(&store, a, b).unwrap();
        note_copy(&store, a, b).unwrap();
        let written = fs::read_to_string(&path).unwrap();
        let line = written.lines().nth(1).unwrap();
        let time = JournalRecord::parse(line.as_bytes()).unwrap().time;
        let expected = record_line(b.id, &format!(r#","copy_of":"{}""#, a.id));
        assert_eq!(line, expected.replace(r#""time":0"#, &format!(r#""time":{time}"#)));
        assert_eq!(written.lines().count(), 2, "each copy has one line");
        assert!(store.journal().is_copy(b.id) && !store.journal().is_copy(a.id));
        fs::write(&path, record_line(a.id, r#","copy_of":7"#)).unwrap();
        assert!(store.journal().is_copy(a.id), "whatever its original");
    }
}
