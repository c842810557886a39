//! `_wire/ID.json`: data that a model's server needs back when a pending request is decided; `_wire/ID.calls.json`: the
//! calls before the answer ID, which later turns send.
//!
//! Deciding does not depend on it: without it the model receives the same as text. When a message gets another id or
//! is deleted, a file that cannot be read or deleted is an error, because it may contain a secret.

use std::io::{self, Write};

use rustix::fs::AtFlags;
use rustix::io::Errno;
use serde_json::{Map, Value};

use super::dir::dir_at;
use super::handle::Store;
use super::proof::Statement;
use crate::bubb::BubbId;
use lepo_base::error::Result;

const REPLAYS: &str = "_wire";

/// Ends of file names: of a pending request, and of an answer with calls before it.
const ENDS: [&str; 2] = [".json", ".calls.json"];

#[doc(hidden)]
impl Store {
    /// Stores a replay for a pending request, with a proof, replacing an earlier one.
    pub fn write_replay(&self, request: BubbId, replay: Map<String, Value>) -> Result<()> {
        self.write_replay_file(request, &file(request), replay)
    }

    /// Stores the calls before an answer, with a proof, replacing earlier ones.
    pub fn write_calls(&self, answer: BubbId, replay: Map<String, Value>) -> Result<()> {
        self.write_replay_file(answer, &format!("{answer}{}", ENDS[1]), replay)
    }

    fn write_replay_file(&self, request: BubbId, file: &str, mut replay: Map<String, Value>) -> Result<()> {
        replay.remove(PROOF);
        if let Some(proof) = self.proof(Statement::Replay(request, &bytes_of(&replay))) {
            replay.insert(PROOF.to_string(), proof.into());
        }
        let bytes = bytes_of(&replay);
        let write = || -> io::Result<()> {
            let dir = self.dir.subdir(REPLAYS)?;
            let mut tmp = self.dir.temporary("wire")?;
            tmp.file.write_all(&bytes)?;
            tmp.file.sync_all()?;
            tmp.replace(&dir, file)
        };
        write().map_err(|error| self.dir.error("cannot write in", REPLAYS, error))
    }

    /// Returns the replay that the user's own lepo stored for a request; fails if the file cannot be read. A replay
    /// is sent to the model without review, so an unproven one is ignored.
    pub fn replay(&self, request: BubbId) -> Result<Option<Map<String, Value>>> {
        let Some(bytes) = self.replay_bytes(request)? else { return Ok(None) };
        let Ok(mut kept) = serde_json::from_slice::<Map<String, Value>>(&bytes) else { return Ok(None) };
        let Some(Value::String(proof)) = kept.remove(PROOF) else { return Ok(None) };
        let is_proven = self.is_proven(Statement::Replay(request, &bytes_of(&kept)), &proof);
        Ok(is_proven.then_some(kept))
    }

    /// Reads the file of a request or of an answer, whoever wrote it.
    pub fn replay_bytes(&self, request: BubbId) -> Result<Option<Vec<u8>>> {
        for end in ENDS {
            if let Some(bytes) = self.dir.read_file(format!("{REPLAYS}/{request}{end}"))? {
                return Ok(Some(bytes));
            }
        }
        Ok(None)
    }

    /// Lists the requests and the answers that have a file.
    pub fn ids_with_replay_files(&self) -> Vec<BubbId> {
        self.list_replay_files(&ENDS)
    }

    /// Lists the requests that have a replay.
    pub fn request_ids(&self) -> Vec<BubbId> {
        self.list_replay_files(&ENDS[..1])
    }

    fn list_replay_files(&self, ends: &[&str]) -> Vec<BubbId> {
        let mut kept = Vec::new();
        let id = |file: &[u8], end: &str| BubbId::parse(file.strip_suffix(end.as_bytes())?);
        let _ =
            self.dir.each_entry_of(REPLAYS, |file, _| kept.extend(ends.iter().find_map(|end| id(file, end))));
        kept
    }

    /// Whether the file of this id has the calls before an answer.
    pub fn has_calls(&self, id: BubbId) -> bool {
        self.dir.has(&format!("{REPLAYS}/{id}{}", ENDS[1])).unwrap_or_default()
    }

