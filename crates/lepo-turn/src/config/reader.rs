//! Reads structs from a [`SettingTable`] by serde, so that each mistake has the line of its key. The readers of TOML
//! crates do not do: their messages contain the value, which may be a key.

use serde::de::value::{MapAccessDeserializer, MapDeserializer, SeqDeserializer, StrDeserializer};
use serde::de::{
    Deserialize, DeserializeSeed, Deserializer, Error as _, IntoDeserializer, MapAccess, Visitor,
};
use serde::forward_to_deserialize_any;

use super::mistake::{Mistake, unfit, wrong_type};
use super::source::SettingSource;
use super::tree::{NodeValue, SettingNode, SettingTable};
use lepo_base::closest_name::closest_name;

/// Keys of `options`, for the hint about such a key next to it.
const OPTIONS: &[&str] = &["temperature", "top_p", "max_tokens", "effort", "seed", "stop"];

/// Reads a table; [`ConfigReader::finish`] rejects the keys that were not read.
pub struct ConfigReader<'t> {
    table: &'t SettingTable,
    pub source: SettingSource,
    /// ` in [NAME]`; empty for the root table.
    pub title: String,
    /// Texts may be empty, and may have line breaks.
    has_prose: bool,
    /// Keys of the structs read so far; `a.b` is the key `b` of the table `a`.
    known: Vec<&'static str>,
}

