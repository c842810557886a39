//! The user's other clones: which refs count as theirs, and how much they may remove without asking.

use super::git::Git;
use super::incoming::OwnClones;
use super::merge::{Changes, MergeSide};
use super::remote::Refs;
use super::settings::SyncSettings;
use lepo_base::error::{Error, Result};
use lepo_store::bubb::counted;

/// If at least this many messages, and at least half of all, are gone at once, the store may be incomplete or the
/// removals unintended.
const MANY_GONE: usize = 50;

/// Removals by other clones within this many milliseconds are counted together.
const LATELY: u64 = 24 * 60 * 60 * 1000;

/// Asks the user a yes-or-no question.
pub type AskFn<'a> = &'a dyn Fn(&str) -> Result<bool>;

/// The consent to remove most messages.
#[derive(Clone, Copy)]
pub enum RemovalConsent<'a> {
    /// The user consented in advance.
    Given,
    /// The user can be asked.
    Ask(AskFn<'a>),
    /// The user cannot be asked.
    Nobody,
}

/// Returns the confirmed clones whose refs descend from the last merged commit, and those whose refs do not.
pub fn confirmed(git: &Git, settings: &SyncSettings, refs: &Refs) -> (Vec<String>, Vec<String>) {
    let theirs = refs.theirs.iter().filter(|(clone, _)| **clone != settings.name);
    let mine = theirs.filter(|(clone, _)| settings.mine.contains(*clone));
    let descends = |(clone, tip): &(&String, &String)| {
        let last_merged = settings.seen.get(*clone).or_else(|| refs.taken.get(*clone));
        last_merged.is_none_or(|last_merged| is_ancestor(git, last_merged, tip))
    };
    let (good, replaced): (Vec<_>, Vec<_>) = mine.partition(descends);
    let names =
        |clones: Vec<(&String, &String)>| clones.into_iter().map(|(clone, _)| clone.clone()).collect();
    (names(good), names(replaced))
}

/// Whether `new` equals or descends from `old`.
pub fn is_ancestor(git: &Git, old: &str, new: &str) -> bool {
    old == new || git.run(["merge-base", "--is-ancestor", old, new]).is_ok()
}

/// Fails if most sent messages are missing here, unless the user consents: the disk may not be mounted.
pub fn check_own_removals((gone, all): (usize, usize), consent: RemovalConsent<'_>) -> Result<()> {
    if gone < MANY_GONE || gone * 2 < all {
        return Ok(());
    }
    let finding = format!("{gone} of {all} sent messages are missing here");
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
    let gone = changes.remove.len();
    if gone == 0 {
        return Ok(());
    }
    let (since, before) = settings.lately;
    let is_lately = now.abs_diff(since) < LATELY;
    let (since, before) = if is_lately { (since, before) } else { (now, 0) };
    let (sum, all) = (gone + before, here.bubbs.len() + before);
    if sum < MANY_GONE || sum * 2 < all {
        settings.lately = (since, sum);
        return Ok(());
    }
    let removed_by = |side: &&MergeSide| changes.remove.iter().any(|name| side.removed.contains(name.id));
    let clones: Vec<&str> = mine.sides.iter().filter(removed_by).map(|side| side.clone.as_str()).collect();
    let removers = if clones.is_empty() { "another clone of yours".into() } else { clones.join(", ") };
    let lately = match before {
        0 => String::new(),
        _ => format!(", after {} within a day", counted(before, "other")),
    };
    let finding = format!("{removers} removed {gone} of the {} messages here{lately}", here.bubbs.len());
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
