//! Which commands use a pager: all, none, or each as the user says.

use std::collections::BTreeMap;

use toml::de::DeValue;

use super::field::FieldReader;
use super::setting_value::SettingValue;
use lepo_base::error::{Error, Result};

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
    type Limits = ();

    fn from_toml(field: &FieldReader<'_>, (): &()) -> Result<PagerChoice> {
        match field.value.get_ref() {
            DeValue::Boolean(other) => Ok(PagerChoice { other: *other, named: BTreeMap::new() }),
            DeValue::Table(table) => {
                let mut named = BTreeMap::new();
                for (command, value) in table {
                    let command = command.get_ref().to_string();
                    if !COMMANDS.contains(&command.as_str()) {
                        let allowed = format!("allowed: {}", COMMANDS.join(", "));
                        return Err(field.error(&format!("names \"{command}\", which has no pager"), allowed));
                    }
                    let Some(is_paged) = value.get_ref().as_bool() else {
                        return Err(field.wrong_type(WANTED));
                    };
                    named.insert(command, is_paged);
                }
                Ok(PagerChoice { named, ..PagerChoice::default() })
            }
            _ => Err(field.wrong_type(WANTED)),
        }
    }

    fn from_env(variable: &str, text: &str, (): &()) -> Result<PagerChoice> {
        let other = text.parse().map_err(|_| Error::usage(format!("{variable} is true or false")))?;
        Ok(PagerChoice { other, named: BTreeMap::new() })
    }

    fn to_display(&self) -> String {
        let named: Vec<String> =
            self.named.iter().map(|(command, is_paged)| format!("{command} = {is_paged}")).collect();
        match named.is_empty() {
            true => self.other.to_string(),
            false => format!("{{ {} }}", named.join(", ")),
        }
    }

    fn allowed((): &()) -> Option<String> {
        Some("true | false | { COMMAND = false }".to_string())
    }
}
