//! Runs a turn: a question and its answer, a retry, or a decision on a pending request.

use std::sync::Arc;

use super::DoArgs;
use super::closed_output::while_read;
use super::compact::Quiet;
use super::new_conversation::apply_new_setting;
use super::recorded::{LookupOutcome, PartialLookup, TurnLookup, find_recorded};
use super::setup::{Setup, branch_of_request, read_tail, recover_cut, run_in_turn_env, store_of_turn};
use super::turn_input::DoInput;
use super::turn_output::{print, turn_view};
use crate::commands::Context;
use crate::commands::output_file::open_output;
use crate::commands::tidy_after::tidy_after;
use crate::term::{TypeAhead, columns, print_status, print_status_dim, stderr_is_terminal, tty};
use crate::ui::{self, EventLines, StopPoint};
use lepo_base::error::{Error, ExitKind, Result};
use lepo_model::{ModelConfig, known_window};
use lepo_net::runtime::current_thread;
use lepo_store::bubb::BubbId;
use lepo_store::store::{Claim, Store};
use lepo_turn::recorded::Voices;
use lepo_turn::{
    Branch, Configuration, Conversation, Decision, NextTurn, Outcome, Position, Question, Rules,
    StartOptions, ToolResult, TurnEnv, TurnRequest, Verdict, claim_request, execute_turn, is_unread,
};

struct PreparedTurn {
    store: Arc<Store>,
    /// Prevents other processes from deciding on the request during the turn.
    _claim: Option<Claim>,
    conversation: Conversation,
    next: NextTurn,
    decision: Option<Decision>,
}

pub fn run_turn(args: &mut DoArgs, input: DoInput, context: &mut Context<'_>) -> Result<u8> {
    let setup = Setup::read(args, context)?;
    apply_new_setting(args, setup.configured.settings.new, context)?;
    let args = &*args;
    let mut looked_up = PartialLookup::default();
    if let Some(recorded) = args.recorded.options()? {
        let unknown = input.unknown_in_record();
        let voices = Voices::One { has_servers: unknown.is_none() && setup.has_servers()? };
        let (question, schema) = (input.question.as_ref(), input.schema.as_deref());
        let lookup = TurnLookup { unknown, voices, question, schema };
        match find_recorded(args, &lookup, &recorded, &setup.configured, context)? {
            LookupOutcome::Printed(code) => return Ok(code),
            LookupOutcome::Partial(partial) => looked_up = partial,
        }
        setup.configured.check_wanted()?;
    }
    let servers = setup.servers()?;
    let runtime = current_thread()?;
    let config = runtime.block_on(setup.configured.choose())?;
    let settings = &setup.configured.settings;
    let note = settings.ambient_note().or_else(|| settings.embedded_note(&config));
    if let Some(note) = note.filter(|_| !args.quiet) {
        ui::notice_lines(&note, context.at).iter().for_each(print_status);
    }
    if let Some(question) = &input.question {
        setup.configured.check_files(&question.files, &config)?;
    }
    if let Some(question) = &input.question {
        confirm_size(args, question, [&config], &setup.configured)?;
    }
    // Opened before the request: otherwise an answer could be paid for and then lost.
    let mut output = args.output.as_deref().map(open_output).transpose()?;
    let mut prepared = PreparedTurn::find(args, input.verdict, &setup.configured, context)?;
    // On a terminal, more than the answer is shown.
    let at_terminal = context.out.is_terminal()
        && stderr_is_terminal()
        && !args.display_options(settings).waits_for_end
        && !args.events;
    prepared.print_preamble(args, &setup.configured, at_terminal.then_some(&config), context)?;

    let tidy = setup.configured.settings.tidy.limit();
    let prices = setup.configured.settings.prices();
    let tells_usage = at_terminal && !args.no_usage && setup.configured.settings.term_usage;
    let (store, keeps) = (prepared.store.clone(), !args.keeping.no_keep);
    let start = prepared.next.start;
    let mut outcome =
        run_in_turn_env(runtime, (setup.configured, Some(servers)), (&store, keeps), async |env| {
            let interrupt = env.interrupt.clone();
            while_read(args, interrupt, prepared.run(env, &config, args, (input, looked_up.ran), context))
                .await
        })?;
    if tells_usage && outcome.answer.is_some() {
        print_status_dim(&ui::usage_line(&outcome, &prices), context.paint);
    }
    let error = outcome.error.take();
    outcome.error = error.map(|error| explained(error, &outcome, args, &prepared));
    let moved = prepared.conversation.follow(&store, start, &outcome)?;
    ui::note_branch(&moved, args.quiet);
    let has_code = print(args, &outcome, &store, output.as_mut(), context)?;
    tidy_after(&store, tidy, args.quiet, context.out);
    match outcome.error {
        Some(error) if !is_unread(&error) => Err(error),
        _ => Ok(u8::from(!has_code)),
    }
}

