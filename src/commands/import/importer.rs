//! Imports chosen sources into the store: by hand, by a hook or by a watch.

use std::cell::OnceCell;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use super::args::ImportArgs;
use super::database::read_database;
use super::former_dirs::{LoggedDir, none_about};
use super::report::{ImportReport, SessionNews};
use super::sources::{self, SourceGroup};
use super::stop::{self, StopSignal};
use super::write::{self, ImportWriter, SourceFacts, count_typed};
use crate::commands::Context;
use crate::commands::secret_finder::reports_apparent_secrets;
use crate::import::{ImportRules, PlannedBubb, ToolDetail, VERSION, copy, finish, plan};
use crate::term::{ProgressMeter, StatusLine, excerpt, print_status};
use lepo_base::error::{Error, Result};
use lepo_base::role::Role;
use lepo_base::time::{self, DayEnd};
use lepo_import::{History, SourceFormat, SourceReader, is_below};
use lepo_secrets::{Masker, SecretFinder};
use lepo_store::bubb::BubbId;
use lepo_store::store::{ImportRecord, Store, now};

/// Reason for skipping a conversation whose bubbs would get other ids today.
const OLDER: &str = "conversation that an older lepo imported; --again imports it again";

/// Reason for skipping a conversation of which a better source was imported.
const COPY: &str = "conversation that was imported from another source";

/// Reason for skipping a conversation that the proxy recorded.
const PROXIED: &str = "conversation that `do --proxy` has kept; --again imports it, too";

/// The rules of an import by the user, a hook or a watch. Each run imports other sources by the same rules.
pub struct Importer<'a> {
    args: &'a ImportArgs,
    stop: &'a StopSignal,
    since: Option<u64>,
    date: Option<u64>,
    /// A hook or a watch imports: nobody reads the report, and removed messages are omitted.
    is_automatic: bool,
    /// The log of a session that has ended, so that its last message is complete.
    ended: Option<PathBuf>,
}

pub struct ImportOutcome {
    pub report: ImportReport,
    /// `None` if nothing was imported and no store exists.
    pub store: Option<Store>,
    /// The newest bubb.
    pub newest: Option<BubbId>,
}

impl<'a> Importer<'a> {
    /// Creates an import by hand.
    pub fn new(args: &'a ImportArgs, stop: &'a StopSignal) -> Result<Importer<'a>> {
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
        Ok(Importer { args, stop, since, date, is_automatic: false, ended: None })
    }

    /// Makes it an import by a hook or a watch.
    pub fn automatic(self, ended: Option<PathBuf>) -> Importer<'a> {
        Importer { is_automatic: true, ended, ..self }
    }

    /// Imports sources into the store found here, or into a new one if there is something to import.
    pub fn run(
        &self,
        chosen: Vec<SourceGroup>,
        mut reading: SourceReader,
        context: &Context<'_>,
    ) -> Result<ImportOutcome> {
        let args = self.args;
        let rules =
            ImportRules { tools: args.tools.unwrap_or_default(), date: self.date, now: now(), written: None };
        let (here, existing) = (OnceCell::new(), context.find_store()?);
        let make = || match here.get() {
            Some(store) => Ok(store),
            None => context.store_or_make(self.is_automatic).map(|store| here.get_or_init(|| store)),
        };
        match (args.dry_run, existing) {
            (_, None) => {}
            (true, Some(store)) => _ = here.set(store),
            // Adds missing files to an incomplete store.
            (false, Some(_)) => _ = make()?,
        }
        let before = here.get().map(write::newest).transpose()?.flatten();
        let mut writer = ImportWriter::new(here.get(), args.dry_run, &make, self.stop, self.is_automatic)?;
        let stop = self.stop.clone();
        reading.stop = Some(Box::new(move || stop.check()));
        let brief = match args.tools {
            None => writer.is_brief(),
            Some(tools) => tools != ToolDetail::Full,
        };
        reading.finish = Some(finish(brief));
        let mut import = SourceImport {
            importer: self,
            rules,
            writer: &mut writer,
            report: ImportReport::default(),
            elsewhere: Vec::new(),
            is_own: false,
            own_dirs: sources::directories(context)?,
            store: &here,
            responses: OnceCell::new(),
            finder: reports_apparent_secrets().then(SecretFinder::shapes_only),
        };
        let done = import.import_all(chosen, &mut reading);
        let mut report = import.report;
        // Publishes the conversations read before a failure.
        writer.finish()?;
        let imported = Some(writer.imported).filter(|_| !args.dry_run);
        done.map_err(|error| stop::with_count(error, imported))?;
        report.imported = writer.imported;
        report.existing = writer.existing;
        (report.left_out, report.brought_back) = (writer.omissions.left_out(), writer.omissions.brought_back);
        report.edited(&mut writer.edited);
        report.tally(reading);
        drop(writer);
        let newest = here.get().map(write::newest).transpose()?.flatten();
        report.at = newest.filter(|newest| before != Some(*newest));
        Ok(ImportOutcome { report, newest, store: here.into_inner() })
    }
}

