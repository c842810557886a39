//! Headers of a request: those of the API, and the key.

use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};

use super::provider_spec::{Auth, HttpSpec};
use crate::ApiKey;
use lepo_base::error::{Error, Result};

fn fixed(
    headers: &'static [(&'static str, &'static str)],
) -> impl Iterator<Item = (HeaderName, HeaderValue)> {
    headers.iter().map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)))
}

/// Returns the headers of every request: the API's own, and the key.
pub(super) fn headers(key: &ApiKey, api: &HttpSpec) -> Result<HeaderMap> {
    let mut headers = HeaderMap::new();
    headers.extend(fixed(api.headers));
    let Some(secret) = &key.value else { return Ok(headers) };
    let (name, text) = match api.auth {
        Auth::Header(name) if !key.bearer => (HeaderName::from_static(name), secret.reveal().to_owned()),
        _ => (AUTHORIZATION, format!("Bearer {}", secret.reveal())),
    };
    // A header may contain any byte above 127; in a key, such a byte comes from a faulty copy.
    let sound = HeaderValue::from_str(&text).ok().filter(|_| odd_character(secret.reveal()).is_none());
    let mut value = sound.ok_or_else(|| {
        let odd =
            odd_character(secret.reveal()).unwrap_or_else(|| "characters that cannot be sent".to_string());
        Error::usage(format!("the key cannot be right: it has {odd}"))
            .hint(format!("copy it once more, as plain text: {}", key.looked_for))
    })?;
    value.set_sensitive(true);
    headers.insert(name, value);
    Ok(headers)
}

/// Names the kind of the first character that cannot be in a key, and its position: the key itself is never printed.
fn odd_character(key: &str) -> Option<String> {
    let is_odd = |letter: &char| !matches!(letter, ' '..='~');
    let (index, letter) = key.chars().enumerate().find(|(_, letter)| is_odd(letter))?;
    let kind = match letter {
        '\n' | '\r' => "a line break",
        letter if letter.is_control() => "a control character",
        letter if letter.is_whitespace() => "a blank of another kind",
        '\u{ad}'
        | '\u{200b}'..='\u{200f}'
        | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{2069}'
        | '\u{feff}' => "an invisible character",
        '\u{2018}'..='\u{201f}' => "a curly quotation mark",
        '\u{2010}'..='\u{2015}' | '\u{2212}' => "a long dash",
        '\u{2022}' | '\u{25cf}' | '\u{2026}' => "a mark in place of its letters",
        _ => "a letter that is not ASCII",
    };
    Some(format!("{kind} (U+{:04X}, character {})", letter as u32, index + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_character_that_no_key_has_is_named_and_the_key_is_not_shown() {
        for (odd, named) in [
            ("\u{200b}", "an invisible character (U+200B, character 4)"),
            ("\u{feff}", "an invisible character (U+FEFF, character 4)"),
            ("\u{a0}", "a blank of another kind (U+00A0, character 4)"),
            ("\u{201c}", "a curly quotation mark (U+201C, character 4)"),
            ("\u{2013}", "a long dash (U+2013, character 4)"),
            ("\u{2022}", "a mark in place of its letters (U+2022, character 4)"),
            ("\n", "a line break (U+000A, character 4)"),
            ("\t", "a control character (U+0009, character 4)"),
            ("키", "a letter that is not ASCII (U+D0A4, character 4)"),
        ] {
            assert_eq!(odd_character(&format!("abc{odd}def")).as_deref(), Some(named));
        }
    }

    #[test]
    fn keys_as_they_were_pasted_are_refused_with_the_character_named() {
        for (report, key, named) in [
            (
                "https://github.com/openclaw/openclaw/pull/33673",
                "\u{201c}abc\u{201d}",
                "a curly quotation mark (U+201C, character 1)",
            ),
            (
                "https://github.com/btseytlin/hr-breaker/pull/33",
                "ab\u{430}c",
                "a letter that is not ASCII (U+0430, character 3)",
            ),
            (
                "https://github.com/simonw/llm/pull/1636",
                "abc\u{200b}",
                "an invisible character (U+200B, character 4)",
            ),
            (
                "https://github.com/thevoiceguy/siphon-ai/pull/34",
                "\u{2026}",
                "a mark in place of its letters (U+2026, character 1)",
            ),
            (
                "https://github.com/NousResearch/hermes-agent/pull/9946",
                "abc\u{28b}d",
                "a letter that is not ASCII (U+028B, character 4)",
            ),
            (
                "https://github.com/theopenco/llmgateway/pull/2153",
                "abcdefghijkl\u{2022}\u{2022}",
                "a mark in place of its letters (U+2022, character 13)",
            ),
            (
                "https://github.com/Xzandro/sw-exporter/issues/232",
                "abc\r",
                "a line break (U+000D, character 4)",
            ),
            (
                "https://github.com/Anil-matcha/Open-Generative-AI/pull/315",
                "ab\u{1f600}c",
                "a letter that is not ASCII (U+1F600, character 3)",
            ),
        ] {
            assert_eq!(odd_character(key).as_deref(), Some(named), "{report}");
        }
    }
}
