//! `lepo rm --redact`: masks secrets in stored messages, and removes the originals.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use lepo_base::error::{Error, Result};
use lepo_secrets::Masker;
use lepo_store::bubb::{BubbId, BubbName};
use lepo_store::store::{MovedBubb, ReplacedFiles, Store, ids_in};
use lepo_turn::carry_waiting;

use super::args::RmArgs;
use super::interrupted::{Interrupted, proven};
use super::other_copies::holders;
use super::outcome::RedactOutcome;
use super::plan::RedactPlan;
use super::remaining_copies::RemainingCopies;
use super::request::RedactRequest;
use crate::commands::Context;
use crate::commands::own_newest::{find_or_refuse, note_moved};
use crate::commands::secret_finder::masker_of_written;
use crate::term::{StatusLine, print_status, stderr_is_terminal, tty};
use crate::ui::{ShortIds, lock_changes};

/// Completes an interrupted redaction; then lists, asks and redacts.
pub fn run_redact(args: &RmArgs, context: &mut Context<'_>) -> Result<u8> {
    let store = context.store()?.with_own_newest(find_or_refuse);
    let _lock = (!args.dry_run).then(|| store.replacement().lock()).transpose()?;
    let masker = masker_of_written()?;
    let mut outcome = RedactOutcome { dry_run: args.dry_run, ..RedactOutcome::default() };
    let interrupted = Interrupted::read(&store)?;
    let was_interrupted = interrupted.is_some();
    // Resolved first, so that a mistyped address changes nothing.
    let moved = interrupted.as_ref().map(Interrupted::moved_bubbs).unwrap_or_default();
    let mut request = RedactRequest::from_args(args, &store, &moved)?;
    if request.is_empty() && !was_interrupted {
        return Err(Error::usage("no message given").hint("name some, or --all: lepo rm --redact --all"));
    }
    if let Some(interrupted) = interrupted {
        let remaining = interrupted.remaining(&store, &masker)?;
        match (args.dry_run, remaining) {
            (true, remaining) => {
                let what = remaining.map(|what| format!(": {what}")).unwrap_or_default();
                print_status(&StatusLine::note(format!(
                    "`lepo rm --redact` was interrupted; the next one completes it{what}"
                )));
            }
            (false, Some(what)) if !args.yes => confirm_completion(&what)?,
            (false, _) => {}
        }
        if !args.dry_run {
            complete(&store, interrupted, &masker, &mut outcome)?;
            request.follow(&outcome.moved);
        }
    }
    let plan = RedactPlan::make(&store, &request, &masker)?;
    let shorts = ShortIds::on_terminal(stderr_is_terminal(), plan.clean.iter().copied());
    for id in &plan.clean {
        print_status(&format!("no secret in {}", shorts.show(*id)));
    }
    let ask = !args.dry_run && !args.yes && !plan.is_nothing();
    let mut terminal = tty().filter(|_| ask);
    if ask && terminal.is_none() {
        return Err(Error::usage("there is no terminal to ask on")
            .hint("-n lists what would change; -y changes it without asking"));
    }
    outcome.add(&store, &plan);
    outcome.remains = RemainingCopies::search(&store, &request, &plan)?;
    outcome.remains.follow(if args.dry_run { &[] } else { &outcome.moved });
    if !args.json {
        outcome.print(context);
    }
    if !plan.is_nothing() && !args.dry_run {
        let held = holders(&store, &outcome);
        if let Some(terminal) = &mut terminal {
            if !terminal.confirm(&question(&plan))? {
                return Err(Error::nothing("nothing was changed"));
            }
            let again = RedactPlan::make(&store, &request, &masker)?;
            if (again.moved_bubbs(), &again.files, &again.orphans, &again.replays)
                != (plan.moved_bubbs(), &plan.files, &plan.orphans, &plan.replays)
            {
                return Err(Error::nothing("the store has changed in the meantime: nothing was changed")
                    .hint("look again: lepo rm -n --redact ADDR"));
            }
        }
        outcome.lost.extend(carry_out(&store, &request, &plan, &masker)?);
        outcome.held_by.extend(held);
        outcome.held_by.extend(outcome.remains.history_note());
    }
    if args.json {
        context.out.document(&outcome.document());
        context.out.flush();
    }
    outcome.print_notes(&plan, context.at);
    Ok(0)
}

fn confirm_completion(what: &str) -> Result<()> {
    let Some(mut terminal) = tty() else {
        let error = format!(
            "`lepo rm --redact` was interrupted and is completed first ({what}), and there is no terminal to ask on"
        );
        return Err(Error::usage(error).hint("-y completes it without asking"));
    };
    match terminal.confirm(&format!("Complete the interrupted `lepo rm --redact`: {what}? (y/N): "))? {
        true => Ok(()),
        false => Err(Error::nothing("nothing was changed")),
    }
}

fn complete(
    store: &Store,
    interrupted: Interrupted,
    masker: &Masker,
    outcome: &mut RedactOutcome,
) -> Result<()> {
    let Interrupted { request, replaced } = interrupted;
    match replaced {
        Some(replaced) => {
            outcome.moved.extend(replaced.moved_bubbs());
            outcome.blobs.extend(&replaced.blobs);
            outcome.held_by.extend(holders(store, outcome));
            end(store, &request, &replaced, masker)?;
        }
        // The originals are complete: starts again.
        None => {
            let plan = RedactPlan::make(store, &request, masker)?;
            outcome.add(store, &plan);
            outcome.held_by.extend(holders(store, outcome));
            outcome.lost.extend(carry_out(store, &request, &plan, masker)?);
        }
    }
    print_status("completed the interrupted `lepo rm --redact`");
    Ok(())
}