impl<'t> ConfigReader<'t> {
    fn new(table: &'t SettingTable, source: SettingSource, title: String) -> ConfigReader<'t> {
        ConfigReader { table, source, title, has_prose: false, known: Vec::new() }
    }

    /// Creates a reader for the root of a file.
    pub fn root(table: &'t SettingTable) -> ConfigReader<'t> {
        ConfigReader::new(table, SettingSource::Default, String::new())
    }

    /// Accepts empty texts, and texts with line breaks.
    pub fn with_prose(self) -> ConfigReader<'t> {
        ConfigReader { has_prose: true, ..self }
    }

    /// Reads these keys into the fields of a struct.
    pub fn read<T: Deserialize<'t>>(&mut self, keys: &[&'static str]) -> Result<T, Mistake> {
        self.known.extend(keys);
        T::deserialize(MapAccessDeserializer::new(FieldAccess::new(self, keys)))
    }

    /// Returns the value of a key.
    pub fn node(&self, key: &str) -> Option<&'t SettingNode> {
        self.table.get(key)
    }

    fn value<'k>(&self, key: &'k str, node: &'k SettingNode) -> NodeReader<'k> {
        NodeReader { node, key, title: self.title.clone(), has_prose: self.has_prose }
    }

    /// Returns the value of a field.
    fn find(&self, field: &'static str) -> Result<Option<NodeReader<'t>>, Mistake> {
        let Some((section, key)) = field.split_once('.') else {
            return Ok(self.table.get(field).map(|node| self.value(field, node)));
        };
        let Some(table) = self.section(section)? else { return Ok(None) };
        let title = format!(" in [{section}]");
        Ok(table.get(key).map(|node| NodeReader { title, ..self.value(key, node) }))
    }

    fn section(&self, key: &str) -> Result<Option<&'t SettingTable>, Mistake> {
        let Some(node) = self.table.get(key) else { return Ok(None) };
        let wrong = || self.value(key, node).with_key(wrong_type(&"a map"));
        node.table().map(Some).ok_or_else(wrong)
    }

    /// Returns the table of a key that may have any keys.
    pub fn any_table(&mut self, key: &'static str) -> Result<Option<&'t SettingTable>, Mistake> {
        self.known.push(key);
        self.section(key)
    }

    /// Returns the tables of an array.
    pub fn tables(&mut self, key: &'static str) -> Result<Vec<ConfigReader<'t>>, Mistake> {
        self.known.push(key);
        let Some(node) = self.table.get(key) else { return Ok(Vec::new()) };
        let form = format!("a list of tables, each under a line [[{key}]]");
        let wrong = || self.value(key, node).with_key(wrong_type(&form.as_str()));
        let NodeValue::Array(items) = &node.value else { return Err(wrong()) };
        let reader = |item: &'t SettingNode| {
            let table = item.table().ok_or_else(wrong)?;
            Ok(ConfigReader::new(table, item.source.clone(), format!(" in [[{key}]]")))
        };
        items.iter().map(reader).collect()
    }

    /// Returns a mistake about the value of a key.
    pub fn mistake(&self, key: &str, what: &str, allowed: &str) -> Mistake {
        let mistake = unfit(what, allowed);
        match self.table.get(key) {
            Some(node) => self.value(key, node).with_key(mistake),
            None => mistake.with_key((key, &self.title), &self.source, "", None),
        }
    }

    /// Returns a mistake about the table as a whole.
    pub fn whole_mistake(&self, what: impl Into<String>, allowed: impl Into<String>) -> Mistake {
        Mistake::at(self.source.clone(), what, allowed)
    }

    /// Returns the mistake that a key is a slip for `wanted`, if there is such a key.
    pub fn slip(&self, wanted: &str) -> Option<Mistake> {
        let is_slip = |key: &str| closest_name(key, [wanted].into_iter()).is_some();
        let (key, node) = self.rest().into_iter().find(|(key, _)| is_slip(key))?;
        Some(self.unknown_key(key, node, format!("did you mean `{wanted}`?")))
    }

    fn unknown_key(&self, key: &str, node: &SettingNode, allowed: String) -> Mistake {
        Mistake::at(node.source.clone(), format!("unknown key `{key}`{}", self.title), allowed)
    }

    /// Rejects the first key that was not read: in the tables of fields, then in the table.
    pub fn finish(&self) -> Result<(), Mistake> {
        let known = self.names();
        for section in known.iter().filter(|name| !self.known.contains(name)) {
            let Some(table) = self.section(section)? else { continue };
            let mut reader = ConfigReader::new(table, self.source.clone(), format!(" in [{section}]"));
            let keys = self.known.iter().filter_map(|name| name.split_once('.'));
            reader.known.extend(keys.filter(|(table, _)| table == section).map(|(_, key)| key));
            reader.finish()?;
        }
        let Some((key, node)) = self.rest().into_iter().next() else { return Ok(()) };
        let allowed = format!("allowed here: {}", known.join(", "));
        let allowed = match closest_name(key, known.iter().copied()) {
            _ if OPTIONS.contains(&key) && known.contains(&"options") => {
                format!("it is an option of the model: options = {{ {key} = … }}")
            }
            Some(near) => format!("did you mean `{near}`? {allowed}"),
            None => allowed,
        };
        Err(self.unknown_key(key, node, allowed))
    }

    /// Returns the keys of the table that may be there, the tables of fields first.
    fn names(&self) -> Vec<&'static str> {
        let mut names: Vec<&'static str> = Vec::new();
        let sections = self.known.iter().filter_map(|name| name.split_once('.')).map(|(table, _)| table);
        for name in sections.chain(self.known.iter().copied().filter(|name| !name.contains('.'))) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }

    /// Returns the keys that were not read, in the order of the file.
    pub fn rest(&self) -> Vec<(&'t str, &'t SettingNode)> {
        let known = self.names();
        self.table.entries().into_iter().filter(|(key, _)| !known.contains(key)).collect()
    }
}

/// Passes the fields of a struct that a table has.
struct FieldAccess<'r, 't> {
    reader: &'r ConfigReader<'t>,
    fields: std::slice::Iter<'r, &'static str>,
    found: Option<NodeReader<'t>>,
}

impl<'r, 't> FieldAccess<'r, 't> {
    fn new(reader: &'r ConfigReader<'t>, fields: &'r [&'static str]) -> FieldAccess<'r, 't> {
        FieldAccess { reader, fields: fields.iter(), found: None }
    }
}

impl<'t> MapAccess<'t> for FieldAccess<'_, 't> {
    type Error = Mistake;

