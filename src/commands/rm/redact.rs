//! `lepo rm --redact`: secrets become masks in what is written already, and what led to new ids goes.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use lepo_base::error::{Error, Result};
use lepo_secrets::Masker;
use lepo_store::bubb::{BubbId, Name, counted};
use lepo_store::conv::Origins;
use lepo_store::store::{Moved, Replaced, Replacing, Store, ids_in};
use lepo_turn::carry_waiting;

use super::args::RmArgs;
use super::held::holders;
use super::outcome::Outcome;
use super::plan::Plan;
use super::remains::Remains;
use super::wish::Wish;
use crate::commands::Context;
use crate::commands::finder::masker_of_written;
use crate::term::{Line, say, stderr_is_terminal, tty};
use crate::ui::ShortIds;

/// Completes what was begun, then lists, asks, and takes out.
pub fn run_redact(args: &RmArgs, context: &mut Context<'_>) -> Result<u8> {
    let store = context.store()?;
    let lock = (!args.dry_run).then(|| store.replacement().lock()).transpose()?;
    let masker = masker_of_written()?;
    let mut outcome = Outcome { dry_run: args.dry_run, ..Outcome::default() };
    match store.replacement().begun()? {
        Some(begun) if lock.is_some() => complete(&store, begun, &masker, &mut outcome)?,
        Some(_) => say(&Line::note("`lepo rm --redact` was interrupted; the next one completes it")),
        None => {}
    }
    let completed = !outcome.is_nothing();
    let wish = Wish::of(args, &store, &outcome.moved)?;
    if wish.is_empty() && !completed {
        return Err(Error::usage("no message given").hint("name some, or --all: lepo rm --redact --all"));
    }
    let plan = Plan::make(&store, &wish, &masker)?;
    let shorts = ShortIds::on_terminal(stderr_is_terminal(), plan.clean.iter().copied());
    for id in &plan.clean {
        say(&format!("no secret in {}", shorts.show(*id)));
    }
    let ask = !args.dry_run && !args.yes && !plan.is_nothing();
    let mut terminal = tty().filter(|_| ask);
    if ask && terminal.is_none() {
        return Err(Error::usage("there is no terminal to ask on")
            .hint("-n lists what would change; -y changes it without asking"));
    }
    outcome.add(&plan);
    outcome.remains = Remains::of(&store, &wish, &plan)?;
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
            let again = Plan::make(&store, &wish, &masker)?;
            if (again.moved(), &again.files, &again.orphans) != (plan.moved(), &plan.files, &plan.orphans) {
                return Err(Error::nothing("the store has changed in the meantime: nothing was changed")
                    .hint("look again: lepo rm -n --redact ADDR"));
            }
        }
        outcome.lost.extend(carry_out(&store, &wish, &plan, &masker)?);
        outcome.held_by.extend(held);
        outcome.held_by.extend(outcome.remains.held());
    }
    if args.json {
        context.out.line(&outcome.document().to_string());
        context.out.flush();
    }
    outcome.tell(&plan, context.at);
    Ok(0)
}

/// Completes what was interrupted: it was agreed to.
fn complete(store: &Store, begun: Replacing, masker: &Masker, outcome: &mut Outcome) -> Result<()> {
    let wish: Wish = serde_json::from_value(begun.wish).map_err(|error| {
        Error::store("cannot read what `lepo rm --redact` was to do in _replacing.json").because(error)
    })?;
    match begun.replaced {
        Some(replaced) => {
            outcome.moved.extend(replaced.moved());
            outcome.blobs.extend(replaced.blobs.iter().cloned());
            outcome.held_by.extend(holders(store, outcome));
            end(store, &wish, &replaced, masker)?;
        }
        // The originals are whole: it begins again.
        None => {
            let plan = Plan::make(store, &wish, masker)?;
            outcome.add(&plan);
            outcome.held_by.extend(holders(store, outcome));
            outcome.lost.extend(carry_out(store, &wish, &plan, masker)?);
        }
    }
    say("completed the interrupted `lepo rm --redact`");
    Ok(())
}

