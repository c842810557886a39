//! The slash commands: one row of the table is one command.

use std::future::{Future, ready};
use std::pin::Pin;

use super::session::Session;
use crate::error::Result;
use crate::term::{columns, say};

/// A slash command.
#[derive(Debug)]
pub struct SlashCommand {
    /// The word, with its slash.
    pub word: &'static str,
    /// The argument after it.
    pub takes: Takes,
    /// Its line in `/help`.
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
    /// One address: an id, a branch, `@`.
    Address,
    /// One name.
    Name,
    /// One of these words.
    OneOf(&'static [&'static str]),
}

/// How a session goes on after a slash command.
pub enum After {
    /// At the prompt.
    Prompt,
    /// With a turn: this question, or the last one again.
    Turn(Option<String>),
    /// It ends.
    Leave,
}

type Run = for<'s> fn(&'s mut Session<'_>, &'s str) -> Pin<Box<dyn Future<Output = Result<After>> + 's>>;

/// All of them, in the order of `/help`.
pub const COMMANDS: &[SlashCommand] = &[
    row("/help", Takes::Nothing, "this list", |_, _| at_once(|| Ok(say_and_prompt(&help(columns()))))),
    row("/new", Takes::Nothing, "a new conversation", |s, _| at_once(|| prompt(s.new_conv()))),
    row("/set-model", Takes::Text, "choose the model that answers", |s, name| {
        Box::pin(async { prompt(s.set_model(name).await) })
    }),
    row("/mcp", Takes::Nothing, "the MCP servers and their tools", |s, _| {
        Box::pin(async { prompt(s.servers().await) })
    }),
    row("/set-tool-mode", Takes::OneOf(&["auto", "manual"]), "run tools at once, or ask first", |s, mode| {
        at_once(|| prompt(s.set_tool_mode(mode)))
    }),
    row("/attach", Takes::File, "attach an image or a PDF", |s, path| {
        Box::pin(async { prompt(s.attach(path).await) })
    }),
    row("/retry", Takes::Nothing, "answer the last question again", |_, _| at_once(|| Ok(After::Turn(None)))),
    row("/tail", Takes::Address, "go on from another bubb", |s, address| at_once(|| prompt(s.tail(address)))),
    row("/show", Takes::Nothing, "print the conversation so far", |s, _| at_once(|| prompt(s.show()))),
    row("/compact", Takes::Text, "go on from a summary", |s, words| {
        Box::pin(async { prompt(s.compact(words).await) })
    }),
    row("/branch", Takes::Name, "name this place; the name moves on", |s, name| {
        at_once(|| prompt(s.name_branch(name)))
    }),
    row("/edit", Takes::Text, "write the question in your editor", |s, text| at_once(|| s.edit(text))),
    row("/exit", Takes::Nothing, "leave; the next `lepo` goes on", |_, _| at_once(|| Ok(After::Leave))),
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
            Takes::Nothing | Takes::Text => String::new(),
            Takes::File => "FILE".into(),
            Takes::Address => "ADDR".into(),
            Takes::Name => "NAME".into(),
            Takes::OneOf(words) => words.join("|"),
        }
    }

    /// Whether `rest` will do behind `word`; the error is the sentence to show.
    pub fn check(&self, word: &str, rest: &str) -> std::result::Result<(), String> {
        let one = |what: &str| match rest.split_whitespace().count() {
            1 => Ok(()),
            _ => Err(format!("{word} needs one {what}")),
        };
        match self {
            Takes::Text | Takes::File => Ok(()),
            Takes::Nothing if rest.is_empty() => Ok(()),
            Takes::Nothing => Err(format!("nothing follows {word}")),
            Takes::Address => one("address: an id, a branch, @"),
            Takes::Name => one("name"),
            Takes::OneOf(words) if words.contains(&rest) => Ok(()),
            Takes::OneOf(words) => Err(format!("Please enter either {}.", words.join(" or "))),
        }
    }
}

/// The other entries and keys: each with the argument or the other key after it, and what it does.
const KEYS: &[(&str, &str, &str)] = &[
    ("!COMMAND", "", "run it, and let the model see"),
    ("Alt+Enter", "or \\ Enter", "a new line"),
    ("Tab", "", "complete"),
    ("Ctrl+R", "", "search what was entered"),
    ("Ctrl+C", "", "stop an answer; here, leave"),
    ("Ctrl+Z", "", "stop; `fg` goes on"),
];

const LAST: &str = "A space before / or ! asks it.";

/// The text of `/help`, on a terminal of so many columns.
fn help(columns: usize) -> String {
    let line = |word: &str, follows: &str, about: &str| {
        let command = format!("{word} {follows}");
        match columns < 80 {
            true => format!("{command}\n    {about}\n"),
            false => format!("  {command:<28} {about}\n"),
        }
    };
    let commands = COMMANDS.iter().map(|command| line(command.word, &command.takes.sign(), command.about));
    let keys = KEYS.iter().map(|(word, follows, about)| line(word, follows, about));
    commands.chain(keys).collect::<String>() + LAST
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
        assert!(help(40).lines().all(|line| line.len() <= 40));
    }
}
