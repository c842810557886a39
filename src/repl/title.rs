//! `/title`: the title of this conversation.

use super::session::ReplSession;
use crate::term::{one_line, print_status};
use crate::ui::change_title;
use lepo_base::error::{Error, Result};

/// Sets the title of the conversation; without a text, prints it.
pub(super) fn title(session: &mut ReplSession<'_>, words: &str) -> Result<()> {
    let forest = session.forest()?;
    let at = session
        .at
        .and_then(|id| forest.find(id))
        .ok_or_else(|| Error::nothing("there is nothing to name yet").hint("ask something first"))?;
    let root = forest.name(forest.origins().value(at).root).id;
    if !words.is_empty() {
        change_title(&session.store, root, words)?;
    }
    match session.store.titles().all().get(&root) {
        Some(title) => print_status(&one_line(&format!("title: {title}"))),
        None => print_status("no title; to set one: /title WORDS"),
    }
    Ok(())
}
