//! Asks for consent to a request, on the terminal device.

use std::sync::atomic::AtomicBool;

use rustix::process::Signal;

use super::answer::{ChoicePrompt, PromptChoice};
use crate::term::{self, Tty, TypeAheadPause, excerpt_within, extent, fold, on_terminal, quote};
use lepo_base::error::{Error, Result};
use lepo_tool::{Access, CallProposal, CommandProposal, ConsentReply, Proposal, Sandbox, Unagreed};

/// Asks about one request; a signal or the end of input (Ctrl+D) withdraws the question.
pub async fn ask(proposal: Proposal) -> Result<ConsentReply> {
    match on_terminal(move |tty, withdrawn| converse(tty, &proposal, withdrawn)).await? {
        Some(reply) => reply.ok_or_else(|| Error::interrupted(Signal::INT.as_raw() as u8)),
        None => Ok(ConsentReply::NoTerminal),
    }
}

fn converse(
    tty: &mut Tty,
    proposal: &Proposal,
    withdrawn: &AtomicBool,
) -> std::io::Result<Option<ConsentReply>> {
    // Input typed before the question belongs to the session's prompt.
    let _asking = TypeAheadPause::pause();
    tty.show(&text(proposal, tty.columns()))?;
    let command = match proposal {
        Proposal::Command(proposal) => Some(&proposal.request.command),
        Proposal::Call(_) => None,
    };
    let offer = offer(proposal);
    loop {
        tty.forget_typed();
        let question = question(proposal, tty.columns());
        // A resumed job repeats the whole text, because the screen may show something else.
        let about = text(proposal, tty.columns());
        let Some(answer) = tty.ask_about(&about, &question, withdrawn)? else { return Ok(None) };
        match (offer.read(&answer), command) {
            (Some(PromptChoice::Yes), _) => return Ok(Some(ConsentReply::Yes)),
            (Some(PromptChoice::No), _) => return Ok(Some(ConsentReply::No)),
            (Some(PromptChoice::Always), _) => return Ok(Some(ConsentReply::Always)),
            (Some(PromptChoice::Explain), _) => tty.show(&fold(&explanation(proposal), tty.columns()))?,
            (Some(PromptChoice::Edit), Some(command)) => match edit(command) {
                Ok(command) => return Ok(Some(ConsentReply::Edit(command))),
                Err(error) => tty.show(&format!("{}\n", error.chain()))?,
            },
            (Some(PromptChoice::Edit), None) | (None, _) => tty.show(&format!("{}\n", offer.letters()))?,
        }
    }
}

/// Whether a yes may be stored for the same request later.
pub(super) fn may_be_remembered(proposal: &Proposal) -> bool {
    match proposal {
        Proposal::Command(proposal) => proposal.sandbox != Sandbox::None,
        Proposal::Call(_) => true,
    }
}

/// Returns the question, with the answers that it accepts.
fn offer(proposal: &Proposal) -> ChoicePrompt {
    let mut more = vec![PromptChoice::Explain];
    more.extend(may_be_remembered(proposal).then_some(PromptChoice::Always));
    match proposal {
        Proposal::Command(_) => {
            more.push(PromptChoice::Edit);
            ChoicePrompt::new("Run it?", &more)
        }
        Proposal::Call(_) => ChoicePrompt::new("Call it?", &more),
    }
}

/// Returns the sandbox of the command, then the question, which follow every command.
fn question(proposal: &Proposal, columns: usize) -> String {
    let question = offer(proposal).question();
    match proposal {
        Proposal::Command(proposal) => {
            let extent = extent(&proposal.request.command, columns);
            let bounds = fold(&bounds(proposal.request.access, &proposal.sandbox), columns);
            let agreed = foreign_texts_note(&proposal.unagreed, columns);
            format!(
                "{extent}{bounds}
{agreed}{question}"
            )
        }
        Proposal::Call(proposal) => {
            let agreed = foreign_texts_note(&proposal.unagreed, columns);
            format!("{}{agreed}{question}", extent(&call_text(proposal, columns), columns))
        }
    }
}

/// The most messages that a question names by id.
const NAMED_MESSAGES: usize = 4;

