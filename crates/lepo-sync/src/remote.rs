//! The refs of the remote: lists them all, and fetches the changed ones.
//!
//! In the bare repository `refs/lepo/NAME` is this clone's own ref, `refs/theirs/NAME` is the ref of each other clone
//! on the remote, and `refs/taken/NAME` is the commit imported into the store.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::cat_file::Oid;
use super::git::Git;
use super::git_process::{GitProcess, MOST};
use super::refs::Namespace;
use super::settings::SyncSettings;
use super::tree::Deadline;
use super::verdicts::CloneVerdicts;
use lepo_base::error::{Error, Result};
use lepo_store::store::is_clone_name;
use lepo_store::store::now;

/// Maximum number of clones to read besides the user's own.
const MOST_CLONES: usize = 256;

/// After this many consecutive failed fetches of single refs the remote counts as unreachable.
const MOST_DIED: usize = 3;

/// Returns the ref of this clone in its own bare repository.
pub fn own_ref(name: &str) -> String {
    format!("refs/lepo/{name}")
}

pub type Tips = BTreeMap<String, Oid>;

/// The refs of clones on the remote.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RemoteRefs {
    /// This clone's own ref.
    pub own: Option<Oid>,
    /// Tips of the other clones.
    pub theirs: Tips,
    /// This clone's own ref in the other namespace, if any.
    pub own_elsewhere: Option<Oid>,
    /// Clones that use only the other namespace.
    pub elsewhere: BTreeSet<String>,
    /// Number of clones ignored because of the limit.
    pub more: usize,
}

/// How to filter a listing of refs.
pub struct RefFilter<'l> {
    /// The namespace of this clone.
    pub namespace: Namespace,
    /// This clone's name.
    pub own_name: &'l str,
    /// Ranks clones by name: 0 is always read, and lower ranks are read before higher ones.
    pub rank: &'l dyn Fn(&str) -> u8,
    /// Collects the names in use.
    pub taken_names: Option<&'l mut BTreeSet<String>>,
}

impl<'l> RefFilter<'l> {
    /// Creates the filter for a clone with these settings.
    pub fn by(settings: &'l SyncSettings, rank: &'l dyn Fn(&str) -> u8) -> RefFilter<'l> {
        RefFilter { namespace: settings.namespace(), own_name: &settings.name, rank, taken_names: None }
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refs {
    pub own: Option<Oid>,
    /// The tips of the other clones, as fetched.
    pub theirs: Tips,
    /// The commits imported into the store, by clone.
    pub taken: Tips,
    pub emails: BTreeMap<String, String>,
    /// Clones whose ref is not a commit.
    pub no_commits: Tips,
}

impl Refs {
    /// Reads all refs with a single call.
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

    /// Whether the clone's fetched commit has been imported.
    pub fn is_taken(&self, clone: &str) -> bool {
        self.theirs.get(clone).is_some_and(|tip| self.taken.get(clone) == Some(tip))
    }
}

/// Asks the remote for its refs of both namespaces without waiting for the answer.
pub fn ask(git: &Git, url: &str) -> Result<GitProcess> {
    let patterns = [Namespace::Own, Namespace::Heads].map(|namespace| format!("{}*", namespace.prefix()));
    let args = ["ls-remote", "--refs", "--", url].into_iter().chain(patterns.iter().map(String::as_str));
    git.spawn(args)
}

impl RemoteRefs {
    /// Parses the answer of the remote. Names that no clone can have are skipped; of more than 256 other clones,
    /// those with a lower rank are preferred.
    pub fn parse_refs(asked: GitProcess, mut listed: RefFilter<'_>) -> Result<RemoteRefs> {
        let (mut remote, mut elsewhere) = (RemoteRefs::default(), Tips::new());
        let mut theirs: BTreeMap<(u8, String), Oid> = BTreeMap::new();
        let here = listed.namespace;
        asked.each(b'\n', MOST, |line| {
            let text = std::str::from_utf8(line).ok().and_then(|line| line.split_once('\t'));
            let Some((oid, name)) = text else { return };
            let (is_here, rest) =
                match (name.strip_prefix(here.prefix()), name.strip_prefix(here.other().prefix())) {
                    (Some(rest), _) => (true, rest),
                    (None, Some(rest)) => (false, rest),
                    (None, None) => return,
                };
            let clone = rest.split('/').next().unwrap_or_default();
            if !is_clone_name(clone) {
                return;
            }
            if let Some(taken) = &mut listed.taken_names {
                taken.insert(clone.into());
            }
            match (clone == rest, is_here, clone == listed.own_name) {
                // A folder of refs is not a clone, but its name is in use.
                (false, _, _) => {}
                (true, true, true) => remote.own = Some(oid.into()),
                (true, false, true) => remote.own_elsewhere = Some(oid.into()),
                (true, false, false) => drop(elsewhere.insert(clone.into(), oid.into())),
                (true, true, false) => {
                    theirs.insert(((listed.rank)(clone), clone.into()), oid.into());
                    let is_full = theirs.len() > MOST_CLONES;
                    if is_full && theirs.last_key_value().is_some_and(|((rank, _), _)| *rank > 0) {
                        theirs.pop_last();
                        remote.more += 1;
                    }
                }
            }
            if elsewhere.len() > MOST_CLONES {
                elsewhere.pop_last();
            }
        })?;
        remote.theirs = theirs.into_iter().map(|((_, clone), oid)| (clone, oid)).collect();
        remote.elsewhere = elsewhere.into_keys().filter(|clone| !remote.theirs.contains_key(clone)).collect();
        Ok(remote)
    }

