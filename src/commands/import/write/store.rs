//! Imports the content of another store unchanged. Requests come last, and only if they will not be
//! pending here.

use std::collections::HashSet;

use super::ImportWriter;
use crate::import::{StoreCopy, is_request};
use lepo_base::error::Result;
use lepo_import::SkipCounts;
use lepo_store::bubb::{BubbId, BubbName};
use lepo_store::conv::Forest;

impl ImportWriter<'_> {
    /// Adds the bubbs of another store; returns the omitted requests: their results or successors
    /// cannot be copied, so that here they would be pending.
    pub fn add_store(
        &mut self,
        from: &StoreCopy,
        branches: bool,
        tally: &mut SkipCounts,
    ) -> Result<Vec<BubbId>> {
        if !from.bubbs.is_empty() {
            self.ensure_store()?;
        }
        let (mut missing, mut requests) = (HashSet::new(), Vec::new());
        let steering = from.bubbs.iter().filter(|name| name.is_steering()).map(|name| name.id);
        let proven = from.store.journal().proven(&steering.collect());
        for name in &from.bubbs {
            self.stop.check()?;
            if name.prev.is_some_and(|prev| missing.contains(&prev)) {
                missing.insert(name.id);
                continue;
            }
            if self.has(name.id)? {
                self.existing += 1;
                continue;
            }
            let Some(bytes) = from.proven(name)? else {
                tally.skip("edited message, with those that follow it", 1);
                missing.insert(name.id);
                continue;
            };
            let (here, is_redacted) = self.current_name(*name, &bytes)?;
            if is_redacted {
                self.existing += 1;
                continue;
            }
            if proven.contains(&name.id) {
                self.own_ids.insert(here.id);
            }
            match is_request(name, &bytes) {
                true => requests.push(*name),
                false => self.copy_message(from, name, &bytes, tally)?,
            }
        }
        let waiting = self.add_requests(from, requests, &missing, tally)?;
        if branches {
            let kept = from.branches.iter().filter(|(_, id)| !missing.contains(id) && !waiting.contains(id));
            self.branches.extend(kept.cloned());
        }
        Ok(waiting)
    }

    /// Adds requests after publishing everything that followed them: an import that ends earlier leaves none
    /// pending.
    fn add_requests(
        &mut self,
        from: &StoreCopy,
        requests: Vec<BubbName>,
        missing: &HashSet<BubbId>,
        tally: &mut SkipCounts,
    ) -> Result<Vec<BubbId>> {
        if requests.is_empty() {
            return Ok(Vec::new());
        }
        self.flush()?;
        let taken = from.bubbs.iter().filter(|name| !missing.contains(&name.id)).copied();
        let forest = Forest::new(taken.collect());
        let asked: HashSet<BubbId> = requests.iter().map(|name| name.id).collect();
        let waits = forest.pending(|ix| Some(forest.name(ix).id).filter(|id| asked.contains(id)));
        let waits: Vec<BubbId> = waits.into_iter().map(|(_, id)| id).collect();
        for name in requests.iter().filter(|name| !waits.contains(&name.id)) {
            self.stop.check()?;
            if let Some(bytes) = from.proven(name)? {
                self.copy_message(from, name, &bytes, tally)?;
            }
        }
        Ok(waits)
    }

    fn copy_message(
        &mut self,
        from: &StoreCopy,
        name: &BubbName,
        bytes: &[u8],
        tally: &mut SkipCounts,
    ) -> Result<()> {
        let mut blobs = Vec::new();
        for hash in from.store.blobs_named_by(name)? {
            if let Some((mut file, _)) = from.store.open_blob(&hash)? {
                let mut bytes = Vec::new();
                match std::io::Read::read_to_end(&mut file, &mut bytes) {
                    Ok(_) => blobs.push(bytes),
                    Err(_) => tally.skip("unreadable blob", 1),
                }
            }
        }
        let (here, is_redacted) = self.current_name(*name, bytes)?;
        match !is_redacted && self.put(here, bytes, &blobs)? {
            true => self.imported += 1,
            false => self.existing += 1,
        }
        if let Some(fact) = from.facts.get(&name.id) {
            self.imports.add_fact(here.id, fact.model.as_deref(), fact.input, fact.output);
        }
        self.flush_if_many()
    }
}
