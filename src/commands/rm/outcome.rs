//! Prints the result of a redaction.

use std::collections::HashMap;

use lepo_store::bubb::{BubbId, ContentHash};
use lepo_store::store::{MovedBubb, Store};
use schemars::JsonSchema;
use serde::Serialize;

use super::plan::{RedactPlan, SecretKinds};
use super::remaining_copies::RemainingCopies;
use crate::commands::Context;
use crate::term::{StatusLine, print_status};
use crate::ui::ShortIds;
use crate::view::IdText;
use lepo_base::hint::{Hint, HintTarget};

/// A single document: the messages with new ids, and other changes (with --dry-run: that would be made).
#[derive(Serialize, JsonSchema)]
pub struct RedactDocument<'d> {
    /// The messages that copies replaced, each after the one it follows.
    replaced: Vec<ReplacedFields<'d>>,
    /// Masked files other than messages.
    files: Vec<MaskedFileFields<'d>>,
    /// Findings, left unchanged.
    left: Vec<UnmaskedFields<'d>>,
    /// Pending requests that can no longer be approved.
    requests_lost: Vec<IdText>,
    /// Descriptions of other copies that may still contain what was masked.
    held_by: &'d [String],
    /// Other messages with a masked secret; they were left unchanged.
    same_secret: Vec<IdText>,
    /// Other messages with the text that a replaced message lost (8 bytes or more); they were left unchanged.
    same_words: Vec<IdText>,
    dry_run: bool,
}

#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
struct ReplacedFields<'d> {
    /// The old id.
    id: IdText,
    /// The id of the copy.
    now: IdText,
    /// Kinds of secrets masked in the message; null if only an earlier message changed, or an interrupted command was
    /// completed.
    kinds: Option<&'d SecretKinds>,
    /// The text of the message was replaced.
    other_words: bool,
}

#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
struct MaskedFileFields<'d> {
    /// The path in the store.
    path: &'d str,
    /// Kinds of secrets, as named by `lepo fsck --secrets`.
    kinds: &'d SecretKinds,
}

#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
struct UnmaskedFields<'d> {
    /// The id of a message, or the path of a file in the store.
    subject: &'d str,
    /// Kinds of secrets, as named by `lepo fsck --secrets`.
    kinds: &'d SecretKinds,
    why: &'d str,
}

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
        self.moved.extend(plan.moved_bubbs());
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
                Some(kinds) => format!(" {}", kind_list(kinds)),
                None => String::new(),
            };
            context.out.line(&format!("{} {}{what}", shorts.show(from.id), shorts.show(to.id)));
        }
        for (path, kinds) in &self.files {
            context.out.line(&format!("{path} {}", kind_list(kinds)));
        }
        context.out.flush();
    }

    pub fn document(&self) -> RedactDocument<'_> {
        let replaced = self.moved.iter().map(|MovedBubb { from, to }| {
            let kinds = self.changed.get(&from.id);
            ReplacedFields {
                id: IdText(from.id),
                now: IdText(to.id),
                kinds,
                other_words: kinds.is_some_and(SecretKinds::is_empty),
            }
        });
        let files = self.files.iter().map(|(path, kinds)| MaskedFileFields { path, kinds });
        let left = self.remaining.iter();
        let left = left.map(|(subject, kinds, why)| UnmaskedFields { subject, kinds, why });
        let [same_secret, same_words] = self.remains.ids();
        RedactDocument {
            replaced: replaced.collect(),
            files: files.collect(),
            left: left.collect(),
            requests_lost: self.lost.iter().copied().map(IdText).collect(),
            held_by: &self.held_by,
            same_secret: same_secret.iter().copied().map(IdText).collect(),
            same_words: same_words.iter().copied().map(IdText).collect(),
            dry_run: self.dry_run,
        }
    }

    pub fn print_notes(&self, plan: &RedactPlan, at: HintTarget<'_>) {
        if self.is_nothing() {
            print_status("nothing to mask");
            if !plan.clean.is_empty() {
                let other_way = "to take out other text: lepo rm --redact --replace ADDR=FILE";
                print_status(&format!("hint: {}", Hint::from(other_way).render(at)));
            }
        }
        for (path, kinds, why) in &self.remaining {
            print_status(&StatusLine::note(format!(
                "{path} was left as it is ({}): {why}",
                kind_list(kinds)
            )));
        }
        for id in &self.lost {
            let text =
                format!("request {id} can no longer be approved, as its secret is gone: lepo do --deny {id}");
            print_status(&StatusLine::note(Hint::from(text).render(at)));
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

fn kind_list(kinds: &SecretKinds) -> String {
    kinds.iter().copied().collect::<Vec<_>>().join(",")
}
