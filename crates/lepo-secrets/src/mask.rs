//! Masks that replace secrets: `[secret: KIND]`, with four digits of a keyed hash if there is a key.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use sha2::{Digest, Sha256};

use super::finder::{FoundSecret, SecretFinder};
use super::is_text::is_binary;
use super::screened::{ScreenedBytes, Treatment};

const LEAD: &str = "[secret: ";

/// The key of the digits, one for each user: equal secrets get equal digits, and guesses cannot be tried without the
/// key.
pub type MaskKey = [u8; 32];

/// Finds secrets and replaces them with masks.
#[derive(Clone)]
pub struct Masker {
    finder: Arc<SecretFinder>,
    key: Option<MaskKey>,
}

/// A text whose secrets are masked.
#[derive(Debug, Clone, PartialEq)]
pub struct MaskedText<'t> {
    /// The text with masks; borrowed if it has no secret.
    pub text: Cow<'t, str>,
    /// The secrets, with their spans in the original text.
    pub secrets: Vec<FoundSecret>,
}

/// Different secrets, counted by kind. Stores hashes only.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SecretCounts {
    kinds: BTreeMap<&'static str, BTreeSet<[u8; 8]>>,
}

impl SecretCounts {
    /// Counts a secret; repetitions count once.
    pub fn add(&mut self, secret: &FoundSecret) {
        let digest = Sha256::digest(&secret.core);
        let (start, _) =
            digest.split_first_chunk::<8>().map_or(([0; 8], &[][..]), |(start, rest)| (*start, rest));
        self.kinds.entry(secret.kind).or_default().insert(start);
    }

    /// Adds the secrets of another tally.
    pub fn merge(&mut self, other: SecretCounts) {
        for (kind, digests) in other.kinds {
            self.kinds.entry(kind).or_default().extend(digests);
        }
    }

    /// Returns the number of different secrets.
    pub fn count(&self) -> usize {
        self.kinds.values().map(BTreeSet::len).sum()
    }

    /// Returns the kinds, each with its number of secrets.
    pub fn kinds(&self) -> impl Iterator<Item = (&'static str, usize)> + '_ {
        self.kinds.iter().map(|(kind, digests)| (*kind, digests.len()))
    }

    /// Lists the kinds: `github-token, private-key`.
    pub fn kind_list(&self) -> String {
        self.kinds.keys().copied().collect::<Vec<_>>().join(", ")
    }
}

impl Masker {
    /// Creates a masker; without a key the masks have no digits.
    pub fn new(finder: Arc<SecretFinder>, key: Option<MaskKey>) -> Masker {
        Masker { finder, key }
    }

    /// Creates a masker by format alone, without digits, so that an import writes the same on every machine.
    pub fn for_imports() -> Masker {
        Masker { finder: Arc::new(SecretFinder::shapes_only()), key: None }
    }

    /// Returns the finder.
    pub fn finder(&self) -> &SecretFinder {
        &self.finder
    }

    /// Replaces the secrets of a text with masks.
    pub fn mask<'t>(&self, text: &'t str) -> MaskedText<'t> {
        let secrets = self.finder.find(text.as_bytes());
        if secrets.is_empty() {
            return MaskedText { text: Cow::Borrowed(text), secrets };
        }
        let mut masked = String::with_capacity(text.len());
        let mut from = 0;
        for secret in &secrets {
            masked.push_str(text.get(from..secret.span.start).unwrap_or_default());
            masked.push_str(&self.mask_text(secret));
            from = secret.span.end;
        }
        masked.push_str(text.get(from..).unwrap_or_default());
        MaskedText { text: Cow::Owned(masked), secrets }
    }

    /// Returns a text after its treatment, and its secrets. Malformed UTF-8 stays unchanged, and ends a secret.
    pub fn screen<'t>(&self, text: &'t [u8], treatment: Treatment) -> (ScreenedBytes<'t>, Vec<FoundSecret>) {
        let (mut kept, mut all) = (None::<Vec<u8>>, Vec::new());
        if treatment == Treatment::Leave {
            return (ScreenedBytes::from_screened(Cow::Borrowed(text)), all);
        }
        let mut done = 0;
        for chunk in text.utf8_chunks() {
            let (valid, invalid) = (chunk.valid(), chunk.invalid());
            let masked = self.mask(valid);
            all.extend(masked.secrets);
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
            Some(kept) => (ScreenedBytes::from_screened(Cow::Owned(kept)), all),
            None => (ScreenedBytes::from_screened(Cow::Borrowed(text)), all),
        }
    }

    /// Like [`Masker::screen`], for a file; a binary file is not searched.
    pub fn screen_file<'t>(
        &self,
        bytes: &'t [u8],
        treatment: Treatment,
    ) -> (ScreenedBytes<'t>, Vec<FoundSecret>) {
        let treatment = if is_binary(bytes) { Treatment::Leave } else { treatment };
        self.screen(bytes, treatment)
    }

    /// Masks the secrets that `is_wanted` accepts, including ids of AWS without a key; `None` if it accepts none.
    pub fn mask_matching(
        &self,
        bytes: &[u8],
        is_wanted: &dyn Fn(&FoundSecret) -> bool,
    ) -> Option<(Vec<u8>, Vec<FoundSecret>)> {
        let mut secrets = self.finder.find_with_ids(bytes);
        secrets.retain(|secret| is_wanted(secret));
        if secrets.is_empty() {
            return None;
        }
        let mut masked = Vec::with_capacity(bytes.len());
        let mut from = 0;
        for secret in &secrets {
            masked.extend(bytes.get(from..secret.span.start).unwrap_or_default());
            masked.extend(self.mask_text(secret).into_bytes());
            from = secret.span.end;
        }
        masked.extend(bytes.get(from..).unwrap_or_default());
        Some((masked, secrets))
    }

    /// Returns a keyed hash over some texts, by which this user's lepo recognises what it wrote; `None` without a key.
    pub fn proof(&self, parts: &[&[u8]]) -> Option<String> {
        Some(keyed_hash(&self.key?, parts))
    }

    /// Returns the mask of a secret.
    pub fn mask_text(&self, secret: &FoundSecret) -> String {
        let Some(key) = self.key else { return format!("{LEAD}{}]", secret.kind) };
        // Only two bytes of the hash are visible, so a length extension is impossible.
        let digest = Sha256::new().chain_update(key).chain_update(&secret.core).finalize();
        let digits = digest.iter().take(2).map(|byte| format!("{byte:02x}")).collect::<String>();
        format!("{LEAD}{} {digits}]", secret.kind)
    }
}

/// Computes an HMAC (RFC 2104) with the key padded to a block; each text is preceded by its length.
pub fn keyed_hash(key: &MaskKey, parts: &[&[u8]]) -> String {
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

/// Whether a text contains a mask.
pub fn has_mask(text: &str) -> bool {
    text.split(LEAD).skip(1).any(|after| {
        let kind = after.bytes().take_while(|byte| byte.is_ascii_lowercase() || *byte == b'-').count();
        kind > 0 && matches!(after.as_bytes().get(kind), Some(b']' | b' '))
    })
}

/// Replaces the masks of a text with their secrets; `truths` are in the order of the text.
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

/// Removes the digits of all masks, so that two masks of a kind are equal.
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
