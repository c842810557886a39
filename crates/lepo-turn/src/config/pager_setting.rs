//! Which commands use a pager: all, none, or each as the user says.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::mistake::{unfit, wrong_type};
use super::setting_value::SettingValue;

/// The commands that can use a pager.
const COMMANDS: &[&str] =
    &["branch", "config", "diff", "grep", "log", "ls", "model", "prompt", "show", "stats"];

const WANTED: &str = "true, false, or a table of commands, as in pager = { ls = false }";

/// Whether long output of a command goes through a pager.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PagerChoice {
    /// For commands that are not named.
    other: bool,
    named: BTreeMap<String, bool>,
}

impl PagerChoice {
    /// `command` is its first word.
    pub fn has_pager(&self, command: &str) -> bool {
        self.named.get(command).copied().unwrap_or(self.other)
    }
}

impl Default for PagerChoice {
    fn default() -> PagerChoice {
        PagerChoice { other: true, named: BTreeMap::new() }
    }
}

impl SettingValue for PagerChoice {
    fn read<'de, D: Deserializer<'de>>(value: D) -> Result<PagerChoice, D::Error> {
        match Value::deserialize(value)? {
            Value::Bool(other) => Ok(PagerChoice { other, named: BTreeMap::new() }),
            Value::Object(table) => {
                let mut named = BTreeMap::new();
                for (command, value) in table {
                    if !COMMANDS.contains(&command.as_str()) {
                        let what = format_args!("names \"{command}\", which has no pager");
                        return Err(unfit(what, format_args!("allowed: {}", COMMANDS.join(", "))));
                    }
                    named.insert(command, value.as_bool().ok_or_else(|| wrong_type(&WANTED))?);
                }
                Ok(PagerChoice { named, ..PagerChoice::default() })
            }
            _ => Err(wrong_type(&WANTED)),
        }
    }

    fn to_display(&self) -> String {
        let named: Vec<String> =
            self.named.iter().map(|(command, is_paged)| format!("{command} = {is_paged}")).collect();
        match named.is_empty() {
            true => self.other.to_string(),
            false => format!("{{ {} }}", named.join(", ")),
        }
    }

    fn allowed() -> Option<String> {
        Some("true | false | { COMMAND = false }".to_string())
    }
}
