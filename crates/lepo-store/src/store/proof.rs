//! Proofs: a record of the store that lepo acts on without a question counts only if this user's lepo wrote it. The key
//! is outside of every store, so no repository can bring a proof.

use crate::bubb::BubbId;

/// The kind of a line that holds a proof and no other fact.
pub(super) const PROVEN: &str = "proven";

/// The kind of a line that tells of a redacted message and no other fact.
pub(super) const REDACTED: &str = "redacted";

/// True for the kind of a line that holds a fact about its message.
pub(super) fn is_fact(what: &str) -> bool {
    !matches!(what, PROVEN | REDACTED)
}

/// The beginning of a proof in a line.
pub(super) const PROOF_KEY: &[u8] = b"\"proof\":\"";

/// Makes keyed hashes with the user's key.
pub trait Prover: Send + Sync {
    /// A hash over these texts that only the holder of the key can make; `None` if there is no key.
    fn keyed_hash(&self, parts: &[&[u8]]) -> Option<String>;
}

/// A statement that a proof is about.
#[derive(Debug, Clone, Copy)]
pub enum Statement<'s> {
    /// The message was written by this user's lepo, or imported or fetched from what is the user's own.
    Message(BubbId),
    /// The answer ends this session of the model's agent.
    AgentSession(BubbId, &'s str, &'s str),
    /// These bytes were kept for the request.
    Replay(BubbId, &'s [u8]),
    /// These bytes are a record of messages that are being replaced.
    Replacement(&'s [u8]),
    /// The message had secrets or other words in it, and was replaced. Its id would let others try words, so that only its
    /// hash is kept.
    Redacted(BubbId),
}

impl Statement<'_> {
    /// The proof of the statement, of this maker. The first part tells the kinds of statements apart.
    pub(super) fn proof(&self, prover: &dyn Prover) -> Option<String> {
        match self {
            Statement::Message(id) => prover.keyed_hash(&[b"message", &id.ascii()]),
            Statement::AgentSession(id, model, session) => {
                prover.keyed_hash(&[b"agent session", &id.ascii(), model.as_bytes(), session.as_bytes()])
            }
            Statement::Replay(id, bytes) => prover.keyed_hash(&[b"replay", &id.ascii(), bytes]),
            Statement::Replacement(bytes) => prover.keyed_hash(&[b"replacement", bytes]),
            Statement::Redacted(id) => prover.keyed_hash(&[b"redacted", &id.ascii()]),
        }
    }
}
