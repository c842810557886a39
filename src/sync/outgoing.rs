//! Sending: what is new here becomes a commit on this clone's ref, which is pushed and never forced.

use std::collections::BTreeMap;
use std::io::{self, Write};

use sha2::{Digest, Sha256};

use super::git::{Git, feed};
use super::merge::Side;
use super::paths::{Entry, REMOVED};
use super::refs::{Namespace, free_clone_name, is_clone_name};
use super::removed::Removed;
use super::secrets::Secrets;
use super::state::State;
use super::tree::{LARGEST, Tree};
use crate::bubb::{BubbId, Name, hex};
use crate::error::{Error, Result};
use crate::store::Store;

/// What was put into a commit.
#[derive(Debug, Default)]
pub struct Sent {
    /// New bubbs.
    pub bubbs: usize,
    /// New blobs.
    pub blobs: usize,
    /// Bubbs and blobs taken out.
    pub removed: usize,
    /// Ids and hashes that were held back, each with the reason.
    pub held: Vec<(String, String)>,
    /// There is a new commit.
    pub is_new: bool,
}

/// The ref of this clone in its own bare repository.
pub fn own_ref(name: &str) -> String {
    format!("refs/lepo/{name}")
}

/// One change of the tree.
enum Change {
    Bubb(Name),
    Blob(String),
    Text(String, String),
    Delete(String),
}

/// What a commit is made with.
pub struct Sender<'s> {
    /// The bare repository.
    pub git: &'s Git,
    /// The store.
    pub store: &'s Store,
    /// Name, remote, and what may be sent all the same.
    pub state: &'s State,
    /// What is held back.
    pub secrets: &'s Secrets,
    /// The user's git email, and the time in milliseconds since 1970.
    pub author: (&'s str, u64),
}

/// Commits what differs between the store and the tree that was pushed last.
pub fn commit(sender: &Sender<'_>, here: &Side, tree: &Tree, old_removed: &Removed) -> Result<Sent> {
    let Sender { git, store, state, secrets, author } = *sender;
    let mut sent = Sent::default();
    let mut changes = Vec::new();
    let mut new: Vec<&Name> = here.bubbs.values().filter(|name| !tree.bubbs.contains_key(&name.id)).collect();
    new.sort_unstable_by_key(|name| name.id);
    let mut blobs: BTreeMap<String, ()> = BTreeMap::new();
    for name in new {
        match sendable(store, name, state, secrets)? {
            Some(why) => sent.held.push((name.id.to_string(), why)),
            None => {
                sent.bubbs += 1;
                changes.push(Change::Bubb(*name));
                blobs.extend(store.blobs_of(name)?.into_iter().map(|hash| (hash, ())));
            }
        }
    }
    for hash in blobs.into_keys().filter(|hash| !tree.blobs.contains_key(hash)) {
        match sendable_blob(store, &hash, state, secrets)? {
            Blob::Missing => {}
            Blob::Held(why) => sent.held.push((hash, why)),
            Blob::Good => {
                sent.blobs += 1;
                changes.push(Change::Blob(hash));
            }
        }
    }
    for (name, _) in tree.bubbs.values().filter(|(name, _)| !here.bubbs.contains_key(&name.id)) {
        sent.removed += 1;
        changes.push(Change::Delete(Entry::Bubb(*name).path()));
    }
    if sent.removed > 0 {
        for hash in tree.blobs.keys() {
            if store.open_blob(hash)?.is_none() {
                sent.removed += 1;
                changes.push(Change::Delete(Entry::Blob(hash.clone()).path()));
            }
        }
    }
    branch_changes(git, here, tree, &mut changes)?;
    if here.removed != *old_removed {
        changes.push(Change::Text(REMOVED.into(), here.removed.text()));
    }
    let own = own_ref(&state.settings.name);
    let tip = git.ask(["rev-parse", "--verify", "--quiet", &own])?;
    if changes.is_empty() && tip.is_some() {
        return Ok(sent);
    }
    let (email, now) = author;
    let child = git.start(["fast-import", "--quiet", "--done", "--force", "--date-format=raw"])?;
    feed(child, |to| {
        writeln!(to, "commit {own}\ncommitter {} <{email}> {} +0000", state.settings.name, now / 1000)?;
        data(to, format!("{} messages\n", sent.bubbs).as_bytes())?;
        if tip.is_some() {
            writeln!(to, "from {own}^0")?;
        }
        for change in &changes {
            write_change(to, store, change)?;
        }
        writeln!(to, "\ndone")
    })?;
    sent.is_new = true;
    Ok(sent)
}

