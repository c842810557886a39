//! `lepo branch`: names for bubbs.

use std::collections::{BTreeMap, HashMap};

use schemars::{JsonSchema, Schema};
use serde::Serialize;

use super::address_args::find_one;
use super::summary_line::excerpt_of;
use super::{Context, complete};
use crate::term::{StatusLine, clean, excerpt_within, one_line, print_status, width};
use crate::ui::{ShortIds, change_branches, text_or_warn};
use crate::view::{IdText, NameFields, Overviews};
use lepo_base::error::{Error, Result, quoted};
use lepo_store::bubb::BubbId;
use lepo_store::conv::ReadScope;
use lepo_store::store::{ChangingCommand, Store, check_branch_name};

/// Minimum columns for the question on the line of its branch.
const LEAST: usize = 24;

const EXAMPLES: &str = "\
Examples:
  lepo branch plan-b                # name the newest conversation
  lepo branch before-the-idea 9X1Y3Z5A
  lepo branch -f main @
  lepo branch -m main trunk
  lepo branch -d plan-b before-the-idea
  lepo branch | while read name id rest; do lepo show $id > $name.md; done";

const LONG_ABOUT: &str = "\
List, create, move, rename and delete branches

A branch is a name for a message, and can be used wherever an address can. Without NAME, lists the branches: \
name, id, length and the last question, as `lepo ls` does.

    s1 ← u0 ← a0 ← u0 ← a0    main: `lepo do --tail main` moves it on
           ↖ a0               other: stays in place; no other command moves it

Deleting a branch deletes no message. Branches of other people, alice/BRANCH, are listed after yours; only \
their owners can move them.";

/// List, create, move, rename and delete branches
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, long_about = LONG_ABOUT)]
pub struct BranchArgs {
    /// The branch to create
    #[arg(value_name = "NAME", add = complete::branch())]
    name: Option<String>,
    /// The message to name
    #[arg(value_name = "ADDR", default_value = "@", add = complete::address())]
    address: String,
    /// Move an existing branch; with -m, replace NEW
    #[arg(short, long)]
    force: bool,
    /// Delete these branches
    #[arg(short, long, value_name = "NAME", num_args = 1.., add = complete::branch(), conflicts_with_all = ["name", "rename", "force"])]
    delete: Vec<String>,
    /// Rename the branch OLD to NEW
    #[arg(short = 'm', long = "move", num_args = 2, value_names = ["OLD", "NEW"], conflicts_with = "name")]
    rename: Option<Vec<String>>,
    /// Print the list as one JSON document: {"branches": [...]}
    #[arg(long, conflicts_with_all = ["name", "delete", "rename"])]
    pub json: bool,
}

impl BranchArgs {
    pub fn only_lists(&self) -> bool {
        self.name.is_none() && self.delete.is_empty() && self.rename.is_none()
    }
}

/// A single document: branches, by name.
#[derive(Serialize, JsonSchema)]
pub struct BranchDocument<'d> {
    branches: Vec<BranchFields<'d>>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "branch", transform = require_id)]
struct BranchFields<'d> {
    #[serde(flatten)]
    message: Option<NameFields>,
    /// Where a merge left the branch with several ends: all of them, id first; absent otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Vec<IdText>")]
    ends: Option<Vec<IdText>>,
    name: String,
    /// The other user whose branch it is.
    from: Option<&'d String>,
    /// The message, which may not exist.
    #[serde(rename = "id", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "IdText")]
    missing: Option<IdText>,
    height: Option<u32>,
    /// The beginning and end of the text, on one line.
    excerpt: Option<String>,
}

/// Adds that every branch has an id, also without its message.
fn require_id(schema: &mut Schema) {
    if let Some(required) = schema.get_mut("required").and_then(|required| required.as_array_mut()) {
        required.push("id".into());
    }
}

