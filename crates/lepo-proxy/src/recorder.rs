//! Records requests: finds the path that a request continues, and writes its new messages before it is sent.

use std::sync::Arc;

use crate::cassette::ProxyCassette;
use crate::proxy_store::ProxyStore;
use crate::recording::{ProxyRecording, RequestPosition};
use crate::request::ProxyRequest;
use crate::request_notes::RequestNotes;
use crate::tree::{
    FoundPath, IgnoredText, NextPart, PartKind, PathHash, PathPoint, RequestLayout, RequestPart, StoreIndex,
    SystemText,
};
use lepo_base::error::Result;
use lepo_base::role::Role;
use lepo_store::bubb::{BubbId, BubbName};
use lepo_store::store::Store;
use lepo_turn::Masking;

/// Writes the conversations of other programs to a store. All connections share one.
pub struct ProxyRecorder {
    shared: Arc<ProxyStore>,
}

impl ProxyRecorder {
    /// Creates a recorder, which lives as long as the process.
    pub fn new(store: Arc<Store>, masking: Arc<Masking>) -> ProxyRecorder {
        ProxyRecorder { shared: Arc::new(ProxyStore::new(store, masking)) }
    }

    /// Returns the store.
    pub fn store(&self) -> &Store {
        self.shared.store
    }

    /// Returns the recorded answers of the store; matches of `ignored` do not count where requests are compared.
    pub fn cassette(&self, ignored: IgnoredText) -> ProxyCassette {
        ProxyCassette::new(self.shared.clone(), ignored)
    }

    /// Writes the new messages of a request, durably. `client` names the program, by the first word of its User-Agent.
    pub fn record(&self, request: &ProxyRequest, client: Option<&str>) -> Result<ProxyRecording> {
        let shared = &self.shared;
        let layout = RequestLayout::new(request);
        let (hashes, system) = shared.hashes(&layout);
        let mut index = shared.index();
        index.read_on(shared.store)?;
        let mut is_unknown_response = false;
        let mut base = request.previous_response().and_then(|id| {
            let found = index.response(id);
            is_unknown_response = found.is_none();
            found
        });
        let mut writer = RequestWriter {
            shared,
            index: &mut index,
            request,
            layout: &layout,
            hashes: &hashes,
            system,
            found: FoundPath::default(),
        };
        if writer.find(base).is_some_and(|tip| writer.is_gone(tip)) {
            // Messages were deleted: what is known of the store is read again.
            writer.index.forget();
            writer.index.read_on(shared.store)?;
            base = request.previous_response().and_then(|id| writer.index.response(id));
            writer.find(base);
        }
        let position = writer.write()?;
        drop(index);
        let notes = RequestNotes::new(request, client, shared.masking, is_unknown_response);
        Ok(ProxyRecording::new(self.shared.clone(), request, position, notes))
    }
}

/// Writes the new parts of one request.
struct RequestWriter<'w> {
    shared: &'w ProxyStore,
    index: &'w mut StoreIndex,
    request: &'w ProxyRequest,
    layout: &'w RequestLayout,
    hashes: &'w [Option<PathHash>],
    system: Option<PathHash>,
    found: FoundPath,
}

impl<'w> RequestWriter<'w> {
    /// Finds the path that the request continues; returns the message after which it does.
    fn find(&mut self, base: Option<PathPoint>) -> Option<BubbId> {
        let known = base.and_then(|base| self.index.paths.system(base));
        // Without a system text of its own, what continues a response does not change it.
        let system = self.system.or(known.map(|system| system.hash));
        self.found = self.index.paths.find(base, self.hashes, system);
        self.index.paths.tip(self.found.point?)
    }

    fn is_gone(&self, tip: BubbId) -> bool {
        let name = self.index.name(tip);
        name.is_none_or(|name| self.shared.store.bubb_size(&name).is_none())
    }

    /// Writes the new parts in order, each durably.
    fn write(mut self) -> Result<RequestPosition> {
        let was_known = self.index.is_current(self.shared.store);
        let written = self.write_parts();
        self.index.note_own_change(self.shared.store, was_known);
        written
    }

