//! Plans a redaction: changed messages with all their descendants, blobs, and other files.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use lepo_base::error::{Error, Result};
use lepo_secrets::{FoundSecret, Masker, SecretCounts, is_binary};
use lepo_store::bubb::{BubbId, BubbName, ContentHash, plural};
use lepo_store::store::{
    Blob, CopyParent, CopyRequest, MovedBubb, PlannedCopy, RemovedFolder, Store, blobs_in, plan_copies,
    with_other_blobs,
};
use serde_json::Value;

use super::request::RedactRequest;
use crate::commands::searched_files::{SearchedFile, search, search_unfinished};

pub type SecretKinds = BTreeSet<&'static str>;

#[derive(Default)]
pub struct RedactPlan {
    /// The copies, parents first.
    pub copies: Vec<PlannedCopy>,
    /// Messages whose own text changes, with the kinds of their secrets; empty if the text is replaced.
    pub changed: HashMap<BubbId, SecretKinds>,
    /// Masked blobs, by the hashes of the originals.
    pub blobs: BTreeMap<ContentHash, Vec<u8>>,
    /// Blobs with secrets that no message names.
    pub orphans: Vec<ContentHash>,
    pub files: BTreeMap<PathBuf, SecretKinds>,
    /// Pending requests whose stored original contains a secret: it is deleted, and they can no longer be
    /// approved.
    pub replays: BTreeMap<BubbId, SecretKinds>,
    /// Files that stay unchanged, with the reason.
    pub remaining: Vec<(String, SecretKinds, String)>,
    /// Named messages without such a secret.
    pub clean: Vec<BubbId>,
    pub tally: SecretCounts,
    pub secrets: Vec<Vec<u8>>,
    /// Text that messages lose in a replacement: from the first difference to the last.
    pub lost_words: Vec<Vec<u8>>,
}

impl RedactPlan {
    /// Searches for the secrets and plans the copies. Writes nothing.
    pub fn make(store: &Store, request: &RedactRequest, masker: &Masker) -> Result<RedactPlan> {
        let names = store.names()?;
        let mut plan = RedactPlan::default();
        let mut words: HashMap<BubbId, Vec<u8>> = HashMap::new();
        let known: HashMap<BubbId, BubbName> = names.iter().map(|name| (name.id, *name)).collect();
        if request.all {
            plan.scan_store(store, (request, masker), &names, &mut words)?;
            for id in store.ids_with_replay_files() {
                plan.scan_replay(store, (request, masker), id)?;
            }
            plan.scan_unfinished(store, (request, masker))?;
        }
        for name in request.ids().iter().filter_map(|id| known.get(id)) {
            plan.scan_message(store, (request, masker), name, &mut words)?;
        }
        for id in request.replaced() {
            let (Some(name), Some(other)) = (known.get(&id), request.replacement(id)) else { continue };
            plan.changed.remove(&id);
            words.remove(&id);
            let before = store.read_bubb(name)?;
            if before != other {
                plan.lost_words.push(removed_part(&before, other).to_vec());
                plan.changed.insert(id, SecretKinds::new());
                words.insert(id, other.to_vec());
            }
        }
        let order = with_followers(&names, &plan.changed)?;
        let indices: HashMap<BubbId, usize> =
            order.iter().enumerate().map(|(at, name)| (name.id, at)).collect();
        let copying = order.into_iter().map(|original| {
            let index = original.prev.and_then(|prev| indices.get(&prev));
            let under = index.map_or(CopyParent::Existing(original.prev), |index| CopyParent::Copy(*index));
            CopyRequest { original, text: words.remove(&original.id), under }
        });
        plan.copies = plan_copies(store, None, copying.collect())?;
        Ok(plan)
    }

    pub fn is_nothing(&self) -> bool {
        self.copies.is_empty() && self.files.is_empty() && self.orphans.is_empty() && self.replays.is_empty()
    }

    pub fn actions(&self) -> String {
        let other_words = self.changed.values().filter(|kinds| kinds.is_empty()).count();
        let mut doing = Vec::new();
        if self.tally.count() > 0 {
            let count = plural(self.tally.count(), "secret");
            doing.push(format!("mask {count} ({})", self.tally.kind_list()));
        }
        if !self.replays.is_empty() {
            doing.push(format!("forget what is kept for {}", plural(self.replays.len(), "request")));
        }
        if other_words > 0 {
            doing.push(format!("replace the text of {}", plural(other_words, "message")));
        }
        let moved = self.moved_bubbs().len();
        if moved > 0 {
            doing.push(format!("give {} new ids", plural(moved, "message")));
        }
        doing.join(", and ")
    }

    pub fn moved_bubbs(&self) -> Vec<MovedBubb> {
        let moved = self.copies.iter().filter(|copy| copy.name.id != copy.original.id);
        moved.map(|copy| MovedBubb { from: copy.original, to: copy.name }).collect()
    }