pub fn run_branch(args: BranchArgs, context: &mut Context<'_>) -> Result<u8> {
    let store = context.store()?;
    match (&args.name, &args.delete[..], args.rename.as_deref()) {
        (Some(name), _, _) => set(&store, name, &args.address, args.force)?,
        (_, names @ [_, ..], _) => delete(&store, names)?,
        (_, _, Some([old, new])) => rename(&store, old, new, args.force)?,
        _ => list(&store, args.json, context)?,
    }
    Ok(0)
}

fn set(store: &Store, name: &str, address: &str, force: bool) -> Result<()> {
    check_branch_name(name)?;
    check_is_no_others(store, name)?;
    let (forest, found) = find_one(store, address, &[])?;
    let id = forest.name(found.ix).id;
    change_branches(store, ChangingCommand::Branch, || match store.branch_ids(name)? {
        Some(_) if !force => Err(Error::nothing(format!("branch {name} already exists")).hint(format!(
            "to move it: lepo branch -f {} {}",
            quoted(name),
            quoted(address)
        ))),
        _ => Ok(vec![(name.to_string(), Some(vec![id]))]),
    })
}

/// Rejects a new branch whose name is an address in another user's clone: the branch would shadow it.
fn check_is_no_others(store: &Store, name: &str) -> Result<()> {
    match store.peer_of_address(name) {
        Some(clone) => Err(Error::usage(format!("{name} is an address of {}'s messages", one_line(clone)))
            .hint("choose another name: only they can make or move a branch there")),
        None => Ok(()),
    }
}

/// Deletes all branches; if any does not exist, deletes none.
fn delete(store: &Store, names: &[String]) -> Result<()> {
    for name in names {
        check_branch_name(name)?;
        // A branch file without a valid id can be deleted too.
        if let Ok(None) = store.branch(name) {
            return Err(no_such_branch(name));
        }
    }
    let mut deleted = Vec::new();
    change_branches(store, ChangingCommand::Branch, || {
        for name in names {
            if store.branch_ids(name)?.is_some() {
                deleted.push((name, store.branch(name).ok().flatten()));
            }
        }
        Ok(deleted.iter().map(|(name, _)| (name.to_string(), None)).collect())
    })?;
    for (name, id) in deleted {
        // The id lets the user create the branch again.
        match id {
            Some(id) => print_status(&format!("deleted branch {name} (it named {id})")),
            None => print_status(&format!("deleted branch {name}")),
        }
    }
    Ok(())
}

fn rename(store: &Store, old: &str, new: &str, force: bool) -> Result<()> {
    check_branch_name(new)?;
    check_is_no_others(store, new)?;
    store.branch(old)?.ok_or_else(|| no_such_branch(old))?;
    change_branches(store, ChangingCommand::Branch, || {
        if !force && store.branch_ids(new)?.is_some() {
            return Err(Error::nothing(format!("branch {new} already exists")).hint(format!(
                "to put {old} in its place: lepo branch -f -m {} {}",
                quoted(old),
                quoted(new)
            )));
        }
        match store.branch_ids(old)? {
            Some(_) if old == new => Ok(Vec::new()),
            // The new name first: at every moment the branch has one of the two.
            Some(ids) => Ok(vec![(new.to_string(), Some(ids)), (old.to_string(), None)]),
            None => Err(no_such_branch(old)),
        }
    })
}

fn no_such_branch(name: &str) -> Error {
    Error::nothing(format!("no branch {name}")).hint("`lepo branch` lists them")
}