    fn next_key_seed<K: DeserializeSeed<'t>>(&mut self, seed: K) -> Result<Option<K::Value>, Mistake> {
        for field in self.fields.by_ref() {
            self.found = self.reader.find(field)?;
            if self.found.is_some() {
                return seed.deserialize(StrDeserializer::new(field)).map(Some);
            }
        }
        Ok(None)
    }

    fn next_value_seed<V: DeserializeSeed<'t>>(&mut self, seed: V) -> Result<V::Value, Mistake> {
        let found = self.found.take().ok_or_else(|| Mistake::custom("no value"))?;
        seed.deserialize(found.clone()).map_err(|mistake| found.with_key(mistake))
    }
}

/// Reads a value, and knows its key.
#[derive(Clone)]
struct NodeReader<'t> {
    node: &'t SettingNode,
    key: &'t str,
    title: String,
    has_prose: bool,
}

impl<'t> NodeReader<'t> {
    /// Adds the key to a mistake.
    fn with_key(&self, mistake: Mistake) -> Mistake {
        let word = match &self.node.value {
            NodeValue::Word(word) => Some(word.as_str()),
            _ => None,
        };
        mistake.with_key((self.key, &self.title), &self.node.source, self.node.kind(), word)
    }

    fn item(&self, key: &'t str, node: &'t SettingNode) -> NodeReader<'t> {
        NodeReader { node, key, title: String::new(), has_prose: self.has_prose }
    }
}

impl<'de> IntoDeserializer<'de, Mistake> for NodeReader<'de> {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

impl<'de> Deserializer<'de> for NodeReader<'de> {
    type Error = Mistake;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mistake> {
        match &self.node.value {
            NodeValue::Text(text) | NodeValue::Datetime(text) => visitor.visit_borrowed_str(text),
            NodeValue::Integer(number) => visit_integer(*number, visitor),
            NodeValue::Float(number) => visitor.visit_f64(*number),
            NodeValue::Boolean(yes) => visitor.visit_bool(*yes),
            NodeValue::Array(items) => {
                visitor.visit_seq(SeqDeserializer::new(items.iter().map(|node| self.item("", node))))
            }
            NodeValue::Table(table) => {
                let entries = table.sorted().map(|(key, node)| (key.as_str(), self.item(key, node)));
                visitor.visit_map(MapDeserializer::new(entries))
            }
            NodeValue::Word(word) => match word.parse() {
                Ok(number) => visit_integer(number, visitor),
                Err(_) if word == "false" => visitor.visit_bool(false),
                Err(_) => visitor.visit_borrowed_str(word),
            },
        }
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mistake> {
        match &self.node.value {
            NodeValue::Text(text) if !self.has_prose && text.trim().is_empty() => {
                Err(unfit("is empty", "give it a value, or leave the key out"))
            }
            NodeValue::Text(text) if !self.has_prose && text.chars().any(char::is_control) => {
                Err(unfit("has a control character", "use plain text"))
            }
            NodeValue::Text(text) | NodeValue::Word(text) => visitor.visit_borrowed_str(text),
            _ => Err(wrong_type(&visitor)),
        }
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mistake> {
        self.deserialize_str(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mistake> {
        visitor.visit_some(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mistake> {
        match &self.node.value {
            NodeValue::Array(_) => self.deserialize_any(visitor).map_err(Mistake::in_list),
            _ => Err(wrong_type(&visitor)),
        }
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Mistake> {
        let Some(table) = self.node.table() else { return Err(wrong_type(&visitor)) };
        let title = format!(" in [{}]", self.key);
        let mut reader = ConfigReader::new(table, self.node.source.clone(), title);
        reader.known.extend(fields);
        let value = visitor.visit_map(FieldAccess::new(&reader, fields))?;
        reader.finish().map(|()| value)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char bytes byte_buf unit unit_struct newtype_struct
        tuple tuple_struct map identifier ignored_any enum
    }
}

fn visit_integer<'de, V: Visitor<'de>>(number: i128, visitor: V) -> Result<V::Value, Mistake> {
    match i64::try_from(number) {
        Ok(number) => visitor.visit_i64(number),
        Err(_) => visitor.visit_i128(number),
    }
}
