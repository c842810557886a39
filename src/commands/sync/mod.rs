//! `lepo sync`: sends messages to a git remote and imports other clones' messages.

mod args;
mod choose_remote;
mod report;

use std::thread::sleep;
use std::time::{Duration, UNIX_EPOCH};

pub use args::SyncArgs;
use choose_remote::{SyncTarget, refuse_inside, set_remote};
use report::{print_news, replacement, troubles};

use super::Context;
use super::changes::removed_span;
use crate::commands::user_env::UserEnv;
use crate::term::{fold, print_status, tty};
use lepo_base::env::Env;
use lepo_base::error::{Error, ExitKind, Result};
use lepo_base::time;
use lepo_store::bubb::{BubbId, ContentHash, plural};
use lepo_store::store::{Store, now};
use lepo_sync::{
    Git, Identity, PushSecrets, RemovalConsent, SyncOptions, SyncRound, SyncState, check_clone_name, email,
    forget, forget_taken, round, unfetched, unsent,
};
use lepo_turn::config::{Flags, Paths, load_settings};
use lepo_turn::secret_values;

pub fn run_sync(args: SyncArgs, context: &mut Context<'_>) -> Result<u8> {
    let user = context.user_env()?;
    let UserEnv { env, paths } = &*user;
    let (store, first) = match (context.find_store()?, &args.remote) {
        (Some(store), _) => {
            if !args.status {
                context.preserve_line_ends(&store);
            }
            (store, None)
        }
        (None, Some(remote)) => {
            let target = SyncTarget::before_store(remote, &args, paths, context)?;
            let store = context.store_or_make(true)?;
            print_status(&format!("made {}", store.display_path().display()));
            (store, Some(target))
        }
        (None, None) => {
            return Err(context
                .store()
                .map(|_| ())
                .err()
                .unwrap_or_else(|| Error::nothing("no store"))
                .hint("`lepo sync URL` makes one, with the messages of that remote"));
        }
    };
    let identity = Identity::read(&store.path())?;
    if args.status {
        return status(&store, paths, &identity, context);
    }
    let is_new = !SyncState::is_there(&paths.data, &identity);
    if is_new && args.remote.is_none() {
        return Err(not_synced());
    }
    let mut state = SyncState::open(&paths.data, &identity)?;
    let chosen = match (&args.remote, first) {
        (None, _) => None,
        (Some(_), Some(target)) => Some(target.apply_to(&mut state)),
        (Some(remote), None) => set_remote(remote, &args, &store, &mut state, context.cwd())?,
    };
    // In a linked worktree the store belongs to another one.
    refuse_inside(&state.settings.url, &[store.root(), &store.path(), context.cwd()])?;
    set_rest(&args, &mut state, &store)?;
    state.save()?;
    let may_ask = tty().is_some();
    if args.forget {
        let git = Git::at(&state.repository(), may_ask);
        let email = email(store.root()).unwrap_or_else(|| "lepo@localhost".into());
        forget(&git, &state, (&email, now()))?;
        print_status(
            "the remote history is gone; hosts may keep the old objects for a while, and clones that \
                fetched them still have them: change any secret that was sent",
        );
        return Ok(0);
    }
    let secrets = secrets(paths, env);
    match args.watch {
        None => {
            let removals = match (args.yes, may_ask) {
                (true, _) => RemovalConsent::Given,
                (false, true) => RemovalConsent::Ask(&confirm),
                (false, false) => RemovalConsent::Nobody,
            };
            let options = SyncOptions {
                secrets: &secrets,
                may_ask,
                removals,
                keeps_removed: removed_span().millis().is_some(),
            };
            let mut done = round(&store, &mut state, &options, chosen)?;
            let asks = may_ask && !args.yes && context.out.is_terminal();
            let take = |names: &mut Vec<String>| if asks { std::mem::take(names) } else { Vec::new() };
            let (unknown, replaced) = (take(&mut done.unknown), take(&mut done.replaced));
            let code = print(done, &store, &state, context)?;
            context.out.flush();
            let is_any = decide(&unknown, &mut state, &store)?;
            if !decide_again(&replaced, &mut state, &store)? && !is_any {
                return Ok(code);
            }
            print(round(&store, &mut state, &options, None)?, &store, &state, context)
        }
        Some(seconds) => {
            let reopened = || SyncState::open(&paths.data, &identity);
            watch(seconds, &store, state, reopened, &secrets, context)
        }
    }
}

