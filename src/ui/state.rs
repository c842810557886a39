//! The states of a conversation, and the events that lead from one to the next.
//!
//! Drawn once, kept true by its table: a turn may pass through thinking, tools and content as often as
//! the model likes, and a call that ends a model's message does not end the turn.

/// The state of a conversation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum State {
    /// At the prompt.
    #[default]
    Idle,
    /// A question was entered.
    Processing,
    /// A request left; nothing has come yet.
    Streaming,
    /// The model thinks aloud.
    Thinking,
    /// The model wants something done, or has it done.
    Tool,
    /// The model answers.
    Content,
    /// Something went wrong, and is being told.
    Error,
    /// The person left.
    End,
}

/// The steps that change the state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// The person entered a question.
    Entered,
    /// A request left for the model.
    Asked,
    /// Text of its thinking came.
    Thought,
    /// A tool call came, or a tool is at work.
    Called,
    /// Text of its answer came.
    Said,
    /// The end mark of a message came.
    Done,
    /// An invalid message, a lost connection, an interruption.
    Failed,
    /// The error was shown.
    Told,
    /// An empty line, `exit`, Ctrl+D, Ctrl+C at the prompt.
    Left,
}

impl State {
    /// The state that follows. What cannot happen in a state changes nothing.
    #[must_use]
    pub fn after(self, step: Step) -> State {
        use State::{Content, End, Error, Idle, Processing, Streaming, Thinking, Tool};
        match (self, step) {
            (End, _) | (_, Step::Left) => End,
            (Idle, Step::Entered) => Processing,
            (Error, Step::Told) => Idle,
            (Processing | Streaming | Thinking | Tool | Content, _) => match step {
                Step::Asked => Streaming,
                Step::Thought => Thinking,
                Step::Called => Tool,
                Step::Said => Content,
                // The message ended with a call: its result is sent, and the answer is still to come.
                Step::Done if self == Tool => Streaming,
                Step::Done => Idle,
                Step::Failed => Error,
                Step::Entered | Step::Told | Step::Left => self,
            },
            (Idle | Error, _) => self,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The states that these steps lead through, from the prompt.
    fn through(steps: &[Step]) -> Vec<State> {
        steps
            .iter()
            .scan(State::Idle, |state, &step| {
                *state = state.after(step);
                Some(*state)
            })
            .collect()
    }

    #[test]
    fn whole_turns() {
        use State as S;
        use Step::*;
        for (steps, states) in [
            (
                vec![Entered, Asked, Said, Said, Done],
                vec![S::Processing, S::Streaming, S::Content, S::Content, S::Idle],
            ),
            // thinking and content in turn
            (
                vec![Entered, Asked, Thought, Said, Thought, Said, Done],
                vec![S::Processing, S::Streaming, S::Thinking, S::Content, S::Thinking, S::Content, S::Idle],
            ),
            // a call that ends its message still gets its answer
            (
                vec![Entered, Asked, Said, Called, Done, Called, Asked, Said, Done],
                vec![
                    S::Processing,
                    S::Streaming,
                    S::Content,
                    S::Tool,
                    S::Streaming,
                    S::Tool,
                    S::Streaming,
                    S::Content,
                    S::Idle,
                ],
            ),
            // an invalid message, told; then another question
            (
                vec![Entered, Asked, Failed, Told, Entered],
                vec![S::Processing, S::Streaming, S::Error, S::Idle, S::Processing],
            ),
            (vec![Left, Entered], vec![S::End, S::End]),
        ] {
            assert_eq!(through(&steps), states, "{steps:?}");
        }
    }

    #[test]
    fn every_transition() {
        use State::*;
        const BUSY: [State; 5] = [Processing, Streaming, Thinking, Tool, Content];
        for state in BUSY {
            for (step, next) in [
                (Step::Asked, Streaming),
                (Step::Thought, Thinking),
                (Step::Called, Tool),
                (Step::Said, Content),
                (Step::Done, if state == Tool { Streaming } else { Idle }),
                (Step::Failed, Error),
                (Step::Entered, state),
                (Step::Told, state),
                (Step::Left, End),
            ] {
                assert_eq!(state.after(step), next, "{state:?} after {step:?}");
            }
        }
        for (state, step, next) in [
            (Idle, Step::Entered, Processing),
            (Idle, Step::Left, End),
            (Idle, Step::Said, Idle),
            (Idle, Step::Done, Idle),
            (Error, Step::Told, Idle),
            (Error, Step::Left, End),
            (Error, Step::Said, Error),
            (Error, Step::Entered, Error),
            (End, Step::Entered, End),
            (End, Step::Told, End),
        ] {
            assert_eq!(state.after(step), next, "{state:?} after {step:?}");
        }
    }
}
