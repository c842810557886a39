//! Finds all secrets of a text, and the offset from which its end may be the start of one.

use std::ops::Range;
use std::sync::OnceLock;

use aho_corasick::{AhoCorasick, Input, MatchKind};
use memchr::memmem;

use super::ansi::PlainText;
use super::credential_pairs::{self, CredentialPair};
use super::known_values::{KnownValue, KnownValues};
use super::pem::{self, PemBody, PemMatch};
use super::shape::{AnchorResult, begins_word};
use super::table::{AWS_ID, AWS_KEY, BEGIN, PRIVATE_KEY, SERVICE_ACCOUNT, SHAPES, TWILIO};

/// A secret in a text.
#[derive(Debug, Clone, PartialEq)]
pub struct FoundSecret {
    /// In bytes.
    pub span: Range<usize>,
    /// Its kind, which the mask names.
    pub kind: &'static str,
    /// The variable or entry with this value, if the secret was found by its value.
    pub name: Option<String>,
    /// The bytes that distinguish it from other secrets of its kind.
    pub(crate) core: Vec<u8>,
}

/// Finds secrets by format and by value.
pub struct SecretFinder {
    values: Option<KnownValues>,
}

/// Maximum length of anchors with a separate search: the search for all others compares three bytes at once.
const SHORT: usize = 2;

