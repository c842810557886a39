//! Messages that keep what is taken out of others, and the history of the prompt.

use std::collections::BTreeSet;
use std::path::PathBuf;

use lepo_base::env::Env;
use lepo_base::error::Result;
use lepo_base::hint::{At, Hint};
use lepo_store::bubb::{BubbId, counted};
use lepo_store::store::{Moved, Store};
use lepo_turn::config::Paths;
use memchr::memmem::Finder;

use super::plan::Plan;
use super::wish::Wish;
use crate::commands::searched::search;
use crate::repl::history_file;
use crate::term::{Line, say};

/// Shorter words stand in other messages by chance.
const SHORTEST: usize = 8;

/// So many messages are named.
const NAMED: usize = 8;

/// Where else the same stands.
#[derive(Default)]
pub struct Remains {
    /// Messages with a secret that is taken out of others.
    secrets: BTreeSet<BubbId>,
    /// Messages with the words that another message loses.
    words: BTreeSet<BubbId>,
    /// The history of the prompt, if it has one of these.
    history: Option<PathBuf>,
}

impl Remains {
    /// Searches the messages that a plan leaves as they are. With `--all` no secret stays, so that replaced words alone are
    /// searched for.
    pub fn of(store: &Store, wish: &Wish, plan: &Plan) -> Result<Remains> {
        let mut remains = Remains::default();
        let words: Vec<&[u8]> = plan
            .lost_words
            .iter()
            .map(|words| words.trim_ascii())
            .filter(|words| words.len() >= SHORTEST)
            .collect();
        let is_in =
            |finders: &[Finder<'_>], bytes: &[u8]| finders.iter().any(|one| one.find(bytes).is_some());
        let secrets: BTreeSet<&[u8]> = plan.secrets.iter().map(Vec::as_slice).collect();
        let secrets: Vec<Finder<'_>> = secrets.into_iter().map(Finder::new).collect();
        let words: Vec<Finder<'_>> = words.into_iter().map(Finder::new).collect();
        if !words.is_empty() || !secrets.is_empty() && !wish.all {
            search(store, &mut |file, bytes| {
                let (Some(name), None) = (file.message, file.of) else { return };
                if plan.changed.contains_key(&name.id) {
                    return;
                }
                if !wish.all && is_in(&secrets, &bytes) {
                    remains.secrets.insert(name.id);
                } else if is_in(&words, &bytes) {
                    remains.words.insert(name.id);
                }
            })?;
        }
        if let Ok(paths) = Paths::from_env(&Env::from_process()) {
            let path = history_file(&paths.state);
            let has = std::fs::read(&path).is_ok_and(|all| is_in(&secrets, &all) || is_in(&words, &all));
            remains.history = has.then_some(path);
        }
        Ok(remains)
    }

    /// Takes note of the new ids.
    pub fn follow(&mut self, moved: &[Moved]) {
        for Moved { from, to } in moved {
            for ids in [&mut self.secrets, &mut self.words] {
                if ids.remove(&from.id) {
                    ids.insert(to.id);
                }
            }
        }
    }

    /// The history of the prompt, in words.
    pub fn held(&self) -> Option<String> {
        self.history.as_ref().map(|path| format!("the history of the prompt, {}", path.display()))
    }

    /// As a part of the document.
    pub fn document(&self) -> [Vec<String>; 2] {
        [&self.secrets, &self.words].map(|ids| ids.iter().map(ToString::to_string).collect())
    }

    /// Says where else it stands, with the command that takes it out there.
    pub fn tell(&self, at: At<'_>) {
        let named = |ids: &BTreeSet<BubbId>| {
            ids.iter().take(NAMED).map(ToString::to_string).collect::<Vec<_>>().join(" ")
        };
        if !self.secrets.is_empty() {
            let told = format!(
                "{} with the same secret: lepo rm --redact {}",
                counted(self.secrets.len(), "other message"),
                named(&self.secrets)
            );
            say(&Line::note(Hint::from(told).told(at)));
        }
        if !self.words.is_empty() {
            let count = counted(self.words.len(), "other message");
            say(&Line::note(format!("{count} with the words that were replaced: {}", named(&self.words))));
        }
    }
}
