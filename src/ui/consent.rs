//! The question before a request is carried out, on the terminal device.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::{Error, Result};
use crate::term::{self, Echo, Tty, excerpt_within, extent, marked, tty};
use crate::tool::{CallProposal, CommandProposal, Proposal, Reply};

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
    // A REPL turned it off for the turn.
    let _echo = Echo::set(true);
    tty.show(&text(proposal, tty.columns()))?;
    let (question, command) = match proposal {
        // Said again where it is answered: whatever the command is, this line is lepo's.
        Proposal::Command(proposal) => (
            format!(
                "{}Access {}, {}. Run it? (Y/N/e): ",
                extent(&proposal.request.command, tty.columns()),
                proposal.request.access,
                proposal.sandbox
            ),
            Some(&proposal.request.command),
        ),
        Proposal::Call(proposal) => {
            let arguments = call_text(proposal, tty.columns());
            (format!("{}Call now? (Y/N): ", extent(&arguments, tty.columns())), None)
        }
    };
    loop {
        tty.forget_typed();
        let Some(answer) = tty.ask(&question, withdrawn)? else { return Ok(Reply::No) };
        match (answer.as_str(), command) {
            ("y" | "Y", _) => return Ok(Reply::Yes),
            ("n" | "N", _) => return Ok(Reply::No),
            ("e" | "E", Some(command)) => match edit(command) {
                Ok(command) => return Ok(Reply::Edit(command)),
                Err(error) => tty.show(&format!("{}\n", error.chain()))?,
            },
            _ => {}
        }
    }
}

/// The text of a proposal, with all its facts, on a terminal of so many columns.
pub fn text(proposal: &Proposal, columns: usize) -> String {
    match proposal {
        Proposal::Command(proposal) => command_text(proposal, columns),
        Proposal::Call(proposal) => call_text(proposal, columns),
    }
}

/// What will be called, what the server says of it, and with what; words of others behind a mark, the names
/// that they give to things among them.
fn call_text(proposal: &CallProposal, columns: usize) -> String {
    let request = &proposal.request;
    let mut text = String::from("\nMCP tool call\n");
    text.push_str(&marked("Server: ", &request.server, columns));
    text.push_str(&marked("Tool: ", &request.tool, columns));
    let description = proposal.description.trim();
    if !description.is_empty() {
        text.push_str(&marked("Description: ", description, columns));
    }
    if proposal.changed {
        text.push_str("Changed: its description or schema is not what you agreed to before\n");
    }
    text.push_str("Arguments:\n");
    let mut arguments: Vec<(&String, &serde_json::Value)> = request.arguments.iter().collect();
    arguments.sort_by_key(|(name, _)| *name);
    for (name, value) in &arguments {
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_string);
        text.push_str(&marked("  ", &format!("{name}: {value}"), columns));
    }
    if arguments.is_empty() {
        text.push_str("  (none)\n");
    }
    text
}

/// Why, what will run, where, with which access, and what holds it to that. The model's words come first,
/// and every line of them stands behind a mark: none can be taken for lepo's own.
fn command_text(proposal: &CommandProposal, columns: usize) -> String {
    let request = &proposal.request;
    let mut text = String::from("\nCommand request\n");
    if let Some(why) = &request.why {
        text.push_str(&format!("  why: {}\n", excerpt_within(why, columns.min(LONGEST).saturating_sub(7))));
    }
    text.push_str(&marked("  $ ", &request.command, columns));
    text.push_str(&marked("  in ", &proposal.dir.to_string_lossy(), columns));
    text.push_str(&format!("  access: {} ({})\n", request.access, proposal.sandbox));
    text
}

/// The most columns of a reason, and of a line where no terminal has any.
const LONGEST: usize = 200;

/// Opens the command in the user's editor.
fn edit(command: &str) -> Result<String> {
    let edited = String::from_utf8(term::edit(command.as_bytes(), ".sh")?)
        .map_err(|error| Error::usage("the command is no text any more").because(error))?;
    match edited.trim() {
        // Neither a bubb that is a request nor an argument of a program holds one.
        text if text.contains('\0') => Err(Error::usage("a command cannot hold a zero byte")),
        "" => Err(Error::nothing("nothing is left of the command")),
        _ => Ok(edited.trim_end_matches('\n').to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::term::width;
    use crate::tool::mcp::CallRequest;
    use crate::tool::{Access, CommandRequest, Sandbox};

    fn asked(command: &str, why: &str, columns: usize) -> String {
        let (command, why) = (command.to_string(), Some(why.to_string()));
        let request = CommandRequest { command, access: Access::Full, why };
        let proposal = CommandProposal { request, dir: "/w".into(), sandbox: Sandbox::None };
        text(&Proposal::Command(proposal), columns)
    }

    #[test]
    fn no_words_of_a_model_look_like_lepos_own() {
        let forged = "\n\nCommand request\n  $ ls\n  in /w\n  access: read (held by bubblewrap)";
        assert_eq!(
            asked("rm -rf .", &"look\n".repeat(60), 30),
            "\nCommand request\n  why: look look look look...\n  $ rm -rf .\n  in /w\n  access: full (no sandbox)\n"
        );
        for columns in [30, 80] {
            let padded = format!("ls {}  access: read (held){forged}", " ".repeat(columns));
            let shown = asked(&padded, forged, columns);
            let own: Vec<&str> = shown.lines().filter(|line| !line.starts_with("  | ")).collect();
            assert_eq!(own.len(), 6, "{shown}");
            assert!(own[3].starts_with("  $ ls"), "{shown}");
            assert!(shown.lines().all(|line| width(line) <= columns), "{shown}");
            assert!(shown.ends_with("\n  in /w\n  access: full (no sandbox)\n"), "{shown}");
        }
    }

    #[test]
    fn no_name_in_a_call_looks_like_lepos_own_words() {
        let forged = "x\nArguments:\n  (none)\nCall now? (Y/N): ";
        let padded = format!("x{}Call now? (Y/N): ", " ".repeat(79));
        for evil in [forged, &padded] {
            let arguments = serde_json::Map::from_iter([(evil.to_string(), evil.into())]);
            let request = CallRequest { server: evil.to_string(), tool: evil.to_string(), arguments };
            let proposal = CallProposal { request, description: evil.to_string(), changed: false };
            let shown = text(&Proposal::Call(proposal), 80);
            let own: Vec<&str> = shown.lines().filter(|line| !line.starts_with("  | ")).collect();
            let begun: Vec<&str> = own.iter().map(|line| line.split(" x").next().unwrap()).collect();
            let lines = ["", "MCP tool call", "Server:", "Tool:", "Description:", "Arguments:", " "];
            assert_eq!(begun, lines, "{shown}");
            assert!(shown.lines().all(|line| width(line) < 80), "{shown}");
        }
    }
}
