//! `lepo grep`: finds what was said, with its speaker, day and conversation.

mod args;
mod count;
mod print;

use std::collections::HashSet;
use std::ops::ControlFlow;

pub use args::GrepArgs;

use super::Context;
use super::words::resolve_all;
use crate::bubb::{BubbId, Name};
use crate::conv::{Forest, Found, Wanted};
use crate::error::Result;
use crate::search::{Filter, Outcome, Pattern, search_files};
use crate::store::Store;
use crate::term::say;
use print::Printer;

/// Searches. Exit 0 if something was found, 1 if not, 5 if not and something could not be read.
pub fn run_grep(args: GrepArgs, context: &mut Context<'_>) -> Result<u8> {
    let pattern = Pattern::new(args.pattern_text(), args.pattern_options())?;
    let store = context.store()?;
    let forest = store.forest_for(&[Wanted::Everyone])?;
    let filter = filter(&args, &store, &forest)?;
    let names: Vec<Name> =
        forest.all().rev().map(|ix| forest.name(ix)).filter(|name| filter.takes(name)).collect();
    if args.count {
        return count::run(&store, &forest, &pattern, names, context);
    }
    let find = |id| forest.find(id).map(|ix| forest.name(ix));
    let mut printer = Printer::new(&args, &store, find, context);
    let mut unreadable = false;
    let _ = search_files(&store, &pattern, names.into_iter(), |outcome| match outcome {
        Outcome::Found(name, lines) => printer.found(&name, &lines),
        Outcome::Unreadable(error) => {
            unreadable = true;
            say(&format!("warning: {}", error.chain()));
            ControlFlow::Continue(())
        }
    });
    Ok(exit_code(printer.printed() > 0, unreadable))
}

/// The exit code of a search.
fn exit_code(found: bool, unreadable: bool) -> u8 {
    match (found, unreadable) {
        (true, _) => 0,
        (false, false) => 1,
        (false, true) => 5,
    }
}

/// The conditions that the options and addresses say.
fn filter(args: &GrepArgs, store: &Store, forest: &Forest) -> Result<Filter> {
    let mut only: Option<HashSet<BubbId>> = None;
    if !args.addresses.is_empty() {
        let found = resolve_all(store, forest, &args.addresses)?;
        let paths = found.iter().flat_map(|found| match found {
            Found::One(found) => forest.conv(found.ix).path,
            Found::Range(range) => range.clone(),
        });
        only = Some(paths.map(|ix| forest.name(ix).id).collect());
    }
    if let Some(model) = &args.model {
        let answered = store.facts().into_iter().filter(|(_, fact)| fact.model.as_ref() == Some(model));
        let answered: HashSet<BubbId> = answered.map(|(id, _)| id).collect();
        only = Some(match only {
            Some(only) => only.intersection(&answered).copied().collect(),
            None => answered,
        });
    }
    Ok(Filter { kinds: args.kinds()?, hidden: args.hidden, times: args.times()?, only })
}