    /// Returns the path, in the store, of the file of a request or of an answer.
    pub fn replay_file(&self, id: BubbId) -> String {
        format!("{REPLAYS}/{id}{}", ENDS[usize::from(self.has_calls(id))])
    }

    pub fn forget_replay(&self, request: BubbId) -> Result<()> {
        let removed = dir_at(&self.dir, REPLAYS).and_then(|dir| {
            let Some(dir) = dir else { return Ok(()) };
            ENDS.iter().try_for_each(|end| {
                match rustix::fs::unlinkat(&dir, format!("{request}{end}"), AtFlags::empty()) {
                    Ok(()) | Err(Errno::NOENT) => Ok(()),
                    Err(error) => Err(error.into()),
                }
            })
        });
        let failed = |error| self.dir.error("cannot delete", format!("{REPLAYS}/{}", file(request)), error);
        removed.map_err(failed)
    }
}

const PROOF: &str = "proof";

/// Returns the bytes that a proof covers; keys are sorted.
fn bytes_of(replay: &Map<String, Value>) -> Vec<u8> {
    serde_json::to_vec(replay).unwrap_or_default()
}

fn file(request: BubbId) -> String {
    format!("{request}{}", ENDS[0])
}

#[cfg(test)]
mod tests {
    use std::fs;

    use tempfile::TempDir;

    use super::super::STORE;
    use super::super::oracle::{store, write};
    use super::*;
    use crate::bubb::BubbName;

    #[test]
    fn a_file_that_cannot_be_read_is_not_taken_for_none_and_its_request_stays() {
        let dir = TempDir::new().unwrap();
        let (store, lepo) = (store(&dir), dir.path().join(STORE));
        let name = BubbName::parse(b"01JB3Z0Q4N8V2K5T7W9X1Y3Z5A-a1-head.md").unwrap();
        write(&lepo, &name, "a request");
        assert_eq!(store.replay(name.id).unwrap(), None);
        store.forget_replay(name.id).unwrap();
        let kept = lepo.join("_wire").join(file(name.id));
        fs::create_dir_all(&kept).unwrap();
        for error in [
            store.replay(name.id).unwrap_err(),
            store.forget_replay(name.id).unwrap_err(),
            store.remove_bubbs(&[name], &[]).unwrap_err(),
        ] {
            let error = error.to_string();
            assert!(
                error.contains("cannot") && error.contains("_wire/01JB3Z0Q4N8V2K5T7W9X1Y3Z5A.json"),
                "{error}"
            );
        }
        assert_eq!(store.read_bubb(&name).unwrap(), b"a request");
        fs::remove_dir(&kept).unwrap();
        fs::write(&kept, "kept").unwrap();
        assert_eq!(store.replay_bytes(name.id).unwrap().unwrap(), b"kept");
        assert_eq!(store.replay(name.id).unwrap(), None, "it has no proof");
        store.remove_bubbs(&[name], &[]).unwrap();
        assert!(!kept.exists() && store.names().unwrap().is_empty());
    }
    #[test]
    fn calls_of_a_finished_turn_are_no_request_and_go_with_their_answer() {
        let dir = TempDir::new().unwrap();
        let (store, lepo) = (store(&dir), dir.path().join(STORE));
        let [request, answer] =
            ["01JB3Z0Q4N8V2K5T7W9X1Y3Z5A-a1-head.md", "01JB3Z0Q4N8V2K5T7W9X1Y3Z5B-a0-head.md"]
                .map(|name| BubbName::parse(name.as_bytes()).unwrap());
        write(&lepo, &answer, "an answer");
        store.write_replay(request.id, Map::new()).unwrap();
        store.write_calls(answer.id, Map::new()).unwrap();
        assert_eq!(store.request_ids(), [request.id]);
        let mut all = store.ids_with_replay_files();
        all.sort_unstable();
        assert_eq!(all, [request.id, answer.id]);
        assert!(store.has_calls(answer.id) && !store.has_calls(request.id));
        assert!(store.replay_bytes(answer.id).unwrap().is_some());
        store.remove_bubbs(&[answer], &[]).unwrap();
        assert_eq!(store.ids_with_replay_files(), [request.id]);
    }
}