/// Lists the foreign texts that a yes also approves; paths are foreign text, too.
pub(super) fn foreign_texts_note(unagreed: &[Unagreed], columns: usize) -> String {
    let (mut files, mut messages, mut insts, mut refused) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for word in unagreed {
        match word {
            Unagreed::File(path) => files.push(path.as_str()),
            Unagreed::Message(id, tag) => messages.push(format!("{id} ({tag})")),
            Unagreed::Insts(path) => insts.push(path.as_str()),
            Unagreed::Refused(label) => refused.push(label.as_str()),
        }
    }
    let mut text = String::new();
    if !files.is_empty() {
        text.push_str(&quote("Not agreed to yet: ", &files.join(", "), columns));
        let about = "The model read these instructions of the repository; a yes agrees to them too.";
        text.push_str(&format!("{}\n", fold(about, columns)));
    }
    if !messages.is_empty() {
        let more = messages.len().saturating_sub(NAMED_MESSAGES);
        messages.truncate(NAMED_MESSAGES);
        let and_more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let named = format!("{}{and_more}", messages.join(", "));
        text.push_str(&quote("Not written by you: ", &named, columns));
        let about = "The model follows these messages of the conversation, which lists do not show \
            (lepo show -a ID); a yes agrees to them too.";
        text.push_str(&format!("{}\n", fold(about, columns)));
    }
    if !refused.is_empty() {
        let more = refused.len().saturating_sub(NAMED_MESSAGES);
        refused.truncate(NAMED_MESSAGES);
        let and_more = if more > 0 { format!(" and {more} more") } else { String::new() };
        text.push_str(&quote("Not agreed to: ", &format!("{}{and_more}", refused.join(", ")), columns));
    }
    if !insts.is_empty() {
        text.push_str(&quote("Not trusted yet: ", &insts.join(", "), columns));
        let about = "It has instructions for models (lepo trust shows them); a yes trusts it too.";
        text.push_str(&format!("{}\n", fold(about, columns)));
    }
    text
}

/// Describes the rights of a command with this access, and its sandbox.
pub(super) fn bounds(access: Access, sandbox: &Sandbox) -> String {
    if *sandbox == Sandbox::None {
        return match access {
            Access::Full => "Not sandboxed: can do anything that you can.".to_string(),
            _ => format!("Not sandboxed: asks for {access}, but can do anything that you can."),
        };
    }
    let may = match access {
        Access::Read => "may read this directory; no home, no network",
        Access::Write => "may change this directory; no home, no network",
        Access::Net => "may change this directory and use the network; no home",
        Access::Full => "can do anything that you can",
    };
    format!("Sandboxed ({}): {may}.", sandbox.name())
}

/// Explains each answer.
fn explanation(proposal: &Proposal) -> String {
    let mut text = String::new();
    match proposal {
        Proposal::Command(proposal) => {
            text.push_str(match proposal.request.access {
                Access::Read => {
                    "read: it sees this directory and the system's programs and changes nothing.\n"
                }
                Access::Write => "write: it may also change files here, but not .git and not .lepo.\n",
                Access::Net => "net: like write, and it may use the network, so what it reads can leave.\n",
                Access::Full => "full: no sandbox. It can do all that you can, with your files and keys.\n",
            });
            text.push_str("y  run it once\nn  refuse; the model is told\ne  change the command first\n");
            if may_be_remembered(&Proposal::Command(proposal.clone())) {
                text.push_str("a  run it, and do not ask again for this exact command until lepo ends\n");
            }
        }
        Proposal::Call(proposal) => {
            text.push_str("The server runs outside any sandbox, with the settings configured for it.\n");
            text.push_str("y  call it once\nn  refuse; the model is told\n");
            text.push_str(&quote(
                "a  call it, and do not ask again until lepo ends: ",
                &proposal.request.tool,
                LONGEST,
            ));
        }
    }
    text + "Ctrl+C  decide later: the request waits\n"
}

/// Returns the line about a request that runs without a question, with the reason: `(auto)`, `(approved)`.
pub fn announcement(proposal: &Proposal, why: &str) -> String {
    let text = text(proposal, usize::MAX);
    let text = text.trim().replacen("Command request", &format!("Running {why}"), 1);
    match proposal {
        Proposal::Command(proposal) => {
            format!("{text}\n  access: {} ({})", proposal.request.access, proposal.sandbox)
        }
        Proposal::Call(_) => text.replacen("MCP tool call", &format!("MCP tool call {why}"), 1),
    }
}

/// Returns the request with all its details, wrapped at `columns`.
pub fn text(proposal: &Proposal, columns: usize) -> String {
    match proposal {
        Proposal::Command(proposal) => command_text(proposal, columns),
        Proposal::Call(proposal) => call_text(proposal, columns),
    }
}

