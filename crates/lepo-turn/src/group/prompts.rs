//! The messages to debaters: the insts `orchestrator`, `floor` and `speech`, filled in. The path itself is
//! not sent, because each model reads the debate as a listener, and not as the author of all speeches.

use super::history::DebateHistory;
use super::protocol::Bid;
use crate::config::{Insts, fill};

/// Replaces an empty inst.
const BARE: &str = "{topic}\n\n{conversation_history}";

/// Added to the orchestrator's prompt after an invalid reply.
const AGAIN: &str = "Your last reply named no participant and did not end the debate.";

/// Added to the orchestrator's prompt after the last round.
const OVER: &str = "No round is left: nobody speaks any more. Reply with one line END: and, behind it, the \
                    summary of the conclusion.";

/// The prompts at a step of a debate.
pub struct DebatePrompts<'p> {
    insts: &'p Insts,
    participants: String,
    topic: &'p str,
    history: String,
}

impl<'p> DebatePrompts<'p> {
    /// Creates the prompts for these participants after `past`.
    pub fn new(insts: &'p Insts, participants: &[&str], past: &'p DebateHistory<'_>) -> DebatePrompts<'p> {
        DebatePrompts {
            insts,
            participants: participants.join(", "),
            topic: past.topic,
            history: past.history(),
        }
    }

    /// Asks whether the participant wants to speak.
    pub fn floor(&self) -> String {
        self.fill(&self.insts.floor)
    }

    /// Asks the participant for its speech.
    pub fn speech(&self) -> String {
        self.fill(&self.insts.speech)
    }

    /// Asks the orchestrator for the next speaker. With `again`, its previous reply named none.
    pub fn decision(&self, bids: &str, again: bool) -> String {
        let asked = format!("{}\n\n{bids}", self.fill(&self.insts.orchestrator).trim_end());
        if !again {
            return asked;
        }
        format!(
            "{asked}\n\n{AGAIN} Reply with one line, SELECT: and one of {}, or END: and the summary.",
            self.participants
        )
    }

    /// Asks the orchestrator for the conclusion.
    pub fn summary(&self) -> String {
        format!("{}\n\n{OVER}", self.fill(&self.insts.orchestrator).trim_end())
    }

    fn fill(&self, inst: &Option<String>) -> String {
        let values = [
            ("participants", self.participants.as_str()),
            ("topic", self.topic),
            ("conversation_history", self.history.as_str()),
        ];
        fill(inst.as_deref().unwrap_or(BARE), &values)
    }
}

/// Formats a line `NAME: REQUEST` or `NAME: PASS` for each participant.
pub fn bid_lines<'n>(bids: impl Iterator<Item = (&'n str, Bid)>) -> String {
    bids.map(|(name, bid)| format!("{name}: {}", bid.as_str())).collect::<Vec<_>>().join("\n")
}
