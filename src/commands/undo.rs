//! `lepo undo`: takes changes of the store back.

use schemars::JsonSchema;
use serde::Serialize;

use super::changes::{describe, staying_line};
use super::{Context, complete};
use crate::term::{StatusLine, one_line, print_status};
use crate::ui::lock_changes;
use lepo_base::error::{Error, Result};
use lepo_base::time;
use lepo_store::bubb::plural;
use lepo_store::store::{ChangeLog, ChangingCommand, Store, now};

const NOT_COVERED: &str = "not listed: turns of `do` (go back with --tail or /undo), rm --redact, rm --now, rm --empty, \
    imports by a hook or --watch, tidy, settings, models, prompts, files edited by hand";

/// Undo the newest change, or redo it
///
/// Undoes the newest change of the store, or the change N of the list; a second `undo` undoes the change before.
/// `--redo` redoes what was undone last.
///
/// Covered are `rm`, `branch`, `title`, `rebase`, `import`, and `sync` where it removed messages here. Not covered are
/// turns of `do` (go back with --tail, or /undo in a session), `rm --redact`, `rm --now` and `rm --empty`, imports by a
/// hook or --watch, `tidy`, settings, models, prompts and files edited by hand.
///
/// A change is undone only if what this overwrites is still as the change left it: if a branch has moved since then,
/// undo refuses with exit code 1, naming both values, unless --force is given. All of it is undone, or nothing; but
/// of an import or a rebase, messages that something follows stay.
///
/// Removed messages are in .lepo/_removed for the time of the setting `keep_removed` (default 30d), and the list in
/// .lepo/_undo.ndjson. Both count only on the machine that wrote them. After an interruption, the next command that
/// makes a change completes the one before, as does `lepo undo`, which then does nothing else.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  lepo rm @; lepo undo\n  lepo undo --list\n  lepo undo 12\n  lepo undo --redo"
)]
pub struct UndoArgs {
    /// The change, by its number in the list
    #[arg(value_name = "N", add = complete::change())]
    n: Option<u64>,
    /// Redo what was undone last, or the change N
    #[arg(long, conflicts_with = "list")]
    redo: bool,
    /// List the changes, newest first: number, time, command and what changed
    #[arg(short, long, conflicts_with = "n")]
    list: bool,
    /// With --list: at most this many changes
    #[arg(short = 'n', long = "number", value_name = "N", requires = "list")]
    most: Option<usize>,
    /// Undo even if a branch or title has changed since
    #[arg(short, long, conflicts_with = "list")]
    force: bool,
    /// With --list: print one JSON document: {"changes": [...]}
    #[arg(long, requires = "list")]
    pub json: bool,
}

impl UndoArgs {
    pub fn only_lists(&self) -> bool {
        self.list
    }
}

pub fn run_undo(args: UndoArgs, context: &mut Context<'_>) -> Result<u8> {
    let store = context.store()?;
    if args.list {
        return list(&store, &args, context);
    }
    let Some(mut lock) = lock_changes(&store)? else {
        return Err(Error::nothing("nothing can be undone: there is no key in lepo's state directory"));
    };
    if !lock.completed.is_empty() {
        return Ok(0);
    }
    print_foreign(&store, lock.log())?;
    let plan = match args.redo {
        true => lock.plan_redo(args.n, args.force)?,
        false => lock.plan_undo(args.n, args.force)?,
    };
    let (n, command) = (plan.change.n, plan.change.command.as_str());
    let (staying, dropped) = (plan.staying, plan.dropped);
    let about = lock.log().changes().into_iter().find(|change| change.last.n == n);
    let about = about.map(|change| describe(&store, &change)).unwrap_or_default();
    if plan.change.command == ChangingCommand::Import && !args.redo {
        // Before they go: what is in the store is never left out of an import.
        store.journal().add_undone(&plan.change.removed.bubbs)?;
    }
    lock.make(plan.change)?;
    let done = if args.redo { "redone" } else { "undone" };
    print_status(&one_line(&format!("{done}: {n} {command}: {about}")));
    if staying > 0 {
        let why = |them: &str| format!("something follows or a branch names {them}");
        print_status(&StatusLine::note(staying_line(&plural(staying, "message"), staying, why)));
    }
    if command == "sync" && !args.redo {
        print_status(&StatusLine::note("the next sync brings it back in your other clones, too"));
    }
    for id in dropped {
        print_status(&StatusLine::note(format!(
            "request {id}: its masked text was not stored, so it is restored as written in the message"
        )));
    }
    Ok(0)
}

/// A single document: changes, newest first.
#[derive(Serialize, JsonSchema)]
pub struct UndoDocument {
    changes: Vec<ChangeFields>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "change")]
struct ChangeFields {
    /// The number of the change, for `lepo undo N`.
    #[schemars(range(min = 1))]
    n: u64,
    /// Milliseconds since 1970.
    time: u64,
    /// rm, branch, title, rebase, sync or import.
    command: &'static str,
    /// The thing that changed, on one line.
    what: String,
    taken_back: bool,
}

fn list(store: &Store, args: &UndoArgs, context: &mut Context<'_>) -> Result<u8> {
    let log = store.change_list().read()?;
    let (now, mut documents) = (now(), Vec::new());
    let is_terminal = context.out.is_terminal();
    for change in log.changes().into_iter().take(args.most.unwrap_or(usize::MAX)) {
        let (first, is_taken_back) = (change.first, change.is_taken_back());
        let (about, command) = (describe(store, &change), first.command.as_str());
        if args.json {
            let (n, time) = (first.n, first.time);
            documents.push(ChangeFields { n, time, command, what: about, taken_back: is_taken_back });
            continue;
        }
        let time = if is_terminal { time::short(first.time, now) } else { time::iso_minute(first.time) };
        context.out.trusted(&context.paint.yellow(&first.n.to_string()));
        context.out.trusted(&format!(" {time} {command} "));
        context.out.untrusted(about.as_bytes());
        context.out.trusted(if is_taken_back { " (undone)\n" } else { "\n" });
        if context.out.closed() {
            break;
        }
    }
    if args.json {
        context.out.document(&UndoDocument { changes: documents });
        return Ok(0);
    }
    context.out.flush();
    context.print_hint(NOT_COVERED.to_string());
    print_foreign(store, &log)?;
    Ok(0)
}

/// Names lines and folders without this machine's proof, which nothing changes or deletes.
fn print_foreign(store: &Store, log: &ChangeLog) -> Result<()> {
    if log.unproven > 0 {
        print_status(&StatusLine::note(format!(
            "{} of _undo.ndjson not by lepo on this machine for this store: left alone",
            plural(log.unproven, "line")
        )));
    }
    for name in store.change_list().foreign_folders(log)? {
        print_status(&StatusLine::note(one_line(&format!(
            "_removed/{name} is not by lepo on this machine for this store: left alone"
        ))));
    }
    Ok(())
}
