//! Proofs: a record on which lepo acts without asking counts only if the user's own lepo wrote it. The key is outside
//! of every store, so no repository can contain a proof.

use crate::bubb::BubbId;

/// The kind of a journal line with a proof and no other fact.
pub(super) const PROVEN: &str = "proven";

/// The kind of a journal line about a redacted message, with no other fact.
pub(super) const REDACTED: &str = "redacted";

/// The kind of a journal line about an imported message which `lepo undo` took back, with no other fact.
pub(super) const UNDONE: &str = "undone";

/// The kind of a journal line about a directory whose sessions an import takes as this repository's.
pub(super) const IMPORT_DIR: &str = "import_dir";

/// Whether a line of this kind has a fact besides its proof or its mark.
pub(super) fn is_fact(what: &str) -> bool {
    !matches!(what, PROVEN | REDACTED | UNDONE | IMPORT_DIR)
}

/// The start of a proof in a line.
pub(super) const PROOF_KEY: &str = "\"proof\":\"";

/// Computes keyed hashes with the user's key.
pub trait Prover: Send + Sync {
    /// Returns a hash of these texts that only a holder of the key can compute; `None` without a key.
    fn keyed_hash(&self, parts: &[&[u8]]) -> Option<String>;
}

/// A statement that a proof covers.
#[derive(Debug, Clone, Copy)]
pub enum Statement<'s> {
    /// The user's own lepo wrote or imported the message, or fetched it from the user's own clone.
    Message(BubbId),
    /// The answer, by this model, ends this session of the model's agent.
    AgentSession(BubbId, &'s str, &'s str),
    /// These bytes were stored for the request.
    Replay(BubbId, &'s [u8]),
    /// These bytes are a record of a replacement.
    Replacement(&'s [u8]),
    /// These bytes are a change that can be taken back, in this store.
    Change(&'s [u8]),
    /// The message was redacted. Only its keyed hash is stored, because its id would allow guessing the redacted
    /// text.
    Redacted(BubbId),
    /// The user removed the message from this store. Only its keyed hash is stored.
    Removed(BubbId),
    /// Sessions of this format about this directory are this repository's.
    ImportDir(&'s str, &'s str),
}

impl Statement<'_> {
    /// Computes the proof in the store with this identity. The first part distinguishes the kinds of statements.
    pub(super) fn proof(&self, prover: &dyn Prover, store: &str) -> Option<String> {
        let store = store.as_bytes();
        match self {
            Statement::Message(id) => prover.keyed_hash(&[b"message", &id.ascii(), store]),
            Statement::AgentSession(id, model, session) => prover.keyed_hash(&[
                b"agent session",
                &id.ascii(),
                model.as_bytes(),
                session.as_bytes(),
                store,
            ]),
            Statement::Replay(id, bytes) => prover.keyed_hash(&[b"replay", &id.ascii(), bytes, store]),
            Statement::Replacement(bytes) => prover.keyed_hash(&[b"replacement", bytes, store]),
            Statement::Change(bytes) => prover.keyed_hash(&[b"change", bytes, store]),
            // Copies of the message are looked for in every store of the user.
            Statement::Redacted(id) => prover.keyed_hash(&[b"redacted", &id.ascii()]),
            Statement::Removed(id) => prover.keyed_hash(&[b"removed", &id.ascii(), store]),
            Statement::ImportDir(format, dir) => {
                prover.keyed_hash(&[b"import directory", format.as_bytes(), dir.as_bytes(), store])
            }
        }
    }
}
