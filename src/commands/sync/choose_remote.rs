//! Determines the remote of a store and this clone's name there: once, with the user's consent.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use super::args::SyncArgs;
use crate::commands::Context;
use crate::term::{fold, print_status, tty};
use lepo_base::error::{Error, Result, quoted};
use lepo_store::store::{STORE, Store};
use lepo_sync::{
    Git, Namespace, RefFilter, RemoteRefs, SyncState, check_clone_name, check_url, default_clone_name,
    free_clone_name, remote_url,
};
use lepo_turn::config::Paths;

/// A remote that the user agreed to sync with.
pub struct SyncTarget {
    url: String,
    heads: bool,
    name: String,
    remote: RemoteRefs,
}

impl SyncTarget {
    /// Lists the remote's clones and chooses a free name.
    fn find(git: &Git, url: String, heads: bool, args: &SyncArgs) -> Result<SyncTarget> {
        let wanted = args.name.clone().unwrap_or_else(|| default_clone_name(&host_name()));
        check_clone_name(&wanted)?;
        let namespace = if heads { Namespace::Heads } else { Namespace::Own };
        let rank = |clone: &str| if args.mine.iter().any(|name| name == clone) { 0 } else { 2 };
        let mut taken = BTreeSet::new();
        let listed = RefFilter { namespace, own_name: "", rank: &rank, taken_names: Some(&mut taken) };
        let remote = RemoteRefs::fetch(git, &url, listed).map_err(|error| match error.hint {
            None => error.hint("check that the address is right and readable: git ls-remote REMOTE"),
            Some(_) => error,
        })?;
        let is_taken = |name: &str| taken.contains(name);
        if args.name.is_some() && is_taken(&wanted) {
            return Err(Error::usage(format!("another clone is named {wanted}"))
                .hint("choose another name: --as NAME; if it was this clone's own, it stays as it was"));
        }
        Ok(SyncTarget { name: free_clone_name(&wanted, is_taken), url, heads, remote })
    }

    /// Determines the remote before a store exists: one is created only if the remote answers.
    pub fn before_store(
        remote: &str,
        args: &SyncArgs,
        paths: &Paths,
        context: &Context<'_>,
    ) -> Result<SyncTarget> {
        let url = url_of(remote, context.cwd())?;
        refuse_inside(&url, &[context.cwd()])?;
        confirm(&url, remote, context.save_to().unwrap_or(Path::new(STORE)), args, false)?;
        // Listing refs needs no repository.
        let git = Git::at(&paths.data.join("sync/none"), tty().is_some());
        SyncTarget::find(&git, url, args.heads, args)
    }

    /// Stores the remote in the settings; returns its refs.
    pub fn apply_to(self, state: &mut SyncState) -> RemoteRefs {
        let settings = &mut state.settings;
        settings.move_to(self.url);
        (settings.name, settings.heads) = (self.name, self.heads);
        self.remote
    }
}

/// Determines the remote; returns its refs if they had to be listed.
pub fn set_remote(
    remote: &str,
    args: &SyncArgs,
    store: &Store,
    state: &mut SyncState,
    cwd: &Path,
) -> Result<Option<RemoteRefs>> {
    let url = url_of(remote, store.root())?;
    refuse_inside(&url, &[store.root(), &store.path(), cwd])?;
    if state.settings.url == url {
        return Ok(None);
    }
    let has_history = !state.settings.name.is_empty();
    confirm(&url, remote, store.display_path(), args, has_history)?;
    if has_history {
        let mine: Vec<&str> = state.settings.mine.iter().map(String::as_str).collect();
        if !mine.is_empty() {
            print_status(&format!(
                "{} counted as yours on the previous remote, but not on this one",
                mine.join(", ")
            ));
        }
        state.settings.move_to(url);
        state.forget_remote()?;
        return Ok(None);
    }
    let git = Git::at(&state.repository(), tty().is_some());
    let target = SyncTarget::find(&git, url, state.settings.heads || args.heads, args)?;
    Ok(Some(target.apply_to(state)))
}

/// Converts the user's argument to a URL; rejects forms that git could misinterpret.
fn url_of(remote: &str, root: &Path) -> Result<String> {
    check_url(remote)?;
    let is_address = remote.contains([':', '/']) || Path::new(remote).is_dir();
    let url = match is_address {
        true => match std::fs::canonicalize(remote) {
            Ok(path) if !remote.contains("://") => path.to_string_lossy().into_owned(),
            _ => remote.to_string(),
        },
        false => {
            let url = remote_url(root, remote).ok_or_else(|| {
                Error::usage(format!("{remote:?} is neither a URL nor a git remote here"))
                    .hint("give a URL, a path, or a name that `git remote` lists")
            })?;
            // git resolves a path relative to the top of the working tree.
            let path = local_path(&url).filter(|path| path.is_relative());
            let path = path.and_then(|path| std::fs::canonicalize(worktree(root, false).join(path)).ok());
            path.map_or(url, |path| path.to_string_lossy().into_owned())
        }
    };
    check_url(&url)?;
    Ok(url)
}

