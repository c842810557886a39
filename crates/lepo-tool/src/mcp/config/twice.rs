//! Finds a server or a key of one that stands twice in `mcp.json`: a reader of JSON keeps the last in silence.

use std::collections::HashSet;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// The keys of the object that holds the servers.
pub const ROOTS: [&str; 2] = ["mcpServers", "servers"];

/// The levels of objects that are looked at: of the document, the servers, a server, its variables.
const DEPTH: usize = 4;

/// The first mistake of this kind, and what to do about it. None in what is not JSON.
pub fn told_twice(bytes: &[u8]) -> Option<(String, &'static str)> {
    let (mut path, mut twice) = (Vec::new(), None);
    let level = Level { depth: DEPTH, path: &mut path, twice: &mut twice };
    level.deserialize(&mut serde_json::Deserializer::from_slice(bytes)).ok()?;
    let twice: Vec<String> = twice?;
    Some(match twice.as_slice() {
        [_, name] => (format!("server {name:?} appears twice"), "give each server a name of its own"),
        [_, name, keys @ ..] => {
            (format!("server {name:?}: `{}` appears twice", keys.join(".")), "leave one of them out")
        }
        [root] => (format!("`{root}` appears twice"), "put all servers into one of them"),
        [] => return None,
    })
}

struct Level<'l> {
    depth: usize,
    path: &'l mut Vec<String>,
    twice: &'l mut Option<Vec<String>>,
}

impl<'de> DeserializeSeed<'de> for Level<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        match self.depth {
            0 => deserializer.deserialize_ignored_any(IgnoredAny).map(drop),
            _ => deserializer.deserialize_any(self),
        }
    }
}

impl<'de> Visitor<'de> for Level<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let mut seen = HashSet::new();
        while let Some(key) = map.next_key::<String>()? {
            self.path.push(key.clone());
            let is_own = self.path.first().is_some_and(|first| ROOTS.contains(&first.as_str()));
            if !seen.insert(key) && is_own && self.twice.is_none() {
                *self.twice = Some(self.path.clone());
            }
            map.next_value_seed(Level { depth: self.depth - 1, path: self.path, twice: self.twice })?;
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
    fn the_first_key_that_stands_twice_is_found() {
        for (text, expected) in [
            (r#"{"mcpServers":{"a":{"args":[{"e":1,"e":2}],"b":null,"c":-1.5,"d":true}}}"#, None),
            (r#"{"mcpServers":{"a":{},"b":{},"a":{}}}"#, Some("server \"a\" appears twice")),
            (r#"{"mcpServers":{"a":{},"\u0061":{}}}"#, Some("server \"a\" appears twice")),
            (
                r#"{"mcpServers":{"a":{"command":"x","command":"y"}}}"#,
                Some("server \"a\": `command` appears twice"),
            ),
            (
                r#"{"mcpServers":{"a":{"env":{"A":"1","A":"2"}}}}"#,
                Some("server \"a\": `env.A` appears twice"),
            ),
            (r#"{"mcpServers":{},"mcpServers":{}}"#, Some("`mcpServers` appears twice")),
            (r#"{"servers":{"a":{"url":"x","url":"y"}}}"#, Some("server \"a\": `url` appears twice")),
            (r#"{"mcpServers":{"a":{"env":{"A":{"b":1,"b":2}}}}}"#, None),
            (r#"{"inputs":1,"inputs":2,"other":{"a":1,"a":2}}"#, None),
            ("{", None),
        ] {
            assert_eq!(told_twice(text.as_bytes()).map(|(what, _)| what).as_deref(), expected, "{text}");
        }
    }
}
