//! The variables by which programs find the proxy.

use lepo_base::env::Env;
use lepo_proxy::ProxyToken;

/// Variables for keys, which always have the token: clients refuse to start without a key.
const KEYS: &[&str] = &["OPENAI_API_KEY", "ANTHROPIC_API_KEY", "CODEX_API_KEY"];

/// Variables for keys that change what a client does, and get the token only for a key.
const OTHER_KEYS: &[&str] = &["ANTHROPIC_AUTH_TOKEN", "OLLAMA_API_KEY"];

/// Returns the variables for a program, in the order in which they are printed.
pub fn proxy_variables(env: &Env, token: &ProxyToken, port: u16) -> Vec<(String, String)> {
    let address = format!("http://127.0.0.1:{port}");
    let mut variables = vec![
        ("OPENAI_BASE_URL".to_string(), format!("{address}/v1")),
        ("OPENAI_API_BASE".to_string(), format!("{address}/v1")),
        ("ANTHROPIC_BASE_URL".to_string(), address.clone()),
        ("OLLAMA_HOST".to_string(), address),
    ];
    let other = OTHER_KEYS.iter().filter(|name| env.get(name).is_some());
    variables.extend(KEYS.iter().chain(other).map(|name| (name.to_string(), token.as_key())));
    for (name, twin) in [("NO_PROXY", "no_proxy"), ("no_proxy", "NO_PROXY")] {
        let hosts = env.get(name).or_else(|| env.get(twin)).and_then(|hosts| hosts.to_str());
        let known = hosts.is_some_and(|hosts| hosts.split(',').any(|host| host.trim() == "127.0.0.1"));
        let hosts = match hosts {
            Some(hosts) if known => hosts.to_string(),
            Some(hosts) => format!("{hosts},127.0.0.1"),
            None => "127.0.0.1".to_string(),
        };
        variables.push((name.to_string(), hosts));
    }
    variables
}

/// Returns a line for a POSIX shell.
pub fn export_line(name: &str, value: &str) -> String {
    format!("export {name}='{}'", value.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_gets_the_token_and_no_key() {
        let token = ProxyToken::random().unwrap();
        let env = Env::from_pairs(&[
            ("OPENAI_API_KEY", "sk-own"),
            ("ANTHROPIC_AUTH_TOKEN", "own"),
            ("no_proxy", "intranet"),
        ]);
        let variables = proxy_variables(&env, &token, 9);
        let value = |name: &str| {
            let found = variables.iter().find(|(other, _)| other == name);
            found.map(|(_, value)| value.replace(&token.as_key(), "TOKEN"))
        };
        for (name, expected) in [
            ("OPENAI_BASE_URL", Some("http://127.0.0.1:9/v1")),
            ("OPENAI_API_BASE", Some("http://127.0.0.1:9/v1")),
            ("ANTHROPIC_BASE_URL", Some("http://127.0.0.1:9")),
            ("OLLAMA_HOST", Some("http://127.0.0.1:9")),
            ("OPENAI_API_KEY", Some("TOKEN")),
            ("ANTHROPIC_API_KEY", Some("TOKEN")),
            ("CODEX_API_KEY", Some("TOKEN")),
            ("ANTHROPIC_AUTH_TOKEN", Some("TOKEN")),
            ("OLLAMA_API_KEY", None),
            ("NO_PROXY", Some("intranet,127.0.0.1")),
            ("no_proxy", Some("intranet,127.0.0.1")),
        ] {
            assert_eq!(value(name).as_deref(), expected, "{name}");
        }
        assert_eq!(export_line("A", "it's"), "export A='it'\\''s'");
    }
}
