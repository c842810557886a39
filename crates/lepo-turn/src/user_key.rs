//! Makes proofs of a store with the user's key, which is read when the first proof is made or checked: most
//! commands do not need it.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use super::masking::user_key;
use crate::config::Paths;
use lepo_secrets::{MaskKey, keyed_hash};
use lepo_store::store::Prover;

/// Hexadecimal digits of a proof: 128 bits.
const DIGITS: usize = 32;

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