/// The anchors of the table.
struct Anchors {
    /// Searches all anchors except the short ones.
    search: Option<AhoCorasick>,
    /// Each anchor, with its rows of the table.
    rows: Vec<(&'static str, Vec<usize>)>,
    /// The short anchors, each with its search.
    short: Vec<(usize, memmem::Finder<'static>)>,
    /// The anchors by their first byte.
    begins: Vec<Vec<usize>>,
}

/// Builds the anchors at the first call.
fn anchors() -> &'static Anchors {
    static ANCHORS: OnceLock<Anchors> = OnceLock::new();
    ANCHORS.get_or_init(|| {
        let mut rows: Vec<(&'static str, Vec<usize>)> = Vec::new();
        for (row, shape) in SHAPES.iter().enumerate() {
            for anchor in shape.anchors {
                match rows.iter_mut().find(|(text, _)| text == anchor) {
                    Some((_, all)) => all.push(row),
                    None => rows.push((anchor, vec![row])),
                }
            }
        }
        rows.push((BEGIN, Vec::new()));
        rows.sort_by_key(|(text, _)| text.len() <= SHORT);
        let long = rows.iter().map(|(text, _)| *text).filter(|text| text.len() > SHORT);
        let search = AhoCorasick::builder().match_kind(MatchKind::LeftmostFirst).build(long).ok();
        let mut begins = vec![Vec::new(); 256];
        for (number, (text, _)) in rows.iter().enumerate() {
            if let Some(begins) = text.bytes().next().and_then(|first| begins.get_mut(usize::from(first))) {
                begins.push(number);
            }
        }
        let short = rows.iter().enumerate().filter(|(_, row)| row.0.len() <= SHORT);
        let short = short.map(|(number, row)| (number, memmem::Finder::new(row.0))).collect();
        Anchors { search, rows, short, begins }
    })
}

/// The result of scanning a text.
#[derive(Default)]
pub(crate) struct ScanResult {
    /// All secrets found, unsorted; they may overlap.
    pub secrets: Vec<FoundSecret>,
    /// Offset from which the text is not final: more text may complete or extend a secret there.
    pub withheld_from: usize,
    /// A private key that continues after the text: its start, the state of its body, and the offset at which to
    /// resume.
    pub open: Option<(usize, PemBody, usize)>,
}

impl SecretFinder {
    /// Creates a finder by format alone, for imports: its findings are the same on every machine.
    pub fn shapes_only() -> SecretFinder {
        SecretFinder { values: None }
    }

    /// Creates a finder by format, and by those `values` that are long and unusual enough.
    pub fn new(values: impl IntoIterator<Item = KnownValue>) -> SecretFinder {
        SecretFinder { values: KnownValues::new(values) }
    }

    /// Builds the anchors in advance; otherwise the first search does.
    pub fn prepare(&self) {
        anchors();
    }

    /// Returns the secrets of a text, in order and without overlaps.
    pub fn find(&self, text: &[u8]) -> Vec<FoundSecret> {
        resolve_overlaps(self.all(text, false))
    }

    /// Like [`SecretFinder::find`], and ids of AWS without a key too: for data that leaves the machine.
    pub fn find_with_ids(&self, text: &[u8]) -> Vec<FoundSecret> {
        resolve_overlaps(self.all(text, true))
    }

    /// Scans a complete text, also without its control sequences.
    fn all(&self, text: &[u8], with_ids: bool) -> Vec<FoundSecret> {
        let mut all = self.scan(text, 0, true, with_ids).secrets;
        if let Some(plain) = PlainText::without_ansi(text) {
            let in_plain = self.scan(&plain.text, 0, true, with_ids).secrets;
            all.extend(
                in_plain
                    .into_iter()
                    .map(|found| FoundSecret { span: plain.source_span(&found.span), ..found }),
            );
        }
        all
    }

    /// Scans a text from offset `from` on; the text before it is final. `is_whole` means that no text follows.
    pub(crate) fn scan(&self, text: &[u8], from: usize, is_whole: bool, with_ids: bool) -> ScanResult {
        let mut scan = ScanResult { withheld_from: text.len(), ..ScanResult::default() };
        let mut ids: Vec<(CredentialPair, Range<usize>)> = Vec::new();
        self.scan_shapes(text, from, is_whole, &mut scan, &mut ids);
        if with_ids {
            scan.secrets.extend(ids.iter().map(|(_, id)| found_secret(text, id.clone(), AWS_ID)));
        }
        ids.extend(credential_pairs::accounts(text, from).map(|id| (CredentialPair::Twilio, id)));
        let mut pairs: Vec<(usize, usize)> = Vec::new();
        for (pair, id) in &ids {
            for secret in
                credential_pairs::secrets(text, *pair, id).into_iter().filter(|secret| secret.start >= from)
            {
                pairs.push((secret.start.min(id.start), secret.start.max(id.start)));
                match pair {
                    CredentialPair::Aws => {
                        scan.secrets.push(found_secret(text, secret, AWS_KEY));
                        scan.secrets.push(found_secret(text, id.clone(), AWS_ID));
                    }
                    CredentialPair::Twilio => scan.secrets.push(found_secret(text, secret, TWILIO)),
                }
            }
        }
        if let Some(values) = &self.values {
            for (value, span) in values.matches(text, from) {
                if let Some(value) = values.values.get(value) {
                    let (name, core) = (Some(value.name.clone()), value.text.clone().into_bytes());
                    scan.secrets.push(FoundSecret { span, kind: value.kind, name, core });
                }
            }
        }
        if !is_whole {
            let ids: Vec<Range<usize>> = ids.into_iter().map(|(_, id)| id).collect();
            self.hold_back(text, from, &ids, &pairs, &mut scan);
        }
        scan
    }

    fn scan_shapes(
        &self,
        text: &[u8],
        from: usize,
        is_whole: bool,
        scan: &mut ScanResult,
        ids: &mut Vec<(CredentialPair, Range<usize>)>,
    ) {
        let anchors = anchors();
        let mut key_end = from;
        let mut visit = |at: usize, anchor: usize, scan: &mut ScanResult| {
            let Some((anchor, rows)) = anchors.rows.get(anchor) else { return };
            if *anchor == BEGIN && at >= key_end {
                key_end = key(text, at, is_whole, scan).unwrap_or(key_end);
            }
            for shape in rows.iter().filter_map(|row| SHAPES.get(*row)) {
                match shape.try_at(text, at, anchor.len(), is_whole) {
                    AnchorResult::No => {}
                    AnchorResult::More => scan.withheld_from = scan.withheld_from.min(at),
                    AnchorResult::Yes(span) if shape.kind == AWS_ID => ids.push((CredentialPair::Aws, span)),
                    AnchorResult::Yes(span) => scan.secrets.push(found_secret(text, span, shape.kind)),
                }
            }
        };
        if let Some(search) = &anchors.search {
            for hit in search.find_iter(Input::new(text).range(from.min(text.len())..)) {
                visit(hit.start(), hit.pattern().as_usize(), scan);
            }
        }
        for (number, anchor) in &anchors.short {
            for at in anchor.find_iter(text.get(from..).unwrap_or_default()) {
                visit(from + at, *number, scan);
            }
        }
    }

    /// Lowers `withheld_from` to the first offset from which the end of the text is not final.
    fn hold_back(
        &self,
        text: &[u8],
        from: usize,
        ids: &[Range<usize>],
        pairs: &[(usize, usize)],
        scan: &mut ScanResult,
    ) {
        let mut withheld_from = scan
            .withheld_from
            .min(credential_pairs::withhold_from(text, from, ids))
            .min(anchor_start(text, from));
        if let Some(values) = &self.values {
            withheld_from = withheld_from.min(values.withhold_from(text, from));
        }
        // A secret and its id become final together, and so do overlapping secrets.
        loop {
            let spans = scan.secrets.iter().map(|found| (found.span.start, found.span.end - 1));
            let apart = spans
                .chain(pairs.iter().copied())
                .filter(|(first, last)| *first < withheld_from && withheld_from <= *last);
            let Some((first, _)) = apart.min() else { break };
            withheld_from = first;
        }
        scan.withheld_from = withheld_from;
    }
}

/// Reads the private key that starts at an offset, and returns its end if it is a key.
fn key(text: &[u8], at: usize, is_whole: bool, scan: &mut ScanResult) -> Option<usize> {
    let (end, core) = match pem::read(text, at, is_whole) {
        PemMatch::No => return None,
        PemMatch::More => {
            scan.withheld_from = scan.withheld_from.min(at);
            return None;
        }
        PemMatch::Key { end, core } => (end, core),
        PemMatch::Open { core, body, at: on } => {
            scan.open = Some((at, body, on));
            (text.len(), core)
        }
    };
    let lead = text.get(at.saturating_sub(32)..at).unwrap_or_default();
    let is_account = memmem::find(lead, b"\"private_key\"").is_some();
    let kind = if is_account { SERVICE_ACCOUNT } else { PRIVATE_KEY };
    scan.secrets.push(FoundSecret { span: at..end, kind, name: None, core });
    Some(end)
}

/// Returns the first offset from which the end of the text is a prefix of an anchor.
fn anchor_start(text: &[u8], from: usize) -> usize {
    let longest = 34;
    let start = from.max(text.len().saturating_sub(longest));
    let anchors = anchors();
    let is_begun = |at: &usize| {
        let tail = text.get(*at..).unwrap_or_default();
        let begins = |number: &usize| {
            let Some((anchor, rows)) = anchors.rows.get(*number) else { return false };
            let is_word = || rows.iter().filter_map(|row| SHAPES.get(*row)).all(|shape| shape.at_word);
            anchor.len() > tail.len()
                && anchor.as_bytes().starts_with(tail)
                && (rows.is_empty() || !is_word() || begins_word(text, *at))
        };
        let known = tail.first().and_then(|first| anchors.begins.get(usize::from(*first)));
        known.is_some_and(|known| known.iter().any(begins))
            || (credential_pairs::begins_account(tail) && begins_word(text, *at))
    };
    (start..text.len()).find(is_begun).unwrap_or(text.len())
}

fn found_secret(text: &[u8], span: Range<usize>, kind: &'static str) -> FoundSecret {
    let core = text.get(span.clone()).unwrap_or_default().to_vec();
    FoundSecret { span, kind, name: None, core }
}

/// Merges overlapping secrets. The kind is that found by format rather than by value, else of the longer secret, else
/// of the earlier row.
pub(crate) fn resolve_overlaps(mut all: Vec<FoundSecret>) -> Vec<FoundSecret> {
    let rank = |found: &FoundSecret| {
        let row = SHAPES.iter().position(|shape| shape.kind == found.kind).unwrap_or(SHAPES.len());
        (found.name.is_none(), found.span.len(), std::cmp::Reverse(row))
    };
    all.sort_by(|one, other| one.span.start.cmp(&other.span.start).then(other.span.end.cmp(&one.span.end)));
    let mut settled: Vec<(FoundSecret, FoundSecret)> = Vec::new();
    for next in all {
        match settled.last_mut() {
            Some((union, best)) if next.span.start < union.span.end => {
                union.span.end = union.span.end.max(next.span.end);
                if rank(&next) > rank(best) {
                    *best = next;
                }
            }
            _ => settled.push((next.clone(), next)),
        }
    }
    settled.into_iter().map(|(union, best)| FoundSecret { span: union.span, ..best }).collect()
}
