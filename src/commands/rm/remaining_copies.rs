//! Finds other messages with the same secrets or text, and the prompt's history.

use std::collections::BTreeSet;
use std::path::PathBuf;

use lepo_base::error::Result;
use lepo_base::hint::{Hint, HintTarget};
use lepo_store::bubb::{BubbId, plural};
use lepo_store::store::{MovedBubb, Store};
use memchr::memmem::Finder;

use super::plan::RedactPlan;
use super::request::RedactRequest;
use crate::commands::searched_files::{search, search_unfinished};
use crate::commands::user_env::own_paths;
use crate::rebase::saved_texts;
use crate::repl::history_file;
use crate::term::{StatusLine, one_line, print_status};

/// Shorter texts occur in other messages by chance.
const SHORTEST: usize = 8;

const NAMED: usize = 8;

#[derive(Default)]
pub struct RemainingCopies {
    /// Messages with a secret that the redaction masks in others.
    secrets: BTreeSet<BubbId>,
    /// Messages with text that another message loses.
    same_text: BTreeSet<BubbId>,
    /// Pending requests whose stored original contains either.
    requests: BTreeSet<BubbId>,
    /// Other files of the store with either, or named for a message that gets a new id.
    files: BTreeSet<String>,
    /// The prompt's history, if it contains either.
    history: Option<PathBuf>,
    /// Stored texts of `rebase` with either.
    texts: Vec<PathBuf>,
}

impl RemainingCopies {
    /// Searches the messages that a plan leaves unchanged. With `--all` no secret remains, so that only
    /// replaced text is searched for.
    pub fn search(store: &Store, request: &RedactRequest, plan: &RedactPlan) -> Result<RemainingCopies> {
        let mut remains = RemainingCopies::default();
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
        let moving: BTreeSet<BubbId> = plan.copies.iter().map(|copy| copy.original.id).collect();
        let has_any = |bytes: &[u8]| is_in(&secrets, bytes) || is_in(&words, bytes);
        if !moving.is_empty() || !plan.replays.is_empty() {
            search(store, &mut |file, bytes| {
                if file.clone_name.is_some() {
                    return;
                }
                let Some(name) = file.message else {
                    let is_named = file.named_for.is_some_and(|name| moving.contains(&name.id));
                    let is_masked = plan.files.contains_key(&file.path) || file.path.starts_with("_blobs");
                    if is_named || !request.all && !is_masked && has_any(&bytes) {
                        remains.files.insert(file.path.to_string_lossy().into_owned());
                    }
                    return;
                };
                if plan.changed.contains_key(&name.id) {
                    return;
                }
                if !request.all && is_in(&secrets, &bytes) {
                    remains.secrets.insert(name.id);
                } else if is_in(&words, &bytes) {
                    remains.same_text.insert(name.id);
                }
            })?;
            if !request.all {
                search_unfinished(store, &mut |path, bytes| {
                    remains.files.extend(has_any(&bytes).then(|| path.to_string_lossy().into_owned()));
                })?;
            }
            for id in store.ids_with_replay_files() {
                let is_kept = !plan.replays.contains_key(&id) && !moving.contains(&id);
                let bytes = if is_kept { store.replay_bytes(id)? } else { None };
                remains.requests.extend(bytes.filter(|bytes| has_any(bytes)).map(|_| id));
            }
        }
        if let Ok(paths) = own_paths() {
            let path = history_file(&paths.state);
            let has = std::fs::read(&path).is_ok_and(|all| has_any(&all));
            remains.history = has.then_some(path);
            let has = |path: &PathBuf| std::fs::read(path).is_ok_and(|all| has_any(&all));
            remains.texts = saved_texts(&paths.texts()).into_iter().filter(has).collect();
        }
        Ok(remains)
    }

    pub fn follow(&mut self, moved: &[MovedBubb]) {
        for MovedBubb { from, to } in moved {
            for ids in [&mut self.secrets, &mut self.same_text] {
                if ids.remove(&from.id) {
                    ids.insert(to.id);
                }
            }
        }
    }

    pub fn history_note(&self) -> Vec<String> {
        let files = self.files.iter().map(|path| format!("{}, a file of the store", one_line(path)));
        let requests = self.requests.iter();
        let requests =
            requests.map(|id| format!("request {id}, until it is decided on: lepo do --deny {id}"));
        let history = self.history.iter();
        let history = history.map(|path| format!("the history of the prompt, {}", path.display()));
        let texts = self.texts.iter();
        let texts = texts.map(|path| format!("an edited text of lepo rebase, {}", path.display()));
        files.chain(requests).chain(history).chain(texts).collect()
    }

    /// Returns the messages with the same secret, and those with the same text.
    pub fn ids(&self) -> [&BTreeSet<BubbId>; 2] {
        [&self.secrets, &self.same_text]
    }

    /// Prints where else the text is, with the command that redacts it there.
    pub fn print_notes(&self, at: HintTarget<'_>) {
        let named = |ids: &BTreeSet<BubbId>| {
            ids.iter().take(NAMED).map(ToString::to_string).collect::<Vec<_>>().join(" ")
        };
        if !self.secrets.is_empty() {
            let text = format!(
                "{} with the same secret: lepo rm --redact {}",
                plural(self.secrets.len(), "other message"),
                named(&self.secrets)
            );
            print_status(&StatusLine::note(Hint::from(text).render(at)));
        }
        if !self.same_text.is_empty() {
            let count = plural(self.same_text.len(), "other message");
            print_status(&StatusLine::note(format!(
                "{count} with the text that was replaced: {}",
                named(&self.same_text)
            )));
        }
    }
}
