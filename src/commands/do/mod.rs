//! `lepo do`: a turn with a model. The only command that talks to anybody.

mod converse;
mod decide;
mod document;
mod events;
mod input;
mod log;
mod many;
mod notes;
mod output;
mod past;
mod session;
mod slash;
mod tools;

use std::path::PathBuf;
use std::sync::Arc;

use super::{Context, complete, resolve};
use crate::bubb::BubbId;
use crate::config::{Flags, ToolMode, list_words, read_word};
use crate::conv::{Addressee, Forest};
use crate::error::{Error, Result};
use crate::repl::{Shown, State, Step, View};
use crate::store::Store;
use crate::term::say;
use crate::turn::{Ask, Decision, Interrupt, Report, Start, Verdict, Wish, start};
use events::Events;
use output::{open_output, write_output};
use session::Session;

/// What `--tools` can be.
const TOOL_MODES: &[(&str, &str)] =
    &[("manual", "ask before each"), ("auto", "run them unasked"), ("off", "no tools")];

/// Ask a model and keep the conversation
///
/// The question is PROMPT, then --file, then stdin if it is not a terminal, whichever are there.
/// It follows the newest tail unless told otherwise, and so does its answer:
///
///     s1 ← u0 ← a0              lepo do QUESTION
///     s1 ← u0 ← a0 ← u0 ← a0    again: it goes on where it was
///     s1 ← u0 ← a0              lepo do --retry: a second answer
///            ↖ a0
///     s1 ← u0 ← a0 ← u0 ← a0    lepo do --tail ID QUESTION
///                ↖ u0 ← a0
///
/// With nothing to ask and a terminal on stdin it is a conversation, line by line.
#[derive(Debug, clap::Args)]
#[command(after_help = document::AFTER, verbatim_doc_comment)]
pub struct Args {
    /// The question
    #[arg(value_name = "PROMPT")]
    prompt: Vec<String>,
    /// Start a new conversation
    #[arg(short, long, conflicts_with_all = ["tail", "retry"])]
    new: bool,
    /// Start from this bubb
    #[arg(short, long, value_name = "ADDR", add = complete::address())]
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
    /// Which model answers: a configured name, or PROVIDER:MODEL; repeatable with --parallel
    #[arg(short, long, value_name = "NAME", add = complete::model())]
    model: Vec<String>,
    /// Consent for tool requests this time: manual, auto or off
    #[arg(long, value_name = "MODE", value_parser = tool_mode, add = complete::one_of(TOOL_MODES))]
    tools: Option<ToolMode>,
    /// List the MCP servers that are on and their tools, then exit
    #[arg(long, conflicts_with_all = ["prompt", "file", "context", "run", "new", "tail", "retry", "approve", "deny", "events"])]
    list_tools: bool,
    /// Carry out this pending request and go on with its turn
    #[arg(long, value_name = "ID", add = complete::request(), conflicts_with_all = ["prompt", "file", "context", "run", "new", "tail", "retry", "deny"])]
    approve: Option<String>,
    /// Refuse this pending request and go on with its turn
    #[arg(long, value_name = "ID", add = complete::request(), conflicts_with_all = ["prompt", "file", "context", "run", "new", "tail", "retry"])]
    deny: Option<String>,
    #[command(flatten)]
    many: many::Args,
    /// Use this configuration instead of the user's
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Print one JSON document about the turn
    #[arg(long)]
    pub json: bool,
    /// Print everything as it happens, one JSON object a line
    #[arg(long, conflicts_with = "json")]
    pub events: bool,
    /// Write the result to a file as well
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Print the answer and nothing else
    #[arg(short, long)]
    quiet: bool,
    /// Print the answer as it is, also on a terminal: its Markdown is not formed
    #[arg(long)]
    plain: bool,
}

impl Args {
    fn shown(&self) -> Shown {
        Shown { json: self.json, quiet: self.quiet, all: self.show_all, plain: self.plain }
    }
}

impl Args {
    /// What is said about settings.
    fn flags(&self) -> Result<Flags> {
        let flags = Flags { config: self.config.clone(), tools: self.tools, ..Flags::default() };
        self.many.flags(&self.model, flags)
    }
}

fn tool_mode(text: &str) -> std::result::Result<ToolMode, String> {
    const MODES: &[ToolMode] = ToolMode::ALL;
    read_word(text, MODES).ok_or_else(|| list_words(MODES))
}

/// Takes the turn, or begins the REPL.
pub fn run(args: Args, context: &mut Context<'_>) -> Result<u8> {
    // A child could read lepo's keys from its environment otherwise. Root can all the same.
    let _ = rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable);
    // What lepo's caller has open is nothing to a command either: below a directory, it could reach everything.
    close_fds::set_fds_cloexec(3, &[]);
    let (json, events) = (args.json, args.events);
    take(args, context).inspect_err(|error| {
        if (json || events) && context.out.is_unused() {
            context.out.line(&failure(error, events).to_string());
        }
    })
}