/// Asks for consent to sync with a remote, unless `--yes` was given. Says in any case who will be able to read the
/// messages.
fn confirm(url: &str, remote: &str, shown: &Path, args: &SyncArgs, has_history: bool) -> Result<()> {
    let history = match has_history {
        true => {
            ", and in its history what was removed since the first sync (`lepo sync --forget` drops that)"
        }
        false => "",
    };
    let local = match local_path(url) {
        Some(_) => "; it is a repository on this machine: its hooks run with your rights",
        None => "",
    };
    let readers = format!("everyone who can read {url} can read every message of this store{history}{local}");
    if args.yes {
        print_status(&readers);
        return Ok(());
    }
    let mut terminal = tty().ok_or_else(|| {
        Error::usage(format!("there is no terminal to ask on: {readers}"))
            .hint(format!("to sync with {url}: lepo sync --yes {}", quoted(remote)))
    })?;
    let question = format!(
        "Sync {} with\n  {url}\nEveryone who can read it can read every message of this \
            store{history}{local}. Continue? (y/N): ",
        shown.display()
    );
    match terminal.confirm(&fold(&question, terminal.columns()))? {
        true => Ok(()),
        false => Err(Error::nothing("nothing was sent")),
    }
}

/// Rejects a repository inside the working tree: it may have come with a clone, and its hooks would run.
pub fn refuse_inside(url: &str, dirs: &[&Path]) -> Result<()> {
    let Some(path) = local_path(url).and_then(|path| std::fs::canonicalize(path).ok()) else { return Ok(()) };
    match dirs.iter().any(|dir| path.starts_with(worktree(dir, true))) {
        false => Ok(()),
        true => Err(Error::usage(format!("refused remote: {} is inside the working tree", path.display()))
            .hint(
                "a repository that came with a clone runs its hooks: give a URL, or a path outside the \
                working tree",
            )),
    }
}

/// Returns the innermost or outermost git working tree around a directory; else the directory itself. The
/// home directory does not count.
fn worktree(dir: &Path, outermost: bool) -> PathBuf {
    let dir = dir.canonicalize().unwrap_or_else(|_| dir.to_path_buf());
    let home = lepo_base::env::var("HOME").and_then(|home| std::fs::canonicalize(home).ok());
    let is_home = |dir: &Path| home.as_ref().is_some_and(|home| home.starts_with(dir));
    let mut trees =
        dir.ancestors().filter(|dir| !is_home(dir) && dir.join(".git").symlink_metadata().is_ok());
    let tree = if outermost { trees.last() } else { trees.next() };
    match tree {
        Some(tree) => tree.to_path_buf(),
        // The home directory is not a worktree: returns a path that contains no remote.
        None if outermost && is_home(&dir) => dir.join(".git"),
        None => dir,
    }
}

/// Returns the path of a URL for a repository on this machine.
fn local_path(url: &str) -> Option<PathBuf> {
    if let Some((scheme, rest)) = url.split_once("://") {
        let path = rest.find('/').and_then(|at| rest.get(at..))?;
        return scheme
            .eq_ignore_ascii_case("file")
            .then(|| PathBuf::from(OsString::from_vec(percent_decoded(path))));
    }
    let is_ssh = url.find(':').is_some_and(|colon| url.find('/').is_none_or(|slash| colon < slash));
    (!is_ssh).then(|| PathBuf::from(url))
}

/// Decodes percent-encoding as git does.
fn percent_decoded(path: &str) -> Vec<u8> {
    let (mut bytes, mut decoded) = (path.as_bytes(), Vec::new());
    while let [first, rest @ ..] = bytes {
        let digits = rest.get(..2).filter(|two| two.iter().all(u8::is_ascii_hexdigit));
        let digits = digits.and_then(|two| std::str::from_utf8(two).ok());
        let byte = digits.filter(|_| *first == b'%').and_then(|two| u8::from_str_radix(two, 16).ok());
        decoded.push(byte.unwrap_or(*first));
        bytes = if byte.is_some() { rest.get(2..).unwrap_or_default() } else { rest };
    }
    decoded
}

/// Returns this machine's name from uname(1).
fn host_name() -> String {
    let uname = lepo_base::search_path::command("uname").arg("-n").output();
    uname.map(|uname| String::from_utf8_lossy(&uname.stdout).trim().to_string()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_of_this_machine_are_told_from_others() {
        for (url, path) in [
            ("/srv/x.git", Some("/srv/x.git")),
            ("sub/x.git", Some("sub/x.git")),
            ("./a:b", Some("./a:b")),
            ("file:///srv/x%2egit", Some("/srv/x.git")),
            ("FILE://localhost/srv/%zz%+1%4", Some("/srv/%zz%+1%4")),
            ("https://host/srv/x.git", None),
            ("ssh://host/srv/x.git", None),
            ("host:srv/x.git", None),
            ("me@host:x", None),
        ] {
            assert_eq!(local_path(url), path.map(PathBuf::from), "{url}");
        }
    }
}
