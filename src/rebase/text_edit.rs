//! Edits a line as one text: in the editor, or as it comes from a file.

use std::path::Path;

use lepo_base::error::{Error, ExitKind, Result, quoted};
use lepo_base::hint::Hint;
use lepo_store::bubb::{BubbId, BubbName};
use lepo_store::store::{ChangingCommand, Store, write_copies};

use super::edited_line::{EditedLine, LeftOut, plan_edited_line};
use super::line_messages::EditableLine;
use super::saved_texts::save_text;
use crate::rebase_text::{ParsedText, RangeBase, compare, parse, range_in};
use crate::term::{missing_wait, named_editor, run_editor};
use crate::ui::{branch_changes, lock_changes};

/// Masks the text of a new or changed message, or returns it unchanged.
pub type TextScreen<'s> = dyn Fn(Vec<u8>) -> Vec<u8> + 's;

/// Opens the line in the editor and plans the saved text; `None` if nothing changed. A text that cannot be used is
/// stored in `folder`; the error's hint is the command that reads it again, with `arguments`. `finish` writes the line.
pub fn edit_line(
    line: &EditableLine<'_>,
    (folder, arguments): (&Path, &str),
    finish: impl Fn(&EditedLine) -> Result<()>,
) -> Result<Option<EditedLine>> {
    let text = line.text()?;
    let run = run_editor(&text, ".md")?;
    let plan = || -> Result<Option<EditedLine>> {
        let planned = plan_text(line, parse(&run.text)?, &|text| text)?;
        planned.iter().try_for_each(&finish)?;
        Ok(planned)
    };
    let failed = match run.failure {
        Some(failure) => failure.with_kind(ExitKind::Usage),
        None if run.text == text && line.range.base == RangeBase::Own => return Ok(None),
        None => match plan() {
            Err(error) if error.kind != ExitKind::Nothing => error,
            planned => return planned,
        },
    };
    Err(save_edited(failed, &run.text, line, folder, arguments))
}

/// Plans what a text means; `None` if nothing changed.
pub fn plan_text(
    line: &EditableLine<'_>,
    parsed: ParsedText,
    screen: &TextScreen<'_>,
) -> Result<Option<EditedLine>> {
    if parsed.blocks.is_empty() {
        return Err(Error::nothing("the text has no message: nothing was made"));
    }
    let mut edited = compare(parsed, line)?;
    for message in &mut edited {
        message.text = message.text.take().map(screen);
    }
    plan_edited_line(line, edited)
}

/// Stores a text that could not be used; returns the error with the command that reads it again.
pub fn save_edited(
    error: Error,
    text: &[u8],
    line: &EditableLine<'_>,
    folder: &Path,
    arguments: &str,
) -> Error {
    match save_text(folder, text) {
        Ok(path) => {
            let command = command(&path, text, line, arguments);
            let (hint, joint) = match error.hint.clone() {
                Some(hint) => (hint, "; "),
                None => (Hint::default(), ""),
            };
            error
                .hint(hint.text(format!("{joint}the edited text is kept; to continue editing it: {command}")))
        }
        Err(cause) => Error::new(
            error.kind,
            format!("{}; the edited text cannot be kept in {}", error.message, folder.display()),
        )
        .because(cause),
    }
}

/// The range is named only if the text does not.
fn command(path: &Path, text: &[u8], line: &EditableLine<'_>, arguments: &str) -> String {
    let path = path.to_string_lossy();
    let range = match range_in(text) == Some(line.range) {
        true => String::new(),
        false => format!(" {}", line.range.arguments()),
    };
    format!("lepo rebase --from {}{range}{arguments}", quoted(&path))
}

/// Writes the planned messages, and whatever else `finish` does, as a change that can be taken back: the branch moves to
/// the end. Messages with new text are the user's own.
pub fn write_edited_line(
    store: &Store,
    line: &EditedLine,
    branch: Option<&str>,
    finish: impl FnOnce() -> Result<()>,
) -> Result<()> {
    let made = line.copies.iter().rev().filter(|copy| !copy.is_here).map(|copy| copy.name).collect();
    write_undoable(store, made, branch.map(|branch| (branch, line.tail)), || {
        write_copies(store, None, &line.copies)?;
        let own = line.own.iter().filter_map(|index| line.copies.get(*index));
        store.journal().prove(own.filter(|copy| copy.name.is_steering()).map(|copy| copy.name.id));
        finish()
    })
}

/// Records a rebase as a change that can be taken back, and makes it with `write`. The messages come last first.
pub fn write_undoable(
    store: &Store,
    made: Vec<BubbName>,
    branch: Option<(&str, BubbId)>,
    write: impl FnOnce() -> Result<()>,
) -> Result<()> {
    let Some(mut lock) = lock_changes(store)? else { return write() };
    let mut change = lock.new_change(ChangingCommand::Rebase);
    change.added.bubbs = made;
    let moved = branch.map(|(name, tail)| (name.to_string(), Some(vec![tail])));
    change.branches = branch_changes(store, moved.into_iter().collect())?;
    if change.is_nothing() {
        return write();
    }
    let open = lock.write_begun(change)?;
    write()?;
    lock.end(open)
}

/// Returns what is to be said about the line, besides its end. A line that is not made has no answers to ask for.
pub fn notes(line: &EditedLine, dry_run: bool) -> Vec<Hint> {
    let left_out = line.left_out.iter().map(|request| match request {
        LeftOut::Message(id) => left_out_note(*id),
        LeftOut::Line(line) => {
            Hint::from(format!("left out the message of line {line}: a new request would wait for consent"))
        }
    });
    let dropped = line.dropped.iter();
    let dropped =
        dropped.map(|id| Hint::from(format!("dropped {id} too: a request and its result go together")));
    let outdated = line.outdated.iter().filter(|_| !dry_run).map(|follows| {
        let onto = follows.map(|id: BubbId| format!(" --onto {id}")).unwrap_or_default();
        Hint::from(format!(
            "answers after the first change reply to the earlier text; to ask again: lepo do --replay {}{onto}",
            line.tail
        ))
    });
    left_out.chain(dropped).chain(outdated).collect()
}

pub fn left_out_note(id: BubbId) -> Hint {
    format!("left out {id}: a request at the end of a copy would wait for consent").into()
}

/// Explains, if that is likely, why an editor changed nothing.
pub fn why_unchanged() -> Option<String> {
    let editor = named_editor()?;
    let option = missing_wait(&editor)?;
    Some(format!("{editor} may have returned at once: it waits with {option}"))
}
