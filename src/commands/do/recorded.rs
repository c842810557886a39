//! Answers a turn or a group turn from the record, if it has the answers: before a key, a price or a server is needed.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::DoArgs;
use super::group_output::GroupOutput;
use super::setup::{debate_at, read_tail, run_in_turn_env};
use super::turn_output::{print, turn_view};
use crate::commands::Context;
use crate::commands::output_file::open_output;
use crate::term::{print_status_dim, stderr_is_terminal};
use crate::ui::{self, EventLines};
use lepo_base::error::{Error, Result};
use lepo_net::runtime::current_thread;
use lepo_store::conv::Forest;
use lepo_store::store::{STORE, Store};
use lepo_turn::config::Settings;
use lepo_turn::recorded::{
    Lookup, LookupRequest, PastMessage, RecordStore, RecordedAnswer, RecordedOptions, RecordedOutcome,
    Voices, before, look_up, not_recorded, opening_messages, show_answer,
};
use lepo_turn::{
    AnswerSchema, CommandOrigin, CommandRunner, Configuration, GroupMode, GroupOutcome, Masking, PanelNames,
    Question, StartOptions, ToolResult, TurnStart, start,
};

/// The look-up of a turn or group turn.
pub struct TurnLookup<'w> {
    /// Why no look-up can tell whether this turn is recorded.
    pub unknown: Option<&'static str>,
    pub voices: Voices<'w>,
    /// `None` if an existing question is answered again, or a debate continues.
    pub question: Option<&'w Question>,
    pub schema: Option<&'w AnswerSchema>,
}

/// The outcome of a look-up.
pub enum LookupOutcome {
    /// All answers were recorded and are printed; this is the exit code.
    Printed(u8),
    /// Models must be asked for the other answers.
    Partial(PartialLookup),
}

/// The results of a look-up that did not find all answers.
#[derive(Default)]
pub struct PartialLookup {
    /// The recorded answers, by the name of their model.
    pub hits: Vec<(String, RecordedAnswer)>,
    /// The results of the user's own commands, which ran for the look-up and are not run again.
    pub ran: Vec<ToolResult>,
}

/// The store whose answers count.
struct SearchedStore {
    store: Arc<Store>,
    forest: Forest,
    /// Whether it is also the current store.
    is_own: bool,
    start: TurnStart,
}

/// The request to look up, and the store to search.
struct RecordLookup {
    /// The store to search; `None` if it does not exist.
    searched: Option<SearchedStore>,
    /// The messages before the answer, ending with the question.
    history: Vec<PastMessage>,
    ran: Vec<ToolResult>,
}

/// Looks up the answers of a turn or group turn, and prints them if all are recorded: then nothing is written. With
/// `=only`, a missing answer is an error.
pub fn find_recorded(
    args: &DoArgs,
    lookup: &TurnLookup<'_>,
    recorded: &RecordedOptions,
    configured: &Configuration,
    context: &mut Context<'_>,
) -> Result<LookupOutcome> {
    match lookup.unknown {
        Some(why) if recorded.only => return Err(not_recorded(format!("no recorded answer: {why}"))),
        Some(_) => return Ok(LookupOutcome::Partial(PartialLookup::default())),
        None => {}
    }
    let RecordLookup { searched, history, ran } =
        RecordLookup::read(args, lookup, recorded, configured, context)?;
    let Some(searched) = searched else {
        return if recorded.only {
            Err(no_store())
        } else {
            Ok(LookupOutcome::Partial(PartialLookup { ran, ..PartialLookup::default() }))
        };
    };
    let request = LookupRequest { history: &history, schema: lookup.schema, configured };
    let record = RecordStore::new(&searched.store, &searched.forest);
    let (hits, missing) = match look_up(&record, &request, lookup.voices)? {
        Lookup::Whole(RecordedOutcome::Turn(hit)) => {
            let has_code = print_turn(args, *hit, &searched, &configured.settings, context)?;
            return Ok(LookupOutcome::Printed(u8::from(!has_code)));
        }
        Lookup::Whole(RecordedOutcome::Group(outcome)) => {
            print_group(args, lookup, &outcome, &searched.store, &configured.settings, context)?;
            return Ok(LookupOutcome::Printed(0));
        }
        Lookup::Unnamed => {
            return Ok(LookupOutcome::Partial(PartialLookup { ran, ..PartialLookup::default() }));
        }
        Lookup::Part(hits, missing) => (hits, missing),
        Lookup::Nothing(missing) => (Vec::new(), missing),
    };
    if recorded.only {
        return Err(missing.error(&record));
    }
    // Answers from another store cannot share a tree with new ones.
    let hits = if searched.is_own { hits } else { Vec::new() };
    Ok(LookupOutcome::Partial(PartialLookup { hits, ran }))
}

impl RecordLookup {
    /// Reads the messages before the answer. Nothing is written.
    fn read(
        args: &DoArgs,
        lookup: &TurnLookup<'_>,
        recorded: &RecordedOptions,
        configured: &Configuration,
        context: &Context<'_>,
    ) -> Result<RecordLookup> {
        let question = lookup.question;
        let has_servers = matches!(lookup.voices, Voices::One { has_servers: true });
        let own_store = context.find_store()?.map(Arc::new);
        let from = recorded.from.as_deref().map(|path| open(path, context)).transpose()?.map(Arc::new);
        let root: PathBuf = own_store
            .as_ref()
            .map_or_else(|| context.cwd().to_path_buf(), |store| store.root().to_path_buf());
        let continues_debate =
            args.group.mode() == Some(GroupMode::Debate) && question.is_none() && !args.retry;
        let (start, mut history) = find_start(args, continues_debate, own_store.as_deref(), from.as_deref())?;
        let prompt = match start {
            TurnStart::New => configured.system_prompt(has_servers)?,
            _ => None,
        };
        let is_own = from.is_none();
        let store = from.or_else(|| own_store.clone());
        let ran = match &store {
            Some(store) if !args.run.is_empty() => {
                run_commands(&args.run, configured, own_store.as_ref().unwrap_or(store))?
            }
            _ => Vec::new(),
        };
        let outputs: Vec<Vec<u8>> = ran.iter().map(|ran| ran.text.clone()).collect();
        history.extend(opening_messages(
            prompt,
            &outputs,
            question,
            &configured.masking(),
            (context.cwd(), &root),
        )?);
        let searched = match store {
            Some(store) => {
                let forest = store.forest()?;
                Some(SearchedStore { store, forest, is_own, start })
            }
            None => None,
        };
        Ok(RecordLookup { searched, history, ran })
    }
}

