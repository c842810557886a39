//! Searches content to send for secrets: well-known formats, values that this machine stores as secrets, and ids of
//! AWS keys without the key.
//!
//! Best effort: detects only what it knows.

use lepo_secrets::{KnownValue, SecretFinder};

/// Detects secrets.
pub struct PushSecrets(SecretFinder);

impl PushSecrets {
    /// Detects these values and the well-known formats.
    pub fn new(values: impl IntoIterator<Item = KnownValue>) -> PushSecrets {
        PushSecrets(SecretFinder::new(values))
    }

    /// Does the work of the first search in advance.
    pub fn prepare(&self) {
        self.0.prepare();
    }

    /// Names the first apparent secret in a text, but never its value.
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
        let values = [
            KnownValue::of_variable("the value of MY_TOKEN", "hunter2-hunter2"),
            KnownValue::of_variable("the value of SHORT_KEY", "abc"),
            KnownValue::of_config("the key of model gpt", "configured-key"),
        ];
        let secrets = PushSecrets::new(values);
        let id = format!("key {}{}.", "AKIA", "QW3ERT7YUIOPASDF");
        for (text, found) in [
            ("say hunter2-hunter2 now", Some("the value of MY_TOKEN")),
            ("abc", None),
            ("x configured-key", Some("the key of model gpt")),
            (id.as_str(), Some("a secret (aws-key-id)")),
            ("the task-oriented sk-learn", None),
            ("", None),
        ] {
            assert_eq!(secrets.find(text.as_bytes()).as_deref(), found, "{text}");
        }
    }
}