    /// Masks the secrets in `bytes`; `None` without any.
    fn take_out(
        &mut self,
        bytes: &[u8],
        (request, masker): (&RedactRequest, &Masker),
    ) -> Option<(Vec<u8>, SecretKinds)> {
        let (masked, found) = masker.mask_matching(bytes, &|found: &FoundSecret| request.selects(found))?;
        for found in &found {
            self.tally.add(found);
            self.secrets.extend(bytes.get(found.span.clone()).map(<[u8]>::to_vec));
        }
        Some((masked, found.iter().map(|found| found.kind).collect()))
    }

    /// Scans a message and the blobs that it names.
    fn scan_message(
        &mut self,
        store: &Store,
        by: (&RedactRequest, &Masker),
        name: &BubbName,
        words: &mut HashMap<BubbId, Vec<u8>>,
    ) -> Result<()> {
        if words.contains_key(&name.id) {
            return Ok(());
        }
        let bytes = store.read_bubb(name)?;
        let taken = if is_binary(&bytes) { None } else { self.take_out(&bytes, by) };
        let (masked, mut kinds) = taken.unzip();
        let mut masked = masked.unwrap_or(bytes);
        let mut kinds: SecretKinds = kinds.take().unwrap_or_default();
        let mut other: HashMap<ContentHash, Blob> = HashMap::new();
        for hash in blobs_in(&masked, name.role) {
            let Some(blob) = store.read_blob(&hash)?.filter(|blob| !is_binary(blob)) else { continue };
            if let Some((blob, of_blob)) = self.take_out(&blob, by) {
                kinds.extend(of_blob);
                other.insert(hash, Blob { hash: ContentHash::from_content(&blob), len: blob.len() as u64 });
                self.blobs.insert(hash, blob);
            }
        }
        if let Some(changed) = with_other_blobs(&masked, name.role, &|hash| other.get(hash).cloned()) {
            masked = changed;
        }
        let is_kept = self.scan_replay(store, by, name.id)?;
        if kinds.is_empty() {
            self.clean.extend((!is_kept).then_some(name.id));
        } else {
            self.changed.insert(name.id, kinds);
            words.insert(name.id, masked);
        }
        Ok(())
    }

    /// Scans the stored original of a pending request; returns whether it will be deleted.
    fn scan_replay(&mut self, store: &Store, by: (&RedactRequest, &Masker), id: BubbId) -> Result<bool> {
        if self.replays.contains_key(&id) {
            return Ok(true);
        }
        let Some(bytes) = store.replay_bytes(id)? else { return Ok(false) };
        let mut kinds = SecretKinds::new();
        for text in texts_of(&bytes) {
            kinds.extend(self.take_out(text.as_bytes(), by).map(|(_, kinds)| kinds).unwrap_or_default());
        }
        let goes = !kinds.is_empty();
        if goes {
            self.replays.insert(id, kinds);
        }
        Ok(goes)
    }

    /// Reports unfinished files with secrets: a process may be writing them.
    fn scan_unfinished(&mut self, store: &Store, (request, masker): (&RedactRequest, &Masker)) -> Result<()> {
        search_unfinished(store, &mut |path, bytes| {
            let found =
                masker.finder().find_with_ids(&bytes).into_iter().filter(|found| request.selects(found));
            let kinds: SecretKinds = found.map(|found| found.kind).collect();
            if !kinds.is_empty() {
                let why =
                    "it is unfinished; `lepo fsck --recover` saves or removes it once its process has ended";
                self.remaining.push((path.to_string_lossy().into_owned(), kinds, why.to_string()));
            }
        })
    }

    fn scan_store(
        &mut self,
        store: &Store,
        by: (&RedactRequest, &Masker),
        names: &[BubbName],
        words: &mut HashMap<BubbId, Vec<u8>>,
    ) -> Result<()> {
        let (mut messages, mut blobs): (BTreeSet<BubbId>, BTreeSet<ContentHash>) = Default::default();
        let (request, masker) = by;
        let folders = store.change_list().read()?.folders();
        let is_removed = |path: &Path| {
            let mut parts = path.iter().filter_map(OsStr::to_str);
            parts.next() == Some("_removed")
                && parts.next().and_then(RemovedFolder::parse).is_some_and(|folder| folders.contains(&folder))
        };
        search(store, &mut |file, bytes| {
            let found: Vec<FoundSecret> = masker
                .finder()
                .find_with_ids(&bytes)
                .into_iter()
                .filter(|found| request.selects(found))
                .collect();
            if found.is_empty() {
                return;
            }
            let kinds: SecretKinds = found.iter().map(|found| found.kind).collect();
            let blob_name = file.path.file_name().filter(|_| file.path.starts_with("_blobs"));
            let in_blobs = blob_name.and_then(|name| ContentHash::parse(name.to_str()?));
            match (&file, in_blobs) {
                (SearchedFile { clone_name: Some(clone), .. }, _) => {
                    self.remaining.push((
                        file.subject(),
                        kinds,
                        format!("it belongs to {clone}, who has to mask it"),
                    ));
                }
                (SearchedFile { message: Some(name), .. }, _) => {
                    messages.insert(name.id);
                }
                (_, Some(hash)) => {
                    blobs.insert(hash);
                }
                _ if is_of_lepo(&file.path) || is_removed(&file.path) => {
                    found.iter().for_each(|found| self.tally.add(found));
                    self.files.insert(file.path, kinds);
                }
                _ => {
                    let why = if is_settings(&file.path) {
                        "settings are never changed"
                    } else {
                        "it is not lepo's"
                    };
                    self.remaining.push((file.subject(), kinds, why.to_string()));
                }
            }
        })?;
        let mut named = BTreeSet::new();
        for name in names {
            let of_it = if blobs.is_empty() { Vec::new() } else { store.blobs_named_by(name)? };
            if messages.contains(&name.id) || of_it.iter().any(|hash| blobs.contains(hash)) {
                self.scan_message(store, by, name, words)?;
            }
            named.extend(of_it);
        }
        for hash in blobs.into_iter().filter(|hash| !named.contains(hash)) {
            // Masked only to count its secrets: the blob is deleted.
            if let Some(bytes) = store.read_blob(&hash)? {
                self.take_out(&bytes, by);
            }
            self.orphans.push(hash);
        }
        Ok(())
    }
}

