//! The tools of a request by name; finds the tool that a model means by an inexact name.

use super::message::ToolSpec;
use lepo_base::tool_name::{bare_name, folded_name};

/// Longest name of a tool (a rule of the APIs).
const LONGEST: usize = 64;

/// Names of the tools of a request.
#[derive(Debug, Clone, Default)]
pub(super) struct ToolNames(Vec<String>);

impl ToolNames {
    pub fn new(tools: &[ToolSpec]) -> ToolNames {
        ToolNames(tools.iter().map(|tool| tool.name.clone()).collect())
    }

    pub fn has(&self, name: &str) -> bool {
        self.0.iter().any(|known| known == name)
    }

    /// Returns the name of the only tool that may be meant. If several or no tools may be, returns the name without
    /// parts that cannot belong to one.
    pub fn resolve(&self, name: &str) -> String {
        if self.has(name) {
            return name.to_owned();
        }
        let bare = bare_name(name);
        let only = |is_it: &dyn Fn(&&String) -> bool| {
            let mut found = self.0.iter().filter(is_it);
            found.next().filter(|_| found.next().is_none()).cloned()
        };
        only(&|known| *known == bare)
            .or_else(|| only(&|known| folded_name(known) == folded_name(bare)))
            // The tool of a server, without the server's name.
            .or_else(|| {
                only(&|known| {
                    known.split_once("__").is_some_and(|(_, tool)| folded_name(tool) == folded_name(bare))
                })
            })
            .unwrap_or_else(|| bare.to_owned())
    }
}

/// Changes a name so that every API accepts it in later requests.
pub(super) fn legal_name(name: &str) -> String {
    let is_legal = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    let legal: String = name.chars().take(LONGEST).map(|c| if is_legal(c) { c } else { '_' }).collect();
    if legal.is_empty() { "unnamed".to_owned() } else { legal }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn names(names: &[&str]) -> ToolNames {
        let tool =
            |name: &&str| ToolSpec { name: (*name).into(), description: String::new(), schema: json!({}) };
        ToolNames::new(&names.iter().map(tool).collect::<Vec<_>>())
    }

    #[test]
    fn the_one_tool_that_can_be_meant_is_found() {
        let tools = names(&["run_command", "fs__read_file", "db__Query", "web__query"]);
        for (name, meant) in [
            ("run_command", "run_command"),
            ("functions.run_command", "run_command"),
            ("default_api.run_command", "run_command"),
            ("functions.run_command:0", "run_command"),
            ("Run_Command", "run_command"),
            ("runCommand", "run_command"),
            ("run-command", "run_command"),
            (" run_command\n", "run_command"),
            ("`run_command`", "run_command"),
            ("run_command<|channel|>commentary", "run_command"),
            ("run_command<|constrain|>json", "run_command"),
            ("fs.read_file", "fs__read_file"),
            ("read_file", "fs__read_file"),
            // Two tools may be meant, or no tool.
            ("query", "query"),
            ("no_such_tool", "no_such_tool"),
            ("functions.", "functions."),
            ("<|x|>", ""),
            ("", ""),
        ] {
            assert_eq!(tools.resolve(name), meant, "{name:?}");
        }
        assert_eq!(names(&[]).resolve("functions.x"), "x");
    }

    #[test]
    fn a_name_that_is_sent_back_is_legal() {
        for (name, expected) in [
            ("a-B_9", "a-B_9"),
            ("no such", "no_such"),
            ("", "unnamed"),
            ("안", "_"),
            (&"x".repeat(80), &"x".repeat(64)),
        ] {
            assert_eq!(legal_name(name), expected);
        }
    }
}
