//! `lepo fsck`: is the store what it says it is, and did a crash leave something behind?

mod secrets;

use serde_json::json;

use super::{Context, complete};
use crate::term::{Progress, say};
use lepo_base::error::Result;
use lepo_store::store::{Fate, Store};

/// Check every id, name, link and blob
///
/// One line a finding, `WHAT NAME: why`; nothing at all, and exit 0, if the store is good. WHAT is
///
///     edited       a message's content does not match its id
///     line ends    CRLF and LF were exchanged in a message or a blob, as git does with core.autocrlf
///     dangling     a prev, or the message of a branch, is not there
///     cycle        prevs that lead in a circle
///     duplicate    an id occurs twice, or a name with other bytes
///     misplaced    in a folder below _old/ where it is not read; `lepo tidy` moves it
///     unreadable   a file that could not be read, a branch that holds no id
///     not a file   a directory, link, fifo or socket with the name of a message
///     blob         its bytes do not match its name, or a message names one that is missing
///
/// with exit 1; or a warning, with exit 0:
///
///     foreign      not lepo's
///     future       dated more than a day ahead
///     stray        left in _tmp/ by a process that ended early
///
/// With --secrets it looks for keys, tokens and passwords instead: in messages, blobs, titles, prompts and
/// instructions, and in what others sent. One line a finding, `ID KIND WHERE`, and exit 1 if there is any; a file that is
/// no message stands with its path in place of ID. The secret itself is not printed.
///
/// A valid id proves all messages before it, as the prev is part of it. This finds accidents; 80 bits
/// without a signature are no protection against deliberate forgery.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  lepo fsck && echo good\n  lepo fsck | grep ^edited\n  lepo fsck --recover\n  \
    lepo fsck --secrets && git add .lepo",
    verbatim_doc_comment
)]
pub struct FsckArgs {
    /// Recover files that a crash left behind: makes a hidden message of each answer that was cut short, prints its
    /// id, and removes useless files; and gives messages and blobs the line ends back that their names prove
    #[arg(long)]
    recover: bool,
    /// Look for secrets, in these messages or everywhere: keys, tokens, passwords
    #[arg(long, conflicts_with = "recover")]
    secrets: bool,
    /// The messages to look into
    #[arg(value_name = "ADDR", requires = "secrets", add = complete::address())]
    addresses: Vec<String>,
    /// Print one JSON document: {"findings": [...]}, with --recover {"recovered": [...], "removed": [...], "restored": [...],
    /// "failed": [...]}
    #[arg(long)]
    pub json: bool,
}

impl FsckArgs {
    /// Nothing is recovered.
    pub fn only_checks(&self) -> bool {
        !self.recover
    }
}

/// Checks, or recovers.
pub fn run_fsck(args: FsckArgs, context: &mut Context<'_>) -> Result<u8> {
    let store = context.store()?;
    // Another store that is only looked at is not changed.
    if context.save_to().is_none_or(|path| !path.is_absolute()) {
        context.keep_line_ends(&store);
    }
    if args.secrets {
        return secrets::look(&store, &args.addresses, args.json, context);
    }
    match args.recover {
        true => recover(&store, args.json, context),
        false => check(&store, args.json, context),
    }
}

fn check(store: &Store, as_json: bool, context: &mut Context<'_>) -> Result<u8> {
    let mut progress = Progress::new(false);
    let found = store.upkeep().check(&mut |done, total| progress.show("checking", done, total))?;
    drop(progress);

    if as_json {
        let findings = found.iter().map(|finding| {
            json!({
                "what": finding.what.word(),
                "name": finding.name,
                "why": finding.why,
                "warning": finding.what.is_warning(),
            })
        });
        context.out.line(&json!({ "findings": findings.collect::<Vec<_>>() }).to_string());
    } else {
        for finding in &found {
            let what = match finding.what.is_warning() {
                true => context.paint.yellow(finding.what.word()),
                false => context.paint.red(finding.what.word()),
            };
            context.out.trusted(&what);
            context.out.line(&format!(" {}: {}", finding.name, finding.why));
        }
    }
    Ok(u8::from(found.iter().any(|finding| !finding.what.is_warning())))
}

fn recover(store: &Store, as_json: bool, context: &mut Context<'_>) -> Result<u8> {
    let (mut recovered, mut removed, mut restored, mut failed) =
        <(Vec<_>, Vec<_>, Vec<_>, Vec<_>)>::default();
    let mut first = None;
    for stray in store.upkeep().strays()?.0 {
        let (file, about) = (format!("_tmp/{}", stray.name()), stray.about.clone());
        match store.upkeep().settle(stray) {
            // The others may still be saved.
            Err(error) => {
                say(&format!("warning: cannot save {file}: {}", error.chain()));
                failed.push(file);
                first.get_or_insert(error);
            }
            Ok(Fate::Saved(name)) => {
                say(&format!("saved {file}: {about}"));
                if !as_json {
                    context.out.line(&name.id.to_string());
                }
                recovered.push(name.id.to_string());
            }
            Ok(Fate::Removed) => {
                say(&format!("removed {file}: {about}"));
                removed.push(file);
            }
        }
    }
    let mut progress = Progress::new(false);
    let files =
        store.upkeep().restore_line_ends(&mut |done, total| progress.show("checking", done, total))?;
    drop(progress);
    for (file, error) in files {
        match error {
            None => {
                say(&format!("restored {file}: its line ends are what its name proves"));
                restored.push(file);
            }
            Some(error) => {
                say(&format!("warning: cannot restore {file}: {}", error.chain()));
                failed.push(file);
                first.get_or_insert(error);
            }
        }
    }
    if as_json {
        let document =
            json!({ "recovered": recovered, "removed": removed, "restored": restored, "failed": failed });
        context.out.line(&document.to_string());
    }
    first.map_or(Ok(0), Err)
}
