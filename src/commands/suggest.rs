//! Suggests the command or setting for a mistyped name.

pub use lepo_base::closest_name::closest_name;
use lepo_base::error::quoted;
use lepo_base::search_path::SearchPath;
use std::ffi::OsString;
use std::io::{IsTerminal, stdin};
use std::path::PathBuf;

/// Returns lepo's command for a name that other programs use.
pub fn command_for(word: &str) -> Option<&'static str> {
    Some(match word {
        "list" => "ls",
        "search" | "find" => "grep",
        "new" => "do -n",
        "chat" | "ask" => "do",
        "delete" | "remove" => "rm",
        "history" => "log",
        "models" => "model",
        "settings" => "config",
        _ => return None,
    })
}

/// Formats the hint at a command that the first argument resembles; a single argument may also be a question.
pub fn did_you_mean(meant: &str, words: &[OsString]) -> String {
    let meant = format!("did you mean `lepo {meant}`?");
    match words {
        [_] => {
            let about = if stdin().is_terminal() { "" } else { " about what is piped" };
            format!("{meant} to ask a model{about}: lepo do {}", quoted(&question(words)))
        }
        _ => meant,
    }
}

/// Joins the arguments before the first option to a question.
pub fn question(words: &[OsString]) -> String {
    let words = words.iter().map(|word| word.to_string_lossy());
    words.take_while(|word| !word.starts_with('-')).collect::<Vec<_>>().join(" ")
}

/// Finds a program in the search path; `None` for a name with a slash.
pub fn in_path(program: &str) -> Option<PathBuf> {
    SearchPath::current().find(program.as_ref())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_of_other_programs_are_known() {
        for (word, command) in
            [("list", Some("ls")), ("search", Some("grep")), ("new", Some("do -n")), ("Review", None)]
        {
            assert_eq!(command_for(word), command, "{word}");
        }
    }
}
