//! A yes or a no at a question of lepo's own. Other words were meant for the prompt, and stand there afterwards.

use super::session::Session;
use crate::term::say;
use crate::ui::{Choice, Offer};
use lepo_base::error::Result;

/// Asks until it is yes or no; an empty line is yes, Ctrl+C and Ctrl+D are no.
pub(super) async fn confirm(session: &mut Session<'_>, question: &'static str) -> Result<bool> {
    let mut meant_for_prompt = Vec::new();
    let yes = loop {
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

/// The decision of an answer, a word of it or its beginning, in any case; none of other words.
fn yes_or_no(answer: &str) -> Option<bool> {
    match answer.trim() {
        "" => Some(true),
        answer => Offer::new("", &[]).read(answer).map(|choice| choice == Choice::Yes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
