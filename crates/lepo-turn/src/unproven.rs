//! Messages of a conversation that models follow but users hardly see, and that this user's lepo neither
//! wrote nor imported nor fetched from a source of the user. They are treated like a repository's
//! instructions without consent; consent applies to these bytes at this path.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use super::body::Body;
use crate::config::{Trust, is_as_made};
use lepo_base::error::{Error, Result};
use lepo_base::role::Role;
use lepo_store::bubb::{BubbId, BubbName};
use lepo_store::store::Store;

/// A message without proof and without consent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnprovenMessage {
    /// Name of the message.
    pub name: BubbName,
    /// Absolute path of its file in the store itself, without symbolic links.
    pub path: PathBuf,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

impl UnprovenMessage {
    fn path_and_text(&self) -> (&Path, &[u8]) {
        (&self.path, &self.bytes)
    }
}

/// Records the user's consent to these messages, durably.
pub fn agree_to_messages(messages: &[UnprovenMessage], trust: &Trust) -> Result<()> {
    trust.agree_to_messages(messages.iter().map(UnprovenMessage::path_and_text))
}

/// Returns the messages of this path without proof and without consent.
pub fn unproven_messages(store: &Store, trust: &Trust, path: &[BubbName]) -> Result<Vec<UnprovenMessage>> {
    let steering: Vec<&BubbName> = path.iter().filter(|name| name.is_steering()).collect();
    if steering.is_empty() {
        return Ok(Vec::new());
    }
    let ids: HashSet<BubbId> = steering.iter().map(|name| name.id).collect();
    let proven = store.journal().proven(&ids);
    let mut messages = Vec::new();
    for name in steering {
        // A proof applies to the message as written.
        if proven.contains(&name.id) && store.read_unedited(name).is_ok() {
            continue;
        }
        let bytes = store.read_bubb(name)?;
        // Consent to instructions of a repository is per file, and lepo's own default prompt does not steer
        // other conversations.
        let text = Some(&bytes).filter(|_| name.hidden && name.role == Role::System);
        let text = text.and_then(|bytes| std::str::from_utf8(bytes).ok());
        let is_own_prompt = |text: &str| name.prev.is_none() && is_as_made(text);
        if text.is_some_and(|text| Body::read_named(name, text) == Body::Instructions || is_own_prompt(text))
        {
            continue;
        }
        messages.push((*name, bytes));
    }
    if messages.is_empty() {
        return Ok(Vec::new());
    }
    let dir = store.path().canonicalize().map_err(|error| {
        Error::store(format!("cannot find the real path of {}", store.display_path().display()))
            .because(error)
    })?;
    let messages = messages.into_iter();
    let messages: Vec<UnprovenMessage> = messages
        .map(|(name, bytes)| UnprovenMessage { name, path: dir.join(name.to_string()), bytes })
        .collect();
    let agreed = trust.agreed_messages(messages.iter().map(UnprovenMessage::path_and_text))?;
    Ok(messages.into_iter().zip(agreed).filter(|(_, agreed)| !agreed).map(|(message, _)| message).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{DEFAULT_SYSTEM_PROMPT, Paths, SHORT_SYSTEM_PROMPT};
    use crate::user_key::user_prover;
    use lepo_base::env::Env;

    fn paths(home: &Path) -> Paths {
        Paths::from_env(&Env::from_pairs(&[("HOME", home.to_str().unwrap())])).unwrap()
    }

    /// Returns the tags of the messages that need consent.
    fn tags(store: &Store, trust: &Trust, path: &[BubbName]) -> String {
        let messages = unproven_messages(store, trust, path).unwrap();
        messages.iter().map(|message| message.name.tag()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn what_steers_is_proven_as_written_or_agreed_to_as_it_is() {
        let (mine, other, work) =
            (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let open = |home: &Path| {
            let store = Store::make(work.path(), Path::new(".lepo"), "").unwrap().0;
            store.with_prover(user_prover(&paths(home)))
        };
        let store = open(mine.path());
        let trust = Trust::in_state(&mine.path().join("state"));
        let mut path: Vec<BubbName> = Vec::new();
        for (role, hidden) in [
            (Role::System, true),
            (Role::User, false),
            (Role::Assistant, false),
            (Role::System, false),
            (Role::User, true),
            (Role::Assistant, true),
            (Role::Tool, true),
            (Role::Tool, false),
        ] {
            let prev = path.last().map(|name| name.id);
            path.push(store.create_bubb(role, hidden, prev, 0, b"obey").unwrap());
        }
        assert_eq!(tags(&store, &trust, &path), "s1 s0 u1 a1 t1");
        store.journal().prove([path[0].id, path[3].id]);
        assert_eq!(tags(&store, &trust, &path), "u1 a1 t1");
        assert_eq!(tags(&open(other.path()), &trust, &path), "s1 s0 u1 a1 t1", "another user's proofs");
        // Consent covers these bytes at this path.
        agree_to_messages(&unproven_messages(&store, &trust, &path).unwrap(), &trust).unwrap();
        assert_eq!(tags(&store, &trust, &path), "");
        let file = |name: &BubbName| work.path().join(".lepo").join(name.to_string());
        std::fs::write(file(&path[4]), "obey me").unwrap();
        std::fs::write(file(&path[0]), "obey me").unwrap();
        assert_eq!(tags(&store, &trust, &path), "s1 u1", "edited, in spite of proof and yes");
        std::fs::write(file(&path[0]), "obey").unwrap();
        let store_path = work.path().canonicalize().unwrap().join(".lepo");
        assert_eq!(trust.forget(&store_path).unwrap(), 3);
        assert_eq!(tags(&store, &trust, &path), "u1 a1 t1");
    }

    #[test]
    fn lepos_own_prompt_is_asked_about_at_no_root() {
        let (home, work) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let store = Store::make(work.path(), Path::new(".lepo"), "").unwrap().0;
        let store = store.with_prover(user_prover(&paths(home.path())));
        let trust = Trust::in_state(home.path());
        for prompt in [DEFAULT_SYSTEM_PROMPT.trim(), SHORT_SYSTEM_PROMPT] {
            let root = store.create_bubb(Role::System, true, None, 0, prompt.as_bytes()).unwrap();
            let later = store.create_bubb(Role::System, true, Some(root.id), 0, prompt.as_bytes()).unwrap();
            let more = format!("{prompt} Obey.");
            let other = store.create_bubb(Role::System, true, None, 0, more.as_bytes()).unwrap();
            for (name, expected) in [(root, ""), (later, "s1"), (other, "s1")] {
                assert_eq!(tags(&store, &trust, &[name]), expected, "{prompt}");
            }
        }
    }

    #[test]
    fn instructions_of_a_repository_are_agreed_to_as_files() {
        let (home, work) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let store = Store::make(work.path(), Path::new(".lepo"), "").unwrap().0;
        let store = store.with_prover(user_prover(&paths(home.path())));
        let trust = Trust::in_state(home.path());
        let text = b"[instructions of this repository] x\n";
        for (role, hidden, tag) in
            [(Role::System, true, ""), (Role::System, false, "s0"), (Role::User, true, "u1")]
        {
            let name = store.create_bubb(role, hidden, None, 0, text).unwrap();
            assert_eq!(tags(&store, &trust, &[name]), tag);
        }
    }
}
