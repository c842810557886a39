//! The slash commands: one row of the table is one command.

use std::future::{Future, ready};
use std::pin::Pin;

use super::session::Session;
use crate::term::{columns, say};
use lepo_base::error::Result;
use lepo_turn::Verdict;

/// A slash command.
#[derive(Debug)]
pub struct SlashCommand {
    /// The word, with its slash.
    pub word: &'static str,
    /// The argument after it.
    pub takes: Takes,
    /// Line in `/help`.
    pub about: &'static str,
    run: Run,
}

/// The argument of a slash command.
#[derive(Debug)]
pub enum Takes {
    /// None.
    Nothing,
    /// Any text, or none.
    Text,
    /// The path of a file, or none.
    File,
    /// The id of the request that waits, or none.
    Request,
    /// One address: an id, a branch, `@`.
    Address,
    /// One name.
    Name,
    /// One of these words, and `--save` or not.
    OneOf(&'static [&'static str]),
}

/// The continuation of a session after a slash command.
pub enum After {
    /// At the prompt.
    Prompt,
    /// With a turn: this question, or the last one again.
    Turn(Option<String>),
    /// With a word on the request that waits.
    Decide(Verdict),
    /// The session ends.
    Leave,
}

type Run = for<'s> fn(&'s mut Session<'_>, &'s str) -> Pin<Box<dyn Future<Output = Result<After>> + 's>>;

/// All of them, in the order of `/help`.
pub const COMMANDS: &[SlashCommand] = &[
    row("/help", Takes::Nothing, "this list", |_, _| at_once(|| Ok(say_and_prompt(&help(columns()))))),
    row("/new", Takes::Nothing, "a new conversation", |s, _| at_once(|| prompt(s.new_conv()))),
    row("/ls", Takes::Nothing, "newest conversations", |s, _| at_once(|| prompt(s.list()))),
    row("/grep", Takes::Text, "find what was said", |s, words| {
        at_once(|| match words.is_empty() {
            true => Ok(say_and_prompt("/grep needs a text to find")),
            false => prompt(s.find(words)),
        })
    }),
    row("/undo", Takes::Nothing, "take the question back", |s, _| at_once(|| prompt(s.undo()))),
    row("/copy", Takes::Nothing, "copy the last answer", |s, _| at_once(|| prompt(s.copy()))),
    row("/file", Takes::File, "send a file along", |s, path| {
        at_once(|| match path.is_empty() {
            true => Ok(say_and_prompt("/file needs a path")),
            false => prompt(s.file(path)),
        })
    }),
    row("/approve", Takes::Request, "run the pending request", |s, id| {
        at_once(|| s.decision(id, Verdict::Approve))
    }),
    row("/deny", Takes::Request, "refuse that request", |s, id| at_once(|| s.decision(id, Verdict::Deny))),
    row("/system", Takes::Text, "the system prompt", |s, text| at_once(|| prompt(s.system_prompt(text)))),
    row("/tokens", Takes::Nothing, "tokens so far", |s, _| at_once(|| prompt(s.tokens()))),
    row("/model", Takes::Text, "model of this session", |s, name| {
        Box::pin(async { prompt(s.use_model(name).await) })
    }),
    row("/set-model", Takes::Text, "the default model", |s, name| {
        Box::pin(async { prompt(s.set_model(name).await) })
    }),
    row("/mcp", Takes::Nothing, "MCP servers, tools", |s, _| Box::pin(async { prompt(s.servers().await) })),
    row("/set-tool-mode", Takes::OneOf(&["auto", "manual"]), "auto, or manual: ask", |s, mode| {
        at_once(|| prompt(s.set_tool_mode(mode)))
    }),
    row("/attach", Takes::File, "attach an image or PDF", |s, path| {
        Box::pin(async { prompt(s.attach(path).await) })
    }),
    row("/retry", Takes::Nothing, "answer again", |_, _| at_once(|| Ok(After::Turn(None)))),
    row("/tail", Takes::Address, "go on from another one", |s, address| at_once(|| prompt(s.tail(address)))),
    row("/show", Takes::Nothing, "print the conversation", |s, _| at_once(|| prompt(s.show()))),
    row("/compact", Takes::Text, "go on from a summary", |s, words| {
        Box::pin(async { prompt(s.compact(words).await) })
    }),
    row("/title", Takes::Text, "title this conversation", |s, words| at_once(|| prompt(s.title(words)))),
    row("/branch", Takes::Name, "name this place", |s, name| at_once(|| prompt(s.name_branch(name)))),
    row("/edit", Takes::Text, "write in your editor", |s, text| at_once(|| s.edit(text))),
    row("/exit", Takes::Nothing, "leave", |_, _| at_once(|| Ok(After::Leave))),
];

