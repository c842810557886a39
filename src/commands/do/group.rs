//! `--parallel` and `--debate`: asks several models concurrently, or leads them through a debate.

use std::sync::Arc;

use super::closed_output::while_read;
use super::group_models::ModelSources;
use super::group_output::GroupOutput;
use super::recorded::{LookupOutcome, PartialLookup, TurnLookup, find_recorded};
use super::setup::{Setup, debate_at, read_tail, run_in_turn_env, store_of_turn};
use super::turn::confirm_size;
use super::{DoArgs, input};
use crate::commands::Context;
use crate::commands::output_file::open_output;
use crate::commands::tidy_after::tidy_after;
use crate::term::tty;
use crate::ui::{self, EventLines, GroupTurnView, SharedEvents, SharedView};
use lepo_base::error::{Error, Result};
use lepo_model::ModelConfig;
use lepo_net::runtime::current_thread;
use lepo_store::bubb::BubbId;
use lepo_store::conv::{Forest, ReadScope};
use lepo_store::store::Store;
use lepo_turn::config::{Paths, PromptTemplate};
use lepo_turn::recorded::Voices;
use lepo_turn::{
    AnswerSchema, Configuration, GroupMode, GroupOutcome, GroupTurn, Masking, Panel, Question, StartOptions,
    TurnRequest, TurnStart, WorktreeRecord, execute_group_turn, is_unread, start,
};

pub fn run_group(
    args: &DoArgs,
    mode: GroupMode,
    prompt: Option<&PromptTemplate>,
    schema: Option<Arc<AnswerSchema>>,
    context: &mut Context<'_>,
) -> Result<u8> {
    if mode == GroupMode::Debate && schema.is_some() {
        return Err(Error::usage("--schema cannot be used with --debate: its answers are plain text"));
    }
    let question = question(args, prompt, mode)?;
    let Setup { mut configured, .. } = Setup::read(args, context)?;
    let sources = ModelSources::choose(args, mode, &mut configured, context)?;
    let mut looked_up = PartialLookup::default();
    if let Some(recorded) = args.recorded.options()? {
        let voices = match mode {
            GroupMode::Parallel => Voices::Parallel { judge: args.group.judge.as_deref() },
            GroupMode::Debate => Voices::Debate,
        };
        let (question, schema) = (question.as_ref(), schema.as_deref());
        let lookup = TurnLookup { unknown: None, voices, question, schema };
        match find_recorded(args, &lookup, &recorded, &configured, context)? {
            LookupOutcome::Printed(code) => return Ok(code),
            LookupOutcome::Partial(partial) => looked_up = partial,
        }
    }
    sources.check_names(mode, &configured.settings)?;
    let mut panel = Panel::new(mode, &configured)?.with_judge(args.group.judge.as_deref(), &configured)?;
    panel.use_recorded(looked_up.hits);
    if let Some(question) = &question {
        let names = configured.settings.many_participants.iter();
        let models: Vec<ModelConfig> =
            names.filter_map(|name| configured.settings.model(name).ok()).collect();
        confirm_size(args, question, &models, &configured)?;
    }
    panel.check_files(question.as_ref().map(|question| question.files.as_slice()).unwrap_or_default())?;
    // Opened before the request: otherwise an answer could be paid for and then lost.
    let mut output = args.output.as_deref().map(open_output).transpose()?;
    let store = store_of_turn(args, context)?;
    let (forest, begin) = find_start(args, &store, question.is_some())?;
    print_history(args, &configured, (&store, &forest, begin), context)?;
    let ask = TurnRequest {
        schema,
        ran: looked_up.ran,
        unmasked: args.keeping.unmasked,
        ..TurnRequest::new(begin, question, &args.run)
    };
    let tidy = configured.settings.tidy.limit();
    let display = args.display_options(&configured.settings);
    let mut group = GroupRun { mode, panel, store, forest, display };
    let paths = configured.paths.clone();
    let (outcome, masking) = group.run(args, configured, ask, context)?;
    record_outcome(&group.store, &paths, &outcome)?;
    let names = group.panel.names();
    GroupOutput { mode, names: &names, store: &group.store, masking: &masking }.print(
        args,
        &outcome,
        output.as_mut(),
        context,
    )?;
    tidy_after(&group.store, tidy, args.quiet, context.out);
    match outcome.into_error() {
        Some(error) if is_unread(&error) => Ok(0),
        Some(error) => Err(args.group.with_same_models(error, &args.model)),
        None => Ok(0),
    }
}

struct GroupRun {
    mode: GroupMode,
    panel: Panel,
    store: Arc<Store>,
    forest: Forest,
    display: ui::DisplayOptions,
}

