//! `lepo do --compact`: continues a conversation from a summary of it.

use super::DoArgs;
use super::setup::{Setup, read_tail, run_in_turn_env};
use super::turn_output::turn_view;
use crate::commands::Context;
use crate::term::print_status;
use crate::ui;
use lepo_base::error::{Error, Result};
use lepo_base::hint::HintTarget;
use lepo_net::runtime::current_thread;
use lepo_turn::{
    Compaction, KEEP, Person, PersonAnswer, Position, StartOptions, StartQuestion, TurnEvent, TurnStart,
    View, compact,
};

/// Prints notices only; the field decides how hints are phrased.
pub struct Quiet<'a>(pub HintTarget<'a>);

impl View for Quiet<'_> {
    fn on_event(&mut self, event: TurnEvent<'_>) {
        if let TurnEvent::Notice(notice) = event {
            ui::notice_lines(notice, self.0).iter().for_each(print_status);
        }
    }

    fn shows_partial_text(&self) -> bool {
        false
    }

    fn person(&mut self) -> Option<&mut dyn Person> {
        Some(self)
    }
}

/// Summarising runs no tools, so nothing else is asked.
impl Person for Quiet<'_> {
    fn agree_to_start<'f>(&'f mut self, question: &'f StartQuestion) -> PersonAnswer<'f, Option<bool>> {
        Box::pin(ui::agree_to_start(question.clone()))
    }
}

/// Compacts a conversation, and prints the id of the new tail.
pub fn run_compact(args: &DoArgs, context: &mut Context<'_>) -> Result<u8> {
    let setup = Setup::read(args, context)?;
    let servers = setup.servers()?;
    let runtime = current_thread()?;
    let config = runtime.block_on(setup.configured.choose())?;
    let store: std::sync::Arc<_> = context.store()?.into();
    let (forest, tail) = read_tail(args, &store, false)?;
    let nothing = || Error::usage("no conversation to summarise").hint("`lepo ls` lists the conversations");
    let options = StartOptions { new: false, tail, retry: false };
    let (mut position, start) = Position::find(&store, &forest, options, args.tail.as_deref())?;
    let TurnStart::Under(from) = start else { return Err(nothing()) };
    let instruction = args.prompt.join(" ");
    let instruction = Some(instruction.trim()).filter(|text| !text.is_empty());
    let compaction = Compaction { tail: from, keep: args.keep.unwrap_or(KEEP), instruction };
    let id = run_in_turn_env(runtime, (setup.configured, Some(servers)), (&store, true), async |env| {
        let insts = ui::insts_with_warnings(env.insts()?);
        let mut view = turn_view(context, args.display_options(env.settings()));
        let compacted = compact(env, &config, &insts, &forest, compaction, &mut view).await;
        view.finish();
        compacted
    })?;
    ui::note_branch(&position.move_branch(&store, id)?, args.quiet);
    context.out.line(&id.to_string());
    Ok(0)
}
