//! `${VAR}` and `${VAR:-x}` in an entry of `mcp.json`: finds variables and substitutes their values.

use serde_json::{Map, Value};

use lepo_base::env::Env;
use lepo_base::secret::Secret;

/// Variables that entries may name. Not `Debug`, because some are keys.
#[derive(Clone, Copy)]
pub struct ServerVariables<'v> {
    /// The environment.
    pub env: &'v Env,
    /// Names of the variables that contain lepo's keys.
    pub own_names: &'v [String],
    /// lepo's keys.
    pub keys: &'v [String],
}

/// The file that contains an entry.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum EntryOrigin {
    /// The user's own.
    #[default]
    User,
    /// A trusted repository's: lepo's keys are never substituted.
    Repository,
}

/// A variable that an entry names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsedVariable {
    /// Name of the variable.
    pub name: String,
    /// Position in the entry, such as `argument 2`.
    pub target: String,
}

/// Shorter keys are not searched for in values, in bytes: a value may contain one by chance.
const SHORTEST_KEY: usize = 8;

/// Variables of editors and agents, which name the folder that is open. (`roots/list` tells a server the same.)
const OF_EDITORS: [&str; 6] = [
    "workspaceFolder",
    "workspaceFolderBasename",
    "workspaceRoot",
    "fileWorkspaceFolder",
    "CLAUDE_PROJECT_DIR",
    "CLAUDE_PLUGIN_ROOT",
];

/// Keys of an entry in which variables are substituted.
const SUBSTITUTED_KEYS: [&str; 8] =
    ["command", "args", "env", "cwd", "url", "httpUrl", "serverUrl", "headers"];

#[derive(Debug, Default)]
pub(super) struct FilledEntry {
    pub fields: Map<String, Value>,
    /// Substituted values, by variable name.
    pub values: Vec<(String, Secret)>,
    /// Why a variable could not be substituted.
    pub missing: Option<String>,
}

impl ServerVariables<'_> {
    /// Returns the value of a variable, or why it has none.
    fn value(&self, name: &str, origin: EntryOrigin) -> Result<String, &'static str> {
        if name.starts_with("input:") {
            return Err("is asked for by another program only");
        }
        let name = if name == "userHome" { "HOME" } else { name };
        if OF_EDITORS.contains(&name) && self.env.get(name).is_none() {
            return Err("is set by another program only; write the path, or leave it out");
        }
        let is_key = |value: &str| {
            let keys = self.keys.iter().filter(|key| key.len() >= SHORTEST_KEY);
            self.own_names.iter().any(|own| own == name)
                || keys.into_iter().any(|key| value.contains(key.as_str()))
        };
        let value = self.env.get(name).and_then(|value| value.to_str());
        if origin == EntryOrigin::Repository && is_key(value.unwrap_or_default()) {
            return Err("holds a key of lepo's, which a repository's file cannot use");
        }
        value.map(str::to_string).ok_or("is not set")
    }

    pub(super) fn fill(&self, fields: &Map<String, Value>, origin: EntryOrigin) -> FilledEntry {
        let mut filled = FilledEntry { fields: fields.clone(), ..FilledEntry::default() };
        let FilledEntry { fields, values, missing } = &mut filled;
        // The program gets these in its environment, and may substitute them itself.
        let names = |key: &str| fields.get(key).and_then(Value::as_object).into_iter().flatten();
        let env: Vec<String> = names("env").map(|(name, _)| name.clone()).collect();
        let has_address = ["url", "httpUrl", "serverUrl"].iter().any(|key| fields.contains_key(*key));
        for_each_text(fields, |position, text| {
            let is_argument = position.starts_with("argument") && !has_address;
            let mut whole = String::new();
            for part in split_at_position(position, text) {
                let (name, default) = match part {
                    TemplatePart::Literal(literal) => {
                        whole.push_str(literal);
                        continue;
                    }
                    TemplatePart::Variable { name, default } => (name, default),
                };
                match (self.value(name, origin), default) {
                    (Ok(value), _) => {
                        whole.push_str(&value);
                        values.push((name.to_string(), Secret::new(value)));
                    }
                    (Err(_), Some(default)) => whole.push_str(default),
                    (Err(_), None) if is_argument && env.iter().any(|own| own == name) => {
                        whole.push_str(&format!("${{{name}}}"));
                    }
                    (Err(why), None) => {
                        missing.get_or_insert_with(|| format!("${{{name}}} {why}"));
                    }
                }
            }
            *text = whole;
        });
        filled
    }
}

