//! The states of a conversation, and the events that lead from one to the next.
//!
//! The table of the tests is the specification: a turn may pass through thinking, tools and content as often as the
//! model likes, and a call at the end of a model's message does not end the turn.

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ViewState {
    /// At the prompt.
    #[default]
    Idle,
    /// A question was entered.
    Processing,
    /// A request was sent; no response yet.
    Streaming,
    Thinking,
    /// The model calls a tool, or a tool is running.
    Tool,
    Content,
    /// An error happened and is being printed.
    Error,
    /// The user left.
    End,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ViewEvent {
    /// The user entered a question.
    Entered,
    /// A request was sent to the model.
    Asked,
    /// Text of the model's thinking arrived.
    Thought,
    /// A tool call arrived, or a tool is running.
    Called,
    /// Text of the answer arrived.
    Said,
    /// The end mark of a message arrived.
    Done,
    /// An invalid message, a lost connection, an interruption.
    Failed,
    /// The error was printed.
    Reported,
    /// The user left: an empty line, `exit`, Ctrl+D or Ctrl+C at the prompt.
    Left,
}

impl ViewState {
    /// Returns the next state. A step that is impossible in a state changes nothing.
    #[must_use]
    pub fn after(self, step: ViewEvent) -> ViewState {
        use ViewState::{Content, End, Error, Idle, Processing, Streaming, Thinking, Tool};
        match (self, step) {
            (End, _) | (_, ViewEvent::Left) => End,
            (Idle, ViewEvent::Entered) => Processing,
            (Error, ViewEvent::Reported) => Idle,
            (Processing | Streaming | Thinking | Tool | Content, _) => match step {
                ViewEvent::Asked => Streaming,
                ViewEvent::Thought => Thinking,
                ViewEvent::Called => Tool,
                ViewEvent::Said => Content,
                // The message ended with a call: lepo sends the result, and the answer is still to come.
                ViewEvent::Done if self == Tool => Streaming,
                ViewEvent::Done => Idle,
                ViewEvent::Failed => Error,
                ViewEvent::Entered | ViewEvent::Reported | ViewEvent::Left => self,
            },
            (Idle | Error, _) => self,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the states after each step, from the prompt.
    fn through(steps: &[ViewEvent]) -> Vec<ViewState> {
        steps
            .iter()
            .scan(ViewState::Idle, |state, &step| {
                *state = state.after(step);
                Some(*state)
            })
            .collect()
    }

    #[test]
    fn whole_turns() {
        use ViewEvent::*;
        use ViewState as S;
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
            // an invalid message, printed; then another question
            (
                vec![Entered, Asked, Failed, Reported, Entered],
                vec![S::Processing, S::Streaming, S::Error, S::Idle, S::Processing],
            ),
            (vec![Left, Entered], vec![S::End, S::End]),
        ] {
            assert_eq!(through(&steps), states, "{steps:?}");
        }
    }

    #[test]
    fn every_transition() {
        use ViewState::*;
        const BUSY: [ViewState; 5] = [Processing, Streaming, Thinking, Tool, Content];
        for state in BUSY {
            for (step, next) in [
                (ViewEvent::Asked, Streaming),
                (ViewEvent::Thought, Thinking),
                (ViewEvent::Called, Tool),
                (ViewEvent::Said, Content),
                (ViewEvent::Done, if state == Tool { Streaming } else { Idle }),
                (ViewEvent::Failed, Error),
                (ViewEvent::Entered, state),
                (ViewEvent::Reported, state),
                (ViewEvent::Left, End),
            ] {
                assert_eq!(state.after(step), next, "{state:?} after {step:?}");
            }
        }
        for (state, step, next) in [
            (Idle, ViewEvent::Entered, Processing),
            (Idle, ViewEvent::Left, End),
            (Idle, ViewEvent::Said, Idle),
            (Idle, ViewEvent::Done, Idle),
            (Error, ViewEvent::Reported, Idle),
            (Error, ViewEvent::Left, End),
            (Error, ViewEvent::Said, Error),
            (Error, ViewEvent::Entered, Error),
            (End, ViewEvent::Entered, End),
            (End, ViewEvent::Reported, End),
        ] {
            assert_eq!(state.after(step), next, "{state:?} after {step:?}");
        }
    }
}
