//! Masks in place of secrets: `[secret: KIND]`, with four digits of a keyed hash where a key is given.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use sha2::{Digest, Sha256};

use super::finder::{Finder, Found};
use super::kept::{Kept, Treatment};
use super::what_is_text::is_binary;

const LEAD: &str = "[secret: ";

/// The key of the digits: a user's own, so that equal secrets read equal and nothing can be tried without it.
pub type Key = [u8; 32];

/// Finds secrets and writes masks.
#[derive(Clone)]
pub struct Masker {
    finder: Arc<Finder>,
    key: Option<Key>,
}

/// A text whose secrets are masked.
#[derive(Debug, Clone, PartialEq)]
pub struct Masked<'t> {
    /// The text with masks; the same text if it has no secret.
    pub text: Cow<'t, str>,
    /// The secrets, with their places in the text as it was.
    pub found: Vec<Found>,
}

/// Different secrets, counted by kind. Holds hashes alone.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Tally {
    kinds: BTreeMap<&'static str, BTreeSet<[u8; 8]>>,
}

impl Tally {
    /// Counts a secret, once however often it comes.
    pub fn add(&mut self, found: &Found) {
        let digest = Sha256::digest(&found.core);
        let (start, _) =
            digest.split_first_chunk::<8>().map_or(([0; 8], &[][..]), |(start, rest)| (*start, rest));
        self.kinds.entry(found.kind).or_default().insert(start);
    }

    /// Counts those of another tally, too.
    pub fn merge(&mut self, other: Tally) {
        for (kind, digests) in other.kinds {
            self.kinds.entry(kind).or_default().extend(digests);
        }
    }

    /// The number of different secrets.
    pub fn count(&self) -> usize {
        self.kinds.values().map(BTreeSet::len).sum()
    }

    /// Their kinds, with how many of each.
    pub fn kinds(&self) -> impl Iterator<Item = (&'static str, usize)> + '_ {
        self.kinds.iter().map(|(kind, digests)| (*kind, digests.len()))
    }

    /// Their kinds as words: `github-token, private-key`.
    pub fn words(&self) -> String {
        self.kinds.keys().copied().collect::<Vec<_>>().join(", ")
    }
}

impl Masker {
    /// Masks what a finder finds; without a key the masks have no digits.
    pub fn new(finder: Arc<Finder>, key: Option<Key>) -> Masker {
        Masker { finder, key }
    }

    /// Masks shapes alone, without digits: what an import writes is the same on every machine.
    pub fn for_imports() -> Masker {
        Masker { finder: Arc::new(Finder::of_shapes()), key: None }
    }

    /// The finder.
    pub fn finder(&self) -> &Finder {
        &self.finder
    }

