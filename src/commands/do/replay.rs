//! `lepo do --replay`: asks the questions of a conversation again, of one model or several concurrently.

use std::sync::Arc;

use super::DoArgs;
use super::replay_report::{ReplayReport, print, resume_command};
use super::setup::{Setup, run_with_signals};
use crate::commands::Context;
use crate::commands::address_args::find_all;
use crate::commands::tidy_after::tidy_after;
use crate::ui::{self, ReplayRows};
use lepo_base::error::{Error, ExitKind as ErrorKind, Result, quoted};
use lepo_base::hint::HintTarget;
use lepo_base::role::Role;
use lepo_model::ModelConfig;
use lepo_net::runtime::current_thread;
use lepo_secrets::ScreenedBytes;
use lepo_store::conv::{AddressMatch, Forest, Ix, ReadScope};
use lepo_store::store::Store;
use lepo_turn::TurnEnv;
use lepo_turn::config::Insts;
use lepo_turn::replay::{ReplayOptions, ReplayOutcome, ReplayPlan, all, replay};
use lepo_turn::write_bubb;

pub fn run_replay(args: &DoArgs, context: &mut Context<'_>) -> Result<u8> {
    let setup = Setup::read(args, context)?;
    let configs = models(args, &setup)?;
    let store: Arc<Store> = context.store()?.into();
    let (forest, plans) = plans(args, &store, configs.len())?;
    let before = forest.newest().map(|newest| forest.name(newest).id);
    let plans = under_new_root(&setup, &store, &forest, plans, args.system.is_some())?;
    let insts = ui::insts_with_warnings(setup.configured.insts(&store)?);
    let lines = run(args, (&setup, context.at), &store, &forest, (&configs, &insts), plans)?;
    let settings = &setup.configured.settings;
    let (models, configs) = (&settings.models, &configs);
    print(&ReplayReport { args, store: &store, lines: &lines, models, configs, before }, context)?;
    tidy_after(&store, settings.tidy.limit(), args.quiet, context.out);
    outcome(args, lines)
}

/// Returns the models of `-m`, else the default one.
fn models(args: &DoArgs, setup: &Setup) -> Result<Vec<ModelConfig>> {
    let mut configs = Vec::new();
    for name in &args.model {
        let config = setup.configured.settings.model(name)?;
        config.require_key()?;
        if configs.iter().any(|other: &ModelConfig| other.name == config.name) {
            return Err(Error::usage(format!("model {} is given twice", quoted(name))));
        }
        configs.push(config);
    }
    if configs.is_empty() {
        configs.push(current_thread()?.block_on(setup.configured.choose())?);
    }
    Ok(configs)
}

/// Returns the forest, and a plan for each model.
fn plans(args: &DoArgs, store: &Store, models: usize) -> Result<(Forest, Vec<ReplayPlan>)> {
    let options = &args.replay;
    if options.onto.len() > models {
        return Err(Error::usage(format!(
            "--onto is given {} times, for {models} models",
            options.onto.len()
        ))
        .hint("the first belongs to the first -m, the second to the second"));
    }
    let names: Vec<String> =
        options.replay.iter().chain(&options.from).chain(&options.onto).map(String::to_string).collect();
    let (forest, found) = find_all(store, &names, &[ReadScope::All { peers: true }])?;
    let mut found = names.iter().zip(found).map(|(word, found)| match found {
        AddressMatch::One(one) => Ok(one.ix),
        AddressMatch::Range(_) => {
            Err(Error::usage(format!("expected one message, but {} is a range", quoted(word))))
        }
    });
    let mut next = || found.next().transpose();
    let end = next()?.ok_or_else(|| Error::usage("no message given"))?;
    let from = if options.from.is_some() { next()? } else { None };
    let onto: Vec<Option<Ix>> = options.onto.iter().map(|_| next()).collect::<Result<_>>()?;
    let plan = |at: usize| {
        let onto = onto.get(at).copied().flatten();
        let (new_system, teacher) = (args.system.is_some(), options.teacher);
        ReplayPlan::new(store, &forest, ReplayOptions { end, from, onto, new_system, teacher })
    };
    let plans = (0..models).map(plan).collect::<Result<Vec<ReplayPlan>>>()?;
    Ok((forest, plans))
}

/// Moves the lines below a new root with the system prompt of `--system`.
fn under_new_root(
    setup: &Setup,
    store: &Store,
    forest: &Forest,
    mut plans: Vec<ReplayPlan>,
    wanted: bool,
) -> Result<Vec<ReplayPlan>> {
    let prompt = setup.configured.cli_system_prompt().filter(|prompt| wanted && !prompt.trim().is_empty());
    if let Some(prompt) = prompt {
        let prompt = ScreenedBytes::typed(&prompt);
        let root = write_bubb(store, (Role::System, true), None, forest.root_time(), &prompt)?;
        plans.iter_mut().for_each(|plan| plan.base = Some(root.id));
    }
    Ok(plans)
}

fn run(
    args: &DoArgs,
    (setup, at): (&Setup, HintTarget<'_>),
    store: &Arc<Store>,
    forest: &Forest,
    (configs, insts): (&[ModelConfig], &Insts),
    plans: Vec<ReplayPlan>,
) -> Result<Vec<ReplayOutcome>> {
    run_with_signals(current_thread()?, async |interrupt| {
        let mut envs = Vec::new();
        for _ in configs {
            let (configured, servers) = (setup.configured.clone(), setup.servers()?);
            envs.push(TurnEnv::new(configured, servers, store.clone(), interrupt.clone()));
        }
        let names: Vec<String> = configs.iter().map(|config| config.name.clone()).collect();
        let rows = ReplayRows::new(&names, args.quiet, at);
        let (rows, envs) = (&rows, &envs);
        let replays = configs.iter().zip(plans).enumerate().map(|(at, (config, plan))| async move {
            let mut view = rows.line(&config.name);
            let line = replay((&envs[at], config, insts), forest, plan, at as u64, &mut view).await;
            rows.mark_ended(&config.name, line.error.is_none());
            line
        });
        let lines = tokio::select! {
            lines = all(replays) => lines,
            never = rows.ticks() => never,
        };
        rows.finish();
        for env in envs {
            env.close().await;
        }
        Ok(lines)
    })
}

/// Exit 0 if any line was completed; otherwise the error, with the command that resumes.
fn outcome(args: &DoArgs, lines: Vec<ReplayOutcome>) -> Result<u8> {
    if lines.iter().any(|line| line.error.is_none()) {
        return Ok(0);
    }
    let resume = resume_command(args, &lines);
    let kind = |line: &ReplayOutcome| line.error.as_ref().map(|error| error.kind);
    let several = lines.len() > 1;
    let stronger =
        |kind: &ErrorKind| matches!(kind, ErrorKind::Signal(_) | ErrorKind::Pending | ErrorKind::Store);
    let worst = lines.iter().filter_map(kind).find(stronger).unwrap_or(ErrorKind::Remote);
    let Some(error) = lines.into_iter().find_map(|line| line.error) else { return Ok(0) };
    let error = match several {
        true => Error::new(worst, "no replay was completed"),
        false => error.with_kind(worst),
    };
    let hint = error.hint.clone().filter(|_| worst == ErrorKind::Pending).map(|hint| hint.text("\n"));
    Err(error.hint(hint.unwrap_or_default().bare(resume)))
}
