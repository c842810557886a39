//! `lepo import --watch`: imports what tools write, as they write it.

use std::collections::{BTreeMap, HashSet};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use super::args::ImportArgs;
use super::document::{ImportDocument, NewsFields};
use super::importer::{ImportOutcome, Importer};
use super::log_watch::{ChangedLogs, LogWatch};
use super::report::{ImportReport, SessionNews};
use super::sources::{self, SourceGroup};
use super::stop::StopSignal;
use crate::commands::Context;
use crate::term::{StatusLine, one_line, print_status};
use lepo_base::error::{Error, ExitKind, Result};
use lepo_import::{SourceFormat, SourceReader};
use lepo_store::store::now;

/// Imports changed logs until a signal arrives or the store is deleted.
pub fn run_watch(args: &ImportArgs, context: &mut Context<'_>) -> Result<u8> {
    let formats = formats_of(args)?;
    let stop = StopSignal::listen()?;
    let store = context.store_or_make(false)?.path();
    let mut folders = sources::folders_on_this_machine();
    folders.retain(|folder| formats.is_empty() || formats.contains(&folder.format));
    let (mut watch, mut changed) = LogWatch::start(folders, &stop)?;
    let mut printer = NewsPrinter { is_json: args.json, ..NewsPrinter::default() };
    let importer = Importer::new(args, &stop)?.automatic(None);
    // The logs whose last message is withheld, and the time from which it counts as complete.
    let mut withheld: BTreeMap<(SourceFormat, PathBuf), u64> = BTreeMap::new();
    loop {
        let start = Instant::now();
        import_changed(&importer, changed, (args, &mut withheld), &mut printer, context)?;
        stop.check()?;
        if !store.is_dir() {
            return Err(Error::store(format!("{} is gone", store.display())));
        }
        // Rests as long as the import took, so that a log that grows all the time uses at most half a processor.
        let changed_since = watch.wait_at_least(start.elapsed())?;
        stop.check()?;
        let until_complete =
            withheld.values().min().map(|until| Duration::from_millis(until.saturating_sub(now())));
        changed = if changed_since.is_empty() { watch.wait(until_complete)? } else { changed_since };
        stop.check()?;
        let now = now();
        changed.extend(withheld.iter().filter(|(_, until)| **until <= now).map(|(log, _)| log.clone()));
    }
}

/// Returns the formats that the user named; empty for all formats that record directories.
fn formats_of(args: &ImportArgs) -> Result<Vec<SourceFormat>> {
    let parse = |word: &PathBuf| {
        let format = word.to_str().and_then(SourceFormat::parse);
        format.filter(|format| format.knows_directories()).ok_or_else(|| {
            Error::usage(format!("{} cannot be watched", word.display()))
                .hint("--watch takes claude-code, codex, gemini-cli, opencode and pi")
        })
    };
    args.words.iter().map(parse).collect()
}

/// Imports the changed logs, each format separately, so that an unreadable log does not stop the others.
fn import_changed(
    importer: &Importer<'_>,
    changed: ChangedLogs,
    (args, withheld): (&ImportArgs, &mut BTreeMap<(SourceFormat, PathBuf), u64>),
    printer: &mut NewsPrinter,
    context: &mut Context<'_>,
) -> Result<()> {
    let mut groups: BTreeMap<(SourceFormat, bool), Vec<PathBuf>> = BTreeMap::new();
    for (format, path) in changed {
        withheld.remove(&(format, path.clone()));
        let is_database = path.extension().is_some_and(|end| end == "db");
        groups.entry((format, is_database)).or_default().push(path);
    }
    for ((format, is_database), paths) in groups {
        let source_format = if is_database { SourceFormat::Database } else { format };
        let mut chosen = vec![SourceGroup { format: source_format, paths, about: Vec::new(), is_own: true }];
        if !args.all {
            let mut dirs = sources::directories(context)?;
            dirs.extend(sources::remembered_dirs(format, context)?);
            chosen = sources::about(chosen, &dirs);
        }
        if chosen.is_empty() {
            continue;
        }
        match importer.run(chosen, SourceReader::default(), context) {
            Ok(ImportOutcome { report, .. }) => {
                withheld.extend(withheld_logs(format, &report));
                printer.print(&report, context);
            }
            Err(error) if matches!(error.kind, ExitKind::Signal(_) | ExitKind::Store) => return Err(error),
            // A database may have no conversation about this repository.
            Err(error) if error.kind == ExitKind::Nothing => {}
            Err(error) => printer.warn(&error),
        }
    }
    Ok(())
}

/// Returns the logs whose last message is withheld, with the time from which it counts as complete.
fn withheld_logs(format: SourceFormat, report: &ImportReport) -> Vec<((SourceFormat, PathBuf), u64)> {
    let until = report.held_back.iter().filter_map(|part| part.until).max();
    let logs = report.sources.iter().map(|(_, path)| (format, path.clone()));
    until.map(|until| logs.map(|log| (log, until)).collect()).unwrap_or_default()
}

/// Prints a line for each session from which something was imported.
#[derive(Default)]
struct NewsPrinter {
    is_json: bool,
    /// Sessions that have a line, by format, and by path and id.
    printed: HashSet<(String, PathBuf)>,
    warned: HashSet<String>,
}

impl NewsPrinter {
    fn print(&mut self, report: &ImportReport, context: &mut Context<'_>) {
        for SessionNews { format, source, id, imported, question } in &report.news {
            if !self.printed.insert((format.clone(), source.join(id))) {
                continue;
            }
            let question = question.as_deref().unwrap_or_default();
            if self.is_json {
                let (path, made) = (source.to_string_lossy(), *imported);
                let news = NewsFields { format, path, id, made, excerpt: question };
                context.out.document(&ImportDocument::News(news));
            } else {
                context.out.line(&one_line(&format!("{format} {id} {question}")));
            }
        }
        context.out.flush();
    }

    /// Prints an error once: the same log is read again and again.
    fn warn(&mut self, error: &Error) {
        let text = error.chain();
        if self.warned.insert(text.clone()) {
            print_status(&StatusLine::warning(one_line(&text)));
        }
    }
}