impl GroupRun {
    fn run(
        &mut self,
        args: &DoArgs,
        configured: Configuration,
        ask: TurnRequest,
        context: &mut Context<'_>,
    ) -> Result<(GroupOutcome, Arc<Masking>)> {
        let GroupRun { mode, panel, store, forest, display } = self;
        run_in_turn_env(current_thread()?, (configured, None), (&store.clone(), true), async |env| {
            let question = panel.start_question(env, (forest, ask.start))?;
            if !question.is_empty() && tty().is_some() {
                if args.events {
                    EventLines::new(context.out, context.at).note_start(&question);
                }
                let answer = env.interrupt.or(ui::agree_to_start(question.clone())).await?;
                env.record_start_answer(&question, answer)?;
                if answer == Some(true) {
                    panel.take_agreement(&question, &env.configured);
                }
            }
            let insts = ui::insts_with_warnings(env.insts()?);
            let (env, masking) = (&*env, env.masking.clone());
            let group = |view| GroupTurn { env, forest, insts: &insts, view };
            let interrupt = env.interrupt.clone();
            if args.events {
                let events = SharedEvents::new(EventLines::new(context.out, context.at));
                let result =
                    while_read(args, interrupt, execute_group_turn(group(&events), panel, ask)).await;
                return result.map(|outcome| (outcome, masking));
            }
            let view = GroupTurnView::new(
                context.out,
                context.paint,
                *display,
                *mode,
                panel.names(),
                (store, masking.clone()),
                context.at,
            );
            let view = SharedView::new(view);
            view.print_header(ask.question.as_ref().map(|question| question.text.as_str()));
            let result = tokio::select! {
                result = while_read(args, interrupt, execute_group_turn(group(&view), panel, ask)) => result,
                never = view.ticks() => never,
            };
            view.end();
            result.map(|outcome| (outcome, masking))
        })
    }
}

/// Records where the next question in this worktree continues: at the bubb of the result that is `@`.
fn record_outcome(store: &Store, paths: &Paths, outcome: &GroupOutcome) -> Result<()> {
    let record = WorktreeRecord::find(paths, store).or_else(|| WorktreeRecord::main(paths, store));
    let Some(record) = record else { return Ok(()) };
    let forest = store.forest_for(&[ReadScope::Tip])?;
    let newest = forest.newest().map(|ix| forest.name(ix).id);
    let bubbs = ui::bubbs_to_read(outcome, false);
    let mut ids: Vec<BubbId> = bubbs.iter().map(|(_, name)| name.id).collect();
    if let Some(at) = newest.and_then(|newest| ids.iter().position(|id| *id == newest)) {
        let newest = ids.remove(at);
        ids.push(newest);
    }
    if !ids.is_empty() {
        record.record(&ids);
    }
    Ok(())
}

fn find_start(args: &DoArgs, store: &Store, is_asked: bool) -> Result<(Forest, TurnStart)> {
    let new = args.new || (args.tail.is_none() && !args.retry);
    let (forest, tail) = read_tail(args, store, new)?;
    if !args.quiet {
        args.tail.as_deref().map_or(Ok(()), |tail| ui::note_ends(store, tail))?;
    }
    let begin = match tail {
        Some(tail) if !is_asked && !args.retry => debate_at(&forest, tail.ix)?,
        _ => start(store, &forest, StartOptions { new, tail, retry: args.retry })?,
    };
    Ok((forest, begin))
}

/// Prints the past conversation if requested, and notes a different system prompt.
fn print_history(
    args: &DoArgs,
    configured: &Configuration,
    (store, forest, begin): (&Store, &Forest, TurnStart),
    context: &mut Context<'_>,
) -> Result<()> {
    if args.show_past && !args.json && !args.events {
        ui::show_past(
            args.display_options(&configured.settings),
            (context.out, context.paint),
            store,
            forest,
            begin,
        )?;
    }
    if !args.quiet {
        ui::note_system_prompt(configured, store, forest, begin);
    }
    Ok(())
}

/// Returns the question; `None` for a retry, or to continue a debate.
fn question(args: &DoArgs, prompt: Option<&PromptTemplate>, mode: GroupMode) -> Result<Option<Question>> {
    let goes_on = mode == GroupMode::Debate
        && args.tail.is_some()
        && args.prompt.is_empty()
        && args.file.is_empty()
        && prompt.is_none();
    if goes_on && !args.attach.is_empty() {
        return Err(Error::usage("a debate does not accept files: its participants get text only"));
    }
    if goes_on && !args.context.is_empty() {
        return Err(Error::usage("--context needs a question")
            .hint("to say something to the debate: lepo do --debate --tail ADDR --context FILE QUESTION"));
    }
    if args.retry || goes_on {
        return Ok(None);
    }
    let none = || Error::usage("no question").hint("lepo do --parallel QUESTION, or the question on stdin");
    input::question(args, prompt)?.ok_or_else(none).map(Some)
}
