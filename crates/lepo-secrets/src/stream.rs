//! Masks a text that arrives in pieces: a possible start of a secret is withheld, all other text is released at once.

use std::ops::Range;

use super::finder::{FoundSecret, resolve_overlaps};
use super::mask::{Masker, SecretCounts};
use super::pem::PemBody;

/// Maximum bytes withheld.
pub const LONGEST_HELD: usize = 8 << 10;
/// Bytes before the withheld text that checks need: the number of a bot, an escape.
const HISTORY: usize = 32;

/// The masking of a stream.
pub struct MaskStream {
    masker: Masker,
    /// The last of the released text, then the withheld text.
    text: String,
    /// Offset of the withheld text.
    from: usize,
    /// The state of a private key whose mask was released.
    key: Option<PemBody>,
    tally: SecretCounts,
    /// The masks released so far, each with its secret.
    truths: Vec<(String, String)>,
}

impl MaskStream {
    /// Starts a stream.
    pub fn new(masker: Masker) -> MaskStream {
        let (tally, truths) = (SecretCounts::default(), Vec::new());
        MaskStream { masker, text: String::new(), from: 0, key: None, tally, truths }
    }

    /// Returns the counts of masked secrets, and the masks in order, each with its secret.
    pub fn into_parts(self) -> (SecretCounts, Vec<(String, String)>) {
        (self.tally, self.truths)
    }

    /// Adds a piece, and appends all final text to `out`.
    pub fn push(&mut self, piece: &str, out: &mut String) {
        self.text.push_str(piece);
        self.continue_scan(false, out);
    }

    /// Ends the stream: appends the remaining text to `out`.
    pub fn finish(&mut self, out: &mut String) {
        self.continue_scan(true, out);
        self.text.clear();
        self.from = 0;
        self.key = None;
    }

    /// Returns the length of the withheld text, in bytes.
    pub fn buffered_len(&self) -> usize {
        self.text.len() - self.from
    }

    /// Returns the counts of the secrets masked so far.
    pub fn tally(&self) -> &SecretCounts {
        &self.tally
    }

    fn continue_scan(&mut self, is_whole: bool, out: &mut String) {
        loop {
            if let Some(body) = &mut self.key {
                let waiting = self.text.get(self.from..).unwrap_or_default();
                let (end, read) = body.continue_scan(waiting.as_bytes(), is_whole);
                if let Some((_, truth)) = self.truths.last_mut() {
                    truth.push_str(waiting.get(..read).unwrap_or_default());
                }
                self.from += read;
                self.forget();
                if end.is_none() {
                    return;
                }
                self.key = None;
            }
            let scan = self.masker.finder().scan(self.text.as_bytes(), self.from, is_whole, false);
            let (mut withheld_from, open) = (scan.withheld_from, scan.open);
            let found = resolve_overlaps(scan.secrets);
            let opened =
                open.as_ref().and_then(|(at, ..)| found.iter().find(|found| found.span.contains(at)));
            let opened = opened.filter(|found| found.span.start <= withheld_from).cloned();
            if let Some(opened) = &opened {
                withheld_from = opened.span.start;
            } else if !is_whole && self.text.len() - withheld_from > LONGEST_HELD {
                withheld_from = self.text.floor_char_boundary(self.text.len() - LONGEST_HELD);
                let cut = found
                    .iter()
                    .find(|found| found.span.start < withheld_from && withheld_from < found.span.end);
                withheld_from = cut.map_or(withheld_from, |cut| cut.span.end);
            }
            self.release(withheld_from, &found, out);
            let (Some(opened), Some((_, body, at))) = (opened, open) else { break };
            self.mask(&opened, self.from..at, out);
            self.key = Some(body);
            self.from = at;
        }
        self.forget();
    }

    /// Releases everything before an offset.
    fn release(&mut self, until: usize, found: &[FoundSecret], out: &mut String) {
        for secret in found.iter().filter(|secret| secret.span.end <= until) {
            out.push_str(self.text.get(self.from..secret.span.start).unwrap_or_default());
            self.mask(secret, secret.span.clone(), out);
            self.from = secret.span.end;
        }
        out.push_str(self.text.get(self.from..until).unwrap_or_default());
        self.from = until.max(self.from);
    }

    fn mask(&mut self, secret: &FoundSecret, truth: Range<usize>, out: &mut String) {
        let word = self.masker.mask_text(secret);
        out.push_str(&word);
        self.tally.add(secret);
        self.truths.push((word, self.text.get(truth).unwrap_or_default().to_string()));
    }

    /// Drops the released text, except the end that checks need.
    fn forget(&mut self) {
        let start = self.text.floor_char_boundary(self.from.saturating_sub(HISTORY));
        self.text.drain(..start);
        self.from -= start;
    }
}