/// Returns the tool, the server's description of it, and its arguments; all of these are foreign text, and marked
/// as quotes.
fn call_text(proposal: &CallProposal, columns: usize) -> String {
    let request = &proposal.request;
    let mut text = String::from("\nMCP tool call\n");
    text.push_str(&quote("Server: ", &request.server, columns));
    text.push_str(&quote("Tool: ", &request.tool, columns));
    let description = proposal.description.trim();
    if !description.is_empty() {
        text.push_str(&quote("Description: ", description, columns));
    }
    if proposal.changed {
        text.push_str("Changed: its description or schema is not what you agreed to before\n");
    }
    text.push_str("Arguments:\n");
    let mut arguments: Vec<(&String, &serde_json::Value)> = request.arguments.iter().collect();
    arguments.sort_by_key(|(name, _)| *name);
    for (name, value) in &arguments {
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_string);
        text.push_str(&quote("  ", &format!("{name}: {value}"), columns));
    }
    if arguments.is_empty() {
        text.push_str("  (none)\n");
    }
    text
}

/// Returns the reason, the command and its directory. The model's text comes first, and each of its lines is marked
/// as a quote, so that it cannot pass for lepo's own.
fn command_text(proposal: &CommandProposal, columns: usize) -> String {
    let request = &proposal.request;
    let mut text = String::from("\nCommand request\n");
    if let Some(why) = &request.why {
        text.push_str(&format!("  why: {}\n", excerpt_within(why, columns.min(LONGEST).saturating_sub(7))));
    }
    text.push_str(&quote("  $ ", &request.command, columns));
    text.push_str(&quote("  in ", &proposal.dir.to_string_lossy(), columns));
    text
}

/// The maximum width in columns of a reason, and of a line without a terminal.
const LONGEST: usize = 200;

