//! A TOML file as a tree whose nodes know their source, so that a mistake has its line, and layers of settings can be
//! merged.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::mistake::Mistake;
use super::source::{LineNumbers, SettingSource};

/// Maximum nesting of a value.
const DEEPEST_NODE: usize = 96;

/// A value of a file, or the text of a variable.
#[derive(Clone)]
pub struct SettingNode {
    /// Source of the key, or of an entry of a list.
    pub source: SettingSource,
    /// Byte offset in its file.
    pub offset: usize,
    pub value: NodeValue,
}

#[derive(Clone)]
pub enum NodeValue {
    Text(String),
    /// A number beyond this type is the greatest: no setting has such a value.
    Integer(i128),
    Float(f64),
    Boolean(bool),
    Datetime(String),
    Array(Vec<SettingNode>),
    Table(SettingTable),
    /// The text of a variable, which can mean a text, a number, or false.
    Word(String),
}

/// The keys of a table, each with its value.
#[derive(Clone, Default)]
pub struct SettingTable(BTreeMap<String, SettingNode>);

/// Without its values, as some are keys.
impl fmt::Debug for SettingTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

impl SettingNode {
    /// Returns the type of the value as TOML calls it.
    pub fn kind(&self) -> &'static str {
        match &self.value {
            NodeValue::Text(_) | NodeValue::Word(_) => "string",
            NodeValue::Integer(_) => "integer",
            NodeValue::Float(_) => "float",
            NodeValue::Boolean(_) => "boolean",
            NodeValue::Datetime(_) => "datetime",
            NodeValue::Array(_) => "array",
            NodeValue::Table(_) => "table",
        }
    }

    pub fn table(&self) -> Option<&SettingTable> {
        match &self.value {
            NodeValue::Table(table) => Some(table),
            _ => None,
        }
    }

    pub fn text(&self) -> Option<&str> {
        match &self.value {
            NodeValue::Text(text) => Some(text),
            _ => None,
        }
    }
}

impl SettingTable {
    /// Parses a file; mistakes name `path`.
    pub fn parse(path: &Path, bytes: &[u8]) -> Result<SettingTable, Mistake> {
        let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
        let lines = LineNumbers::new(path, bytes);
        let text = std::str::from_utf8(bytes).map_err(|error| {
            Mistake::at(lines.source(error.valid_up_to()), "not UTF-8", "save the file as UTF-8 text")
        })?;
        let table = DeTable::parse(text).map_err(|error| {
            let at = error.span().map_or(0, |span| span.start);
            let source = lines.source(at);
            match unquoted_key(text, at) {
                Some(key) => Mistake::at(
                    source,
                    format!("the value of `{key}` is not in quotes"),
                    format!("a text is in quotes, as in {key} = \"...\"; numbers, true and false are not"),
                ),
                None => Mistake::at(source, error.message(), "the format is TOML, see https://toml.io"),
            }
        })?;
        let table = table.into_inner();
        if let Some(at) = too_deep(&table) {
            take_apart(table);
            let what = format!("a value is nested more than {DEEPEST_NODE} deep");
            return Err(Mistake::at(lines.source(at), what, "no setting has such a value"));
        }
        Ok(table_of(&lines, table))
    }

    pub fn get(&self, key: &str) -> Option<&SettingNode> {
        self.0.get(key)
    }

    /// Returns the source of `a`, or of `b` in the table `a` for `a.b`; `None` if it is not set.
    pub fn source(&self, name: &str) -> Option<&SettingSource> {
        let node = match name.split_once('.') {
            None => self.get(name),
            Some((table, key)) => self.get(table)?.table()?.get(key),
        };
        node.map(|node| &node.source)
    }

    /// Sets a key of this table to the text of a variable.
    pub fn set_word(&mut self, key: &str, variable: &'static str, word: &str) {
        let (source, value) = (SettingSource::Env(variable), NodeValue::Word(word.to_string()));
        self.0.insert(key.to_string(), SettingNode { source, offset: 0, value });
    }

    /// Lays a table over this one: the keys of its tables one by one, all others whole.
    pub fn merge(&mut self, above: SettingTable) {
        for (key, node) in above.0 {
            match (self.0.get_mut(&key).map(|node| &mut node.value), node.value) {
                (Some(NodeValue::Table(below)), NodeValue::Table(table)) => below.0.extend(table.0),
                (_, value) => {
                    self.0.insert(key, SettingNode { value, ..node });
                }
            }
        }
    }

    /// Removes `a.b`.
    pub fn remove(&mut self, name: &str) {
        if let Some((table, key)) = name.split_once('.')
            && let Some(NodeValue::Table(table)) = self.0.get_mut(table).map(|node| &mut node.value)
        {
            table.0.remove(key);
        }
    }

    /// Returns the keys and values in the order of the file.
    pub fn entries(&self) -> Vec<(&str, &SettingNode)> {
        let mut entries: Vec<_> = self.0.iter().map(|(key, node)| (key.as_str(), node)).collect();
        entries.sort_by_key(|(_, node)| node.offset);
        entries
    }

    /// Returns the keys and values in the order of the keys.
    pub fn sorted(&self) -> impl Iterator<Item = (&String, &SettingNode)> {
        self.0.iter()
    }
}

/// Returns the byte offset of a value nested too deeply. The parser limits inline tables and lists, and separately the
/// parts of each dotted key, so a small file can have thousands of tables within each other.
fn too_deep(table: &DeTable<'_>) -> Option<usize> {
    let mut waiting: Vec<_> = table.values().map(|value| (value, 0)).collect();
    while let Some((value, depth)) = waiting.pop() {
        if depth > DEEPEST_NODE {
            return Some(value.span().start);
        }
        match value.get_ref() {
            DeValue::Table(table) => waiting.extend(table.values().map(|value| (value, depth + 1))),
            DeValue::Array(items) => waiting.extend(items.iter().map(|value| (value, depth + 1))),
            _ => {}
        }
    }
    None
}

