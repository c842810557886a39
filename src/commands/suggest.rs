//! The command or the setting that a mistyped word was meant for.

use lepo_base::error::quoted;
pub use lepo_base::nearest::nearest;
use lepo_base::search_path::SearchPath;
use std::ffi::OsString;
use std::io::{IsTerminal, stdin};
use std::path::PathBuf;

/// The command that does what other programs call by this word.
pub fn meant(word: &str) -> Option<&'static str> {
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

/// The hint at a command that was meant by the first of these words, or at the question if something is piped.
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

/// The question that words without a command may be: those before the first option.
pub fn question(words: &[OsString]) -> String {
    let words = words.iter().map(|word| word.to_string_lossy());
    words.take_while(|word| !word.starts_with('-')).collect::<Vec<_>>().join(" ")
}

/// The program of this name in the search path. A name with a slash is none.
pub fn in_path(program: &str) -> Option<PathBuf> {
    SearchPath::here().find(program.as_ref())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_of_other_programs_are_known() {
        for (word, command) in
            [("list", Some("ls")), ("search", Some("grep")), ("new", Some("do -n")), ("Review", None)]
        {
            assert_eq!(meant(word), command, "{word}");
        }
    }
}
