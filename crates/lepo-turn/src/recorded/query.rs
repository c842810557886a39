//! Looks a request up in a store: a pass over the names, then over the texts of the candidates.

use serde_json::Value;

use super::facts::{TOOL_CHOICE, forbids_calls};
use super::past_message::PastMessage;
use super::tool_hashes::ToolHashes;
use crate::body::Body;
use crate::group::selected;
use lepo_base::error::Result;
use lepo_base::role::Role;
use lepo_store::bubb::BubbName;
use lepo_store::conv::{Forest, Ix};
use lepo_store::store::{JournalIndex, JournalRecord, Store};

/// A store to search for answers.
pub struct RecordStore<'r> {
    /// The store.
    pub store: &'r Store,
    /// All bubbs of the store.
    pub forest: &'r Forest,
    /// The journal.
    pub facts: JournalIndex,
}

/// The options that a recorded answer must have.
#[derive(Debug, Clone, PartialEq)]
pub enum OptionsRule {
    /// Exactly these options.
    Are(Option<Value>),
    /// At least these options: the model's configured options are not known here.
    Have(Option<Value>),
}

/// The tools that a recorded answer must have.
#[derive(Debug, Clone, PartialEq)]
pub enum ToolsRule {
    /// These tools.
    Are(ToolHashes),
    /// No tool that the model could call: none was listed, or only for the server's cache.
    NoCall,
    /// Any tools: a server's tools are not known before it is started.
    Any,
}

/// A request to look up.
pub struct Query<'w> {
    /// The messages before the answer, the question last.
    pub history: &'w [PastMessage],
    /// Name of the model; `None` matches any model.
    pub model: Option<String>,
    /// The options.
    pub options: OptionsRule,
    /// Hash of the schema.
    pub schema: Option<String>,
    /// The tools.
    pub tools: ToolsRule,
}

/// A recorded answer to a question.
#[derive(Debug, Clone)]
pub(super) struct AnswerOnRecord {
    pub ix: Ix,
    pub question: Ix,
    /// The hidden messages between the two, oldest first.
    pub between: Vec<Ix>,
}