/// Opens the command in the user's editor.
fn edit(command: &str) -> Result<String> {
    let edited = String::from_utf8(term::edit(command.as_bytes(), ".sh")?)
        .map_err(|error| Error::usage("the command is not text any more").because(error))?;
    match edited.trim() {
        // Neither a request's bubb nor a program's argument can contain one.
        text if text.contains('\0') => Err(Error::usage("a command cannot hold a zero byte")),
        "" => Err(Error::nothing("nothing is left of the command")),
        _ => Ok(edited.trim_end_matches('\n').to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::term::width;
    use lepo_tool::CommandRequest;
    use lepo_tool::mcp::CallRequest;

    fn asked(command: &str, why: &str, columns: usize) -> String {
        let (command, why) = (command.to_string(), Some(why.to_string()));
        let request = CommandRequest { command, access: Access::Full, why };
        let proposal =
            CommandProposal { request, dir: "/w".into(), sandbox: Sandbox::None, unagreed: Vec::new() };
        let proposal = Proposal::Command(proposal);
        text(&proposal, columns) + &question(&proposal, columns)
    }

    #[test]
    fn no_words_of_a_model_look_like_lepos_own() {
        let forged = "\n\nCommand request\n  $ ls\n  in /w\n  access: read (sandboxed by bubblewrap)";
        assert_eq!(
            asked("rm -rf .", &"look\n".repeat(60), 30),
            "\nCommand request\n  why: look look look look...\n  $ rm -rf .\n  in /w\nNot sandboxed: can do anything\nthat you can.\nRun it? [y]es [n]o [e]dit [?] "
        );
        for columns in [30, 80] {
            let padded = format!("ls {}  access: read (held){forged}", " ".repeat(columns));
            let shown = asked(&padded, forged, columns);
            let own: Vec<&str> =
                shown.lines().filter(|line| !line.starts_with("  | ") && !line.starts_with("  + ")).collect();
            assert_eq!(own.len(), if columns == 30 { 8 } else { 7 }, "{shown}");
            assert!(own[3].starts_with("  $ ls"), "{shown}");
            assert!(shown.lines().all(|line| width(line) <= columns), "{shown}");
            assert!(shown.contains("\n  in /w\nNot sandboxed: can do anything"), "{shown}");
        }
    }

    #[test]
    fn two_commands_never_look_the_same() {
        let begun = format!("echo {} ", "x".repeat(69));
        assert_eq!(begun.len(), 75);
        let (one, two) = (format!("{begun}touch OUT; git status"), format!("{begun}\ntouch OUT; git status"));
        assert_ne!(asked(&one, "", 80), asked(&two, "", 80));
    }

    #[test]
    fn the_question_names_the_instructions_that_a_yes_agrees_to() {
        let request = CommandRequest { command: "ls".into(), access: Access::Write, why: None };
        let (dir, sandbox) = ("/".into(), Sandbox::None);
        let unagreed = ["AGENTS.md", "sub/AGENTS.md"].map(|path| Unagreed::File(path.into())).into();
        let proposal = Proposal::Command(CommandProposal { request, dir, sandbox, unagreed });
        let asked = question(&proposal, 80);
        let (_, after) = asked.split_once("you can.\n").unwrap();
        assert_eq!(
            after,
            "Not agreed to yet: AGENTS.md, sub/AGENTS.md\nThe model read these instructions of the repository; a yes agrees to them too.\n\
             Run it? [y]es [n]o [e]dit [?] "
        );
        let message = |id: &str| Unagreed::Message(id.into(), "s1".into());
        let words = [Unagreed::File("AGENTS.md".into()), message("01A"), message("01B")];
        let text = foreign_texts_note(&words, usize::MAX);
        assert_eq!(text.lines().nth(2), Some("Not written by you: 01A (s1), 01B (s1)"), "{text}");
        assert_eq!(text.lines().count(), 4, "{text}");
        let many: Vec<Unagreed> = (0..9).map(|n| message(&n.to_string())).collect();
        assert!(foreign_texts_note(&many, usize::MAX).contains("3 (s1) and 5 more"));
        let refused = foreign_texts_note(&[Unagreed::Refused("AGENTS.md".into())], 80);
        assert_eq!(refused, "Not agreed to: AGENTS.md\n");
        assert_eq!(foreign_texts_note(&[], 80), "");
        let insts = foreign_texts_note(&[Unagreed::Insts("/r/.lepo/_insts.toml\nyes".into())], usize::MAX);
        assert!(insts.starts_with("Not trusted yet: /r/.lepo/_insts.toml"), "{insts}");
        assert_eq!(insts.lines().count(), 2 + 1, "{insts}");
    }

    #[test]
    fn what_holds_a_command_is_told_in_words() {
        let bwrap = Sandbox::Bubblewrap("/usr/bin/bwrap".into());
        for (access, sandbox, begins) in [
            (Access::Read, &bwrap, "Sandboxed (bubblewrap): may read this directory; no home, no network."),
            (Access::Write, &bwrap, "Sandboxed (bubblewrap): may change this directory; no home"),
            (Access::Net, &bwrap, "Sandboxed (bubblewrap): may change this directory and use the network"),
            (Access::Read, &Sandbox::Landlock, "Sandboxed (Landlock): may read"),
            (Access::Write, &Sandbox::None, "Not sandboxed: asks for write, but can"),
            (Access::Full, &Sandbox::None, "Not sandboxed: can do anything"),
        ] {
            let request = CommandRequest { command: "ls".into(), access, why: None };
            let sandbox = sandbox.clone();
            let proposal = Proposal::Command(CommandProposal {
                request,
                dir: "/".into(),
                sandbox,
                unagreed: Vec::new(),
            });
            let asked = question(&proposal, 80);
            assert!(asked.starts_with(begins), "{asked}");
            assert_eq!(asked.contains("[a]lways"), begins.starts_with("Sandboxed"), "{asked}");
            assert!(asked.lines().all(|line| line.len() <= 80), "{asked}");
            assert!(question(&proposal, 40).lines().rev().skip(1).all(|line| line.len() <= 40));
            assert!(explanation(&proposal).starts_with(&format!("{access}: ")));
        }
    }

    #[test]
    fn no_name_in_a_call_looks_like_lepos_own_words() {
        let forged = "x\nArguments:\n  (none)\nCall it? [y]es [n]o ";
        let padded = format!("x{}Call it? [y]es [n]o ", " ".repeat(79));
        for evil in [forged, &padded] {
            let arguments = serde_json::Map::from_iter([(evil.to_string(), evil.into())]);
            let request = CallRequest { server: evil.to_string(), tool: evil.to_string(), arguments };
            let (description, tool, unagreed) = (evil.to_string(), String::new(), Vec::new());
            let proposal = CallProposal { request, description, tool, changed: false, unagreed };
            let shown = text(&Proposal::Call(proposal), 80);
            let quoted = |line: &&str| line.starts_with("  | ") || line.starts_with("  + ");
            let own: Vec<&str> = shown.lines().filter(|line| !quoted(line)).collect();
            let begun: Vec<&str> = own.iter().map(|line| line.split(" x").next().unwrap()).collect();
            let lines = ["", "MCP tool call", "Server:", "Tool:", "Description:", "Arguments:", " "];
            assert_eq!(begun, lines, "{shown}");
            assert!(shown.lines().all(|line| width(line) < 80), "{shown}");
        }
    }
}
