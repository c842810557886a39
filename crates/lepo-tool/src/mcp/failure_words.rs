//! Describes failures and results of a server without its secrets.

use serde_json::Value;

use super::client::{Failure, silence};
use super::secrets::Secrets;
use lepo_base::error::quoted;

/// Removes the server's secrets from a result.
pub(super) fn hidden(value: Value, secrets: &Secrets) -> Value {
    match value {
        Value::String(text) => Value::String(secrets.hide(&text)),
        Value::Array(items) => items.into_iter().map(|item| hidden(item, secrets)).collect(),
        Value::Object(object) => {
            Value::Object(object.into_iter().map(|(key, value)| (key, hidden(value, secrets))).collect())
        }
        other => other,
    }
}

pub(super) fn failure_words(failure: &Failure, secrets: &Secrets, server: &str) -> String {
    let words = match failure {
        Failure::Refused(words)
        | Failure::NotStarted(words)
        | Failure::Lost(words)
        | Failure::Malformed(words) => words.clone(),
        Failure::Silent(limit) => silence(*limit),
        Failure::SignIn(needed) => {
            let scopes = needed.scope.iter().flat_map(|scope| scope.split(' '));
            // The scopes are the server's text, in a line that the user pastes into a shell.
            let scopes: String = scopes.map(|scope| format!(" --scope {}", quoted(scope))).collect();
            format!("{}; sign in with `lepo mcp login {}{scopes}`", needed.words, quoted(server))
        }
    };
    secrets.hide_all(&words)
}

#[cfg(test)]
mod tests {
    use super::super::client::SignInNeeded;
    use super::*;

    #[test]
    fn a_scope_that_a_server_names_is_one_word_of_the_command() {
        let needed = SignInNeeded {
            words: "no".into(),
            scope: Some("files:read a;id`x`".into()),
            ..SignInNeeded::default()
        };
        let words = failure_words(&Failure::SignIn(needed), &Secrets::default(), "my s");
        assert_eq!(words, "no; sign in with `lepo mcp login 'my s' --scope files:read --scope 'a;id`x`'`");
    }
}
