//! Texts for the model about its requests, besides results.

/// Returns the text before several requests of an answer. The first may be decided in a later process, in
/// which the model learns from this text about the others.
pub(super) fn several_note(requests: usize) -> Option<String> {
    let told = "requests in this answer, to be carried out in order; those after one that is refused, fails \
                or waits for consent are dropped";
    (requests > 1).then(|| format!("({requests} {told})"))
}

pub(super) const REFUSED: &str = "refused: the user said no";

/// The result of a request that would be pending, in a conversation that is not stored.
pub(super) const NOBODY: &str = "refused: there was nobody to ask";

/// The result of a call whose tool changed between the decision and the call.
pub(super) const CHANGED: &str = "error: the tool changed after the call was approved, so it was not made";
