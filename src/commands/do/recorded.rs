//! Answers a turn from the record, before a key, a price or a server is needed.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::DoArgs;
use super::debate_place::debate_at;
use super::setup::{Setup, find_tail};
use super::turn_input::DoInput;
use super::turn_output::{print, turn_view};
use crate::commands::Context;
use crate::commands::output_file::open_output;
use crate::term::{print_status_dim, stderr_is_terminal};
use crate::ui::{self, EventLines};
use lepo_base::error::{Error, Result};
use lepo_model::ModelConfig;
use lepo_net::runtime::current_thread;
use lepo_store::conv::Forest;
use lepo_store::store::{STORE, Store};
use lepo_tool::ToolMode;
use lepo_turn::config::Settings;
use lepo_turn::recorded::{
    OptionsRule, PastMessage, Query, RecordStore, RecordedAnswer, RecordedOptions, ToolHashes, ToolsRule,
    before, find, missed, not_recorded, opened, options_json, schema_hash, show_answer,
};
use lepo_turn::{
    AnswerSchema, CommandOrigin, CommandRunner, Configuration, GroupMode, Interrupt, Question, StartOptions,
    ToolResult, TurnEnv, TurnStart, start,
};

pub enum LookupOutcome {
    /// The answer was recorded and is printed; false if code was requested and it has none.
    Answered(bool),
    /// Not recorded. Contains the output of the user's own commands, which ran for the look-up.
    Missed(Vec<ToolResult>),
}

pub struct RecordLookup {
    /// The store to search; `None` if it does not exist.
    pub store: Option<Arc<Store>>,
    pub forest: Forest,
    /// The store to search is also the current one.
    pub is_own: bool,
    /// The messages before the answer, ending with the question.
    pub past: Vec<PastMessage>,
    pub ran: Vec<ToolResult>,
    start: TurnStart,
}

/// Answers a turn from the record, if possible. With `=only`, a miss is an error.
pub fn find_recorded(
    args: &DoArgs,
    input: &DoInput,
    recorded: &RecordedOptions,
    setup: &Setup,
    context: &mut Context<'_>,
) -> Result<LookupOutcome> {
    let not_looked_up = match (&input.verdict, input.served.is_empty()) {
        (Some(_), _) => Some("a decision on a request is not looked up"),
        (None, false) => Some("what an MCP server gives is not known before it is started"),
        (None, true) => None,
    };
    if let Some(why) = not_looked_up {
        return match recorded.only {
            true => Err(not_recorded(format!("no recorded answer: {why}"))),
            false => Ok(LookupOutcome::Missed(Vec::new())),
        };
    }
    let with = (&setup.configured, setup.has_servers()?);
    let asked = RecordLookup::read(args, input.question.as_ref(), recorded, with, context)?;
    let Some(store) = &asked.store else {
        return if recorded.only { Err(no_store()) } else { Ok(LookupOutcome::Missed(asked.ran)) };
    };
    let wish = wish(&asked.past, &setup.configured, None, input.schema.as_deref(), with.1);
    let record = RecordStore::new(store, &asked.forest);
    match find(&record, &wish)? {
        Some(hit) => {
            let has_code = show(args, hit, &asked, &setup.configured.settings, context)?;
            Ok(LookupOutcome::Answered(has_code))
        }
        None if recorded.only => Err(missed(&record, &wish)),
        None => Ok(LookupOutcome::Missed(asked.ran)),
    }
}

/// Describes the request to this model, or to the default one; the tools of its servers are unknown.
pub fn wish<'w>(
    past: &'w [PastMessage],
    configured: &Configuration,
    model: Option<&str>,
    schema: Option<&AnswerSchema>,
    has_servers: bool,
) -> Query<'w> {
    let settings = &configured.settings;
    let active = || settings.models.iter().find(|model| model.active).map(|model| model.name.clone());
    let name = model.map(str::to_string).or_else(|| settings.wanted.clone()).or_else(active);
    let config: Option<ModelConfig> = name.as_deref().and_then(|name| settings.model(name).ok());
    let given = options_json(configured.cli_options(), &Default::default());
    let options = match &config {
        Some(config) => OptionsRule::Are(options_json(&config.options, &config.extra)),
        None => OptionsRule::Have(given),
    };
    let tools = match (&config, settings.tool_call_mode) {
        (_, ToolMode::Off) => ToolsRule::NoCall,
        (Some(config), _) if !has_servers => {
            ToolsRule::Are(ToolHashes::new(settings.may_command(config), &[]))
        }
        _ => ToolsRule::Any,
    };
    Query { past, model: name, options, schema: schema.map(schema_hash), tools }
}

