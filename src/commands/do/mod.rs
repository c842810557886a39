//! `lepo do`: a turn with a model. The only command that talks to anybody.

mod converse;
mod decide;
mod document;
mod input;
mod log;
mod setup;

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::PathBuf;
use std::sync::Arc;

use super::{Context, resolve, show, warn_incomplete};
use crate::bubb::BubbId;
use crate::config::{ToolMode, list_words, read_word};
use crate::conv::{Addressee, Forest};
use crate::error::{Error, Result};
use crate::repl::View;
use crate::store::Store;
use crate::talk::{Ask, Decision, Interrupt, Report, Start, Wish, start};
use crate::term::say;
use setup::Setup;

/// Ask a model and keep the conversation
///
/// The question is PROMPT, then --file, then stdin if it is not a terminal, whichever are there.
/// It follows the newest tail unless told otherwise, and so does its answer:
///
///     s1 ← u0 ← a0              lepo do QUESTION
///     s1 ← u0 ← a0 ← u0 ← a0    again: it goes on where it was
///     s1 ← u0 ← a0              lepo do --retry: a second answer beside the first
///            ↖ a0
///     s1 ← u0 ← a0 ← u0 ← a0    lepo do --tail ID QUESTION: on from an earlier bubb
///                ↖ u0 ← a0
///
/// With nothing to ask and a terminal on stdin it is a conversation, line by line.
#[derive(Debug, clap::Args)]
#[command(after_help = document::AFTER)]
pub struct Args {
    /// The question
    #[arg(value_name = "PROMPT")]
    prompt: Vec<String>,
    /// Start a new conversation
    #[arg(short, long, conflicts_with_all = ["tail", "retry"])]
    new: bool,
    /// Start from this bubb
    #[arg(short, long, value_name = "ADDR")]
    tail: Option<String>,
    /// Answer the last visible question again
    #[arg(short, long, conflicts_with_all = ["prompt", "file"])]
    retry: bool,
    /// Print the conversation so far first
    #[arg(short = 'p', long)]
    show_past: bool,
    /// Show hidden bubbs too
    #[arg(short = 'a', long)]
    show_all: bool,
    /// Add this file's text to the question
    #[arg(short, long, value_name = "FILE")]
    file: Option<PathBuf>,
    /// Add a file to the question as context; repeatable
    #[arg(long, value_name = "FILE", conflicts_with = "retry")]
    context: Vec<PathBuf>,
    /// Leave stdin alone
    #[arg(long)]
    no_stdin: bool,
    /// Run this first and give its output to the model; repeatable
    #[arg(long, value_name = "COMMAND")]
    run: Vec<String>,
    /// Which model answers: a configured name, or PROVIDER:MODEL
    #[arg(short, long, value_name = "NAME")]
    model: Option<String>,
    /// Consent for tool requests this time: manual, auto or off
    #[arg(long, value_name = "MODE", value_parser = tool_mode)]
    tools: Option<ToolMode>,
    /// Carry out this pending request and go on with its turn
    #[arg(long, value_name = "ID", conflicts_with_all = ["prompt", "file", "context", "run", "new", "tail", "retry", "deny"])]
    approve: Option<String>,
    /// Refuse this pending request and go on with its turn
    #[arg(long, value_name = "ID", conflicts_with_all = ["prompt", "file", "context", "run", "new", "tail", "retry"])]
    deny: Option<String>,
    /// Use this configuration instead of the user's
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Print one JSON document about the turn
    #[arg(long)]
    pub json: bool,
    /// Write the result to a file as well
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Print the answer and nothing else
    #[arg(short, long)]
    quiet: bool,
}

fn tool_mode(text: &str) -> std::result::Result<ToolMode, String> {
    const MODES: &[ToolMode] = ToolMode::ALL;
    read_word(text, MODES).ok_or_else(|| list_words(MODES))
}

/// Takes the turn, or begins the REPL.
pub fn run(args: Args, context: &mut Context<'_>) -> Result<u8> {
    // A child could read lepo's keys from its environment otherwise. Root can all the same.
    let _ = rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable);
    let json = args.json;
    match take(args, context) {
        Ok(code) => Ok(code),
        Err(error) => {
            if json && context.out.is_unused() {
                let report = Report { error: Some(error), ..Report::default() };
                context.out.line(&document::document(None, &report).to_string());
                return Err(report.error.unwrap_or_else(|| Error::usage("failed")));
            }
            Err(error)
        }
    }
}

