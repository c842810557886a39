//! Formats an exported conv as Markdown, JSON or a session.

use std::collections::HashMap;

use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};
use serde_json::json;

use super::files::Files;
use super::output;
use crate::commands::json::bubbs_json;
use crate::term::excerpt;
use crate::ui::ended_early;
use crate::view::Overviews;
use lepo_base::error::Result;
use lepo_base::role::Role;
use lepo_store::bubb::{BubbId, BubbName, words};
use lepo_store::conv::Forest;
use lepo_store::store::{JournalRecord, Store};
use lepo_turn::StoppedAnswers;

/// The form to write.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum ExportFormat {
    /// A document to read
    #[default]
    Markdown,
    /// The messages, as `lepo show --json` gives them
    Json,
    /// Messages only
    Session,
    /// A page for a browser
    Html,
    /// Messages in the form of APIs, one per line
    Messages,
    /// The tree as ChatGPT exports it, which other tools read too
    Chatgpt,
    /// The tree as Open WebUI stores it
    Openwebui,
    /// The tree as a session of pi
    Pi,
    /// A text from which another agent can continue
    Handoff,
    /// A session of Claude Code
    ClaudeCode,
    /// A session of Codex
    Codex,
}

/// The code that writes a format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FormatWriter {
    /// `Export::bytes` here.
    Conv,
    Html,
    Handoff,
    /// `foreign_formats`, from trees.
    Foreign,
    /// `native`: sessions that another tool continues.
    Native,
}

impl ExportFormat {
    /// Returns the row of a format: its extension, its writer, and whether one file takes several conversations.
    fn row(self) -> (&'static str, FormatWriter, bool) {
        match self {
            ExportFormat::Markdown => ("md", FormatWriter::Conv, false),
            ExportFormat::Json => ("json", FormatWriter::Conv, false),
            ExportFormat::Session => ("json", FormatWriter::Conv, false),
            ExportFormat::Html => ("html", FormatWriter::Html, true),
            ExportFormat::Messages => ("jsonl", FormatWriter::Foreign, true),
            ExportFormat::Chatgpt => ("json", FormatWriter::Foreign, true),
            ExportFormat::Openwebui => ("json", FormatWriter::Foreign, true),
            ExportFormat::Pi => ("jsonl", FormatWriter::Foreign, false),
            ExportFormat::Handoff => ("md", FormatWriter::Handoff, false),
            ExportFormat::ClaudeCode => ("jsonl", FormatWriter::Native, false),
            ExportFormat::Codex => ("jsonl", FormatWriter::Native, false),
        }
    }

    pub fn is_of_others(self) -> bool {
        matches!(self.row().1, FormatWriter::Foreign | FormatWriter::Native)
    }

    pub fn is_native(self) -> bool {
        self.row().1 == FormatWriter::Native
    }

    pub fn extension(self) -> &'static str {
        self.row().0
    }

    pub fn holds_many(self) -> bool {
        self.row().2
    }

    /// Returns the name that the user types.
    pub fn name(self) -> String {
        clap::ValueEnum::to_possible_value(&self).map(|word| word.get_name().to_string()).unwrap_or_default()
    }

    /// Joins the names of the matching formats.
    pub fn list(is_listed: impl Fn(ExportFormat) -> bool) -> String {
        let variants = <ExportFormat as clap::ValueEnum>::value_variants().iter().copied();
        variants.filter(|format| is_listed(*format)).map(ExportFormat::name).collect::<Vec<_>>().join(", ")
    }

    /// Returns the format for a file extension; `None` if it is unknown.
    pub fn from_extension(extension: &str) -> Option<ExportFormat> {
        match extension.to_ascii_lowercase().as_str() {
            "md" | "markdown" => Some(ExportFormat::Markdown),
            "html" | "htm" => Some(ExportFormat::Html),
            "json" => Some(ExportFormat::Json),
            "jsonl" => Some(ExportFormat::Messages),
            _ => None,
        }
    }
}

pub struct Export<'s> {
    store: &'s Store,
    forest: &'s Forest,
    /// Oldest first.
    names: Vec<BubbName>,
    facts: HashMap<BubbId, JournalRecord>,
    stopped: StoppedAnswers,
    /// The attached files, if they are written next to the document.
    pub files: Option<Files>,
}

