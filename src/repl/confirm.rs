//! Asks a yes-or-no question of lepo's own. Any other text was meant for the prompt and is put there afterwards.

use super::session::ReplSession;
use crate::term::print_status;
use crate::ui::{ChoicePrompt, PromptChoice};
use lepo_base::error::Result;

/// Asks until the answer is yes or no. An empty line means yes, Ctrl+C and Ctrl+D mean no.
pub(super) async fn confirm(session: &mut ReplSession<'_>, question: &'static str) -> Result<bool> {
    let mut meant_for_prompt = Vec::new();
    let yes = loop {
        let Some(answer) = session.reader.answer(question, &session.env.interrupt).await? else {
            break false;
        };
        match yes_or_no(&answer) {
            Some(yes) => break yes,
            None => {
                print_status("y or n; what you typed is kept for the prompt");
                meant_for_prompt.push(answer.trim_end().to_string());
            }
        }
    };
    session.reader.prefill(meant_for_prompt.join("\n"));
    Ok(yes)
}

/// Parses an answer: a prefix of an answer word in any case; `None` for any other text.
fn yes_or_no(answer: &str) -> Option<bool> {
    match answer.trim() {
        "" => Some(true),
        answer => ChoicePrompt::new("", &[]).read(answer).map(|choice| choice == PromptChoice::Yes),
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
            // The keys of `y` and `n` with the Korean layout on.
            ("ㅛ", Some(true)),
            ("ㅜ", Some(false)),
        ] {
            assert_eq!(yes_or_no(answer), yes, "{answer:?}");
        }
    }
}
