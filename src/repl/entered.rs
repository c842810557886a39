//! What a person enters at the prompt: a question, a command of their own, or one of lepo's. Read once.

use crate::config::{ToolMode, read_word};

/// One entry, understood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Entered {
    /// Anything else: a question, to the letter.
    Question(String),
    /// `!COMMAND`: the person's own command, run now.
    Run(String),
    /// `/help`
    Help,
    /// `/new`: the next question begins a new conv.
    New,
    /// `/set-model`, with a name or number if one was given.
    SetModel(Option<String>),
    /// `/mcp`
    Mcp,
    /// `/set-tool-mode auto|manual`
    SetToolMode(ToolMode),
    /// `/retry`
    Retry,
    /// `/tail ADDR`
    Tail(String),
    /// `/show`
    Show,
    /// `/branch NAME`
    Branch(String),
    /// `/edit`, with what the text begins with.
    Edit(String),
    /// An empty line, `exit`, `/exit`.
    Leave,
    /// It cannot be understood, and this says why.
    Wrong(String),
}

/// The slash commands: the word, what follows it, what it does.
pub const COMMANDS: &[(&str, &str, &str)] = &[
    ("/help", "", "this list"),
    ("/new", "", "a new conversation"),
    ("/set-model", "", "choose the model that answers"),
    ("/mcp", "", "the MCP servers and their tools"),
    ("/set-tool-mode", "auto|manual", "run tools at once, or ask first"),
    ("/retry", "", "answer the last question again"),
    ("/tail", "ADDR", "go on from another bubb"),
    ("/show", "", "print the conversation so far"),
    ("/branch", "NAME", "name this place; the name moves on"),
    ("/edit", "", "write the question in your editor"),
    ("/exit", "", "leave; the next `lepo` goes on"),
];

/// What else there is to know: the keys, what follows them, what they do.
const KEYS: &[(&str, &str, &str)] = &[
    ("!COMMAND", "", "run it, and let the model see"),
    ("Alt+Enter", "or \\ Enter", "a new line"),
    ("Tab", "", "complete"),
    ("Ctrl+R", "", "search what was entered"),
    ("Ctrl+C", "", "stop an answer; here, leave"),
    ("Ctrl+Z", "", "stop; `fg` goes on"),
];

const LAST: &str = "A space before / or ! asks it.";

/// What `/help` prints, on a terminal of so many columns.
pub fn help(columns: usize) -> String {
    let line = |(word, follows, about): &(&str, &str, &str)| {
        let command = format!("{word} {follows}");
        match columns < 80 {
            true => format!("{command}\n    {about}\n"),
            false => format!("  {command:<28} {about}\n"),
        }
    };
    COMMANDS.iter().chain(KEYS).map(line).collect::<String>() + LAST
}

impl Entered {
    /// Reads an entry. Of several lines it is a question, or a command of the person's own.
    pub fn read(text: &str) -> Entered {
        let text = text.trim_end_matches(['\n', '\r']);
        let line = text.trim_end();
        if matches!(line.trim_start(), "" | "exit") {
            return Entered::Leave;
        }
        if let Some(command) = text.strip_prefix('!') {
            return match command.trim() {
                "" => Entered::Wrong("a command follows the !, as in !git status".into()),
                command => Entered::Run(command.to_string()),
            };
        }
        if !line.starts_with('/') || line.contains('\n') {
            return Entered::Question(text.to_string());
        }
        let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        slash(word, rest.trim_start())
    }
}

