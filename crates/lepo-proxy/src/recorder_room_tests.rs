//! Stores and conversations for tests of the recorder.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use lepo_store::bubb::{BubbId, BubbName};
use lepo_store::store::{JournalRecord, Prover, Store};
use lepo_turn::Masking;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::recorder::ProxyRecorder;
use crate::recording::{ExchangeEnd, RecordedExchange};
use crate::request::ProxyRequest;
use crate::wire::ProxyWire;

struct PlainProver;

impl Prover for PlainProver {
    fn keyed_hash(&self, parts: &[&[u8]]) -> Option<String> {
        Some(parts.len().to_string())
    }
}

/// A store in a folder of its own, and a recorder for it.
pub struct Room {
    pub dir: TempDir,
    pub recorder: Arc<ProxyRecorder>,
}

impl Room {
    pub fn new() -> Room {
        let dir = TempDir::new().unwrap();
        Store::make(dir.path(), Path::new(".lepo"), "").unwrap();
        Room { recorder: recorder(&dir), dir }
    }

    /// A store with the user's key, by which lepo's own messages are proven.
    pub fn proving() -> Room {
        let dir = TempDir::new().unwrap();
        let (store, _) = Store::make(dir.path(), Path::new(".lepo"), "").unwrap();
        let store = store.with_prover(Arc::new(PlainProver));
        let recorder = Arc::new(ProxyRecorder::new(Arc::new(store), Arc::new(Masking::shapes_only())));
        Room { recorder, dir }
    }

    /// Begins again with an empty memory, as another process would.
    pub fn reopen(&mut self) {
        self.recorder = recorder(&self.dir);
    }

    pub fn store(&self) -> &Store {
        self.recorder.store()
    }

    /// Sends a request and keeps a whole answer to it; returns the new messages and what was kept.
    pub fn exchange(&self, wire: ProxyWire, body: &Value, answer: &Value) -> (usize, RecordedExchange) {
        self.exchange_of(wire, body, 200, &answer.to_string(), ExchangeEnd::Whole)
    }

    pub fn exchange_of(
        &self,
        wire: ProxyWire,
        body: &Value,
        status: u16,
        answer: &str,
        end: ExchangeEnd,
    ) -> (usize, RecordedExchange) {
        let request = ProxyRequest::read(wire, "/v1", body.to_string().as_bytes()).unwrap();
        let mut recording = self.recorder.record(&request, Some("test/1")).unwrap();
        let new = recording.new_messages();
        let media = if answer.starts_with("data:") { "text/event-stream" } else { "application/json" };
        recording.start_answer(status, Some(media), None);
        for piece in answer.as_bytes().chunks(7) {
            recording.write(piece).unwrap();
        }
        (new, recording.finish(end).unwrap())
    }

    pub fn names(&self) -> Vec<BubbName> {
        let forest = self.store().forest().unwrap();
        forest.all().map(|ix| forest.name(ix)).collect()
    }

    /// Formats the forest as indented lines, oldest first: `u0 text`.
    pub fn tree(&self) -> String {
        let names = self.names();
        let mut lines = Vec::new();
        let mut stack: Vec<(Option<BubbId>, usize, Option<BubbName>)> = vec![(None, 0, None)];
        while let Some((id, depth, name)) = stack.pop() {
            if let Some(name) = name {
                let text = self.store().text(&name).unwrap().replace('\n', "|");
                lines.push(format!("{}{} {text}", " ".repeat(depth - 1), name.tag()));
            }
            let mut children: Vec<BubbName> = names.iter().copied().filter(|name| name.prev == id).collect();
            children.sort_by_key(|name| std::cmp::Reverse(name.id));
            stack.extend(children.into_iter().map(|name| (Some(name.id), depth + 1, Some(name))));
        }
        lines.join("\n")
    }

    pub fn facts(&self, id: BubbId) -> JournalRecord {
        self.store().journal().index().get(id).unwrap()
    }

    /// Returns the texts of messages.
    pub fn texts(&self, ids: &[BubbId]) -> Vec<String> {
        let names: BTreeMap<BubbId, BubbName> =
            self.names().into_iter().map(|name| (name.id, name)).collect();
        ids.iter().map(|id| self.store().text(&names[id]).unwrap().replace('\n', "|")).collect()
    }
}

fn recorder(dir: &TempDir) -> Arc<ProxyRecorder> {
    let store = Store::at(dir.path(), Path::new(".lepo")).unwrap().unwrap();
    Arc::new(ProxyRecorder::new(Arc::new(store), Arc::new(Masking::shapes_only())))
}

/// Messages of Chat Completions: `s text / u text / a text / c id name / r id text`.
pub fn messages(line: &str) -> Vec<Value> {
    line.split(" / ")
        .map(|message| {
            let (kind, text) = message.split_once(' ').unwrap();
            match kind {
                "s" => json!({"role": "system", "content": text}),
                "u" => json!({"role": "user", "content": text}),
                "a" => json!({"role": "assistant", "content": text}),
                "c" => {
                    let (id, name) = text.split_once(' ').unwrap();
                    json!({"role": "assistant", "content": null, "tool_calls": [{"id": id, "type": "function",
                        "function": {"name": name, "arguments": "{\"a\":1}"}}]})
                }
                "r" => {
                    let (id, text) = text.split_once(' ').unwrap();
                    json!({"role": "tool", "tool_call_id": id, "content": text})
                }
                other => panic!("{other}"),
            }
        })
        .collect()
}

pub fn request(line: &str) -> Value {
    json!({"model": "m", "messages": messages(line)})
}

/// An answer of Chat Completions with this message.
pub fn answer(line: &str) -> Value {
    let message = messages(line).pop().unwrap();
    let finish = if message["tool_calls"].is_array() { "tool_calls" } else { "stop" };
    json!({"id": "chatcmpl-1", "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        "usage": {"prompt_tokens": 5, "completion_tokens": 2}})
}
