//! Decides the remote that a store is synced to, and the name that this clone has there: once, on a yes.

use std::path::Path;

use super::SyncArgs;
use crate::commands::Context;
use crate::term::tty;
use lepo_base::error::{Error, Result, quoted};
use lepo_store::store::{STORE, Store};
use lepo_sync::{
    Git, Namespace, Remote, State, check_clone_name, check_url, default_clone_name, free_clone_name,
    remote_url,
};
use lepo_turn::config::Paths;

/// A place to sync with that was agreed to.
pub struct SyncPlace {
    url: String,
    heads: bool,
    /// The name of this clone there.
    name: String,
    remote: Remote,
}

impl SyncPlace {
    /// Asks the remote for its clones, and finds a name that is free.
    fn of(git: &Git, url: String, heads: bool, args: &SyncArgs) -> Result<SyncPlace> {
        let wanted = args.name.clone().unwrap_or_else(|| default_clone_name(&host_name()));
        check_clone_name(&wanted)?;
        let namespace = if heads { Namespace::Heads } else { Namespace::Own };
        let remote = Remote::of(git, &url, namespace).map_err(|error| match error.hint {
            None => error.hint("see that the address is right and may be read: git ls-remote REMOTE"),
            Some(_) => error,
        })?;
        let is_taken = |name: &str| remote.theirs.contains_key(name);
        if args.name.is_some() && is_taken(&wanted) {
            return Err(Error::usage(format!("another clone is named {wanted}")).hint(
                "take another name: --as NAME; if it is this very clone's old one, it stays as it was",
            ));
        }
        Ok(SyncPlace { name: free_clone_name(&wanted, is_taken), url, heads, remote })
    }

    /// Decides where to sync to while there is no store yet: one is made only for a remote that answers.
    pub fn first(remote: &str, args: &SyncArgs, paths: &Paths, context: &Context<'_>) -> Result<SyncPlace> {
        let url = url_of(remote, context.cwd())?;
        agree(&url, remote, context.save_to().unwrap_or(Path::new(STORE)), args)?;
        // No repository is needed to ask.
        let git = Git::at(&paths.data.join("sync/none"), tty().is_some());
        SyncPlace::of(&git, url, args.heads, args)
    }

    /// Syncs with it from here on. The refs of the remote are given.
    pub fn take(self, state: &mut State) -> Remote {
        let settings = &mut state.settings;
        (settings.url, settings.name, settings.heads) = (self.url, self.name, self.heads);
        self.remote
    }
}

/// Decides where to sync to. The refs of the remote are given where it had to be asked.
pub fn set_remote(remote: &str, args: &SyncArgs, store: &Store, state: &mut State) -> Result<Option<Remote>> {
    let url = url_of(remote, store.root())?;
    if state.settings.url == url {
        return Ok(None);
    }
    agree(&url, remote, store.shown(), args)?;
    if !state.settings.name.is_empty() {
        state.settings.url = url;
        state.forget_remote()?;
        return Ok(None);
    }
    let git = Git::at(&state.repository(), tty().is_some());
    let place = SyncPlace::of(&git, url, state.settings.heads || args.heads, args)?;
    Ok(Some(place.take(state)))
}

/// The URL of a place that the user named; what git could misunderstand is refused.
fn url_of(remote: &str, root: &Path) -> Result<String> {
    check_url(remote)?;
    let is_place = remote.contains([':', '/']) || Path::new(remote).is_dir();
    let url = match is_place {
        true => match std::fs::canonicalize(remote) {
            Ok(path) if !remote.contains("://") => path.to_string_lossy().into_owned(),
            _ => remote.to_string(),
        },
        false => remote_url(root, remote).ok_or_else(|| {
            Error::usage(format!("{remote:?} is neither a URL nor a git remote here"))
                .hint("give a URL, a path, or a name that `git remote` lists")
        })?,
    };
    check_url(&url)?;
    Ok(url)
}

/// Asks whether a store may be synced with a place, unless that was said beforehand.
fn agree(url: &str, remote: &str, shown: &Path, args: &SyncArgs) -> Result<()> {
    if args.yes {
        return Ok(());
    }
    let mut terminal = tty().ok_or_else(|| {
        Error::usage("there is no terminal to ask on")
            .hint(format!("to sync with {url}: lepo sync --yes {}", quoted(remote)))
    })?;
    let question = format!(
        "Sync {} with\n  {url}\nEveryone who can read it can read every message of this store. Go on? (y/N): ",
        shown.display()
    );
    match terminal.confirm(&question)? {
        true => Ok(()),
        false => Err(Error::nothing("nothing was sent")),
    }
}

/// The name of this machine, as uname(1) tells it.
fn host_name() -> String {
    let told = std::process::Command::new("uname").arg("-n").output();
    told.map(|told| String::from_utf8_lossy(&told.stdout).trim().to_string()).unwrap_or_default()
}