    fn write_parts(&mut self) -> Result<RequestPosition> {
        let mut point = self.found.point;
        let mut tip = point.and_then(|point| self.index.paths.tip(point));
        let mut system = point.and_then(|point| self.index.paths.system(point));
        let mut calls = self.known_calls();
        let new: Vec<(usize, &RequestPart)> =
            self.layout.parts.iter().enumerate().skip(self.found.parts).collect();
        let mut is_system_new = false;
        if let Some(hash) = self.system.filter(|hash| system.is_none_or(|system| system.hash != *hash)) {
            let text = self.layout.system.as_deref().unwrap_or_default();
            let name = self.add((Role::System, true), tip, text)?;
            let changed = SystemText { id: name.id, hash };
            is_system_new = true;
            system = Some(changed);
            point = Some(match point {
                None => {
                    tip = Some(name.id);
                    self.index.paths.add_root(changed)
                }
                Some(before) => {
                    let next = new.iter().find(|(index, _)| self.hash(*index).is_some());
                    let is_on_spine = match next {
                        Some((_, part)) => matches!(part.kind, PartKind::Visible(_)),
                        None => !self.index.paths.is_in_tool_loop(before),
                    };
                    if is_on_spine {
                        tip = Some(name.id);
                    }
                    self.index.paths.change_system(before, changed, is_on_spine)
                }
            });
            self.index.note_name(name, point.filter(|_| name.prev.is_none()));
        } else if self.system.is_none() && self.request.previous_response().is_none() {
            system = None;
        }
        let mut messages: Vec<usize> = Vec::new();
        for (index, part) in new {
            for blob in &part.blobs {
                self.shared.store.write_blob(&mut blob.as_slice())?;
            }
            let call = || match part.call.as_str() {
                "" => calls.last().map(|(_, bubb)| *bubb),
                id => calls.iter().rev().find(|(known, _)| *known == id).map(|(_, bubb)| *bubb),
            };
            let before = || self.found.point.and_then(|point| self.index.paths.call(point, &part.call));
            let prev = match part.kind {
                PartKind::Output => call().or_else(before).or(tip),
                _ => tip,
            };
            let name = self.add(part.kind.tag(), prev, &part.text)?;
            if part.kind == PartKind::Call {
                calls.push((&part.call, name.id));
            }
            if let PartKind::Visible(_) = part.kind {
                tip = Some(name.id);
            }
            let hash = self.hash(index);
            if hash.is_some() {
                let next =
                    NextPart { kind: part.kind, hash, bubb: name.id, system, call: &part.call, answer: None };
                point = Some(self.index.paths.add(point, next));
                if messages.last() != Some(&part.message) {
                    messages.push(part.message);
                }
            }
            self.index.note_name(name, point);
        }
        let after = point.map(|point| self.index.paths.after(point)).unwrap_or_default();
        let new_messages = messages.len() + usize::from(is_system_new);
        Ok(RequestPosition { point, tip, system, after, new_messages })
    }

    fn hash(&self, index: usize) -> Option<PathHash> {
        self.hashes.get(index).copied().flatten()
    }

    /// Returns the calls of the known parts, each with its id and its message.
    fn known_calls(&self) -> Vec<(&'w str, BubbId)> {
        let Some(point) = self.found.point else { return Vec::new() };
        let parts = self.layout.parts.iter().zip(self.hashes).take(self.found.parts);
        let counted = parts.filter(|(_, hash)| hash.is_some()).map(|(part, _)| part);
        let counted: Vec<&RequestPart> = counted.collect();
        let pairs = counted.into_iter().rev().zip(self.index.paths.messages_up(point));
        let calls = pairs.filter(|(part, _)| part.kind == PartKind::Call);
        let mut calls: Vec<(&str, BubbId)> = calls.map(|(part, bubb)| (part.call.as_str(), bubb)).collect();
        calls.reverse();
        calls
    }

    fn add(&self, tag: (Role, bool), prev: Option<BubbId>, text: &str) -> Result<BubbName> {
        self.shared.write(tag, prev, self.index.next_time(), text)
    }
}
