//! Pushing: this clone's ref is pushed and never forced, except to forget its history.

use std::collections::BTreeSet;
use std::time::Duration;

use super::cat_file::Oid;
use super::fast_import::PART;
use super::git::Git;
use super::refs::{Namespace, free_clone_name};
use super::remote::{RefFilter, RemoteRefs, own_ref};
use super::removal_consent::is_ancestor;
use super::settings::SyncSettings;
use super::state::SyncState;
use super::sync_record::SyncRecord;
use lepo_base::error::{Error, Result};

/// Number of retries for a busy remote, and the first pause, which doubles each time.
const TRIES: u32 = 3;
const PAUSE: Duration = Duration::from_millis(200);

/// The kind of a refused push, by git's message.
#[derive(Debug, PartialEq, Eq)]
enum PushRefusal {
    /// Another process is writing there.
    Busy,
    /// The ref has a commit that this clone does not have.
    Behind,
    /// The name is in use as a folder of refs.
    Taken,
    /// The remote refuses refs of this namespace.
    Namespace,
    /// Any other reason.
    Other,
}

impl PushRefusal {
    fn parse(text: &str) -> PushRefusal {
        let has = |parts: &[&str]| parts.iter().any(|part| text.contains(part));
        let lower = text.to_lowercase();
        let is_namespace =
            ["hidden ref", "refname", "ref name", "reference name", "invalid ref", "only push to"];
        if has(&["exists; cannot create"]) {
            PushRefusal::Taken
        } else if has(&["non-fast-forward", "fetch first", "stale info", "incorrect old value"]) {
            PushRefusal::Behind
        } else if has(&[
            "failed to lock",
            "cannot lock ref",
            "but expected",
            ".lock': File exists",
            "failed to update ref",
        ]) {
            PushRefusal::Busy
        } else if text.contains("rejected") && is_namespace.iter().any(|part| lower.contains(part)) {
            PushRefusal::Namespace
        } else {
            PushRefusal::Other
        }
    }
}

/// Pushes this clone's ref, unless the remote has it. A busy remote is retried. If another clone has written this
/// ref, this clone is renamed and pushes the new ref; the old and the new name are returned. The old name then
/// belongs to no known clone until the user decides. `is_next` means that the remote lacks only the last commit.
pub fn push(
    git: &Git,
    state: &mut SyncState,
    own: &str,
    remote: &mut RemoteRefs,
    is_next: bool,
) -> Result<Option<(String, String)>> {
    let mut is_next = is_next;
    for pause in (0..=TRIES).map(|tries| PAUSE * 2u32.pow(tries)) {
        if remote.own.as_deref() == Some(own) {
            return Ok(None);
        }
        let Err(error) = push_parts(git, &state.settings, own, remote, is_next) else { return Ok(None) };
        let is_last = pause == PAUSE * 2u32.pow(TRIES);
        match PushRefusal::parse(&error.message) {
            PushRefusal::Behind => {
                let there =
                    RemoteRefs::fetch(git, &state.settings.url, RefFilter::by(&state.settings, &|_| 1))?.own;
                let is_ours = there.as_deref().is_none_or(|there| is_ancestor(git, there, own));
                if !is_ours {
                    break;
                }
                if is_last {
                    return Err(error);
                }
                (remote.own, is_next) = (there, false);
            }
            PushRefusal::Taken => break,
            PushRefusal::Busy if is_last => {
                return Err(Error::remote(format!("the remote is busy: {}", error.message))
                    .hint("another process writes there, or has left a lock: try again later"));
            }
            PushRefusal::Busy => {}
            PushRefusal::Namespace if state.settings.namespace() == Namespace::Own => {
                return Err(error.hint(
                    "this host accepts branches only: lepo sync --heads, here and on each of your other \
                        clones; `--no-heads` undoes it",
                ));
            }
            PushRefusal::Namespace | PushRefusal::Other => return Err(error),
        }
        std::thread::sleep(pause);
    }
    let mut taken = BTreeSet::new();
    let listed = RefFilter { taken_names: Some(&mut taken), ..RefFilter::by(&state.settings, &|_| 1) };
    RemoteRefs::fetch(git, &state.settings.url, listed)?;
    let old = state.settings.name.clone();
    let name = free_clone_name(&old, |name| taken.contains(name));
    git.update_refs([(own_ref(&name), Some(own.to_string()))])?;
    state.settings.name.clone_from(&name);
    state.save()?;
    remote.own = None;
    push_parts(git, &state.settings, own, remote, false)?;
    Ok(Some((old, name)))
}

