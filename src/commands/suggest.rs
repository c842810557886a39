//! Suggests the command or setting for a mistyped name, and finds the options of a question without a command.

use clap::{Arg, Command};

pub use lepo_base::closest_name::closest_name;
use lepo_base::error::quoted;
use lepo_base::search_path::SearchPath;
use std::path::PathBuf;

use rustix::fs::FileType;

/// Formats the hint at a command; a single argument may also be a question, and so may several without options and numbers.
pub fn or_question(meant: &str, words: &[String], prose: bool) -> String {
    let is_letter = |letter: char| letter.is_alphabetic() || ",.?!'".contains(letter);
    let is_prose = prose && words.iter().all(|word| word.chars().all(is_letter));
    if words.len() != 1 && !is_prose {
        return meant.to_string();
    }
    let about = if is_piped() { " about what is piped" } else { "" };
    let joint = if meant.ends_with('?') { "" } else { ";" };
    format!("{meant}{joint} to ask a model{about}: lepo do {}", quoted(&question(words)))
}

/// Whether stdin is a pipe, a socket, or a file with content; of services and editors it is `/dev/null`.
fn is_piped() -> bool {
    rustix::fs::fstat(std::io::stdin()).is_ok_and(|stat| match FileType::from_raw_mode(stat.st_mode) {
        FileType::Fifo | FileType::Socket => true,
        FileType::RegularFile => stat.st_size > 0,
        _ => false,
    })
}

/// Joins the arguments before the first option to a question.
pub fn question(words: &[String]) -> String {
    let words = words.iter().map(String::as_str);
    words.take_while(|word| !word.starts_with('-')).collect::<Vec<_>>().join(" ")
}

/// Returns the options of `do` that lepo itself does not have; a question needs no `do` before them.
pub fn question_options(root: &Command) -> impl Iterator<Item = &Arg> {
    // After `build`, each command also has the global options.
    let is_new = |arg: &&Arg| root.get_arguments().all(|own| own.get_id() != arg.get_id());
    let of_do = root.find_subcommand("do").into_iter().flat_map(Command::get_arguments);
    of_do.filter(|arg| !arg.is_positional()).filter(is_new)
}

/// Finds a program in the search path; `None` for a name with a slash.
pub fn in_path(program: &str) -> Option<PathBuf> {
    SearchPath::current().find(program.as_ref())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_single_argument_or_prose_may_be_a_question() {
        for (line, prose, is_question) in [
            ("lss", false, true),
            ("lss", true, true),
            ("hello there", true, true),
            ("hello there", false, false),
            ("안녕 하세요?", true, true),
            ("shwo @", true, false),
            ("shwo --all", true, false),
            ("lgo 3", true, false),
        ] {
            let words: Vec<String> = line.split(' ').map(str::to_string).collect();
            let hint = or_question("did you mean `lepo ls`?", &words, prose);
            assert_eq!(hint.contains("to ask a model"), is_question, "{line}: {hint}");
        }
    }
}
