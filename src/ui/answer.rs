//! Parses the answer to a consent question: a prefix of an answer word, in any case.

use crate::term::latin_keys;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PromptChoice {
    /// Yes, once.
    Yes,
    No,
    /// Yes, after the user edits the command.
    Edit,
    /// Yes, now and for the same request later.
    Always,
    /// Undecided: explain the answers first.
    Explain,
}

/// All answers, in the order in which they are offered. No two start with the same letter.
const WORDS: &[(&str, PromptChoice)] = &[
    ("yes", PromptChoice::Yes),
    ("no", PromptChoice::No),
    ("edit", PromptChoice::Edit),
    ("always", PromptChoice::Always),
];

/// A question with the answers that it accepts.
pub struct ChoicePrompt {
    ask: String,
    choices: Vec<PromptChoice>,
}

impl ChoicePrompt {
    /// Creates the question `ask` with the answers yes, no and `more`.
    pub fn new(ask: impl Into<String>, more: &[PromptChoice]) -> ChoicePrompt {
        ChoicePrompt { ask: ask.into(), choices: [&[PromptChoice::Yes, PromptChoice::No], more].concat() }
    }

    fn choices(&self) -> impl Iterator<Item = (&'static str, PromptChoice)> {
        WORDS.iter().copied().filter(|(_, choice)| self.choices.contains(choice))
    }

    /// Returns the prompt: `Run it? [y]es [n]o [?] `.
    pub fn question(&self) -> String {
        let word = |(word, _): (&str, PromptChoice)| {
            let (first, rest) = word.split_at_checked(1).unwrap_or((word, ""));
            format!(" [{first}]{rest}")
        };
        let explained = if self.choices.contains(&PromptChoice::Explain) { " [?]" } else { "" };
        format!("{}{}{explained} ", self.ask, self.choices().map(word).collect::<String>())
    }

    /// Parses an answer; `None` if it is not among those offered.
    pub fn read(&self, answer: &str) -> Option<PromptChoice> {
        let answer = latin_keys(answer.trim()).to_lowercase();
        if answer == "?" && self.choices.contains(&PromptChoice::Explain) {
            return Some(PromptChoice::Explain);
        }
        let mut matching = self.choices().filter(|(word, _)| !answer.is_empty() && word.starts_with(&answer));
        matching.next().map(|(_, choice)| choice)
    }

    /// Returns the reply to an invalid answer: `y, n, e, a or ?`.
    pub fn letters(&self) -> String {
        let mut letters: Vec<&str> = self.choices().filter_map(|(word, _)| word.get(..1)).collect();
        if self.choices.contains(&PromptChoice::Explain) {
            letters.push("?");
        }
        let last = letters.pop().unwrap_or_default();
        format!("{} or {last}", letters.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_and_its_beginnings_are_an_answer_in_any_case_and_nothing_else_is() {
        let offer =
            ChoicePrompt::new("Run it?", &[PromptChoice::Edit, PromptChoice::Always, PromptChoice::Explain]);
        for (answer, choice) in [
            ("y", Some(PromptChoice::Yes)),
            ("YES", Some(PromptChoice::Yes)),
            ("Ye", Some(PromptChoice::Yes)),
            ("no", Some(PromptChoice::No)),
            ("N", Some(PromptChoice::No)),
            ("edi", Some(PromptChoice::Edit)),
            ("Always", Some(PromptChoice::Always)),
            (" a ", Some(PromptChoice::Always)),
            ("?", Some(PromptChoice::Explain)),
            ("", None),
            ("yess", None),
            ("yep", None),
            ("ok", None),
            ("예", None),
            // The keys of `y` and `a` with the Korean layout on.
            ("ㅛ", Some(PromptChoice::Yes)),
            ("ㅁ", Some(PromptChoice::Always)),
        ] {
            assert_eq!(offer.read(answer), choice, "{answer:?}");
        }
        assert_eq!(offer.question(), "Run it? [y]es [n]o [e]dit [a]lways [?] ");
        assert_eq!(offer.letters(), "y, n, e, a or ?");
    }

    #[test]
    fn what_is_not_offered_is_no_answer() {
        let offer = ChoicePrompt::new("Call it?", &[]);
        assert_eq!(offer.question(), "Call it? [y]es [n]o ");
        assert_eq!((offer.read("a"), offer.read("edit"), offer.read("?")), (None, None, None));
        assert_eq!(offer.letters(), "y or n");
    }
}
