//! Looks for secrets in what would be sent: well-known shapes, values that this machine keeps as secrets, and ids of AWS
//! without their key.
//!
//! Best effort: it finds what it knows, and nothing else.

use lepo_secrets::{Finder, Value, is_named_secret};

/// The secrets that are looked for.
pub struct Secrets(Finder);

impl Secrets {
    /// Looks for the values of these variables whose names say that they are secrets, for these other values,
    /// and for the shapes.
    pub fn new(
        variables: impl IntoIterator<Item = (String, String)>,
        others: impl IntoIterator<Item = (String, String)>,
    ) -> Secrets {
        let named = variables.into_iter().filter(|(name, _)| is_named_secret(name));
        let named = named.map(|(name, value)| Value::of_variable(format!("the value of {name}"), value));
        let others = others.into_iter().map(|(name, value)| Value::of_config(name, value));
        Secrets(Finder::new(named.chain(others)))
    }

    /// Does beforehand what the first search does once.
    pub fn prepare(&self) {
        self.0.prepare();
    }

    /// Names the first secret that a text seems to hold; never its value.
    pub fn find(&self, text: &[u8]) -> Option<String> {
        let found = self.0.find_with_ids(text).into_iter().next()?;
        Some(found.name.unwrap_or_else(|| format!("a secret ({})", found.kind)))
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
        let id = format!("key {}{}.", "AKIA", "QW3ERT7YUIOPASDF");
        for (text, found) in [
            ("say hunter2-hunter2 now", Some("the value of MY_TOKEN")),
            ("abc vim-the-editor", None),
            ("x configured-key", Some("the key of model gpt")),
            (id.as_str(), Some("a secret (aws-key-id)")),
            ("the task-oriented sk-learn", None),
            ("", None),
        ] {
            assert_eq!(secrets.find(text.as_bytes()).as_deref(), found, "{text}");
        }
    }
}
