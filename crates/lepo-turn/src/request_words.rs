//! Words that a model reads about its requests, besides results.

/// The text before several requests of one answer. The first may be decided on in a later process; the
/// model then reads here what happened to the others.
pub(super) fn several_note(requests: usize) -> Option<String> {
    let told = "requests in this answer, to be carried out in order; those after one that is refused, fails \
                or waits for consent are dropped";
    (requests > 1).then(|| format!("({requests} {told})"))
}

/// The result of a refused request, for the model.
pub(super) const REFUSED: &str = "refused: the user said no";

/// The result of a request that could only wait, in a conversation of which nothing is kept.
pub(super) const NOBODY: &str = "refused: there was nobody to ask";

/// The result of a call whose tool changed between the decision and the call.
pub(super) const CHANGED: &str = "error: the tool changed after the call was approved, so it was not made";
