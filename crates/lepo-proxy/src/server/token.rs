//! The secret that identifies a program started by lepo, which sends it for a key.

use std::fs::File;
use std::io::Read;

use hyper::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};
use lepo_base::error::{Error, Result};

/// Headers in which clients send a key, besides `Authorization: Bearer`.
const KEY_HEADERS: &[&str] = &["x-api-key", "api-key", "x-goog-api-key"];

/// 128 random bits as hexadecimal digits, new at each start.
#[derive(Clone)]
pub struct ProxyToken(String);

impl ProxyToken {
    /// Makes a new token.
    pub fn random() -> Result<ProxyToken> {
        let mut bytes = [0; 16];
        let read = File::open("/dev/urandom").and_then(|mut file| file.read_exact(&mut bytes));
        read.map_err(|error| Error::store("cannot read /dev/urandom").because(error))?;
        Ok(ProxyToken(bytes.iter().map(|byte| format!("{byte:02x}")).collect()))
    }

    /// Returns the token as the value of a client's variable for a key. Clients may check its
    /// beginning.
    pub fn as_key(&self) -> String {
        format!("sk-lepo-{}", self.0)
    }

    /// Compares in a time that does not depend on where the first difference is.
    fn matches(&self, text: &[u8]) -> bool {
        let own = self.as_key();
        let differing = own.bytes().zip(text).fold(0, |bits, (a, b)| bits | (a ^ b));
        own.len() == text.len() && differing == 0
    }
}

/// The key in a client's request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClientKey {
    /// No key.
    Absent,
    /// lepo's own token.
    Token,
    /// A key of the client's.
    Own,
}

/// Returns the headers that have a key in them, and the bytes of the key.
fn keys(headers: &HeaderMap) -> impl Iterator<Item = (&HeaderName, &[u8])> {
    headers.iter().filter_map(|(name, value)| {
        let bytes = value.as_bytes();
        if *name == AUTHORIZATION {
            let (scheme, rest) = bytes.split_at_checked(7)?;
            return scheme.eq_ignore_ascii_case(b"bearer ").then_some((name, rest.trim_ascii()));
        }
        KEY_HEADERS.contains(&name.as_str()).then_some((name, bytes.trim_ascii()))
    })
}

impl ClientKey {
    /// Finds the token, or a key, in the headers of a request.
    pub fn find(headers: &HeaderMap, token: &ProxyToken) -> ClientKey {
        let mut found = ClientKey::Absent;
        for (_, key) in keys(headers).filter(|(_, key)| !key.is_empty()) {
            if token.matches(key) {
                return ClientKey::Token;
            }
            found = ClientKey::Own;
        }
        // Another scheme than bearer is the client's own way, too.
        match found {
            ClientKey::Absent if headers.contains_key(AUTHORIZATION) => {
                let is_bearer = keys(headers).any(|(name, _)| *name == AUTHORIZATION);
                if is_bearer { ClientKey::Absent } else { ClientKey::Own }
            }
            found => found,
        }
    }
}

/// Replaces all keys in the headers with one.
pub fn replace_key(headers: &mut HeaderMap, key: Option<&(HeaderName, HeaderValue)>) {
    headers.remove(AUTHORIZATION);
    for name in KEY_HEADERS {
        headers.remove(*name);
    }
    if let Some((name, value)) = key {
        headers.insert(name, value.clone());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_found_wherever_clients_put_their_key() {
        let (token, other) = (ProxyToken::random().unwrap(), ProxyToken::random().unwrap());
        assert_ne!(token.0, other.0);
        assert_eq!(token.0.len(), 32);
        let own = token.as_key();
        for (name, value, found) in [
            ("authorization", format!("Bearer {own}"), ClientKey::Token),
            ("authorization", format!("bearer {own}"), ClientKey::Token),
            ("x-api-key", own.clone(), ClientKey::Token),
            ("api-key", own.clone(), ClientKey::Token),
            ("x-api-key", other.as_key(), ClientKey::Own),
            ("authorization", format!("Bearer {own}0"), ClientKey::Own),
            ("authorization", "Basic dTpw".to_string(), ClientKey::Own),
            ("authorization", "Bearer ".to_string(), ClientKey::Absent),
            ("x-request-id", own.clone(), ClientKey::Absent),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(HeaderName::from_static(name), value.parse().unwrap());
            assert_eq!(ClientKey::find(&headers, &token), found, "{name}: {value}");
            replace_key(&mut headers, Some(&(AUTHORIZATION, HeaderValue::from_static("Bearer k"))));
            let sent: Vec<_> =
                headers.values().filter(|value| value.to_str().unwrap().contains(&own)).collect();
            assert!(sent.is_empty() || name == "x-request-id", "{headers:?}");
            assert_eq!(headers[AUTHORIZATION], "Bearer k");
        }
    }
}
