//! The lines of `lepo ls`: their texts are read, several at once, and printed in order.

use std::collections::HashMap;

use super::row::{Known, Line, Table, document, entry, long_line, pipe_line};
use crate::commands::Context;
use crate::commands::line::excerpt_of;
use crate::term::{clean, excerpt};
use crate::ui::{ShortIds, text_or_warn};
use lepo_store::bubb::{BubbId, Name};
use lepo_store::conv::Forest;
use lepo_store::store::Store;
use lepo_tool::{Sandbox, ToolRequest};

/// The form of a tail's line.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// `ID (HEIGHT): EXCERPT`, as scripts know it; also requests that wait.
    Pipe,
    /// The columns of a terminal.
    Columns(usize),
    /// `--long`, cut at so many columns on a terminal.
    Long(Option<usize>),
    Paths,
    Json,
}

impl Form {
    /// True if a line has facts besides id, height and question.
    pub fn has_more(self) -> bool {
        matches!(self, Form::Columns(_) | Form::Long(_) | Form::Json)
    }
}

impl Form {
    /// Prints what stands before all lines.
    pub fn begin(self, pending: bool, context: &mut Context<'_>) {
        if self == Form::Json {
            context.out.trusted(if pending { "{\"pending\":[" } else { "{\"tails\":[" });
        }
    }

    /// Prints what stands after all lines.
    pub fn end(self, context: &mut Context<'_>) {
        if self == Form::Json {
            context.out.trusted("\n]}\n");
        }
    }
}

/// Store, forest and form that the lines are read by.
pub struct Reading<'r> {
    pub store: &'r Store,
    pub forest: &'r Forest,
    pub form: Form,
    /// The requests that wait, by their bubbs.
    pub requests: HashMap<BubbId, &'r ToolRequest>,
    pub sandbox: &'r Sandbox,
}

/// A line with its texts.
pub struct ReadLine<'r> {
    line: Line,
    /// The last question, or the request.
    text: Option<String>,
    /// The first question, if it is another one.
    first: Option<String>,
    request: Option<&'r ToolRequest>,
}

impl<'r> Reading<'r> {
    /// Reads the texts of a line.
    pub fn read(&self, mut line: Line) -> ReadLine<'r> {
        let request = self.requests.get(&line.name.id).copied();
        let text = match request {
            _ if self.form == Form::Paths => None,
            Some(request) if self.form == Form::Json => Some(excerpt(&request.words())),
            Some(request) => Some(request.whole(self.sandbox)),
            None if matches!(self.form, Form::Columns(_) | Form::Long(_)) => {
                line.question.and_then(|name| text_or_warn(self.store, &name))
            }
            None => line.question.and_then(|name| excerpt_of(self.store, &name)),
        };
        line.said = line.answer.and_then(|answer| self.said(&answer));
        let other =
            line.more.as_ref().and_then(|more| more.first).filter(|first| Some(*first) != line.question);
        let first = other.and_then(|name| text_or_warn(self.store, &name));
        ReadLine { line, text, first, request }
    }

    /// An answer, behind the name of its speaker where there is one; a hidden one was stopped.
    fn said(&self, answer: &Name) -> Option<String> {
        let said = text_or_warn(self.store, answer)?;
        if answer.hidden {
            let is_request = ToolRequest::from_canonical(&said).is_some();
            return (!is_request).then(|| format!("(stopped) {said}"));
        }
        Some(match self.store.bubbs().speaker(self.forest, answer) {
            Some(speaker) => format!("{}: {said}", clean(&speaker)),
            None => said,
        })
    }
}

/// The lines that are being printed.
pub struct Listing<'l> {
    pub store: &'l Store,
    pub form: Form,
    /// Requests that wait are listed.
    pub pending: bool,
    /// The branches that name a bubb.
    pub branches: HashMap<BubbId, Vec<String>>,
    pub known: &'l Known,
    pub sandbox: &'l Sandbox,
    pub now: u64,
    /// Lines printed so far.
    pub rows: usize,
    pub table: Table,
    /// Ids in the columns of a terminal.
    pub shorts: ShortIds,
    /// The project whose store is listed, where there are several.
    pub project: Option<String>,
}

impl Listing<'_> {
    /// Prints a line.
    pub fn print(&mut self, read: ReadLine<'_>, context: &mut Context<'_>) {
        let ReadLine { line, text, first, request } = read;
        if let (Some(project), Form::Pipe | Form::Long(_)) = (&self.project, self.form) {
            context.out.untrusted(format!("{project} ").as_bytes());
        }
        let names = self.branches.get(&line.name.id).map(Vec::as_slice).unwrap_or_default();
        match self.form {
            Form::Paths => context.out.path(&self.store.bubbs().path(&line.name)),
            Form::Json => {
                context.out.trusted(if self.rows > 0 { ",\n" } else { "\n" });
                let title = line.more.as_ref().and_then(|more| self.known.titles.get(&more.root));
                let mut document = document(self.store, &line, text, first, title, names, request);
                if self.project.is_some() {
                    document["store"] = self.store.path().to_string_lossy().into();
                }
                if let Some(ToolRequest::Command(command)) = request {
                    document["sandbox"] = self.sandbox.holding(command.access).word().into();
                }
                context.out.untrusted(document.to_string().as_bytes());
            }
            Form::Columns(columns) => {
                let mut entry = entry(&line, text, first, &self.known.titles, names, self.now);
                entry.id = line.shown(&self.shorts);
                self.table.push(entry, columns, context);
            }
            Form::Long(columns) => {
                let entry = entry(&line, text, first, &self.known.titles, names, self.now);
                long_line(&line, &entry, names, columns, context);
            }
            Form::Pipe => pipe_line(&line, text, names, self.pending, context),
        }
        context.out.row_done(self.rows);
        self.rows += 1;
    }

    /// Prints what was held back.
    pub fn end(&mut self, context: &mut Context<'_>) {
        self.table.print(context);
    }
}
