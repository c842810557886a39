//! Finds the hint at lepo's command for a line that users of git or of other programs for models type from habit.

mod fill;
mod table;

use std::ffi::OsString;

use self::fill::{at_for_head, fill_hint};
use self::table::{HABITS, NUMBER, is_number, is_option};
use super::first_word::{FirstWord, FirstWordKind};
use crate::commands::suggest::or_question;
use lepo_base::error::{Error, ExitKind, quoted};

/// The line after `lepo`, as typed.
pub(super) struct TypedLine {
    words: Vec<String>,
    /// Whether it is for `do`: it begins with no other command, and it may contain a question.
    is_do: bool,
    /// Whether its first argument is not a command of lepo.
    is_unknown: bool,
}

impl TypedLine {
    pub(super) fn new(args: &[OsString], first: &FirstWord) -> TypedLine {
        let (at, means) = (first.at, first.means);
        let has_do = means == FirstWordKind::Command && args.get(at).is_some_and(|word| word == "do");
        let is_do = has_do || means == FirstWordKind::Question;
        let is_part = |index: usize| match is_do {
            true => index > 0 && !(has_do && index == at),
            false => index >= at,
        };
        let words = args.iter().enumerate().filter(|(index, _)| is_part(*index));
        TypedLine {
            words: words.map(|(_, word)| word.to_string_lossy().into_owned()).collect(),
            is_do,
            is_unknown: means == FirstWordKind::Other,
        }
    }

    /// Sets the hint at what the user meant, if the line failed for a habit. If the parser took the line, its error must
    /// name the word.
    pub(super) fn explain(&self, error: Error, is_parsed: bool) -> Error {
        if error.kind != ExitKind::Usage {
            return error;
        }
        let is_any = !is_parsed || self.is_unknown && error.message.starts_with("unknown command");
        let is_named = |word: &str| {
            let message = error.message.as_str();
            message.contains(&format!("{word:?}")) || message.split(' ').next() == Some(word)
        };
        let is_reason = |word: &str| is_any || is_named(word);
        let hint = self.without_head(&error.message).or_else(|| self.slash_hint());
        match hint.or_else(|| self.hint_if(is_reason)) {
            Some(hint) if self.is_unknown => error.hint(or_question(&hint, &self.words, false)),
            Some(hint) => error.hint(hint),
            None => error,
        }
    }

    /// Returns the hint of the first row that fits and whose last word is the reason.
    fn hint_if(&self, is_reason: impl Fn(&str) -> bool) -> Option<String> {
        HABITS.iter().filter(|(typed, _)| typed.starts_with('-') == self.is_do).find_map(|(typed, hint)| {
            let (number, rest) = self.rest_of(typed)?;
            let last = typed.trim_end_matches([' ', '$', '…']).rsplit(' ').next()?;
            is_reason(last).then(|| fill_hint((typed, hint), number, &rest))
        })
    }

    fn slash_hint(&self) -> Option<String> {
        let name = self.words.first().filter(|_| self.is_unknown)?.strip_prefix('/')?;
        (!name.contains('/')).then(|| "slash commands are for a session, which `lepo` starts".to_string())
    }

    /// Returns the number and the other arguments, if a row fits the line.
    fn rest_of(&self, typed: &str) -> Option<(&str, Vec<&str>)> {
        let mut rest: Vec<&str> = self.words.iter().map(String::as_str).collect();
        let mut number = "";
        for word in typed.split(' ') {
            match word {
                "$" => return rest.is_empty().then_some((number, rest)),
                "…" => {
                    let is_plain = rest.first().is_some_and(|next| !next.starts_with('-'));
                    return is_plain.then_some((number, rest));
                }
                _ => {}
            }
            let options = rest.iter().take_while(|other| **other != "--");
            let at = match word {
                NUMBER => options.clone().position(|other| is_number(other))?,
                word if word.starts_with('-') => options.clone().position(|other| is_option(other, word))?,
                word => rest.first().filter(|first| **first == word).map(|_| 0)?,
            };
            let found = rest.remove(at);
            if word == NUMBER {
                number = found.trim_start_matches('-');
            }
        }
        Some((number, rest))
    }

    /// Returns the hint with `@` for git's `HEAD`, if no such message was found.
    fn without_head(&self, message: &str) -> Option<String> {
        let (_, named) = message.split_once("\"HEAD")?;
        let steps = named.split('"').next().unwrap_or_default();
        if at_for_head(&format!("HEAD{steps}")).is_none() {
            let is_form = steps.starts_with(['^', '~', '@', ':']);
            return is_form.then(|| "`@` is the newest message, and `@~1` the message before it".to_string());
        }
        if let Some(address) = self.words.first().filter(|_| self.is_unknown).and_then(|it| at_for_head(it)) {
            return Some(format!("`@` is the newest message: lepo show {address}"));
        }
        let line = self.words.iter().map(|word| match word.split_once('=') {
            Some((option, value)) if option.starts_with('-') => match at_for_head(value) {
                Some(address) => format!(" {option}={address}"),
                None => format!(" {}", quoted(word)),
            },
            _ => format!(" {}", at_for_head(word).unwrap_or_else(|| quoted(word).into_owned())),
        });
        Some(format!("`@` is the newest message: lepo{}", line.collect::<String>()))
    }
}

#[cfg(test)]
#[path = "habits_tests.rs"]
mod tests;
