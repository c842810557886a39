//! Parses an entry at the prompt: a question, the user's own command, or a slash command.

use super::commands::{COMMANDS, SlashCommand};
use crate::term::is_command_word;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PromptEntry {
    /// A question, verbatim: any other entry.
    Question(String),
    /// `!COMMAND`: the user's own command.
    Run(String),
    /// A slash command, with its argument.
    Command(&'static SlashCommand, String),
    /// `/NAME WORDS` that is not a slash command: possibly a prompt.
    Prompt(String, String),
    Empty,
    /// `exit`, `quit`, `:q`, `.exit`.
    Leave,
    /// An invalid entry, with the error message.
    Wrong(String),
}

impl PromptEntry {
    /// Parses an entry. Several lines are a question, or the user's own command.
    pub fn read(text: &str) -> PromptEntry {
        let text = text.trim_end_matches(['\n', '\r']);
        let line = text.trim_end();
        match line.trim_start() {
            "" => return PromptEntry::Empty,
            "exit" | "quit" | ":q" => return PromptEntry::Leave,
            _ if line == ".exit" => return PromptEntry::Leave,
            _ => {}
        }
        if let Some(command) = text.strip_prefix('!') {
            return match command.trim() {
                "" => PromptEntry::Wrong("a command follows the !, as in !git status".into()),
                command => PromptEntry::Run(command.to_string()),
            };
        }
        let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        if let Some(own) = own_command(word, rest).filter(|_| !line.contains('\n')) {
            let why = format!("{word} is {own} here; type a space before the dot to ask it as a question");
            return PromptEntry::Wrong(why);
        }
        if !line.starts_with('/') || line.contains('\n') {
            return PromptEntry::Question(text.to_string());
        }
        if !is_command_word(word) {
            return PromptEntry::Question(text.to_string());
        }
        slash(word, rest.trim_start())
    }
}

/// Commands of aichat's sessions, the most arguments of each, and the slash command that does the same.
const DOTTED: &[(&str, usize, &str)] = &[
    (".clear", 1, "/new"),
    (".compress", 1, "/compact"),
    (".copy", 0, "/copy"),
    (".empty", 1, "/new"),
    (".exit", 1, "/new"),
    (".file", 1, "/file"),
    (".help", 0, "/help"),
    (".info", 0, "/tokens"),
    (".model", 1, "/model"),
    (".prompt", 1, "/system"),
    (".regenerate", 0, "/retry"),
    (".role", 1, "/system"),
    (".save", 2, "/branch"),
    (".session", 1, "/tail"),
    (".set", 2, "/help"),
];

/// Returns the slash command that does the same as a command of aichat.
fn own_command(word: &str, rest: &str) -> Option<&'static str> {
    let (_, most, own) = DOTTED.iter().find(|(dotted, ..)| *dotted == word)?;
    (rest.split_whitespace().count() <= *most).then_some(own)
}

fn slash(word: &str, rest: &str) -> PromptEntry {
    let Some(command) = COMMANDS.iter().find(|command| command.is.word == word) else {
        let name = word.trim_start_matches('/');
        return PromptEntry::Prompt(name.to_string(), rest.to_string());
    };
    match command.is.takes.check(word, rest) {
        Ok(()) => PromptEntry::Command(command, rest.to_string()),
        Err(why) => PromptEntry::Wrong(why),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries() {
        let question = |text: &str| PromptEntry::Question(text.into());
        let command = |word: &str, rest: &str| {
            let found = COMMANDS.iter().find(|command| command.is.word == word).unwrap();
            PromptEntry::Command(found, rest.into())
        };
        let wrong = |text: &str| PromptEntry::Wrong(text.into());
        for (text, entered) in [
            ("", PromptEntry::Empty),
            ("  \n", PromptEntry::Empty),
            ("quit", PromptEntry::Leave),
            (":q", PromptEntry::Leave),
            ("exit", PromptEntry::Leave),
            (" exit ", PromptEntry::Leave),
            ("/exit", command("/exit", "")),
            (".exit", PromptEntry::Leave),
            (" .exit", question(" .exit")),
            (
                ".model qwen",
                wrong(".model is /model here; type a space before the dot to ask it as a question"),
            ),
            (
                ".exit session",
                wrong(".exit is /new here; type a space before the dot to ask it as a question"),
            ),
            (".info about x", question(".info about x")),
            (".title class", question(".title class")),
            (" .model", question(" .model")),
            (".help\nme", question(".help\nme")),
            (".gitignore 는?", question(".gitignore 는?")),
            (".5 + .5", question(".5 + .5")),
            ("Exit", question("Exit")),
            ("exit now?", question("exit now?")),
            ("hello", question("hello")),
            ("  two  spaces ", question("  two  spaces ")),
            ("a\n\nb\n", question("a\n\nb")),
            ("각 각", question("각 각")),
            (" /etc/passwd는?", question(" /etc/passwd는?")),
            (" !", question(" !")),
            ("/etc/passwd 는?", question("/etc/passwd 는?")),
            ("// what is this?", question("// what is this?")),
            ("/files:a/b c", PromptEntry::Prompt("files:a/b".into(), "c".into())),
            ("/usr/bin\nis what?", question("/usr/bin\nis what?")),
            ("!ls -l", PromptEntry::Run("ls -l".into())),
            ("! for i in 1 2\ndo echo $i\ndone", PromptEntry::Run("for i in 1 2\ndo echo $i\ndone".into())),
            ("!", wrong("a command follows the !, as in !git status")),
            ("/help", command("/help", "")),
            ("/help  ", command("/help", "")),
            ("/new", command("/new", "")),
            ("/new x", wrong("/new takes no argument")),
            ("/set-model", command("/set-model", "")),
            ("/set-model  qwen ", command("/set-model", "qwen")),
            ("/mcp", command("/mcp", "")),
            ("/set-tool-mode auto", command("/set-tool-mode", "auto")),
            ("/set-tool-mode manual", command("/set-tool-mode", "manual")),
            ("/set-tool-mode auto --save", command("/set-tool-mode", "auto --save")),
            ("/set-tool-mode --save", wrong("Please enter either auto or manual.")),
            ("/set-tool-mode off", wrong("Please enter either auto or manual.")),
            ("/set-tool-mode Auto", wrong("Please enter either auto or manual.")),
            ("/retry", command("/retry", "")),
            ("/tail @~2", command("/tail", "@~2")),
            ("/tail 한글", command("/tail", "한글")),
            ("/tail", wrong("usage: /tail ID|BRANCH|@")),
            ("/tail a b", wrong("usage: /tail ID|BRANCH|@")),
            ("/show", command("/show", "")),
            ("/branch main", command("/branch", "main")),
            ("/branch", wrong("/branch needs one name")),
            ("/edit", command("/edit", "")),
            ("/edit once upon  a", command("/edit", "once upon  a")),
            ("/nonsense", PromptEntry::Prompt("nonsense".into(), "".into())),
            ("/", PromptEntry::Prompt("".into(), "".into())),
            ("/Help", PromptEntry::Prompt("Help".into(), "".into())),
        ] {
            assert_eq!(PromptEntry::read(text), entered, "{text:?}");
        }
    }
}
