//! Reads structs from a [`SettingTable`] by serde, so that each mistake has the line of its key. The readers of TOML
//! crates do not do: their messages contain the value, which may be a key.

use serde::de::value::StrDeserializer;
use serde::de::{
    Deserialize, DeserializeSeed, Deserializer, Expected, MapAccess, SeqAccess, Unexpected, Visitor,
};
use serde::forward_to_deserialize_any;

use super::mistake::{Mistake, MistakenKey, table_form, unfit};
use super::source::SettingSource;
use super::tree::{NodeValue, SettingNode, SettingTable};
use lepo_base::closest_name::closest_name;

/// Keys of `options`, for the hint about such a key next to it.
const OPTIONS: &[&str] = &["temperature", "top_p", "max_tokens", "effort", "seed", "stop"];

/// A table that is being read; [`ConfigReader::finish`] rejects the keys that no struct had.
pub struct ConfigReader<'t> {
    table: &'t SettingTable,
    pub source: SettingSource,
    /// ` in [NAME]`; empty for the root table.
    title: String,
    /// Texts may be empty, and may have line breaks.
    has_prose: bool,
    /// Keys of structs that were read; `a.b` is the key `b` of the table `a`.
    known: Vec<&'static str>,
}

impl<'t> ConfigReader<'t> {
    pub fn new(table: &'t SettingTable, source: SettingSource, title: String) -> ConfigReader<'t> {
        ConfigReader { table, source, title, has_prose: false, known: Vec::new() }
    }

    /// Creates a reader for the root of a file.
    pub fn root(table: &'t SettingTable) -> ConfigReader<'t> {
        ConfigReader::new(table, SettingSource::Default, String::new())
    }

    /// Takes texts as they are.
    pub fn of_prose(self) -> ConfigReader<'t> {
        ConfigReader { has_prose: true, ..self }
    }

    /// Reads the keys of a struct, in the order of its fields.
    pub fn read<T: Deserialize<'t>>(&mut self) -> Result<T, Mistake> {
        T::deserialize(self)
    }

    /// Returns the reader for the value of a field, if the table has it.
    fn find(&self, field: &'static str) -> Result<Option<NodeReader<'t>>, Mistake> {
        let has_prose = self.has_prose;
        let Some((section, key)) = field.split_once('.') else {
            let title = self.title.clone();
            return Ok(self.table.get(field).map(|node| NodeReader { node, key: field, title, has_prose }));
        };
        let Some(node) = self.table.get(section) else { return Ok(None) };
        let title = format!(" in [{section}]");
        match node.table() {
            Some(table) => Ok(table.get(key).map(|node| NodeReader { node, key, title, has_prose })),
            None => Err(self.wrong_type(section, node, table_form(section, &self.title))),
        }
    }

    /// Returns the mistake of a value of another type than `allowed`.
    fn wrong_type(&self, key: &str, node: &SettingNode, allowed: String) -> Mistake {
        Mistake::of_type(MistakenKey::new(key, &self.title, node.source.clone(), node.kind()), allowed)
    }

    /// Rejects the first key that no struct had: in its tables, then in the table.
    pub fn finish(self) -> Result<(), Mistake> {
        for (section, known) in self.sections() {
            let Some(node) = self.table.get(section) else { continue };
            let Some(table) = node.table() else { continue };
            let title = format!(" in [{section}]");
            ConfigReader { known, ..ConfigReader::new(table, node.source.clone(), title) }.finish()?;
        }
        let known = self.names();
        match self.rest().into_iter().next() {
            None => Ok(()),
            Some((key, node)) => {
                let allowed = format!("allowed here: {}", known.join(", "));
                let allowed = match closest_name(key, known.iter().copied()) {
                    _ if OPTIONS.contains(&key) && known.contains(&"options") => {
                        format!("it is an option of the model: options = {{ {key} = … }}")
                    }
                    Some(near) => format!("did you mean `{near}`? {allowed}"),
                    None => allowed,
                };
                Err(Mistake::at(node.source.clone(), format!("unknown key `{key}`{}", self.title), allowed))
            }
        }
    }

    /// Returns the tables whose keys are fields, each with these keys.
    fn sections(&self) -> Vec<(&'static str, Vec<&'static str>)> {
        let mut sections: Vec<(&'static str, Vec<&'static str>)> = Vec::new();
        for (section, key) in self.known.iter().filter_map(|name| name.split_once('.')) {
            match sections.iter_mut().find(|(known, _)| *known == section) {
                Some((_, keys)) => keys.push(key),
                None => sections.push((section, vec![key])),
            }
        }
        sections
    }

    /// Returns the known keys, tables first.
    fn names(&self) -> Vec<&'static str> {
        let tables = self.sections().into_iter().map(|(section, _)| section);
        tables.chain(self.known.iter().copied().filter(|name| !name.contains('.'))).collect()
    }

    /// Returns the keys that no struct had, in the order of the file.
    pub fn rest(&self) -> Vec<(&'t str, &'t SettingNode)> {
        let known = self.names();
        let entries = self.table.entries().into_iter().map(|(key, node)| (key.as_str(), node));
        entries.filter(|(key, _)| !known.contains(key)).collect()
    }
}