/// A run of an import.
struct SourceImport<'a, 's> {
    importer: &'a Importer<'a>,
    rules: ImportRules,
    writer: &'a mut ImportWriter<'s>,
    report: ImportReport,
    /// Skipped conversations of databases, because they are about other directories.
    elsewhere: Vec<LoggedDir>,
    /// The current sources are in the tool's own folder.
    is_own: bool,
    /// The directories of the store.
    own_dirs: Vec<PathBuf>,
    /// The store, once it exists.
    store: &'a OnceCell<Store>,
    /// The providers' ids of answers recorded by the proxy, read when a source has such ids.
    responses: OnceCell<HashSet<String>>,
    /// Finds secrets in the user's messages; `None` if the user wants no report.
    finder: Option<SecretFinder>,
}

impl SourceImport<'_, '_> {
    /// Whether the store has an answer with this provider's id by the proxy.
    fn is_proxied(&self, response: &str) -> bool {
        let read = || self.store.get().map(|store| store.journal().responses()).unwrap_or_default();
        self.responses.get_or_init(read).contains(response)
    }

    /// Imports all sources. If nothing was imported because all conversations are about other directories, that is an
    /// error which names them.
    fn import_all(&mut self, chosen: Vec<SourceGroup>, reading: &mut SourceReader) -> Result<()> {
        let total = chosen.iter().flat_map(|chosen| &chosen.paths).map(|path| size(path)).sum();
        let mut progress = (!self.importer.is_automatic).then(|| ProgressMeter::new(true));
        let (only, kinds) = (chosen.iter().find_map(|chosen| chosen.about.first().cloned()), chosen.len());
        for SourceGroup { format, paths, about, is_own } in chosen {
            self.is_own = is_own;
            if format == SourceFormat::Database {
                for path in paths {
                    self.import_database(path, &about, reading)?;
                }
                continue;
            }
            let source = |path: &PathBuf| (format.as_str().to_string(), path.clone());
            self.report.sources.extend(paths.iter().map(source));
            if format == SourceFormat::Lepo {
                for path in paths {
                    self.import_store(&path, reading)?;
                }
                continue;
            }
            format.read(paths, reading, &mut |conversation, path, bytes| {
                if let Some(progress) = &mut progress {
                    progress.show("importing", bytes.min(total), total);
                }
                self.import_conversation(format.as_str(), conversation, path)
            })?;
        }
        let is_alone = !self.importer.is_automatic
            && kinds == 1
            && self.report.conversations == 0
            && !self.elsewhere.is_empty();
        match only.filter(|_| is_alone) {
            Some(dir) => Err(none_about(SourceFormat::OpenCode.as_str(), &dir, &self.elsewhere)),
            None => Ok(()),
        }
    }

