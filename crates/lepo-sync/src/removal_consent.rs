//! Consent to removals between the clones of a user: removing most messages of a store needs an answer of the user, in
//! either direction. Also decides which clones count as the user's.

use super::git::Git;
use super::incoming::OwnClones;
use super::merge::{Changes, MergeSide};
use super::remote::Refs;
use super::settings::SyncSettings;
use lepo_base::error::{Error, Result};
use lepo_store::bubb::plural;

/// If at least this many messages, and at least half of all, are gone at once, the store may be incomplete or the
/// removals unintended.
const MANY_REMOVED: usize = 50;

/// Removals by other clones within this many milliseconds are counted together.
const REMOVALS_DAY: u64 = 24 * 60 * 60 * 1000;

/// Asks the user a yes-or-no question.
pub type AskFn<'a> = &'a dyn Fn(&str) -> Result<bool>;

/// How consent is obtained to a removal of most messages.
#[derive(Clone, Copy)]
pub enum RemovalConsent<'a> {
    /// The user consented in advance.
    Given,
    /// The user can be asked.
    Ask(AskFn<'a>),
    /// The user cannot be asked.
    Nobody,
}

/// Returns the clones that the user confirmed as own: first those whose refs descend from the last merged commit,
/// then those whose history was replaced.
pub fn own_clones(git: &Git, settings: &SyncSettings, refs: &Refs) -> (Vec<String>, Vec<String>) {
    let theirs = refs.theirs.iter().filter(|(clone, _)| **clone != settings.name);
    let mine = theirs.filter(|(clone, _)| settings.mine.contains(*clone));
    let descends = |(clone, tip): &(&String, &String)| {
        let last_merged = settings.seen.get(*clone).or_else(|| refs.taken.get(*clone));
        last_merged.is_none_or(|last_merged| is_ancestor(git, last_merged, tip))
    };
    let (descending, replaced): (Vec<_>, Vec<_>) = mine.partition(descends);
    let names =
        |clones: Vec<(&String, &String)>| clones.into_iter().map(|(clone, _)| clone.clone()).collect();
    (names(descending), names(replaced))
}

/// Whether `new` equals or descends from `old`.
pub fn is_ancestor(git: &Git, old: &str, new: &str) -> bool {
    old == new || git.run(["merge-base", "--is-ancestor", old, new]).is_ok()
}

/// Fails if most sent messages are missing here, unless the user consents: the disk may not be mounted.
pub fn check_own_removals((missing, all): (usize, usize), consent: RemovalConsent<'_>) -> Result<()> {
    if missing < MANY_REMOVED || missing * 2 < all {
        return Ok(());
    }
    let finding = format!("{missing} of {all} sent messages are missing here");
    let question = "Remove them from your other clones too";
    confirm(&finding, question, consent, || {
        "if that is meant: `lepo sync --yes` removes them from your other clones too".into()
    })
}

/// Fails if other clones removed most of the messages, unless the user consents. Removals within a day count
/// together, across any number of syncs.
pub fn check_their_removals(
    changes: &Changes,
    mine: &OwnClones<'_>,
    here: &MergeSide,
    settings: &mut SyncSettings,
    now: u64,
    consent: RemovalConsent<'_>,
) -> Result<()> {
    let removed = changes.remove.len();
    if removed == 0 {
        return Ok(());
    }
    // The earlier removals of the same day.
    let (since, before) = settings.lately;
    let is_same_day = now.abs_diff(since) < REMOVALS_DAY;
    let (since, before) = if is_same_day { (since, before) } else { (now, 0) };
    let (sum, all) = (removed + before, here.bubbs.len() + before);
    if sum < MANY_REMOVED || sum * 2 < all {
        settings.lately = (since, sum);
        return Ok(());
    }
    let removed_by = |side: &&MergeSide| changes.remove.iter().any(|name| side.removed.contains(name.id));
    let clones: Vec<&str> = mine.sides.iter().filter(removed_by).map(|side| side.clone.as_str()).collect();
    let removers = if clones.is_empty() { "another clone of yours".into() } else { clones.join(", ") };
    let lately = match before {
        0 => String::new(),
        _ => format!(", after {} within a day", plural(before, "other")),
    };
    let finding = format!("{removers} removed {removed} of the {} messages here{lately}", here.bubbs.len());
    let clone = clones.first().copied().unwrap_or("NAME");
    confirm(&finding, "Remove them here too", consent, || {
        format!(
            "if that is meant: `lepo sync --yes` removes them here; to keep them: `lepo sync --not-mine {clone}`"
        )
    })?;
    settings.lately = (now, 0);
    Ok(())
}

fn confirm(
    finding: &str,
    question: &str,
    consent: RemovalConsent<'_>,
    hint: impl Fn() -> String,
) -> Result<()> {
    let refused = match consent {
        RemovalConsent::Given => return Ok(()),
        RemovalConsent::Ask(ask) if ask(&format!("{finding}. {question}? (y/N): "))? => return Ok(()),
        RemovalConsent::Ask(_) => Error::nothing("nothing was removed"),
        RemovalConsent::Nobody => Error::usage(finding),
    };
    Err(refused.hint(hint()))
}