/// Branches that were made, moved or deleted since the last push.
fn branch_changes(git: &Git, here: &Side, tree: &Tree, changes: &mut Vec<Change>) -> Result<()> {
    let mut objects = super::tree::Objects::of(git)?;
    let pushed: BTreeMap<String, BubbId> = tree.branch_ids(&mut objects)?.into_iter().collect();
    for (file, id) in &here.branches {
        if pushed.get(file) != Some(id) {
            changes.push(Change::Text(Entry::Branch(file.clone()).path(), format!("{id}\n")));
        }
    }
    for file in tree.branches.keys().filter(|file| !here.branches.contains_key(*file)) {
        changes.push(Change::Delete(Entry::Branch(file.clone()).path()));
    }
    Ok(())
}

fn write_change(to: &mut dyn Write, store: &Store, change: &Change) -> io::Result<()> {
    let path = match change {
        Change::Bubb(name) => Entry::Bubb(*name).path(),
        Change::Blob(hash) => Entry::Blob(hash.clone()).path(),
        Change::Text(path, _) => path.clone(),
        Change::Delete(path) => return writeln!(to, "D {}", quoted(path)),
    };
    writeln!(to, "M 100644 inline {}", quoted(&path))?;
    let unreadable = |error: Error| io::Error::other(error.chain());
    match change {
        Change::Bubb(name) => data(to, &store.read(name).map_err(unreadable)?),
        Change::Blob(hash) => data(to, &blob_bytes(store, hash).map_err(unreadable)?),
        Change::Text(_, text) => data(to, text.as_bytes()),
        Change::Delete(_) => Ok(()),
    }
}

/// A path in the form that fast-import reads whatever it holds.
fn quoted(path: &str) -> String {
    format!("\"{}\"", path.replace('\\', "\\\\").replace('"', "\\\""))
}

fn data(to: &mut dyn Write, bytes: &[u8]) -> io::Result<()> {
    writeln!(to, "data {}", bytes.len())?;
    to.write_all(bytes)?;
    to.write_all(b"\n")
}

/// Why a bubb is held back; `None` if it may be sent.
fn sendable(store: &Store, name: &Name, state: &State, secrets: &Secrets) -> Result<Option<String>> {
    let bytes = store.read(name)?;
    if bytes.len() as u64 > LARGEST {
        return Ok(Some("is larger than 50 MiB".into()));
    }
    let hash = Sha256::digest(&bytes).into();
    if BubbId::of(name.id.time(), name.kind, name.hidden, name.prev, &hash) != name.id {
        return Ok(Some("was edited: its content does not match its id".into()));
    }
    if state.settings.allowed.contains(&name.id.to_string()) {
        return Ok(None);
    }
    Ok(secrets.find(&bytes).map(|what| format!("seems to hold {what}")))
}

/// The bytes of a blob that is there.
fn blob_bytes(store: &Store, hash: &str) -> Result<Vec<u8>> {
    let failed = |error| Error::store(format!("cannot read blob {hash}")).because(error);
    let mut bytes = Vec::new();
    if let Some((mut file, _)) = store.open_blob(hash)? {
        io::Read::read_to_end(&mut file, &mut bytes).map_err(failed)?;
    }
    Ok(bytes)
}

enum Blob {
    Good,
    Missing,
    Held(String),
}

fn sendable_blob(store: &Store, hash: &str, state: &State, secrets: &Secrets) -> Result<Blob> {
    if store.open_blob(hash)?.is_none() {
        return Ok(Blob::Missing);
    }
    let bytes = blob_bytes(store, hash)?;
    let digest = hex(&Sha256::digest(&bytes));
    Ok(if bytes.len() as u64 > LARGEST {
        Blob::Held("is larger than 50 MiB".into())
    } else if digest != hash {
        Blob::Held("does not match its name".into())
    } else if state.settings.allowed.contains(hash) {
        Blob::Good
    } else {
        secrets.find(&bytes).map_or(Blob::Good, |what| Blob::Held(format!("seems to hold {what}")))
    })
}