/// Writes the copies, then removes the originals; returns the requests that can no longer be approved.
fn carry_out(
    store: &Store,
    request: &RedactRequest,
    plan: &RedactPlan,
    masker: &Masker,
) -> Result<Vec<BubbId>> {
    // Checked before anything is written: an unreadable branch would still name a removed message.
    store.branches_or_error()?;
    store.replacement().save(&proven(store, request, None)?)?;
    let moved = plan.moved_bubbs();
    let ids = new_ids(&moved);
    let mut lost = Vec::new();
    for MovedBubb { from, to } in &moved {
        let has_none = !plan.changed.contains_key(&from.id)
            && carry_waiting(store, masker, (from.id, to.id), &ids, &plan.secrets)?;
        if !has_none && to.hidden && store.replay_bytes(from.id)?.is_some() {
            lost.push(to.id);
        }
    }
    let unmoved: HashSet<BubbId> = plan.replays.keys().copied().filter(|id| !ids.contains_key(id)).collect();
    for id in &unmoved {
        store.forget_replay(*id)?;
    }
    if !unmoved.is_empty() {
        let names = store.names()?;
        lost.extend(
            names.iter().filter(|name| name.hidden && unmoved.contains(&name.id)).map(|name| name.id),
        );
    }
    let blobs: Vec<&[u8]> = plan.blobs.values().map(Vec::as_slice).collect();
    store.replacement().publish(&plan.copies, &blobs)?;

    let stay: HashSet<BubbId> = moved.iter().map(|moved| moved.to.id).collect();
    let going: Vec<BubbName> =
        moved.iter().map(|moved| moved.from).filter(|name| !stay.contains(&name.id)).collect();
    let mut gone = store.blobs_only_of(&going, &store.names()?)?;
    gone.extend(&plan.orphans);
    for path in plan.files.keys().filter(|path| !has_ids(path)) {
        if let Some(masked) = store.read_meta(path)?.and_then(|bytes| take_out(&bytes, request, masker)) {
            store.put_meta(path, &masked)?;
        }
    }
    let replaced = ReplacedFiles::new(&moved, gone);
    store.replacement().save(&proven(store, request, Some(replaced.clone()))?)?;
    end(store, request, &replaced, masker)?;
    Ok(lost)
}

/// Whether the lines of a file name messages, and change with their ids.
fn has_ids(path: &Path) -> bool {
    ["_titles", "_journal.ndjson", "_undo.ndjson"].iter().any(|file| path == Path::new(file))
}

/// Finishes a redaction whose copies are all published.
fn end(store: &Store, request: &RedactRequest, replaced: &ReplacedFiles, masker: &Masker) -> Result<()> {
    store.journal().add_redactions(&replaced.moved_bubbs())?;
    let about = about(store, &replaced.moved_bubbs())?;
    follow_changes(store, request, &replaced.moved_bubbs(), masker)?;
    note_moved(&new_ids(&replaced.moved_bubbs()));
    store.replacement().end(replaced, &mut |line| {
        let taken = (request.all || ids_in(line).any(|id| about.contains(&id)))
            .then(|| take_out(line, request, masker));
        taken.flatten()
    })
}

/// Puts the new ids of messages into the list of changes, and masks the titles and names in it.
fn follow_changes(
    store: &Store,
    request: &RedactRequest,
    moved: &[MovedBubb],
    masker: &Masker,
) -> Result<()> {
    if store.change_list().read()?.changes().is_empty() {
        return Ok(());
    }
    let Some(mut lock) = lock_changes(store)? else { return Ok(()) };
    lock.follow(&new_ids(moved), &mut |text| {
        take_out(text.as_bytes(), request, masker).map(|masked| String::from_utf8_lossy(&masked).into_owned())
    })
}

/// Maps each original to its copy.
fn new_ids(moved: &[MovedBubb]) -> HashMap<BubbId, BubbId> {
    moved.iter().map(|moved| (moved.from.id, moved.to.id)).collect()
}

/// Masks `bytes`; `None` if nothing changes.
fn take_out(bytes: &[u8], request: &RedactRequest, masker: &Masker) -> Option<Vec<u8>> {
    masker.mask_matching(bytes, &|found| request.selects(found)).map(|(masked, _)| masked)
}

/// Returns the ids of the copies and of the roots of their conversations, to which titles belong.
fn about(store: &Store, moved: &[MovedBubb]) -> Result<HashSet<BubbId>> {
    let forest = store.forest()?;
    let mut outlines = forest.outlines();
    let copies = moved.iter().filter_map(|moved| forest.find(moved.to.id));
    let roots = copies.map(|ix| forest.name(outlines.value(ix).root).id);
    Ok(roots.chain(moved.iter().map(|moved| moved.to.id)).collect())
}

fn question(plan: &RedactPlan) -> String {
    let mut doing = plan.actions();
    if let Some(first) = doing.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    format!("{doing}? (y/N): ")
}