fn slash(word: &str, rest: &str) -> Entered {
    let one = |what: &str, entered: fn(String) -> Entered| match rest.split_whitespace().collect::<Vec<_>>()[..]
    {
        [argument] => entered(argument.to_string()),
        _ => Entered::Wrong(format!("{word} needs one {what}")),
    };
    let entered = match word {
        "/set-model" => return Entered::SetModel(Some(rest.to_string()).filter(|rest| !rest.is_empty())),
        "/set-tool-mode" => {
            let mode = read_word(rest, ToolMode::LASTING).map(Entered::SetToolMode);
            return mode.unwrap_or_else(|| Entered::Wrong("Please enter either auto or manual.".into()));
        }
        "/tail" => return one("address: an id, a branch, @", Entered::Tail),
        "/branch" => return one("name", Entered::Branch),
        "/edit" => return Entered::Edit(rest.to_string()),
        "/help" => Entered::Help,
        "/new" => Entered::New,
        "/mcp" => Entered::Mcp,
        "/retry" => Entered::Retry,
        "/show" => Entered::Show,
        "/exit" => Entered::Leave,
        _ => return Entered::Wrong(format!("no command {word}; /help lists them")),
    };
    match rest {
        "" => entered,
        _ => Entered::Wrong(format!("nothing follows {word}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries() {
        let question = |text: &str| Entered::Question(text.into());
        let wrong = |text: &str| Entered::Wrong(text.into());
        for (text, entered) in [
            ("", Entered::Leave),
            ("  \n", Entered::Leave),
            ("exit", Entered::Leave),
            (" exit ", Entered::Leave),
            ("/exit", Entered::Leave),
            ("Exit", question("Exit")),
            ("exit now?", question("exit now?")),
            ("hello", question("hello")),
            ("  two  spaces ", question("  two  spaces ")),
            ("a\n\nb\n", question("a\n\nb")),
            ("각 각", question("각 각")),
            (" /etc/passwd는?", question(" /etc/passwd는?")),
            (" !", question(" !")),
            ("/usr/bin\nis what?", question("/usr/bin\nis what?")),
            ("!ls -l", Entered::Run("ls -l".into())),
            ("! for i in 1 2\ndo echo $i\ndone", Entered::Run("for i in 1 2\ndo echo $i\ndone".into())),
            ("!", wrong("a command follows the !, as in !git status")),
            ("/help", Entered::Help),
            ("/help  ", Entered::Help),
            ("/new", Entered::New),
            ("/new x", wrong("nothing follows /new")),
            ("/set-model", Entered::SetModel(None)),
            ("/set-model  qwen ", Entered::SetModel(Some("qwen".into()))),
            ("/mcp", Entered::Mcp),
            ("/set-tool-mode auto", Entered::SetToolMode(ToolMode::Auto)),
            ("/set-tool-mode manual", Entered::SetToolMode(ToolMode::Manual)),
            ("/set-tool-mode off", wrong("Please enter either auto or manual.")),
            ("/set-tool-mode Auto", wrong("Please enter either auto or manual.")),
            ("/set-tool-mode", wrong("Please enter either auto or manual.")),
            ("/retry", Entered::Retry),
            ("/tail @~2", Entered::Tail("@~2".into())),
            ("/tail 한글", Entered::Tail("한글".into())),
            ("/tail", wrong("/tail needs one address: an id, a branch, @")),
            ("/tail a b", wrong("/tail needs one address: an id, a branch, @")),
            ("/show", Entered::Show),
            ("/branch main", Entered::Branch("main".into())),
            ("/branch", wrong("/branch needs one name")),
            ("/edit", Entered::Edit("".into())),
            ("/edit once upon  a", Entered::Edit("once upon  a".into())),
            ("/nonsense", wrong("no command /nonsense; /help lists them")),
            ("/", wrong("no command /; /help lists them")),
            ("/Help", wrong("no command /Help; /help lists them")),
        ] {
            assert_eq!(Entered::read(text), entered, "{text:?}");
        }
    }

    #[test]
    fn the_list_is_the_commands() {
        for (word, follows, _) in COMMANDS {
            let first = follows.split('|').next().unwrap();
            let read = Entered::read(format!("{word} {first}").trim());
            assert!(!matches!(read, Entered::Wrong(_) | Entered::Question(_)), "{word}: {read:?}");
            assert!(help(80).contains(word), "{word}");
            assert!(help(40).lines().all(|line| line.len() <= 40), "{word}");
        }
    }
}
