//! `lepo grep`: finds what was said, with its speaker, day and conversation.

mod args;
mod count;
mod print;

use std::collections::HashSet;
use std::ops::ControlFlow;

pub use args::GrepArgs;

use super::Context;
use super::words::resolve_all;
use crate::bubb::{BubbId, Day, Name};
use crate::conv::{Forest, Found, Wanted};
use crate::error::Result;
use crate::search::{Filter, Outcome, Pattern, candidates, search_files};
use crate::store::Store;
use crate::term::say;
use print::Printer;

/// Searches. Exit 0 if something was found, 1 if not, 5 if not and something could not be read.
pub fn run_grep(args: GrepArgs, context: &mut Context<'_>) -> Result<u8> {
    let pattern = Pattern::new(args.pattern_text(), args.pattern_options())?;
    let store = context.store()?;
    if args.is_of_all() && store.others().is_empty() && store.has_days()? {
        return in_days(&args, &store, &pattern, context);
    }
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

/// Searches the whole store, of which most is days that are over: month by month, newest first, without reading
/// names that nothing asks for.
fn in_days(args: &GrepArgs, store: &Store, pattern: &Pattern, context: &mut Context<'_>) -> Result<u8> {
    let filter = filter_of(args, None)?;
    let recent = store.recent_names()?;
    let is_recent: HashSet<BubbId> = recent.iter().map(|name| name.id).collect();
    let mut recent: Vec<Name> = recent.into_iter().filter(|name| filter.takes(name)).collect();
    recent.sort_unstable_by_key(|name| name.id);
    let mut listing = store.listing()?;
    let mut printer = Printer::new(args, store, move |id| listing.find(id).ok().flatten(), context);
    let mut unreadable = false;
    let mut look = |names: Vec<Name>| {
        search_files(store, pattern, names.into_iter(), |outcome| match outcome {
            Outcome::Found(name, lines) => printer.found(&name, &lines),
            Outcome::Unreadable(error) => {
                unreadable = true;
                say(&format!("warning: {}", error.chain()));
                ControlFlow::Continue(())
            }
        })
    };
    let days = store.days()?;
    for days in days.chunk_by(|a, b| a.month() == b.month()) {
        let Some(month) = days.first().map(|day| day.month()) else { continue };
        let within = |time: u64| Day::at(time).month() >= month;
        let (first, end) = (days.last().map(|day| day.start()), days.first().map(|day| day.next().start()));
        if first.is_some_and(|first| first > *filter.times.end())
            || end.is_some_and(|end| end <= *filter.times.start())
        {
            continue;
        }
        let mut names = match args.no_cache {
            true => all_of(store, &filter, days)?,
            false => candidates(store, pattern, &filter, &month, days)?,
        };
        names.retain(|name| !is_recent.contains(&name.id));
        let newer = recent.partition_point(|name| !within(name.id.time()));
        names.extend(recent.drain(newer..));
        names.sort_unstable_by_key(|name| std::cmp::Reverse(name.id));
        if look(names).is_break() {
            recent.clear();
            break;
        }
    }
    recent.reverse();
    let _ = look(recent);
    Ok(exit_code(printer.printed() > 0, unreadable))
}

/// All bubbs of these days that a search looks at.
fn all_of(store: &Store, filter: &Filter, days: &[Day]) -> Result<Vec<Name>> {
    let mut names = Vec::new();
    for day in days {
        names.extend(store.bubbs_of_day(*day)?.into_iter().filter(|name| filter.takes(name)));
    }
    Ok(names)
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
    filter_of(args, only)
}

fn filter_of(args: &GrepArgs, only: Option<HashSet<BubbId>>) -> Result<Filter> {
    Ok(Filter { kinds: args.kinds()?, hidden: args.hidden, times: args.times()?, only })
}