impl<'s> Export<'s> {
    /// `names` are oldest first.
    pub fn new(store: &'s Store, forest: &'s Forest, names: Vec<BubbName>) -> Export<'s> {
        let stopped = StoppedAnswers::new(store, forest);
        Export { store, forest, names, facts: store.journal().facts(), stopped, files: None }
    }

    pub fn bytes(&self, format: ExportFormat) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        match format {
            ExportFormat::Markdown => bytes = self.markdown()?.into_bytes(),
            ExportFormat::Json => {
                bubbs_json(self.store, self.forest, self.names.iter().copied(), &mut bytes)?
            }
            ExportFormat::Session => bytes = self.session()?.into_bytes(),
            // Built from a forest, in `html` and `others`.
            ExportFormat::Html
            | ExportFormat::Messages
            | ExportFormat::Chatgpt
            | ExportFormat::Openwebui
            | ExportFormat::Pi => {}
            ExportFormat::Handoff | ExportFormat::ClaudeCode | ExportFormat::Codex => {}
        }
        Ok(bytes)
    }

    fn title(&self) -> Option<String> {
        let ix = self.forest.find(self.names.first()?.id)?;
        Overviews::new(self.store, self.forest).overview(ix).title().map(str::to_string)
    }

    /// Returns the file's name without extension: the time, and the title of the conversation or its first
    /// question.
    pub fn stem(&self) -> Result<String> {
        let Some(first) = self.first() else { return Ok(String::new()) };
        if let Some(title) = self.title() {
            return Ok(output::stem(&local(first.id), &title));
        }
        let title = if first.kind == Role::User { self.store.text(&first)? } else { String::new() };
        Ok(output::stem(&local(first.id), &words(&title)))
    }

    fn first(&self) -> Option<BubbName> {
        let asked = self.names.iter().find(|name| name.kind == Role::User && !name.hidden);
        asked.or(self.names.first()).copied()
    }

    fn model(&self, name: &BubbName) -> Option<&str> {
        self.facts.get(&name.id)?.model.as_deref()
    }

    fn markdown(&self) -> Result<String> {
        let mut text = String::new();
        let heading = match (self.title(), self.first()) {
            (Some(title), _) => Some(title),
            (None, Some(first)) => Some(excerpt(&self.store.text(&first)?)),
            (None, None) => None,
        };
        text.extend(heading.map(|heading| format!("# {heading}\n")));
        for name in &self.names {
            let who = match name.kind {
                Role::System => "System",
                Role::User => "User",
                Role::Assistant => "Assistant",
                Role::Tool => "Tool",
            };
            // The participant, in a debate or among several answers.
            let speaker = self.store.speaker(self.forest, name);
            let model = self.model(name).filter(|model| speaker.as_deref() != Some(model));
            let is_stopped = self.stopped.contains(name.id);
            let early = self.facts.get(&name.id).and_then(ended_early).filter(|_| !is_stopped);
            let model = model.into_iter().chain(early).collect::<Vec<_>>().join(", ");
            let model = if model.is_empty() { model } else { format!(" ({model})") };
            let speaker = speaker.map(|speaker| format!(" {speaker}")).unwrap_or_default();
            let hidden = match (is_stopped, name.hidden) {
                (true, _) => " (stopped)",
                (false, true) => ", hidden",
                (false, false) => "",
            };
            let time = local(name.id).strftime("%Y-%m-%d %H:%M:%S");
            let mut said = self.store.text(name)?;
            if let (Some(files), Role::User) = (&self.files, name.kind) {
                said = files.markdown(&said);
            }
            text += &format!(
                "\n## {who}{speaker}{model}{hidden}\n\n*{time}, {}*\n\n{}\n",
                name.id,
                said.trim_end()
            );
        }
        Ok(text)
    }

    fn session(&self) -> Result<String> {
        let mut messages = Vec::new();
        for name in &self.names {
            let text = self.store.text(name)?;
            let text = if self.stopped.contains(name.id) { marked_stopped(&text) } else { text };
            messages.push(json!({ "role": name.kind.as_str(), "content": text }));
        }
        let started = self.first().map(|first| local(first.id).strftime("%Y-%m-%dT%H:%M:%S%:z").to_string());
        let document = json!({
            "model": self.names.iter().rev().find_map(|name| self.model(name)),
            "startedAt": started,
            "messages": messages,
        });
        Ok(format!("{document:#}\n"))
    }
}

/// Returns the text of a stopped answer for a format that has no field for it.
pub fn marked_stopped(text: &str) -> String {
    format!("{}\n\n(stopped)", text.trim_end())
}

/// Returns the time of a bubb in the local zone, clamped to the calendar's maximum.
pub fn local(id: BubbId) -> Zoned {
    let time = i64::try_from(id.time()).ok().and_then(|time| Timestamp::from_millisecond(time).ok());
    time.unwrap_or(Timestamp::MAX).to_zoned(TimeZone::system())
}