fn take(args: Args, context: &mut Context<'_>) -> Result<u8> {
    let verdict = decide::verdict(&args)?;
    let asks_nothing = args.retry || verdict.is_some();
    let question = if asks_nothing { None } else { input::question(&args)? };
    if question.is_none() && !asks_nothing {
        return converse::converse(&args, context);
    }
    let setup = Setup::new(&args, context)?;
    let mut output = args.output.as_ref().map(open_output).transpose()?;
    let store = Arc::new(if verdict.is_some() { context.store()? } else { context.store_or_make()? });
    let _claim = verdict.map(|(id, _)| decide::claim(&store, id)).transpose()?;
    let forest = store.forest()?;
    let decision = verdict.map(|(id, verdict)| Decision::on(&store, &forest, id, verdict)).transpose()?;
    let tail = find_tail(&args, &store, &forest)?;
    let wish = Wish { new: args.new, tail, retry: args.retry };
    let begin = match &decision {
        Some(decision) => Start::Decided(decision.name.id),
        None => start(&store, &forest, wish)?,
    };
    if args.show_past && !args.json {
        show_past(&args, context, &store, &forest, begin)?;
    }

    let runtime = setup::runtime()?;
    let report = runtime.block_on(async {
        let interrupt = Interrupt::listen()?;
        let mut view = View::new(context.out, context.paint, args.json, args.quiet, args.show_all);
        let ask = Ask { decision, ..Ask::new(begin, question, &args.run) };
        let taken = setup.turn(&store, &forest, &interrupt, &mut view, ask).await;
        view.end();
        taken
    })?;
    // What still runs (a lookup that was given up) is not waited for.
    runtime.shutdown_background();

    if let (Some(tail), Some(answer), Some(branch)) = (tail, &report.answer, &args.tail)
        && tail.by_branch
    {
        move_branch(&store, branch, forest.name(tail.ix).id, answer.name.id)?;
    }
    let document = (args.json).then(|| document::document(Some(&store), &report));
    if let Some(document) = &document {
        context.out.line(&document.to_string());
    }
    if let Some(file) = &mut output {
        write_output(file, &store, &report, document)?;
    }
    match report.error {
        Some(error) => Err(error),
        None => Ok(0),
    }
}

fn find_tail(args: &Args, store: &Store, forest: &Forest) -> Result<Option<Addressee>> {
    args.tail.as_deref().map(|address| resolve(store, forest, address)).transpose()
}

/// Moves the branch a turn started from to its answer. False, and said, if it has moved meanwhile.
fn move_branch(store: &Store, name: &str, from: BubbId, to: BubbId) -> Result<bool> {
    let moved = store.move_branch(name, from, to)?;
    if !moved {
        say(&format!("note: branch {name} has moved meanwhile and was left where it is"));
    }
    Ok(moved)
}

fn show_past(
    args: &Args,
    context: &mut Context<'_>,
    store: &Store,
    forest: &Forest,
    begin: Start,
) -> Result<()> {
    let (Start::Under(id) | Start::Again(id) | Start::Decided(id)) = begin else { return Ok(()) };
    let Some(ix) = forest.find(id) else { return Ok(()) };
    let conv = forest.conv(ix);
    warn_incomplete(&conv);
    for ix in conv.path {
        let name = forest.name(ix);
        if args.show_all || !name.hidden {
            show::bubb(store, &name, context.out, context.paint)?;
        }
    }
    context.out.flush();
    Ok(())
}

/// Opened before anything is asked, so that an answer is not paid for and then lost.
fn open_output(path: &PathBuf) -> Result<File> {
    File::options()
        .write(true)
        .create(true)
        .truncate(false)
        .open(path)
        .map_err(|error| Error::usage(format!("cannot write --output {}", path.display())).because(error))
}

fn write_output(
    file: &mut File,
    store: &Store,
    report: &Report,
    document: Option<serde_json::Value>,
) -> Result<()> {
    let written = match (document, report.answer) {
        (Some(document), _) => empty(file).and_then(|()| writeln!(file, "{document}")),
        (None, Some(answer)) => {
            let from = store.open(&answer.name)?;
            empty(file).and_then(|()| copy_lines(from, file))
        }
        (None, None) => Ok(()),
    };
    written.map_err(|error| Error::store("cannot write the --output file").because(error))
}

/// What stood there goes only now that something takes its place; a pipe has nothing to go.
fn empty(file: &File) -> io::Result<()> {
    if file.metadata()?.is_file() { file.set_len(0) } else { Ok(()) }
}

/// An answer as on stdout: a newline at its end, and no second one.
fn copy_lines(mut from: File, to: &mut File) -> io::Result<()> {
    io::copy(&mut from, to)?;
    from.seek(SeekFrom::End(-1))?;
    let mut last = [0];
    from.read_exact(&mut last)?;
    if last == *b"\n" { Ok(()) } else { writeln!(to) }
}
