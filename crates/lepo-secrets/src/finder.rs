//! Finds all secrets of a text, and what its end could be the beginning of.

use std::ops::Range;
use std::sync::OnceLock;

use aho_corasick::{AhoCorasick, Input, MatchKind};
use memchr::memmem;

use super::beside::{self, Pair};
use super::colours::Plain;
use super::pem::{self, Armour, Body};
use super::shape::{Tried, begins_word};
use super::table::{AWS_ID, AWS_KEY, BEGIN, PRIVATE_KEY, SERVICE_ACCOUNT, SHAPES, TWILIO};
use super::values::{Value, Values};

/// A secret in a text.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// Where it stands, in bytes.
    pub span: Range<usize>,
    /// Its kind, as the mask says it.
    pub kind: &'static str,
    /// The variable or entry whose value it is, if that is how it was found.
    pub name: Option<String>,
    /// The bytes that tell it from others of its kind.
    pub(crate) core: Vec<u8>,
}

/// Looks for secrets by shape and by value.
pub struct Finder {
    values: Option<Values>,
}

/// Anchors of two characters are looked for by themselves: the search for all others compares three bytes at once.
const SHORT: usize = 2;

/// The anchors of the table.
struct Anchors {
    /// All but the short ones and the one of private keys, which is the last.
    search: Option<AhoCorasick>,
    /// Each anchor, with the rows that it begins.
    rows: Vec<(&'static str, Vec<usize>)>,
    /// The short ones, with the search for each.
    short: Vec<(usize, memmem::Finder<'static>)>,
    /// The anchors that begin with a byte, by that.
    begins: Vec<Vec<usize>>,
}

/// Read once, at the first text.
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

/// The outcome of one look at a text.
#[derive(Default)]
pub(crate) struct Scan {
    /// Everything found, in no order.
    pub found: Vec<Found>,
    /// Whether a secret that is found may reach to here with what comes: nothing from here on is settled.
    pub hold: usize,
    /// A private key that goes on behind the text: where it begins, and how its body is read on, from where.
    pub open: Option<(usize, Body, usize)>,
}

impl Finder {
    /// Looks for shapes alone, as imports do: it finds the same on every machine.
    pub fn of_shapes() -> Finder {
        Finder { values: None }
    }

    /// Looks for shapes, and for those of these values that are worth it.
    pub fn new(values: impl IntoIterator<Item = Value>) -> Finder {
        Finder { values: Values::new(values) }
    }

    /// Does beforehand what the first search does once.
    pub fn prepare(&self) {
        anchors();
    }

    /// The secrets of a text, in order, none overlapping another.
    pub fn find(&self, text: &[u8]) -> Vec<Found> {
        settle(self.all(text, false))
    }

    /// As [`Finder::find`], and ids of AWS by themselves, too: for what leaves the machine.
    pub fn find_with_ids(&self, text: &[u8]) -> Vec<Found> {
        settle(self.all(text, true))
    }

    /// Everything in a whole text, also where it is coloured in between.
    fn all(&self, text: &[u8], with_ids: bool) -> Vec<Found> {
        let mut all = self.scan(text, 0, true, with_ids).found;
        if let Some(plain) = Plain::of(text) {
            let in_plain = self.scan(&plain.text, 0, true, with_ids).found;
            all.extend(in_plain.into_iter().map(|found| Found { span: plain.place(&found.span), ..found }));
        }
        all
    }

    /// Looks at a text from a place on; before it stands what was settled. `is_whole` says that nothing follows.
    pub(crate) fn scan(&self, text: &[u8], from: usize, is_whole: bool, with_ids: bool) -> Scan {
        let mut scan = Scan { hold: text.len(), ..Scan::default() };
        let mut ids: Vec<(Pair, Range<usize>)> = Vec::new();
        self.scan_shapes(text, from, is_whole, &mut scan, &mut ids);
        if with_ids {
            scan.found.extend(ids.iter().map(|(_, id)| found(text, id.clone(), AWS_ID)));
        }
        ids.extend(beside::accounts(text, from).map(|id| (Pair::Twilio, id)));
        let mut pairs: Vec<(usize, usize)> = Vec::new();
        for (pair, id) in &ids {
            for secret in beside::secrets(text, *pair, id).into_iter().filter(|secret| secret.start >= from) {
                pairs.push((secret.start.min(id.start), secret.start.max(id.start)));
                match pair {
                    Pair::Aws => {
                        scan.found.push(found(text, secret, AWS_KEY));
                        scan.found.push(found(text, id.clone(), AWS_ID));
                    }
                    Pair::Twilio => scan.found.push(found(text, secret, TWILIO)),
                }
            }
        }
        if let Some(values) = &self.values {
            for (value, span) in values.places(text, from) {
                if let Some(value) = values.values.get(value) {
                    let (name, core) = (Some(value.name.clone()), value.text.clone().into_bytes());
                    scan.found.push(Found { span, kind: value.kind, name, core });
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
        scan: &mut Scan,
        ids: &mut Vec<(Pair, Range<usize>)>,
    ) {
        let anchors = anchors();
        let mut key_end = from;
        let mut visit = |at: usize, anchor: usize, scan: &mut Scan| {
            let Some((anchor, rows)) = anchors.rows.get(anchor) else { return };
            if *anchor == BEGIN && at >= key_end {
                key_end = key(text, at, is_whole, scan).unwrap_or(key_end);
            }
            for shape in rows.iter().filter_map(|row| SHAPES.get(*row)) {
                match shape.try_at(text, at, anchor.len(), is_whole) {
                    Tried::No => {}
                    Tried::More => scan.hold = scan.hold.min(at),
                    Tried::Yes(span) if shape.kind == AWS_ID => ids.push((Pair::Aws, span)),
                    Tried::Yes(span) => scan.found.push(found(text, span, shape.kind)),
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

    /// Finds the first place from where the end of the text is not settled.
    fn hold_back(
        &self,
        text: &[u8],
        from: usize,
        ids: &[Range<usize>],
        pairs: &[(usize, usize)],
        scan: &mut Scan,
    ) {
        let mut hold = scan.hold.min(beside::hold(text, from, ids)).min(begun(text, from));
        if let Some(values) = &self.values {
            hold = hold.min(values.hold(text, from));
        }
        // A secret and its id are settled together, and so is what overlaps.
        loop {
            let spans = scan.found.iter().map(|found| (found.span.start, found.span.end - 1));
            let apart =
                spans.chain(pairs.iter().copied()).filter(|(first, last)| *first < hold && hold <= *last);
            let Some((first, _)) = apart.min() else { break };
            hold = first;
        }
        scan.hold = hold;
    }
}

/// Reads the private key that begins at a place; its end, if it has one.
fn key(text: &[u8], at: usize, is_whole: bool, scan: &mut Scan) -> Option<usize> {
    let (end, core) = match pem::read(text, at, is_whole) {
        Armour::No => return None,
        Armour::More => {
            scan.hold = scan.hold.min(at);
            return None;
        }
        Armour::Key { end, core } => (end, core),
        Armour::Open { core, body, at: on } => {
            scan.open = Some((at, body, on));
            (text.len(), core)
        }
    };
    let lead = text.get(at.saturating_sub(32)..at).unwrap_or_default();
    let is_account = memmem::find(lead, b"\"private_key\"").is_some();
    let kind = if is_account { SERVICE_ACCOUNT } else { PRIVATE_KEY };
    scan.found.push(Found { span: at..end, kind, name: None, core });
    Some(end)
}

/// The first place from where the end of a text is the beginning of an anchor.
fn begun(text: &[u8], from: usize) -> usize {
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
            || (beside::begins_account(tail) && begins_word(text, *at))
    };
    (start..text.len()).find(is_begun).unwrap_or(text.len())
}

fn found(text: &[u8], span: Range<usize>, kind: &'static str) -> Found {
    let core = text.get(span.clone()).unwrap_or_default().to_vec();
    Found { span, kind, name: None, core }
}

/// Makes one of those that overlap: under the kind of a shape rather than of a value, of the longer rather than the
/// shorter, of the one further up in the table.
pub(crate) fn settle(mut all: Vec<Found>) -> Vec<Found> {
    let rank = |found: &Found| {
        let row = SHAPES.iter().position(|shape| shape.kind == found.kind).unwrap_or(SHAPES.len());
        (found.name.is_none(), found.span.len(), std::cmp::Reverse(row))
    };
    all.sort_by(|one, other| one.span.start.cmp(&other.span.start).then(other.span.end.cmp(&one.span.end)));
    let mut settled: Vec<(Found, Found)> = Vec::new();
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
    settled.into_iter().map(|(union, best)| Found { span: union.span, ..best }).collect()
}
