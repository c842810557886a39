//! Output at the end of a turn.

use std::fs::File;

use super::DoArgs;
use super::output::{write_output, write_text};
use crate::commands::Context;
use crate::commands::code_blocks::wanted_blocks;
use crate::ui;
use lepo_base::error::Result;
use lepo_store::bubb::Name;
use lepo_store::store::Store;
use lepo_turn::Report;

/// Prints what comes at the end of a turn: the last event, the document of `--json`, the code of `--code`, the file of
/// `--output`. False if code was wanted and there is none.
pub fn print(
    args: &DoArgs,
    report: &Report,
    store: &Store,
    output: Option<&mut File>,
    context: &mut Context<'_>,
) -> Result<bool> {
    if let (1.., Some(answer)) = (args.form.code, &report.answer) {
        return print_code(args, &report.as_given(store.bubbs().text(&answer.name)?), output, context);
    }
    let at = context.at;
    let document = || ui::turn_document(Some(store), report, report.error.as_ref(), at);
    if args.events {
        context.out.line(&ui::end_event(document()).to_string());
    }
    let document = args.json.then(document);
    if let Some(document) = &document {
        context.out.line(&document.to_string());
    }
    if let Some(file) = output {
        let answer: Vec<_> = report.answer.iter().map(|answer| (None, answer.name)).collect();
        let given = |name: &Name| {
            let is_masked = !report.truths.is_empty();
            is_masked.then(|| Ok(report.as_given(store.bubbs().text(name)?))).transpose()
        };
        write_output(file, store, document.as_ref(), (&answer, &[]), &given)?;
    }
    Ok(true)
}

/// Prints the code blocks of an answer that are wanted. False if there is none.
fn print_code(
    args: &DoArgs,
    answer: &str,
    output: Option<&mut File>,
    context: &mut Context<'_>,
) -> Result<bool> {
    let blocks = wanted_blocks(answer, args.form.code);
    if blocks.is_empty() {
        context.say_hint("the answer has no code block; `lepo show` prints it");
        return Ok(false);
    }
    let code = blocks.join("\n");
    context.out.untrusted(code.as_bytes());
    if let Some(file) = output {
        write_text(file, &code)?;
    }
    Ok(true)
}
