//! A row of `lepo ls`: a conversation or a pending request.

use crate::commands::summary_line::in_brackets;
use crate::stats::Cost;
use crate::term::{clean, excerpt_within};
use crate::view::UsageFields;
use lepo_store::bubb::{BubbId, BubbName, model_label};
use lepo_tool::ToolRequest;

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum RowFormat {
    /// `ID (HEIGHT): EXCERPT`, on which scripts rely.
    Pipe,
    /// Columns on a terminal of this width.
    Columns(usize),
    /// Columns for pending requests.
    Requests(usize),
    /// `--long`, cut to the terminal's width.
    Long(Option<usize>),
    Paths,
    /// A row of the JSON document (`document.rs`).
    Json,
}

impl RowFormat {
    pub fn has_facts(self) -> bool {
        matches!(self, RowFormat::Columns(_) | RowFormat::Long(_) | RowFormat::Json)
    }
}

/// A conversation, identified by its tail, or a pending request. Fields that the form does not show are not
/// loaded.
pub struct LsRow<'r> {
    pub name: BubbName,
    /// The user who owns the store, if it is not the current user.
    pub from: Option<&'r str>,
    pub height: u32,
    pub questions: u32,
    /// Access and sandbox of a request in columns.
    pub access: String,
    /// The last question, or the request.
    pub last: Option<String>,
    /// Branches that name the tail.
    pub branches: &'r [String],
    /// The tail is dated more than a day ahead, and is therefore not `@`.
    pub is_ahead: bool,
    pub request: Option<&'r ToolRequest>,
    pub facts: Option<Box<RowFacts<'r>>>,
    /// Path of its store, if there are several.
    pub store: Option<&'r str>,
    /// The sandbox for the command.
    pub sandbox: Option<&'static str>,
}

/// Facts that only the longer forms show.
pub struct RowFacts<'r> {
    pub root: BubbId,
    pub title: Option<&'r str>,
    /// The first question; on a terminal only if it is not the last.
    pub first: Option<String>,
    /// The answer at the tail, if another conversation has the same last question.
    pub answer: Option<String>,
    /// Model of the newest answer that the journal knows.
    pub model: Option<String>,
    /// Tokens of the last request and its answer.
    pub usage: UsageFields,
    /// Context window of that model, in tokens.
    pub window: Option<u64>,
    pub cost: Cost,
}

impl LsRow<'_> {
    /// Prefixes an id with the owner of its store.
    pub fn address(&self, id: String) -> String {
        match self.from {
            Some(from) => clean(&format!("{from}/{id}")).into_owned(),
            None => id,
        }
    }

    /// Returns a mark that precedes the excerpt.
    pub fn mark(&self) -> &'static str {
        if self.is_ahead { "dated ahead" } else { "" }
    }

    /// Returns the mark and the branches, for the columns.
    pub fn mark_and_branches(&self) -> String {
        format!("{}{}", self.mark(), in_brackets(self.branches)).trim_start().to_string()
    }

    /// Returns the model, cleaned; empty if unknown.
    pub fn model(&self) -> String {
        let model = self.facts.as_ref().and_then(|facts| facts.model.as_deref());
        model.map(|model| clean(model_label(model)).into_owned()).unwrap_or_default()
    }

    /// Formats the tokens, with the context window if known: `3.1k/128k`; empty if unknown.
    pub fn tokens(&self, count: fn(u64) -> String) -> String {
        let Some(facts) = &self.facts else { return String::new() };
        let Some(input) = facts.usage.input else { return String::new() };
        let tokens = count(input + facts.usage.output.unwrap_or_default());
        facts.window.map(|window| format!("{tokens}/{}", count(window))).unwrap_or(tokens)
    }

    /// Returns the title, cleaned; empty without one.
    pub fn title(&self) -> String {
        let title = self.facts.as_ref().and_then(|facts| facts.title);
        title.map(beginning).unwrap_or_default()
    }

    /// Returns the first question, the last question and the answer, as far as they exist.
    pub fn excerpts(&self) -> Vec<String> {
        let facts = self.facts.as_deref();
        let first = facts.and_then(|facts| facts.first.as_ref());
        let answer = facts.and_then(|facts| facts.answer.as_ref());
        first.into_iter().chain(&self.last).chain(answer).map(|text| beginning(text)).collect()
    }
}

/// Returns as much of a text as any terminal shows on a line.
fn beginning(text: &str) -> String {
    const MOST: usize = 500;
    excerpt_within(text, MOST)
}