fn set_rest(args: &SyncArgs, state: &mut SyncState, store: &Store) -> Result<()> {
    if let Some(name) = args.name.as_ref().filter(|name| **name != state.settings.name) {
        check_clone_name(name)?;
        return Err(Error::usage(format!("this clone is named {} already", state.settings.name))
            .hint("a clone keeps its name, by which others know it"));
    }
    state.settings.heads = (state.settings.heads || args.heads) && !args.no_heads;
    for name in args.mine.iter().chain(&args.not_mine) {
        check_clone_name(name)?;
    }
    for name in &args.mine {
        if *name == state.settings.name {
            return Err(Error::usage(format!("{name} is this clone itself")));
        }
        make_mine(name, state, store)?;
    }
    for name in &args.not_mine {
        give_up(name, state)?;
    }
    for id in &args.allow {
        let blob = || ContentHash::parse(&id.to_lowercase()).map(|hash| hash.to_string());
        let id = match BubbId::parse(id.as_bytes()).map(|id| id.to_string()).or_else(blob) {
            Some(id) => id,
            None => {
                return Err(Error::usage(format!("--allow {id:?} is not a full id"))
                    .hint("give the id, or the hash of the blob, as it was named"));
            }
        };
        state.settings.allowed.insert(id);
    }
    Ok(())
}

/// Marks a clone as the user's own: the next round merges it, and its copy as another user's is deleted.
fn make_mine(name: &str, state: &mut SyncState, store: &Store) -> Result<()> {
    state.settings.others.remove(name);
    let is_new = state.settings.mine.insert(name.to_string());
    // The next round merges its ref whatever was fetched before.
    let was_seen = state.settings.seen.remove(name).is_some();
    if is_new || was_seen {
        forget_taken(&Git::at(&state.repository(), false), name)?;
    }
    if is_new {
        store.remove_peer(name)?;
    }
    Ok(())
}

/// Marks a clone as another user's. Merged messages stay.
fn give_up(name: &str, state: &mut SyncState) -> Result<()> {
    state.settings.mine.remove(name);
    state.settings.seen.remove(name);
    state.settings.others.insert(name.to_string());
    forget_taken(&Git::at(&state.repository(), false), name)
}

/// Asks on the terminal; false without one.
fn confirm(question: &str) -> Result<bool> {
    let Some(mut terminal) = tty() else { return Ok(false) };
    terminal.confirm(&fold(question, terminal.columns()))
}

/// Asks whether clones with a replaced ref are still the user's own; returns whether any is.
fn decide_again(replaced: &[String], state: &mut SyncState, store: &Store) -> Result<bool> {
    let mut is_any = false;
    for clone in replaced {
        match confirm(&format!("{}. Merge it again? (y/N): ", replacement(clone)))? {
            true => {
                make_mine(clone, state, store)?;
                is_any = true;
            }
            false => print_status(&format!(
                "{clone} is ignored; `lepo sync --not-mine {clone}` no longer counts it as yours"
            )),
        }
        state.save()?;
    }
    Ok(is_any)
}

/// Asks once about each clone with the user's git email; returns whether any is the user's own.
fn decide(unknown: &[String], state: &mut SyncState, store: &Store) -> Result<bool> {
    let mut is_any = false;
    for clone in unknown {
        let question = format!(
            "{clone} has your git email, but anyone who can write to the remote can claim that. Is it \
                another clone of yours, to be merged into {}? (y/N): ",
            store.display_path().display()
        );
        match confirm(&question)? {
            true => {
                make_mine(clone, state, store)?;
                is_any = true;
            }
            false => {
                state.settings.others.insert(clone.clone());
                print_status(&format!(
                    "it stays in _from/{clone}; `lepo sync --mine {clone}` merges it later"
                ));
            }
        }
        state.save()?;
    }
    Ok(is_any)
}

