//! The slash commands: each is one row of the table.

use std::future::{Future, ready};
use std::pin::Pin;

use super::find::find;
use super::rebase::rebase;
use super::session::ReplSession;
use super::slash::{
    attach, compact, copy, decision, edit_question, file, name_branch, new_conv, servers, set_model,
    set_tool_mode, show, system_prompt, tail, title, tree, use_model,
};
use super::slash_spec::{ArgumentKind, SessionStep, SlashSpec};
use super::tokens::{list, tokens};
use super::undo::undo;
use crate::term::{columns, page_status, print_status};
use lepo_base::error::Result;
use lepo_turn::Verdict;

#[derive(Debug)]
pub struct SlashCommand {
    pub is: SlashSpec,
    run: SlashHandler,
}

type SlashHandler =
    for<'s> fn(&'s mut ReplSession<'_>, &'s str) -> Pin<Box<dyn Future<Output = Result<SessionStep>> + 's>>;

/// All commands, in the order of `/help`.
pub const COMMANDS: &[SlashCommand] = &[
    row("/help", ArgumentKind::Nothing, "this list", |_, _| {
        at_once(|| {
            page_status(&help(columns()));
            Ok(SessionStep::Prompt)
        })
    }),
    row("/new", ArgumentKind::Nothing, "a new conversation", |s, _| at_once(|| prompt(new_conv(s)))),
    row("/ls", ArgumentKind::Nothing, "newest conversations", |s, _| at_once(|| prompt(list(s)))),
    row("/grep", ArgumentKind::Text, "find what was said", |s, words| {
        at_once(|| match words.is_empty() {
            true => Ok(print_and_prompt("/grep needs a text to find")),
            false => prompt(find(s, words)),
        })
    }),
    row("/undo", ArgumentKind::Nothing, "undo the last question", |s, _| at_once(|| prompt(undo(s)))),
    row("/copy", ArgumentKind::Nothing, "copy the last answer", |s, _| at_once(|| prompt(copy(s)))),
    row("/file", ArgumentKind::File, "send a file", |s, path| {
        at_once(|| match path.is_empty() {
            true => Ok(print_and_prompt("/file needs a path")),
            false => prompt(file(s, path)),
        })
    }),
    row("/approve", ArgumentKind::Request, "run the pending request", |s, id| {
        at_once(|| decision(s, id, Verdict::Approve))
    }),
    row("/deny", ArgumentKind::Request, "refuse that request", |s, id| {
        at_once(|| decision(s, id, Verdict::Deny))
    }),
    row("/system", ArgumentKind::Text, "the system prompt", |s, text| {
        at_once(|| prompt(system_prompt(s, text)))
    }),
    row("/tokens", ArgumentKind::Nothing, "tokens so far", |s, _| at_once(|| prompt(tokens(s)))),
    row("/model", ArgumentKind::Model, "model of this session", |s, name| {
        Box::pin(async { prompt(use_model(s, name).await) })
    }),
    row("/set-model", ArgumentKind::Model, "the default model", |s, name| {
        Box::pin(async { prompt(set_model(s, name).await) })
    }),
    row("/mcp", ArgumentKind::Nothing, "MCP servers, tools", |s, _| {
        Box::pin(async { prompt(servers(s).await) })
    }),
    row("/set-tool-mode", ArgumentKind::OneOf(&["auto", "manual"]), "auto, or manual: ask", |s, mode| {
        at_once(|| prompt(set_tool_mode(s, mode)))
    }),
    row("/attach", ArgumentKind::File, "attach an image or PDF", |s, path| {
        Box::pin(async { prompt(attach(s, path).await) })
    }),
    row("/unmasked", ArgumentKind::Nothing, "send secrets once", |s, _| {
        at_once(|| {
            s.unmasked = true;
            Ok(print_and_prompt("secrets in what comes with the next question are sent"))
        })
    }),
    row("/retry", ArgumentKind::Nothing, "answer again", |_, _| at_once(|| Ok(SessionStep::Turn(None)))),
    row("/tail", ArgumentKind::Address, "continue another one", |s, address| {
        at_once(|| prompt(tail(s, address)))
    }),
    row("/tree", ArgumentKind::Nothing, "look at the forks", |s, _| at_once(|| prompt(tree(s)))),
    row("/show", ArgumentKind::Nothing, "print the conversation", |s, _| at_once(|| prompt(show(s)))),
    row("/compact", ArgumentKind::Text, "continue from a summary", |s, words| {
        Box::pin(async { prompt(compact(s, words).await) })
    }),
    row("/title", ArgumentKind::Text, "title this conversation", |s, words| {
        at_once(|| prompt(title(s, words)))
    }),
    row("/branch", ArgumentKind::Name, "name this point", |s, name| at_once(|| prompt(name_branch(s, name)))),
    row("/rebase", ArgumentKind::OptionalAddress, "edit the conversation", |s, address| {
        at_once(|| prompt(rebase(s, address)))
    }),
    row("/edit", ArgumentKind::Text, "write in your editor", |_, text| at_once(|| edit_question(text))),
    row("/exit", ArgumentKind::Nothing, "leave", |_, _| at_once(|| Ok(SessionStep::Leave))),
];