fn list(store: &Store, json: bool, context: &mut Context<'_>) -> Result<()> {
    let mut branches: Vec<_> = store.branches()?.into_iter().map(|(name, id)| (None, name, id)).collect();
    for (clone, other) in store.peers() {
        let theirs = other.branches()?.into_iter();
        branches.extend(theirs.map(|(name, id)| (Some(clone), format!("{clone}/{name}"), id)));
    }
    // Only for own branches: another user decides about theirs.
    let own = branches.iter().filter(|(from, ..)| from.is_none());
    let mut merged = HashMap::new();
    for (_, name, _) in own {
        let ids = store.merged_branch_ids(name)?;
        merged.extend((!ids.is_empty()).then(|| (name.clone(), ids)));
    }
    let ids = branches.iter().map(|(_, _, id)| *id).chain(merged.values().flatten().copied());
    let forest = store.forest_for(&[ReadScope::Ids(ids.collect())])?;
    let mut ends: BTreeMap<String, Vec<BubbId>> =
        merged.into_iter().map(|(name, ids)| (name, forest.ends_among(&ids))).collect();
    ends.retain(|_, ends| ends.len() > 1);
    if !json {
        let more = |(name, ends): (&String, &Vec<BubbId>)| -> Vec<_> {
            ends.iter().skip(1).map(|id| (None, name.clone(), *id)).collect()
        };
        branches.extend(ends.iter().flat_map(more));
        // The greatest id sorts before the others of its branch.
        branches.sort_by(|(from, name, _), (other, than, _)| (from, name).cmp(&(other, than)));
    }
    let shorts = ShortIds::on_terminal(context.out.is_terminal(), forest.all().map(|ix| forest.name(ix).id));
    let overviews = Overviews::new(store, &forest);
    let mut documents = Vec::new();
    for (from, name, id) in branches {
        let found = forest.find(id).map(|ix| overviews.overview(ix));
        if found.is_none() {
            if from.is_some() {
                continue;
            }
            print_status(&StatusLine::warning(format!(
                "branch {name} names {id}, which is not in the store"
            )));
        }
        let height = found.map(|overview| overview.messages);
        let asked = found.and_then(|overview| overview.last);
        if json {
            let ends = ends.get(&name).filter(|_| from.is_none());
            documents.push(BranchFields {
                message: found.map(|overview| NameFields::new(store, &overview.tail)),
                ends: ends.map(|ends| ends.iter().copied().map(IdText).collect()),
                name,
                from,
                missing: found.is_none().then_some(IdText(id)),
                height,
                excerpt: asked.and_then(|name| excerpt_of(store, &name)),
            });
            continue;
        }
        let height = height.map(|height| format!(" ({height}):")).unwrap_or_default();
        // A bubb that is not in the forest has no short id.
        let id = if found.is_some() { shorts.show(id) } else { id.to_string() };
        let columns = context.out.columns();
        let taken = width(&clean(&name)) + 1 + id.len() + width(&height);
        let (below, room) = match columns {
            Some(columns) if taken + LEAST > columns => ("\n    ", columns.saturating_sub(4)),
            Some(columns) => (" ", columns.saturating_sub(taken + 1)),
            None => (" ", usize::MAX),
        };
        let question = asked.and_then(|asked| match columns {
            Some(_) => text_or_warn(store, &asked).map(|text| excerpt_within(&text, room)),
            None => excerpt_of(store, &asked),
        });
        // A name that leaves no room for the id gets its own line.
        let is_alone = columns.is_some_and(|columns| taken > columns);
        context.out.untrusted(name.as_bytes());
        context.out.trusted(if is_alone { "\n    " } else { " " });
        context.out.trusted(&context.paint.yellow(&id));
        context.out.trusted(&height);
        if let Some(question) = question.filter(|question| !question.is_empty()) {
            context.out.trusted(below);
            context.out.untrusted(question.as_bytes());
        }
        context.out.trusted("\n");
        if context.out.closed() {
            break;
        }
    }
    if json {
        context.out.document(&BranchDocument { branches: documents });
        return Ok(());
    }
    context.out.flush();
    for name in ends.into_keys() {
        print_status(&StatusLine::note(format!(
            "a merge left branch {name} with several ends; `lepo branch -f {} ID` chooses one",
            quoted(&name)
        )));
    }
    Ok(())
}