/// Returns the strings in the JSON of a request's stored original; the whole text if it is not JSON.
fn texts_of(bytes: &[u8]) -> Vec<String> {
    let Ok(value) = serde_json::from_slice::<Value>(bytes) else {
        return vec![String::from_utf8_lossy(bytes).into_owned()];
    };
    let (mut waiting, mut texts) = (vec![value], Vec::new());
    while let Some(value) = waiting.pop() {
        match value {
            Value::String(text) => texts.push(text),
            Value::Array(values) => waiting.extend(values),
            Value::Object(fields) => waiting.extend(fields.into_iter().map(|(_, value)| value)),
            _ => {}
        }
    }
    texts
}

/// Returns the part of a text that differs from its replacement.
fn removed_part<'t>(before: &'t [u8], after: &[u8]) -> &'t [u8] {
    let same =
        |pairs: &mut dyn Iterator<Item = (&u8, &u8)>| pairs.take_while(|(one, other)| one == other).count();
    let begin = same(&mut before.iter().zip(after));
    let (before, after) = (before.get(begin..).unwrap_or_default(), after.get(begin..).unwrap_or_default());
    let end = same(&mut before.iter().rev().zip(after.iter().rev()));
    before.get(..before.len() - end).unwrap_or_default()
}

/// Whether lepo wrote the file: there a mask can replace a secret.
fn is_of_lepo(path: &Path) -> bool {
    let is_one = |name: &str| path == Path::new(name);
    ["_titles", "_journal.ndjson", "_undo.ndjson", "_insts.toml"].iter().any(|name| is_one(name))
        || path.starts_with("_prompts")
}

/// Whether programs use the values in the file, which a mask would break.
fn is_settings(path: &Path) -> bool {
    ["_config.toml", "_mcp.json"].iter().any(|name| path == Path::new(name))
}

/// Returns the changed messages with all their descendants, parents first.
fn with_followers(names: &[BubbName], changed: &HashMap<BubbId, SecretKinds>) -> Result<Vec<BubbName>> {
    let mut followers: HashMap<BubbId, Vec<BubbName>> = HashMap::new();
    for name in names {
        if let Some(prev) = name.prev {
            followers.entry(prev).or_default().push(*name);
        }
    }
    let mut moved: HashSet<BubbId> = HashSet::new();
    let mut open: VecDeque<BubbName> =
        names.iter().filter(|name| changed.contains_key(&name.id)).copied().collect();
    let begun: Vec<BubbName> = open.iter().copied().collect();
    while let Some(name) = open.pop_front() {
        if moved.insert(name.id) {
            open.extend(followers.get(&name.id).into_iter().flatten().copied());
        }
    }
    let mut order = Vec::with_capacity(moved.len());
    open.extend(begun.into_iter().filter(|name| !name.prev.is_some_and(|prev| moved.contains(&prev))));
    while let Some(name) = open.pop_front() {
        order.push(name);
        open.extend(followers.get(&name.id).into_iter().flatten().copied());
    }
    if order.len() < moved.len() {
        let done: HashSet<BubbId> = order.iter().map(|name| name.id).collect();
        let stuck = moved.iter().filter(|id| !done.contains(id)).min();
        let stuck = stuck.map(ToString::to_string).unwrap_or_default();
        return Err(Error::nothing(format!("the messages before {stuck} form a cycle: it cannot be copied"))
            .hint("`lepo fsck` names all of them"));
    }
    Ok(order)
}

#[cfg(test)]
mod tests {
    use super::removed_part;

    #[test]
    fn words_are_lost_from_the_first_that_differs_to_the_last() {
        for (before, after, gone) in [
            ("pass is hunter2hunter2, ok", "pass is [gone], ok", "hunter2hunter2"),
            ("all of it", "", "all of it"),
            ("aaa", "aa", "a"),
            ("same", "same", ""),
            ("a secret", "a secret and more", ""),
        ] {
            assert_eq!(
                removed_part(before.as_bytes(), after.as_bytes()),
                gone.as_bytes(),
                "{before} → {after}"
            );
        }
    }
}
