//! An interrupted `lepo rm --redact`: reads its record, which is valid only with this machine's proof, and
//! describes its completion.

use lepo_base::error::{Error, Result};
use lepo_secrets::Masker;
use lepo_store::bubb::plural;
use lepo_store::store::{MovedBubb, ReplacedFiles, Replacement, ReplacementRecord, Statement, Store};

use super::plan::RedactPlan;
use super::request::RedactRequest;

/// A replacement that lepo on this machine started in this store and did not finish.
pub struct Interrupted {
    /// The options that the user agreed to.
    pub request: RedactRequest,
    /// The files to remove; `None` while the originals are complete.
    pub replaced: Option<ReplacedFiles>,
}

impl Interrupted {
    /// Reads the record; `None` if it does not exist. A record without proof is an error: a repository may have brought it.
    pub fn read(store: &Store) -> Result<Option<Interrupted>> {
        let replacement = store.replacement();
        let Some(record) = replacement.unfinished_record()? else { return Ok(None) };
        let shown = replacement.path();
        if !store.is_proven(Statement::Replacement(&record.proven_bytes()?), &record.proof) {
            let error = format!(
                "{} was not written for this store by lepo on this machine: nothing of it is carried out",
                shown.display()
            );
            return Err(Error::store(error).hint(Replacement::REMOVE));
        }
        let request = serde_json::from_value(record.request).map_err(|error| {
            Error::store(format!("cannot read {}", shown.display())).because(error).hint(Replacement::REMOVE)
        })?;
        Ok(Some(Interrupted { request, replaced: record.replaced }))
    }

    /// Returns the messages whose copies are published.
    pub fn moved_bubbs(&self) -> Vec<MovedBubb> {
        self.replaced.as_ref().map(ReplacedFiles::moved_bubbs).unwrap_or_default()
    }

    /// Describes the changes that completion will make; `None` if it only removes the record.
    pub fn remaining(&self, store: &Store, masker: &Masker) -> Result<Option<String>> {
        let Some(replaced) = &self.replaced else {
            let plan = RedactPlan::make(store, &self.request, masker)?;
            return Ok((!plan.is_nothing()).then(|| plan.actions()));
        };
        let mut parts = Vec::new();
        for (count, what) in [(replaced.moved_bubbs().len(), "old message"), (replaced.blobs.len(), "blob")] {
            if count > 0 {
                parts.push(plural(count, what));
            }
        }
        Ok((!parts.is_empty()).then(|| format!("delete {}", parts.join(" and "))))
    }
}

/// Creates the record of a replacement, with its proof.
pub fn proven(
    store: &Store,
    request: &RedactRequest,
    replaced: Option<ReplacedFiles>,
) -> Result<ReplacementRecord> {
    let request = serde_json::to_value(request)
        .map_err(|error| Error::store("cannot record the request").because(error))?;
    let mut record = ReplacementRecord { request, replaced, proof: String::new() };
    record.proof = store.proof(Statement::Replacement(&record.proven_bytes()?)).unwrap_or_default();
    Ok(record)
}
