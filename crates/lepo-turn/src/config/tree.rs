//! A TOML file as a tree whose nodes know their source, so that a mistake is told with its line, and layers of settings
//! can be merged.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::mistake::Mistake;
use super::source::SettingSource;

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
        Ok(lines.table(table.into_inner()))
    }

    pub fn get(&self, key: &str) -> Option<&SettingNode> {
        self.0.get(key)
    }

    /// Returns the keys and values in the order of the file.
    pub fn entries(&self) -> Vec<(&String, &SettingNode)> {
        let mut entries: Vec<_> = self.0.iter().collect();
        entries.sort_by_key(|(_, node)| node.offset);
        entries
    }

    /// Returns the keys and values in the order of the keys.
    pub fn sorted(&self) -> impl Iterator<Item = (&String, &SettingNode)> {
        self.0.iter()
    }
}

/// Finds the lines of a file.
struct LineNumbers {
    path: Arc<Path>,
    /// Byte offsets of the line breaks.
    breaks: Vec<usize>,
}

impl LineNumbers {
    fn new(path: &Path, bytes: &[u8]) -> LineNumbers {
        let breaks = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at);
        LineNumbers { path: Arc::from(path), breaks: breaks.collect() }
    }

    fn source(&self, at: usize) -> SettingSource {
        let line = 1 + self.breaks.partition_point(|end| *end < at);
        SettingSource::File { path: Arc::clone(&self.path), line }
    }

    fn table(&self, table: DeTable<'_>) -> SettingTable {
        let node = |(key, value): (Spanned<_>, Spanned<DeValue<'_>>)| {
            let at = key.span().start;
            (String::from(key.into_inner()), self.node(at, value.into_inner()))
        };
        SettingTable(table.into_iter().map(node).collect())
    }

    /// The depth of a value is limited by the parser of TOML.
    fn node(&self, at: usize, value: DeValue<'_>) -> SettingNode {
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
                let node = |item: Spanned<DeValue<'_>>| self.node(item.span().start, item.into_inner());
                NodeValue::Array(items.into_iter().map(node).collect())
            }
            DeValue::Table(table) => NodeValue::Table(self.table(table)),
        };
        SettingNode { source: self.source(at), offset: at, value }
    }
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
