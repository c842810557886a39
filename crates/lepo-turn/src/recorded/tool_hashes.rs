//! Hashes of a request's tools, for each server: a later request can name the server whose change costs the cache.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::native::{RUN_COMMAND, run_command};
use lepo_base::hash::{hash_of, sha256_hex};
use lepo_model::ToolSpec;
use lepo_tool::mcp::{Server, native_name};

/// Hexadecimal digits of a hash in the journal.
const DIGITS: usize = 16;

/// Key of the tool for skills, which look-ups do not compare: like the catalogue, it comes from files.
const SKILLS: &str = "skill";

/// The hashes of the tools of a request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ToolHashes {
    /// By server; lepo's own tools by their names.
    by_server: BTreeMap<String, String>,
    /// The only hash that lepo wrote before.
    combined: Option<String>,
}

impl ToolHashes {
    /// Computes the hashes of lepo's tool for commands and the tools of servers; empty without tools.
    pub fn new(commands: bool, servers: &[Server]) -> ToolHashes {
        let lines_of = |server: &Server| {
            let name = server.config.name.clone();
            let tool = move |tool: &lepo_tool::mcp::Tool| {
                format!("{} {}", native_name(&name, &tool.name), canonical(tool.parameters()))
            };
            server.tools.iter().map(tool).collect::<Vec<_>>()
        };
        let commands_line = commands.then(|| RUN_COMMAND.to_string());
        let mut lines: Vec<String> =
            commands_line.into_iter().chain(servers.iter().flat_map(lines_of)).collect();
        lines.sort();
        let commands_line = commands.then(|| (RUN_COMMAND.to_string(), hash_of_specs(&[run_command()])));
        let of_server = |server: &Server| {
            let mut lines: Vec<String> = lines_of(server);
            lines.extend(server.tools.iter().map(|tool| tool.description.clone()));
            (server.config.name.clone(), hash_of_lines(&lines))
        };
        let with_tools = servers.iter().filter(|server| !server.tools.is_empty());
        ToolHashes {
            by_server: commands_line.into_iter().chain(with_tools.map(of_server)).collect(),
            combined: (!lines.is_empty()).then(|| hash_of_lines(&lines)),
        }
    }

    /// Adds the tool for skills.
    pub fn with_skills(mut self, tool: Option<ToolSpec>) -> ToolHashes {
        self.by_server.extend(tool.map(|tool| (SKILLS.to_string(), hash_of_specs(&[tool]))));
        self
    }

    /// Returns the journal's value; `None` without tools.
    pub fn to_json(&self) -> Option<Value> {
        let hashes = self.by_server.iter().map(|(name, hash)| (name.clone(), Value::from(hash.as_str())));
        let hashes: Map<String, Value> = hashes.collect();
        (!hashes.is_empty()).then_some(Value::Object(hashes))
    }

    /// Whether a recorded answer had these tools, apart from skills.
    pub fn matches(&self, recorded: Option<&Value>) -> bool {
        match recorded {
            Some(Value::String(whole)) => self.combined.as_ref() == Some(whole),
            _ => self.changes_since(recorded).iter().all(|(name, _)| name == SKILLS),
        }
    }

    /// Returns the servers whose tools differ from recorded ones, in order, each with the difference.
    pub fn changes_since(&self, recorded: Option<&Value>) -> Vec<(String, &'static str)> {
        let nothing = Map::new();
        let recorded = match recorded {
            Some(Value::String(whole)) if self.combined.as_ref() == Some(whole) => return Vec::new(),
            Some(Value::String(_)) => return vec![("all".into(), "changed")],
            recorded => recorded.and_then(Value::as_object).unwrap_or(&nothing),
        };
        let names: std::collections::BTreeSet<&String> =
            self.by_server.keys().chain(recorded.keys()).collect();
        let change = |name: &String| match (self.by_server.get(name), recorded.get(name)) {
            (Some(own), Some(other)) if other == own.as_str() => None,
            (Some(_), Some(_)) => Some("changed"),
            (Some(_), None) => Some("is new"),
            (None, _) => Some("is gone"),
        };
        names.into_iter().filter_map(|name| Some((name.clone(), change(name)?))).collect()
    }
}

/// Serialises JSON with sorted keys.
pub(super) fn canonical(mut value: Value) -> String {
    value.sort_all_objects();
    value.to_string()
}

/// Returns the journal's hash of a JSON value, in which the order of keys is of no concern.
pub fn hash_of_json(value: Value) -> String {
    short(&sha256_hex(canonical(value).as_bytes()))
}

pub(super) fn short(hash: &str) -> String {
    hash.chars().take(DIGITS).collect()
}

fn hash_of_specs(specs: &[ToolSpec]) -> String {
    let line =
        |spec: &ToolSpec| format!("{} {} {}", spec.name, spec.description, canonical(spec.schema.clone()));
    hash_of_lines(&specs.iter().map(line).collect::<Vec<_>>())
}

fn hash_of_lines(lines: &[String]) -> String {
    let parts: Vec<&[u8]> = lines.iter().map(String::as_bytes).collect();
    short(&hash_of(&parts))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn tools_that_there_are_none_of_have_no_hash() {
        assert_eq!(ToolHashes::new(false, &[]).to_json(), None);
        assert!(ToolHashes::new(true, &[]).to_json().is_some());
        assert!(ToolHashes::new(false, &[]).matches(None) && !ToolHashes::new(true, &[]).matches(None));
    }

    #[test]
    fn a_difference_names_the_server() {
        let now = ToolHashes::new(true, &[]);
        let own = now.to_json().unwrap()[RUN_COMMAND].clone();
        let whole = json!(now.combined);
        for (recorded, changes) in [
            (json!({ RUN_COMMAND: own }), vec![]),
            (json!({ RUN_COMMAND: "0" }), vec![(RUN_COMMAND, "changed")]),
            (json!({ RUN_COMMAND: own, "time": "1" }), vec![("time", "is gone")]),
            (json!({ "a": "1" }), vec![("a", "is gone"), (RUN_COMMAND, "is new")]),
            // As earlier versions wrote it.
            (whole, vec![]),
            (json!("0"), vec![("all", "changed")]),
        ] {
            let found = now.changes_since(Some(&recorded));
            let found: Vec<(&str, &str)> = found.iter().map(|(name, what)| (name.as_str(), *what)).collect();
            assert_eq!(found, changes, "{recorded}");
            assert_eq!(now.matches(Some(&recorded)), changes.is_empty(), "{recorded}");
        }
        let skills = json!({ RUN_COMMAND: own, SKILLS: "1" });
        assert!(now.matches(Some(&skills)) && !now.changes_since(Some(&skills)).is_empty());
    }
}