/// Drops a deep table without recursion, which would fill the stack.
fn take_apart(table: DeTable<'_>) {
    let mut waiting = vec![DeValue::Table(table)];
    while let Some(value) = waiting.pop() {
        match value {
            DeValue::Table(table) => waiting.extend(table.into_iter().map(|(_, value)| value.into_inner())),
            DeValue::Array(items) => waiting.extend(items.into_iter().map(Spanned::into_inner)),
            _ => {}
        }
    }
}

fn table_of(lines: &LineNumbers, table: DeTable<'_>) -> SettingTable {
    let node = |(key, value): (Spanned<_>, Spanned<DeValue<'_>>)| {
        let at = key.span().start;
        (String::from(key.into_inner()), node_of(lines, at, value.into_inner()))
    };
    SettingTable(table.into_iter().map(node).collect())
}

/// Converts a value, which is at most [`DEEPEST_NODE`] deep.
fn node_of(lines: &LineNumbers, at: usize, value: DeValue<'_>) -> SettingNode {
    let value = match value {
        DeValue::String(text) => NodeValue::Text(text.into_owned()),
        DeValue::Integer(number) => {
            let value = i128::from_str_radix(number.as_str(), number.radix());
            NodeValue::Integer(value.unwrap_or(i128::MAX))
        }
        DeValue::Float(number) => NodeValue::Float(number.as_str().parse().unwrap_or(f64::NAN)),
        DeValue::Boolean(yes) => NodeValue::Boolean(yes),
        DeValue::Datetime(time) => NodeValue::Datetime(time.to_string()),
        DeValue::Array(items) => {
            let node = |item: Spanned<DeValue<'_>>| node_of(lines, item.span().start, item.into_inner());
            NodeValue::Array(items.into_iter().map(node).collect())
        }
        DeValue::Table(table) => NodeValue::Table(table_of(lines, table)),
    };
    SettingNode { source: lines.source(at), offset: at, value }
}

/// Returns the key of the line at a byte offset, if its value is an unquoted word.
fn unquoted_key(text: &str, at: usize) -> Option<&str> {
    let before = text.as_bytes().get(..at).unwrap_or(text.as_bytes());
    let line = text.lines().nth(before.iter().filter(|byte| **byte == b'\n').count())?;
    let (key, value) = line.split_once('=')?;
    let (key, value) = (key.trim(), value.trim());
    let is_key = key.chars().all(|c| c.is_ascii_alphanumeric() || "_-.".contains(c));
    let is_word = value.starts_with(|c: char| c.is_alphabetic()) && !matches!(value, "true" | "false");
    (is_key && is_word).then_some(key)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(path: &str, text: &str) -> SettingTable {
        SettingTable::parse(Path::new(path), text.as_bytes()).unwrap()
    }

    #[test]
    fn a_layer_lies_over_another_key_by_key() {
        let below =
            "max_rounds = 1\n[http]\nidle_timeout = 1\nconnect_timeout = 1\n[term]\npager = { ls = true }\n";
        let above =
            "\nmax_rounds = 2\nhttp.idle_timeout = 2\nterm.pager = { log = true }\n[budget]\nday = 1\n";
        let mut table = parsed("below", below);
        table.merge(parsed("above", above));
        table.set_word("tidy", "LEPO_TIDY", "false");
        for (name, source) in [
            ("max_rounds", Some("above:2")),
            ("http.idle_timeout", Some("above:3")),
            ("http.connect_timeout", Some("below:4")),
            ("term.pager", Some("above:4")),
            ("budget.day", Some("above:6")),
            ("tidy", Some("LEPO_TIDY")),
            ("tidy.day", None),
            ("http.hush", None),
            ("hush", None),
        ] {
            assert_eq!(table.source(name).map(ToString::to_string).as_deref(), source, "{name}");
        }
        let pager = table.get("term").and_then(SettingNode::table).and_then(|term| term.get("pager"));
        assert_eq!(pager.and_then(SettingNode::table).unwrap().entries().len(), 1);
        for (name, is_there) in [("budget.day", false), ("budget.turn", false), ("max_rounds", true)] {
            table.remove(name);
            assert_eq!(table.source(name).is_some(), is_there, "{name}");
        }
    }

    #[test]
    fn tables_within_each_other_are_refused_before_the_stack_is_full() {
        let keys = vec!["k"; 70].join(".");
        let nested = |count: usize| {
            format!("{}{keys} = 1{}", format!("{keys} = {{ ").repeat(count), " }".repeat(count))
        };
        let parse = |text: &str| SettingTable::parse(Path::new("c"), text.as_bytes());
        assert!(parse(&nested(0)).is_ok());
        let refused = parse(&nested(70)).unwrap_err().file_error();
        assert!(refused.to_string().contains("nested more than 96 deep"), "{refused}");
    }

    #[test]
    fn entries_are_in_the_order_of_the_file_and_not_shown() {
        let table = parsed("c", "\u{feff}b = 1\na = 'sk-hush'\n[c]\n");
        assert_eq!(table.entries().iter().map(|(key, _)| *key).collect::<Vec<_>>(), ["b", "a", "c"]);
        assert_eq!(table.sorted().map(|(key, _)| key.as_str()).collect::<Vec<_>>(), ["a", "b", "c"]);
        assert_eq!(format!("{table:?}"), r#"{"a", "b", "c"}"#);
    }
}
