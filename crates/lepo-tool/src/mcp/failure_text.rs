//! Describes failures and results of a server without its secrets.

use serde_json::Value;

use super::client::{CallFailure, silence};
use super::secrets::ServerSecrets;
use lepo_base::error::quoted;

/// Removes the server's secrets from a result.
pub(super) fn hidden(value: Value, secrets: &ServerSecrets) -> Value {
    match value {
        Value::String(text) => Value::String(secrets.hide(&text)),
        Value::Array(items) => items.into_iter().map(|item| hidden(item, secrets)).collect(),
        Value::Object(object) => {
            Value::Object(object.into_iter().map(|(key, value)| (key, hidden(value, secrets))).collect())
        }
        other => other,
    }
}

pub(super) fn failure_text(failure: &CallFailure, secrets: &ServerSecrets, server: &str) -> String {
    let words = match failure {
        CallFailure::Refused(words)
        | CallFailure::NotStarted(words)
        | CallFailure::Lost(words)
        | CallFailure::Malformed(words) => words.clone(),
        CallFailure::Silent(limit) => silence(*limit),
        CallFailure::SignIn(needed) => {
            let scopes = needed.scope.iter().flat_map(|scope| scope.split(' '));
            // The scopes are the server's text, in a line that the user pastes into a shell.
            let scopes: String = scopes.map(|scope| format!(" --scope {}", quoted(scope))).collect();
            format!("{}; sign in with `lepo mcp login {}{scopes}`", needed.reason, quoted(server))
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
            reason: "no".into(),
            scope: Some("files:read a;id`x`".into()),
            ..SignInNeeded::default()
        };
        let words = failure_text(&CallFailure::SignIn(needed), &ServerSecrets::default(), "my s");
        assert_eq!(words, "no; sign in with `lepo mcp login 'my s' --scope files:read --scope 'a;id`x`'`");
    }
}