    /// Imports the conversations of a database about `about`, or all if that is empty. The database determines the format.
    fn import_database(
        &mut self,
        path: PathBuf,
        about: &[PathBuf],
        reading: &mut SourceReader,
    ) -> Result<()> {
        let mut found = None;
        read_database(&path, reading, &mut |format, conversation| {
            let dir = conversation.dir.as_deref();
            let is_about = |dir: &str| about.iter().any(|about| is_below(dir, about));
            if !about.is_empty() && dir.is_none_or(|dir| !is_about(dir)) {
                self.elsewhere.push(LoggedDir { dir: conversation.dir, log: None });
                return Ok(());
            }
            found.get_or_insert_with(|| format.to_string());
            self.import_conversation(format, conversation, &path)
        })?;
        self.report
            .sources
            .push((found.unwrap_or_else(|| SourceFormat::Database.as_str().to_string()), path));
        Ok(())
    }

    /// Imports a conversation, unless a rule skips it; the report counts it and the reason.
    fn import_conversation(&mut self, format: &str, mut conversation: History, path: &Path) -> Result<()> {
        self.importer.stop.check()?;
        if self.importer.ended.as_deref() == Some(path) {
            conversation.grows = false;
        }
        let is_asked_for = self.importer.args.from.is_some() || self.importer.args.all || !self.is_own;
        let dir = conversation.dir.as_deref().filter(|_| !is_asked_for);
        self.writer.omissions.is_remembered =
            dir.is_some_and(|dir| !self.own_dirs.iter().any(|own| is_below(dir, own)));
        if self.is_skipped(format, &conversation, path) {
            return Ok(());
        }
        let previous = self.find_previous(format, &conversation);
        if previous.as_ref().is_some_and(|previous| previous.version < VERSION) && !self.importer.args.again {
            self.report.known += 1;
            self.report.skip_in(path, OLDER, 1);
            return Ok(());
        }
        self.report.conversations += 1;
        self.report.messages += conversation.messages;
        let is_unknown = conversation.is_unknown();
        let skipped = std::mem::take(&mut conversation.skipped);
        for (reason, count) in &skipped {
            self.report.skip_in(path, reason, *count);
        }
        let tools = self.tool_detail(previous.as_ref(), path)?;
        let facts = SourceFacts {
            format,
            path,
            id: conversation.id.clone(),
            title: conversation.title.as_deref().map(masked_title),
            changed: conversation.changed(),
            tools,
            is_own: self.is_own,
        };
        let plan = plan(conversation, &ImportRules { tools, written: modified(path), ..self.rules });
        self.report.withheld += plan.held_back;
        self.report.held_back.extend(plan.first_held.clone());
        self.report.lost_files += plan.lost_files;
        self.report.undated += u64::from(plan.undated && !plan.bubbs.is_empty());
        if plan.bubbs.is_empty() && plan.held_back == 0 {
            // If nothing in it was recognised, its parts were already counted, each for its own reason.
            if !is_unknown || skipped.is_empty() {
                self.report.skip_in(path, "conversation without a visible message", 1);
            }
        }
        let is_question = |bubb: &&PlannedBubb| bubb.name.role == Role::User && !bubb.name.hidden;
        let question = plan.bubbs.iter().find(is_question).map(|bubb| excerpt(&bubb.text));
        if let Some(finder) = &self.finder {
            count_typed(self.writer, &plan, finder, &mut self.report.typed_secrets)?;
        }
        let (id, before) = (facts.id.clone(), self.writer.imported);
        self.writer.add(facts, plan, self.importer.args.branches)?;
        let imported = self.writer.imported - before;
        if self.importer.is_automatic && imported > 0 {
            let (format, source) = (format.to_string(), path.to_path_buf());
            self.report.news.push(SessionNews { format, source, id, imported, question });
        }
        Ok(())
    }

    /// Whether a conversation is too old, imported from a better source, or recorded by the proxy; the report counts it.
    fn is_skipped(&mut self, format: &str, conversation: &History, path: &Path) -> bool {
        let last = conversation.nodes.iter().filter_map(|node| node.time).max().or(conversation.start);
        if self.importer.since.is_some_and(|since| last.unwrap_or(0) < since) {
            self.report.older += 1;
            return true;
        }
        let reason = if conversation.copy && self.writer.knows_better(format, &conversation.id, path) {
            COPY
        } else if !self.importer.args.again && conversation.responses.iter().any(|id| self.is_proxied(id)) {
            PROXIED
        } else {
            return false;
        };
        self.report.known += 1;
        self.report.skip_in(path, reason, 1);
        true
    }

