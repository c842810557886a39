//! `lepo import`: imports conversations of other tools, with their forks.

mod list;
mod report;
mod sources;
mod stop;
mod write;

use std::cell::OnceCell;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use super::{Context, complete};
use crate::import::{ImportRules, ToolDetail, VERSION, copy, finish, plan};
use crate::term::{ProgressMeter, StatusLine, print_status};
use lepo_base::error::{Error, Result};
use lepo_base::time::{self, DayEnd};
use lepo_import::{FORMATS, History, SourceFormat, SourceReader, is_below};
use lepo_secrets::Masker;
use lepo_store::bubb::BubbId;
use lepo_store::store::{ImportRecord, now};
use report::ImportReport;
use sources::SourceGroup;
use stop::StopSignal;
use write::{ImportWriter, SourceFacts};

const WORDS: &[(&str, &str)] = &{
    let mut words = [("", ""); FORMATS.len()];
    let mut at = 0;
    while at < FORMATS.len() {
        words[at] = (FORMATS[at].0, FORMATS[at].2);
        at += 1;
    }
    words
};
/// Import conversations from other tools
///
/// Without arguments, lists the histories found on this machine and writes nothing. With a format, imports the
/// sessions of that tool (of Claude Code, Codex, Gemini CLI, opencode and pi, only those about this repository). With
/// paths, imports those files and folders, whose format is recognised. Importing again adds only what is new. Forks,
/// reasoning and times are kept. Tool calls and results are cut to their first and last 2 kB, unless --tools says
/// otherwise.
///
/// Formats: claude-code, codex, chatgpt, claude-ai, gemini-cli, pi, messages, openwebui, librechat, llama-ui, lmstudio,
/// jan, opencode, lepo; with the program lepo-import-db also llm, opencode's database, and db for a database of llm,
/// opencode or Open WebUI. From Claude Code also history.jsonl: the prompts of sessions whose logs are gone.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  lepo import\n  lepo import claude-code\n  lepo import chatgpt export.zip\n  \
    lepo import -n export.zip\n  lepo import messages --date 2024-05-01 session.json\n  \
    lepo -s old import ~/Downloads/export.zip --json | jq .made"
)]
pub struct ImportArgs {
    /// A format, or files and folders, or a format and then files and folders
    #[arg(value_name = "FORMAT|PATH", add = complete::one_of(WORDS))]
    words: Vec<PathBuf>,
    /// Only count, without writing anything
    #[arg(short = 'n', long)]
    dry_run: bool,
    /// How much of tool calls and results to keep; remembered for each conversation
    #[arg(long, value_enum, value_name = "HOW")]
    tools: Option<ToolDetail>,
    /// Import only conversations whose last message is not older than DATE, a date or a span like 90d
    #[arg(long, value_name = "DATE")]
    since: Option<String>,
    /// The time of conversations that have none
    #[arg(long, value_name = "DATE")]
    date: Option<String>,
    /// Exit with 1 if anything is skipped
    #[arg(long)]
    strict: bool,
    /// Import sessions about other directories too
    #[arg(long)]
    all: bool,
    /// Create a branch for each title and label
    #[arg(long)]
    branches: bool,
    /// Import again, under new ids, what was imported with another --tools or by an older lepo
    #[arg(long)]
    again: bool,
    /// Print one JSON document
    #[arg(long)]
    pub json: bool,
}

