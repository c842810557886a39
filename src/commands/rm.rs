//! `lepo rm`: deletes conversations, and redacts secrets in messages.

mod args;
mod empty;
mod interrupted;
mod other_copies;
pub mod outcome;
mod plan;
mod redact;
mod remaining_copies;
mod request;

use std::collections::HashSet;
use std::path::PathBuf;

use super::Context;
use super::address_args::resolve_all;
use super::changes::{print_way_back, removed_span, staying_line};
use super::own_newest::find_or_refuse;
use super::summary_line::question;
use crate::import::record_removed;
use crate::term::{StatusLine, columns, excerpt_within, one_line, print_status, tty};
use crate::ui::{ShortIds, lock_changes, text_or_warn};
pub use args::RmArgs;
use lepo_base::error::{Error, Result, quoted};
use lepo_base::role::Role;
use lepo_store::bubb::{BubbId, BubbName, ContentHash, plural_in_thousands};
use lepo_store::conv::{AddressMatch, Forest, Ix, NearestAncestor, Pruner, ReadScope};
use lepo_store::store::{ChangedFiles, ChangingCommand, Store, now};

pub fn run_rm(args: RmArgs, context: &mut Context<'_>) -> Result<u8> {
    if args.redact {
        return redact::run_redact(&args, context);
    }
    let store = context.store()?.with_own_newest(find_or_refuse);
    if args.empty {
        return empty::run_empty(&store, &args, context);
    }
    let is_kept = !args.now && removed_span().millis().is_some();
    // Two processes with -y plan one after the other; without it the plan is checked again after the question.
    let mut lock = if is_kept && args.yes { lock_changes(&store).map_err(name_now)? } else { None };
    let forest = forest(&store, &args)?;
    let by_rule = args.older_than.is_some() || args.unanswered;
    let tails = match by_rule {
        true => fitting(&args, &forest),
        false => resolve_ids(&store, &args.addresses)?.iter().filter_map(|id| forest.find(*id)).collect(),
    };
    let plan = RemovalPlan::make(&store, &forest, &tails, by_rule)?;
    if !args.force && !store.peers().is_empty() {
        print_needed_by_others(&store, &forest, &tails, (&args, by_rule, &plan))?;
    }
    if plan.bubbs.is_empty() {
        print_status("nothing to delete");
        return Ok(0);
    }
    let ask = !args.dry_run && !args.yes;
    let mut terminal = tty().filter(|_| ask);
    if ask && terminal.is_none() {
        return Err(Error::usage("there is no terminal to ask on")
            .hint("-n lists what would be deleted; -y deletes it without asking"));
    }

    for path in plan.paths(&store) {
        context.out.path(&path);
    }
    context.out.flush();
    if args.dry_run {
        return Ok(0);
    }
    if let Some(terminal) = &mut terminal {
        let about = match tails[..] {
            [tail] => question(&store, &forest, tail).map(|text| format!(" of `{text}`")),
            _ => Some(format!(" of {} conversations", plan.tails.len())),
        };
        print_subjects(&store, &forest, &tails);
        let question = format!("Delete {}{}? (y/N): ", plan.size(), about.unwrap_or_default());
        if !terminal.confirm(&question)? {
            return Err(Error::nothing("nothing was deleted"));
        }
    }
    if is_kept && lock.is_none() {
        lock = lock_changes(&store).map_err(name_now)?;
    }
    if ask {
        unchanged(&store, &args, &plan, by_rule)?;
    }
    // Recorded before they go: what is in the store is never left out of an import.
    let recorded = context.user_env().and_then(|user| record_removed(&store, &user.paths, &plan.bubbs));
    match lock {
        None => empty::remove_now(&store, &plan.bubbs, &plan.blobs)?,
        Some(mut lock) => {
            let mut change = lock.new_change(ChangingCommand::Rm);
            change.removed = ChangedFiles { bubbs: plan.bubbs, blobs: plan.blobs };
            change.dropped = lock.with_replays(&change.removed);
            lock.make(change).map_err(name_now)?;
            print_way_back(&store, context);
        }
    }
    // On a full disk, too, a removal frees space.
    if let Err(error) = recorded {
        let text = format!("an import by a hook may bring it back: {}", error.message);
        print_status(&StatusLine::note(one_line(&text)));
    }
    Ok(0)
}

