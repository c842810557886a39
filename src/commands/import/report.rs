//! Reports the result of an import, as text or JSON.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::document::{ImportDocument, ReadFields, ReportFields, SkippedFields, SourceFields};
use super::write::TypedSecrets;
use crate::commands::Context;
use crate::import::{HeldBackPart, NO_TIME};
use crate::term::{Out, StatusLine, excerpt, fold, one_line, print_status};
use crate::view::IdText;
use lepo_base::error::Result;
use lepo_base::time;
use lepo_import::SourceReader;
use lepo_store::bubb::{BubbId, plural};
use lepo_store::conv::ReadScope;
use lepo_store::store::{Store, now};

/// A session from which an import by a watch took something.
pub struct SessionNews {
    pub format: String,
    pub source: PathBuf,
    /// Its id in the other tool; may be empty.
    pub id: String,
    pub imported: u64,
    /// Its first question.
    pub question: Option<String>,
}

#[derive(Default)]
pub struct ImportReport {
    pub sources: Vec<(String, PathBuf)>,
    pub conversations: u64,
    pub messages: u64,
    /// New bubbs.
    pub imported: u64,
    /// Bubbs that already existed.
    pub existing: u64,
    /// Parts of last messages that may be incomplete.
    pub withheld: u64,
    /// The first such part of each conversation.
    pub held_back: Vec<HeldBackPart>,
    /// Conversations that exist in another form, or from another source.
    pub known: u64,
    /// Conversations older than `--since`.
    pub older: u64,
    /// Messages that are not imported again, because they were removed here or taken back.
    pub left_out: u64,
    /// Removed messages that an import by hand took again.
    pub brought_back: u64,
    /// In an import by a watch.
    pub news: Vec<SessionNews>,
    pub undated: u64,
    /// Files whose bytes are not in the source.
    pub lost_files: u64,
    /// Number of skipped records, by reason.
    skipped: BTreeMap<String, u64>,
    /// Names of skipped files, for some reasons.
    files: BTreeMap<String, Vec<String>>,
    remarks: Vec<String>,
    pub typed_secrets: TypedSecrets,
    /// The newest tail, if it changed.
    pub at: Option<BubbId>,
}

impl ImportReport {
    fn skip_many(&mut self, reason: &str, count: u64) {
        *self.skipped.entry(reason.to_string()).or_default() += count;
    }

    /// Counts what was skipped in a file, and records the file.
    pub fn skip_in(&mut self, path: &Path, reason: &str, count: u64) {
        self.skip_many(reason, count);
        let files = self.files.entry(reason.to_string()).or_default();
        let path = path.display().to_string();
        if files.last() != Some(&path) {
            files.push(path);
        }
    }

    pub fn tally(&mut self, reading: SourceReader) {
        for (reason, count) in reading.tally.skipped {
            self.skip_many(&reason, count);
        }
        for (reason, files) in reading.tally.files {
            self.files.entry(reason).or_default().extend(files);
        }
        self.remarks.extend(reading.tally.remarks);
    }

    /// Counts bubbs whose files differ from the source, and names a few.
    pub fn edited(&mut self, ids: &mut Vec<BubbId>) {
        ids.sort_unstable();
        ids.dedup();
        for id in ids.iter().take(5) {
            self.remarks.push(format!(
                "{id} exists here with other content than in the source; it was left as it is"
            ));
        }
        if !ids.is_empty() {
            *self.skipped.entry("message that exists here with other content".into()).or_default() +=
                ids.len() as u64;
        }
    }

    pub fn skipped_any(&self) -> bool {
        !self.skipped.is_empty()
    }

    /// Whether these files are the only source, which the user named.
    fn are_only_source(&self, files: &[String]) -> bool {
        matches!((files, &self.sources[..]), ([file], [(_, source)]) if Path::new(file) == source)
    }

    /// Whether no conversation was imported, found again, withheld or too old.
    pub fn is_empty(&self) -> bool {
        self.imported + self.existing + self.withheld + self.older + self.known + self.left_out == 0
    }

