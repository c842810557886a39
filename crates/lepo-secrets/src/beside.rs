//! Secrets without a shape of their own: a key of AWS and a token of Twilio, known by an id within three lines.

use std::ops::Range;
use std::sync::LazyLock;

use memchr::{memchr_iter, memchr3_iter, memmem, memrchr_iter};

use super::check::is_example;
use super::shape::begins_word;

/// "Beside" reaches so many lines up and down.
const LINES: usize = 3;
/// And never further than so many bytes: a line can be a whole file.
pub const REACH: usize = 2048;

/// A value follows the sign that sets it within so many bytes.
const GIVEN: usize = 8;

/// Ids and what belongs to them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Pair {
    /// An access key id, and a secret of 40 characters.
    Aws,
    /// An account, and a token of 32 hexadecimal digits.
    Twilio,
}

impl Pair {
    fn is_part(self, byte: u8) -> bool {
        match self {
            Pair::Aws => byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/'),
            Pair::Twilio => byte.is_ascii_alphanumeric(),
        }
    }

    fn len(self) -> usize {
        match self {
            Pair::Aws => 40,
            Pair::Twilio => 32,
        }
    }

    /// Whether a run of the right length can be the secret: no path, no git hash.
    fn is_secret(self, run: &[u8]) -> bool {
        let count = |class: fn(&&u8) -> bool| run.iter().filter(class).count();
        match self {
            Pair::Aws => {
                let cases =
                    count(|byte| byte.is_ascii_uppercase()).min(count(|byte| byte.is_ascii_lowercase()));
                cases > 0
                    && count(|byte| byte.is_ascii_digit() || matches!(byte, b'+' | b'/')) > 0
                    && count(|byte| **byte == b'/') <= 4
                    && !is_example(run)
            }
            Pair::Twilio => {
                run.iter().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')) && !is_example(run)
            }
        }
    }
}

/// The account ids of Twilio in a text: `AC` and 32 hexadecimal digits.
pub fn accounts(text: &[u8], from: usize) -> impl Iterator<Item = Range<usize>> + '_ {
    static ACCOUNT: LazyLock<memmem::Finder<'static>> = LazyLock::new(|| memmem::Finder::new(b"AC"));
    let places = ACCOUNT.find_iter(text.get(from..).unwrap_or_default()).map(move |at| at + from);
    places.filter_map(|at| {
        let rest = text.get(at + 2..).unwrap_or_default();
        let run = rest.iter().take(33).take_while(|byte| byte.is_ascii_alphanumeric()).count();
        let digits = rest.get(..run).unwrap_or_default();
        let is_id = run == 32 && Pair::Twilio.is_secret(digits) && begins_word(text, at);
        is_id.then_some(at..at + 34)
    })
}

/// Whether the whole of a text is the beginning of an account id.
pub fn begins_account(text: &[u8]) -> bool {
    match text.strip_prefix(b"AC") {
        None => text == b"A",
        Some(digits) => {
            digits.len() < 32 && digits.iter().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
        }
    }
}

/// The secrets beside an id.
pub fn secrets(text: &[u8], pair: Pair, id: &Range<usize>) -> Vec<Range<usize>> {
    let start = id.start.saturating_sub(REACH);
    let before = text.get(start..id.start).unwrap_or_default();
    let start = memrchr_iter(b'\n', before).nth(LINES).map_or(start, |at| start + at + 1);
    let after = text.get(id.end..(id.end + REACH).min(text.len())).unwrap_or_default();
    let end = memchr_iter(b'\n', after).nth(LINES).map_or(id.end + after.len(), |at| id.end + at);
    let earlier = runs(text, pair, start..id.start).filter(|run| is_given(text, run.start));
    earlier.chain(runs(text, pair, id.end..end)).filter(|run| is_candidate(text, pair, run)).collect()
}

/// Whether a run is as long as the secret and can be it.
fn is_candidate(text: &[u8], pair: Pair, run: &Range<usize>) -> bool {
    let is_cut = run.start.checked_sub(1).and_then(|at| text.get(at)).is_some_and(|byte| pair.is_part(*byte));
    run.len() == pair.len() && !is_cut && pair.is_secret(text.get(run.clone()).unwrap_or_default())
}

/// Whether something is set before a place: a secret before its id counts only as a value, so that a stream need not hold
/// back each word.
fn is_given(text: &[u8], at: usize) -> bool {
    let before = text.get(at.saturating_sub(GIVEN)..at).unwrap_or_default();
    let last = before.iter().rev().find(|byte| **byte != b' ');
    last.is_some_and(|byte| matches!(byte, b'=' | b':' | b'"' | b'\''))
}

/// The runs of a pair's characters that touch a part of a text, whole.
fn runs(text: &[u8], pair: Pair, part: Range<usize>) -> impl Iterator<Item = Range<usize>> + '_ {
    let mut at = part.start;
    std::iter::from_fn(move || {
        let skipped = text.get(at..part.end)?.iter().take_while(|byte| !pair.is_part(**byte)).count();
        let start = at + skipped;
        if start >= part.end {
            return None;
        }
        let len = text.get(start..)?.iter().take_while(|byte| pair.is_part(**byte)).count();
        at = start + len;
        Some(start..at)
    })
}

/// The first place from where a text is held back while it streams: an id, or what could be a secret before one, that is
/// still within reach of what comes.
pub fn hold(text: &[u8], from: usize, ids: &[Range<usize>]) -> usize {
    let start = from.max(text.len().saturating_sub(REACH));
    let recent = text.get(start..).unwrap_or_default();
    let start = memrchr_iter(b'\n', recent).nth(LINES).map_or(start, |at| start + at + 1);
    let id = ids.iter().map(|id| id.start).filter(|at| *at >= start).min();
    let begun = [Pair::Aws, Pair::Twilio].into_iter().filter_map(|pair| begun(text, pair, start));
    begun.chain(id).min().unwrap_or(text.len())
}

/// The first run from a place on that something is set to, and that is a secret or may become one.
fn begun(text: &[u8], pair: Pair, start: usize) -> Option<usize> {
    let from = start.saturating_sub(GIVEN);
    let part = text.get(from..).unwrap_or_default();
    let set = memchr3_iter(b'=', b':', b'"', part).chain(memchr_iter(b'\'', part));
    let runs = set.filter_map(|at| {
        let after = text.get(from + at + 1..)?;
        let spaces = after.iter().take(GIVEN - 1).take_while(|byte| **byte == b' ').count();
        let run = from + at + 1 + spaces;
        let len =
            after.get(spaces..)?.iter().take(pair.len() + 1).take_while(|byte| pair.is_part(**byte)).count();
        (len > 0 && run >= start).then_some(run..run + len)
    });
    let is_begun = |run: &Range<usize>| {
        let is_open = run.end == text.len() && run.len() <= pair.len();
        is_open || is_candidate(text, pair, run)
    };
    runs.filter(is_begun).map(|run| run.start).min()
}
