//! The refs of the remote: one listing, and those that were fetched.
//!
//! In the bare repository `refs/lepo/NAME` is this clone's own, `refs/theirs/NAME` is each other clone's as the
//! remote has it, and `refs/taken/NAME` is what was taken into the store.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::git::Git;
use super::refs::Namespace;
use super::running::{MOST, Running};
use super::state::Settings;
use super::tree::Oid;
use crate::error::{Error, Result};
use crate::store::is_clone_name;

/// Clones looked at.
const MOST_CLONES: usize = 256;

/// The ref of this clone in its own bare repository.
pub fn own_ref(name: &str) -> String {
    format!("refs/lepo/{name}")
}

/// The tips of clones by their names.
pub type Tips = BTreeMap<String, Oid>;

/// The refs of clones on the remote.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Remote {
    /// This clone's own.
    pub own: Option<Oid>,
    /// Tips of the others.
    pub theirs: Tips,
}

/// The refs of the bare repository.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refs {
    /// This clone's own.
    pub own: Option<Oid>,
    /// Each other clone's, as it was fetched.
    pub theirs: Tips,
    /// The commit of each clone that was taken into the store.
    pub taken: Tips,
    /// The email of each clone's last commit.
    pub emails: BTreeMap<String, String>,
    /// Clones whose ref is no commit.
    pub no_commits: Tips,
}

impl Refs {
    /// Reads all of them by one call.
    pub fn read(git: &Git, own: &str) -> Result<Refs> {
        let format = "--format=%(objectname) %(objecttype) %(refname) %(committeremail:trim)";
        let listed = git.run(["for-each-ref", format])?;
        let (text, mut refs) = (String::from_utf8_lossy(&listed), Refs::default());
        for line in text.lines() {
            let mut words = line.splitn(4, ' ');
            let (Some(oid), Some(kind), Some(name)) = (words.next(), words.next(), words.next()) else {
                continue;
            };
            let oid = oid.to_string();
            if name.strip_prefix("refs/lepo/") == Some(own) {
                refs.own = Some(oid);
            } else if let Some(clone) = name.strip_prefix("refs/theirs/").filter(|clone| *clone != own) {
                if kind != "commit" {
                    refs.no_commits.insert(clone.into(), oid);
                    continue;
                }
                refs.theirs.insert(clone.into(), oid);
                refs.emails.insert(clone.into(), words.next().unwrap_or_default().into());
            } else if let Some(clone) = name.strip_prefix("refs/taken/") {
                refs.taken.insert(clone.into(), oid);
            }
        }
        Ok(refs)
    }

    /// True if a clone's ref is the one that was taken in last.
    pub fn is_taken(&self, clone: &str) -> bool {
        self.theirs.get(clone).is_some_and(|tip| self.taken.get(clone) == Some(tip))
    }
}

/// Asks the remote for its refs, and does not wait for them.
pub fn ask(git: &Git, url: &str, namespace: Namespace) -> Result<Running> {
    git.begin(["ls-remote", "--refs", "--", url, &format!("{}*", namespace.prefix())])
}

impl Remote {
    /// The refs that the remote was asked for. Names that no clone can have are passed over; of more than 256
    /// other clones the first are looked at.
    pub fn told(asked: Running, namespace: Namespace, own: &str) -> Result<Remote> {
        let mut remote = Remote::default();
        asked.each(b'\n', MOST, |line| {
            let Some((oid, name)) = std::str::from_utf8(line).ok().and_then(|line| line.split_once('\t'))
            else {
                return;
            };
            let clone = name.strip_prefix(namespace.prefix()).filter(|clone| is_clone_name(clone));
            match clone {
                None => {}
                Some(clone) if clone == own => remote.own = Some(oid.into()),
                Some(clone) => {
                    remote.theirs.insert(clone.into(), oid.into());
                    if remote.theirs.len() > MOST_CLONES {
                        remote.theirs.pop_last();
                    }
                }
            }
        })?;
        Ok(remote)
    }

    /// The refs of a remote, of which none is this clone's yet.
    pub fn of(git: &Git, url: &str, namespace: Namespace) -> Result<Remote> {
        Remote::told(ask(git, url, namespace)?, namespace, "")
    }
}

/// Fetches the refs that changed, all by one call; where git refuses that, one by one: a bad ref blocks no
/// other. Refs that are gone from the remote are deleted. The clones that could not be fetched are given back.
pub fn fetch(git: &Git, settings: &Settings, remote: &Remote, refs: &Refs) -> Result<Vec<(String, Error)>> {
    let tips = &remote.theirs;
    let gone = refs.theirs.keys().chain(refs.no_commits.keys()).filter(|clone| !tips.contains_key(*clone));
    git.update_refs(gone.map(|clone| (format!("refs/theirs/{clone}"), None)))?;
    let fetched = |clone: &String| refs.theirs.get(clone).or_else(|| refs.no_commits.get(clone));
    let changed: Vec<&String> =
        tips.iter().filter(|(clone, tip)| fetched(clone) != Some(tip)).map(|(clone, _)| clone).collect();
    if changed.is_empty() {
        return Ok(Vec::new());
    }
    let prefix = settings.namespace().prefix();
    let fetch = |clones: &[&String]| {
        let mut args: Vec<String> = [
            "fetch",
            "--quiet",
            "--no-tags",
            "--no-write-fetch-head",
            "--no-auto-gc",
            "--no-recurse-submodules",
            "--",
        ]
        .map(String::from)
        .into();
        args.push(settings.url.clone());
        args.extend(clones.iter().map(|clone| format!("+{prefix}{clone}:refs/theirs/{clone}")));
        git.run(args).map(|_| ())
    };
    let Err(joint) = fetch(&changed) else { return Ok(Vec::new()) };
    if changed.len() == 1 {
        return Ok(vec![(changed[0].clone(), joint)]);
    }
    let one_by_one = changed.into_iter().filter_map(|clone| Some((clone.clone(), fetch(&[clone]).err()?)));
    Ok(one_by_one.collect())
}
