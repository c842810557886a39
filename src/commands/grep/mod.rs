//! `lepo grep`: finds text in messages, with speaker, day and conversation.

mod args;
mod count;
pub mod print;

use std::collections::HashSet;
use std::ops::ControlFlow;
use std::sync::{Mutex, PoisonError};

pub use args::GrepArgs;

use super::Context;
use super::address_args::{find_all, resolve_all};
use super::stores::{KnownStore, KnownStores};
use crate::term::{ProgressMeter, warn};
use lepo_base::error::{Error, Result};
use lepo_search::{Candidates, FileResult, Filter, Pattern, SearchOptions, by_month, search_files};
use lepo_store::bubb::{BubbId, BubbName};
use lepo_store::conv::{AddressMatch, Forest, ReadScope};
use lepo_store::store::Store;
use print::Printer;

/// For fewer bubbs, reading their files is faster than querying the text cache.
const FEW: usize = 2000;

/// Exit 0 if something was found, 1 if not, 5 if not and something could not be read.
pub fn run_grep(args: GrepArgs, context: &mut Context<'_>) -> Result<u8> {
    let pattern = Pattern::new(args.pattern_text(), args.pattern_options()).map_err(|bad| {
        let hint = match bad.has_newline {
            true => "a match within one line has no newline; -U finds matches that span lines",
            false => "-F takes the pattern as plain text",
        };
        Error::from(bad).hint(hint)
    })?;
    if args.everywhere {
        return everywhere(&args, &pattern, context);
    }
    let store = context.store()?;
    let (printed, unreadable) = search(&args, &store, &pattern, (None, 0), context)?;
    Ok(exit_code(printed > 0, unreadable))
}

/// Searches every store of the user's list; an error in one is reported and the others are searched.
fn everywhere(args: &GrepArgs, pattern: &Pattern, context: &mut Context<'_>) -> Result<u8> {
    let (mut printed, mut torn) = (0, false);
    for KnownStore { store, project } in KnownStores::load()?.existing()? {
        if context.out.closed() || args.n.is_some_and(|most| printed >= most) {
            break;
        }
        match search(args, &store, pattern, (Some(project), printed), context) {
            Ok((now, unreadable)) => {
                printed = now;
                torn |= unreadable;
            }
            Err(error) => {
                torn = true;
                warn(&error);
            }
        }
    }
    Ok(exit_code(printed > 0, torn))
}

/// Searches a store after `printed` lines of earlier stores; returns the new total, and whether something
/// could not be read. `project` is set if there are several stores.
fn search(
    args: &GrepArgs,
    store: &Store,
    pattern: &Pattern,
    (project, printed): (Option<String>, usize),
    context: &mut Context<'_>,
) -> Result<(usize, bool)> {
    if args.is_of_all() {
        // Read only when a position is printed: `-l` prints none.
        let mut listing = None;
        let find = |id| {
            if listing.is_none() {
                listing = store.listing().ok();
            }
            listing.as_mut()?.find(id).ok().flatten()
        };
        let printer = Printer::new(args, store, find, context).of_project(project, printed);
        return print(args, store, pattern, &filter_of(args, None)?, (None, false), printer);
    }
    // Addresses need only the days of their convs; counts need every day.
    let (forest, found, is_torn) = match args.count || args.addresses.is_empty() {
        true => {
            let (forest, unreadable) = store.readable_forest(&ReadScope::All { peers: true })?;
            unreadable.iter().for_each(warn);
            let found = resolve_all(store, (&forest, unreadable.is_empty()), &args.addresses)?;
            (forest, found, !unreadable.is_empty())
        }
        false => {
            let (forest, found) = find_all(store, &args.addresses, &[])?;
            (forest, found, false)
        }
    };
    let filter = filter(args, store, &forest, &found)?;
    let few = filter.only.as_ref().is_some_and(|only| only.len() < FEW).then(|| {
        forest
            .all()
            .rev()
            .map(|ix| forest.name(ix))
            .filter(|name| filter.matches(name))
            .collect::<Vec<BubbName>>()
    });
    if args.count {
        let names = match few {
            Some(names) => names,
            None => candidates(args, store, pattern, &filter)?,
        };
        return count::run(store, (&forest, is_torn), pattern, (names, args.n), context);
    }
    let find = |id| forest.find(id).map(|ix| forest.name(ix));
    let printer = Printer::new(args, store, find, context).of_project(project, printed);
    print(args, store, pattern, &filter, (few, is_torn), printer)
}