impl<'r> RecordStore<'r> {
    /// Opens the record of a store.
    pub fn new(store: &'r Store, forest: &'r Forest) -> RecordStore<'r> {
        RecordStore { store, forest, facts: store.journal().index() }
    }

    /// Returns the last messages of all equal paths, newest first.
    pub(super) fn matching(&self, history: &[PastMessage]) -> Result<Vec<Ix>> {
        let Some(last) = history.last() else { return Ok(Vec::new()) };
        // Messages with a repository's files do not count; they are hidden system messages.
        let counts = |role: Role, hidden: bool| u32::from(!(hidden && role == Role::System));
        let wanted_height: u32 = history.iter().map(|message| counts(message.role, message.hidden)).sum();
        let weight = |ix| {
            let name = self.forest.name(ix);
            counts(name.role, name.hidden)
        };
        let mut sums = self.forest.sums(weight);
        let mut found = Vec::new();
        for ix in self.forest.all().rev() {
            let name = self.forest.name(ix);
            let may = (name.role, name.hidden) == (last.role, last.hidden)
                && sums.value(ix) == wanted_height
                && (last.id == Some(name.id) || last.may_have(self.store.bubb_size(&name)));
            if may && self.path_matches(ix, history)? {
                found.push(ix);
            }
        }
        Ok(found)
    }

    /// Whether the path to a message is equal to `past`.
    fn path_matches(&self, ix: Ix, history: &[PastMessage]) -> Result<bool> {
        let mut remaining = history.iter().rev().peekable();
        let mut last = None;
        for ix in self.forest.up(ix) {
            let name = self.forest.name(ix);
            last = Some(name);
            let message = remaining.peek();
            if message.is_some_and(|message| message.id == Some(name.id)) {
                // An equal id implies an equal path.
                return Ok(true);
            }
            let message =
                message.filter(|message| (message.role, message.hidden) == (name.role, name.hidden));
            let message = message.filter(|message| message.may_have(self.store.bubb_size(&name)));
            if message.is_none() && !(name.hidden && name.role == Role::System) {
                return Ok(false);
            }
            let text = self.store.text(&name)?;
            match message {
                Some(message) if message.matches(&text) => {
                    remaining.next();
                }
                _ if Body::read_named(&name, &text).is_added() => {}
                _ => return Ok(false),
            }
        }
        Ok(remaining.next().is_none() && last.is_some_and(|root: BubbName| root.prev.is_none()))
    }

    /// Returns the answers to these questions, newest first. At most hidden messages are between a question
    /// and its answer.
    pub(super) fn answers(&self, questions: &[Ix]) -> Vec<AnswerOnRecord> {
        if questions.is_empty() {
            return Vec::new();
        }
        let is_answer = |ix: &Ix| {
            let name = self.forest.name(*ix);
            name.role == Role::Assistant && !name.hidden
        };
        let answer_on_record = |ix: Ix| {
            let mut between = Vec::new();
            for above in self.forest.up(ix).skip(1) {
                if questions.contains(&above) {
                    between.reverse();
                    return Some(AnswerOnRecord { ix, question: above, between });
                }
                if !self.forest.name(above).hidden {
                    return None;
                }
                between.push(above);
            }
            None
        };
        self.forest.all().rev().filter(is_answer).filter_map(answer_on_record).collect()
    }

    /// Whether the messages between question and answer belong to a turn: a planner's messages, and the name
    /// of the answering model in a group turn. A speech in a debate has other messages there, since it
    /// answers another request.
    pub(super) fn is_of_turn(&self, answer: &AnswerOnRecord, model: Option<&str>) -> Result<bool> {
        let mut wants_result = false;
        for (at, &ix) in answer.between.iter().enumerate() {
            let name = self.forest.name(ix);
            let text = self.store.text(&name)?;
            let is_last = at + 1 == answer.between.len();
            let body = Body::read_named(&name, &text);
            let asks = body.is_call();
            let fits = match name.role {
                _ if std::mem::replace(&mut wants_result, asks) => true,
                _ if asks => true,
                Role::Assistant => true,
                Role::System => {
                    matches!(body, Body::Choice(_) | Body::DroppedCalls)
                        || body.is_added()
                        || is_last && selected(&text).is_some_and(|name| Some(name) == model)
                }
                Role::User | Role::Tool => false,
            };
            if !fits {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

impl Query<'_> {
    /// Returns the first difference between the request of an answer and this one: its subject, the recorded
    /// value and the requested one.
    pub(super) fn difference(&self, fact: &JournalRecord) -> Option<(&'static str, String, String)> {
        let word = |word: &Option<String>| word.clone().unwrap_or_else(|| "none".into());
        let json = |value: &Option<Value>| value.as_ref().map_or_else(|| "none".into(), Value::to_string);
        if self.model.is_some() && self.model != fact.model {
            return Some(("the model", word(&fact.model), word(&self.model)));
        }
        let forbids = forbids_calls(fact.options.as_ref());
        let recorded = match &self.tools {
            ToolsRule::NoCall if forbids => without_tool_choice(fact.options.as_ref()),
            _ => fact.options.clone(),
        };
        let (differ, options) = match &self.options {
            OptionsRule::Are(options) => (*options != recorded, options),
            OptionsRule::Have(options) => {
                let mut given = options.iter().filter_map(Value::as_object).flatten();
                let has = |(name, value): (&String, &Value)| {
                    fact.options.as_ref().and_then(|options| options.get(name)) == Some(value)
                };
                (!given.all(has), options)
            }
        };
        if differ {
            return Some(("the options", json(&fact.options), json(options)));
        }
        if self.schema != fact.schema {
            return Some(("the schema", word(&fact.schema), word(&self.schema)));
        }
        match &self.tools {
            ToolsRule::Are(tools) if !tools.matches(fact.tools.as_ref()) => {
                Some(("the tools", json(&fact.tools), json(&tools.to_json())))
            }
            ToolsRule::NoCall if fact.tools.is_some() && !forbids => {
                Some(("the tools", json(&fact.tools), "none".into()))
            }
            _ if forbids && self.tools != ToolsRule::NoCall => {
                Some(("the tools", "listed, and not to be called".into(), "to be called".into()))
            }
            _ => None,
        }
    }
}

/// Returns the options of a request that differs from one without tools in nothing else.
fn without_tool_choice(options: Option<&Value>) -> Option<Value> {
    let mut options = options?.as_object()?.clone();
    options.remove(TOOL_CHOICE);
    (!options.is_empty()).then_some(Value::Object(options))
}
