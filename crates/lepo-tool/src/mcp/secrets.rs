//! Removes the secrets of a server's configuration from messages about it.

use std::sync::PoisonError;

use super::client::auth::LiveSecrets;
use crate::env_filter::is_secret_name;
use crate::mcp::config::{ServerConfig, ServerTarget};
use lepo_base::secret::Secret;

/// Shorter values are not treated as secrets, in bytes: they would riddle a text with holes.
const SHORTEST: usize = 8;

/// Shortest value that may look random, in bytes.
const RANDOM: usize = 20;

#[derive(Debug, Clone, Default)]
pub struct ServerSecrets {
    /// Secrets by their position or their name: removed everywhere.
    certain: Vec<Secret>,
    /// All other values of its environment: removed from errors and logs, where they are not needed.
    possible: Vec<Secret>,
    /// Secrets of the sign-in, as they change: removed everywhere.
    pub live: LiveSecrets,
}

impl ServerSecrets {
    pub fn from_config(server: &ServerConfig) -> ServerSecrets {
        let mut secrets = ServerSecrets::default();
        match &server.target {
            ServerTarget::Program { env, .. } => {
                for (name, value) in env {
                    let list =
                        if is_secret_name(name) { &mut secrets.certain } else { &mut secrets.possible };
                    list.push(value.clone());
                }
            }
            ServerTarget::Remote { url, headers, identity, .. } => {
                secrets.certain.extend(identity.client_secret.clone());
                let is_one = |name: &str, value: &str| is_secret_name(name) || looks_random(value);
                for (name, value) in headers {
                    let text = value.reveal();
                    if !is_one(name, text) {
                        continue;
                    }
                    // `Bearer TOKEN`: the server may echo the token alone.
                    let token = text.split_once(' ').map(|(_, token)| Secret::new(token.trim()));
                    secrets.certain.extend(token);
                    secrets.certain.push(value.clone());
                }
                let in_query: Vec<Secret> = url
                    .query_pairs()
                    .filter(|(name, value)| is_one(name, value))
                    .map(|(_, value)| Secret::new(value))
                    .collect();
                secrets.certain.extend(url.query().filter(|_| !in_query.is_empty()).map(Secret::new));
                secrets.certain.extend(in_query);
                secrets.certain.extend(url.password().map(Secret::new));
            }
        }
        for (name, value) in &server.details.filled {
            let certain = is_secret_name(name) || looks_random(value.reveal());
            if certain { &mut secrets.certain } else { &mut secrets.possible }.push(value.clone());
        }
        for list in [&mut secrets.certain, &mut secrets.possible] {
            list.retain(|secret| secret.reveal().len() >= SHORTEST);
            // The longest first: a secret may be part of another.
            list.sort_by_key(|secret| std::cmp::Reverse(secret.reveal().len()));
        }
        secrets
    }

    /// Removes secrets from a tool's result, which a model will read.
    pub fn hide(&self, text: &str) -> String {
        let text = without(text.to_string(), &self.certain);
        without(text, &self.live.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Removes secrets from an error or from a log line.
    pub fn hide_all(&self, text: &str) -> String {
        without(self.hide(text), &self.possible)
    }
}

/// Whether the last word of `value` is long, and has digits, letters and many different characters: not an ordinary
/// word.
fn looks_random(value: &str) -> bool {
    let value = value.rsplit(' ').next().unwrap_or(value);
    let different: std::collections::HashSet<char> = value.chars().collect();
    value.len() >= RANDOM
        && different.len() >= RANDOM / 2
        && value.chars().any(|c| c.is_ascii_digit())
        && value.chars().any(|c| c.is_ascii_alphabetic())
        && value.chars().all(|c| c.is_ascii_alphanumeric() || "-_.+/=~:".contains(c))
}

fn without(text: String, secrets: &[Secret]) -> String {
    secrets.iter().fold(text, |text, secret| match text.contains(secret.reveal()) {
        true => text.replace(secret.reveal(), "[secret]"),
        false => text,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server(fields: &str) -> ServerSecrets {
        let text = format!(r#"{{"mcpServers":{{"s":{fields}}}}}"#);
        ServerSecrets::from_config(&crate::mcp::config::parse("m".as_ref(), text.as_bytes()).unwrap()[0])
    }

    #[test]
    fn secrets_are_taken_out_and_nothing_else() {
        for (fields, text, hidden, all_hidden) in [
            (
                r#"{"command":"x","env":{"API_KEY":"sk-123456","DIR":"/home/me","N":"1"}}"#,
                "sk-123456 in /home/me, 1",
                "[secret] in /home/me, 1",
                "[secret] in [secret], 1",
            ),
            (
                r#"{"url":"http://u:pass-word@h/?token=abcdefgh","headers":{"Authorization":"Bearer tok-12345"}}"#,
                "tok-12345 http://u:pass-word@h/?token=abcdefgh",
                "[secret] http://u:[secret]@h/?[secret]",
                "[secret] http://u:[secret]@h/?[secret]",
            ),
            // Ordinary values are not secrets, whatever they are configured for.
            (
                r#"{"url":"http://h/?mode=readonly","headers":{"X-Region":"europe-west","X-Id":"a8F3kQ0z9LmN2pR7tVx1"}}"#,
                "readonly in europe-west a8F3kQ0z9LmN2pR7tVx1",
                "readonly in europe-west [secret]",
                "readonly in europe-west [secret]",
            ),
        ] {
            let secrets = server(fields);
            assert_eq!((secrets.hide(text), secrets.hide_all(text)), (hidden.into(), all_hidden.into()));
        }
    }
}
