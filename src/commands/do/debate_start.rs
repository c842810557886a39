//! Finds where a debate continues.

use lepo_base::error::{Error, Result};
use lepo_store::conv::{Forest, Ix};
use lepo_turn::TurnStart;

/// Returns the bubb that a debate continues from: the last visible one, so that an interrupted round is
/// omitted.
pub fn debate_at(forest: &Forest, tail: Ix) -> Result<TurnStart> {
    let id = forest.name(tail).id;
    if forest.last_question(tail).is_none() {
        return Err(Error::usage(format!("no debate to continue: the conversation of {id} has no question"))
            .hint("begin one: lepo do --debate QUESTION"));
    }
    let last_visible = forest.up(tail).map(|ix| forest.name(ix)).find(|name| !name.hidden);
    Ok(TurnStart::Under(last_visible.map_or(id, |name| name.id)))
}
