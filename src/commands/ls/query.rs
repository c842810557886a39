//! Reads what `lepo ls` lists of a store, before the first byte is written.

use std::ops::ControlFlow;

use super::args::LsArgs;
use super::read::RowReader;
use super::row::{LsRow, RowFormat};
use crate::commands::address_args::{require_any, resolve_all};
use crate::commands::own_newest;
use crate::commands::stores::KnownStore;
use crate::term::warn;
use crate::ui::read_request;
use lepo_base::error::Result;
use lepo_search::{FileResult, Filter, Pattern, SearchOptions, by_month, search_files};
use lepo_store::conv::{AddressMatch, Forest, Ix};
use lepo_store::store::Store;
use lepo_tool::{Sandbox, SandboxDetector, ToolRequest};

/// The stores to list: the one here, or all that lepo knows.
pub enum LsStores {
    One(Box<Store>),
    Known(Vec<KnownStore>),
}

/// The command line, read.
pub struct LsQuery<'q> {
    pub args: &'q LsArgs,
    pub pattern: Option<&'q Pattern>,
    pub form: RowFormat,
    pub is_terminal: bool,
}

/// The rows of a store, all that can fail read.
pub struct StoreRows<'a, 'r> {
    pub store: &'r Store,
    pub forest: &'r Forest,
    reader: &'a RowReader<'r>,
    tails: Box<dyn Iterator<Item = Ix> + 'a>,
    most: usize,
}

impl<'a> StoreRows<'a, '_> {
    pub fn each(self, each: impl FnMut(LsRow<'a>) -> ControlFlow<()>) {
        self.reader.rows(self.tails, self.most, each);
    }
}

impl LsQuery<'_> {
    /// Passes the rows of a store to `print`, after all that can fail; returns whether something could not be read.
    pub fn read(&self, store: &Store, print: impl FnOnce(StoreRows<'_, '_>)) -> Result<bool> {
        let LsQuery { args, form, is_terminal, .. } = *self;
        let wanted = args.read_scope(store, form);
        let (forest, unreadable) = match args.grep {
            // As in grep: unreadable folders are reported, and the rest is searched.
            Some(_) => store.readable_forest(&wanted)?,
            None => (store.forest_for(&[wanted])?, Vec::new()),
        };
        unreadable.iter().for_each(warn);
        let mut reader = RowReader::new(store, &forest, form, form.has_facts() || is_terminal)?;
        let waiting = match args.pending {
            true => forest.pending(|ix| read_request(store, &forest.name(ix))),
            false => Vec::new(),
        };
        let tails =
            tails((args, self.pattern), store, (&forest, unreadable.is_empty()), &waiting, is_terminal)?;
        // Detected by trying, which takes a moment.
        let sandbox = match waiting.is_empty() || args.paths {
            true => Sandbox::None,
            false => SandboxDetector::now(store.root()),
        };
        if args.pending {
            reader = reader.of_requests(&waiting, &sandbox);
        }
        if args.everywhere {
            reader = reader.of_several();
        }
        let most = args.n.unwrap_or(usize::MAX);
        print(StoreRows { store, forest: &forest, reader: &reader, tails, most });
        Ok(!unreadable.is_empty())
    }
}

/// Returns the tails or requests to list, newest first.
fn tails<'f>(
    (args, pattern): (&LsArgs, Option<&Pattern>),
    store: &Store,
    (forest, is_whole): (&'f Forest, bool),
    waiting: &'f [(Ix, ToolRequest)],
    is_terminal: bool,
) -> Result<Box<dyn Iterator<Item = Ix> + 'f>> {
    let mut tails: Box<dyn Iterator<Item = Ix>> = match args.pending {
        true => Box::new(waiting.iter().map(|(ix, _)| *ix)),
        // Programs read the tails of the format alone.
        false if is_terminal => forest.listed_tails(args.spent, own_newest::find(store).unwrap_or_default()),
        false => Box::new(forest.newest_first(args.spent)),
    };
    if !args.addresses.is_empty() {
        let found = require_any(&args.addresses, resolve_all(store, (forest, is_whole), &args.addresses)?)?;
        let named: Vec<Ix> = found.iter().flat_map(AddressMatch::bubbs).copied().collect();
        let all: Vec<Ix> = tails.collect();
        tails = Box::new(forest.tails_through(&all, &named).into_iter());
    }
    if let Some(pattern) = pattern {
        let named = matching(store, forest, pattern)?;
        let all: Vec<Ix> = tails.collect();
        tails = Box::new(forest.tails_through(&all, &named).into_iter());
    }
    Ok(tails)
}

/// Finds the visible messages that match a pattern, as `grep` does. Warns about unreadable ones.
fn matching(store: &Store, forest: &Forest, pattern: &Pattern) -> Result<Vec<Ix>> {
    let looking = SearchOptions { no_cache: false, is_placed: false, progress: &|_, _| () };
    let mut found = Vec::new();
    by_month(store, pattern, &Filter::visible(), &looking, |candidates| {
        // Unreadable folders were reported when the forest was read.
        search_files(store, pattern, candidates.names.into_iter(), |outcome| {
            match outcome {
                FileResult::Found(name, _) => found.extend(forest.find(name.id)),
                FileResult::Unreadable(error) => warn(&error),
            }
            ControlFlow::Continue(())
        })
    })?;
    Ok(found)
}
