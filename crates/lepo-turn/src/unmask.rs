//! The unmasked text of a pending request: stored in `_wire/ID.json` until the decision.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::masking::Masking;
use lepo_base::error::{Error, Result};
use lepo_base::hint::{Hint, ResumeAction};
use lepo_secrets::{Masker, has_mask, without_digits};
use lepo_store::bubb::BubbId;
use lepo_store::conv::{ReadScope, RequestState};
use lepo_store::store::{Store, put_ids};

const FIELD: &str = "truth";

/// A request as the model made it.
#[derive(Serialize, Deserialize)]
struct UnmaskedRequest {
    text: String,
    /// The masked spans: start, end, kind.
    masked: Vec<(usize, usize, String)>,
    /// A keyed hash over the id and the text.
    proof: String,
}

/// Stores a pending request, if it was masked when it was written.
pub fn store_unmasked(store: &Store, masking: &Masking, id: BubbId, text: &str) {
    let found = if masking.masks() { masking.masker().mask(text).secrets } else { Vec::new() };
    let Some(proof) = masking.masker().proof(&[id.to_string().as_bytes(), text.as_bytes()]) else { return };
    // Text of the model may look like a mask, too.
    if found.is_empty() && !has_mask(text) {
        return;
    }
    let masked =
        found.iter().map(|found| (found.span.start, found.span.end, found.kind.to_string())).collect();
    let truth = UnmaskedRequest { text: text.to_string(), masked, proof };
    let mut kept = store.replay(id).ok().flatten().unwrap_or_default();
    kept.insert(FIELD.to_string(), serde_json::to_value(truth).unwrap_or_default());
    // Without this file the request cannot be approved, which the error of a decision explains.
    let _ = store.write_replay(id, kept);
}

/// Copies the stored data of a pending request to the copy that replaces it, with the ids of the copied
/// messages. If the data contains any of `secrets`, returns false and copies nothing.
pub fn carry_waiting(
    store: &Store,
    masker: &Masker,
    (from, to): (BubbId, BubbId),
    ids: &HashMap<BubbId, BubbId>,
    secrets: &[Vec<u8>],
) -> Result<bool> {
    let Some(bytes) = store.replay_bytes(from)? else { return Ok(true) };
    if secrets.iter().any(|secret| is_in(&bytes, secret)) {
        return Ok(false);
    }
    let Some(mut kept) = store.replay(from)? else { return Ok(true) };
    let truth = kept.remove(FIELD).and_then(|truth| serde_json::from_value::<UnmaskedRequest>(truth).ok());
    let mut rest = serde_json::to_vec(&kept).unwrap_or_default();
    put_ids(&mut rest, ids);
    let mut kept: Map<String, Value> = serde_json::from_slice(&rest).unwrap_or_default();
    let proof = |id: BubbId, text: &str| masker.proof(&[id.to_string().as_bytes(), text.as_bytes()]);
    if let Some(truth) = truth
        && proof(from, &truth.text).as_ref() == Some(&truth.proof)
        && let Some(proof) = proof(to, &truth.text)
    {
        let truth = UnmaskedRequest { proof, ..truth };
        kept.insert(FIELD.to_string(), serde_json::to_value(truth).unwrap_or_default());
    }
    match store.has_calls(from) {
        true => store.write_calls(to, kept)?,
        false => store.write_replay(to, kept)?,
    }
    Ok(true)
}

/// Whether a secret is in the bytes of JSON, verbatim or escaped.
fn is_in(bytes: &[u8], secret: &[u8]) -> bool {
    let escaped = serde_json::to_string(&String::from_utf8_lossy(secret)).unwrap_or_default();
    let escaped = escaped.trim_matches('"').as_bytes();
    let has = |word: &[u8]| !word.is_empty() && bytes.windows(word.len()).any(|found| found == word);
    has(secret) || has(escaped)
}

/// Deletes the data of requests that can no longer be decided, because the conversation continued after them.
pub fn forget_overtaken(store: &Store) {
    let kept = store.request_ids();
    if kept.is_empty() {
        return;
    }
    let wanted: Vec<ReadScope> = kept.iter().map(|id| ReadScope::Since { id: *id, judged: true }).collect();
    let Ok(forest) = store.forest_for(&wanted) else { return };
    for id in kept {
        let standing = forest.find(id).map(|ix| forest.request_state(ix));
        if matches!(standing, Some(RequestState::Overtaken(_))) {
            let _ = store.forget_replay(id);
        }
    }
}

/// Returns the unmasked text of a request whose bubb has masks; `None` if it has no masks.
pub fn unmasked_text_of(store: &Store, masking: &Masking, id: BubbId, text: &str) -> Result<Option<String>> {
    if !has_mask(text) {
        return Ok(None);
    }
    let refused = |why: &str| {
        Err(Error::usage(format!("a secret in request {id} was masked, and {why}"))
            .hint(Hint::from("ask for it again, or refuse it: ").bare(ResumeAction::Deny(id.to_string()))))
    };
    let kept = store.replay(id)?;
    let truth = kept.and_then(|mut kept| serde_json::from_value::<UnmaskedRequest>(kept.remove(FIELD)?).ok());
    let Some(truth) = truth else {
        return refused(match store.replay_bytes(id)? {
            Some(_) => "its stored original was changed",
            None => "its original is not on this machine",
        });
    };
    if masking.masker().proof(&[id.to_string().as_bytes(), truth.text.as_bytes()]).as_ref()
        != Some(&truth.proof)
    {
        return refused("its stored original was changed");
    }
    let (mut masked, mut at) = (String::new(), 0);
    for (from, to, kind) in &truth.masked {
        masked.push_str(truth.text.get(at..*from).unwrap_or_default());
        masked.push_str(&format!("[secret: {kind}]"));
        at = *to;
    }
    masked.push_str(truth.text.get(at..).unwrap_or_default());
    if without_digits(&masked) != without_digits(text) {
        return refused("its stored original belongs to another request");
    }
    Ok(Some(truth.text))
}