/// Pushes this clone's ref. Where another clone has written it, this one is a copy: it takes a new name, which
/// is given back, and pushes that.
pub fn push(git: &Git, state: &mut State) -> Result<Option<String>> {
    let pushed = push_ref(git, state);
    let Err(error) = pushed else { return Ok(None) };
    let is_behind =
        ["non-fast-forward", "fetch first", "stale info"].iter().any(|words| error.message.contains(words));
    if !is_behind {
        return Err(match state.settings.namespace() {
            Namespace::Own if error.message.contains("rejected") => {
                error.hint("a host that refuses refs/lepo/ may take branches: lepo sync --heads")
            }
            _ => error,
        });
    }
    let taken = clones_of(git, &state.settings.url, state.settings.namespace())?;
    let old = state.settings.name.clone();
    let name = free_clone_name(&old, |name| taken.iter().any(|clone| clone == name));
    let tip = git.ask(["rev-parse", "--verify", "--quiet", &own_ref(&old)])?.unwrap_or_default();
    git.run(["update-ref", &own_ref(&name), &tip])?;
    state.settings.name.clone_from(&name);
    // The clone that has the old name is the one this was copied from.
    state.settings.mine.insert(old);
    state.save()?;
    push_ref(git, state)?;
    Ok(Some(name))
}

fn push_ref(git: &Git, state: &State) -> Result<()> {
    let settings = &state.settings;
    let at = |name: String| git.ask(["rev-parse", "--verify", "--quiet", &name]);
    // What the remote had at the last push of this name: with nothing new there is nothing to ask it.
    let pushed = format!("refs/pushed/{}", settings.name);
    let own = at(own_ref(&settings.name))?;
    if own.is_some() && own == at(pushed.clone())? {
        return Ok(());
    }
    let spec = format!("{}:{}", own_ref(&settings.name), settings.namespace().of(&settings.name));
    git.run(["push", "--quiet", "--no-verify", "--no-follow-tags", "--", &settings.url, &spec])?;
    git.run(["update-ref", &pushed, &own.unwrap_or_default()]).map(|_| ())
}

/// Replaces this clone's ref by one without history.
pub fn forget(git: &Git, state: &State, author: (&str, u64)) -> Result<()> {
    let (email, now) = author;
    let own = own_ref(&state.settings.name);
    let mut command = git.command(["commit-tree", &format!("{own}^{{tree}}"), "-m", "forgotten"]);
    let date = format!("{} +0000", now / 1000);
    for role in ["AUTHOR", "COMMITTER"] {
        command.env(format!("GIT_{role}_NAME"), &state.settings.name);
        command.env(format!("GIT_{role}_EMAIL"), email);
        command.env(format!("GIT_{role}_DATE"), &date);
    }
    let made = command.output().map_err(|error| Error::usage("cannot run git").because(error))?;
    let commit = String::from_utf8_lossy(&made.stdout).trim().to_string();
    if !made.status.success() || commit.is_empty() {
        return Err(Error::nothing("nothing was sent yet: there is no history to forget"));
    }
    let settings = &state.settings;
    let spec = format!("+{commit}:{}", settings.namespace().of(&settings.name));
    git.run(["push", "--quiet", "--no-verify", "--", &settings.url, &spec])?;
    git.run(["update-ref", &own, &commit])?;
    git.run(["update-ref", &format!("refs/pushed/{}", settings.name), &commit]).map(|_| ())
}

/// The names of the clones on the remote.
pub fn clones_of(git: &Git, url: &str, namespace: Namespace) -> Result<Vec<String>> {
    let listed = git.run(["ls-remote", "--refs", "--", url, &format!("{}*", namespace.prefix())])?;
    let text = String::from_utf8_lossy(&listed);
    let names = text.lines().filter_map(|line| line.split_once('\t')?.1.strip_prefix(namespace.prefix()));
    Ok(names.filter(|name| is_clone_name(name)).map(str::to_string).collect())
}
