//! The question before a command runs, on the terminal device.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::{Error, Result};
use crate::term::{self, Tty, tty};
use crate::tool::{Proposal, Reply};

/// Withdraws a question when it is dropped, unless it was answered by then.
struct Withdraw {
    withdrawn: Arc<AtomicBool>,
    answered: bool,
}

impl Drop for Withdraw {
    fn drop(&mut self) {
        self.withdrawn.store(true, Ordering::Relaxed);
        if !self.answered
            && let Some(mut tty) = tty()
        {
            // What is said next does not stand behind the question.
            let _ = tty.show("\n");
        }
    }
}

/// Asks about one request, in a thread of its own: a signal can withdraw the question.
pub async fn ask(proposal: Proposal) -> Result<Reply> {
    let withdrawn = Arc::new(AtomicBool::new(false));
    let mut guard = Withdraw { withdrawn: withdrawn.clone(), answered: false };
    let reply = tokio::task::spawn_blocking(move || match tty() {
        Some(mut tty) => converse(&mut tty, &proposal, &withdrawn),
        None => Ok(Reply::Nobody),
    })
    .await;
    guard.answered = true;
    reply
        .map_err(|error| Error::store("the question ended early").because(error))?
        .map_err(|error| Error::usage("cannot ask on the terminal").because(error))
}

fn converse(tty: &mut Tty, proposal: &Proposal, withdrawn: &AtomicBool) -> std::io::Result<Reply> {
    tty.show(&text(proposal))?;
    loop {
        let Some(answer) = tty.ask("Run it? (Y/N/e): ", withdrawn)? else { return Ok(Reply::No) };
        match answer.as_str() {
            "y" | "Y" => return Ok(Reply::Yes),
            "n" | "N" => return Ok(Reply::No),
            "e" | "E" => match edit(&proposal.request.command) {
                Ok(command) => return Ok(Reply::Edit(command)),
                Err(error) => tty.show(&format!("{}\n", error.chain()))?,
            },
            _ => {}
        }
    }
}

/// What will run, where, with which access, what holds it to that, and why.
pub fn text(proposal: &Proposal) -> String {
    let request = &proposal.request;
    let mut text = format!("\nCommand request\n  $ {}\n", request.command.replace('\n', "\n    "));
    text.push_str(&format!(
        "  in {}\n  access: {} ({})\n",
        proposal.dir.display(),
        request.access,
        proposal.sandbox
    ));
    if let Some(why) = &request.why {
        text.push_str(&format!("  why: {why}\n"));
    }
    text
}

/// Opens the command in the user's editor.
fn edit(command: &str) -> Result<String> {
    let edited = String::from_utf8(term::edit(command.as_bytes(), ".sh")?)
        .map_err(|error| Error::usage("the command is no text any more").because(error))?;
    match edited.trim() {
        "" => Err(Error::nothing("nothing is left of the command")),
        _ => Ok(edited.trim_end_matches('\n').to_string()),
    }
}
