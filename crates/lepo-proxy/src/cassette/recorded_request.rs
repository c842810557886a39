//! The compared facts of a request, and its first difference from a recorded one.

use lepo_base::role::Role;
use lepo_store::store::JournalRecord;
use serde_json::Value;

use crate::proxy_store::ProxyStore;
use crate::request::ProxyRequest;
use crate::request_notes::RequestNotes;
use crate::tree::{PartKind, PathHash, RequestLayout, StoreIndex};

/// The first thing in which a request differs from a recorded one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestDifference {
    /// The subject, like `the model`.
    pub subject: &'static str,
    /// The recorded value.
    pub recorded: String,
    /// The value of the request.
    pub requested: String,
}

/// A request to look up.
pub struct RecordedRequest {
    /// Its parts after the response that it continues, with their texts as they would be written.
    pub parts: Vec<(PartKind, String)>,
    /// The hash of the path before each part, and of the whole path at the end.
    pub paths: Vec<PathHash>,
    /// The hash of the system prompt in force.
    pub system: Option<PathHash>,
    notes: RequestNotes,
}

impl RecordedRequest {
    /// Reads a request; `None` if it continues a response that the store does not have.
    pub fn new(request: &ProxyRequest, store: &ProxyStore, index: &StoreIndex) -> Option<RecordedRequest> {
        let base = match request.previous_response() {
            Some(id) => Some(index.response(id)?),
            None => None,
        };
        let layout = RequestLayout::new(request);
        let mut path = index.paths.hash(base);
        let (mut parts, mut paths) = (Vec::new(), Vec::new());
        for part in &layout.parts {
            let text = store.masked(&part.text);
            if let Some(hash) = index.part_hash(part.kind, &text) {
                paths.push(path);
                path = path.with(hash);
                parts.push((part.kind, text));
            }
        }
        paths.push(path);
        let own = layout.system.as_deref().and_then(|system| index.system_hash(&store.masked(system)));
        let inherited = || index.paths.system(base?).and_then(|system| index.counted_system(system.hash));
        let system = own.or_else(inherited);
        let notes = RequestNotes::new(request, None, store.masking, false);
        Some(RecordedRequest { parts, paths, system, notes })
    }

    /// Returns the hash of the whole path.
    pub fn path(&self) -> PathHash {
        self.paths.last().copied().unwrap_or_default()
    }

    /// Returns the beginning of the answer, which the client has already.
    pub fn prefill(&self) -> Option<&str> {
        self.notes.prefill.as_deref()
    }

    /// Returns the first difference from the request of an answer with these facts and this system prompt.
    pub fn difference(&self, facts: &JournalRecord, system: Option<PathHash>) -> Option<RequestDifference> {
        let notes = &self.notes;
        let word = |word: &Option<String>| word.clone().unwrap_or_else(|| "none".into());
        let json = |value: &Option<Value>| value.as_ref().map_or_else(|| "none".into(), Value::to_string);
        let differs = |subject, recorded, requested| Some(RequestDifference { subject, recorded, requested });
        let model = Some(notes.model.clone());
        if facts.model != model {
            return differs("the model", word(&facts.model), notes.model.clone());
        }
        if system != self.system {
            let has = |system: Option<PathHash>| if system.is_some() { "one" } else { "none" }.to_string();
            return match system.is_some() && self.system.is_some() {
                true => differs("the system prompt", "another one".into(), "this one".into()),
                false => differs("the system prompt", has(system), has(self.system)),
            };
        }
        if facts.options != notes.options {
            return differs("the options", json(&facts.options), json(&notes.options));
        }
        if facts.schema != notes.schema {
            return differs("the schema", word(&facts.schema), word(&notes.schema));
        }
        if facts.tools != notes.tools {
            return differs("the tools", json(&facts.tools), json(&notes.tools));
        }
        match facts.prefill == notes.prefill {
            true => None,
            false => differs("the beginning of the answer", word(&facts.prefill), word(&notes.prefill)),
        }
    }

    /// Names the part at this index, with its number among parts of the same kind: `question 2`.
    pub fn label(&self, at: usize) -> String {
        let Some((kind, _)) = self.parts.get(at) else { return "the request".to_string() };
        let number = self.parts.iter().take(at + 1).filter(|(other, _)| other == kind).count();
        let noun = match kind {
            PartKind::Visible(Role::User) => "question",
            PartKind::Visible(_) => "answer",
            PartKind::System => "system text",
            PartKind::Thinking => "thinking",
            PartKind::Call => "call",
            PartKind::Output => "result",
        };
        format!("{noun} {number}")
    }
}