pub fn run_import(args: ImportArgs, context: &mut Context<'_>) -> Result<u8> {
    if args.words.is_empty() {
        return list::run(args.json, context);
    }
    let moment = |name: &str, text: &Option<String>| match text {
        None => Ok(None),
        Some(text) => match time::parse(text, now(), DayEnd::First) {
            Some(moment) => Ok(Some(moment)),
            None if is_before_1970(text) => {
                Err(Error::usage(format!("--{name} {text:?}: times before 1970 are not supported")))
            }
            None => Err(Error::usage(format!("--{name} {text:?}: expected {}", time::FORMS))),
        },
    };
    let (since, date) = (moment("since", &args.since)?, moment("date", &args.date)?);
    let mut reading = SourceReader::default();
    let chosen = sources::choose(&args.words, args.all, context, &mut reading)?;
    let rules = ImportRules { tools: args.tools.unwrap_or_default(), date, now: now(), written: None };
    let (here, found) = (OnceCell::new(), context.find_store()?);
    let commands: &Context<'_> = context;
    let make = || match here.get() {
        Some(store) => Ok(store),
        None => commands.store_or_make(false).map(|store| here.get_or_init(|| store)),
    };
    match (args.dry_run, found) {
        (_, None) => {}
        (true, Some(store)) => _ = here.set(store),
        // Adds missing files to an incomplete store.
        (false, Some(_)) => _ = make()?,
    }
    let before = here.get().map(write::newest).transpose()?.flatten();
    let stop = StopSignal::listen()?;
    let mut writer = ImportWriter::new(here.get(), args.dry_run, &make, &stop)?;
    let asked = stop.clone();
    reading.stop = Some(Box::new(move || asked.check()));
    let brief = match args.tools {
        None => writer.is_brief(),
        Some(tools) => tools != ToolDetail::Full,
    };
    reading.finish = Some(finish(brief));
    let report = ImportReport::default();
    let mut import = Import {
        args: &args,
        rules,
        since,
        writer: &mut writer,
        stop: &stop,
        report,
        elsewhere: 0,
        is_own: false,
    };
    let done = import.all(chosen, &mut reading);
    let mut report = import.report;
    // Publishes the conversations read before a failure.
    writer.finish()?;
    let made = Some(writer.made).filter(|_| !args.dry_run);
    done.map_err(|error| stop::with_count(error, made))?;
    report.made = writer.made;
    report.here = writer.here;
    report.edited(&mut writer.edited);
    report.tally(reading);
    drop(writer);
    let store = here.get();
    let after = store.map(write::newest).transpose()?.flatten();
    report.at = after.filter(|after| before != Some(*after));
    match args.json {
        true => context.out.line(&report.json(after).to_string()),
        false => report.print(store, args.dry_run, args.date.as_deref(), context)?,
    }
    // Hooks and timers import by a tool's name alone; for them it is not an error if nothing is new.
    let has_failed = args.strict || (!is_by_tool(&args.words) && report.is_empty());
    Ok(u8::from(report.skipped_any() && has_failed))
}

fn is_by_tool(words: &[PathBuf]) -> bool {
    matches!(words, [word] if !word.exists() && word.to_str().and_then(SourceFormat::parse).is_some())
}

/// Reason for skipping a conversation whose bubbs would get other ids today.
const OLDER: &str = "conversation that an older lepo imported; --again imports it again";

struct Import<'a, 's> {
    args: &'a ImportArgs,
    rules: ImportRules,
    since: Option<u64>,
    writer: &'a mut ImportWriter<'s>,
    stop: &'a StopSignal,
    report: ImportReport,
    /// Conversations in databases about other directories.
    elsewhere: usize,
    /// The current sources are in the tool's own folder.
    is_own: bool,
}

impl Import<'_, '_> {
    /// Reads all sources, each format in its own order.
    fn all(&mut self, chosen: Vec<SourceGroup>, reading: &mut SourceReader) -> Result<()> {
        let total = chosen.iter().flat_map(|chosen| &chosen.paths).map(|path| size(path)).sum();
        let mut progress = ProgressMeter::new(true);
        let (only, kinds) = (chosen.iter().find_map(|chosen| chosen.about.first().cloned()), chosen.len());
        for SourceGroup { format, paths, about, is_own } in chosen {
            self.is_own = is_own;
            if format == SourceFormat::Database {
                for path in paths {
                    self.database(path, &about, reading)?;
                }
                continue;
            }
            let source = |path: &PathBuf| (format.as_str().to_string(), path.clone());
            self.report.sources.extend(paths.iter().map(source));
            if format == SourceFormat::Lepo {
                for path in paths {
                    self.store(&path, reading)?;
                }
                continue;
            }
            format.read(paths, reading, &mut |conversation, path, bytes| {
                progress.show("importing", bytes.min(total), total);
                self.one(format.as_str(), conversation, path)
            })?;
        }
        match only.filter(|_| kinds == 1 && self.report.conversations == 0 && self.elsewhere > 0) {
            Some(dir) => Err(sources::none_about(SourceFormat::OpenCode.as_str(), &dir, self.elsewhere)),
            None => Ok(()),
        }
    }

    /// Imports a database; its conversations determine the format.
    fn database(&mut self, path: PathBuf, about: &[PathBuf], reading: &mut SourceReader) -> Result<()> {
        let mut found = None;
        sources::database(&path, reading, &mut |format, conversation| {
            let dir = conversation.dir.as_deref();
            let is_meant = |dir: &str| about.iter().any(|about| is_below(dir, about));
            if !about.is_empty() && dir.is_none_or(|dir| !is_meant(dir)) {
                self.elsewhere += 1;
                return Ok(());
            }
            found.get_or_insert_with(|| format.to_string());
            self.one(format, conversation, &path)
        })?;
        self.report
            .sources
            .push((found.unwrap_or_else(|| SourceFormat::Database.as_str().to_string()), path));
        Ok(())
    }

