//! One command from consent to result: run by the tool room, told as a bubb.

use std::io;

use crate::error::{Error, Result};
use crate::store::Store;
use crate::tool::{Captured, Ending, Granted, Outcome, Shell};

/// A command that was carried out, ready to be a bubb.
pub struct Carried {
    /// The result bubb's bytes.
    pub text: Vec<u8>,
    /// Its exit code, if it came to one.
    pub exit: Option<i32>,
    /// How long it took, milliseconds.
    pub ms: u64,
    /// It ran, to whatever end of its own; otherwise tool use is over for this turn.
    pub ran: bool,
}

/// Runs what was granted, and puts what came of it into words. `limit` is in bytes, for each stream.
pub async fn carry_out(
    store: &Store,
    shell: Shell<'_>,
    granted: Granted,
    limit: usize,
    live: &mut dyn FnMut(&[u8]),
) -> Result<Carried> {
    let command = granted.request().command.clone();
    let scratch = [store.scratch()?, store.scratch()?];
    let failed = |error: io::Error| Error::store("cannot keep the output of the command").because(error);
    let mut outcome = shell.run(granted, scratch, live).await.map_err(failed)?;
    let text = result_text(store, &command, &mut outcome, limit)?;
    Ok(Carried {
        text,
        exit: match outcome.ending {
            Ending::Exit(code) => Some(code),
            _ => None,
        },
        ms: outcome.took.as_millis() as u64,
        ran: matches!(outcome.ending, Ending::Exit(_) | Ending::Signal(_)),
    })
}

/// Command, ending, stdout, stderr; then a line for each stream that is whole only in `_blobs`.
fn result_text(store: &Store, command: &str, outcome: &mut Outcome, limit: usize) -> Result<Vec<u8>> {
    let mut text = format!("$ {command}\n{}\n", ending_text(&outcome.ending)).into_bytes();
    let mut blobs = Vec::new();
    for (label, captured) in [("stdout", &mut outcome.stdout), ("stderr", &mut outcome.stderr)] {
        if !captured.is_empty() {
            text.extend(format!("{label}:\n").bytes());
            section(store, captured, limit, &mut text, &mut blobs)?;
        }
    }
    if text.ends_with(b"\n") {
        text.pop();
    }
    for line in blobs {
        text.extend(format!("\n{line}").bytes());
    }
    Ok(text)
}

fn section(
    store: &Store,
    captured: &mut Captured,
    limit: usize,
    text: &mut Vec<u8>,
    blobs: &mut Vec<String>,
) -> Result<()> {
    let failed = |error: io::Error| Error::store("cannot read back the output of the command").because(error);
    let section = captured.section(limit).map_err(failed)?;
    text.extend(&section.text);
    if !text.ends_with(b"\n") {
        text.push(b'\n');
    }
    if section.cut {
        blobs.push(store.blob(captured.whole().map_err(failed)?)?.line());
    }
    Ok(())
}

fn ending_text(ending: &Ending) -> String {
    match ending {
        Ending::Exit(code) => format!("exit code: {code}"),
        Ending::Signal(number) => format!("ended by signal {number}"),
        Ending::TimedOut(limit) => format!("ended after its time limit of {} s", limit.as_secs()),
        Ending::NotStarted(why) => format!("could not be started: {why}"),
    }
}
