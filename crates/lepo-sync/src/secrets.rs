//! Looks for secrets in what would be sent: values that this machine keeps as secrets, and well-known shapes.
//!
//! Best effort: it finds what it knows, and nothing else.

use std::sync::OnceLock;

use grep_matcher::Matcher;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use memchr::memmem::Finder;

/// Values shorter than this are not looked for: they would be found in honest words.
const SHORTEST: usize = 8;

/// Shapes of keys by those who give them out.
const SHAPES: &[(&str, &str)] = &[
    ("an Anthropic key", r"\bsk-ant-[A-Za-z0-9_-]{20,}"),
    ("an OpenAI key", r"\bsk-(?:proj-|svcacct-)?[A-Za-z0-9_-]{32,}"),
    ("a GitHub token", r"\b(?:gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{40,})"),
    ("a GitLab token", r"\bglpat-[A-Za-z0-9_-]{20,}"),
    ("an AWS access key", r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b"),
    ("a Google key", r"\bAIza[0-9A-Za-z_-]{35}\b"),
    ("a Google token", r"\bya29\.[0-9A-Za-z_-]{20,}"),
    ("a Slack token", r"\bxox[abeoprs]-[A-Za-z0-9-]{10,}"),
    ("a Stripe key", r"\b[rs]k_live_[0-9A-Za-z]{20,}"),
    ("an npm token", r"\bnpm_[A-Za-z0-9]{36}\b"),
    ("a PyPI token", r"\bpypi-AgEIcHlwaS5vcmc[A-Za-z0-9_-]{20,}"),
    ("a Hugging Face token", r"\bhf_[A-Za-z0-9]{30,}\b"),
    ("a Docker token", r"\bdckr_pat_[A-Za-z0-9_-]{20,}"),
    ("a SendGrid key", r"\bSG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}"),
    ("a signed web token", r"\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}"),
    ("a private key", r"-----BEGIN (?:[A-Z]+ )*PRIVATE KEY-----"),
];

/// The secrets that are looked for.
pub struct Secrets {
    /// A name for each value, and a search for it.
    values: Vec<(String, Finder<'static>)>,
    /// All shapes at once, read when the first text is looked at: most syncs send nothing.
    any: OnceLock<Option<RegexMatcher>>,
    /// Each shape, read when one is found: most texts have none.
    each: OnceLock<Vec<Option<RegexMatcher>>>,
}

/// `None` is not reached: the shapes are constants, and a test reads them.
fn read(shape: &str) -> Option<RegexMatcher> {
    RegexMatcherBuilder::new().unicode(false).build(shape).ok()
}

impl Secrets {
    /// Looks for the values of these variables whose names say that they are secrets, for these other values,
    /// and for the shapes.
    pub fn new(
        variables: impl IntoIterator<Item = (String, String)>,
        others: impl IntoIterator<Item = (String, String)>,
    ) -> Secrets {
        let secret = |(name, _): &(String, String)| {
            let name = name.to_ascii_uppercase();
            ["_KEY", "_TOKEN", "_SECRET"].iter().any(|end| name.ends_with(end))
        };
        let named =
            variables.into_iter().filter(secret).map(|(name, value)| (format!("the value of {name}"), value));
        let values = named.chain(others).filter(|(_, value)| value.len() >= SHORTEST);
        let values = values.map(|(name, value)| (name, Finder::new(&value).into_owned())).collect();
        Secrets { values, any: OnceLock::new(), each: OnceLock::new() }
    }

    /// Does beforehand what the first search does once.
    pub fn prepare(&self) {
        self.any();
    }

    fn any(&self) -> Option<&RegexMatcher> {
        let shapes = || SHAPES.iter().map(|(_, shape)| format!("(?:{shape})")).collect::<Vec<String>>();
        self.any.get_or_init(|| read(&shapes().join("|"))).as_ref()
    }

    /// Names of the secrets that a text seems to hold; never their values. A search that fails finds.
    pub fn find(&self, text: &[u8]) -> Option<&str> {
        let value = self.values.iter().find(|(_, value)| value.find(text).is_some());
        if let Some((name, _)) = value {
            return Some(name);
        }
        let has =
            |shape: Option<&RegexMatcher>| shape.is_none_or(|shape| shape.is_match(text).unwrap_or(true));
        if !has(self.any()) {
            return None;
        }
        let each = self.each.get_or_init(|| SHAPES.iter().map(|(_, shape)| read(shape)).collect());
        SHAPES.iter().zip(each).find(|(_, shape)| has(shape.as_ref())).map(|((name, _), _)| *name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_and_shapes_are_found_and_words_are_not() {
        let pair = |name: &str, value: &str| (name.to_string(), value.to_string());
        let variables =
            [pair("MY_TOKEN", "hunter2-hunter2"), pair("SHORT_KEY", "abc"), pair("EDITOR", "vim-the-editor")];
        let secrets = Secrets::new(variables, [pair("the key of model gpt", "configured-key")]);
        for (text, found) in [
            ("say hunter2-hunter2 now", Some("the value of MY_TOKEN")),
            ("abc vim-the-editor", None),
            ("x configured-key", Some("the key of model gpt")),
            ("ghp_0123456789abcdefghijklmnopqrstuvwxyz", Some("a GitHub token")),
            ("key AKIAIOSFODNN7EXAMPLE.", Some("an AWS access key")),
            ("-----BEGIN OPENSSH PRIVATE KEY-----", Some("a private key")),
            ("sk-ant-api03-0123456789abcdefghij", Some("an Anthropic key")),
            ("the task-oriented sk-learn", None),
            ("", None),
        ] {
            assert_eq!(secrets.find(text.as_bytes()), found, "{text}");
        }
    }
}
