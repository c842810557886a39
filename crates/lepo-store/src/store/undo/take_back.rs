//! Plans to take a change back, or to make it again: only if what that overwrites is as the change left it.

use std::collections::{HashMap, HashSet};

use super::removed_files::REMOVED;
use super::{Change, ChangeDirection, ChangeLock, ChangedFiles, ListedChange};
use crate::bubb::{BubbId, BubbName, plural};
use lepo_base::error::{Error, Result, quoted};

/// A change in the other direction, to be passed to [`ChangeLock::make`].
pub struct TakeBackPlan {
    pub change: Change,
    /// Messages that stay, because something follows them.
    pub staying: usize,
    /// Requests that come back without their unmasked text.
    pub dropped: Vec<BubbId>,
}

impl ChangeLock<'_> {
    /// Plans to take back a change: the newest that is not undone and not emptied, or the one with the number `n`.
    pub fn plan_undo(&self, n: Option<u64>, is_forced: bool) -> Result<TakeBackPlan> {
        let changes = self.log.changes();
        let chosen = match n {
            Some(n) => {
                let found = changes.iter().find(|change| change.last.n == n).ok_or_else(|| no_change(n))?;
                if found.is_taken_back() {
                    return Err(Error::nothing(format!("change {n} is undone already"))
                        .hint(format!("to redo it: lepo undo --redo {n}")));
                }
                if let Some(error) = self.emptied(found.last)? {
                    return Err(error);
                }
                found
            }
            None => {
                let open = changes.iter().filter(|change| !change.is_taken_back());
                let mut newest = None;
                for change in open {
                    if self.emptied(change.last)?.is_none() {
                        newest = Some(change);
                        break;
                    }
                }
                match newest {
                    Some(newest) => newest,
                    None => return Err(self.nothing_to_undo()?),
                }
            }
        };
        self.plan(chosen, ChangeDirection::Undo, is_forced)
    }

    /// Plans to make a change again: what was taken back last, or the one with the number `n`.
    pub fn plan_redo(&self, n: Option<u64>, is_forced: bool) -> Result<TakeBackPlan> {
        let changes = self.log.changes();
        let n = match n.or_else(|| self.log.last_taken_back()) {
            Some(n) => n,
            None => {
                return Err(Error::nothing("nothing to redo").hint("`lepo undo --list` lists changes"));
            }
        };
        let found = changes.iter().find(|change| change.last.n == n).ok_or_else(|| no_change(n))?;
        if !found.is_taken_back() {
            return Err(
                Error::nothing(format!("change {n} is not undone")).hint("`lepo undo --list` lists changes")
            );
        }
        if let Some(error) = self.emptied(found.last)? {
            return Err(error);
        }
        self.plan(found, ChangeDirection::Redo, is_forced)
    }

    /// Returns the error if files that would come back are deleted; `None` if all exist.
    fn emptied(&self, last: &Change) -> Result<Option<Error>> {
        if last.removed.is_empty() {
            return Ok(None);
        }
        let failed = |error| self.store.dir.error("cannot read", REMOVED, error);
        let missing = self.removed.missing(last.folder.as_ref(), &last.removed).map_err(failed)?;
        Ok((!missing.is_empty()).then(|| {
            let count = plural(missing.bubbs.len() + missing.blobs.len(), "file");
            Error::nothing(format!("{count} of change {} is no longer in {REMOVED}: it was emptied", last.n))
                .hint("removed messages stay there as long as the setting `keep_removed` says")
        }))
    }

    fn plan(
        &self,
        listed: &ListedChange<'_>,
        direction: ChangeDirection,
        is_forced: bool,
    ) -> Result<TakeBackPlan> {
        let last = listed.last;
        let mut change = last.inverse(direction, super::now());
        if last.direction == ChangeDirection::First {
            // An import in several steps has several lines.
            change.removed = ChangedFiles::default();
            change.removed.bubbs = listed.steps.iter().flat_map(|step| &step.added.bubbs).copied().collect();
        }
        self.check_branches(&mut change, is_forced)?;
        self.check_titles(&mut change, is_forced)?;
        let staying = self.choose_removed(&mut change, is_forced)?;
        if let Some(source) = &change.source {
            let failed = |error| self.store.dir.error("cannot read", REMOVED, error);
            let conflicts = self.removed.conflicts(source, &change.added).map_err(failed)?;
            if let (Some(name), false) = (conflicts.first(), is_forced) {
                return Err(refused(
                    &change,
                    format!("message {} is in the store with other bytes", name.id),
                )
                .hint("--force leaves it as it is and takes the rest back"));
            }
            self.check_prevs(&change, is_forced)?;
        }
        let dropped = last.dropped.clone();
        change.dropped = self.with_replays(&change.removed);
        Ok(TakeBackPlan { change, staying, dropped })
    }

    fn check_branches(&self, change: &mut Change, is_forced: bool) -> Result<()> {
        for at in 0..change.branches.len() {
            let branch = &change.branches[at];
            let found = self.store.branch_ids(branch.name.as_str())?;
            if found == branch.before {
                continue;
            }
            if !is_forced {
                let (name, target) = (branch.name.as_str(), branch.after.as_deref());
                let effect = target
                    .map_or("deletes it".to_string(), |ids| format!("makes it {}", show_ids(Some(ids))));
                let steps = self.steps_to_question(branch.before.as_deref(), found.as_deref())?;
                let typed = quoted(name);
                let back = |steps| {
                    format!("`lepo branch -f {typed} {typed}~{steps}` leaves out its last question; ")
                };
                let back = steps.map(back).unwrap_or_default();
                let (found, before) = (show_ids(found.as_deref()), show_ids(branch.before.as_deref()));
                return Err(refused(
                    change,
                    format!("branch {name} was changed since: {found}, not {before}"),
                )
                .hint(format!("{back}--force {effect} anyway")));
            }
            change.branches[at].before = found;
        }
        Ok(())
    }

    /// Returns how many visible messages a branch must move back to leave out its last question; `None` if it did not
    /// move from `before` by questions.
    fn steps_to_question(
        &self,
        before: Option<&[BubbId]>,
        found: Option<&[BubbId]>,
    ) -> Result<Option<usize>> {
        let (Some([before]), Some([found])) = (before, found) else { return Ok(None) };
        let forest = self.store.forest()?;
        let (Some(before), Some(end)) = (forest.find(*before), forest.find(*found)) else { return Ok(None) };
        let has_moved_on = forest.up(end).any(|ix| ix == before);
        let mut since = forest.up(end).take_while(|&ix| ix != before).filter(|&ix| !forest.name(ix).hidden);
        Ok(since.position(|ix| forest.is_question(ix)).filter(|_| has_moved_on).map(|at| at + 1))
    }

    /// Returns the error where all changes are undone, with the way back from a question, which is not a change.
    fn nothing_to_undo(&self) -> Result<Error> {
        let error = Error::nothing("nothing to undo");
        let forest = self.store.forest()?;
        let Some(end) = forest.newest() else { return Ok(error) };
        let visible: Vec<_> = forest.up(end).filter(|&ix| !forest.name(ix).hidden).collect();
        let Some(at) = visible.iter().position(|&ix| forest.is_question(ix)) else { return Ok(error) };
        let way = match visible.len() > at + 1 {
            true => format!("to ask another in place of the last one: lepo --tail @~{} QUESTION", at + 1),
            false => "to begin again: lepo -n QUESTION".to_string(),
        };
        Ok(error.hint(format!("a question is not a change; {way}")))
    }

    fn check_titles(&self, change: &mut Change, is_forced: bool) -> Result<()> {
        for at in 0..change.titles.len() {
            let title = &change.titles[at];
            let (_, found) = self.store.latest_title(title.root)?.unwrap_or_default();
            if found == title.before {
                continue;
            }
            if !is_forced {
                let (found, before) = (quoted(&found), quoted(&title.before));
                return Err(refused(change, format!("the title was changed since: {found}, not {before}"))
                    .hint("--force changes it anyway"));
            }
            change.titles[at].before = found;
        }
        Ok(())
    }

    /// Leaves out messages that something follows or a branch names, with their ancestors, and adds the blobs that
    /// nothing else names. Returns the number of messages that stay.
    fn choose_removed(&self, change: &mut Change, is_forced: bool) -> Result<usize> {
        if change.removed.bubbs.is_empty() {
            return Ok(0);
        }
        let names = self.store.names()?;
        let there: HashSet<BubbId> = names.iter().map(|name| name.id).collect();
        change.removed.bubbs.retain(|name| there.contains(&name.id));
        let going: HashMap<BubbId, BubbName> =
            change.removed.bubbs.iter().map(|name| (name.id, *name)).collect();
        let follows = |name: &&BubbName| !going.contains_key(&name.id);
        let mut needed: Vec<BubbId> = names.iter().filter(follows).filter_map(|name| name.prev).collect();
        let renamed: HashSet<&str> = change.branches.iter().map(|branch| branch.name.as_str()).collect();
        let branches = self.store.branches_or_error()?.into_iter();
        needed.extend(branches.filter(|(name, _)| !renamed.contains(name.as_str())).map(|(_, id)| id));
        needed.extend(change.branches.iter().flat_map(|branch| branch.after.iter().flatten()).copied());
        let mut staying = HashSet::new();
        for id in needed {
            let mut at = going.get(&id);
            while let Some(name) = at.filter(|name| staying.insert(name.id)) {
                at = name.prev.and_then(|prev| going.get(&prev));
            }
        }
        if !staying.is_empty() && !change.command.leaves_followed() && !is_forced {
            let first = change.removed.bubbs.iter().find(|name| staying.contains(&name.id));
            let id = first.map(|name| name.id.to_string()).unwrap_or_default();
            return Err(refused(change, format!("something follows {id}, or a branch names it"))
                .hint("--force leaves such messages and removes the others"));
        }
        change.removed.bubbs.retain(|name| !staying.contains(&name.id));
        change.removed.bubbs.sort_unstable_by_key(|name| std::cmp::Reverse(name.id));
        change.removed.blobs = self.store.blobs_only_of(&change.removed.bubbs, &names)?;
        if change.removed.is_empty() && change.is_nothing() {
            return Err(refused(change, "something follows each of its messages".to_string()));
        }
        Ok(staying.len())
    }

    /// Fails if a message would come back without the one before it, which a later change removed.
    fn check_prevs(&self, change: &Change, is_forced: bool) -> Result<()> {
        let added: HashSet<BubbId> = change.added.bubbs.iter().map(|name| name.id).collect();
        let prevs =
            change.added.bubbs.iter().filter_map(|name| name.prev).filter(|prev| !added.contains(prev));
        let prevs: HashSet<BubbId> = prevs.collect();
        if prevs.is_empty() || is_forced {
            return Ok(());
        }
        for other in self.log.changes() {
            let gone = other.last.removed.bubbs.iter().find(|name| prevs.contains(&name.id));
            if let Some(name) = gone.filter(|name| other.last.n != change.n && !self.has(name)) {
                let n = other.last.n;
                let id = name.id;
                let again = if other.is_taken_back() { format!("--redo {n}") } else { n.to_string() };
                return Err(refused(change, format!("change {n} removed {id}, which they follow"))
                    .hint(format!("first bring that back: lepo undo {again}")));
            }
        }
        Ok(())
    }

    fn has(&self, name: &BubbName) -> bool {
        self.store.open_bubb(name).is_ok()
    }
}

fn no_change(n: u64) -> Error {
    Error::nothing(format!("no change {n}")).hint("`lepo undo --list` lists changes")
}

fn refused(change: &Change, why: String) -> Error {
    let what = match change.direction {
        ChangeDirection::Redo => "redone",
        ChangeDirection::Undo | ChangeDirection::First => "undone",
    };
    Error::nothing(format!("change {} ({}) was not {what}: {why}", change.n, change.command.as_str()))
}

fn show_ids(ids: Option<&[BubbId]>) -> String {
    match ids {
        None => "no branch".to_string(),
        Some([]) => "no id".to_string(),
        Some(ids) => ids.iter().map(BubbId::to_string).collect::<Vec<_>>().join(" "),
    }
}
