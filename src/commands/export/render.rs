//! Formats a conversation as Markdown, JSON or a session.

use std::collections::HashMap;
use std::path::Path;

use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};
use serde_json::json;

use super::args::ExportArgs;
use super::files::Files;
use super::format::ExportFormat;
use super::output::{self, Document, OutputPath};
use crate::commands::address_args::find_one;
use crate::commands::json_messages::write_messages;
use crate::commands::output_file::{check_folder, check_parent};
use crate::term::excerpt;
use crate::ui::{ended_early, warn_incomplete};
use crate::view::Overviews;
use lepo_base::error::{Error, Result};
use lepo_base::hint::{Hint, ResumeAction};
use lepo_base::role::Role;
use lepo_store::bubb::{BubbId, BubbName, excerpt_text};
use lepo_store::conv::Forest;
use lepo_store::store::{JournalRecord, Store};
use lepo_turn::StoppedAnswers;

/// Returns the document of one conversation. Its attached files are written at once, where the document will be.
pub fn documents(args: &ExportArgs, format: ExportFormat, store: &Store) -> Result<Vec<Document>> {
    let (forest, found) = find_one(store, args.address()?, &[])?;
    let conv = forest.conv(found.ix);
    warn_incomplete(&conv);
    let stopped = StoppedAnswers::new(store, &forest);
    let bubbs = match format {
        ExportFormat::Session => forest.finished_turns(&conv.path, |name| stopped.is_shown(name)),
        _ => {
            let path = conv.path.into_iter();
            path.filter(|&ix| args.hidden || stopped.is_shown(&forest.name(ix))).collect()
        }
    };
    if bubbs.is_empty() {
        let hint = match format {
            ExportFormat::Session => {
                let answered = Hint::from("a session holds answered questions only; ");
                answered.bare(ResumeAction::Retry).text(" answers the last")
            }
            _ => Hint::from("all of its messages are hidden; -a exports them too"),
        };
        let tip = forest.name(found.ix).id;
        return Err(Error::nothing(format!("nothing to export in the conversation of {tip}")).hint(hint));
    }
    let names: Vec<BubbName> = bubbs.into_iter().map(|ix| forest.name(ix)).collect();
    let facts = store.journal().facts();
    let mut conv = ExportedConv { store, forest: &forest, names, facts, stopped, files: None };
    let mut stem = String::new();
    if let Some(output) = &args.output {
        let files = Files::collect(store, &conv.names)?;
        let dir = match OutputPath::new(output, false) {
            OutputPath::Folder(dir) => {
                check_folder(dir)?;
                stem = conv.stem()?;
                dir
            }
            OutputPath::File(file) => {
                check_parent(file)?;
                stem = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
                file.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."))
            }
        };
        conv.files = files.write(store, dir, &stem)?;
    }
    let text = match format {
        ExportFormat::Session => conv.session()?.into_bytes(),
        ExportFormat::Json => {
            let mut bytes = Vec::new();
            write_messages(store, &forest, conv.names.iter().copied(), &mut bytes)?;
            bytes
        }
        _ => conv.markdown()?.into_bytes(),
    };
    Ok(vec![Document { stem, text }])
}

struct ExportedConv<'s> {
    store: &'s Store,
    forest: &'s Forest,
    /// Oldest first.
    names: Vec<BubbName>,
    facts: HashMap<BubbId, JournalRecord>,
    stopped: StoppedAnswers,
    /// The attached files, if they are written next to the document.
    files: Option<Files>,
}

impl ExportedConv<'_> {
    fn title(&self) -> Option<String> {
        let ix = self.forest.find(self.names.first()?.id)?;
        Overviews::new(self.store, self.forest).overview(ix).title().map(str::to_string)
    }

    /// Returns the file's name without extension: the time, and the title of the conversation or its first
    /// question.
    fn stem(&self) -> Result<String> {
        let Some(first) = self.first() else { return Ok(String::new()) };
        if let Some(title) = self.title() {
            return Ok(output::stem(&local(first.id), &title));
        }
        let title = if first.role == Role::User { self.store.text(&first)? } else { String::new() };
        Ok(output::stem(&local(first.id), &excerpt_text(&title)))
    }

    fn first(&self) -> Option<BubbName> {
        let asked = self.names.iter().find(|name| name.role == Role::User && !name.hidden);
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
            let who = match name.role {
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
            let mut content = self.store.text(name)?;
            if let (Some(files), Role::User) = (&self.files, name.role) {
                content = files.markdown(&content);
            }
            text += &format!(
                "\n## {who}{speaker}{model}{hidden}\n\n*{time}, {}*\n\n{}\n",
                name.id,
                content.trim_end()
            );
        }
        Ok(text)
    }

    fn session(&self) -> Result<String> {
        let mut messages = Vec::new();
        for name in &self.names {
            let text = self.store.text(name)?;
            let text = if self.stopped.contains(name.id) { marked_stopped(&text) } else { text };
            messages.push(json!({ "role": name.role.as_str(), "content": text }));
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
