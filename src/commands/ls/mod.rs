//! `lepo ls`: lists tails, where conversations can be continued, and pending requests.

mod columns;
mod pending;
mod read;
mod row;
mod text;

use std::ops::ControlFlow;

use columns::{ConvTable, end_of_path};
use pending::RequestTable;
use read::RowReader;
use row::RowFormat;
use text::{document, long_line, short_line};

use super::address_args::{require_any, resolve_all};
use super::stores::{KnownStore, KnownStores};
use super::{Context, complete, own_newest};
use crate::term::{clean, warn, width};
use crate::ui::{ShortIds, read_request};
use lepo_base::error::{ExitKind, Result};
use lepo_search::{FileResult, Filter, Pattern, PatternOptions, SearchOptions, by_month, search_files};
use lepo_store::conv::{AddressMatch, Forest, Ix, ReadScope, TailScope};
use lepo_store::store::{Store, now};
use lepo_tool::{Sandbox, SandboxDetector, ToolRequest};

/// List the conversations, newest first
///
/// One per line: id, length (number of messages), and the first and last 12 characters of the last question. On a
/// terminal, a line has the end of the id and the number of questions instead, and `@` is listed even
/// if another user or work tree continued it.
///
/// On a terminal and with `-l`, lines also have the time, the model, the tokens, the branches that name the
/// conversation's end, the title, and the first and last question, as far as they fit. If several conversations
/// answer the same question, the answer follows, with the model's name if several models were asked at once. If
/// prices are configured, `-l` on a terminal adds the cost of the answers, with `+` if the cost of some is unknown;
/// copied answers cost nothing. A conversation whose end is dated more than a day ahead is marked `dated ahead`: it is not
/// `@`.
///
/// With `--pending` on a terminal, a line has the full id, the time, the access with the sandbox, and the request; one
/// that does not fit is below, in full.
///
/// With ADDR, lists only conversations that contain one of these messages.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  lepo ls | head -3 | cut -d' ' -f1\n  lepo ls -n 1 --paths\n  lepo ls --grep README\n  \
    lepo ls -l | awk '{ print $3, $4 }'\n  grep -rl --include='0*.md' panic .lepo | lepo ls -\n  lepo ls --pending\n  lepo ls --everywhere -n 3"
)]
pub struct LsArgs {
    /// List only conversations that contain one of these messages; `-` reads addresses from stdin
    #[arg(value_name = "ADDR", add = complete::address())]
    addresses: Vec<String>,
    /// List only the N newest; with --everywhere, the N newest of each store
    #[arg(short, value_name = "N")]
    n: Option<usize>,
    /// Print long lines in a pipe too: ID (LENGTH) TIME MODEL TOKENS[/WINDOW] [BRANCHES] TITLE · FIRST · LAST; `-` for none
    #[arg(short, long, conflicts_with_all = ["pending", "paths", "json"])]
    long: bool,
    /// List the ends of finished tool calls too
    #[arg(long, alias = "all")]
    spent: bool,
    /// List only conversations with a visible message that matches this regular expression
    #[arg(long, value_name = "PATTERN", conflicts_with = "pending")]
    grep: Option<String>,
    /// List the requests that are waiting for consent instead, with their full text, access and sandbox
    #[arg(long, conflicts_with = "spent")]
    pending: bool,
    /// List the conversations of all stores that your lepo has written to; each row begins with the project's path
    #[arg(long, conflicts_with_all = ["addresses", "pending"])]
    everywhere: bool,
    /// Print the paths of the files instead
    #[arg(long, conflicts_with = "json")]
    paths: bool,
    /// Print one JSON document: {"tails": [...]} or {"pending": [...]}
    #[arg(long)]
    pub json: bool,
}

impl LsArgs {
    /// Whether only its age decides if a tail is listed.
    fn is_of_newest(&self) -> bool {
        self.addresses.is_empty() && !self.pending && self.grep.is_none()
    }

    fn read_scope(&self, store: &Store, form: RowFormat) -> ReadScope {
        // Pending requests are only the user's own; all other lists also contain other users' conversations.
        match self.n {
            _ if !self.pending && !store.peers().is_empty() => ReadScope::All { peers: true },
            Some(count) if self.is_of_newest() => {
                let (spent, siblings) = (self.spent, form.has_facts());
                ReadScope::Tails(TailScope {
                    count,
                    include_spent: spent,
                    siblings,
                    tip: !spent && !siblings,
                    within: None,
                })
            }
            _ => ReadScope::All { peers: false },
        }
    }

    /// Returns the form of the rows; `columns` is set on a terminal.
    fn form(&self, columns: Option<usize>) -> RowFormat {
        match (self.paths, self.json, self.long, columns) {
            (true, ..) => RowFormat::Paths,
            (_, true, ..) => RowFormat::Json,
            (.., true, columns) => RowFormat::Long(columns),
            (.., Some(columns)) if self.pending => RowFormat::Requests(columns),
            (.., Some(columns)) => RowFormat::Columns(columns),
            _ => RowFormat::Pipe,
        }
    }

