//! Secrets without a format of their own: a key of AWS and a token of Twilio, recognised by an id within three lines.

use std::ops::Range;
use std::sync::LazyLock;

use memchr::{memchr_iter, memchr3_iter, memmem, memrchr_iter};

use super::check::is_example;
use super::shape::begins_word;

/// Maximum number of lines between an id and its secret.
const LINES: usize = 3;
/// Maximum bytes between an id and its secret, because a line can be a whole file.
pub const REACH: usize = 2048;

/// Maximum bytes between the sign that assigns a value and the value, inclusive.
const GIVEN: usize = 8;

/// An id and the secret that belongs to it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum CredentialPair {
    /// An access key id, and a secret of 40 characters.
    Aws,
    /// An account id, and a token of 32 hexadecimal digits.
    Twilio,
}

impl CredentialPair {
    fn is_part(self, byte: u8) -> bool {
        match self {
            CredentialPair::Aws => byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/'),
            CredentialPair::Twilio => byte.is_ascii_alphanumeric(),
        }
    }

    fn len(self) -> usize {
        match self {
            CredentialPair::Aws => 40,
            CredentialPair::Twilio => 32,
        }
    }

    /// Whether a run of the right length can be the secret, and not a path or a git hash.
    fn is_secret(self, run: &[u8]) -> bool {
        let count = |class: fn(&&u8) -> bool| run.iter().filter(class).count();
        match self {
            CredentialPair::Aws => {
                let cases =
                    count(|byte| byte.is_ascii_uppercase()).min(count(|byte| byte.is_ascii_lowercase()));
                cases > 0
                    && count(|byte| byte.is_ascii_digit() || matches!(byte, b'+' | b'/')) > 0
                    && count(|byte| **byte == b'/') <= 4
                    && !is_example(run)
            }
            CredentialPair::Twilio => {
                run.iter().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')) && !is_example(run)
            }
        }
    }
}

/// Finds the account ids of Twilio in a text: `AC` and 32 hexadecimal digits.
pub fn accounts(text: &[u8], from: usize) -> impl Iterator<Item = Range<usize>> + '_ {
    static ACCOUNT: LazyLock<memmem::Finder<'static>> = LazyLock::new(|| memmem::Finder::new(b"AC"));
    let starts = ACCOUNT.find_iter(text.get(from..).unwrap_or_default()).map(move |at| at + from);
    starts.filter_map(|at| {
        let rest = text.get(at + 2..).unwrap_or_default();
        let run = rest.iter().take(33).take_while(|byte| byte.is_ascii_alphanumeric()).count();
        let digits = rest.get(..run).unwrap_or_default();
        let is_id = run == 32 && CredentialPair::Twilio.is_secret(digits) && begins_word(text, at);
        is_id.then_some(at..at + 34)
    })
}

/// Whether all of a text is a prefix of an account id.
pub fn begins_account(text: &[u8]) -> bool {
    match text.strip_prefix(b"AC") {
        None => text == b"A",
        Some(digits) => {
            digits.len() < 32 && digits.iter().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
        }
    }
}

/// Finds the secrets near an id.
pub fn secrets(text: &[u8], pair: CredentialPair, id: &Range<usize>) -> Vec<Range<usize>> {
    let start = id.start.saturating_sub(REACH);
    let before = text.get(start..id.start).unwrap_or_default();
    let start = memrchr_iter(b'\n', before).nth(LINES).map_or(start, |at| start + at + 1);
    let after = text.get(id.end..(id.end + REACH).min(text.len())).unwrap_or_default();
    let end = memchr_iter(b'\n', after).nth(LINES).map_or(id.end + after.len(), |at| id.end + at);
    let earlier = runs(text, pair, start..id.start).filter(|run| is_given(text, run.start));
    earlier.chain(runs(text, pair, id.end..end)).filter(|run| is_candidate(text, pair, run)).collect()
}

/// Whether a run has the length and the characters of the secret.
fn is_candidate(text: &[u8], pair: CredentialPair, run: &Range<usize>) -> bool {
    let is_cut = run.start.checked_sub(1).and_then(|at| text.get(at)).is_some_and(|byte| pair.is_part(*byte));
    run.len() == pair.len() && !is_cut && pair.is_secret(text.get(run.clone()).unwrap_or_default())
}

/// Whether a value is assigned at `at`. A secret before its id counts only as an assigned value; otherwise a stream
/// would have to withhold each word.
fn is_given(text: &[u8], at: usize) -> bool {
    let before = text.get(at.saturating_sub(GIVEN)..at).unwrap_or_default();
    let last = before.iter().rev().find(|byte| **byte != b' ');
    last.is_some_and(|byte| matches!(byte, b'=' | b':' | b'"' | b'\''))
}

/// Returns the runs of a pair's characters that overlap a part of a text, extended to their full length.
fn runs(text: &[u8], pair: CredentialPair, part: Range<usize>) -> impl Iterator<Item = Range<usize>> + '_ {
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

/// Returns the first offset that a stream must withhold: an id, or a possible secret before an id, that is still within
/// reach of the text to come.
pub fn withhold_from(text: &[u8], from: usize, ids: &[Range<usize>]) -> usize {
    let start = from.max(text.len().saturating_sub(REACH));
    let recent = text.get(start..).unwrap_or_default();
    let start = memrchr_iter(b'\n', recent).nth(LINES).map_or(start, |at| start + at + 1);
    let id = ids.iter().map(|id| id.start).filter(|at| *at >= start).min();
    let begun = [CredentialPair::Aws, CredentialPair::Twilio]
        .into_iter()
        .filter_map(|pair| begun_run(text, pair, start));
    begun.chain(id).min().unwrap_or(text.len())
}

/// Finds the first assigned run from `start` on that is a secret or may become one.
fn begun_run(text: &[u8], pair: CredentialPair, start: usize) -> Option<usize> {
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