/// If the disk is full, the hint names the form of `rm` that needs no space.
fn name_now(error: Error) -> Error {
    use std::io::ErrorKind as K;
    let cause = std::error::Error::source(&error).and_then(|source| source.downcast_ref::<std::io::Error>());
    match cause.map(std::io::Error::kind) {
        Some(K::StorageFull | K::QuotaExceeded) => {
            error.hint("nothing was removed; `lepo rm --now` removes at once, which needs no space")
        }
        _ => error,
    }
}

/// Prints the last questions of the conversations to delete, up to a limit.
fn print_subjects(store: &Store, forest: &Forest, tails: &[Ix]) {
    const MOST: usize = 20;
    if tails.len() < 2 {
        return;
    }
    let shorts = ShortIds::new(forest.all().map(|ix| forest.name(ix).id));
    for &tail in tails.iter().take(MOST) {
        let id = shorts.show(forest.name(tail).id);
        let asked = forest.last_question(tail).and_then(|ix| text_or_warn(store, &forest.name(ix)));
        let words = excerpt_within(&asked.unwrap_or_default(), columns().saturating_sub(id.len() + 2));
        print_status(format!("{id}  {words}").trim_end());
    }
    if tails.len() > MOST {
        print_status(&format!("and {} more", tails.len() - MOST));
    }
}

/// Loads the own messages, and unless `--force` ignores them the messages of other users, which need what they follow.
fn forest(store: &Store, args: &RmArgs) -> Result<Forest> {
    match args.force {
        true => store.forest(),
        false => store.forest_for(&[ReadScope::All { peers: true }]),
    }
}

/// Prints how many messages are not deleted, because conversations of other users follow them.
fn print_needed_by_others(
    store: &Store,
    forest: &Forest,
    tails: &[Ix],
    (args, by_rule, plan): (&RmArgs, bool, &RemovalPlan),
) -> Result<()> {
    let own = store.forest()?;
    let same: Vec<Ix> = match by_rule {
        true => fitting(args, &own),
        false => tails.iter().filter_map(|&ix| own.find(forest.name(ix).id)).collect(),
    };
    // A branch hinders nothing that stays in any case.
    let Ok(whole) = RemovalPlan::make(store, &own, &same, by_rule) else { return Ok(()) };
    let going: HashSet<BubbId> = plan.bubbs.iter().map(|name| name.id).collect();
    let left: HashSet<BubbId> =
        whole.bubbs.iter().map(|name| name.id).filter(|id| !going.contains(id)).collect();
    let follows = |ix: &Ix| forest.name(*ix).prev.is_some_and(|prev| left.contains(&prev));
    let mut clones: Vec<&str> = forest
        .all()
        .filter(|&ix| forest.store_of(ix).is_some())
        .filter(follows)
        .map(|ix| clone_of(store, forest, ix))
        .collect();
    clones.sort_unstable();
    clones.dedup();
    if !left.is_empty() {
        let before = if by_rule { "" } else { " before it" };
        let messages = format!("{}{before}", plural_in_thousands(left.len(), "message"));
        let clones = clones.join(", ");
        let why = |them: &str| format!("{clones} continued {them} (--force deletes {them}, too)");
        print_status(&StatusLine::note(staying_line(&messages, left.len(), why)));
    }
    Ok(())
}

/// Returns the name of the other user's store with a message.
fn clone_of<'s>(store: &'s Store, forest: &Forest, ix: Ix) -> &'s str {
    let clone = forest.store_of(ix).and_then(|index| store.peers().get(index));
    clone.map_or("another", |(name, _)| name.as_str())
}

/// Resolves the addresses to bubbs, without duplicates.
fn resolve_ids(store: &Store, addresses: &[String]) -> Result<Vec<BubbId>> {
    let mut tails = Vec::new();
    for address in addresses {
        if let Some(clone) = store.peer_of_address(address) {
            return Err(Error::usage(format!(
                "{address} is a message of {clone}: only your own can be deleted"
            ))
            .hint("it is gone from here once it is removed there and synced"));
        }
    }
    let forest = store.forest()?;
    for found in resolve_all(store, (&forest, true), addresses)? {
        match found {
            AddressMatch::One(found) if tails.contains(&found.ix) => {}
            AddressMatch::One(found) => tails.push(found.ix),
            AddressMatch::Range(_) => {
                return Err(Error::usage("a range cannot be deleted")
                    .hint("name the last message of each; `lepo ls` lists them"));
            }
        }
    }
    // Newest first, because a bubb must be deleted before its ancestors.
    tails.sort_unstable_by(|a, b| b.cmp(a));
    Ok(tails.into_iter().map(|ix| forest.name(ix).id).collect())
}