/// Returns the variables that an entry names, in order and without duplicates.
pub(super) fn used_variables(fields: &Map<String, Value>) -> Vec<UsedVariable> {
    let mut used_variables = Vec::new();
    for_each_text(&mut fields.clone(), |position, text| {
        for part in split_at_position(position, text) {
            if let TemplatePart::Variable { name, .. } = part {
                let one = UsedVariable { name: name.to_string(), target: position.to_string() };
                if !used_variables.contains(&one) {
                    used_variables.push(one);
                }
            }
        }
    });
    used_variables
}

pub(super) fn names_variables(text: &str) -> bool {
    split(text).iter().any(|part| matches!(part, TemplatePart::Variable { .. }))
}

/// Calls `act` with the position and the text of each value in which variables are substituted.
fn for_each_text(fields: &mut Map<String, Value>, mut act: impl FnMut(&str, &mut String)) {
    for (key, value) in fields.iter_mut().filter(|(key, _)| SUBSTITUTED_KEYS.contains(&key.as_str())) {
        match (key.as_str(), value) {
            (_, Value::String(text)) => act(&format!("`{key}`"), text),
            (_, Value::Array(items)) => {
                for (i, item) in items.iter_mut().enumerate() {
                    if let Value::String(text) = item {
                        act(&format!("argument {}", i + 1), text);
                    }
                }
            }
            (key, Value::Object(entries)) => {
                let kind = if key == "headers" { "header" } else { key };
                for (name, value) in entries.iter_mut() {
                    if let Value::String(text) = value {
                        act(&format!("{kind} {name:?}"), text);
                    }
                }
            }
            _ => {}
        }
    }
}

enum TemplatePart<'t> {
    Literal(&'t str),
    Variable { name: &'t str, default: Option<&'t str> },
}

/// Splits a text into parts. No shell expands the `~` at the start of a path, so wherever a path may be, it counts as
/// `${HOME}`.
fn split_at_position<'t>(position: &str, text: &'t str) -> Vec<TemplatePart<'t>> {
    let is_path = matches!(position, "`command`" | "`cwd`") || position.starts_with("argument");
    let below = text.strip_prefix('~').filter(|below| below.is_empty() || below.starts_with('/'));
    match below.filter(|_| is_path) {
        Some(below) => {
            let mut all = vec![TemplatePart::Variable { name: "HOME", default: None }];
            all.extend(split(below));
            all
        }
        None => split(text),
    }
}

/// Splits a text into parts. Anything that only resembles a variable is literal text.
fn split(text: &str) -> Vec<TemplatePart<'_>> {
    let (mut parts, mut rest) = (Vec::new(), text);
    while let Some((before, after)) = rest.split_once('{') {
        // OpenCode's form has no dollar sign.
        let (before, is_opencodes) = match before.strip_suffix('$') {
            Some(before) => (before, false),
            None => (before, true),
        };
        let variable =
            after.split_once('}').filter(|(inside, _)| !is_opencodes || inside.starts_with("env:"));
        let variable = variable.and_then(|(inside, after)| Some((variable_in(inside)?, after)));
        match variable {
            Some((variable, after)) => {
                parts.extend([TemplatePart::Literal(before), variable]);
                rest = after;
            }
            None => {
                let (literal, _) = rest.split_at(rest.len() - after.len());
                parts.push(TemplatePart::Literal(literal));
                rest = after;
            }
        }
    }
    parts.push(TemplatePart::Literal(rest));
    parts
}

