//! Pushing: this clone's ref goes to the remote and is never forced, except to forget its history.

use super::fast_import::PART;
use super::git::Git;
use super::record::Record;
use super::refs::{Namespace, free_clone_name};
use super::remote::{Remote, own_ref};
use super::state::{Settings, State};
use super::tree::Oid;
use lepo_base::error::{Error, Result};

/// Pushes this clone's ref, if the remote has not got it. Where another clone has written it, this one is a copy:
/// it takes a new name, which is given back, and pushes that. `is_next`: its last commit is the only one that the
/// remote has not.
pub fn push(
    git: &Git,
    state: &mut State,
    own: &str,
    remote: &mut Remote,
    is_next: bool,
) -> Result<Option<String>> {
    if remote.own.as_deref() == Some(own) {
        return Ok(None);
    }
    let Err(error) = push_parts(git, &state.settings, own, remote, is_next) else { return Ok(None) };
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
    let taken = Remote::of(git, &state.settings.url, state.settings.namespace())?.theirs;
    let old = state.settings.name.clone();
    let name = free_clone_name(&old, |name| taken.contains_key(name));
    git.update_refs([(own_ref(&name), Some(own.to_string()))])?;
    state.settings.name.clone_from(&name);
    // The clone that has the old name is the one this was copied from.
    state.settings.mine.insert(old);
    state.save()?;
    remote.own = None;
    push_parts(git, &state.settings, own, remote, false)?;
    Ok(Some(name))
}

/// Pushes the commits that the remote has not, a part at a time: hosts limit the size of one push, and what
/// has arrived stays there if the next one fails.
fn push_parts(git: &Git, settings: &Settings, own: &str, remote: &mut Remote, is_next: bool) -> Result<()> {
    let steps = match is_next {
        true => vec![own.to_string()],
        false => parts(git, own, remote.own.as_deref())?,
    };
    for oid in steps {
        let spec = format!("{oid}:{}", settings.namespace().of(&settings.name));
        git.run(["push", "--quiet", "--no-verify", "--no-follow-tags", "--", &settings.url, &spec])?;
        remote.own = Some(oid);
    }
    Ok(())
}

/// The last commit of each part that the remote has not. What it has may be unknown here: a copy's.
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

/// Replaces this clone's ref by one without history, here and on the remote.
pub fn forget(git: &Git, state: &State, author: (&str, u64)) -> Result<()> {
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
    Record::remove(git)?;
    let spec = format!("+{commit}:{}", settings.namespace().of(&settings.name));
    git.run(["push", "--quiet", "--no-verify", "--", &settings.url, &spec])?;
    git.update_refs([(own, Some(commit.clone()))])?;
    state.note_pushed(&commit)?;
    git.run(["gc", "--quiet", "--prune=now"]).map(|_| ())
}