/// The document of a turn that did not begin.
pub fn failure(error: &Error, events: bool) -> serde_json::Value {
    let nothing = document::document(None, &Report::default(), Some(error));
    if events { document::end(nothing) } else { nothing }
}

fn take(args: Args, context: &mut Context<'_>) -> Result<u8> {
    if args.list_tools {
        return tools::list(&args, context);
    }
    if let Some(mode) = args.many.mode() {
        return many::run(&args, mode, context);
    }
    let verdict = decide::verdict(&args)?;
    let asks_nothing = args.retry || verdict.is_some();
    let question = if asks_nothing { None } else { input::question(&args)? };
    if question.is_none() && !asks_nothing {
        if args.json || args.events {
            return Err(Error::usage("no question: --json and --events are about one turn")
                .hint("lepo do --json QUESTION, or the question on stdin"));
        }
        return converse::converse(&args, context);
    }
    let session = Session::new(&args, context)?;
    let runtime = session::runtime()?;
    let config = runtime.block_on(session.choose())?;
    let mut output = args.output.as_ref().map(open_output).transpose()?;
    let store = Arc::new(if verdict.is_some() { context.store()? } else { store(&args, context)? });
    let _claim = verdict.map(|(id, _)| store.claim(id)).transpose()?;
    let forest = store.forest()?;
    let decision = verdict.map(|(id, verdict)| Decision::on(&store, &forest, id, verdict)).transpose()?;
    if let Some(Decision { request, verdict: Verdict::Approve, .. }) =
        decision.as_ref().filter(|_| args.quiet)
    {
        // Not even quietly does anything run that nobody has seen here.
        say(&format!("in {}: {}", store.root().display(), request.canonical()));
    }
    let tail = find_tail(&args, &store, &forest)?;
    let wish = Wish { new: args.new, tail, retry: args.retry };
    let begin = match &decision {
        Some(decision) => Start::Decided(decision.name.id),
        None => start(&store, &forest, wish)?,
    };
    if tail.is_none() && !args.quiet {
        notes::of_place(&store, &forest, begin);
    }
    if args.show_past && !args.json && !args.events {
        past::show(args.shown(), context, &store, &forest, begin)?;
    }

    let mut report = runtime.block_on(async {
        let interrupt = Interrupt::listen()?;
        let ask = Ask { decision, ..Ask::new(begin, question, &args.run) };
        let taken = if args.events {
            let mut events = Events::new(context.out);
            session.turn(&config, &store, &forest, &interrupt, &mut events, ask).await
        } else {
            let state = State::Idle.after(Step::Entered);
            let mut view = View::new(context.out, context.paint, args.shown(), state);
            let taken = session.turn(&config, &store, &forest, &interrupt, &mut view, ask).await;
            view.end();
            taken
        };
        session.close().await;
        taken
    })?;
    // What still runs (a lookup that was given up) is not waited for.
    runtime.shutdown_background();

    report.error = report
        .error
        .take()
        .map(|error| notes::by_the_same_model(notes::what_is_kept(error, report.user), args.model.first()));
    if let (Some(tail), Some(branch)) = (tail, &args.tail)
        && tail.by_branch
    {
        match &report.answer {
            Some(answer) => {
                move_branch(&store, branch, forest.name(tail.ix).id, answer.name.id, args.quiet)?;
            }
            None if args.quiet => {}
            None => say(&format!(
                "note: branch {branch} stays; `lepo branch -f {branch}` moves it to the newest tail"
            )),
        }
    }
    let document = || document::document(Some(&store), &report, report.error.as_ref());
    if args.events {
        context.out.line(&document::end(document()).to_string());
    }
    let document = args.json.then(document);
    if let Some(document) = &document {
        context.out.line(&document.to_string());
    }
    if let Some(file) = &mut output {
        let answer: Vec<_> = report.answer.iter().map(|answer| (None, answer.name)).collect();
        write_output(file, &store, document.as_ref(), &answer)?;
    }
    match report.error {
        Some(error) => Err(error),
        None => Ok(0),
    }
}

/// The store of a turn, made where there is none; not for a turn that starts from something in it.
fn store(args: &Args, context: &Context<'_>) -> Result<Store> {
    if (args.retry || args.tail.is_some()) && context.find_store()?.is_none() {
        let sought =
            args.tail.as_ref().map_or("no question to answer again".into(), |tail| format!("no {tail}"));
        return Err(Error::usage(format!("{sought}: there is no store here"))
            .hint("ask something first: lepo do QUESTION"));
    }
    context.store_or_make()
}

fn find_tail(args: &Args, store: &Store, forest: &Forest) -> Result<Option<Addressee>> {
    args.tail.as_deref().map(|address| resolve(store, forest, address)).transpose()
}

/// Moves the branch a turn started from to its answer. False, and said, if it has moved meanwhile.
fn move_branch(store: &Store, name: &str, from: BubbId, to: BubbId, quiet: bool) -> Result<bool> {
    let moved = store.move_branch(name, from, to)?;
    if !moved && !quiet {
        say(&format!("note: branch {name} has moved meanwhile and was left where it is"));
    }
    Ok(moved)
}
