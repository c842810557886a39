//! Proofs in the journal that the user's own lepo wrote or imported a message, or fetched it from the user's own
//! clone.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::handle::Store;
use super::journal::Journal;
use super::journal_record::JournalRecord;
use super::proof::{PROOF_KEY, PROVEN, Statement};
use crate::bubb::BubbId;

#[doc(hidden)]
impl Store {
    /// Renews the proof of a rewritten journal line if the old line had a valid one. A message that is not
    /// `as_written` gets no proof.
    pub(super) fn proven_anew(
        &self,
        old: &[u8],
        new: Vec<u8>,
        as_written: &dyn Fn(BubbId) -> bool,
    ) -> Vec<u8> {
        if memchr::memmem::find(old, PROOF_KEY.as_bytes()).is_none() {
            return new;
        }
        let is_proven = |line: &JournalRecord| {
            let proven = line.statement().zip(line.proof.as_deref());
            proven.is_some_and(|(statement, proof)| self.is_proven(statement, proof))
                && line.bubb.is_some_and(as_written)
        };
        let was_proven = JournalRecord::parse(old).is_some_and(|line| is_proven(&line));
        let (Some(line), Ok(mut fields)) =
            (JournalRecord::parse(&new), serde_json::from_slice::<Map<String, Value>>(&new))
        else {
            return new;
        };
        let proof = line.statement().filter(|_| was_proven).and_then(|statement| self.proof(statement));
        match proof {
            Some(proof) => fields.insert("proof".to_string(), proof.into()),
            None => fields.remove("proof"),
        };
        let mut renewed = serde_json::to_vec(&fields).unwrap_or_default();
        renewed.push(b'\n');
        renewed
    }
}