impl RecordLookup {
    /// Reads the messages before the answer. Nothing is written.
    pub fn read(
        args: &DoArgs,
        asked: Option<&Question>,
        recorded: &RecordedOptions,
        (configured, has_servers): (&Configuration, bool),
        context: &Context<'_>,
    ) -> Result<RecordLookup> {
        let own = context.find_store()?.map(Arc::new);
        let from = recorded.from.as_deref().map(|path| open(path, context)).transpose()?.map(Arc::new);
        let root: PathBuf =
            own.as_ref().map_or_else(|| context.cwd().to_path_buf(), |store| store.root().to_path_buf());
        let goes_on = args.group.mode() == Some(GroupMode::Debate) && asked.is_none() && !args.retry;
        let (start, mut past) = find_start(args, goes_on, own.as_deref(), from.as_deref())?;
        let prompt = match start {
            TurnStart::New => configured.system_prompt(has_servers)?,
            _ => None,
        };
        let is_own = from.is_none();
        let store = from.or_else(|| own.clone());
        let ran = match &store {
            Some(store) if !args.run.is_empty() => {
                run_commands(&args.run, configured, own.as_ref().unwrap_or(store))?
            }
            _ => Vec::new(),
        };
        let outputs: Vec<Vec<u8>> = ran.iter().map(|ran| ran.text.clone()).collect();
        past.extend(opened(prompt, &outputs, asked, &configured.masking(), (context.cwd(), &root))?);
        let forest = match &store {
            Some(store) => store.names().forest()?,
            None => Forest::new(Vec::new()),
        };
        Ok(RecordLookup { store, forest, is_own, past, ran, start })
    }
}

pub fn no_store() -> Error {
    not_recorded(format!("no recorded answer: there is no {STORE} here or in a parent directory"))
        .hint("--recorded-from STORE names one")
}

/// Opens the store at a path: the directory with the messages, or its parent.
pub fn open(path: &Path, context: &Context<'_>) -> Result<Store> {
    let whole = context.cwd().join(path);
    let inner = whole.join(STORE);
    let dir = if inner.is_dir() { inner } else { whole };
    Store::anywhere(&dir)?.ok_or_else(|| {
        Error::usage(format!("no store {}", path.display()))
            .hint("--recorded-from takes the directory that holds the messages, like tests/.lepo")
    })
}

/// Returns the messages up to the start of the turn: from the current store, or else from the searched one.
fn find_start(
    args: &DoArgs,
    goes_on: bool,
    own: Option<&Store>,
    from: Option<&Store>,
) -> Result<(TurnStart, Vec<PastMessage>)> {
    let new = args.new || args.group.mode().is_some() && args.tail.is_none() && !args.retry;
    let is_placed = args.tail.is_some() || args.retry;
    let within = |store: &Store| -> Result<(TurnStart, Vec<PastMessage>)> {
        let forest = store.names().forest()?;
        let tail = find_tail(args, store, &forest)?;
        let begin = match tail.filter(|_| goes_on) {
            Some(tail) => debate_at(&forest, tail.ix)?,
            None => start(store, &forest, StartOptions { new, tail, retry: args.retry })?,
        };
        Ok((begin, before(store, &forest, begin)?))
    };
    match (own, from) {
        (Some(own), from) => match (within(own), from) {
            (Err(error), Some(from)) if is_placed => within(from).map_err(|_| error),
            (found, _) => found,
        },
        (None, Some(from)) if is_placed => within(from),
        (None, None) if is_placed => Err(no_store()),
        _ => Ok((TurnStart::New, Vec::new())),
    }
}

/// Runs the user's own commands, whose output is part of the request.
fn run_commands(
    commands: &[String],
    configured: &Configuration,
    store: &Arc<Store>,
) -> Result<Vec<ToolResult>> {
    current_thread()?.block_on(async {
        let env = TurnEnv::without_servers(configured.clone(), store.clone(), Interrupt::listen()?);
        let mut ran = Vec::new();
        for command in commands {
            ran.push(
                CommandRunner::new(&env)
                    .carry_out_own(command, CommandOrigin::RunOption, &mut |_| ())
                    .await?,
            );
        }
        Ok(ran)
    })
}

/// Prints a recorded answer as a turn does. False if code was requested and it has none.
fn show(
    args: &DoArgs,
    hit: RecordedAnswer,
    asked: &RecordLookup,
    settings: &Settings,
    context: &mut Context<'_>,
) -> Result<bool> {
    let options = args.display_options(settings);
    let Some(store) = &asked.store else { return Ok(true) };
    let mut output = args.output.as_deref().map(open_output).transpose()?;
    if args.show_past && !args.json && !args.events && asked.is_own {
        let shown = (&mut *context.out, context.paint);
        ui::show_past(options, shown, store, &asked.forest, asked.start)?;
    }
    let at_terminal = context.out.is_terminal() && stderr_is_terminal() && !options.whole && !args.events;
    if args.events {
        show_answer(store, &hit, &mut EventLines::new(context.out, context.at))?;
    } else {
        let mut view = turn_view(context, options);
        show_answer(store, &hit, &mut view)?;
        view.finish();
    }
    let report = hit.report();
    if let Some(id) = report.recorded.filter(|_| at_terminal) {
        print_status_dim(&format!("recorded {id}"), context.forced_paint);
    }
    print(args, &report, store, output.as_mut(), context)
}
