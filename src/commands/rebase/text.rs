//! `lepo rebase -i`, `--print` and `--from`: a line of messages as one text.

use std::path::Path;

use lepo_base::error::{Error, ExitKind, Result, quoted};
use lepo_store::conv::{AddressMatch, ReadScope};
use lepo_store::store::{PlannedCopy, Store};

use super::args::RebaseArgs;
use super::report::{RebaseOutcome, print};
use crate::commands::Context;
use crate::commands::address_args::find_all;
use crate::commands::secret_finder::{TextMasker, report_apparent_secrets};
use crate::commands::text_source::TextSource;
use crate::rebase::{
    EditableLine, EditedLine, edit_line, notes, plan_text, why_unchanged, write_edited_line, write_undoable,
};
use crate::rebase_text::{RangeBase, TextRange, parse};
use crate::term::print_status;

pub fn run_text(args: &RebaseArgs, context: &mut Context<'_>) -> Result<u8> {
    let store = context.store()?;
    if args.print {
        let line = line_of_address(args, &store)?;
        context.out.page();
        context.out.untrusted(&line.text()?);
        return Ok(0);
    }
    args.check_branch(&store)?;
    let (line, planned) = match &args.from {
        Some(path) => from_file(args, path, &store)?,
        None => {
            let line = line_of_address(args, &store)?;
            let folder = context.user_env()?.paths.texts();
            let planned =
                edit_line(&line, (&folder, &branch_arguments(args)), |edited| write(args, &store, edited))?;
            (line, planned)
        }
    };
    let Some(edited) = planned else { return print_unchanged(args, &line, context) };
    if !args.dry_run {
        if args.from.is_some() {
            write(args, &store, &edited)?;
        } else {
            let own = edited.own.iter().filter_map(|index| edited.copies.get(*index));
            let remedy = |copy: &PlannedCopy| format!("lepo rm --redact {}", copy.name.id);
            let texts = own.map(|copy| (copy.new_text().unwrap_or_default(), remedy(copy)));
            report_apparent_secrets(texts, "the message");
        }
    }
    let made: Vec<&PlannedCopy> = edited.copies.iter().filter(|copy| !copy.is_here).collect();
    let outcome =
        RebaseOutcome { tail: edited.tail, root: None, copies: &made, notes: notes(&edited, args.dry_run) };
    print(&store, &outcome, args, context)?;
    Ok(0)
}

fn write(args: &RebaseArgs, store: &Store, edited: &EditedLine) -> Result<()> {
    match args.dry_run {
        true => Ok(()),
        false => {
            write_edited_line(store, edited, args.branch.as_deref(), || args.make_branch(store, edited.tail))
        }
    }
}

/// Prints the end of the line, and creates the branch at it.
fn print_unchanged(args: &RebaseArgs, line: &EditableLine<'_>, context: &mut Context<'_>) -> Result<u8> {
    let tail = line.range.last;
    if !args.dry_run {
        let branch = args.branch.as_deref().map(|branch| (branch, tail));
        write_undoable(line.store, Vec::new(), branch, || args.make_branch(line.store, tail))?;
    }
    if args.json {
        let document = serde_json::json!({ "tail": tail.to_string(), "made": [], "already_here": true });
        context.out.line(&document.to_string());
    } else if !args.dry_run {
        context.out.line(&tail.to_string());
    }
    context.out.flush();
    print_status("nothing changed");
    if let Some(why) = why_unchanged().filter(|_| args.interactive) {
        context.print_hint(format!("hint: {why}"));
    }
    Ok(0)
}

/// Reads the text; without ADDR, its first line names the messages.
fn from_file<'s>(
    args: &RebaseArgs,
    path: &Path,
    store: &'s Store,
) -> Result<(EditableLine<'s>, Option<EditedLine>)> {
    let source = TextSource::new(path);
    if source == TextSource::Stdin && [args.address.as_deref(), args.onto.as_deref()].contains(&Some("-")) {
        return Err(Error::usage("stdin cannot be both the address and the text"));
    }
    let name = source.name();
    let named = |error: Error| match error.kind {
        ExitKind::Usage if error.message.starts_with("line ") => {
            let mut error = error;
            error.message = format!("{name}, {}", error.message);
            error
        }
        _ => error,
    };
    let parsed = parse(&source.read()?).map_err(named)?;
    let line = match (&args.address, parsed.range) {
        (None, Some(range)) => EditableLine::from_range(store, with_options(range, args, store)?)?,
        _ => line_of_address(args, store)?,
    };
    let masker = TextMasker::new(source.kind());
    let planned = plan_text(&line, parsed, &|text| masker.mask(&text)).map_err(named)?;
    masker.report();
    Ok((line, planned))
}

/// Options of the command line count for the text, too.
fn with_options(range: TextRange, args: &RebaseArgs, store: &Store) -> Result<TextRange> {
    let base = match (&args.onto, args.root) {
        (Some(word), _) => {
            let (forest, found) = find_all(store, std::slice::from_ref(word), &[])?;
            match found.first() {
                Some(AddressMatch::One(found)) => RangeBase::Onto(forest.name(found.ix).id),
                _ => return Err(a_range(word)),
            }
        }
        (None, true) => RangeBase::Root,
        (None, false) => range.base,
    };
    Ok(TextRange { base, all: range.all || args.all, ..range })
}

fn a_range(word: &str) -> Error {
    Error::usage(format!("expected one message, but {} is a range", quoted(word)))
}

fn line_of_address<'s>(args: &RebaseArgs, store: &'s Store) -> Result<EditableLine<'s>> {
    let mut words = vec![args.address().to_string()];
    words.extend(args.onto.clone());
    let also = if args.all { &[ReadScope::All { peers: true }][..] } else { &[] };
    let (forest, found) = find_all(store, &words, also)?;
    let Some((line, onto)) = found.split_first() else { return Err(Error::usage("no message given")) };
    let base = match (&args.onto, onto) {
        (Some(_), [AddressMatch::One(found)]) => (RangeBase::Onto(forest.name(found.ix).id), Some(found.ix)),
        (Some(word), _) => return Err(a_range(word)),
        (None, []) if args.root => (RangeBase::Root, None),
        (None, []) => (RangeBase::Own, None),
        (None, _) => return Err(Error::usage("expected one message or range")),
    };
    EditableLine::new(store, forest, line, base, args.all)
}

/// Returns the options with which a stored text is read again.
fn branch_arguments(args: &RebaseArgs) -> String {
    let branch = args.branch.as_ref().map(|name| format!(" --branch {}", quoted(name)));
    let force = if args.force { " -f" } else { "" };
    let dry_run = if args.dry_run { " -n" } else { "" };
    let json = if args.json { " --json" } else { "" };
    format!("{}{force}{dry_run}{json}", branch.unwrap_or_default())
}
