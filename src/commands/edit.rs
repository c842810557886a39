//! `lepo edit`: writes an edited copy of a bubb as its sibling.

use std::io::{IsTerminal, stdin};
use std::path::PathBuf;

use super::address_args::find_one;
use super::own_newest::note_used;
use super::secret_finder::{masked, report_apparent_secret};
use super::text_source::TextSource;
use super::{Context, complete};
use crate::import::is_request;
use crate::term::{edit, named_editor, without_added_newline};
use lepo_base::error::{Error, ExitKind as ErrorKind, Result};
use lepo_base::role::Role;
use lepo_secrets::ScreenedBytes;
use lepo_store::conv::ReadScope;
use lepo_store::store::note_edit;
use lepo_turn::write_bubb;

/// Edit a copy of a message and save it next to the original
///
/// Opens a copy in $LEPO_EDITOR, $VISUAL, $EDITOR or vi. The saved text becomes a sibling of the original: same kind,
/// same message before it, hidden if the original is. Prints its id. The original and everything that follows it stay
/// unchanged. If the editor fails or the text did not change, nothing is written and the exit code is 1.
///
/// With --file, its text is the new one, and no editor opens. So is text on stdin, if none of these variables is set.
///
/// If the original does not end with a newline, one newline at the end of the saved text is dropped, because editors
/// and echo add it automatically. Otherwise the bytes are stored as saved.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  lepo edit main\n  lepo do --retry --tail $(lepo edit 9X1Y3Z5A)      # \
        another wording, \
    another answer\n  echo 'In one sentence: why?' | lepo edit 9X1Y3Z5A --file -\n  EDITOR='sed -i s/color/colour/' lepo edit @")]
pub struct EditArgs {
    /// The message to edit
    #[arg(value_name = "ADDR", add = complete::address())]
    address: String,
    /// Take the new text from FILE, or with `-` from stdin, and open no editor
    #[arg(short, long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    file: Option<PathBuf>,
}

impl EditArgs {
    /// Returns the new text and its source, if it comes from a file or from stdin.
    fn given_text(&self) -> Result<Option<(Vec<u8>, &'static str)>> {
        let has_addresses = self.address == "-";
        match self.file.as_deref().map(TextSource::new) {
            Some(TextSource::Stdin) if has_addresses => {
                Err(Error::usage("stdin cannot be both the address and the text"))
            }
            Some(TextSource::Stdin) => Ok(Some((TextSource::Stdin.read()?, "stdin"))),
            Some(source) => Ok(Some((source.read()?, "the file"))),
            None if named_editor().is_some() || has_addresses || stdin().is_terminal() => Ok(None),
            None => Ok(Some((TextSource::Stdin.read()?, "stdin")).filter(|(text, _)| !text.is_empty())),
        }
    }
}

pub fn run_edit(args: EditArgs, context: &mut Context<'_>) -> Result<u8> {
    let store = context.store()?;
    let (forest, found) = find_one(&store, &args.address, &[ReadScope::Tip])?;
    let name = forest.name(found.ix);
    let text = store.read_bubb(&name)?;

    let given = args.given_text()?;
    let edited = match &given {
        Some((text_given, _)) => without_added_newline(&text, text_given.clone()),
        None => edit(&text, ".md").map_err(|error| match error.kind {
            ErrorKind::Usage => error
                .hint("lepo edit ADDR --file FILE takes the new text from a file, or with `-` from stdin"),
            _ => error,
        })?,
    };
    if edited == text {
        return Err(Error::nothing(format!("{} did not change: nothing was written", name.id)));
    }
    if edited.is_empty() {
        return Err(Error::nothing("the text is empty: nothing was written")
            .hint("to delete a conversation: lepo rm ADDR"));
    }

    let not_before = if name.prev.is_none() { forest.root_time() } else { 0 };
    let kept = match given {
        Some((_, source)) => masked(&edited, source),
        None => ScreenedBytes::typed(&edited),
    };
    let sibling = write_bubb(&store, (name.role, name.hidden), name.prev, not_before, &kept)?;
    if sibling.is_steering() && !sibling.is_proven_when_written() {
        store.journal().prove([sibling.id]);
    }
    // Another text of a request is another request, which waits as the original does.
    if !is_request(&sibling, kept.bytes()) {
        note_edit(&store, name, sibling, kept.bytes());
    }
    report_apparent_secret(kept.bytes(), "the message", &format!("lepo rm --redact {}", sibling.id));
    note_used(&store, sibling.id);
    context.out.line(&sibling.id.to_string());
    if name.role == Role::User && !name.hidden && context.out.is_terminal() {
        context.out.flush();
        context.print_hint(format!("to get an answer: lepo do --retry --tail {}", sibling.id));
    }
    Ok(0)
}