/// Collects the secrets to search for: variables with secret names, and configured keys.
fn secrets(paths: &Paths, env: &Env) -> PushSecrets {
    let models =
        load_settings(paths, env, None, &Flags::default()).map(|config| config.models).unwrap_or_default();
    PushSecrets::new(secret_values(env, &models))
}

/// Syncs repeatedly. Reports once that it is offline, what is withheld, and what cannot be fetched. Releases
/// the state between rounds, so that other syncs can run, and then uses the settings that they stored.
fn watch(
    seconds: u64,
    store: &Store,
    mut state: SyncState,
    reopened: impl Fn() -> Result<SyncState>,
    secrets: &PushSecrets,
    context: &mut Context<'_>,
) -> Result<u8> {
    let (mut is_offline, mut reported) = (false, Vec::new());
    let options = SyncOptions {
        secrets,
        may_ask: false,
        removals: RemovalConsent::Nobody,
        keeps_removed: removed_span().millis().is_some(),
    };
    loop {
        let mut done = round(store, &mut state, &options, None)?;
        match (done.error.take(), is_offline) {
            (Some(error), false) => {
                print_status(&format!("{}; trying again every {seconds} s", error.chain()));
                is_offline = true;
            }
            (Some(_), true) => {}
            (None, true) => {
                print_status("the remote answers again");
                is_offline = false;
            }
            (None, false) => {}
        }
        print_news(&done, &state, context);
        let now = troubles(&done, store, state.settings.heads, context.at);
        now.iter().filter(|line| !reported.contains(*line)).for_each(print_status);
        reported = now;
        context.out.flush();
        if context.out.closed() {
            return Ok(0);
        }
        drop(state);
        sleep(Duration::from_secs(seconds));
        state = reopened()?;
        if state.settings.url.is_empty() {
            // The state was deleted in the meantime.
            return Err(not_synced());
        }
    }
}

fn not_synced() -> Error {
    Error::usage("this store is not synced yet")
        .hint("say where: lepo sync URL, or lepo sync REMOTE for a remote of this git repository")
}

/// Prints the result of a round; exit 1 if messages were withheld or a clone could not be fetched.
fn print(done: SyncRound, store: &Store, state: &SyncState, context: &mut Context<'_>) -> Result<u8> {
    let news = print_news(&done, state, context);
    troubles(&done, store, state.settings.heads, context.at).iter().for_each(print_status);
    if let Some(error) = done.error {
        return Err(match error.kind {
            ExitKind::Remote if error.hint.is_none() => {
                error.hint("nothing is lost: `lepo sync` sends it when the remote can be reached")
            }
            _ => error,
        });
    }
    if news == 0 && context.out.is_terminal() {
        print_status("nothing new");
    }
    Ok(u8::from(!done.summary.held_back.is_empty() || !done.bad.is_empty()))
}

fn status(store: &Store, paths: &Paths, identity: &Identity, context: &mut Context<'_>) -> Result<u8> {
    let Some(settings) = SyncState::read(&paths.data, identity)? else {
        return Err(Error::nothing(format!("{} is not synced", store.display_path().display()))
            .hint("to begin: lepo sync URL"));
    };
    let out = &mut *context.out;
    out.line(&format!("remote: {}", settings.url));
    out.line(&format!("this clone: {}", settings.name));
    let list =
        |names: &std::collections::BTreeSet<String>| names.iter().cloned().collect::<Vec<_>>().join(", ");
    if !settings.mine.is_empty() {
        out.line(&format!("yours: {}", list(&settings.mine)));
    }
    let last = SyncState::synced(&paths.data, identity).and_then(|at| at.duration_since(UNIX_EPOCH).ok());
    let last = match last {
        None => "never".to_string(),
        Some(at) => time::ago(at.as_millis() as u64, now()),
    };
    out.line(&format!("last synced: {last}"));
    let git = Git::at(&SyncState::repository_of(&paths.data, identity), false);
    let pushed = SyncState::pushed(&paths.data, identity);
    out.line(&format!("not sent yet: {}", plural(unsent(store, &git, pushed)?, "message")));
    for clone in unfetched(store, &git, &settings.name)? {
        out.line(&format!("_from/{clone}: gone from the remote, kept because messages here follow it"));
    }
    Ok(0)
}
