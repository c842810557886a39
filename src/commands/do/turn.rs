//! One turn: a question and its answer, an answer anew, or a decision on a request that waits.

use std::sync::Arc;

use super::DoArgs;
use super::compact::Quiet;
use super::output::{open_output, write_output};
use super::setup::{Setup, find_tail, store_of_turn};
use crate::bubb::BubbId;
use crate::commands::Context;
use crate::commands::tidy_after::tidy_after;
use crate::conv::Wanted;
use crate::error::{Kind, Result};
use crate::runtime::current_thread;
use crate::store::Store;
use crate::term::{columns, say, say_dim, stderr_is_terminal};
use crate::turn::{
    AnswerSchema, Ask, Decision, Interrupt, Question, Report, Served, Start, StartOptions, TurnEnv, Verdict,
    start,
};
use crate::ui::{self, EventLines, State, Step, Stopped, TurnView};

/// Takes one turn.
pub fn run_turn(
    args: &DoArgs,
    verdict: Option<(BubbId, Verdict)>,
    (question, served, schema): (Option<Question>, Served, Option<Arc<AnswerSchema>>),
    context: &mut Context<'_>,
) -> Result<u8> {
    let setup = Setup::read(args, context)?;
    let servers = setup.servers()?;
    let runtime = current_thread()?;
    let config = runtime.block_on(setup.configured.choose())?;
    if let Some(note) = setup.configured.settings.ambient_note().filter(|_| !args.quiet) {
        say(&note);
    }
    if let Some(question) = &question {
        setup.configured.check_files(&question.files, &config)?;
    }
    let mut output = args.output.as_ref().map(open_output).transpose()?;
    let store = match verdict {
        Some(_) => context.store()?.into(),
        None => store_of_turn(args, context)?,
    };
    let _claim = verdict.map(|(id, _)| store.claim(id)).transpose()?;
    let forest = match verdict {
        Some((id, _)) => store.forest_for(&[Wanted::Followed(id)])?,
        None => store.forest_at(args.new, args.tail.as_deref())?,
    };
    let decision = verdict.map(|(id, verdict)| Decision::on(&store, &forest, id, verdict)).transpose()?;
    if let Some(Decision { request, verdict: Verdict::Approve | Verdict::ApproveUnheld, .. }) =
        decision.as_ref().filter(|_| args.quiet)
    {
        // Even with --quiet, a command is shown before it runs.
        say(&format!("in {}: {}", store.root().display(), request.canonical()));
    }
    let tail = find_tail(args, &store, &forest)?;
    let wish = StartOptions { new: args.new, tail, retry: args.retry };
    let begin = match &decision {
        Some(decision) => Start::Decided(decision.name.id),
        None => start(&store, &forest, wish)?,
    };
    if !args.quiet {
        if tail.is_none() {
            ui::note_place(&store, &forest, begin);
        }
        ui::note_system_prompt(&setup.configured, &store, &forest, begin);
    }
    // On a terminal, more than the answer is shown.
    let at_terminal =
        context.out.is_terminal() && stderr_is_terminal() && !args.shown().whole && !args.events;
    if at_terminal {
        let at = begin.id().and_then(|id| forest.find(id));
        say_dim(&ui::place_line(&store, &forest, at, &config.name, columns()), context.paint);
    }
    if args.show_past && !args.json && !args.events {
        ui::show_past(args.shown(), (context.out, context.paint), &store, &forest, begin)?;
    }

    let tidy = setup.configured.settings.tidy.limit();
    let tells_usage = at_terminal && !args.no_usage && setup.configured.settings.term_usage;
    let mut report = runtime.block_on(async {
        let env = TurnEnv::new(setup.configured, servers, store.clone(), Interrupt::listen()?);
        let insts = ui::insts_with_warnings(env.insts()?);
        let (forest, begin) = match (&question, begin) {
            (Some(question), Start::Under(tail)) if env.compacts_by_itself() => {
                let more = question.text.len();
                match env.make_room(&config, &forest, tail, more, &mut Quiet).await? {
                    Some(id) => (&store.forest()?, Start::Under(id)),
                    None => (&forest, begin),
                }
            }
            _ => (&forest, begin),
        };
        let ask = Ask { decision, served, schema, ..Ask::new(begin, question, &args.run) };
        let taken = if args.events {
            env.turn(&config, &insts, forest, &mut EventLines::new(context.out), ask).await
        } else {
            let state = State::Idle.after(Step::Entered);
            let mut view = TurnView::new(context.out, context.paint, args.shown(), state);
            let taken = env.turn(&config, &insts, forest, &mut view, ask).await;
            view.end();
            taken
        };
        env.close().await;
        taken
    })?;
    // Background work, such as a lookup that was given up, is not awaited.
    runtime.shutdown_background();
    if tells_usage && report.answer.is_some() {
        say_dim(&ui::usage_line(&report), context.paint);
    }

    let model = args.model.first();
    if let Some(error) = report.error.take_if(|error| matches!(error.kind, Kind::Signal(_))) {
        let stopped = Stopped::find(&store, report.user).unwrap_or(Stopped::Nothing);
        report.error = Some(stopped.explain(error));
    }
    report.error = report
        .error
        .take()
        .map(|error| ui::with_same_model(ui::with_kept_question(error, report.user), model));
    if let (Some(tail), Some(branch)) = (tail, &args.tail)
        && tail.by_branch
    {
        let from = forest.name(tail.ix).id;
        advance_branch(&store, branch, from, &report, args.quiet)?;
    }
    let document = || ui::turn_document(Some(&store), &report, report.error.as_ref());
    if args.events {
        context.out.line(&ui::end_event(document()).to_string());
    }
    let document = args.json.then(document);
    if let Some(document) = &document {
        context.out.line(&document.to_string());
    }
    if let Some(file) = &mut output {
        let answer: Vec<_> = report.answer.iter().map(|answer| (None, answer.name)).collect();
        write_output(file, &store, document.as_ref(), (&answer, &[]))?;
    }
    tidy_after(&store, tidy, args.quiet, context.out);
    match report.error {
        Some(error) => Err(error),
        None => Ok(0),
    }
}

/// Moves the branch of `--tail` to the answer, if there is one.
fn advance_branch(store: &Store, branch: &str, from: BubbId, report: &Report, quiet: bool) -> Result<()> {
    match &report.answer {
        Some(answer) => ui::move_branch(store, branch, from, answer.name.id, quiet).map(|_| ()),
        None if quiet => Ok(()),
        None => {
            say(&format!(
                "note: branch {branch} was not moved; `lepo branch -f {branch}` moves it to the newest tail"
            ));
            Ok(())
        }
    }
}
