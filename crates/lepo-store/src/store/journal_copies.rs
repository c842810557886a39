//! The journal's lines about copies: the original's line with `copy_of`, so that a copy has model, tokens and time,
//! and the fact that no request was sent for it.

use std::collections::{HashMap, HashSet};
use std::io::{self, BufRead, BufReader};

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Map, Value};

use super::copies::PlannedCopy;
use super::dir::now;
use super::journal::{JOURNAL, Journal, id_of_text};
use super::proof::{PROVEN, Statement};
use crate::bubb::{BubbId, BubbName};
use lepo_base::error::Result;

/// A line about a copy. Because of `copy_of` a request is not pending, so any value of it counts.
#[derive(Deserialize)]
struct CopyLine {
    #[serde(default, deserialize_with = "id_of_text")]
    bubb: Option<BubbId>,
    #[serde(rename = "copy_of")]
    _copy_of: IgnoredAny,
}

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
        let told = self.facts_of(&copies);
        let proven = self.proven_originals(&copies);
        let mut lines = Vec::new();
        for copy in copies.iter().filter(|copy| !told.copies.contains(&copy.name.id)) {
            // The model's facts are not about replacement text.
            let same = copy.words().is_none().then(|| told.originals.get(&copy.original.id)).flatten();
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
        let is_unedited = |name: &BubbName| self.store.bubbs().read_unedited(name).is_ok();
        proven.retain(|id| steering.get(id).is_some_and(is_unedited));
        proven
    }

    /// Whether the journal records that a message is a copy: a copied request is not pending.
    pub fn is_copy(&self, id: BubbId) -> bool {
        let Ok(journal) = self.store.dir.open_file(JOURNAL) else { return false };
        let key = b"\"copy_of\"";
        let lines = BufReader::new(journal).split(b'\n').map_while(io::Result::ok);
        let mut told = lines.filter(|line| memchr::memmem::find(line, key).is_some());
        told.any(|line| serde_json::from_slice::<CopyLine>(&line).is_ok_and(|line| line.bubb == Some(id)))
    }

    /// Reads the journal once; a torn line is skipped.
    fn facts_of(&self, copies: &[&PlannedCopy]) -> CopyFacts {
        let mut told = CopyFacts::default();
        let Ok(journal) = self.store.dir.open_file(JOURNAL) else { return told };
        let originals: HashSet<BubbId> = copies.iter().map(|copy| copy.original.id).collect();
        let made: HashSet<BubbId> = copies.iter().map(|copy| copy.name.id).collect();
        for line in BufReader::new(journal).split(b'\n').map_while(io::Result::ok) {
            let Ok(Value::Object(line)) = serde_json::from_slice::<Value>(&line) else { continue };
            let of = line.get("bubb").and_then(Value::as_str).and_then(|id| BubbId::parse(id.as_bytes()));
            let Some(of) = of else { continue };
            if made.contains(&of) && line.contains_key("copy_of") {
                told.copies.insert(of);
            }
            if originals.contains(&of) && line.get("what").and_then(Value::as_str) != Some(PROVEN) {
                told.originals.insert(of, line);
            }
        }
        told
    }
}
