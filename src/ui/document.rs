//! The documents of `--json`: one object for a turn, an array of them for `--parallel`, each with its `name`, and
//! one object with the speeches for a debate. The format is stable and documented in lepo-do(1).

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::view::{ErrorFields, IdText, UsageFields};
use lepo_base::error::Error;
use lepo_base::hint::HintTarget;
use lepo_store::store::Store;
use lepo_turn::{GroupOutcome, Masking, Outcome, Speech, ToolUse};

/// A turn.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "turn")]
pub struct TurnDocument<'d> {
    /// The conversation so far, oldest first.
    conv: Vec<IdText>,
    /// The question.
    user: Option<IdText>,
    answer: Option<AnswerFields<'d>>,
    tools: Vec<ToolUseFields<'d>>,
    /// A request that is waiting for consent.
    pending: Option<IdText>,
    error: Option<ErrorFields>,
    /// The id of the recorded answer; nothing was asked or written.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "IdText")]
    recorded: Option<IdText>,
    /// With --debate, in order; the answer is the conclusion.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Vec<SpeechFields>")]
    speeches: Option<Vec<SpeechFields<'d>>>,
    /// With --debate, the number of rounds begun.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u32")]
    rounds: Option<u32>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "answer")]
struct AnswerFields<'d> {
    id: IdText,
    text: String,
    model: Option<&'d str>,
    usage: AnswerUsage,
    /// Milliseconds from the request to the end.
    ms: u64,
    /// With --schema, the parsed JSON of the text.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Value")]
    value: Option<Value>,
    /// max_tokens or window: the limit that cut the answer off; absent if none did.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    cut: Option<&'static str>,
}

/// Tokens as counted by the provider, or null.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "answer_usage")]
struct AnswerUsage {
    #[serde(flatten)]
    tokens: UsageFields,
    /// The number of searches and fetches made by the provider's server; absent if none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u64")]
    web: Option<u64>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "tool")]
struct ToolUseFields<'d> {
    /// The id of the request; with --run, of the result.
    bubb: IdText,
    /// command, mcp, run, or agent for a tool that an agent called on its own.
    kind: &'static str,
    #[schemars(with = "Map<String, Value>")]
    request: &'d Value,
    /// The id of the result.
    result: Option<IdText>,
    exit: Option<i32>,
}

/// The document of a group turn.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
#[schemars(inline)]
pub enum GroupDocument<'d> {
    /// With --parallel, the turns, each with its name.
    Polled(Vec<ReplyDocument<'d>>),
    /// With --debate.
    Debated(Box<TurnDocument<'d>>),
}

#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
#[schemars(rename = "reply")]
pub enum ReplyDocument<'d> {
    Reply {
        /// The participant.
        name: &'d str,
        #[serde(flatten)]
        turn: TurnDocument<'d>,
    },
    /// With --judge, the verdict; always last.
    Verdict { judge: TurnDocument<'d> },
    /// The failure of all, if none was asked.
    Unasked {
        #[serde(flatten)]
        turn: TurnDocument<'d>,
        name: (),
    },
}

#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
struct SpeechFields<'d> {
    name: &'d str,
    id: IdText,
    text: String,
}

