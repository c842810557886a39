//! `lepo do`: runs a turn, a group turn, or a session.

mod acp;
mod args;
mod budget_args;
mod closed_output;
mod compact;
mod context_files;
mod continuing;
pub mod document;
mod dry_run;
mod form_args;
mod group;
mod group_args;
mod group_models;
mod group_output;
mod input;
mod job_args;
mod log;
mod new_conversation;
pub mod options;
mod output;
mod proxy;
mod recorded;
mod replay;
mod replay_report;
mod setup;
mod store_args;
mod tools;
mod turn;
mod turn_input;
mod turn_output;
mod worktree_tail;

use super::Context;
use super::tidy_after::tidy_after;
use crate::repl::{SessionOptions, run_session};
use crate::term::{AnswerWait, Out, set_attention_signal};
use crate::ui::{EndFields, EventDocument, GroupDocument, TurnDocument};
use crate::view::ErrorFields;
pub use args::DoArgs;
use continuing::ConversationEnd;
use document::DoDocument;
use lepo_base::error::{Error, ExitKind, Result};
use lepo_base::hint::HintTarget;
use lepo_net::runtime::current_thread;
use lepo_turn::config::{AttentionSignal, PromptTemplate};
use lepo_turn::{GroupMode, Outcome};
use new_conversation::{apply_new_setting, check_no_keep};
pub use proxy::TrafficDocument;
use setup::{Setup, recover_cut, run_in_turn_env};
use turn_input::DoInput;
use worktree_tail::set_worktree_tail;

pub fn run_do(args: DoArgs, context: &mut Context<'_>) -> Result<u8> {
    // Otherwise a child process could read lepo's keys from its environment.
    lepo_base::sys::hide_memory();
    // Inherited descriptors are not passed to commands: an open directory would lead out of the sandbox.
    close_fds::set_fds_cloexec(3, &[]);
    let (json, events, parallel) = (args.json, args.events, args.group.mode() == Some(GroupMode::Parallel));
    dispatch(args, context).inspect_err(|error| {
        if (json || events) && context.out.is_unused() {
            print_failure(context.out, error, (events, parallel), context.at);
        }
    })
}

/// Prints the document of a turn that failed to start; for `parallel` in an array, like other documents.
pub fn print_failure(out: &mut Out, error: &Error, (events, parallel): (bool, bool), at: HintTarget<'_>) {
    let nothing = Outcome::default();
    let turn = TurnDocument::unanswered(&nothing, Some(error), at);
    match (events, parallel) {
        (false, false) => out.document(&DoDocument::Turn(&turn)),
        (false, true) => out.document(&DoDocument::Group(&GroupDocument::unasked(turn))),
        (true, false) => out.document(&EventDocument::end(EndFields::Turn(&turn))),
        (true, true) => {
            let error = Some(ErrorFields::new(error, at));
            out.document(&EventDocument::end(EndFields::Replies { replies: &[], error }));
        }
    }
}

