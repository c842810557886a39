//! Prints the result of a redaction.

use std::collections::HashMap;

use lepo_store::bubb::{BubbId, ContentHash};
use lepo_store::store::{MovedBubb, Store};
use serde_json::{Value, json};

use super::plan::{RedactPlan, SecretKinds};
use super::remaining_copies::RemainingCopies;
use crate::commands::Context;
use crate::term::{StatusLine, print_status};
use crate::ui::ShortIds;
use lepo_base::hint::{Hint, HintTarget};

#[derive(Default)]
pub struct RedactOutcome {
    pub dry_run: bool,
    pub moved: Vec<MovedBubb>,
    /// Messages whose own text changed; with no kinds, the text was replaced.
    pub changed: HashMap<BubbId, SecretKinds>,
    pub blobs: Vec<ContentHash>,
    pub files: Vec<(String, SecretKinds)>,
    /// Unchanged files, with the reason.
    pub remaining: Vec<(String, SecretKinds, String)>,
    pub lost: Vec<BubbId>,
    /// Descriptions of other copies of the originals.
    pub held_by: Vec<String>,
    /// Unchanged messages with the same secrets or text.
    pub remains: RemainingCopies,
}

impl RedactOutcome {
    pub fn is_nothing(&self) -> bool {
        self.moved.is_empty() && self.files.is_empty() && self.blobs.is_empty()
    }

    pub fn add(&mut self, store: &Store, plan: &RedactPlan) {
        self.moved.extend(plan.moved());
        self.changed.extend(plan.changed.iter().map(|(id, kinds)| (*id, kinds.clone())));
        self.blobs.extend(plan.blobs.keys().chain(&plan.orphans));
        let files =
            plan.files.iter().map(|(path, kinds)| (path.to_string_lossy().into_owned(), kinds.clone()));
        self.files.extend(files);
        let moves = |id: &BubbId| plan.copies.iter().any(|copy| copy.original.id == *id);
        let replays = plan
            .replays
            .iter()
            .filter(|(id, _)| !moves(id))
            .map(|(id, kinds)| (store.replay_file(*id), kinds.clone()));
        self.files.extend(replays);
        self.remaining.extend(plan.remaining.iter().cloned());
    }

    /// Prints a line for each message: old id, new id, and the kinds of secrets in its own text.
    pub fn print(&self, context: &mut Context<'_>) {
        let ids = self.moved.iter().flat_map(|moved| [moved.from.id, moved.to.id]);
        let shorts = ShortIds::on_terminal(context.out.is_terminal(), ids);
        for MovedBubb { from, to } in &self.moved {
            let what = match self.changed.get(&from.id) {
                Some(kinds) if kinds.is_empty() => " other words".to_string(),
                Some(kinds) => format!(" {}", words(kinds)),
                None => String::new(),
            };
            context.out.line(&format!("{} {}{what}", shorts.show(from.id), shorts.show(to.id)));
        }
        for (path, kinds) in &self.files {
            context.out.line(&format!("{path} {}", words(kinds)));
        }
        context.out.flush();
    }

    pub fn document(&self) -> Value {
        let moved = self.moved.iter().map(|MovedBubb { from, to }| {
            let kinds = self.changed.get(&from.id);
            json!({
                "id": from.id.to_string(),
                "now": to.id.to_string(),
                "kinds": kinds,
                "other_words": kinds.is_some_and(SecretKinds::is_empty),
            })
        });
        let files = self.files.iter().map(|(path, kinds)| json!({ "path": path, "kinds": kinds }));
        let left = self
            .remaining
            .iter()
            .map(|(path, kinds, why)| json!({ "subject": path, "kinds": kinds, "why": why }));
        let [same_secret, same_words] = self.remains.document();
        json!({
            "replaced": moved.collect::<Vec<_>>(),
            "files": files.collect::<Vec<_>>(),
            "left": left.collect::<Vec<_>>(),
            "requests_lost": self.lost.iter().map(ToString::to_string).collect::<Vec<_>>(),
            "held_by": self.held_by,
            "same_secret": same_secret,
            "same_words": same_words,
            "dry_run": self.dry_run,
        })
    }

    pub fn print_notes(&self, plan: &RedactPlan, at: HintTarget<'_>) {
        if self.is_nothing() {
            print_status("nothing to mask");
            if !plan.clean.is_empty() {
                let told = "to take out other text: lepo rm --redact --replace ADDR=FILE";
                print_status(&format!("hint: {}", Hint::from(told).render(at)));
            }
        }
        for (path, kinds, why) in &self.remaining {
            print_status(&StatusLine::note(format!("{path} was left as it is ({}): {why}", words(kinds))));
        }
        for id in &self.lost {
            let told =
                format!("request {id} can no longer be approved, as its secret is gone: lepo do --deny {id}");
            print_status(&StatusLine::note(Hint::from(told).render(at)));
        }
        self.remains.print_notes(at);
        for holder in &self.held_by {
            print_status(&StatusLine::note(format!("may still contain it: {holder}")));
        }
        if !self.dry_run && plan.tally.count() > 0 {
            print_status("a secret that was written may have been read: change it where it is used");
        }
    }
}

fn words(kinds: &SecretKinds) -> String {
    kinds.iter().copied().collect::<Vec<_>>().join(",")
}
