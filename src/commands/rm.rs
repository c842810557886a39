//! `lepo rm`: a conversation that is no longer wanted.

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use super::line::question;
use super::words::resolve_one;
use super::{Context, complete};
use crate::bubb::{BubbId, Name};
use crate::conv::{Forest, Ix};
use crate::error::{Error, Result};
use crate::store::Store;
use crate::term::tty;

/// Delete a tail and what only it needs
///
/// Deleted are the bubb, all above it up to the first that another conversation needs, the finished
/// tool calls beside them, and the blobs that nothing names any more. A conversation without a fork
/// goes whole. The files are listed, one path a line, and you are asked first, on the terminal.
///
/// Refused, with exit 1, if something visible follows ADDR, or while a branch names any of it.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  lepo rm -n @\n  lepo rm @\n  lepo ls -n 1 | cut -d' ' -f1 | xargs lepo rm -y      # the newest one"
)]
pub struct Args {
    /// The tail
    #[arg(value_name = "ADDR", add = complete::address())]
    address: String,
    /// List only
    #[arg(short = 'n', long, conflicts_with = "yes")]
    dry_run: bool,
    /// Ask nothing
    #[arg(short, long)]
    yes: bool,
}

/// Lists, asks, deletes.
pub fn run(args: Args, context: &mut Context<'_>) -> Result<u8> {
    let store = context.store()?;
    let forest = store.forest()?;
    let tail = resolve_one(&store, &forest, &args.address)?.ix;
    let plan = Plan::make(&store, &forest, tail)?;
    let ask = !args.dry_run && !args.yes;
    let mut terminal = tty().filter(|_| ask);
    if ask && terminal.is_none() {
        return Err(Error::usage("there is no terminal to ask on")
            .hint("-n lists what would be deleted; -y deletes it without asking"));
    }

    for path in plan.paths(&store) {
        context.out.line(&path.to_string_lossy());
    }
    context.out.flush();
    if args.dry_run {
        return Ok(0);
    }
    if let Some(terminal) = &mut terminal {
        let about = question(&store, &forest, tail).map(|text| format!(" of `{text}`")).unwrap_or_default();
        let question = format!("Delete {}{about}? (y/N): ", plan.size());
        let answer = terminal
            .ask(&question, &AtomicBool::new(false))
            .map_err(|error| Error::usage("cannot ask on the terminal").because(error))?;
        if !matches!(answer.as_deref(), Some("y" | "Y" | "yes")) {
            return Err(Error::nothing("nothing was deleted"));
        }
        unchanged(&store, forest.name(tail).id, &plan)?;
    }
    store.remove(&plan.bubbs, &plan.blobs)?;
    Ok(0)
}

/// What would go.
#[derive(PartialEq, Eq)]
struct Plan {
    bubbs: Vec<Name>,
    blobs: Vec<String>,
}

impl Plan {
    fn make(store: &Store, forest: &Forest, tail: Ix) -> Result<Plan> {
        let id = forest.name(tail).id;
        let going = forest.only(tail).map_err(|follower| {
            Error::nothing(format!("{id} is no tail: {} follows it", forest.name(follower).id))
                .hint("`lepo ls` lists the tails")
        })?;
        let bubbs: Vec<Name> = going.into_iter().map(|ix| forest.name(ix)).collect();
        let branches = store.branches()?;
        if let Some((branch, named)) = branches.iter().find(|(_, id)| bubbs.iter().any(|b| b.id == *id)) {
            return Err(Error::nothing(format!("branch {branch} names {named}, which would be deleted"))
                .hint(format!("delete the branch first: lepo branch -d {branch}")));
        }
        let all: Vec<Name> = forest.all().map(|ix| forest.name(ix)).collect();
        let blobs = store.blobs_only_of(&bubbs, &all)?;
        Ok(Plan { bubbs, blobs })
    }

    fn paths(&self, store: &Store) -> Vec<PathBuf> {
        let bubbs = self.bubbs.iter().map(|name| store.path_of(name));
        let blobs = self.blobs.iter().map(|hash| store.shown().join("_blobs").join(hash));
        bubbs.chain(blobs).collect()
    }

    fn size(&self) -> String {
        match self.bubbs.len() + self.blobs.len() {
            1 => "this file".to_string(),
            n => format!("these {n} files"),
        }
    }
}

/// Somebody may have gone on with the conversation while the question stood.
fn unchanged(store: &Store, id: BubbId, plan: &Plan) -> Result<()> {
    let forest = store.forest()?;
    let same = match forest.find(id) {
        Some(tail) => Plan::make(store, &forest, tail)? == *plan,
        None => false,
    };
    match same {
        true => Ok(()),
        false => Err(Error::nothing("the store has changed meanwhile: nothing was deleted")
            .hint("look again: lepo rm -n ADDR")),
    }
}