fn fitting(args: &RmArgs, forest: &Forest) -> Vec<Ix> {
    let before = args.older_than.map(|age| now().saturating_sub(age));
    let is_old = |&tail: &Ix| before.is_none_or(|before| forest.name(tail).id.time() < before);
    let visible = NearestAncestor::new(|forest, ix| !forest.name(ix).hidden);
    let unanswered = |&tail: &Ix| {
        let last = visible.find(forest, tail).map(|ix| forest.name(ix));
        !args.unanswered || last.is_some_and(|name| name.role == Role::User)
    };
    let is_own = |&tail: &Ix| forest.store_of(tail).is_none();
    forest.newest_first(false).filter(is_own).filter(is_old).filter(unanswered).collect()
}

#[derive(PartialEq, Eq)]
struct RemovalPlan {
    tails: Vec<BubbId>,
    bubbs: Vec<BubbName>,
    blobs: Vec<ContentHash>,
}

impl RemovalPlan {
    /// Plans the deletion of these tails; `pass_over` skips tails that have a branch.
    fn make(store: &Store, forest: &Forest, tails: &[Ix], pass_over: bool) -> Result<RemovalPlan> {
        let branches = store.branches_or_error()?;
        let of_branches: HashSet<BubbId> = branches.iter().map(|(_, id)| *id).collect();
        let (mut going, mut planned, mut pruner) = (Vec::new(), Vec::new(), Pruner::new(forest));
        for &tail in tails {
            if pruner.is_gone(tail) {
                continue;
            }
            let id = forest.name(tail).id;
            let more = pruner.removable_with(tail).map_err(|follower| {
                let next = forest.name(follower).id;
                match forest.store_of(follower) {
                    Some(_) => {
                        let clone = clone_of(store, forest, follower);
                        Error::nothing(format!("{clone} continued {id}: {next} follows it"))
                            .hint("--force deletes it here; their messages stay")
                    }
                    None => {
                        Error::nothing(format!("{id} is not the end of a conversation: {next} follows it"))
                            .hint("`lepo ls` lists the ends")
                    }
                }
            })?;
            let held = more.iter().map(|&ix| forest.name(ix).id).find(|id| of_branches.contains(id));
            match held {
                Some(_) if pass_over => continue,
                Some(named) => {
                    let branch = branches.iter().find(|(_, id)| *id == named);
                    let branch = branch.map(|(name, _)| name.as_str()).unwrap_or_default();
                    return Err(Error::nothing(format!(
                        "branch {branch} names {named}, which would be deleted"
                    ))
                    .hint(format!("delete the branch first: lepo branch -d {}", quoted(branch))));
                }
                None => {}
            }
            pruner.mark_gone(&more);
            going.extend(more);
            planned.push(id);
        }
        let is_own = |ix: &Ix| forest.store_of(*ix).is_none();
        let bubbs: Vec<BubbName> = going.into_iter().filter(is_own).map(|ix| forest.name(ix)).collect();
        let all: Vec<BubbName> = forest.all().filter(is_own).map(|ix| forest.name(ix)).collect();
        let blobs = store.blobs_only_of(&bubbs, &all)?;
        Ok(RemovalPlan { tails: planned, bubbs, blobs })
    }

    fn paths(&self, store: &Store) -> Vec<PathBuf> {
        let bubbs = self.bubbs.iter().map(|name| store.bubb_path(name));
        let blobs = self.blobs.iter().map(|hash| store.blob_path(hash));
        bubbs.chain(blobs).collect()
    }

    fn size(&self) -> String {
        match self.bubbs.len() + self.blobs.len() {
            1 => "this file".to_string(),
            n => format!("these {n} files"),
        }
    }
}

/// Fails if a conversation was continued while the question was open.
fn unchanged(store: &Store, args: &RmArgs, plan: &RemovalPlan, pass_over: bool) -> Result<()> {
    let forest = forest(store, args)?;
    let tails: Option<Vec<Ix>> = plan.tails.iter().map(|id| forest.find(*id)).collect();
    let same = match tails {
        Some(tails) => RemovalPlan::make(store, &forest, &tails, pass_over)? == *plan,
        None => false,
    };
    match same {
        true => Ok(()),
        false => Err(Error::nothing("the store has changed in the meantime: nothing was deleted")
            .hint("look again: lepo rm -n ADDR")),
    }
}