    /// Returns how much tool traffic to import: as requested, or else as in the previous import. Another amount would change
    /// the ids of the bubbs.
    fn tool_detail(&self, previous: Option<&ImportRecord>, path: &Path) -> Result<ToolDetail> {
        let previous = previous.and_then(|previous| ToolDetail::parse(&previous.tools));
        match (self.importer.args.tools, previous) {
            (Some(requested), Some(previous)) if requested != previous && !self.importer.args.again => {
                Err(Error::usage(format!(
                    "{}: it was imported with --tools {}, and would get other ids with --tools {}",
                    path.display(),
                    previous.as_str(),
                    requested.as_str()
                ))
                .hint("leave --tools out, or import all of it once more, next to what exists, with --again"))
            }
            (requested, previous) => Ok(requested.or(previous).unwrap_or_default()),
        }
    }

    /// Finds the previous import of a conversation. Without an id, a conversation is identified by its root,
    /// which does not depend on how much tool traffic is imported.
    fn find_previous(&self, format: &str, conversation: &History) -> Option<ImportRecord> {
        if !conversation.id.is_empty() {
            return self.writer.imported_record(format, &conversation.id);
        }
        if !self.writer.knows_another_way(format, self.importer.args.tools.unwrap_or_default()) {
            return None;
        }
        let rules = ImportRules { tools: ToolDetail::None, ..self.rules };
        let roots = plan(conversation.clone(), &rules).bubbs.into_iter().map(|bubb| bubb.name);
        roots
            .filter(|name| name.prev.is_none())
            .find_map(|name| self.writer.imported_record(format, &name.id.to_string()))
    }

    /// Imports another store, with its bubbs unchanged.
    fn import_store(&mut self, path: &Path, reading: &mut SourceReader) -> Result<()> {
        self.importer.stop.check()?;
        let from = copy(path, &mut reading.tally)?;
        self.report.conversations += from.roots;
        self.report.messages += from.bubbs.len() as u64;
        self.report_withheld(&from.waiting, "is pending in that store");
        let waiting = self.writer.add_store(&from, self.importer.args.branches, &mut reading.tally)?;
        self.report_withheld(&waiting, "would be pending without what followed it there");
        Ok(())
    }

    /// Reports requests of another store that were not copied, because they would be pending here.
    fn report_withheld(&mut self, requests: &[BubbId], why: &str) {
        self.report.withheld += requests.len() as u64;
        for id in requests {
            print_status(&StatusLine::note(format!("the request {id} {why} and was not copied")));
        }
    }
}

/// Returns the modification time of a file, in milliseconds since 1970.
fn modified(path: &Path) -> Option<u64> {
    let time = std::fs::metadata(path).and_then(|meta| meta.modified()).ok()?;
    time.duration_since(UNIX_EPOCH).ok().map(|time| time.as_millis() as u64)
}

fn size(path: &Path) -> u64 {
    std::fs::metadata(path).map_or(0, |meta| if meta.is_file() { meta.len() } else { 0 })
}

/// Masks a title, because another tool may have derived it from the conversation.
fn masked_title(title: &str) -> String {
    Masker::for_imports().mask(title).text.into_owned()
}

/// Whether the text is a valid date, but earlier than any time that a message can have.
fn is_before_1970(text: &str) -> bool {
    let year = text.trim().split('-').next().and_then(|year| year.parse::<u32>().ok());
    let with = |year: &str| text.trim().split_once('-').map(|(_, rest)| format!("{year}-{rest}"));
    year.is_some_and(|year| year < 1970)
        && with("2001").is_some_and(|later| time::parse(&later, now(), DayEnd::First).is_some())
}