impl<'d> TurnDocument<'d> {
    pub fn new(store: &Store, outcome: &'d Outcome, at: HintTarget<'_>) -> TurnDocument<'d> {
        TurnDocument::with_text(store, outcome, None, at)
    }

    pub fn unanswered(outcome: &'d Outcome, error: Option<&Error>, at: HintTarget<'_>) -> TurnDocument<'d> {
        TurnDocument {
            conv: outcome.conv.iter().copied().map(IdText).collect(),
            user: outcome.user.map(IdText),
            answer: None,
            tools: outcome.tools.iter().map(ToolUseFields::new).collect(),
            pending: outcome.pending.map(IdText),
            error: error.map(|error| ErrorFields::new(error, at)),
            recorded: outcome.recorded.map(IdText),
            speeches: None,
            rounds: None,
        }
    }

    /// Creates the document of a turn of a group, whose answer may have masks of any of its turns.
    fn unmasked(
        store: &Store,
        masking: &Masking,
        outcome: &'d Outcome,
        at: HintTarget<'_>,
    ) -> TurnDocument<'d> {
        let unmasked = outcome.answer.and_then(|answer| masking.unmasked_text(answer.name.id));
        TurnDocument::with_text(store, outcome, unmasked, at)
    }

    /// Creates the document of a turn, with the unmasked text of its answer if it is known.
    fn with_text(
        store: &Store,
        outcome: &'d Outcome,
        unmasked: Option<String>,
        at: HintTarget<'_>,
    ) -> TurnDocument<'d> {
        let answer = AnswerFields::new(store, outcome, unmasked);
        TurnDocument { answer, ..TurnDocument::unanswered(outcome, outcome.error.as_ref(), at) }
    }
}

impl<'d> AnswerFields<'d> {
    /// Returns `None` without an answer, or if its message cannot be read.
    fn new(store: &Store, outcome: &'d Outcome, unmasked: Option<String>) -> Option<AnswerFields<'d>> {
        let answer = outcome.answer?;
        let given = outcome.as_given(store.text(&answer.name).ok()?);
        let parsed = |text: &str| serde_json::from_str(text).ok().filter(|_| outcome.is_json);
        let value = unmasked.as_deref().and_then(parsed).or_else(|| parsed(&given));
        let tokens = UsageFields { input: answer.usage.input, output: answer.usage.output };
        Some(AnswerFields {
            id: IdText(answer.name.id),
            text: unmasked.unwrap_or(given),
            model: outcome.model.as_deref(),
            usage: AnswerUsage { tokens, web: answer.usage.web },
            ms: answer.ms,
            value,
            cut: answer.cut,
        })
    }
}

impl<'d> ToolUseFields<'d> {
    fn new(used: &'d ToolUse) -> ToolUseFields<'d> {
        ToolUseFields {
            bubb: IdText(used.bubb),
            kind: used.kind,
            request: &used.request,
            result: used.result.map(IdText),
            exit: used.exit,
        }
    }
}

impl<'d> GroupDocument<'d> {
    /// Creates the document of a group that was not asked.
    pub fn unasked(turn: TurnDocument<'d>) -> GroupDocument<'d> {
        GroupDocument::Polled(vec![ReplyDocument::Unasked { turn, name: () }])
    }

    /// Creates the document with all texts unmasked.
    pub fn new(
        store: &Store,
        masking: &Masking,
        outcome: &'d GroupOutcome,
        at: HintTarget<'_>,
    ) -> GroupDocument<'d> {
        match outcome {
            GroupOutcome::Polled(polled) => {
                let replies = polled.replies.iter().map(|(name, outcome)| ReplyDocument::Reply {
                    name,
                    turn: TurnDocument::unmasked(store, masking, outcome, at),
                });
                let verdict = polled.judge.iter().map(|(_, outcome)| ReplyDocument::Verdict {
                    judge: TurnDocument::new(store, outcome, at),
                });
                GroupDocument::Polled(replies.chain(verdict).collect())
            }
            GroupOutcome::Debated(debated) => {
                let speeches =
                    debated.speeches.iter().map(|speech| SpeechFields::new(store, masking, speech));
                GroupDocument::Debated(Box::new(TurnDocument {
                    speeches: Some(speeches.collect()),
                    rounds: Some(debated.rounds),
                    ..TurnDocument::unmasked(store, masking, &debated.outcome, at)
                }))
            }
        }
    }
}

impl<'d> SpeechFields<'d> {
    fn new(store: &Store, masking: &Masking, speech: &'d Speech) -> SpeechFields<'d> {
        let unmasked = masking.unmasked_text(speech.bubb.id);
        let text = unmasked.unwrap_or_else(|| store.text(&speech.bubb).unwrap_or_default());
        SpeechFields { name: &speech.name, id: IdText(speech.bubb.id), text }
    }
}
