//! Prints the result of a rebase.

use lepo_base::error::Result;
use lepo_base::hint::Hint;
use lepo_store::bubb::{BubbId, BubbName};
use lepo_store::conv::ReadScope;
use lepo_store::store::{PlannedCopy, Store};
use schemars::JsonSchema;
use serde::Serialize;

use super::args::RebaseArgs;
use crate::commands::Context;
use crate::commands::own_newest::note_used;
use crate::commands::summary_line::excerpt_of;
use crate::term::{print_status, stderr_is_terminal};
use crate::ui::ShortIds;
use crate::view::IdText;

pub struct RebaseOutcome<'o> {
    pub tail: BubbId,
    /// The new system prompt, if it did not exist.
    pub root: Option<&'o (BubbName, Vec<u8>)>,
    /// Copies that did not exist.
    pub copies: &'o [&'o PlannedCopy],
    /// Lines for stderr, such as omitted messages.
    pub notes: Vec<Hint>,
}

/// Prints the new tail, or with `--dry-run` the messages; prints notes on stderr.
pub fn print(
    store: &Store,
    outcome: &RebaseOutcome<'_>,
    args: &RebaseArgs,
    context: &mut Context<'_>,
) -> Result<()> {
    let already_here = outcome.copies.is_empty() && outcome.root.is_none();
    if !args.dry_run && !already_here {
        note_used(store, outcome.tail);
    }
    if args.json {
        context.out.document(&document(outcome, already_here));
    } else if args.dry_run {
        list(store, outcome, context);
    } else {
        context.out.line(&outcome.tail.to_string());
    }
    context.out.flush();
    for note in &outcome.notes {
        context.print_hint(note.clone());
    }
    if already_here {
        print_status("already here");
    }
    if args.dry_run || args.json {
        return Ok(());
    }
    let own = store.own_newest()?;
    let paths = own.into_iter().chain([outcome.tail]).collect();
    let forest = store.forest_for(&[ReadScope::newest(1), ReadScope::Ids(paths)])?;
    if let Some(newest) = own.and_then(|own| forest.find(own)).or_else(|| forest.newest()) {
        let name = forest.name(newest);
        if name.id == outcome.tail {
            if !already_here {
                print_status("@ is now the copy");
            }
        } else {
            let ids = forest.all().map(|ix| forest.name(ix).id);
            let shorts = ShortIds::on_terminal(stderr_is_terminal(), ids);
            print_status(&format!("@ is still {}", shorts.show(name.id)));
            context.print_hint(format!("to continue the copy: lepo do --tail {}", outcome.tail));
        }
    }
    Ok(())
}

/// A single document: the new end, and the messages created (with --dry-run: that would be created).
#[derive(Serialize, JsonSchema)]
pub struct RebaseDocument {
    /// The end of the copy.
    tail: IdText,
    /// The messages that did not exist before, in order.
    made: Vec<CopyFields>,
    /// Nothing had to be created.
    already_here: bool,
}

#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
struct CopyFields {
    id: IdText,
    /// The original; null for a new message: a system prompt, or one written in a text.
    copy_of: Option<IdText>,
}

fn document(outcome: &RebaseOutcome<'_>, already_here: bool) -> RebaseDocument {
    let copy = |copy: &&PlannedCopy| {
        let copy_of = (!copy.is_new()).then_some(IdText(copy.original.id));
        CopyFields { id: IdText(copy.name.id), copy_of }
    };
    let root = outcome.root.map(|(name, _)| CopyFields { id: IdText(name.id), copy_of: None });
    let made = root.into_iter().chain(outcome.copies.iter().map(copy)).collect();
    RebaseDocument { tail: IdText(outcome.tail), made, already_here }
}

/// Prints `ID kind excerpt` for each message to be written.
fn list(store: &Store, outcome: &RebaseOutcome<'_>, context: &mut Context<'_>) {
    let mut line = |name: &BubbName, excerpt: Option<String>| {
        context.out.trusted(&format!("{} {} ", name.id, name.tag()));
        context.out.untrusted(excerpt.unwrap_or_default().as_bytes());
        context.out.trusted("\n");
    };
    if let Some((name, text)) = outcome.root {
        line(name, Some(crate::term::excerpt(&String::from_utf8_lossy(text))));
    }
    for copy in outcome.copies {
        let excerpt = match copy.new_text() {
            Some(words) => Some(crate::term::excerpt(&String::from_utf8_lossy(words))),
            None => excerpt_of(store, &copy.original),
        };
        line(&copy.name, excerpt);
    }
}
