//! The set-up of a turn: options, the user's and the repository's files, the store, the log.

use std::path::PathBuf;
use std::sync::Arc;

use super::DoArgs;
use super::log::start_log;
use crate::commands::Context;
use crate::commands::repo_files::{REPO_FILES, trusted};
use crate::commands::user_env::UserEnv;
use crate::term::{StatusLine, print_status, set_attention_signal};
use lepo_base::env::{self, Env};
use lepo_base::error::{Error, Result};
use lepo_base::secret::Secret;
use lepo_net::runtime::Runtime;
use lepo_store::conv::{AddressTarget, Forest, Ix};
use lepo_store::store::{Store, StrayOutcome};
use lepo_tool::ToolMode;
use lepo_tool::covers_home;
use lepo_tool::mcp::Servers;
use lepo_turn::config::{AttentionSignal, Flags};
use lepo_turn::secret_values;
use lepo_turn::{Branch, Configuration, Interrupt, TrustedFile, TurnEnv, TurnStart};

/// The configuration of `do`, read before anything is written.
pub struct Setup {
    pub configured: Configuration,
    /// The working directory of turns.
    dir: PathBuf,
    /// The repository's MCP servers, if they are trusted.
    repo_servers: Option<TrustedFile>,
}

impl Setup {
    pub fn read(args: &DoArgs, context: &Context<'_>) -> Result<Setup> {
        let user = context.user_env()?;
        let UserEnv { env, paths } = &*user;
        let flags = Flags { dir: Some(context.cwd().to_path_buf()), ..args.flags()? };
        let (dir, repo, repo_servers, subject) = match context.find_store()? {
            Some(store) => {
                let [config, servers] = REPO_FILES.map(|name| trusted(&store, paths, name, args.quiet));
                (store.root().to_path_buf(), config?, servers?, "the store is in")
            }
            None => (context.new_root(), None, None, "this directory is or holds"),
        };
        let mut configured = Configuration::load(paths.clone(), env, repo, flags)?;
        // An unknown model fails here, not at the first question; for a look-up it may be unknown.
        if args.recorded.options()?.is_none() {
            configured.check_wanted()?;
        }
        if !args.quiet && configured.settings.tool_call_mode != ToolMode::Off && covers_home(&dir) {
            print_status(&StatusLine::note(format!(
                "{subject} your home directory: commands cannot see its hidden files (.*), \
                 and lepo asks before each command",
            )));
        }
        set_attention_signal(configured.settings.term_notify.unwrap_or(AttentionSignal::Off));
        let keys = configured.settings.keys().into_iter().map(Secret::new).collect();
        let values = secret_values(env, &configured.settings.models);
        let level = (configured.settings.log_level, args.keeping.no_keep);
        if !args.dry_run {
            start_log(&configured.paths, level, keys, values);
        }
        // The cost of a turn that is not stored counts in the store that it would have used.
        if let Some(store) = context.find_store()?.filter(|_| args.keeping.no_keep) {
            configured.count_in(store.into(), true);
        }
        Ok(Setup { configured, dir, repo_servers })
    }

    /// Returns the working directory of turns, and the repository's MCP servers, if they are trusted.
    pub fn dir_and_servers(&self) -> (PathBuf, Option<TrustedFile>) {
        (self.dir.clone(), self.repo_servers.clone())
    }

    pub fn has_servers(&self) -> Result<bool> {
        Ok(!self.servers()?.is_empty())
    }

    /// Returns the MCP servers, not started yet.
    pub fn servers(&self) -> Result<Servers> {
        self.configured.servers(&self.dir, self.repo_servers.clone())
    }
}

/// Runs work that signals end early. Background work, such as an abandoned look-up, is not awaited.
pub fn run_with_signals<T>(runtime: Runtime, work: impl AsyncFnOnce(Interrupt) -> Result<T>) -> Result<T> {
    let done = runtime.block_on(async { work(Interrupt::listen()?).await });
    runtime.shutdown_background();
    done
}

/// Runs work in the environment of turns, and ends its servers, also after a failure; without `servers`, its turns call no
/// tools.
pub fn run_in_turn_env<T>(
    runtime: Runtime,
    (configured, servers): (Configuration, Option<Servers>),
    (store, keeps): (&Arc<Store>, bool),
    work: impl AsyncFnOnce(&mut TurnEnv) -> Result<T>,
) -> Result<T> {
    run_with_signals(runtime, async |interrupt| {
        let mut env = match servers {
            Some(servers) => TurnEnv::new(configured, servers, store.clone(), interrupt),
            None => TurnEnv::without_servers(configured, store.clone(), interrupt),
        };
        env.keeps = keeps;
        let done = work(&mut env).await;
        env.close().await;
        done
    })
}