impl PreparedTurn {
    /// Finds where the turn starts: at a pending request, at `--tail`, or at the end of the newest
    /// conversation.
    fn find(
        args: &DoArgs,
        verdict: Option<(BubbId, Verdict)>,
        configured: &Configuration,
        context: &Context<'_>,
    ) -> Result<PreparedTurn> {
        let store: Arc<Store> = match verdict {
            Some(_) => context.store()?.into(),
            None => store_of_turn(args, context)?,
        };
        recover_cut(&store, args.quiet)?;
        let (claim, next, decision, position) = match verdict {
            Some((id, verdict)) => {
                let (claim, next, decision) = claim_request((&store, &configured.masking()), id, verdict)?;
                if args.quiet && matches!(verdict, Verdict::Approve | Verdict::ApproveUnheld) {
                    // Even with --quiet, a command is shown before it runs.
                    let request = decision.request.canonical();
                    print_status(&format!("in {}: {request}", store.root().display()));
                }
                let ix = next.forest.find(id);
                let branch =
                    ix.map(|ix| branch_of_request(args, &store, &next.forest, ix)).transpose()?.flatten();
                let position = Position { pending: Some(id), branch, ..Position::default() };
                (Some(claim), next, Some(decision), position)
            }
            None => {
                let (next, position) = find_next(args, &store)?;
                (None, next, None, position)
            }
        };
        let conversation = Conversation::new(position, Rules::DO);
        Ok(PreparedTurn { store, _claim: claim, conversation, next, decision })
    }

    /// Prints notes before the turn; if `model` is set, the line with model and conversation; with
    /// `--show-past`, the conversation.
    fn print_preamble(
        &self,
        args: &DoArgs,
        configured: &Configuration,
        model: Option<&ModelConfig>,
        context: &mut Context<'_>,
    ) -> Result<()> {
        let PreparedTurn { store, next: NextTurn { forest, start }, .. } = self;
        if !args.quiet {
            args.tail.as_deref().map_or(Ok(()), |tail| ui::note_ends(store, tail))?;
            // With --tail, the question may drop a request at the very bubb that it follows.
            match start.id().filter(|_| args.tail.is_some()).and_then(|id| forest.find(id)) {
                Some(tail) => ui::note_dropped(store, *start, &forest.name(tail)),
                None => ui::note_skipped_request(store, forest, *start),
            }
            ui::warn_of_ahead(forest, *start);
            // The conversation so far, if it is printed, has the warning before it.
            if !args.show_past || args.json || args.events {
                ui::warn_incomplete_start(forest, *start);
            }
            ui::note_system_prompt(configured, store, forest, *start);
        }
        if let Some(model) = model {
            let at = start.id().and_then(|id| forest.find(id));
            let text = configured.instructions(model).and_then(|found| found.about());
            let line = ui::place_line((store, forest), at, &model.name, (text.as_deref(), None), columns());
            print_status_dim(&line, context.paint);
        }
        if args.show_past && !args.json && !args.events {
            ui::show_past(
                args.display_options(&configured.settings),
                (context.out, context.paint),
                store,
                forest,
                *start,
            )?;
        }
        Ok(())
    }