pub fn no_store() -> Error {
    not_recorded(format!("no recorded answer: there is no {STORE} here or in a parent directory"))
        .hint("--recorded-from STORE names one")
}

/// Opens the store at a path: the directory with the messages, or its parent.
pub fn open(path: &Path, context: &Context<'_>) -> Result<Store> {
    let absolute = context.cwd().join(path);
    let inner = absolute.join(STORE);
    let dir = if inner.is_dir() { inner } else { absolute };
    Store::anywhere(&dir)?.ok_or_else(|| {
        Error::usage(format!("no store {}", path.display()))
            .hint("--recorded-from takes the directory that holds the messages, like tests/.lepo")
    })
}

/// Returns the messages up to the start of the turn: from the current store, or else from the searched one.
fn find_start(
    args: &DoArgs,
    continues_debate: bool,
    own_store: Option<&Store>,
    from: Option<&Store>,
) -> Result<(TurnStart, Vec<PastMessage>)> {
    let new = args.new || args.group.mode().is_some() && args.tail.is_none() && !args.retry;
    let names_start = args.tail.is_some() || args.retry;
    let start_in = |store: &Store| -> Result<(TurnStart, Vec<PastMessage>)> {
        let (forest, tail) = read_tail(args, store, new)?;
        let begin = match tail.filter(|_| continues_debate) {
            Some(tail) => debate_at(&forest, tail.ix)?,
            None => start(store, &forest, StartOptions { new, tail, retry: args.retry })?,
        };
        Ok((begin, before(store, &forest, begin)?))
    };
    match (own_store, from) {
        (Some(own_store), from) => match (start_in(own_store), from) {
            (Err(error), Some(from)) if names_start => start_in(from).map_err(|_| error),
            (found, _) => found,
        },
        (None, Some(from)) if names_start => start_in(from),
        (None, None) if names_start => Err(no_store()),
        _ => Ok((TurnStart::New, Vec::new())),
    }
}

/// Runs the user's own commands, whose output is part of the request.
fn run_commands(
    commands: &[String],
    configured: &Configuration,
    store: &Arc<Store>,
) -> Result<Vec<ToolResult>> {
    run_in_turn_env(current_thread()?, (configured.clone(), None), (store, true), async |env| {
        let (runner, mut ran) = (CommandRunner::new(env), Vec::new());
        for command in commands {
            ran.push(runner.carry_out_own(command, CommandOrigin::RunOption, &mut |_| ()).await?);
        }
        Ok(ran)
    })
}

/// Prints a recorded answer as a turn does. False if code was requested and it has none.
fn print_turn(
    args: &DoArgs,
    hit: RecordedAnswer,
    searched: &SearchedStore,
    settings: &Settings,
    context: &mut Context<'_>,
) -> Result<bool> {
    let options = args.display_options(settings);
    let store = &searched.store;
    let mut output = args.output.as_deref().map(open_output).transpose()?;
    if args.show_past && !args.json && !args.events && searched.is_own {
        let shown = (&mut *context.out, context.paint);
        ui::show_past(options, shown, store, &searched.forest, searched.start)?;
    }
    let at_terminal =
        context.out.is_terminal() && stderr_is_terminal() && !options.waits_for_end && !args.events;
    if args.events {
        show_answer(store, &hit, &mut EventLines::new(context.out, context.at))?;
    } else {
        let mut view = turn_view(context, options);
        show_answer(store, &hit, &mut view)?;
        view.finish();
    }
    let outcome = hit.outcome();
    if let Some(id) = outcome.recorded.filter(|_| at_terminal) {
        print_status_dim(&format!("recorded {id}"), context.forced_paint);
    }
    print(args, &outcome, store, output.as_mut(), context)
}

/// Prints recorded answers of a group turn as the group turn does.
fn print_group(
    args: &DoArgs,
    lookup: &TurnLookup<'_>,
    outcome: &GroupOutcome,
    store: &Store,
    settings: &Settings,
    context: &mut Context<'_>,
) -> Result<()> {
    let mut output = args.output.as_deref().map(open_output).transpose()?;
    // A recorded answer is printed as stored.
    let masking = Arc::new(Masking::shapes_only());
    let participants = &settings.many_participants;
    let (mode, names) = match outcome {
        GroupOutcome::Polled(polled) => {
            let judge = polled.judge.as_ref().map(|(name, _)| name.as_str());
            (GroupMode::Parallel, PanelNames::new(participants, judge, None))
        }
        GroupOutcome::Debated(_) => {
            let orchestrator = settings.many_orchestrator.as_deref();
            (GroupMode::Debate, PanelNames::new(participants, None, orchestrator))
        }
    };
    let group = GroupOutput { mode, names: &names, store, masking: &masking };
    if !args.events {
        let question = lookup.question.map(|question| question.text.as_str());
        group.show(outcome, question, args.display_options(settings), context);
    }
    group.print(args, outcome, output.as_mut(), context)
}