const fn row(
    word: &'static str,
    takes: ArgumentKind,
    about: &'static str,
    run: SlashHandler,
) -> SlashCommand {
    SlashCommand { is: SlashSpec { word, takes, about }, run }
}

fn at_once<'s>(
    work: impl FnOnce() -> Result<SessionStep>,
) -> Pin<Box<dyn Future<Output = Result<SessionStep>> + 's>> {
    Box::pin(ready(work()))
}

fn print_and_prompt(text: &str) -> SessionStep {
    print_status(text);
    SessionStep::Prompt
}

fn prompt(done: Result<()>) -> Result<SessionStep> {
    done.map(|()| SessionStep::Prompt)
}

impl SlashCommand {
    pub async fn run(&self, session: &mut ReplSession<'_>, argument: &str) -> Result<SessionStep> {
        (self.run)(session, argument).await
    }
}

impl PartialEq for SlashCommand {
    fn eq(&self, other: &SlashCommand) -> bool {
        self.is.word == other.is.word
    }
}

impl Eq for SlashCommand {}

/// Other entries and keys, each with its effect.
const KEYS: &[(&str, &str)] = &[
    ("!COMMAND", "run; the model sees it"),
    ("@PATH", "send a file"),
    ("@SERVER:URI", "send an MCP resource"),
    ("/SERVER:PROMPT", "ask an MCP prompt"),
    ("Alt+Enter", "a new line; or \\ Enter"),
    ("Tab", "complete"),
    ("Ctrl+R", "search the history"),
    ("Ctrl+X Ctrl+E", "edit in your editor"),
    ("Ctrl+C", "stop; clear; leave"),
    ("Ctrl+Z", "suspend; `fg` resumes"),
];

const LAST: &str = "Type a space before / or ! to ask it.";

/// Returns the text of `/help`, in two columns if `columns` allows it.
fn help(columns: usize) -> String {
    let commands = COMMANDS.iter().map(|command| {
        let sign = command.is.takes.sign();
        let word =
            if sign.len() > 4 { command.is.word.to_string() } else { format!("{} {sign}", command.is.word) };
        (word.trim_end().to_string(), command.is.about.to_string())
    });
    let keys = KEYS.iter().map(|(word, about)| (word.to_string(), about.to_string()));
    let entries: Vec<String> =
        commands.chain(keys).map(|(word, about)| format!("{word:<14} {about}")).collect();
    if columns < 80 {
        return entries.join("\n") + "\n" + LAST;
    }
    let rows = entries.len().div_ceil(2);
    let row = |i: usize| {
        let right = entries.get(rows + i).map(String::as_str).unwrap_or_default();
        format!("  {:<38} {right}", entries[i]).trim_end().to_string()
    };
    (0..rows).map(row).collect::<Vec<_>>().join("\n") + "\n  " + LAST
}

#[cfg(test)]
mod tests {
    use super::super::prompt_entry::PromptEntry;
    use super::*;

    #[test]
    fn the_list_is_the_commands() {
        for command in COMMANDS {
            let argument = command.is.takes.sign();
            let first = argument.split('|').next().unwrap();
            let read = PromptEntry::read(format!("{} {first}", command.is.word).trim());
            assert_eq!(read, PromptEntry::Command(command, first.to_string()));
            assert!(help(80).contains(command.is.word), "{}", command.is.word);
        }
        assert!(help(40).lines().all(|line| line.len() <= 40), "{}", help(40));
        assert!(help(80).lines().all(|line| line.len() < 80), "{}", help(80));
        assert!(help(80).lines().count() <= 22, "it fits a screen");
    }
}
