//! Fields of events that servers send in several forms, or in forms without meaning: each is parsed as leniently as
//! possible.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// The objects in a list; the first one needs no list.
pub(super) struct ObjectList<T> {
    pub first: Option<Box<T>>,
    pub more: Vec<Box<T>>,
}

impl<T> Default for ObjectList<T> {
    fn default() -> Self {
        ObjectList { first: None, more: Vec::new() }
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for ObjectList<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ObjectListVisitor(PhantomData))
    }
}

/// Implements the methods of a visitor for scalars, which it ignores.
macro_rules! ignores_scalars {
    ($value:ty, $none:expr) => {
        fn visit_unit<E>(self) -> Result<$value, E> {
            Ok($none)
        }

        fn visit_bool<E>(self, _: bool) -> Result<$value, E> {
            Ok($none)
        }

        fn visit_u64<E>(self, _: u64) -> Result<$value, E> {
            Ok($none)
        }

        fn visit_i64<E>(self, _: i64) -> Result<$value, E> {
            Ok($none)
        }

        fn visit_f64<E>(self, _: f64) -> Result<$value, E> {
            Ok($none)
        }

        fn visit_str<E>(self, _: &str) -> Result<$value, E> {
            Ok($none)
        }
    };
}

struct ObjectListVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for ObjectListVisitor<T> {
    type Value = ObjectList<T>;

    ignores_scalars!(ObjectList<T>, ObjectList::default());

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<ObjectList<T>, A::Error> {
        let mut all = ObjectList::default();
        while let Some(IfObject(item)) = items.next_element()? {
            match item {
                Some(item) if all.first.is_none() => all.first = Some(item),
                item => all.more.extend(item),
            }
        }
        Ok(all)
    }

    fn visit_map<A: MapAccess<'de>>(self, fields: A) -> Result<ObjectList<T>, A::Error> {
        let first = T::deserialize(MapAccessDeserializer::new(fields))?;
        Ok(ObjectList { first: Some(Box::new(first)), more: Vec::new() })
    }
}

/// An object; `None` for any other value. Boxed, because each step of parsing would copy its many fields.
pub(super) struct IfObject<T>(pub Option<Box<T>>);

impl<T> Default for IfObject<T> {
    fn default() -> Self {
        IfObject(None)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for IfObject<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ObjectVisitor(PhantomData))
    }
}

struct ObjectVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for ObjectVisitor<T> {
    type Value = IfObject<T>;

    ignores_scalars!(IfObject<T>, IfObject(None));

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<IfObject<T>, A::Error> {
        while items.next_element::<IgnoredAny>()?.is_some() {}
        Ok(IfObject(None))
    }

    fn visit_map<A: MapAccess<'de>>(self, fields: A) -> Result<IfObject<T>, A::Error> {
        T::deserialize(MapAccessDeserializer::new(fields)).map(|object| IfObject(Some(Box::new(object))))
    }
}

/// The field by which serde_json represents a number verbatim, if it does so.
pub(super) const NUMBER: &str = "$serde_json::private::Number";

/// Text that is a string, an object that contains it, or a list of these.
#[derive(Default)]
pub(super) struct FlexibleText<'a>(pub Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for FlexibleText<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(FlexibleTextVisitor).map(FlexibleText)
    }
}

struct FlexibleTextVisitor;

impl<'de> Visitor<'de> for FlexibleTextVisitor {
    type Value = Cow<'de, str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("text")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Cow::Borrowed(text))
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Cow::Owned(text.to_owned()))
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Cow::Borrowed(""))
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
        Ok(Cow::Borrowed(""))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Self::Value, E> {
        Ok(Cow::Owned(number.to_string()))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Self::Value, E> {
        Ok(Cow::Owned(number.to_string()))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Self::Value, E> {
        Ok(Cow::Owned(number.to_string()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
        let mut all = String::new();
        while let Some(FlexibleText(text)) = items.next_element()? {
            all.push_str(&text);
        }
        Ok(Cow::Owned(all))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Self::Value, A::Error> {
        let mut all = String::new();
        while let Some(key) = fields.next_key::<String>()? {
            match key.as_str() {
                // A number that serde_json represents verbatim.
                NUMBER | "text" | "content" | "summary" => {
                    all.push_str(&fields.next_value::<FlexibleText>()?.0)
                }
                _ => drop(fields.next_value::<IgnoredAny>()?),
            }
        }
        Ok(Cow::Owned(all))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prose_is_found_in_every_form() {
        for (json, expected) in [
            (r#""a\n안""#, "a\n안"),
            ("null", ""),
            (r#"{"type":"reasoning.text","text":"a","signature":null}"#, "a"),
            (r#"[{"type":"text","text":"a"},{"summary":"b"},"c"]"#, "abc"),
            (r#"{"content":[{"text":"deep"}]}"#, "deep"),
            ("false", ""),
            ("{}", ""),
        ] {
            assert_eq!(serde_json::from_str::<FlexibleText>(json).unwrap().0, expected, "{json}");
        }
    }

    #[test]
    fn what_has_another_form_is_as_if_it_were_not_there() {
        #[derive(serde::Deserialize)]
        struct One {
            a: u8,
        }
        for (json, expected) in [
            (r#"[{"a":1},{"a":2}]"#, vec![1, 2]),
            (r#"[null,[],"x",7,{"a":1}]"#, vec![1]),
            (r#"{"a":1}"#, vec![1]),
            ("[]", vec![]),
            ("null", vec![]),
            ("false", vec![]),
            (r#""x""#, vec![]),
        ] {
            let items: ObjectList<One> =
                serde_json::from_str(json).unwrap_or_else(|error| panic!("{json}: {error}"));
            let found: Vec<u8> = items.first.into_iter().chain(items.more).map(|one| one.a).collect();
            assert_eq!(found, expected, "{json}");
        }
    }
}