    /// Runs the turn; first summarises the conversation if the question would not fit the model's context
    /// window.
    async fn run(
        &mut self,
        env: &TurnEnv,
        config: &ModelConfig,
        args: &DoArgs,
        (input, ran): (DoInput, Vec<ToolResult>),
        context: &mut Context<'_>,
    ) -> Result<Outcome> {
        let DoInput { question, served, schema, code_only, skill, rest, .. } = input;
        let insts = ui::insts_with_warnings(env.insts()?);
        if let Some(question) = &question {
            let (bytes, mut quiet) = (question.text.len(), Quiet(context.at));
            self.conversation.make_room(env, config, &mut self.next, bytes, &mut quiet).await?;
        }
        let NextTurn { forest, start } = &self.next;
        let decision = self.decision.take();
        let ask = TurnRequest {
            decision,
            served,
            schema,
            code_only,
            skill,
            ran,
            rest,
            unmasked: args.keeping.unmasked,
            ..TurnRequest::new(*start, question, &args.run)
        };
        if args.events {
            return execute_turn(
                env,
                config,
                &insts,
                forest,
                &mut EventLines::new(context.out, context.at),
                ask,
            )
            .await;
        }
        let shown = args.display_options(env.settings());
        // The echo of typed text would appear inside the answer.
        let hides = context.out.is_terminal().then(TypeAhead::hide).flatten();
        let mut view = turn_view(context, shown);
        let taken = execute_turn(env, config, &insts, forest, &mut view, ask).await;
        view.finish();
        drop(hides);
        taken
    }
}

/// Finds where a question goes, or which one is answered again: from `--tail`, or at the newest conversation.
fn find_next(args: &DoArgs, store: &Store) -> Result<(NextTurn, Position)> {
    let address = args.tail.as_deref();
    let (forest, tail) = read_tail(args, store, args.new)?;
    let options = StartOptions { new: args.new, tail, retry: args.retry };
    let (position, start) = Position::find(store, &forest, options, address)?;
    Ok((NextTurn { forest, start }, position))
}

/// Adds to the error what is stored, and the command that resumes.
fn explained(error: Error, outcome: &Outcome, args: &DoArgs, prepared: &PreparedTurn) -> Error {
    if args.keeping.no_keep {
        // Nothing is stored that could be retried.
        return error.without_retry();
    }
    let error = match error.kind {
        ExitKind::Signal(_) => {
            StopPoint::find(&prepared.store, outcome).unwrap_or(StopPoint::Nothing).explain(error)
        }
        _ => error,
    };
    let question = outcome.user.filter(|_| args.tail.is_some());
    let branch = prepared.conversation.position.branch.as_ref();
    let error = name_tail(ui::with_kept_question(error, outcome.user), branch, question);
    args.group.with_same_models(error, &args.model)
}

/// Adds `--tail` to the commands of the hint, so that running them moves the branch. If `--tail` is not a
/// branch, they name the stored question instead, because the newest one may be another.
fn name_tail(error: Error, branch: Option<&Branch>, question: Option<BubbId>) -> Error {
    match (branch, question) {
        (Some(branch), _) => error.resuming(|resume| resume.name_branch(&branch.name)),
        (None, Some(question)) => error.resuming(|resume| resume.name_question(&question.to_string())),
        (None, None) => error,
    }
}

/// Asks before sending files that fill much of the context window of one of these models.
pub fn confirm_size<'m>(
    args: &DoArgs,
    question: &Question,
    models: impl IntoIterator<Item = &'m ModelConfig>,
    configured: &Configuration,
) -> Result<()> {
    let windows = models.into_iter().map(|config| known_window(config, &configured.paths.state));
    let what = windows.filter_map(|window| question.size_to_confirm(window)).next();
    let Some(what) = what.filter(|_| !args.keeping.yes) else { return Ok(()) };
    let Some(mut tty) = tty() else {
        return Err(Error::usage(what).hint("--yes sends them; or name fewer files"));
    };
    match tty.confirm(&format!("{what}: send them? (y/N): "))? {
        true => Ok(()),
        false => Err(Error::usage("nothing was sent").hint("name fewer files, or other folders")),
    }
}
