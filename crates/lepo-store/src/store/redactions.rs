//! The journal's lines about redacted messages: which copy replaces which message, so that a repeated import does not
//! bring the original back.

use std::collections::HashMap;
use std::io::{self, BufRead, BufReader};

use memchr::memmem;
use serde::{Deserialize, Serialize};

use super::dir::now;
use super::handle::Store;
use super::journal::{JOURNAL, Journal};
use super::proof::{REDACTED, Statement};
use super::replacement::MovedBubb;
use crate::bubb::BubbId;
use lepo_base::error::Result;

/// Records that the copy `bubb` replaces the message whose keyed hash is `was`.
#[derive(Serialize, Deserialize)]
struct RedactedLine {
    #[serde(default)]
    time: u64,
    bubb: String,
    what: String,
    was: String,
}

/// The copies that replace redacted messages.
pub struct Redactions<'s> {
    store: &'s Store,
    /// By the keyed hash of the message's id.
    copies: HashMap<String, BubbId>,
}

impl Redactions<'_> {
    /// Returns the copy that replaces a message; `None` if the message was never redacted here.
    pub fn copy_of(&self, id: BubbId) -> Option<BubbId> {
        if self.copies.is_empty() {
            return None;
        }
        self.copies.get(&self.store.proof(Statement::Redacted(id))?).copied()
    }
}

impl<'s> Journal<'s> {
    pub fn redactions(&self) -> Redactions<'s> {
        let has_word = memmem::Finder::new(b"\"what\":\"redacted\"");
        let mut copies = HashMap::new();
        if let Ok(journal) = self.store.dir.open_file(JOURNAL) {
            for line in BufReader::new(journal).split(b'\n').map_while(io::Result::ok) {
                let told =
                    has_word.find(&line).and_then(|_| serde_json::from_slice::<RedactedLine>(&line).ok());
                let told = told.filter(|told| told.what == REDACTED);
                copies.extend(told.and_then(|told| Some((told.was, BubbId::parse(told.bubb.as_bytes())?))));
            }
        }
        Redactions { store: self.store, copies }
    }

    /// Records redacted messages, durable when this returns. Repeating it adds no line, and without the user's key no
    /// line can be written.
    pub fn add_redactions(&self, moved: &[MovedBubb]) -> Result<()> {
        let known = self.redactions();
        let mut lines = Vec::new();
        for MovedBubb { from, to } in moved.iter().filter(|moved| moved.from.id != moved.to.id) {
            let Some(was) = self.store.proof(Statement::Redacted(from.id)) else { continue };
            if known.copies.contains_key(&was) {
                continue;
            }
            let line = RedactedLine { time: now(), bubb: to.id.to_string(), what: REDACTED.into(), was };
            if serde_json::to_writer(&mut lines, &line).is_ok() {
                lines.push(b'\n');
            }
        }
        if lines.is_empty() { Ok(()) } else { self.store.dir.append_durably(JOURNAL, &lines) }
    }
}
