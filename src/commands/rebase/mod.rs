//! `lepo rebase`: copies a line of messages onto another base.

mod args;
pub mod report;
mod text;

use lepo_base::error::{Error, Result, quoted};
use lepo_base::role::Role;
use lepo_store::bubb::{BubbId, BubbName};
use lepo_store::conv::{AddressMatch, Forest, Ix, ReadScope};
use lepo_store::store::{
    PlannedCopy, Store, WriteBatch, now, plan_copies, plan_redated_copies, write_copies,
};

use super::Context;
use super::address_args::find_all;
use super::secret_finder::report_apparent_secret;
use super::text_source::TextSource;
use crate::rebase::{RebaseSelection, choose, left_out_note, write_undoable};
pub use args::RebaseArgs;
use report::{RebaseOutcome, print};
use text::run_text;

pub fn run_rebase(args: RebaseArgs, context: &mut Context<'_>) -> Result<u8> {
    if args.has_text() {
        return run_text(&args, context);
    }
    let changes = args.redate || !args.drop.is_empty() || !args.replace.is_empty();
    if args.onto.is_none() && !args.root && args.system.is_none() && !changes {
        return Err(Error::usage("nothing to do: no base or change given").hint(
            "name one: --onto BASE, --root, --system, --drop, --replace or --redate; -i opens your editor",
        ));
    }
    let store = context.store()?;
    let asked = RebaseInput::from_args(&args, &store)?;
    args.check_branch(&store)?;
    let choice = choose(&store, &asked.forest, asked.selection(&args))?;
    let now = args.redate.then(|| now().max(asked.forest.root_time()));
    let root = new_root(&asked, choice.root_is_kept, now)?;
    let base = root.as_ref().map_or_else(|| asked.base_id(), |(name, _)| Some(name.id));
    let copies = match now {
        Some(now) => plan_redated_copies(&store, base, choice.copying, now)?,
        None => plan_copies(&store, base, choice.copying)?,
    };
    let tail = choice.tail.and_then(|index| copies.get(index)).map(|copy| copy.name.id);
    let Some(tail) = tail.or(base) else { return Err(Error::usage("nothing is left to copy")) };

    let root_is_new = match &root {
        Some((name, _)) => store.listing()?.find(name.id)?.is_none(),
        None => false,
    };
    let made: Vec<&PlannedCopy> = copies.iter().filter(|copy| !copy.is_here).collect();
    let left_out = choice.left_out.iter().map(|ix| left_out_note(asked.forest.name(*ix).id)).collect();
    let root_made = root.as_ref().filter(|_| root_is_new);
    let outcome = RebaseOutcome { tail, root: root_made, copies: &made, notes: left_out };
    if !args.dry_run {
        let mut added: Vec<BubbName> = made.iter().rev().map(|copy| copy.name).collect();
        added.extend(root_made.map(|(name, _)| *name));
        write_undoable(&store, added, args.branch.as_deref().map(|branch| (branch, tail)), || {
            write_copies(&store, root.as_ref().map(|(name, text)| (*name, text.as_slice())), &copies)?;
            // The user wrote this text.
            store.journal().prove(root.iter().map(|(name, _)| name.id));
            args.make_branch(&store, tail)
        })?;
    }
    if let (Some((name, text)), false) = (&root, args.dry_run) {
        report_apparent_secret(text, "the system prompt", &format!("lepo rm --redact {}", name.id));
    }
    print(&store, &outcome, &args, context)?;
    Ok(0)
}

struct RebaseInput {
    forest: Forest,
    line: AddressMatch,
    onto: Option<Ix>,
    drop: Vec<Ix>,
    replace: Vec<(Ix, Vec<u8>)>,
    system: Option<Vec<u8>>,
}

impl RebaseInput {
    fn from_args(args: &RebaseArgs, store: &Store) -> Result<RebaseInput> {
        let replace: Vec<(&str, &str)> = args
            .replace
            .iter()
            .map(|word| {
                let parts =
                    word.split_once('=').filter(|(address, file)| !address.is_empty() && !file.is_empty());
                parts.ok_or_else(|| {
                    Error::usage(format!("{} has no file", quoted(word))).hint("it is ADDR=FILE, or ADDR=-")
                })
            })
            .collect::<Result<_>>()?;
        let uses_stdin = replace.iter().filter(|(_, file)| *file == "-").count()
            + usize::from(args.system.as_deref() == Some("-"));
        if uses_stdin > 1 {
            return Err(Error::usage("stdin can be used only once").hint("use a file for the other text"));
        }
        let mut words = vec![args.address().to_string()];
        words.extend(args.onto.clone());
        words.extend(args.drop.iter().cloned());
        words.extend(replace.iter().map(|(address, _)| address.to_string()));
        let also = if args.all { &[ReadScope::All { peers: true }][..] } else { &[] };
        let (forest, found) = find_all(store, &words, also)?;
        let mut found = found.into_iter();
        let Some(line) = found.next() else { return Err(Error::usage("no message given")) };
        let one = |word: &str, found: Option<AddressMatch>| match found {
            Some(AddressMatch::One(one)) => Ok(one.ix),
            _ => Err(Error::usage(format!("expected one message, but {} is a range", quoted(word)))),
        };
        let onto = args.onto.as_deref().map(|word| one(word, found.next())).transpose()?;
        let drop = found.by_ref().take(args.drop.len()).flat_map(|found| found.bubbs().to_vec()).collect();
        let replace = replace
            .into_iter()
            .map(|(address, file)| {
                Ok((
                    one(address, found.next())?,
                    TextSource::new(file).read_message("--drop ADDR leaves the message out")?,
                ))
            })
            .collect::<Result<_>>()?;
        let system = args.system.as_deref().map(system_prompt).transpose()?;
        Ok(RebaseInput { forest, line, onto, drop, replace, system })
    }

    fn selection(&self, args: &RebaseArgs) -> RebaseSelection<'_> {
        RebaseSelection {
            line: &self.line,
            onto: self.onto,
            new_system: self.system.is_some(),
            drop: &self.drop,
            replace: &self.replace,
            sides: args.all,
        }
    }

    fn base_id(&self) -> Option<BubbId> {
        self.onto.map(|ix| self.forest.name(ix).id)
    }
}

/// Reads the text of `--system`: literal, from a file after `@`, or from stdin.
fn system_prompt(given: &str) -> Result<Vec<u8>> {
    match given.strip_prefix('@') {
        Some(path) => TextSource::new(path).read(),
        None if given == "-" => TextSource::Stdin.read(),
        None => Ok(given.as_bytes().to_vec()),
    }
}

/// Names the root with the new system prompt: dated as the root that it replaces, or just before a root that
/// stays; with `now`, dated by that.
fn new_root(
    asked: &RebaseInput,
    root_is_kept: bool,
    now: Option<u64>,
) -> Result<Option<(BubbName, Vec<u8>)>> {
    let Some(text) = &asked.system else { return Ok(None) };
    if text.is_empty() {
        return Err(
            Error::usage("the system prompt is empty").hint("--root makes a conversation without one")
        );
    }
    let Some(&last) = asked.line.bubbs().last() else { return Err(Error::usage("the range has no message")) };
    let conv = asked.forest.conv(last);
    let old = conv.path.first().map_or(last, |root| *root);
    let time = now.unwrap_or(asked.forest.name(old).id.time()).saturating_sub(u64::from(root_is_kept));
    Ok(Some((WriteBatch::name(Role::System, true, None, time, text)?, text.clone())))
}
