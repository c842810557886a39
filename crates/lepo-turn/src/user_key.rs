//! The user's key for the digits of masks and for proofs of a store, read when the first of them is made or checked:
//! most commands do not need it.

use std::fs::{DirBuilder, File};
use std::io::{self, Read, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use crate::config::Paths;
use lepo_secrets::{MaskKey, keyed_hash};
use lepo_store::store::Prover;

/// Hexadecimal digits of a proof: 128 bits.
const DIGITS: usize = 32;

/// File of the key, in the state folder.
const KEY_FILE: &str = "secrets-key";

struct UserKey {
    state: PathBuf,
    key: OnceLock<Option<MaskKey>>,
}

/// Returns a prover with the key of this user, which is created if missing.
pub fn user_prover(paths: &Paths) -> Arc<dyn Prover> {
    Arc::new(UserKey { state: paths.state.clone(), key: OnceLock::new() })
}

impl Prover for UserKey {
    fn keyed_hash(&self, parts: &[&[u8]]) -> Option<String> {
        let key = self.key.get_or_init(|| user_key(&self.state).ok()).as_ref()?;
        let mut hash = keyed_hash(key, parts);
        hash.truncate(DIGITS);
        Some(hash)
    }
}

pub(crate) fn key_path(state: &Path) -> PathBuf {
    state.join(KEY_FILE)
}

/// Returns the user's key for the digits of masks, if it exists.
pub fn key_if_there(state: &Path) -> Option<MaskKey> {
    read_key(state).ok()
}

pub(crate) fn read_key(state: &Path) -> io::Result<MaskKey> {
    let mut key = MaskKey::default();
    File::open(key_path(state))?.read_exact(&mut key)?;
    Ok(key)
}

/// Whether the key is missing, or its file too short.
pub(crate) fn is_no_key(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::UnexpectedEof)
}

/// Returns the user's key for the digits of masks and other keyed hashes; creates it if missing.
pub(crate) fn user_key(state: &Path) -> io::Result<MaskKey> {
    let path = key_path(state);
    match read_key(state) {
        Err(error) if is_no_key(&error) => {}
        // A key that cannot be read now is not replaced.
        read => return read,
    }
    let mut key = MaskKey::default();
    File::open("/dev/urandom")?.read_exact(&mut key)?;
    DirBuilder::new().recursive(true).mode(0o700).create(state)?;
    // A temporary file is readable by its owner only.
    let mut file = tempfile::NamedTempFile::new_in(state)?;
    file.write_all(&key)?;
    match file.persist_noclobber(&path) {
        Ok(_) => Ok(key),
        // Another process created it at the same time, or it was damaged.
        Err(error) => match read_key(state) {
            Err(why) if is_no_key(&why) => {
                error.file.persist(&path).map(|_| key).map_err(|error| error.error)
            }
            read => read,
        },
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;
    use lepo_base::env::Env;

    fn paths(home: &std::path::Path) -> Paths {
        Paths::from_env(&Env::from_pairs(&[("HOME", home.to_str().unwrap())])).unwrap()
    }

    #[test]
    fn a_proof_is_the_same_for_one_user_and_of_no_other() {
        let (mine, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let proof = |home: &std::path::Path| user_prover(&paths(home)).keyed_hash(&[b"a", b"b"]).unwrap();
        assert_eq!(proof(mine.path()), proof(mine.path()));
        assert_ne!(proof(mine.path()), proof(other.path()));
        assert_eq!(proof(mine.path()).len(), DIGITS);
        let key = paths(mine.path()).state.join("secrets-key");
        assert_eq!(key.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn without_a_folder_for_the_key_nothing_is_proven() {
        let home = tempfile::tempdir().unwrap();
        std::fs::write(home.path().join(".local"), "a file").unwrap();
        assert_eq!(user_prover(&paths(home.path())).keyed_hash(&[b"a"]), None);
    }
}
