//! Finds servers and keys that appear twice in `mcp.json`: a JSON parser silently uses the last.

use std::collections::HashSet;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use crate::mcp::notice::KeyFault;

/// Paths of the objects that contain servers: of most clients, VS Code twice, Zed and Codex.
pub const ROOTS: [&[&str]; 5] =
    [&["mcpServers"], &["servers"], &["mcp", "servers"], &["context_servers"], &["mcp_servers"]];

/// Levels of objects to search: the document, `mcp`, the servers, a server, its variables.
const DEPTH: usize = 5;

/// Longest path below the servers, in keys: a server, its key, a variable.
const BELOW: usize = 3;

/// Returns the paths, below the servers, of all keys that appear twice; empty if the text is not JSON.
pub fn keys_twice(bytes: &[u8]) -> Vec<Vec<String>> {
    let (mut path, mut twice) = (Vec::new(), Vec::new());
    let level = JsonLevel { depth: DEPTH, path: &mut path, twice: &mut twice };
    let read = level.deserialize(&mut serde_json::Deserializer::from_slice(bytes));
    if read.is_ok() { twice } else { Vec::new() }
}

pub fn duplicate_key<'t>(twice: &'t [Vec<String>], name: &'t str) -> impl Iterator<Item = KeyFault> + 't {
    twice.iter().filter_map(move |path| match path.as_slice() {
        [] => Some(KeyFault::Twice(None)),
        [server, keys @ ..] if server == name => {
            Some(KeyFault::Twice(Some(keys.join(".")).filter(|keys| !keys.is_empty())))
        }
        _ => None,
    })
}

fn below_root(path: &[String]) -> Option<&[String]> {
    let is_root = |root: &&&[&str]| path.len() >= root.len() && path.iter().zip(**root).all(|(a, b)| a == b);
    let below = path.get(ROOTS.iter().find(is_root)?.len()..)?;
    (below.len() <= BELOW).then_some(below)
}

struct JsonLevel<'l> {
    depth: usize,
    path: &'l mut Vec<String>,
    twice: &'l mut Vec<Vec<String>>,
}

impl<'de> DeserializeSeed<'de> for JsonLevel<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        match self.depth {
            0 => deserializer.deserialize_ignored_any(IgnoredAny).map(drop),
            _ => deserializer.deserialize_any(self),
        }
    }
}

impl<'de> Visitor<'de> for JsonLevel<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let mut seen = HashSet::new();
        while let Some(key) = map.next_key::<String>()? {
            self.path.push(key.clone());
            if !seen.insert(key)
                && let Some(below) = below_root(self.path)
                && !self.twice.iter().any(|known| known == below)
            {
                self.twice.push(below.to_vec());
            }
            map.next_value_seed(JsonLevel { depth: self.depth - 1, path: self.path, twice: self.twice })?;
            self.path.pop();
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        while items.next_element::<IgnoredAny>()?.is_some() {}
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_that_stands_twice_is_found() {
        for (text, expected) in [
            (r#"{"mcpServers":{"a":{"args":[{"e":1,"e":2}],"b":null,"c":-1.5,"d":true}}}"#, ""),
            (r#"{"mcpServers":{"a":{},"b":{},"a":{}}}"#, "a"),
            (r#"{"mcpServers":{"a":{},"\u0061":{}}}"#, "a"),
            (
                r#"{"mcpServers":{"a":{"command":"x","command":"y"},"b":{"url":1,"url":2}}}"#,
                "a.command b.url",
            ),
            (r#"{"mcpServers":{"a":{"env":{"A":"1","A":"2","A":"3"}}}}"#, "a.env.A"),
            (r#"{"mcpServers":{},"mcpServers":{}}"#, "-"),
            (r#"{"servers":{"a":{"url":"x","url":"y"}}}"#, "a.url"),
            (r#"{"mcp":{"servers":{"a":{"url":"x","url":"y"}},"inputs":1,"inputs":2}}"#, "a.url"),
            (r#"{"mcpServers":{"a":{"env":{"A":{"b":1,"b":2}}}}}"#, ""),
            (r#"{"inputs":1,"inputs":2,"other":{"a":1,"a":2}}"#, ""),
            ("{", ""),
        ] {
            let found = keys_twice(text.as_bytes());
            let found = found.iter().map(|path| if path.is_empty() { "-".into() } else { path.join(".") });
            assert_eq!(found.collect::<Vec<String>>().join(" "), expected, "{text}");
        }
    }
}