/// Removes this clone's ref from the other namespace. If the remote refuses that, the ref stays.
pub fn remove_elsewhere(git: &Git, settings: &SyncSettings, own: &str, remote: &mut RemoteRefs) {
    let Some(old) = remote.own_elsewhere.take_if(|old| is_ancestor(git, old, own)) else { return };
    let name = settings.namespace().other().ref_name(&settings.name);
    let (lease, spec) = (format!("--force-with-lease={name}:{old}"), format!(":{name}"));
    if git.run(["push", "--quiet", "--no-verify", &lease, "--", &settings.url, &spec]).is_err() {
        remote.own_elsewhere = Some(old);
    }
}

/// Pushes the commits that the remote lacks, part by part: hosts limit the size of a push, and a part that has
/// arrived stays there if the next one fails.
fn push_parts(
    git: &Git,
    settings: &SyncSettings,
    own: &str,
    remote: &mut RemoteRefs,
    is_next: bool,
) -> Result<()> {
    let steps = match is_next {
        true => vec![own.to_string()],
        false => parts(git, own, remote.own.as_deref())?,
    };
    for oid in steps {
        let spec = format!("{oid}:{}", settings.namespace().ref_name(&settings.name));
        git.run(["push", "--quiet", "--no-verify", "--no-follow-tags", "--", &settings.url, &spec])?;
        remote.own = Some(oid);
    }
    Ok(())
}

/// Returns the last commit of each part that the remote lacks. The remote's own commit may be unknown here if a copy
/// of this clone pushed it.
fn parts(git: &Git, own: &str, theirs: Option<&str>) -> Result<Vec<Oid>> {
    let mut args =
        vec!["rev-list", "--reverse", "--ignore-missing", "--no-commit-header", "--format=%H %s", own];
    let not = theirs.map(|tip| format!("^{tip}"));
    args.extend(not.as_deref());
    let listed = git.run(args)?;
    let text = String::from_utf8_lossy(&listed);
    let commits: Vec<(&str, &str)> = text.lines().filter_map(|line| line.split_once(' ')).collect();
    let before_parts = commits.windows(2).filter(|pair| pair[1].1 == PART).map(|pair| pair[0].0);
    Ok(before_parts.chain([own]).map(String::from).collect())
}

/// Replaces this clone's ref by a commit without history, here and on the remote.
pub fn forget(git: &Git, state: &SyncState, author: (&str, u64)) -> Result<()> {
    let (email, now) = author;
    let settings = &state.settings;
    let own = own_ref(&settings.name);
    let mut command = git.command(["commit-tree", &format!("{own}^{{tree}}"), "-m", "forgotten"]);
    let date = format!("{} +0000", now / 1000);
    for role in ["AUTHOR", "COMMITTER"] {
        command.env(format!("GIT_{role}_NAME"), &settings.name);
        command.env(format!("GIT_{role}_EMAIL"), email);
        command.env(format!("GIT_{role}_DATE"), &date);
    }
    let made = command.output().map_err(|error| Error::usage("cannot run git").because(error))?;
    let commit = String::from_utf8_lossy(&made.stdout).trim().to_string();
    if !made.status.success() || commit.is_empty() {
        return Err(Error::nothing("nothing was sent yet: there is no history to forget"));
    }
    SyncRecord::remove(git)?;
    let spec = format!("+{commit}:{}", settings.namespace().ref_name(&settings.name));
    git.run(["push", "--quiet", "--no-verify", "--", &settings.url, &spec])?;
    git.update_refs([(own, Some(commit.clone()))])?;
    state.note_pushed(&commit)?;
    git.run(["gc", "--quiet", "--prune=now"]).map(|_| ())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_are_told_apart_by_gits_words() {
        for (words, kind) in [
            (" ! [remote rejected] a -> b (deny updating a hidden ref)", PushRefusal::Namespace),
            (" ! [remote rejected] a -> b (funny refname)", PushRefusal::Namespace),
            (
                "remote: You can only push to branches; ! [remote rejected] a -> b (hook declined)",
                PushRefusal::Namespace,
            ),
            (" ! [remote rejected] a -> b (pre-receive hook declined)", PushRefusal::Other),
            (" ! [remote rejected] a -> b (unpacker error)", PushRefusal::Other),
            (" ! [remote rejected] a -> b (failed to lock)", PushRefusal::Busy),
            (" ! [remote rejected] a -> b (cannot lock ref 'b': is at 1 but expected 2)", PushRefusal::Busy),
            ("remote: error: cannot lock ref 'b': 'b/c' exists; cannot create 'b'", PushRefusal::Taken),
            (" ! [rejected] a -> b (fetch first)", PushRefusal::Behind),
            (" ! [rejected] a -> b (non-fast-forward)", PushRefusal::Behind),
            ("fatal: could not read from refname.example", PushRefusal::Other),
        ] {
            assert_eq!(PushRefusal::parse(words), kind, "{words}");
        }
    }
}
