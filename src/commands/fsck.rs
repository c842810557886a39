//! `lepo fsck`: verifies the store, and recovers what a crash left.

pub mod document;
mod secrets;

use document::{FindingFields, FsckDocument};

use super::{Context, complete};
use crate::term::{ProgressMeter, StatusLine, clean, fold_foreign, print_status, width};
use crate::view::IdText;
use lepo_base::error::Result;
use lepo_base::worktree::Worktree;
use lepo_store::store::{Store, StrayOutcome};

const LONG_ABOUT: &str = "\
Check every id, name, link and blob

Prints one finding per line, `WHAT NAME: why`. Prints nothing and exits with 0 if the store is good. These \
findings exit with 1:

    edited       a message's content does not match its id
    line ends    CRLF and LF were exchanged in a message or a blob, as git does with core.autocrlf
    dangling     the message before, or the message of a branch, is missing
    cycle        messages that follow each other in a circle
    duplicate    an id occurs twice, or a name with different bytes
    misplaced    in a folder below _old/ where it is not read; `lepo tidy` moves it
    unreadable   a file that cannot be read, or a branch that holds no id
    not a file   a directory, link, fifo or socket with the name of a message
    blob         its bytes do not match its name, or a message names one that is missing

These are warnings:

    foreign      not a file of lepo's
    future       dated more than a day ahead
    stray        left in _tmp/ by a process that ended early

With --secrets, looks for keys, tokens and passwords instead: in messages, blobs, titles, prompts and \
instructions, and in what other people sent. Prints one finding per line, `ID KIND WHERE`, with a path instead \
of ID for a file that is not a message, and exits with 1 if there are any. Never prints the secret itself.

A valid id proves all messages before it, because each id covers the one before. This finds accidents; 80 bits \
without a signature are no protection against deliberate forgery.";

/// Check every id, name, link and blob
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  lepo fsck && echo good\n  lepo fsck | grep ^edited\n  lepo fsck --recover\n  \
    lepo fsck --secrets && git add .lepo",
    long_about = LONG_ABOUT
)]
pub struct FsckArgs {
    /// Recover files left by a crash: turn each partial answer into a hidden message and print its id, remove useless
    /// files, and restore line ends that git changed
    #[arg(long)]
    recover: bool,
    /// Look for keys, tokens and passwords, in these messages or everywhere
    #[arg(long, conflicts_with = "recover")]
    secrets: bool,
    /// The messages to search
    #[arg(value_name = "ADDR", requires = "secrets", add = complete::address())]
    addresses: Vec<String>,
    /// Print one JSON document: {"findings": [...]}, with --recover {"recovered": [...], "removed": [...], "restored": [...],
    /// "failed": [...]}
    #[arg(long)]
    pub json: bool,
}

impl FsckArgs {
    pub fn only_checks(&self) -> bool {
        !self.recover
    }
}

pub fn run_fsck(args: FsckArgs, context: &mut Context<'_>) -> Result<u8> {
    let store = context.store()?;
    // A store elsewhere is only checked and must not change.
    if context.save_to().is_none_or(|path| !path.is_absolute()) {
        context.preserve_line_ends(&store);
    }
    if args.secrets {
        return secrets::print_findings(&store, &args.addresses, args.json, context);
    }
    match args.recover {
        true => recover(&store, args.json, context),
        false => check(&store, args.json, context),
    }
}

fn check(store: &Store, as_json: bool, context: &mut Context<'_>) -> Result<u8> {
    let mut progress = ProgressMeter::new(false);
    let found = store.check(&mut |done, total| progress.show("checking", done, total))?;
    drop(progress);

    if as_json {
        let findings = found.iter().map(FindingFields::new).collect();
        context.out.document(&FsckDocument::Check { findings });
    } else {
        for finding in &found {
            let what = match finding.what.is_warning() {
                true => context.paint.yellow(finding.what.as_str()),
                false => context.paint.red(finding.what.as_str()),
            };
            context.out.trusted(&what);
            let about = clean(&format!("{}: {}", finding.name, finding.why)).into_owned();
            match context.out.columns() {
                Some(columns) => context.out.trusted(&below(finding.what.as_str(), &about, columns)),
                None => context.out.line(&format!(" {}: {}", finding.name, finding.why)),
            }
        }
    }
    warn_of_tracked_journal(store)?;
    Ok(u8::from(found.iter().any(|finding| !finding.what.is_warning())))
}

/// Warns of a journal that git already tracked when the ignore rule was added.
fn warn_of_tracked_journal(store: &Store) -> Result<()> {
    let journal = store.path().canonicalize().unwrap_or(store.path()).join("_journal.ndjson");
    let tree = journal.parent().and_then(Worktree::containing);
    if store.ignores_journal()? && tree.is_some_and(|tree| tree.tracks(&journal)) {
        let shown = store.display_path().join("_journal.ndjson");
        let shown = shown.display();
        print_status(&StatusLine::warning(format!(
            "git tracks {shown}, which changes after every answer, so that it refuses to check out, rebase or pull: \
             `git rm --cached {shown}`"
        )));
    }
    Ok(())
}

/// Formats a text after the first part of a line, or on indented lines if the terminal is too narrow.
fn below(first: &str, about: &str, columns: usize) -> String {
    const INDENT: &str = "    ";
    if width(first) + 1 + width(about) <= columns {
        return format!(" {about}\n");
    }
    let folded = fold_foreign(about, columns.saturating_sub(INDENT.len()));
    folded.lines().fold(String::new(), |lines, line| format!("{lines}\n{INDENT}{line}")) + "\n"
}

fn recover(store: &Store, as_json: bool, context: &mut Context<'_>) -> Result<u8> {
    let (mut recovered, mut removed, mut restored, mut failed) =
        <(Vec<_>, Vec<_>, Vec<_>, Vec<_>)>::default();
    let mut first = None;
    for stray in store.strays()? {
        let (file, about) = (format!("_tmp/{}", stray.name()), stray.about.clone());
        match store.settle_stray(stray) {
            // The remaining files may still be recovered.
            Err(error) => {
                print_status(&StatusLine::warning(format!("cannot save {file}: {}", error.chain())));
                failed.push(file);
                first.get_or_insert(error);
            }
            Ok(StrayOutcome::Saved(name)) => {
                print_status(&format!("saved {file}: {about}"));
                if !as_json {
                    context.out.line(&name.id.to_string());
                }
                recovered.push(IdText(name.id));
            }
            Ok(StrayOutcome::Removed) => {
                print_status(&format!("removed {file}: {about}"));
                removed.push(file);
            }
        }
    }
    let mut progress = ProgressMeter::new(false);
    let files = store.restore_line_ends(&mut |done, total| progress.show("checking", done, total))?;
    drop(progress);
    for (file, error) in files {
        match error {
            None => {
                print_status(&format!("restored {file}: its line ends match its name again"));
                restored.push(file);
            }
            Some(error) => {
                print_status(&StatusLine::warning(format!("cannot restore {file}: {}", error.chain())));
                failed.push(file);
                first.get_or_insert(error);
            }
        }
    }
    if as_json {
        context.out.document(&FsckDocument::Recovery { recovered, removed, restored, failed });
    }
    first.map_or(Ok(0), Err)
}