    /// A text with masks in place of its secrets.
    pub fn mask<'t>(&self, text: &'t str) -> Masked<'t> {
        let found = self.finder.find(text.as_bytes());
        if found.is_empty() {
            return Masked { text: Cow::Borrowed(text), found };
        }
        let mut masked = String::with_capacity(text.len());
        let mut from = 0;
        for secret in &found {
            masked.push_str(text.get(from..secret.span.start).unwrap_or_default());
            masked.push_str(&self.word(secret));
            from = secret.span.end;
        }
        masked.push_str(text.get(from..).unwrap_or_default());
        Masked { text: Cow::Owned(masked), found }
    }

    /// A text as it is written, and the secrets in it. Bytes that are not UTF-8 stay, and end a secret.
    pub fn kept<'t>(&self, text: &'t [u8], treatment: Treatment) -> (Kept<'t>, Vec<Found>) {
        let (mut kept, mut all) = (None::<Vec<u8>>, Vec::new());
        if treatment == Treatment::Leave {
            return (Kept::looked_at(Cow::Borrowed(text)), all);
        }
        let mut done = 0;
        for chunk in text.utf8_chunks() {
            let (valid, invalid) = (chunk.valid(), chunk.invalid());
            let masked = self.mask(valid);
            all.extend(masked.found);
            match (&mut kept, masked.text) {
                (None, Cow::Borrowed(_)) => {}
                (kept, masked) => {
                    let kept = kept.get_or_insert_with(|| text.get(..done).unwrap_or_default().to_vec());
                    kept.extend(masked.bytes());
                    kept.extend(invalid);
                }
            }
            done += valid.len() + invalid.len();
        }
        match kept.filter(|_| treatment == Treatment::Mask) {
            Some(kept) => (Kept::looked_at(Cow::Owned(kept)), all),
            None => (Kept::looked_at(Cow::Borrowed(text)), all),
        }
    }

    /// A file as it is written, as [`Masker::kept`] has it; a binary one is not searched.
    pub fn kept_file<'t>(&self, bytes: &'t [u8], treatment: Treatment) -> (Kept<'t>, Vec<Found>) {
        let treatment = if is_binary(bytes) { Treatment::Leave } else { treatment };
        self.kept(bytes, treatment)
    }

    /// Bytes with masks in place of the secrets that are wanted, ids of AWS by themselves among them; `None` if there is
    /// none of these.
    pub fn take_out(
        &self,
        bytes: &[u8],
        is_wanted: &dyn Fn(&Found) -> bool,
    ) -> Option<(Vec<u8>, Vec<Found>)> {
        let mut found = self.finder.find_with_ids(bytes);
        found.retain(|found| is_wanted(found));
        if found.is_empty() {
            return None;
        }
        let mut masked = Vec::with_capacity(bytes.len());
        let mut from = 0;
        for secret in &found {
            masked.extend(bytes.get(from..secret.span.start).unwrap_or_default());
            masked.extend(self.word(secret).into_bytes());
            from = secret.span.end;
        }
        masked.extend(bytes.get(from..).unwrap_or_default());
        Some((masked, found))
    }

    /// A keyed hash over some texts, to know again what this user's lepo wrote; `None` without a key.
    pub fn proof(&self, parts: &[&[u8]]) -> Option<String> {
        Some(keyed_hash(&self.key?, parts))
    }

    /// The mask of a secret.
    pub fn word(&self, found: &Found) -> String {
        let Some(key) = self.key else { return format!("{LEAD}{}]", found.kind) };
        // Two bytes of it are shown, so nothing can be appended to the hash.
        let digest = Sha256::new().chain_update(key).chain_update(&found.core).finalize();
        let digits = digest.iter().take(2).map(|byte| format!("{byte:02x}")).collect::<String>();
        format!("{LEAD}{} {digits}]", found.kind)
    }
}

/// A hash over some texts that only the holder of the key can make: HMAC with one block of padding, as RFC 2104 has it.
pub fn keyed_hash(key: &Key, parts: &[&[u8]]) -> String {
    let pad = |with: u8| {
        let mut block = [with; 64];
        block.iter_mut().zip(key).for_each(|(byte, key)| *byte ^= key);
        block
    };
    let mut inner = Sha256::new().chain_update(pad(0x36));
    for part in parts {
        inner.update((part.len() as u64).to_be_bytes());
        inner.update(part);
    }
    let outer = Sha256::new().chain_update(pad(0x5c)).chain_update(inner.finalize()).finalize();
    outer.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Whether a text has a mask in it.
pub fn has_mask(text: &str) -> bool {
    text.split(LEAD).skip(1).any(|after| {
        let kind = after.bytes().take_while(|byte| byte.is_ascii_lowercase() || *byte == b'-').count();
        kind > 0 && matches!(after.as_bytes().get(kind), Some(b']' | b' '))
    })
}

/// A text with the secrets in place of its masks, which come in this order.
pub fn restore(text: &str, truths: &[(String, String)]) -> String {
    let (mut restored, mut rest) = (String::with_capacity(text.len()), text);
    for (mask, truth) in truths {
        let Some((before, after)) = rest.split_once(mask.as_str()) else { continue };
        restored.push_str(before);
        restored.push_str(truth);
        rest = after;
    }
    restored.push_str(rest);
    restored
}

/// A text with the digits of its masks taken out: two masks of one kind are equal then.
pub fn without_digits(text: &str) -> Cow<'_, str> {
    if !text.contains(LEAD) {
        return Cow::Borrowed(text);
    }
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(LEAD) {
        plain.push_str(before);
        plain.push_str(LEAD);
        let kind = after.bytes().take_while(|byte| byte.is_ascii_lowercase() || *byte == b'-').count();
        let (kind, digits) = after.split_at_checked(kind).unwrap_or((after, ""));
        plain.push_str(kind);
        let bytes = digits.as_bytes();
        let is_mask = bytes.first() == Some(&b' ')
            && bytes.get(1..5).is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
            && bytes.get(5) == Some(&b']');
        rest = if is_mask { digits.get(5..).unwrap_or_default() } else { digits };
    }
    plain.push_str(rest);
    Cow::Owned(plain)
}
