//! The lines of `--events`. The format is stable and documented in lepo-do(1).

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::Serialize;

use super::document::{GroupDocument, ReplyDocument, TurnDocument};
use crate::view::{ErrorFields, IdText, KindWord, RequestFields};
use lepo_store::bubb::BubbName;
use lepo_tool::{Proposal, Unagreed};

/// An object per line, each with the field event; the last is end. Readers must ignore unknown events.
#[derive(Serialize, JsonSchema)]
pub struct EventDocument<'e> {
    #[serde(flatten)]
    event: TurnEventFields<'e>,
    /// The participant whose reply the event belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    name: Option<&'e str>,
}

#[derive(Serialize, JsonSchema)]
#[serde(tag = "event", rename_all = "lowercase")]
pub enum TurnEventFields<'e> {
    /// A message was written.
    Bubb {
        id: IdText,
        kind: KindWord,
        hidden: bool,
        prev: Option<IdText>,
        /// Null for an answer, whose text came in pieces.
        text: Option<Cow<'e, str>>,
    },
    /// A model was asked and has not answered yet.
    Waiting,
    /// A piece of the model's thinking.
    Thinking { text: &'e str },
    /// The provider's server ran a search or fetched an address.
    Web { tool: &'e str, about: &'e str },
    /// The page cited for the text just before.
    Citation { title: &'e str, url: &'e str },
    /// A piece of the answer.
    Text { text: &'e str },
    /// A note about the run.
    Note { text: String },
    /// A request that runs without asking.
    Announce(ProposalFields<'e>),
    /// A request that needs consent.
    Ask(ProposalFields<'e>),
    /// A command of --run starts.
    Running { command: &'e str },
    /// Output of the running command.
    Stderr { text: String },
    /// An MCP tool is called.
    Calling { request: RequestFields },
    /// The progress of the call.
    Progress { text: &'e str },
    /// An MCP server asks the user to fill in a form, on the terminal.
    Form { server: &'e str },
    /// A model failed; the others continue.
    Failed { name: &'e str, error: ErrorFields },
    /// These participants are asked whether they want the floor.
    Floor { round: u32, names: &'e [&'e str] },
    Bid {
        name: &'e str,
        #[schemars(extend("enum" = ["REQUEST", "PASS"]))]
        bid: &'static str,
    },
    /// The orchestrator is asked who speaks next.
    Judging { name: &'e str },
    /// Text of the orchestrator for the reader.
    Narration { text: &'e str },
    /// The next speaker.
    Chosen { name: &'e str },
    /// The last line.
    End(EndFields<'e>),
}

/// A request, with all that an approval agrees to.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
#[schemars(inline)]
pub enum ProposalFields<'e> {
    Command {
        request: RequestFields,
        dir: Cow<'e, str>,
        sandbox: String,
        /// Texts of others that an approval agrees to: paths of instructions of the repository, and `message ID` of
        /// messages that this user's lepo did not write.
        unagreed: Vec<String>,
    },
    Call {
        request: RequestFields,
        description: &'e str,
        /// Whether the tool differs from the one to which the user last agreed.
        changed: bool,
        /// As for a command.
        unagreed: Vec<String>,
    },
}

#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
#[schemars(inline)]
pub enum EndFields<'e> {
    Turn(&'e TurnDocument<'e>),
    /// With --parallel.
    Replies {
        replies: &'e [ReplyDocument<'e>],
        /// The failure that ended all.
        error: Option<ErrorFields>,
    },
}

impl<'e> EventDocument<'e> {
    /// Creates an event, with the name of the participant to whose reply it belongs.
    pub fn new(event: TurnEventFields<'e>, name: Option<&'e str>) -> EventDocument<'e> {
        EventDocument { event, name }
    }

    /// Creates the last line.
    pub fn end(fields: EndFields<'e>) -> EventDocument<'e> {
        EventDocument::new(TurnEventFields::End(fields), None)
    }

    /// Creates the last line of a group turn; `error` is the failure that ended all replies.
    pub fn group_end(document: &'e GroupDocument<'e>, error: Option<ErrorFields>) -> EventDocument<'e> {
        EventDocument::end(match document {
            GroupDocument::Polled(replies) => EndFields::Replies { replies, error },
            GroupDocument::Debated(turn) => EndFields::Turn(turn),
        })
    }

    /// Whether it reports that a model was asked, without a participant.
    pub fn is_common_wait(&self) -> bool {
        matches!(self, EventDocument { event: TurnEventFields::Waiting, name: None })
    }

    /// Whether it is a piece of a longer text.
    pub fn is_piece(&self) -> bool {
        matches!(self.event, TurnEventFields::Text { .. } | TurnEventFields::Thinking { .. })
    }
}

impl<'e> TurnEventFields<'e> {
    pub fn from_bubb(name: &BubbName, bytes: Option<&'e [u8]>) -> TurnEventFields<'e> {
        TurnEventFields::Bubb {
            id: IdText(name.id),
            kind: name.role.into(),
            hidden: name.hidden,
            prev: name.prev.map(IdText),
            text: bytes.map(String::from_utf8_lossy),
        }
    }
}

impl<'e> ProposalFields<'e> {
    pub fn new(proposal: &'e Proposal) -> ProposalFields<'e> {
        match proposal {
            Proposal::Command(proposal) => ProposalFields::Command {
                request: RequestFields(proposal.request.to_json()),
                dir: proposal.dir.to_string_lossy(),
                sandbox: proposal.sandbox.to_string(),
                unagreed: labels(&proposal.unagreed),
            },
            Proposal::Call(proposal) => ProposalFields::Call {
                request: RequestFields(proposal.request.to_json()),
                description: &proposal.description,
                changed: proposal.changed,
                unagreed: labels(&proposal.unagreed),
            },
        }
    }
}

fn labels(unagreed: &[Unagreed]) -> Vec<String> {
    unagreed.iter().map(Unagreed::label).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_one_object_that_begins_with_its_kind_and_ends_with_the_participant() {
        let waiting = || TurnEventFields::Waiting;
        for (event, name, line) in [
            (waiting(), None, r#"{"event":"waiting"}"#),
            (waiting(), Some("a"), r#"{"event":"waiting","name":"a"}"#),
            (
                TurnEventFields::Web { tool: "web_search", about: "cats" },
                Some("a"),
                r#"{"event":"web","tool":"web_search","about":"cats","name":"a"}"#,
            ),
            (
                TurnEventFields::Citation { title: "", url: "u" },
                None,
                r#"{"event":"citation","title":"","url":"u"}"#,
            ),
            (TurnEventFields::Form { server: "s" }, None, r#"{"event":"form","server":"s"}"#),
            (
                TurnEventFields::End(EndFields::Replies { replies: &[], error: None }),
                None,
                r#"{"event":"end","replies":[],"error":null}"#,
            ),
        ] {
            assert_eq!(serde_json::to_string(&EventDocument::new(event, name)).unwrap(), line);
        }
    }
}