impl<'de> Deserializer<'de> for &mut ConfigReader<'de> {
    type Error = Mistake;

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Mistake> {
        self.known.extend(fields);
        visitor.visit_map(FieldAccess { reader: self, fields: fields.iter(), found: None })
    }

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Mistake> {
        Err(serde::de::Error::custom("a table is read as a struct"))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit
        unit_struct newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}

/// Passes the fields of a struct that a table has.
struct FieldAccess<'r, 't> {
    reader: &'r ConfigReader<'t>,
    fields: std::slice::Iter<'static, &'static str>,
    found: Option<NodeReader<'t>>,
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
        match self.found.take() {
            Some(found) => found.read(seed),
            None => Err(serde::de::Error::custom("no value")),
        }
    }
}

/// A value that is being read, with its key.
struct NodeReader<'t> {
    node: &'t SettingNode,
    key: &'t str,
    title: String,
    has_prose: bool,
}

impl<'t> NodeReader<'t> {
    /// Reads the value; a mistake has its key then.
    fn read<S: DeserializeSeed<'t>>(self, seed: S) -> Result<S::Value, Mistake> {
        let (node, key, title) = (self.node, self.key, self.title.clone());
        seed.deserialize(self).map_err(|mistake| {
            mistake.or_at(|| {
                let word = match &node.value {
                    NodeValue::Word(word) => Some(word.clone()),
                    _ => None,
                };
                MistakenKey { word, ..MistakenKey::new(key, &title, node.source.clone(), node.kind()) }
            })
        })
    }

    fn wrong_type(&self, expected: &dyn Expected) -> Mistake {
        serde::de::Error::invalid_type(Unexpected::Other(self.node.kind()), expected)
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
                visitor.visit_seq(ListAccess { items: items.iter(), has_prose: self.has_prose })
            }
            NodeValue::Table(table) => {
                let entries = table.sorted().collect::<Vec<_>>().into_iter();
                visitor.visit_map(EntryAccess { entries, found: None, has_prose: self.has_prose })
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
            NodeValue::Text(text) if self.has_prose => visitor.visit_borrowed_str(text),
            NodeValue::Text(text) if text.trim().is_empty() => {
                Err(unfit("is empty", "give it a value, or leave the key out"))
            }
            NodeValue::Text(text) if text.chars().any(char::is_control) => {
                Err(unfit("has a control character", "use plain text"))
            }
            NodeValue::Text(text) | NodeValue::Word(text) => visitor.visit_borrowed_str(text),
            _ => Err(self.wrong_type(&visitor)),
        }
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mistake> {
        self.deserialize_str(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mistake> {
        visitor.visit_some(self)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Mistake> {
        let Some(table) = self.node.table() else { return Err(self.wrong_type(&visitor)) };
        let title = format!(" in [{}]", self.key);
        let mut reader = ConfigReader::new(table, self.node.source.clone(), title);
        let value = reader.deserialize_struct(name, fields, visitor)?;
        reader.finish().map(|()| value)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char bytes byte_buf unit unit_struct newtype_struct
        seq tuple tuple_struct map enum identifier ignored_any
    }
}

fn visit_integer<'t, V: Visitor<'t>>(number: i128, visitor: V) -> Result<V::Value, Mistake> {
    match i64::try_from(number) {
        Ok(number) => visitor.visit_i64(number),
        Err(_) => visitor.visit_i128(number),
    }
}

/// Passes the entries of a list.
struct ListAccess<'t> {
    items: std::slice::Iter<'t, SettingNode>,
    has_prose: bool,
}

impl<'t> SeqAccess<'t> for ListAccess<'t> {
    type Error = Mistake;

    fn next_element_seed<S: DeserializeSeed<'t>>(&mut self, seed: S) -> Result<Option<S::Value>, Mistake> {
        let Some(node) = self.items.next() else { return Ok(None) };
        let reader = NodeReader { node, key: "", title: String::new(), has_prose: self.has_prose };
        seed.deserialize(reader).map(Some).map_err(Mistake::in_list)
    }
}

/// Passes all entries of a table.
struct EntryAccess<'t> {
    entries: std::vec::IntoIter<(&'t String, &'t SettingNode)>,
    found: Option<NodeReader<'t>>,
    has_prose: bool,
}

impl<'t> MapAccess<'t> for EntryAccess<'t> {
    type Error = Mistake;

    fn next_key_seed<K: DeserializeSeed<'t>>(&mut self, seed: K) -> Result<Option<K::Value>, Mistake> {
        let Some((key, node)) = self.entries.next() else { return Ok(None) };
        self.found = Some(NodeReader { node, key, title: String::new(), has_prose: self.has_prose });
        seed.deserialize(StrDeserializer::new(key)).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'t>>(&mut self, seed: V) -> Result<V::Value, Mistake> {
        match self.found.take() {
            Some(found) => seed.deserialize(found),
            None => Err(serde::de::Error::custom("no value")),
        }
    }
}