/// Writes the copies, then lets the originals go. The requests that can no longer be approved.
fn carry_out(store: &Store, wish: &Wish, plan: &Plan, masker: &Masker) -> Result<Vec<BubbId>> {
    let told = serde_json::to_value(wish)
        .map_err(|error| Error::store("cannot record the request").because(error))?;
    // Before anything is written: a branch that cannot be read would stay at a message that goes.
    store.branches().all_or_error()?;
    let mut record = Replacing { wish: told, replaced: None };
    store.replacement().keep(&record)?;
    let moved = plan.moved();
    let ids: HashMap<BubbId, BubbId> = moved.iter().map(|moved| (moved.from.id, moved.to.id)).collect();
    let mut lost = Vec::new();
    for Moved { from, to } in &moved {
        let has_none = !plan.changed.contains_key(&from.id)
            && carry_waiting(store, masker, (from.id, to.id), &ids, &plan.secrets)?;
        if !has_none && store.requests().replay_bytes(from.id)?.is_some() {
            lost.push(to.id);
        }
    }
    let blobs: Vec<&[u8]> = plan.blobs.values().map(Vec::as_slice).collect();
    store.replacement().place(&plan.copies, &blobs)?;

    let stay: HashSet<BubbId> = moved.iter().map(|moved| moved.to.id).collect();
    let going: Vec<Name> =
        moved.iter().map(|moved| moved.from).filter(|name| !stay.contains(&name.id)).collect();
    let mut gone = store.blobs().only_of(&going, &store.names().all()?)?;
    gone.extend(plan.orphans.iter().cloned());
    for path in plan.files.keys().filter(|path| !has_ids(path)) {
        if let Some(masked) = store.furniture().read(path)?.and_then(|bytes| take_out(&bytes, wish, masker)) {
            store.furniture().put(path, &masked)?;
        }
    }
    let replaced = Replaced::new(&moved, gone);
    record.replaced = Some(replaced.clone());
    store.replacement().keep(&record)?;
    end(store, wish, &replaced, masker)?;
    Ok(lost)
}

/// Files whose lines name messages: they change with the ids.
fn has_ids(path: &Path) -> bool {
    ["_titles", "_journal.ndjson"].iter().any(|file| path == Path::new(file))
}

/// Ends what has all its copies.
fn end(store: &Store, wish: &Wish, replaced: &Replaced, masker: &Masker) -> Result<()> {
    let about = about(store, &replaced.moved())?;
    store.replacement().end(replaced, &mut |line| {
        let taken =
            (wish.all || ids_in(line).any(|id| about.contains(&id))).then(|| take_out(line, wish, masker));
        taken.flatten()
    })
}

/// Bytes with masks; `None` if they need none.
fn take_out(bytes: &[u8], wish: &Wish, masker: &Masker) -> Option<Vec<u8>> {
    masker.take_out(bytes, &|found| wish.wants(found)).map(|(masked, _)| masked)
}

/// The ids of the copies, and of the roots of their conversations: titles are of these.
fn about(store: &Store, moved: &[Moved]) -> Result<HashSet<BubbId>> {
    let forest = store.names().forest()?;
    let mut origins = Origins::of(&forest);
    let copies = moved.iter().filter_map(|moved| forest.find(moved.to.id));
    let roots = copies.map(|ix| forest.name(origins.origin(ix).root).id);
    Ok(roots.chain(moved.iter().map(|moved| moved.to.id)).collect())
}

/// The question before anything changes.
fn question(plan: &Plan) -> String {
    let other_words = plan.changed.values().filter(|kinds| kinds.is_empty()).count();
    let mut doing = Vec::new();
    if plan.tally.count() > 0 {
        let count = counted(plan.tally.count(), "secret");
        doing.push(format!("mask {count} ({})", plan.tally.words()));
    }
    if other_words > 0 {
        doing.push(format!("replace the text of {}", counted(other_words, "message")));
    }
    let moved = plan.moved().len();
    if moved > 0 {
        doing.push(format!("give {} new ids", counted(moved, "message")));
    }
    let mut doing = doing.join(", and ");
    if let Some(first) = doing.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    format!("{doing}? (y/N): ")
}