    /// Asks the remote for its refs and waits for the answer.
    pub fn fetch(git: &Git, url: &str, listed: RefFilter<'_>) -> Result<RemoteRefs> {
        RemoteRefs::parse_refs(ask(git, url)?, listed)
    }
}

#[derive(Default)]
pub struct FetchResult {
    /// Clones whose ref cannot be fetched.
    pub bad: Vec<(String, Error)>,
    /// The error that interrupted the transfer, if any.
    pub error: Option<Error>,
}

/// Fetches the changed refs with a single call, or one by one if git refuses that, the user's own first: a bad ref
/// does not block the others, and is not fetched again for a day. Refs that no longer exist on the remote are
/// deleted.
pub fn fetch(
    git: &Git,
    settings: &SyncSettings,
    remote: &RemoteRefs,
    refs: &Refs,
    verdicts: &mut CloneVerdicts,
    limit: Duration,
) -> Result<FetchResult> {
    let tips = &remote.theirs;
    let gone = refs.theirs.keys().chain(refs.no_commits.keys()).filter(|clone| !tips.contains_key(*clone));
    git.update_refs(gone.map(|clone| (format!("refs/theirs/{clone}"), None)))?;
    let fetched = |clone: &String| refs.theirs.get(clone).or_else(|| refs.no_commits.get(clone));
    let (mut result, mut changed) = (FetchResult::default(), Vec::new());
    for (clone, tip) in tips.iter().filter(|(clone, tip)| fetched(clone) != Some(tip)) {
        match verdicts.refusal(clone, tip, now()) {
            Some(refused) => result.bad.push((clone.clone(), refused)),
            None => changed.push(clone),
        }
    }
    if changed.is_empty() {
        return Ok(result);
    }
    changed.sort_by_key(|clone| !settings.mine.contains(*clone));
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
    let Err(joint) = fetch(&changed) else { return Ok(result) };
    let mut joint = Some(joint).filter(|_| changed.len() == 1);
    let (until, mut died) = (Deadline::after(limit), 0);
    for clone in changed {
        let done = joint.take().map_or_else(|| fetch(&[clone]), Err);
        match done {
            Ok(()) => died = 0,
            Err(error) if is_of_ref(&error.message) => {
                died = 0;
                if let Some(tip) = tips.get(clone) {
                    verdicts.refuse(clone, tip, &error, now());
                }
                result.bad.push((clone.clone(), error));
            }
            Err(error) => {
                died += 1;
                result.error = Some(error);
            }
        }
        if died >= MOST_DIED || until.is_over() {
            let late = || Error::remote(format!("fetching takes longer than {}", until.limit_text()));
            result.error.get_or_insert_with(late);
            break;
        }
    }
    Ok(result)
}

/// Whether git's message concerns the requested ref, so that the remote itself was reached and has answered.
fn is_of_ref(text: &str) -> bool {
    const OF_REF: &[&str] = &[
        "not our ref",
        "repository corruption",
        "fsck error",
        "bad object",
        "missing blob",
        "missing tree",
        "missing commit",
        "did not send all necessary objects",
        "find remote ref",
        "is not a valid object",
        "unable to update local ref",
    ];
    OF_REF.iter().any(|part| text.contains(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bad_ref_is_told_from_a_transfer_that_died() {
        for (words, is_bad) in [
            ("fatal: remote error: upload-pack: not our ref 0123", true),
            (
                "fatal: protocol error: bad pack header; fatal: aborting due to possible repository corruption",
                true,
            ),
            ("error: object 12: badName; fatal: fsck error in packed object; fatal: index-pack failed", true),
            ("fatal: early EOF; fatal: fetch-pack: invalid index-pack output", false),
            ("error: RPC failed; curl 18 transfer closed with outstanding read data remaining", false),
            ("fatal: the remote end hung up unexpectedly", false),
            ("fatal: unable to access 'http://x/': Could not resolve host: x", false),
            ("", false),
        ] {
            assert_eq!(is_of_ref(words), is_bad, "{words}");
        }
    }
}
