//! Turns in a row on a terminal, one line a question.

use std::sync::Arc;

use super::setup::{Setup, runtime};
use super::{Args, find_tail, move_branch, show_past};
use crate::commands::Context;
use crate::conv::Addressee;
use crate::error::{Kind, Result};
use crate::repl::{View, complain, prompt};
use crate::store::Store;
use crate::talk::{Ask, Interrupt, Wish, start};

/// SIGINT: it ends an answer, or at the prompt the conversation, and is no failure of either.
const SIGINT: u8 = 2;

/// Converses until the person leaves.
pub fn converse(args: &Args, context: &mut Context<'_>) -> Result<u8> {
    let setup = Setup::new(args, context)?;
    let store = Arc::new(context.store_or_make()?);
    let runtime = runtime()?;
    let ended = runtime.block_on(turns(args, context, &setup, &store));
    // A prompt that was left by a signal still waits for its line.
    runtime.shutdown_background();
    ended.map(|()| 0)
}

async fn turns(args: &Args, context: &mut Context<'_>, setup: &Setup, store: &Arc<Store>) -> Result<()> {
    let mut wish = Wish { new: args.new, ..Wish::default() };
    let mut tip = None;
    let mut branch = None;
    {
        let forest = store.forest()?;
        if let Some(tail) = find_tail(args, store, &forest)? {
            branch = args.tail.as_deref().filter(|_| tail.by_branch);
            tip = Some(forest.name(tail.ix).id);
            wish.tail = Some(tail);
        }
        if args.show_past {
            let begin = start(store, &forest, wish)?;
            show_past(args, context, store, &forest, begin)?;
        }
    }
    let interrupt = Interrupt::listen()?;
    let mut runs = args.run.as_slice();
    loop {
        let question = match interrupt.or(prompt()).await {
            Ok(Some(question)) => question,
            Ok(None) => return Ok(()),
            Err(error) if error.kind == Kind::Signal(SIGINT) => return Ok(()),
            Err(error) => return Err(error),
        };
        let forest = store.forest()?;
        let tail = tip.and_then(|id| forest.find(id)).map(|ix| Addressee { ix, by_branch: false });
        let begin = start(store, &forest, Wish { tail, ..wish })?;
        let mut view = View::new(context.out, context.paint, false, args.quiet, args.show_all);
        let report =
            setup.turn(store, &forest, &interrupt, &mut view, Ask::new(begin, Some(question), runs)).await?;
        view.end();
        (runs, wish) = (&[], Wish::default());
        if let (Some(name), Some(from), Some(answer)) = (branch, tip, &report.answer) {
            branch = move_branch(store, name, from, answer.name.id)?.then_some(name);
        }
        // It goes on with its own conv, whatever other processes add meanwhile.
        tip = report.answer.map(|answer| answer.name.id).or(report.user).or(tip);
        match report.error {
            Some(error) if matches!(error.kind, Kind::Signal(number) if number != SIGINT) => {
                return Err(error);
            }
            Some(error) => complain(&error),
            None => {}
        }
        interrupt.reset();
    }
}
