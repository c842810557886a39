//! A yes or a no at a question of lepo's own. Other words were meant for the prompt, and stand there afterwards.

use super::session::Session;
use crate::term::{columns, fold, latin_keys, say, show};
use lepo_base::error::Result;

/// Asks until it is yes or no; an empty line is yes, Ctrl+C and Ctrl+D are no.
pub(super) async fn confirm(session: &mut Session<'_>, question: &'static str) -> Result<bool> {
    let mut meant_for_prompt = Vec::new();
    let yes = loop {
        let (above, question) = broken(question, columns());
        show(&above);
        let Some(answer) = session.reader.answer(question, &session.env.interrupt).await? else {
            break false;
        };
        match yes_or_no(&answer) {
            Some(yes) => break yes,
            None => {
                say("y or n; what you typed is kept for the prompt");
                meant_for_prompt.push(answer.trim_end().to_string());
            }
        }
    };
    session.reader.give(meant_for_prompt.join("\n"));
    Ok(yes)
}

/// The lines before the last one of a question that is broken for so many columns, and that: the line editor would break
/// it within a word.
fn broken(question: &'static str, columns: usize) -> (String, &'static str) {
    let folded = fold(question, columns);
    let last = folded.lines().last().unwrap_or_default().len();
    let (above, last) =
        question.split_at_checked(question.len().saturating_sub(last)).unwrap_or(("", question));
    (format!("{}{}", fold(above.trim_end(), columns), if above.is_empty() { "" } else { "\n" }), last)
}

/// The decision of an answer, a word of it or its beginning, in any case; none of other words.
fn yes_or_no(answer: &str) -> Option<bool> {
    let answer = latin_keys(answer.trim()).to_lowercase();
    [("yes", true), ("no", false)].into_iter().find(|(word, _)| word.starts_with(&answer)).map(|(_, yes)| yes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_is_broken_between_words() {
        const QUESTION: &str = "No model is configured. Add one now? (Y/n): ";
        for (columns, above, last) in [
            (80, "", QUESTION),
            (40, "No model is configured. Add one now?\n", "(Y/n): "),
            (24, "No model is configured.\n", "Add one now? (Y/n): "),
        ] {
            assert_eq!(broken(QUESTION, columns), (above.to_string(), last), "{columns}");
        }
    }

    #[test]
    fn only_a_word_of_the_answer_is_one() {
        for (answer, yes) in [
            ("", Some(true)),
            ("\n", Some(true)),
            ("Y", Some(true)),
            ("yes", Some(true)),
            ("n\n", Some(false)),
            ("No", Some(false)),
            ("now what?", None),
            ("yesterday", None),
            ("What is a leap year?", None),
            ("예", None),
            // The same keys with the Korean layout on.
            ("ㅛ", Some(true)),
            ("ㅜ", Some(false)),
        ] {
            assert_eq!(yes_or_no(answer), yes, "{answer:?}");
        }
    }
}
