//! One event of OpenAI's chat completions, as far as it is used. Servers differ in the rest, so
//! everything is optional, unknown fields are skipped, and text is borrowed where it has no escapes.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

use crate::event::{Usage, tokens};

/// An event of a stream, or a whole completion.
#[derive(serde::Deserialize)]
pub(super) struct Chunk<'a> {
    #[serde(default, borrow)]
    pub choices: First<Choice<'a>>,
    pub usage: Option<Value>,
    pub error: Option<Value>,
    /// The place of vLLM's errors, with `object` being `error`.
    pub message: Option<Value>,
}

#[derive(serde::Deserialize)]
pub(super) struct Choice<'a> {
    /// The part that an event adds.
    #[serde(borrow)]
    pub delta: Option<Delta<'a>>,
    /// The message of a whole completion; some servers repeat in each event what came so far.
    #[serde(borrow)]
    pub message: Option<Delta<'a>>,
    pub finish_reason: Option<String>,
}

#[derive(serde::Deserialize)]
pub(super) struct Delta<'a> {
    #[serde(default, borrow)]
    pub content: Content<'a>,
    #[serde(default, borrow)]
    pub reasoning_content: Prose<'a>,
    #[serde(default, borrow)]
    pub reasoning: Prose<'a>,
    #[serde(default, borrow)]
    pub refusal: Prose<'a>,
    pub tool_calls: Option<Vec<CallPiece>>,
}

#[derive(serde::Deserialize)]
pub(super) struct CallPiece {
    pub index: Option<usize>,
    pub id: Option<String>,
    pub function: Option<FunctionPiece>,
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

#[derive(serde::Deserialize)]
pub(super) struct FunctionPiece {
    pub name: Option<String>,
    /// A string in pieces; some servers send the object itself, whole.
    pub arguments: Option<Value>,
}

/// The tokens that a completion tells.
pub(super) fn usage(told: &Value) -> Usage {
    let cached = told.pointer("/prompt_tokens_details/cached_tokens").and_then(tokens);
    Usage {
        input: tokens(&told["prompt_tokens"]),
        output: tokens(&told["completion_tokens"]),
        // DeepSeek's value has a name of its own.
        cached: cached.or_else(|| tokens(&told["prompt_cache_hit_tokens"])),
        cache_write: None,
        web: None,
    }
}

/// The first item of a list, without a list being made; nothing for an empty one or null.
pub(super) struct First<T>(pub Option<T>);

impl<T> Default for First<T> {
    fn default() -> Self {
        First(None)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for First<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(FirstVisitor(PhantomData))
    }
}

struct FirstVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for FirstVisitor<T> {
    type Value = First<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_unit<E>(self) -> Result<First<T>, E> {
        Ok(First(None))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<First<T>, A::Error> {
        let first = items.next_element()?;
        while items.next_element::<IgnoredAny>()?.is_some() {}
        Ok(First(first))
    }
}

/// Text that comes as a string, as an object that holds it, or as a list of these.
#[derive(Default)]
pub(super) struct Prose<'a>(pub Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for Prose<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ProseVisitor).map(Prose)
    }
}

struct ProseVisitor;

impl<'de> Visitor<'de> for ProseVisitor {
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
        while let Some(Prose(text)) = items.next_element()? {
            all.push_str(&text);
        }
        Ok(Cow::Owned(all))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Self::Value, A::Error> {
        let mut all = String::new();
        while let Some(key) = fields.next_key::<String>()? {
            match key.as_str() {
                "text" | "content" | "summary" => all.push_str(&fields.next_value::<Prose>()?.0),
                _ => drop(fields.next_value::<IgnoredAny>()?),
            }
        }
        Ok(Cow::Owned(all))
    }
}

/// The content of a message: text, or a list of parts, of which some may be thinking (Mistral).
#[derive(Default)]
pub(super) struct Content<'a> {
    pub thinking: String,
    pub text: Cow<'a, str>,
}

impl<'de: 'a, 'a> Deserialize<'de> for Content<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ContentVisitor)
    }
}

struct ContentVisitor;

impl<'de> Visitor<'de> for ContentVisitor {
    type Value = Content<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("text")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Content { text: Cow::Borrowed(text), ..Content::default() })
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Content { text: Cow::Owned(text.to_owned()), ..Content::default() })
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Content::default())
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
        Ok(Content::default())
    }

    fn visit_u64<E>(self, number: u64) -> Result<Self::Value, E> {
        Ok(Content { text: Cow::Owned(number.to_string()), ..Content::default() })
    }

    fn visit_i64<E>(self, number: i64) -> Result<Self::Value, E> {
        Ok(Content { text: Cow::Owned(number.to_string()), ..Content::default() })
    }

    fn visit_f64<E>(self, number: f64) -> Result<Self::Value, E> {
        Ok(Content { text: Cow::Owned(number.to_string()), ..Content::default() })
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
        let mut all = Content::default();
        while let Some(part) = items.next_element::<Content>()? {
            all.thinking.push_str(&part.thinking);
            all.text.to_mut().push_str(&part.text);
        }
        Ok(all)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Self::Value, A::Error> {
        let mut part = Content::default();
        while let Some(key) = fields.next_key::<String>()? {
            match key.as_str() {
                "thinking" => part.thinking.push_str(&fields.next_value::<Prose>()?.0),
                "text" | "content" | "summary" => {
                    part.text.to_mut().push_str(&fields.next_value::<Prose>()?.0)
                }
                _ => drop(fields.next_value::<IgnoredAny>()?),
            }
        }
        Ok(part)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thinking_within_the_content_is_told_from_text() {
        let thought =
            r#"{"type":"thinking","thinking":[{"type":"text","text":"so "},{"type":"text","text":"한"}]}"#;
        let text = r#"{"type":"text","text":"b"}"#;
        for (json, thinking, said) in [
            (r#""a\n안""#.to_string(), "", "a\n안"),
            ("null".into(), "", ""),
            ("7".into(), "", "7"),
            (format!("[{thought}]"), "so 한", ""),
            (format!("[{thought},{text},\"c\"]"), "so 한", "bc"),
            (r#"[{"thinking":"x","type":"thinking","closed":true}]"#.into(), "x", ""),
            (text.into(), "", "b"),
            ("[]".into(), "", ""),
        ] {
            let content: Content = serde_json::from_str(&json).unwrap();
            assert_eq!((content.thinking.as_str(), &*content.text), (thinking, said), "{json}");
        }
    }

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
            assert_eq!(serde_json::from_str::<Prose>(json).unwrap().0, expected, "{json}");
        }
    }

    #[test]
    fn only_the_first_of_a_list_is_made() {
        for (json, expected) in [("[1,2,3]", Some(1)), ("[]", None), ("null", None)] {
            assert_eq!(serde_json::from_str::<First<u8>>(json).unwrap().0, expected);
        }
    }
}
