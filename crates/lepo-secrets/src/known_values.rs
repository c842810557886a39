//! Secrets known by their value: variables that are secret by name, and configured keys.

use aho_corasick::{AhoCorasick, MatchKind};

use super::table::{CONFIG_KEY, ENV_VALUE};

/// Minimum bytes of a value: a shorter one would match harmless text.
const SHORTEST: usize = 8;

/// Maximum bytes of a value: a stream withholds up to this number.
const LONGEST: usize = 8000;

/// A value to search for.
#[derive(Clone)]
pub struct KnownValue {
    /// `env-value` or `config-key`.
    pub kind: &'static str,
    /// Its variable or entry, which users see instead of the value.
    pub name: String,
    /// The value.
    pub text: String,
}

impl KnownValue {
    /// Creates the value of a variable.
    pub fn of_variable(name: impl Into<String>, text: impl Into<String>) -> KnownValue {
        KnownValue { kind: ENV_VALUE, name: name.into(), text: text.into() }
    }

    /// Creates a configured key.
    pub fn of_config(name: impl Into<String>, text: impl Into<String>) -> KnownValue {
        KnownValue { kind: CONFIG_KEY, name: name.into(), text: text.into() }
    }
}

/// Whether a variable is secret by its name.
pub fn is_named_secret(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    ["_KEY", "_TOKEN", "_SECRET", "_PASSWORD"].iter().any(|end| name.ends_with(end))
}

/// Whether a value is distinguishable from plain text: at least eight bytes, not all of them small letters. The caller
/// excludes paths of files.
pub fn is_worth(value: &str) -> bool {
    (SHORTEST..=LONGEST).contains(&value.len()) && !value.bytes().all(|byte| byte.is_ascii_lowercase())
}

/// All values for a single search, verbatim and escaped as in JSON.
pub struct KnownValues {
    search: AhoCorasick,
    pub values: Vec<KnownValue>,
    /// The texts to search for, each with the index of its value.
    texts: Vec<(String, usize)>,
}

/// Escapes a text for a string of JSON.
fn in_json(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '"' => escaped.push_str("\\\""),
            '\\' => escaped.push_str("\\\\"),
            '\n' => escaped.push_str("\\n"),
            '\r' => escaped.push_str("\\r"),
            '\t' => escaped.push_str("\\t"),
            '\u{8}' => escaped.push_str("\\b"),
            '\u{c}' => escaped.push_str("\\f"),
            letter if letter < ' ' => escaped.push_str(&format!("\\u{:04x}", u32::from(letter))),
            letter => escaped.push(letter),
        }
    }
    escaped
}

impl KnownValues {
    /// Builds the search; `None` if no value is worth it.
    pub fn new(values: impl IntoIterator<Item = KnownValue>) -> Option<KnownValues> {
        let mut values: Vec<KnownValue> = values.into_iter().filter(|value| is_worth(&value.text)).collect();
        // If two variables have the same value, report the first.
        let mut seen = std::collections::HashSet::new();
        values.retain(|value| seen.insert(value.text.clone()));
        if values.is_empty() {
            return None;
        }
        let as_is = values.iter().enumerate().map(|(at, value)| (value.text.clone(), at));
        let in_json = values.iter().enumerate().map(|(at, value)| (in_json(&value.text), at));
        let in_json = in_json.filter(|(text, _)| text.contains('\\'));
        let texts: Vec<(String, usize)> = as_is.chain(in_json).collect();
        let words = texts.iter().map(|(text, _)| text.as_bytes());
        let search = AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(words).ok()?;
        Some(KnownValues { search, values, texts })
    }

    /// Finds the values in a text from `from` on: the index of each, and its span.
    pub fn matches<'t>(
        &'t self,
        text: &'t [u8],
        from: usize,
    ) -> impl Iterator<Item = (usize, std::ops::Range<usize>)> + 't {
        let input = aho_corasick::Input::new(text).range(from.min(text.len())..);
        let value = |pattern: usize| self.texts.get(pattern).map_or(0, |(_, value)| *value);
        self.search.find_iter(input).map(move |found| (value(found.pattern().as_usize()), found.range()))
    }

    /// Returns the first offset from which the end of the text may be the start of a value; the text's length if no
    /// value starts there.
    pub fn withhold_from(&self, text: &[u8], from: usize) -> usize {
        let begins = |(value, _): &(String, usize)| {
            let value = value.as_bytes();
            let start = from.max(text.len().saturating_sub(value.len() - 1));
            let tail = text.get(start..).unwrap_or_default();
            let mut starts = memchr::memchr_iter(*value.first()?, tail);
            starts.find(|at| value.starts_with(tail.get(*at..).unwrap_or_default())).map(|at| start + at)
        };
        self.texts.iter().filter_map(begins).min().unwrap_or(text.len())
    }
}
