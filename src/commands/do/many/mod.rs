//! `lepo do --parallel` and `--debate`: many models asked at once, or led through a debate.

mod args;
mod document;
mod events;
mod panel;
mod rows;
mod style;
mod view;

use std::cell::RefCell;
use std::sync::Arc;

use super::output::{open_output, write_output};
use super::session::{insts, own, runtime, settings};
use super::{find_tail, input, notes, past, store};
use crate::bubb::Name;
use crate::commands::Context;
use crate::config::system_prompt;
use crate::conv::{Forest, Ix};
use crate::error::{Error, Result};
use crate::turn::{Ask, Debated, GroupTurn, Interrupt, Polled, Report, Start, Wish, start};
pub use args::{Args, Mode};
use events::Events;
use panel::Panel;
use style::Style;
use view::View;

/// What came of asking many.
enum Outcome {
    Polled(Polled),
    Debated(Debated),
}

/// Asks them.
pub fn run(args: &super::Args, mode: Mode, context: &mut Context<'_>) -> Result<u8> {
    let question = question(args, mode)?;
    let (paths, settings) = settings(args, context)?;
    let mut panel = Panel::of(mode, &settings, &paths)?;
    let mut output = args.output.as_ref().map(open_output).transpose()?;
    let store = Arc::new(store(args, context)?);
    let forest = store.forest()?;
    let tail = find_tail(args, &store, &forest)?;
    let wish = Wish { new: args.new, tail, retry: args.retry };
    let begin = match (&question, tail) {
        (None, Some(tail)) if !args.retry => debate_at(&forest, tail.ix)?,
        _ => start(&store, &forest, wish)?,
    };
    if tail.is_none() && !args.quiet {
        notes::of_place(&store, &forest, begin);
    }
    if args.show_past && !args.json && !args.events {
        past::show(args.shown(), context, &store, &forest, begin)?;
    }
    let insts = insts(&store)?;
    let mut ask = Ask::new(begin, question, &args.run);
    if begin == Start::New {
        ask.system_prompt = system_prompt(&paths)?;
    }

    let runtime = runtime()?;
    let outcome = runtime.block_on(async {
        let interrupt = Interrupt::listen()?;
        let own = own(args, &paths);
        let stage = |watch| GroupTurn {
            store: &store,
            forest: &forest,
            settings: &settings,
            insts: &insts,
            own: &own,
            interrupt: &interrupt,
            watch,
        };
        if args.events {
            let events = RefCell::new(Events::new(context.out));
            return take(stage(&events), &mut panel, ask).await;
        }
        let view = RefCell::new(View::new(context.out, context.paint, args, mode, &panel, &store));
        view.borrow_mut().begin(ask.question.as_deref());
        let taken = tokio::select! {
            taken = take(stage(&view), &mut panel, ask) => taken,
            never = view::ticks(&view) => never,
        };
        view.borrow_mut().end();
        taken
    })?;
    runtime.shutdown_background();

    let document = document::document(&store, &outcome);
    if args.events {
        context.out.line(&document::end(&outcome, document.clone()).to_string());
    } else if args.json {
        context.out.line(&document.to_string());
    }
    if let Some(file) = &mut output {
        write_output(file, &store, args.json.then_some(&document), &outcome.bubbs(args.quiet))?;
    }
    context.out.flush();
    if !args.quiet && !args.json && !args.events {
        view::tell_ids(&store, &outcome)?;
    }
    match outcome.into_error() {
        Some(error) => Err(error),
        None => Ok(0),
    }
}

async fn take(stage: GroupTurn<'_>, panel: &mut Panel, ask: Ask) -> Result<Outcome> {
    match &mut panel.orchestrator {
        None => stage.parallel(&mut panel.participants, ask).await.map(Outcome::Polled),
        Some(orchestrator) => {
            stage.debate(&mut panel.participants, orchestrator, ask).await.map(Outcome::Debated)
        }
    }
}

/// The question; none where one is answered again, or a debate goes on.
fn question(args: &super::Args, mode: Mode) -> Result<Option<String>> {
    let goes_on =
        mode == Mode::Debate && args.tail.is_some() && args.prompt.is_empty() && args.file.is_none();
    if goes_on && !args.context.is_empty() {
        return Err(Error::usage("--context belongs to a question, and there is none")
            .hint("to say something to the debate: lepo do --debate --tail ADDR --context FILE QUESTION"));
    }
    if args.retry || goes_on {
        return Ok(None);
    }
    let none = || Error::usage("no question").hint("lepo do --parallel QUESTION, or the question on stdin");
    input::question(args)?.ok_or_else(none).map(Some)
}

/// Where a debate goes on: at the last that was said in it, so that what an interruption left is passed by.
fn debate_at(forest: &Forest, tail: Ix) -> Result<Start> {
    let id = forest.name(tail).id;
    if forest.last_question(tail).is_none() {
        return Err(Error::usage(format!(
            "no debate to go on with: nobody asked anything in the conv of {id}"
        ))
        .hint("begin one: lepo do --debate QUESTION"));
    }
    let said = forest.up(tail).map(|ix| forest.name(ix)).find(|name| !name.hidden);
    Ok(Start::Under(said.map_or(id, |name| name.id)))
}

impl Outcome {
    /// What there is to read of it, each under its heading.
    fn bubbs(&self, quiet: bool) -> Vec<(Option<String>, Name)> {
        let heading = |name: &str| Some(view::heading(name));
        match self {
            Outcome::Polled(polled) => {
                let answered = |(name, report): &(String, Report)| Some((heading(name), report.answer?.name));
                polled.replies.iter().filter_map(answered).collect()
            }
            Outcome::Debated(debated) => {
                let conclusion = debated.report.answer.iter().map(|answer| answer.name);
                if quiet {
                    return conclusion.map(|bubb| (None, bubb)).collect();
                }
                let speeches = debated.speeches.iter().map(|speech| (heading(&speech.name), speech.bubb));
                speeches.chain(conclusion.map(|bubb| (heading(view::CONCLUSION), bubb))).collect()
            }
        }
    }

    fn into_error(self) -> Option<Error> {
        match self {
            Outcome::Polled(polled) => polled.error,
            Outcome::Debated(debated) => debated.report.error,
        }
    }
}