/// Prints the matches in these bubbs, or, if `None`, in everything that the filter accepts: month by month,
/// newest first. `is_torn`: unreadable folders were already reported.
fn print(
    args: &GrepArgs,
    store: &Store,
    pattern: &Pattern,
    filter: &Filter,
    (few, is_torn): (Option<Vec<BubbName>>, bool),
    mut printer: Printer<'_, impl FnMut(BubbId) -> Option<BubbName>>,
) -> Result<(usize, bool)> {
    let mut unreadable = is_torn;
    let mut look = |candidates: Candidates| {
        unreadable |= !candidates.unreadable.is_empty();
        candidates.unreadable.iter().filter(|_| !is_torn).for_each(warn);
        printer.preload(candidates.above);
        search_files(store, pattern, candidates.names.into_iter(), |outcome| match outcome {
            FileResult::Found(name, lines) => printer.print_matches(&name, &lines),
            FileResult::Unreadable(error) => {
                unreadable = true;
                warn(&error);
                ControlFlow::Continue(())
            }
        })
    };
    match few {
        Some(found) => drop(look(Candidates { names: found, ..Candidates::default() })),
        None => by_month_with_bar(args, store, pattern, filter, look)?,
    }
    Ok((printer.printed(), unreadable))
}

/// Returns all bubbs whose files must be searched. Unreadable folders were already reported.
fn candidates(args: &GrepArgs, store: &Store, pattern: &Pattern, filter: &Filter) -> Result<Vec<BubbName>> {
    let mut all = Vec::new();
    by_month_with_bar(args, store, pattern, filter, |candidates| {
        all.extend(candidates.names);
        ControlFlow::Continue(())
    })?;
    Ok(all)
}

/// Like [`by_month`], but shows a progress bar if that takes long, for example while the text cache is built.
/// The bar is removed while results are printed.
fn by_month_with_bar(
    args: &GrepArgs,
    store: &Store,
    pattern: &Pattern,
    filter: &Filter,
    mut each: impl FnMut(Candidates) -> ControlFlow<()>,
) -> Result<()> {
    let bar = Mutex::new(ProgressMeter::new(false));
    let progress = |done, total| {
        // Locked while results are printed; the search continues on other threads.
        if let Ok(mut bar) = bar.try_lock() {
            bar.show("searching days", done, total);
        }
    };
    let is_placed = !args.list && !args.count;
    let looking = SearchOptions { no_cache: args.no_cache, is_placed, progress: &progress };
    by_month(store, pattern, filter, &looking, |candidates| {
        let mut bar = bar.lock().unwrap_or_else(PoisonError::into_inner);
        if !candidates.names.is_empty() || !candidates.unreadable.is_empty() {
            *bar = ProgressMeter::new(false);
        }
        each(candidates)
    })
}

fn exit_code(found: bool, unreadable: bool) -> u8 {
    match (found, unreadable) {
        (true, _) => 0,
        (false, false) => 1,
        (false, true) => 5,
    }
}

fn filter(args: &GrepArgs, store: &Store, forest: &Forest, found: &[AddressMatch]) -> Result<Filter> {
    let mut only: Option<HashSet<BubbId>> = None;
    if !args.addresses.is_empty() {
        let paths = found.iter().flat_map(|found| match found {
            AddressMatch::One(found) => forest.conv(found.ix).path,
            AddressMatch::Range(range) => range.clone(),
        });
        only = Some(paths.map(|ix| forest.name(ix).id).collect());
    }
    if let Some(model) = &args.model {
        let answered =
            store.journal().facts().into_iter().filter(|(_, fact)| fact.model.as_ref() == Some(model));
        let answered: HashSet<BubbId> = answered.map(|(id, _)| id).collect();
        only = Some(match only {
            Some(only) => only.intersection(&answered).copied().collect(),
            None => answered,
        });
    }
    filter_of(args, only)
}

fn filter_of(args: &GrepArgs, only: Option<HashSet<BubbId>>) -> Result<Filter> {
    Ok(Filter { kinds: args.kinds()?, hidden: args.hidden, times: args.times()?, only })
}
