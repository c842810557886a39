//! Secrets that are known by their value: variables that are secrets by name, and configured keys.

use aho_corasick::{AhoCorasick, MatchKind};

use super::table::{CONFIG_KEY, ENV_VALUE};

/// Values shorter than this are not looked for: they would be found in honest words.
const SHORTEST: usize = 8;

/// Values longer than this are not looked for: a stream is held back by as many bytes.
const LONGEST: usize = 8000;

/// A value to look for.
#[derive(Clone)]
pub struct Value {
    /// `env-value` or `config-key`.
    pub kind: &'static str,
    /// The variable or entry it is of; shown in place of the value.
    pub name: String,
    /// The value itself.
    pub text: String,
}

impl Value {
    /// The value of a variable.
    pub fn of_variable(name: impl Into<String>, text: impl Into<String>) -> Value {
        Value { kind: ENV_VALUE, name: name.into(), text: text.into() }
    }

    /// A configured key.
    pub fn of_config(name: impl Into<String>, text: impl Into<String>) -> Value {
        Value { kind: CONFIG_KEY, name: name.into(), text: text.into() }
    }
}

/// True if a variable is a secret by its name.
pub fn is_named_secret(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    ["_KEY", "_TOKEN", "_SECRET", "_PASSWORD"].iter().any(|end| name.ends_with(end))
}

/// True if a value can be told from words: eight bytes and more, not only small letters. The caller leaves out paths of
/// files.
pub fn is_worth(value: &str) -> bool {
    (SHORTEST..=LONGEST).contains(&value.len()) && !value.bytes().all(|byte| byte.is_ascii_lowercase())
}

/// All values at once, as they are and as JSON writes them.
pub struct Values {
    search: AhoCorasick,
    pub values: Vec<Value>,
    /// The texts that are looked for, each with the place of its value.
    texts: Vec<(String, usize)>,
}

/// A text as it stands within a string of JSON.
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

impl Values {
    /// `None` without a value that is worth a search.
    pub fn new(values: impl IntoIterator<Item = Value>) -> Option<Values> {
        let mut values: Vec<Value> = values.into_iter().filter(|value| is_worth(&value.text)).collect();
        // Of two names for one value the first is told.
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
        Some(Values { search, values, texts })
    }

    /// The places of values in a text, each with the number of its value.
    pub fn places<'t>(
        &'t self,
        text: &'t [u8],
        from: usize,
    ) -> impl Iterator<Item = (usize, std::ops::Range<usize>)> + 't {
        let input = aho_corasick::Input::new(text).range(from.min(text.len())..);
        let value = |pattern: usize| self.texts.get(pattern).map_or(0, |(_, value)| *value);
        self.search.find_iter(input).map(move |found| (value(found.pattern().as_usize()), found.range()))
    }

    /// The first place of a text from where its end may be the beginning of a value; its length if there is none.
    pub fn hold(&self, text: &[u8], from: usize) -> usize {
        let begins = |(value, _): &(String, usize)| {
            let value = value.as_bytes();
            let start = from.max(text.len().saturating_sub(value.len() - 1));
            let tail = text.get(start..).unwrap_or_default();
            let mut places = memchr::memchr_iter(*value.first()?, tail);
            places.find(|at| value.starts_with(tail.get(*at..).unwrap_or_default())).map(|at| start + at)
        };
        self.texts.iter().filter_map(begins).min().unwrap_or(text.len())
    }
}