impl Journal<'_> {
    /// Appends a proof for each of these messages in a single write. A journal that cannot be written never fails a
    /// command: without a proof lepo asks the user.
    pub fn prove(&self, ids: impl IntoIterator<Item = BubbId>) {
        let records = ids.into_iter().map_while(|id| {
            let proof = self.store.proof(Statement::Message(id))?;
            Some(JournalRecord { proof: Some(proof), ..JournalRecord::new(id, PROVEN) })
        });
        if let Err(error) = self.append(records) {
            tracing::debug!(error = error.chain(), "journal");
        }
    }

    /// Appends proofs for those messages among `ids` that have none.
    pub fn prove_missing(&self, ids: HashSet<BubbId>) {
        let known = self.proven(&ids);
        self.prove(ids.into_iter().filter(|id| !known.contains(id)));
    }

    /// Returns the ids that the journal proves, in one pass over it.
    pub fn proven(&self, ids: &HashSet<BubbId>) -> HashSet<BubbId> {
        if ids.is_empty() || self.store.prover.is_none() {
            return HashSet::new();
        }
        let proven = self.records_with([PROOF_KEY]).filter_map(|record| {
            let (id, proof) = (record.bubb.filter(|id| ids.contains(id))?, record.proof?);
            self.store.is_proven(Statement::Message(id), &proof).then_some(id)
        });
        proven.collect()
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::sync::Arc;

    use tempfile::TempDir;

    use super::super::STORE;
    use super::super::journal::JOURNAL;
    use super::super::oracle::store;
    use super::super::proof::Prover;
    use super::*;
    use lepo_base::role::Role;

    /// Joins the parts under a readable key instead of hashing them.
    struct Plain(&'static str);

    impl Prover for Plain {
        fn keyed_hash(&self, parts: &[&[u8]]) -> Option<String> {
            let parts = parts.iter().map(|part| String::from_utf8_lossy(part).into_owned());
            Some(format!("{}:{}", self.0, parts.collect::<Vec<_>>().join("|")))
        }
    }

    #[test]
    fn a_message_is_proven_by_a_line_with_the_users_key_alone() {
        let dir = TempDir::new().unwrap();
        let bare = store(&dir);
        let [a, b] = [b"a", b"b"].map(|text| bare.create_bubb(Role::System, true, None, 0, text).unwrap().id);
        let both: HashSet<BubbId> = [a, b].into();
        bare.journal().prove([a]);
        assert_eq!(bare.journal().proven(&both), HashSet::new(), "without a key nothing is proven");
        let (mine, other) = (
            store(&dir).with_prover(Arc::new(Plain("mine"))),
            store(&dir).with_prover(Arc::new(Plain("other"))),
        );
        mine.journal().prove([a]);
        assert_eq!(mine.journal().proven(&both), [a].into());
        assert_eq!(other.journal().proven(&both), HashSet::new());
        // A message's line under another id, and a line that proves another statement.
        let path = dir.path().join(STORE).join(JOURNAL);
        let moved = fs::read_to_string(&path).unwrap().replacen(&a.to_string(), &b.to_string(), 1);
        let session = mine.proof(Statement::AgentSession(b, "m", "s")).unwrap();
        let session = format!("{{\"bubb\":\"{b}\",\"what\":\"answer\",\"proof\":\"{session}\"}}\n");
        fs::write(&path, format!("{moved}{session}torn \"proof\":\"\n")).unwrap();
        assert_eq!(mine.journal().proven(&both), HashSet::new());
        mine.journal().prove_missing(both.clone());
        assert_eq!(mine.journal().proven(&both), both);
        let length = fs::metadata(&path).unwrap().len();
        mine.journal().prove_missing(both);
        assert_eq!(fs::metadata(&path).unwrap().len(), length, "each is proven once");
        assert_eq!(mine.journal().facts().len(), 1, "a proof is no fact of a message");
    }

    #[test]
    fn a_line_counts_in_the_store_that_it_was_written_in_wherever_that_is_moved() {
        let top = TempDir::new().unwrap();
        let open = |name: &str| {
            let dir = top.path().join(name);
            fs::create_dir_all(&dir).unwrap();
            Store::make(&dir, std::path::Path::new(STORE), "").unwrap().0.with_prover(Arc::new(Plain("k")))
        };
        let (own, other) = (open("own"), open("other"));
        let id = own.create_bubb(Role::System, true, None, 0, b"a").unwrap().id;
        own.journal().prove([id]);
        let file = |name: &str| top.path().join(name).join(STORE).join(JOURNAL);
        fs::copy(file("own"), file("other")).unwrap();
        assert_eq!(other.journal().proven(&[id].into()), HashSet::new(), "copied to another store");
        fs::rename(top.path().join("own"), top.path().join("moved")).unwrap();
        assert_eq!(open("moved").journal().proven(&[id].into()), [id].into(), "moved");
    }

    #[test]
    fn statements_of_each_kind_have_proofs_of_their_own() {
        let dir = TempDir::new().unwrap();
        let store = store(&dir).with_prover(Arc::new(Plain("k")));
        let [a, b] = [b"a", b"b"].map(|text| store.create_bubb(Role::User, false, None, 0, text).unwrap().id);
        let statements = [
            Statement::Message(a),
            Statement::Message(b),
            Statement::AgentSession(a, "m", "s"),
            Statement::AgentSession(a, "n", "s"),
            Statement::AgentSession(b, "m", "s"),
            Statement::AgentSession(a, "m", "t"),
            Statement::Replay(a, b"x"),
            Statement::Replay(b, b"x"),
            Statement::Replay(a, b"y"),
            Statement::Replacement(b"x"),
            Statement::Change(b"x"),
            Statement::Redacted(a),
        ];
        for (at, one) in statements.iter().enumerate() {
            let proof = store.proof(*one).unwrap();
            for (other_at, other) in statements.iter().enumerate() {
                assert_eq!(store.is_proven(*other, &proof), at == other_at, "{one:?} {other:?}");
            }
        }
    }
}