fn dispatch(mut args: DoArgs, context: &mut Context<'_>) -> Result<u8> {
    let wait = AnswerWait::start();
    options::check_companions(&args)?;
    check_no_keep(&mut args, context)?;
    if args.editor.acp {
        return acp::run_acp(args, context);
    }
    if args.proxy.proxy {
        return proxy::run_proxy(&args, context);
    }
    // Checked first: an invalid schema is an error for every question.
    let schema = args.form.answer_schema()?;
    let (prompt, skill) = input::find_prompt_or_skill(&mut args, context)?;
    if let Some(PromptTemplate { model: Some(model), .. }) = &prompt
        && args.model.is_empty()
        && args.group.mode().is_none()
    {
        args.model.push(model.clone());
    }
    if args.replay.replay.is_some() {
        return replay::run_replay(&args, context);
    }
    if args.list_tools {
        return tools::list_tools(&args, context);
    }
    if args.context_files {
        return context_files::list_context_files(&args, context);
    }
    if args.takes_default_tail() {
        args.tail = match args.recorded.options()? {
            // The message may be in the store to search.
            Some(_) => lepo_base::env::text("LEPO_TAIL").filter(|tail| !tail.is_empty()),
            None => setup::default_tail(context)?,
        };
    }
    if let Some(mode) = args.group.mode() {
        args.server_content()?;
        let ran = group::run_group(&args, mode, prompt.as_ref(), schema, context);
        wait.finish();
        return ran;
    }
    if args.compact {
        set_worktree_tail(&mut args, context)?;
        return compact::run_compact(&args, context);
    }
    let (verdict, served) = (args.verdict()?, args.server_content()?);
    let code_only = args.form.code > 0;
    let asks_nothing = args.retry || verdict.is_some();
    let is_bare = args.keeping.goes_on && !asks_nothing && args.prompt.is_empty() && args.file.is_empty();
    let end = if is_bare { ConversationEnd::read(&args, context)? } else { ConversationEnd::Other };
    let rest = end == ConversationEnd::Stopped;
    let question = match asks_nothing {
        true => None,
        false => match input::question(&args, prompt.as_ref()) {
            Err(error) if rest && error.kind == ExitKind::Usage => None,
            question => question.map_err(|error| end.explain(error))?,
        },
    };
    let rest = rest && question.is_none();
    let asks = question.is_some() || served.prompt.is_some() || asks_nothing || rest;
    if args.dry_run {
        let input = DoInput { verdict, question, served, schema, code_only, skill, rest };
        return match asks {
            true if rest => Err(Error::usage("--dry-run needs a question")),
            true => dry_run::show_first_request(&mut args, input, context),
            false => Err(Error::usage("no question: --dry-run needs one")
                .hint("lepo do --dry-run QUESTION, or the question on stdin")),
        };
    }
    if asks {
        let input = DoInput { verdict, question, served, schema, code_only, skill, rest };
        let ran = turn::run_turn(&mut args, input, context);
        wait.finish();
        return ran;
    }
    check_session(&args, schema.is_some())?;
    if !args.quiet {
        end.print_before_session();
    }
    session(&mut args, context)
}

/// Fails if an option needs a question, because a session follows where none was given.
fn check_session(args: &DoArgs, has_schema: bool) -> Result<()> {
    let needs = [
        (args.json || args.events, "--json and --events need", "--json QUESTION"),
        (has_schema, "--schema needs", "--schema FILE QUESTION"),
        (args.form.code > 0, "--code needs", "-x QUESTION"),
        (args.form.line, "--line needs", "--line QUESTION"),
    ];
    match needs.into_iter().find(|(is_given, ..)| *is_given) {
        Some((_, what, example)) => Err(Error::usage(format!("no question: {what} one"))
            .hint(format!("lepo do {example}, or the question on stdin"))),
        None => Ok(()),
    }
}

fn session(args: &mut DoArgs, context: &mut Context<'_>) -> Result<u8> {
    let setup = Setup::read(args, context)?;
    apply_new_setting(args, setup.configured.settings.new, context)?;
    set_attention_signal(setup.configured.settings.term_notify.unwrap_or(AttentionSignal::Bell));
    let servers = setup.servers()?;
    let store = setup::store_of_turn(args, context)?;
    recover_cut(&store, args.quiet)?;
    let runtime = current_thread()?;
    let options = SessionOptions {
        new: args.new,
        tail: args.tail.clone(),
        show_past: args.show_past,
        display: args.display_options(&setup.configured.settings),
        runs: args.run.clone(),
        keeps: !args.keeping.no_keep,
    };
    let tidy = setup.configured.settings.tidy.limit();
    let env = (setup.configured, Some(servers));
    let keeps = options.keeps;
    // After a signal, the prompt's thread still waits for a line: it is background work.
    let ended = run_in_turn_env(runtime, env, (&store, keeps), async |env| {
        run_session(options, env, context.out, context.paint).await
    });
    tidy_after(&store, tidy, args.quiet, context.out);
    ended.map(|()| 0)
}