const fn row(word: &'static str, takes: Takes, about: &'static str, run: Run) -> SlashCommand {
    SlashCommand { word, takes, about, run }
}

fn at_once<'s>(work: impl FnOnce() -> Result<After>) -> Pin<Box<dyn Future<Output = Result<After>> + 's>> {
    Box::pin(ready(work()))
}

fn say_and_prompt(text: &str) -> After {
    say(text);
    After::Prompt
}

fn prompt(done: Result<()>) -> Result<After> {
    done.map(|()| After::Prompt)
}

impl SlashCommand {
    /// Does it.
    pub async fn run(&self, session: &mut Session<'_>, argument: &str) -> Result<After> {
        (self.run)(session, argument).await
    }
}

impl PartialEq for SlashCommand {
    fn eq(&self, other: &SlashCommand) -> bool {
        self.word == other.word
    }
}

impl Eq for SlashCommand {}

impl Takes {
    /// The argument as `/help` names it.
    pub fn sign(&self) -> String {
        match self {
            Takes::Nothing | Takes::Text | Takes::Request => String::new(),
            Takes::File => "FILE".into(),
            Takes::Address => "ADDR".into(),
            Takes::Name => "NAME".into(),
            Takes::OneOf(words) => words.join("|"),
        }
    }

    /// Checks the argument `rest` of the command `word`; the error is the sentence to show.
    pub fn check(&self, word: &str, rest: &str) -> std::result::Result<(), String> {
        let one = |what: &str| match rest.split_whitespace().count() {
            1 => Ok(()),
            _ => Err(format!("{word} needs one {what}")),
        };
        match self {
            Takes::Text | Takes::File => Ok(()),
            Takes::Request if !rest.contains(char::is_whitespace) => Ok(()),
            Takes::Request => Err(format!("{word} takes one id")),
            Takes::Nothing if rest.is_empty() => Ok(()),
            Takes::Nothing => Err(format!("{word} takes no argument")),
            Takes::Address => one("address: an id, a branch, @"),
            Takes::Name => one("name"),
            Takes::OneOf(words) if words.contains(&without_save(rest)) => Ok(()),
            Takes::OneOf(words) => Err(format!("Please enter either {}.", words.join(" or "))),
        }
    }
}

/// An argument without `--save`.
pub fn without_save(rest: &str) -> &str {
    rest.strip_suffix(SAVE).or_else(|| rest.strip_prefix(SAVE)).unwrap_or(rest).trim()
}

/// The option that makes a choice the default.
pub const SAVE: &str = "--save";

/// The other entries and keys, and what each does.
const KEYS: &[(&str, &str)] = &[
    ("!COMMAND", "run it, show the model"),
    ("@PATH", "send a file along"),
    ("@SERVER:URI", "send an MCP resource"),
    ("/SERVER:PROMPT", "ask an MCP prompt"),
    ("Alt+Enter", "a new line; or \\ Enter"),
    ("Tab", "complete"),
    ("Ctrl+R", "search the history"),
    ("Ctrl+X Ctrl+E", "edit in your editor"),
    ("Ctrl+C", "stop; clear; leave"),
    ("Ctrl+Z", "stop; `fg` goes on"),
];

const LAST: &str = "A space before / or ! asks it.";

/// The text of `/help`, on a terminal of so many columns: two columns where there is room.
fn help(columns: usize) -> String {
    let commands = COMMANDS.iter().map(|command| {
        let sign = command.takes.sign();
        let word = if sign.len() > 4 { command.word.to_string() } else { format!("{} {sign}", command.word) };
        (word.trim_end().to_string(), command.about.to_string())
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
    use super::super::entered::Entered;
    use super::*;

    #[test]
    fn the_list_is_the_commands() {
        for command in COMMANDS {
            let argument = command.takes.sign();
            let first = argument.split('|').next().unwrap();
            let read = Entered::read(format!("{} {first}", command.word).trim());
            assert_eq!(read, Entered::Command(command, first.to_string()));
            assert!(help(80).contains(command.word), "{}", command.word);
        }
        assert!(help(40).lines().all(|line| line.len() <= 40), "{}", help(40));
        assert!(help(80).lines().all(|line| line.len() < 80), "{}", help(80));
        assert!(help(80).lines().count() <= 22, "it fits a screen");
    }
}