/// Returns the store of a turn, creating it if necessary; an error if the turn starts from an existing
/// message.
pub fn store_of_turn(args: &DoArgs, context: &Context<'_>) -> Result<Arc<Store>> {
    if (args.retry || args.tail.is_some()) && context.find_store()?.is_none() {
        let sought =
            args.tail.as_ref().map_or("no question to answer again".into(), |tail| format!("no {tail}"));
        return Err(Error::usage(format!("{sought}: there is no store here"))
            .hint("ask something first: lepo do QUESTION"));
    }
    if args.keeping.no_keep {
        return context.scratch_store().map(Arc::new);
    }
    let store = context.store_or_make(args.quiet)?;
    // Only this store is written to, and may be searched for recorded answers later.
    if args.recorded.options()?.is_some() && store.track_journal()? && !args.quiet {
        let shown = store.display_path().display();
        print_status(&StatusLine::note(format!(
            "took the journal out of {shown}/.gitignore: recorded answers need it in git"
        )));
    }
    Ok(Arc::new(store))
}

/// Stores the partial answers of killed processes as hidden messages, and reports that. `lepo fsck` finds
/// other remains.
pub fn recover_cut(store: &Store, quiet: bool) -> Result<()> {
    for stray in store.strays()?.into_iter().filter(|stray| stray.is_of_turn()) {
        if let StrayOutcome::Saved(name) = store.settle_stray(stray)?
            && !quiet
        {
            let id = name.id;
            print_status(&StatusLine::note(format!(
                "an answer was cut short by a kill; the next question continues from its part: lepo show {id}"
            )));
        }
    }
    Ok(())
}

/// Returns `LEPO_TAIL`, the default of `--tail`. An invalid address is an error that names the variable.
pub fn default_tail(context: &Context<'_>) -> Result<Option<String>> {
    let env = Env::from_process();
    let Some(tail) = env.text("LEPO_TAIL")? else { return Ok(None) };
    let explain = |error: Error| error.hint("LEPO_TAIL names it; -n starts a new conversation");
    let store = context
        .find_store()?
        .ok_or_else(|| explain(Error::usage(format!("no {tail}: there is no store here"))))?;
    let found = store.forest_at(false, Some(tail)).and_then(|forest| store.find_bubb(&forest, tail));
    found.map_err(explain)?;
    Ok(Some(tail.to_string()))
}

/// Reads the forest as far as the start of a turn needs it, and resolves `--tail`; `new` starts a conversation.
pub fn read_tail(args: &DoArgs, store: &Store, new: bool) -> Result<(Forest, Option<AddressTarget>)> {
    let address = args.tail.as_deref();
    let forest = match args.retry {
        true => store.forest_to_retry(address)?,
        false => store.forest_at(new, address)?,
    };
    let tail = address.map(|address| store.find_bubb(&forest, address)).transpose()?;
    Ok((forest, tail))
}

/// Returns the bubb that a debate continues from: the last visible one, so that an interrupted round is
/// omitted.
pub fn debate_at(forest: &Forest, tail: Ix) -> Result<TurnStart> {
    let id = forest.name(tail).id;
    if forest.last_question(tail).is_none() {
        return Err(Error::usage(format!("no debate to continue: the conversation of {id} has no question"))
            .hint("begin one: lepo do --debate QUESTION"));
    }
    let last_visible = forest.up(tail).map(|ix| forest.name(ix)).find(|name| !name.hidden);
    Ok(TurnStart::Under(last_visible.map_or(id, |name| name.id)))
}

/// Returns the branch on which the turn of a request was asked: from `--tail`, else from `LEPO_TAIL`, if it still
/// names the bubb where the turn started.
pub fn branch_of_request(
    args: &DoArgs,
    store: &Store,
    forest: &Forest,
    request: Ix,
) -> Result<Option<Branch>> {
    let asked_on = |name: &str| Branch::for_request(store, forest, name, request);
    let Some(branch) = &args.tail else {
        return Ok(env::text("LEPO_TAIL").and_then(|branch| asked_on(&branch).ok().flatten()));
    };
    let moving = asked_on(branch)?.ok_or_else(|| {
        let id = forest.name(request).id;
        Error::usage(format!("the question of request {id} was not asked on branch {branch:?}"))
            .hint("leave out --tail, then no branch moves")
    });
    moving.map(Some)
}
