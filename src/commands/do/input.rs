//! The question, from the command line, files and stdin.

use std::io::{IsTerminal, Read};
use std::path::Path;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use super::DoArgs;
use crate::error::{Error, Result};
use crate::term::say;
use crate::turn::{Context, Part, question as join};

/// How long stdin may stay open and silent before it is said what is waited for.
const PATIENCE: Duration = Duration::from_secs(2);

/// The question; `None` where there is none and a person sits at the terminal.
pub fn question(args: &DoArgs) -> Result<Option<String>> {
    let mut parts = Vec::new();
    if !args.prompt.is_empty() {
        parts.push(Part { from: "PROMPT".into(), bytes: args.prompt.join(" ").into_bytes() });
    }
    if let Some(path) = &args.file {
        parts.push(Part { from: path.display().to_string(), bytes: read(path)? });
    }
    let terminal = std::io::stdin().is_terminal();
    if terminal && !args.no_stdin && parts.is_empty() {
        return Ok(None);
    }
    if !terminal && !args.no_stdin {
        parts.push(Part { from: "stdin".into(), bytes: stdin(!parts.is_empty() && !args.quiet)? });
    }
    let mut context = Vec::new();
    for path in &args.context {
        context.push(Context { path: path.display().to_string(), bytes: read(path)? });
    }
    join(parts, context).map(Some)
}

fn read(path: &Path) -> Result<Vec<u8>> {
    std::fs::read(path)
        .map_err(|error| Error::usage(format!("cannot read {}", path.display())).because(error))
}

/// All of stdin. Where a question was given besides, a stdin that stays open is told of.
fn stdin(told: bool) -> Result<Vec<u8>> {
    let (sender, receiver) = channel();
    let reading = std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let read = std::io::stdin().lock().read_to_end(&mut bytes);
        let _ = sender.send(read.map(|_| bytes));
    });
    let mut received = receiver.recv_timeout(PATIENCE);
    if let Err(RecvTimeoutError::Timeout) = received {
        if told {
            say("waiting for the end of stdin, which belongs to the question; --no-stdin leaves it alone");
        }
        received = receiver.recv().map_err(RecvTimeoutError::from);
    }
    let _ = reading.join();
    received
        .unwrap_or_else(|_| Err(std::io::Error::other("the reader ended early")))
        .map_err(|error| Error::usage("cannot read stdin").because(error))
}
