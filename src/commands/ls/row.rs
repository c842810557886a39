//! A row of `lepo ls`: what was read of one conversation, or of a request that waits.

use serde::Serialize;

use crate::stats::Cost;
use crate::term::{clean, excerpt_within};
use lepo_store::bubb::{Name, shown_model};
use lepo_tool::ToolRequest;

/// The form of a row.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// `ID (HEIGHT): EXCERPT`, as scripts know it; also requests that wait.
    Pipe,
    /// The columns of a terminal.
    Columns(usize),
    /// `--long`, cut at so many columns on a terminal.
    Long(Option<usize>),
    Paths,
    /// In JSON: the fields of a row that are not skipped, behind those of its name.
    Json,
}

impl Form {
    /// True if a row has [`Facts`].
    pub fn has_facts(self) -> bool {
        matches!(self, Form::Columns(_) | Form::Long(_) | Form::Json)
    }
}

/// A conversation, by its end, or a request that waits; of what its form does not show, nothing was read.
#[derive(Serialize)]
pub struct Row<'r> {
    #[serde(skip)]
    pub name: Name,
    /// The person whose store it is in, if it is not the user's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<&'r str>,
    pub height: u32,
    /// The number of its questions.
    #[serde(skip)]
    pub questions: u32,
    /// The last question, or the request.
    #[serde(rename = "excerpt")]
    pub last: Option<String>,
    /// The branches that name its end.
    pub branches: &'r [String],
    /// Its end is dated more than a day ahead, so that it is not `@`.
    #[serde(rename = "dated_ahead", skip_serializing_if = "std::ops::Not::not")]
    pub is_ahead: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request: Option<&'r ToolRequest>,
    #[serde(flatten)]
    pub facts: Option<Box<Facts<'r>>>,
    /// The path of its store, where there are several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub store: Option<&'r str>,
    /// The sandbox that would hold a command.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sandbox: Option<&'static str>,
}

/// The facts that only the longer forms show.
#[derive(Serialize)]
pub struct Facts<'r> {
    /// The id of its first message.
    pub root: String,
    pub title: Option<&'r str>,
    /// The first question; on a terminal only if it is another one than the last.
    pub first: Option<String>,
    /// The answer at its end, where another conversation has the same last question.
    pub answer: Option<String>,
    /// The model of the newest answer that the journal knows.
    pub model: Option<String>,
    pub usage: Usage,
    /// The window of that model, in tokens.
    pub window: Option<u64>,
    #[serde(flatten)]
    pub cost: Cost,
}

/// The tokens of the last request and its answer.
#[derive(Serialize)]
pub struct Usage {
    pub input: Option<u64>,
    pub output: Option<u64>,
}

impl Row<'_> {
    /// An id of its store as an address, behind the name of its owner.
    pub fn address(&self, id: String) -> String {
        match self.from {
            Some(from) => clean(&format!("{from}/{id}")).into_owned(),
            None => id,
        }
    }

    /// What is to be known of a row before its words.
    pub fn mark(&self) -> &'static str {
        if self.is_ahead { "dated ahead" } else { "" }
    }

    /// The model, cleaned; empty for none.
    pub fn model(&self) -> String {
        let model = self.facts.as_ref().and_then(|facts| facts.model.as_deref());
        model.map(|model| clean(shown_model(model)).into_owned()).unwrap_or_default()
    }

    /// The tokens, against the window where that is known: `3.1k/128k`; empty for none.
    pub fn tokens(&self, count: fn(u64) -> String) -> String {
        let Some(facts) = &self.facts else { return String::new() };
        let Some(input) = facts.usage.input else { return String::new() };
        let tokens = count(input + facts.usage.output.unwrap_or_default());
        facts.window.map(|window| format!("{tokens}/{}", count(window))).unwrap_or(tokens)
    }

    /// The title, cleaned; empty for none.
    pub fn title(&self) -> String {
        let title = self.facts.as_ref().and_then(|facts| facts.title);
        title.map(beginning).unwrap_or_default()
    }

    /// First question, last question and answer, those that there are.
    pub fn said(&self) -> Vec<String> {
        let facts = self.facts.as_deref();
        let first = facts.and_then(|facts| facts.first.as_ref());
        let answer = facts.and_then(|facts| facts.answer.as_ref());
        first.into_iter().chain(&self.last).chain(answer).map(|text| beginning(text)).collect()
    }
}

/// As much of a text as any terminal holds in a line.
fn beginning(text: &str) -> String {
    const MOST: usize = 500;
    excerpt_within(text, MOST)
}
