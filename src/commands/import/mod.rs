//! `lepo import`: imports conversations of other tools, with their forks.

mod args;
mod database;
pub mod document;
mod former_dirs;
mod from_option;
mod hook;
mod hooked_tool;
mod importer;
mod list;
mod log_watch;
mod report;
mod sources;
mod stop;
mod watch;
mod write;

use std::path::PathBuf;

use super::Context;
pub use args::ImportArgs;
use importer::{ImportOutcome, Importer};
use lepo_base::error::Result;
use lepo_import::{SourceFormat, SourceReader};
use stop::StopSignal;

pub fn run_import(args: ImportArgs, context: &mut Context<'_>) -> Result<u8> {
    if let Some(tool) = args.hook {
        return hooked_tool::print_hook(tool, context);
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
        Some(from) => from_option::choose_from(&args, from, context)?,
        None => sources::choose(&args.words, args.all, context, &mut reading)?,
    };
    let ImportOutcome { report, store, newest } = importer.run(chosen, reading, context)?;
    if let (Some(from), Some(store), false) = (&args.from, &store, args.dry_run) {
        from_option::remember(&args, from, store)?;
    }
    match args.json {
        true => context.out.document(&report.document(newest)),
        false => report.print(store.as_ref(), args.dry_run, args.date.as_deref(), context)?,
    }
    // Timers import by a tool's name alone; for them it is not an error if nothing is new.
    let has_failed = args.strict || (!is_by_tool(&args.words) && report.is_empty());
    Ok(u8::from(report.skipped_any() && has_failed))
}

fn is_by_tool(words: &[PathBuf]) -> bool {
    matches!(words, [word] if !word.exists() && word.to_str().and_then(SourceFormat::parse).is_some())
}