    fn none_there(&self) -> &'static str {
        if self.pending {
            "nothing is waiting for approval"
        } else if self.grep.is_some() {
            "no conversation has a message that matches"
        } else if self.addresses.is_empty() {
            "no conversations yet; ask something: lepo do QUESTION"
        } else {
            "no conversation contains these messages"
        }
    }
}

pub fn run_ls(args: LsArgs, context: &mut Context<'_>) -> Result<u8> {
    let form = args.form(context.out.columns());
    // Compiled once, so that an invalid pattern is a single error.
    let first = PatternOptions { first: true, ..PatternOptions::default() };
    let pattern = args.grep.as_deref().map(|pattern| Pattern::new(pattern, first)).transpose()?;
    let (mut rows, mut torn) = (0, false);
    let asked = (&args, pattern.as_ref(), form);
    if !args.everywhere {
        let store = context.store()?;
        (rows, torn) = list(asked, &store, (None, 0), context)?;
    } else {
        for KnownStore { store, project } in KnownStores::load()?.existing()? {
            match list(asked, &store, (Some(&project), rows), context) {
                Ok((all, unreadable)) => {
                    rows = all;
                    torn |= unreadable;
                }
                Err(error) => {
                    torn = true;
                    warn(&error);
                }
            }
        }
    }
    if form == RowFormat::Json {
        if rows == 0 {
            print_header(&args, context);
        }
        context.out.trusted("\n]}\n");
    }
    if rows == 0 && form != RowFormat::Json && context.out.is_terminal() {
        context.print_hint(args.none_there());
    }
    match rows {
        0 if torn => Ok(ExitKind::Store.exit_code()),
        _ => Ok(0),
    }
}

/// Prints the start of the document, with the first row: after that nothing can fail any more.
fn print_header(args: &LsArgs, context: &mut Context<'_>) {
    context.out.trusted(if args.pending { "{\"pending\":[" } else { "{\"tails\":[" });
}

/// Lists a store after `rows` rows of earlier ones; returns the new total, and whether something could not be
/// read. `project` is set if there are several stores.
fn list(
    (args, pattern, form): (&LsArgs, Option<&Pattern>, RowFormat),
    store: &Store,
    (project, mut rows): (Option<&str>, usize),
    context: &mut Context<'_>,
) -> Result<(usize, bool)> {
    let wanted = args.read_scope(store, form);
    let (forest, unreadable) = match args.grep {
        // As in grep: unreadable folders are reported, and the rest is searched.
        Some(_) => store.readable_forest(&wanted)?,
        None => (store.forest_for(&[wanted])?, Vec::new()),
    };
    unreadable.iter().for_each(warn);
    let has_branches = form.has_facts() || context.out.is_terminal();
    let mut reader = RowReader::new(store, &forest, form, has_branches)?;
    let waiting = match args.pending {
        true => forest.pending(|ix| read_request(store, &forest.name(ix))),
        false => Vec::new(),
    };
    let is_terminal = context.out.is_terminal();
    let tails = tails((args, pattern), store, (&forest, unreadable.is_empty()), &waiting, is_terminal)?;
    // Detected by trying, which takes a moment.
    let sandbox = match waiting.is_empty() || args.paths {
        true => Sandbox::None,
        false => SandboxDetector::now(store.root()),
    };
    if args.pending {
        reader = reader.of_requests(&waiting, &sandbox);
    }
    if project.is_some() {
        reader = reader.of_several();
    }
    let ids = forest.all().map(|ix| forest.name(ix).id);
    let shorts = ShortIds::on_terminal(matches!(form, RowFormat::Columns(_)), ids);
    let columns = context.out.columns().unwrap_or_default();
    let mut table = ConvTable::new(shorts, now(), project, columns);
    let mut requests = RequestTable::new(now(), columns);
    reader.rows(tails, args.n.unwrap_or(usize::MAX), |row| {
        if let (Some(project), RowFormat::Pipe | RowFormat::Long(_)) = (project, form) {
            let project = before_row(project, form);
            context.out.untrusted(project.as_bytes());
        }
        match form {
            RowFormat::Pipe => short_line(&row, context),
            RowFormat::Columns(_) => table.push(&row, || store.bubb_path(&row.name), context),
            RowFormat::Requests(_) => requests.push(&row, || store.bubb_path(&row.name), context.paint),
            RowFormat::Long(columns) => long_line(&row, columns, context),
            RowFormat::Paths => context.out.path(&store.bubb_path(&row.name)),
            RowFormat::Json => {
                match rows {
                    0 => print_header(args, context),
                    _ => context.out.trusted(","),
                }
                context.out.trusted("\n");
                context.out.untrusted(document(&row, store).as_bytes());
            }
        }
        context.out.row_done(rows);
        rows += 1;
        if context.out.closed() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    table.print(context);
    requests.print(context);
    Ok((rows, !unreadable.is_empty()))
}

/// Formats a project's path before a row: on a separate line if the terminal is too narrow.
fn before_row(project: &str, form: RowFormat) -> String {
    const ID: usize = 26;
    match form {
        RowFormat::Long(Some(columns)) if width(&clean(project)) + 1 + ID > columns => {
            format!("{}\n", end_of_path(&clean(project), columns))
        }
        _ => format!("{project} "),
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
        false if is_terminal => forest.listed(args.spent, own_newest::find(store).unwrap_or_default()),
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
