//! `lepo import`: imports conversations of other tools, with their forks.

mod database;
mod hook;
mod importer;
mod list;
mod log_watch;
mod moved;
mod report;
mod sources;
mod stop;
mod watch;
mod write;

use std::path::PathBuf;

use super::{Context, complete};
use crate::import::ToolDetail;
use hook::HookedTool;
use importer::{ImportOutcome, Importer};
use lepo_base::error::Result;
use lepo_import::{FORMATS, SourceFormat, SourceReader};
use stop::StopSignal;

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
    /// Import the sessions about DIR too, where this repository was before, now and each time
    #[arg(long, value_name = "DIR", conflicts_with = "all")]
    from: Option<PathBuf>,
    /// Import what tools write, as they write it, until stopped; of all tools, or of the named formats
    #[arg(long, conflicts_with_all = ["from", "dry_run", "strict", "again"])]
    watch: bool,
    /// Print the lines with which TOOL calls lepo at the end of each session
    #[arg(long, value_name = "TOOL", value_enum, exclusive = true)]
    hook: Option<HookedTool>,
    /// What such a hook runs: import the sessions of TOOL into the store found here, without output
    #[arg(long, value_name = "TOOL", value_enum, conflicts_with_all = ["from", "watch", "dry_run", "strict", "again", "json"])]
    on_end: Option<HookedTool>,
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
    if let Some(tool) = args.hook {
        return hook::print_hook(tool, context);
    }
    if let Some(tool) = args.on_end {
        return hook::run_on_end(tool, &args, context);
    }
    if args.watch {
        return watch::run_watch(&args, context);
    }
    if args.words.is_empty() && args.from.is_none() {
        return list::run(args.json, context);
    }
    let stop = StopSignal::listen()?;
    let importer = Importer::new(&args, &stop)?;
    let mut reading = SourceReader::default();
    let chosen = match &args.from {
        Some(from) => moved::choose_from(&args, from, context)?,
        None => sources::choose(&args.words, args.all, context, &mut reading)?,
    };
    let ImportOutcome { report, store, newest } = importer.run(chosen, reading, context)?;
    if let (Some(from), Some(store), false) = (&args.from, &store, args.dry_run) {
        moved::remember(&args, from, store)?;
    }
    match args.json {
        true => context.out.line(&report.json(newest).to_string()),
        false => report.print(store.as_ref(), args.dry_run, args.date.as_deref(), context)?,
    }
    // Timers import by a tool's name alone; for them it is not an error if nothing is new.
    let has_failed = args.strict || (!is_by_tool(&args.words) && report.is_empty());
    Ok(u8::from(report.skipped_any() && has_failed))
}

fn is_by_tool(words: &[PathBuf]) -> bool {
    matches!(words, [word] if !word.exists() && word.to_str().and_then(SourceFormat::parse).is_some())
}
