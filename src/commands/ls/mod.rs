//! `lepo ls`: lists tails, where conversations can be continued, and pending requests.

mod args;
mod columns;
pub mod document;
mod pending;
mod query;
mod read;
mod row;
mod text;

use std::ops::ControlFlow;

pub use args::LsArgs;

use columns::{ConvTable, end_of_path};
use pending::RequestTable;
use query::{LsQuery, LsStores, StoreRows};
use row::RowFormat;
use text::{long_line, short_line};

use super::Context;
use super::stores::{KnownStore, KnownStores};
use crate::term::{clean, warn, width};
use crate::ui::ShortIds;
use lepo_base::error::{ExitKind, Result};
use lepo_search::{Pattern, PatternOptions};
use lepo_store::store::now;

pub fn run_ls(args: LsArgs, context: &mut Context<'_>) -> Result<u8> {
    let form = args.form(context.out.columns());
    // Compiled once, so that an invalid pattern is a single error.
    let first = PatternOptions { first: true, ..PatternOptions::default() };
    let pattern = args.grep.as_deref().map(|pattern| Pattern::new(pattern, first)).transpose()?;
    let is_terminal = context.out.is_terminal();
    let query = LsQuery { args: &args, pattern: pattern.as_ref(), form, is_terminal };
    let stores = match args.everywhere {
        true => LsStores::Known(KnownStores::load()?.existing()?),
        false => LsStores::One(Box::new(context.store()?)),
    };
    let (rows, is_torn) = match form {
        RowFormat::Json => document::print(&query, stores, context)?,
        _ => print(&query, stores, context)?,
    };
    if rows == 0 && form != RowFormat::Json && is_terminal {
        context.print_hint(args.none_there());
    }
    match rows {
        0 if is_torn => Ok(ExitKind::Store.exit_code()),
        _ => Ok(0),
    }
}

/// Prints the rows of all stores as lines; returns their number, and whether something could not be read.
fn print(query: &LsQuery<'_>, stores: LsStores, context: &mut Context<'_>) -> Result<(usize, bool)> {
    let (mut rows, mut is_torn) = (0, false);
    match stores {
        LsStores::One(store) => {
            is_torn = query.read(&store, |found| print_rows(query, found, (None, &mut rows), context))?;
        }
        LsStores::Known(stores) => {
            for KnownStore { store, project } in stores {
                let read = query
                    .read(&store, |found| print_rows(query, found, (Some(&project), &mut rows), context));
                is_torn |= read.unwrap_or_else(|error| {
                    warn(&error);
                    true
                });
            }
        }
    }
    Ok((rows, is_torn))
}

/// Prints the rows of a store after `rows` rows of earlier ones. `project` is set if there are several stores.
fn print_rows(
    query: &LsQuery<'_>,
    found: StoreRows<'_, '_>,
    (project, rows): (Option<&str>, &mut usize),
    context: &mut Context<'_>,
) {
    let (form, store, forest) = (query.form, found.store, found.forest);
    let ids = forest.all().map(|ix| forest.name(ix).id);
    let shorts = ShortIds::on_terminal(matches!(form, RowFormat::Columns(_)), ids);
    let columns = context.out.columns().unwrap_or_default();
    let mut table = ConvTable::new(shorts, now(), project, columns);
    let mut requests = RequestTable::new(now(), columns);
    found.each(|row| {
        if let (Some(project), RowFormat::Pipe | RowFormat::Long(_)) = (project, form) {
            let project = before_row(project, form);
            context.out.untrusted(project.as_bytes());
        }
        match form {
            RowFormat::Columns(_) => table.push(&row, || store.bubb_path(&row.name), context),
            RowFormat::Requests(_) => requests.push(&row, || store.bubb_path(&row.name), context.paint),
            RowFormat::Long(columns) => long_line(&row, columns, context),
            RowFormat::Paths => context.out.path(&store.bubb_path(&row.name)),
            RowFormat::Pipe | RowFormat::Json => short_line(&row, context),
        }
        context.out.row_done(*rows);
        *rows += 1;
        if context.out.closed() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    table.print(context);
    requests.print(context);
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
