//! `lepo edit`: writes an edited copy of a bubb as its sibling.

use super::finder::tell_typed;
use super::words::find_one;
use super::{Context, complete};
use crate::term::edit;
use lepo_base::error::{Error, Result};
use lepo_secrets::Kept;
use lepo_store::bubb::Kind;
use lepo_store::conv::Wanted;
use lepo_turn::write_bubb;

/// Edit a copy of a message and save it beside the original
///
/// Opens a copy in $VISUAL, $EDITOR or vi. The saved text becomes a sibling of the original: same kind, same message
/// before it, hidden if the original is. Prints its id. The original and everything that follows it stay as they are.
/// If the editor fails or the text did not change, nothing is written and the exit code is 1.
///
/// If the original does not end with a newline, one newline at the end of the saved text is dropped, because editors
/// add it by themselves. Otherwise the bytes are kept as saved.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  lepo edit main\n  lepo do --retry --tail $(lepo edit 9X1Y3Z5A)      # \
        another wording, \
    another answer\n  EDITOR='sed -i s/color/colour/' lepo edit @")]
pub struct EditArgs {
    /// The message to edit
    #[arg(value_name = "ADDR", add = complete::address())]
    address: String,
}

pub fn run_edit(args: EditArgs, context: &mut Context<'_>) -> Result<u8> {
    let store = context.store()?;
    let (forest, found) = find_one(&store, &args.address, &[Wanted::Tip])?;
    let name = forest.name(found.ix);
    let text = store.bubbs().read(&name)?;

    let edited = edit(&text, ".md")?;
    if edited == text {
        return Err(Error::nothing(format!("{} did not change: nothing was written", name.id)));
    }
    if edited.is_empty() {
        return Err(Error::nothing("the text is empty: nothing was written")
            .hint("to delete a conversation: lepo rm ADDR"));
    }

    let not_before = if name.prev.is_none() { forest.root_time() } else { 0 };
    let sibling = write_bubb(&store, (name.kind, name.hidden), name.prev, not_before, &Kept::typed(&edited))?;
    if sibling.is_steering() && !sibling.is_proven_when_written() {
        store.journal().prove([sibling.id]);
    }
    tell_typed(&edited, "the message", &format!("lepo rm --redact {}", sibling.id));
    context.out.line(&sibling.id.to_string());
    if name.kind == Kind::User && !name.hidden && context.out.is_terminal() {
        context.out.flush();
        context.say_hint(format!("to get an answer: lepo do --retry --tail {}", sibling.id));
    }
    Ok(0)
}