/// Parses `NAME`, `NAME:-x`, and VS Code's forms `env:NAME` and `input:ID`.
fn variable_in(inside: &str) -> Option<TemplatePart<'_>> {
    let (name, default) = match inside.split_once(":-") {
        Some((name, default)) => (name, Some(default)),
        None => (inside, None),
    };
    let bare = name.strip_prefix("env:").unwrap_or(name);
    let is_name = |text: &str| {
        let letter = |c: char| c.is_ascii_alphanumeric() || c == '_';
        !text.starts_with(|c: char| c.is_ascii_digit()) && !text.is_empty() && text.chars().all(letter)
    };
    let is_input = |text: &str| text.strip_prefix("input:").is_some_and(|id| !id.is_empty());
    (is_name(bare) || is_input(bare)).then_some(TemplatePart::Variable { name: bare, default })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn object(value: Value) -> Map<String, Value> {
        let Value::Object(object) = value else { panic!("{value}") };
        object
    }

    #[test]
    fn values_and_defaults_are_put_in() {
        let env = Env::from_pairs(&[
            ("A", "1"),
            ("EMPTY", ""),
            ("KEY", "sk-0123456789"),
            ("ALIAS", "x sk-0123456789"),
        ]);
        let (own, keys) = (["KEY".to_string()], ["sk-0123456789".to_string()]);
        let variables = ServerVariables { env: &env, own_names: &own, keys: &keys };
        for (text, user, repository) in [
            ("plain $A $(x) {A}", Ok("plain $A $(x) {A}"), Ok("plain $A $(x) {A}")),
            ("${A}", Ok("1"), Ok("1")),
            ("${env:A}-${A}${A:-2}", Ok("1-11"), Ok("1-11")),
            ("${B:-x y}/${B:-}", Ok("x y/"), Ok("x y/")),
            ("${B}", Err("${B} is not set"), Err("${B} is not set")),
            ("${EMPTY}", Err("${EMPTY} is not set"), Err("${EMPTY} is not set")),
            ("${EMPTY:-e}", Ok("e"), Ok("e")),
            ("${KEY:-none}", Ok("sk-0123456789"), Ok("none")),
            (
                "${KEY}",
                Ok("sk-0123456789"),
                Err("${KEY} holds a key of lepo's, which a repository's file cannot use"),
            ),
            (
                "${ALIAS}",
                Ok("x sk-0123456789"),
                Err("${ALIAS} holds a key of lepo's, which a repository's file cannot use"),
            ),
            (
                "${input:token}",
                Err("${input:token} is asked for by another program only"),
                Err("${input:token} is asked for by another program only"),
            ),
            ("${x%y} ${1} ${} ${A", Ok("${x%y} ${1} ${} ${A"), Ok("${x%y} ${1} ${} ${A")),
            ("${${A}}", Ok("${1}"), Ok("${1}")),
            // https://github.com/anomalyco/opencode/pull/5739
            ("Bearer {env:A}", Ok("Bearer 1"), Ok("Bearer 1")),
            ("{env:B}", Err("${B} is not set"), Err("${B} is not set")),
            (
                "{\"a\": \"{x}\"} {env:} {environment:A} {A}{",
                Ok("{\"a\": \"{x}\"} {env:} {environment:A} {A}{"),
                Ok("{\"a\": \"{x}\"} {env:} {environment:A} {A}{"),
            ),
            ("{${A}}", Ok("{1}"), Ok("{1}")),
            ("한${A}글", Ok("한1글"), Ok("한1글")),
        ] {
            for (origin, expected) in [(EntryOrigin::User, user), (EntryOrigin::Repository, repository)] {
                let filled = variables.fill(&object(json!({ "args": [text] })), origin);
                let found = match &filled.missing {
                    Some(why) => Err(why.as_str()),
                    None => Ok(filled.fields["args"][0].as_str().unwrap()),
                };
                assert_eq!(found, expected, "{text} {origin:?}");
            }
        }
    }

    #[test]
    fn each_variable_is_told_with_its_place() {
        let fields = object(json!({
            "description": "${NO}", "name": "${NO}", "command": "${C}", "args": ["a", "${A}${A}", 3],
            "env": {"X": "${E}"}, "headers": {"H": "Bearer ${T:-x}"}, "url": "http://h/${U}", "cwd": "${D}",
        }));
        let texts: Vec<String> = used_variables(&fields)
            .into_iter()
            .map(|used| format!("{} {}", used.name, used.target))
            .collect();
        let mut lines: Vec<&str> = texts.iter().map(String::as_str).collect();
        lines.sort_unstable();
        assert_eq!(
            lines,
            ["A argument 2", "C `command`", "D `cwd`", "E env \"X\"", "T header \"H\"", "U `url`"]
        );
    }
}