    pub fn document(&self, at: Option<BubbId>) -> ImportDocument<'_> {
        let sources = self.sources.iter();
        let sources = sources.map(|(format, path)| SourceFields { format, path: path.to_string_lossy() });
        let skipped = self.skipped.iter().map(|(reason, count)| SkippedFields {
            reason,
            count: *count,
            files: self.files.get(reason).map(Vec::as_slice),
        });
        ImportDocument::Report(ReportFields {
            sources: sources.collect(),
            read: ReadFields { conversations: self.conversations, messages: self.messages },
            made: self.imported,
            here: self.existing,
            held: self.withheld,
            left_out: self.left_out,
            held_until: self.held_back.iter().filter_map(|held| held.until).max(),
            skipped: skipped.collect(),
            at: at.map(IdText),
        })
    }

    /// Formats the time after which all withheld parts can be imported, even if nothing follows them.
    fn until(&self) -> String {
        match self.held_back.iter().filter_map(|held| held.until).max() {
            Some(until) => format!("; imported anyway after {}", time::day_and_hour(until, now())),
            None => String::new(),
        }
    }

    pub fn print(
        &self,
        store: Option<&Store>,
        dry: bool,
        date: Option<&str>,
        context: &mut Context<'_>,
    ) -> Result<()> {
        let columns = context.out.columns();
        let mut lines = WrappedLines { out: &mut *context.out, columns };
        let out = &mut lines;
        let mut formats: Vec<&str> = self.sources.iter().map(|(format, _)| format.as_str()).collect();
        formats.dedup();
        out.line(&format!(
            "read {} with {} ({})",
            plural(self.conversations, "conversation"),
            plural(self.messages, "message"),
            formats.join(", ")
        ));
        let would = if dry { "would make" } else { "made" };
        out.line(&format!("{would} {}; {} here already", plural(self.imported, "message"), self.existing));
        if self.withheld > 0 {
            out.line(&format!(
                "held back {}: not followed by anything yet{}",
                plural(self.withheld, "part"),
                self.until()
            ));
            for held in self.held_back.iter().take(NAMED) {
                let (letter, hidden) = (held.role.letter(), u8::from(held.hidden));
                out.line(&format!("  {letter}{hidden} {}", excerpt(&one_line(&held.text))));
            }
        }
        if self.older > 0 {
            out.line(&format!("left out {} older than --since", plural(self.older, "conversation")));
        }
        if self.left_out > 0 {
            let messages = plural(self.left_out, "message");
            out.line(&format!("left out {messages} that `lepo undo` undid, with what follows them"));
        }
        if self.brought_back > 0 {
            let (verb, messages) =
                (if dry { "would bring" } else { "brought" }, plural(self.brought_back, "message"));
            out.line(&format!("{verb} back {messages} that `lepo rm` removed here"));
        }
        for (reason, count) in &self.skipped {
            let files = self.files.get(reason).filter(|files| !self.are_only_source(files));
            let files = files.map(|files| name_list(files)).unwrap_or_default();
            out.line(&one_line(&format!("skipped {count}: {reason}{files}")));
        }
        // The notes on stderr must follow the list.
        out.out.flush();
        for remark in &self.remarks {
            print_status(&StatusLine::note(one_line(remark)));
        }
        if let Some(note) = self.typed_secrets.to_note() {
            print_status(&StatusLine::note(note));
        }
        if self.lost_files > 0 {
            let kept = if self.lost_files == 1 { "its name is kept" } else { "their names are kept" };
            print_status(&StatusLine::note(format!(
                "{} not in the source: {kept}",
                plural(self.lost_files, "file")
            )));
        }
        if self.undated > 0 {
            let times = without_time(date, self.undated);
            print_status(&StatusLine::note(format!(
                "{} without any time: {times}",
                plural(self.undated, "conversation")
            )));
        }
        if let (Some(at), Some(store), false) = (self.at, store, dry) {
            let forest = store.forest_for(&[ReadScope::Tip])?;
            let question = forest.find(at).and_then(|ix| forest.last_question(ix));
            let text = question.map(|ix| store.text(&forest.name(ix))).transpose()?.unwrap_or_default();
            out.line(&format!("@ is now {at}: {}", excerpt(&text)));
        }
        Ok(())
    }
}

struct WrappedLines<'o> {
    out: &'o mut Out,
    columns: Option<usize>,
}

impl WrappedLines<'_> {
    fn line(&mut self, text: &str) {
        match self.columns {
            Some(columns) => fold(text, columns).lines().for_each(|line| self.out.line(line)),
            None => self.out.line(text),
        }
    }
}

const NAMED: usize = 3;

/// Formats `: a, b, c and 4 others`.
fn name_list(files: &[String]) -> String {
    let first = files.iter().take(NAMED).cloned().collect::<Vec<_>>().join(", ");
    match files.len().saturating_sub(NAMED) {
        0 => format!(": {first}"),
        1 => format!(": {first} and 1 other"),
        more => format!(": {first} and {more} others"),
    }
}

/// Formats the note on conversations without any time.
fn without_time(date: Option<&str>, count: u64) -> String {
    match (date, count) {
        (Some(date), 1) => format!("it has the time of --date {date}"),
        (Some(date), _) => format!("they have the time of --date {date}"),
        (None, 1) => format!("it is dated {}; --date DATE gives another", time::day(NO_TIME)),
        (None, _) => format!("they are dated {}; --date DATE gives another", time::day(NO_TIME)),
    }
}

#[cfg(test)]
mod tests {
    use super::name_list;

    #[test]
    fn some_files_are_named_and_the_others_counted() {
        for (files, text) in [
            (&["a"][..], ": a"),
            (&["a", "b", "c"], ": a, b, c"),
            (&["a", "b", "c", "d"], ": a, b, c and 1 other"),
            (&["a", "b", "c", "d", "e"], ": a, b, c and 2 others"),
        ] {
            let files: Vec<String> = files.iter().map(|file| file.to_string()).collect();
            assert_eq!(name_list(&files), text);
        }
    }
}
