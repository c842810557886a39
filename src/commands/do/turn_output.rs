//! The output of a turn: its view, and the lines at its end.

use std::fs::File;

use super::DoArgs;
use super::document::DoDocument;
use super::output::{write_output, write_text};
use crate::commands::Context;
use crate::commands::code_blocks::wanted_blocks;
use crate::term::{OfferedWord, print_status};
use crate::ui::{DisplayOptions, EndFields, EventDocument, TurnDocument, TurnView, ViewEvent, ViewState};
use lepo_base::error::Result;
use lepo_store::bubb::BubbName;
use lepo_store::store::Store;
use lepo_turn::Outcome;
use serde_json::Value;

/// Creates the view of a turn whose question has been entered.
pub fn turn_view<'v>(context: &'v mut Context<'_>, shown: DisplayOptions) -> TurnView<'v> {
    let state = ViewState::Idle.after(ViewEvent::Entered);
    TurnView::new(context.out, context.paint, shown, context.at, state)
}

/// Prints the output that comes at the end of a turn: the last event, the document of `--json`, the code of
/// `--code`, the file of `--output`. False if code was requested and the answer has none.
pub fn print(
    args: &DoArgs,
    outcome: &Outcome,
    store: &Store,
    output: Option<&mut File>,
    context: &mut Context<'_>,
) -> Result<bool> {
    if let (1.., Some(answer)) = (args.form.code, &outcome.answer) {
        return print_code(args, &outcome.as_given(store.text(&answer.name)?), output, context);
    }
    if let (true, Some(answer)) = (args.form.line, &outcome.answer) {
        let answer = outcome.as_given(store.text(&answer.name)?);
        return Ok(print_line(&answer, args.form.schema.is_some(), context));
    }
    let at = context.at;
    let turn = (args.events || args.json).then(|| TurnDocument::new(store, outcome, at));
    if let Some(turn) = turn.as_ref().filter(|_| args.events) {
        context.out.document(&EventDocument::end(EndFields::Turn(turn)));
    }
    let document = turn.as_ref().filter(|_| args.json).map(DoDocument::Turn);
    if let Some(document) = &document {
        context.out.document(document);
    }
    if let Some(file) = output {
        let answer: Vec<_> = outcome.answer.iter().map(|answer| (None, answer.name)).collect();
        let unmasked = |name: &BubbName| {
            let is_masked = !outcome.truths.is_empty();
            is_masked.then(|| Ok(outcome.as_given(store.text(name)?))).transpose()
        };
        write_output(file, store, document.as_ref(), (&answer, &[]), &unmasked)?;
    }
    Ok(true)
}

/// Prints an answer of one line. False if it has several lines or invisible characters.
fn print_line(answer: &str, has_schema: bool, context: &mut Context<'_>) -> bool {
    let line = one_line_of(answer, has_schema);
    match &line {
        Some(line) => context.out.untrusted(format!("{}\n", line.as_str()).as_bytes()),
        None => print_status(
            "the answer is not a single line without control, bidirectional or invisible characters",
        ),
    }
    line.is_some()
}

/// Returns an answer of one line; with a schema, the value of its only field. `None` if it contains a
/// character that the user would not see, including a newline.
fn one_line_of(answer: &str, has_schema: bool) -> Option<OfferedWord> {
    let only_field = || match serde_json::from_str(answer).ok()? {
        Value::String(text) => Some(text),
        Value::Object(fields) => match fields.into_iter().collect::<Vec<_>>().as_slice() {
            [(_, Value::String(text))] => Some(text.clone()),
            _ => None,
        },
        _ => None,
    };
    let text = if has_schema { only_field()? } else { answer.to_string() };
    OfferedWord::parse(text.trim())
}

/// Prints the requested code blocks of an answer. False if it has none.
fn print_code(
    args: &DoArgs,
    answer: &str,
    output: Option<&mut File>,
    context: &mut Context<'_>,
) -> Result<bool> {
    let blocks = wanted_blocks(answer, args.form.code);
    if blocks.is_empty() {
        context.print_hint("the answer has no code block; `lepo show` prints it");
        return Ok(false);
    }
    let code = blocks.join("\n");
    context.out.untrusted(code.as_bytes());
    if let Some(file) = output {
        write_text(file, &code)?;
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_one_line_that_hides_nothing_or_none() {
        for (answer, has_schema, line) in [
            ("ls -l", false, Some("ls -l")),
            ("ls -l\n", false, Some("ls -l")),
            ("echo '한글' \"$x\" | sort", false, Some("echo '한글' \"$x\" | sort")),
            ("a\nb", false, None),
            ("a\rb", false, None),
            ("a\tb", false, None),
            ("", false, None),
            ("echo \u{1b}[31m", false, None),
            ("echo \u{9b}31m", false, None),
            ("echo \u{202e}x", false, None),
            ("echo \u{2066}x", false, None),
            ("echo x\u{200b}", false, None),
            ("echo \u{e0041}x", false, None),
            ("echo \u{ad}x", false, None),
            (r#"{"command":"ls -l"}"#, true, Some("ls -l")),
            (r#"{"command":"a\"b\\c/d"}"#, true, Some("a\"b\\c/d")),
            (r#"{"command":"a\nb"}"#, true, None),
            (r#"{"command":"\u001b[31m"}"#, true, None),
            (r#"{"command":"\u202ex"}"#, true, None),
            (r#"{"command":"a","more":"b"}"#, true, None),
            (r#"{"command":1}"#, true, None),
            (r#""ls""#, true, Some("ls")),
            ("ls", true, None),
        ] {
            let found = one_line_of(answer, has_schema);
            assert_eq!(found.as_ref().map(OfferedWord::as_str), line, "{answer:?}");
        }
    }
}