    fn one(&mut self, format: &str, mut conversation: History, path: &Path) -> Result<()> {
        self.stop.check()?;
        let last = conversation.nodes.iter().filter_map(|node| node.time).max().or(conversation.start);
        if self.since.is_some_and(|since| last.unwrap_or(0) < since) {
            self.report.older += 1;
            return Ok(());
        }
        if conversation.copy && self.writer.knows_better(format, &conversation.id, path) {
            self.report.known += 1;
            self.report.skip_in(path, "conversation that was imported from another source", 1);
            return Ok(());
        }
        let known = self.known(format, &conversation);
        if known.as_ref().is_some_and(|known| known.version < VERSION) && !self.args.again {
            self.report.known += 1;
            self.report.skip_in(path, OLDER, 1);
            return Ok(());
        }
        let known = known.and_then(|known| ToolDetail::parse(&known.tools));
        self.report.conversations += 1;
        self.report.messages += conversation.messages;
        let is_unknown = conversation.is_unknown();
        let skipped = std::mem::take(&mut conversation.skipped);
        for (reason, count) in &skipped {
            self.report.skip_in(path, reason, *count);
        }
        let tools = match (self.args.tools, known) {
            (Some(asked), Some(known)) if asked != known && !self.args.again => {
                return Err(Error::usage(format!(
                    "{}: it was imported with --tools {}, and would get other ids with --tools {}",
                    path.display(),
                    known.as_str(),
                    asked.as_str()
                ))
                .hint("leave --tools out, or import all of it anew beside what is there with --again"));
            }
            (asked, known) => asked.or(known).unwrap_or_default(),
        };
        let about = SourceFacts {
            format,
            path,
            id: conversation.id.clone(),
            title: conversation.title.as_deref().map(masked_title),
            changed: conversation.changed(),
            tools,
            is_own: self.is_own,
        };
        let plan = plan(conversation, &ImportRules { tools, written: written(path), ..self.rules });
        self.report.held += plan.held;
        self.report.held_back.extend(plan.first_held.clone());
        self.report.lost_files += plan.lost_files;
        self.report.undated += u64::from(plan.undated && !plan.bubbs.is_empty());
        if plan.bubbs.is_empty() && plan.held == 0 {
            // If nothing in it was recognised, its parts were already counted, each for its own reason.
            if !is_unknown || skipped.is_empty() {
                self.report.skip_in(path, "conversation without a visible message", 1);
            }
        }
        self.writer.add(about, plan, self.args.branches)
    }

    /// Finds the previous import of a conversation. Without an id, a conversation is identified by its root,
    /// which does not depend on how much tool traffic is imported.
    fn known(&self, format: &str, conversation: &History) -> Option<ImportRecord> {
        if !conversation.id.is_empty() {
            return self.writer.known(format, &conversation.id);
        }
        if !self.writer.knows_another_way(format, self.args.tools.unwrap_or_default()) {
            return None;
        }
        let rules = ImportRules { tools: ToolDetail::None, ..self.rules };
        let roots = plan(conversation.clone(), &rules).bubbs.into_iter().map(|bubb| bubb.name);
        roots
            .filter(|name| name.prev.is_none())
            .find_map(|name| self.writer.known(format, &name.id.to_string()))
    }

    /// Imports another store, with its bubbs unchanged.
    fn store(&mut self, path: &Path, reading: &mut SourceReader) -> Result<()> {
        self.stop.check()?;
        let from = copy(path, &mut reading.tally)?;
        self.report.conversations += from.roots;
        self.report.messages += from.bubbs.len() as u64;
        self.leave_out(&from.waiting, "is pending in that store");
        let waiting = self.writer.add_store(&from, self.args.branches, &mut reading.tally)?;
        self.leave_out(&waiting, "would be pending without what followed it there");
        Ok(())
    }

    /// Reports requests of another store that were not copied, because they would be pending here.
    fn leave_out(&mut self, requests: &[BubbId], why: &str) {
        self.report.held += requests.len() as u64;
        for id in requests {
            print_status(&StatusLine::note(format!("the request {id} {why} and was not copied")));
        }
    }
}

/// Modification time of a file, in milliseconds since 1970.
fn written(path: &Path) -> Option<u64> {
    let time = std::fs::metadata(path).and_then(|meta| meta.modified()).ok()?;
    time.duration_since(UNIX_EPOCH).ok().map(|time| time.as_millis() as u64)
}

fn size(path: &Path) -> u64 {
    std::fs::metadata(path).map_or(0, |meta| if meta.is_file() { meta.len() } else { 0 })
}

/// Whether the text is a valid date, but earlier than any time that a message can have.
fn is_before_1970(text: &str) -> bool {
    let year = text.trim().split('-').next().and_then(|year| year.parse::<u32>().ok());
    let with = |year: &str| text.trim().split_once('-').map(|(_, rest)| format!("{year}-{rest}"));
    year.is_some_and(|year| year < 1970)
        && with("2001").is_some_and(|later| time::parse(&later, now(), DayEnd::First).is_some())
}

/// Masks a title: another tool derives it from the conversation.
fn masked_title(title: &str) -> String {
    Masker::for_imports().mask(title).text.into_owned()
}
