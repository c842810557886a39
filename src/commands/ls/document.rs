//! The document of `lepo ls --json`.

use std::cell::Cell;
use std::ops::ControlFlow;

use schemars::JsonSchema;
use serde::Serialize;
use serde::ser::SerializeSeq;

use super::query::{LsQuery, LsStores, StoreRows};
use super::row::{LsRow, RowFacts};

use crate::commands::Context;
use crate::commands::stores::KnownStore;
use crate::stats::CostFields;
use crate::term::warn;
use crate::view::{IdText, NameFields, RequestFields, RowList, RowSource, UsageFields, write_rows};
use lepo_base::error::Result;
use lepo_store::store::Store;
use lepo_tool::ToolRequest;

/// A single document: tails, newest first; with --pending, the pending requests.
#[derive(Serialize, JsonSchema)]
#[serde(untagged, bound(serialize = "R: RowSource"))]
#[schemars(bound = "")]
pub enum LsDocument<R> {
    Tails {
        #[schemars(with = "Vec<TailFields>")]
        tails: RowList<R>,
    },
    Pending {
        #[schemars(with = "Vec<PendingFields>")]
        pending: RowList<R>,
    },
}

#[derive(Serialize, JsonSchema)]
struct RowFields<'d> {
    #[serde(flatten)]
    name: NameFields,
    /// The other user who wrote the message.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    from: Option<&'d str>,
    height: u32,
    /// The beginning and end of the text, on one line.
    excerpt: Option<&'d str>,
    branches: &'d [String],
    /// Whether the message is dated more than a day ahead; absent if not.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    dated_ahead: bool,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "tail")]
struct TailFields<'d> {
    #[serde(flatten)]
    row: RowFields<'d>,
    /// The oldest message of the conversation.
    root: IdText,
    title: Option<&'d str>,
    /// The first question, as an excerpt.
    first: Option<&'d str>,
    /// The answer at the end, as an excerpt, if another conversation has the same last question.
    answer: Option<&'d str>,
    /// The model of the last answer.
    model: Option<&'d str>,
    usage: &'d UsageFields,
    /// The context window in tokens, if known.
    window: Option<u64>,
    #[serde(flatten)]
    cost: CostFields,
    /// With --everywhere, the absolute path of the store.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    store: Option<&'d str>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "pending")]
struct PendingFields<'d> {
    #[serde(flatten)]
    row: RowFields<'d>,
    #[schemars(with = "RequestFields")]
    request: &'d ToolRequest,
    /// The sandbox for the command if it is approved, or none; absent for a call of a tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    sandbox: Option<&'static str>,
}

/// Prints the document; returns the number of its rows, and whether something could not be read. An error of the only
/// store comes before the first byte; an error of one of several stores is a warning.
pub(super) fn print(
    query: &LsQuery<'_>,
    stores: LsStores,
    context: &mut Context<'_>,
) -> Result<(usize, bool)> {
    let count = Cell::new(0);
    let is_torn = match stores {
        LsStores::One(store) => query.read(&store, |found| {
            write(query, TailRows { found, count: &count }, context);
        })?,
        LsStores::Known(stores) => {
            let is_torn = Cell::new(false);
            write(query, KnownRows { query, stores, count: &count, is_torn: &is_torn }, context);
            is_torn.get()
        }
    };
    Ok((count.get(), is_torn))
}

fn write(query: &LsQuery<'_>, rows: impl RowSource, context: &mut Context<'_>) {
    let list = RowList::new(rows);
    let document = match query.args.pending {
        true => LsDocument::Pending { pending: list },
        false => LsDocument::Tails { tails: list },
    };
    // A closed pipe ends it, and the end of the program reports other errors of the output.
    let _ = write_rows(context.out, &document);
}

/// The rows of the only store.
struct TailRows<'a, 'r> {
    found: StoreRows<'a, 'r>,
    count: &'a Cell<usize>,
}

impl RowSource for TailRows<'_, '_> {
    fn each<S: SerializeSeq>(self, rows: &mut S) -> std::result::Result<(), S::Error> {
        let (store, mut written) = (self.found.store, Ok(()));
        self.found.each(|row| {
            written = match (row.request, row.facts.as_deref()) {
                (Some(request), _) => rows.serialize_element(&PendingFields::new(&row, request, store)),
                (None, Some(facts)) => rows.serialize_element(&TailFields::new(&row, facts, store)),
                (None, None) => Ok(()),
            };
            self.count.update(|count| count + 1);
            if written.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        written
    }
}

/// The rows of all stores that lepo knows.
struct KnownRows<'a> {
    query: &'a LsQuery<'a>,
    stores: Vec<KnownStore>,
    count: &'a Cell<usize>,
    /// Whether something could not be read.
    is_torn: &'a Cell<bool>,
}

impl RowSource for KnownRows<'_> {
    fn each<S: SerializeSeq>(self, rows: &mut S) -> std::result::Result<(), S::Error> {
        for KnownStore { store, .. } in self.stores {
            let mut written = Ok(());
            let read = self.query.read(&store, |found| {
                written = TailRows { found, count: self.count }.each(rows);
            });
            if read.inspect_err(warn).unwrap_or(true) {
                self.is_torn.set(true);
            }
            written?;
        }
        Ok(())
    }
}

impl<'d> RowFields<'d> {
    fn new(row: &'d LsRow<'_>, store: &Store) -> RowFields<'d> {
        RowFields {
            name: NameFields::new(store, &row.name),
            from: row.from,
            height: row.height,
            excerpt: row.last.as_deref(),
            branches: row.branches,
            dated_ahead: row.is_ahead,
        }
    }
}

impl<'d> TailFields<'d> {
    fn new(row: &'d LsRow<'_>, facts: &'d RowFacts<'_>, store: &Store) -> TailFields<'d> {
        TailFields {
            row: RowFields::new(row, store),
            root: IdText(facts.root),
            title: facts.title,
            first: facts.first.as_deref(),
            answer: facts.answer.as_deref(),
            model: facts.model.as_deref(),
            usage: &facts.usage,
            window: facts.window,
            cost: facts.cost.into(),
            store: row.store,
        }
    }
}

impl<'d> PendingFields<'d> {
    fn new(row: &'d LsRow<'_>, request: &'d ToolRequest, store: &Store) -> PendingFields<'d> {
        PendingFields { row: RowFields::new(row, store), request, sandbox: row.sandbox }
    }
}
