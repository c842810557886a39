//! The used fields of an event of OpenAI's chat completions. Servers differ in the others, so everything is
//! optional, unknown fields are skipped, and text without escapes is borrowed.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

use crate::event::{Usage, tokens};
use crate::loose_fields::{FlexibleText, IfObject, NUMBER, ObjectList};

/// An event of a stream, or a complete document. A field of an unexpected type is treated as missing.
#[derive(serde::Deserialize)]
pub(super) struct ChatChunk<'a> {
    #[serde(default, borrow)]
    pub choices: ObjectList<ChatChoice<'a>>,
    pub usage: Option<Value>,
}

#[derive(serde::Deserialize)]
pub(super) struct ChatChoice<'a> {
    /// The fragment in an event.
    #[serde(default, borrow)]
    pub delta: IfObject<ChatDelta<'a>>,
    /// The message of a complete document; some servers repeat in each event the message so far.
    #[serde(default, borrow)]
    pub message: IfObject<ChatDelta<'a>>,
    /// The text of a completion without a chat.
    #[serde(default, borrow)]
    pub text: FlexibleText<'a>,
    pub finish_reason: Option<Value>,
}

#[derive(serde::Deserialize)]
pub(super) struct ChatDelta<'a> {
    #[serde(default, borrow)]
    pub content: ChatContent<'a>,
    #[serde(default, borrow)]
    pub reasoning_content: FlexibleText<'a>,
    #[serde(default, borrow)]
    pub reasoning: FlexibleText<'a>,
    #[serde(default, borrow)]
    pub reasoning_text: FlexibleText<'a>,
    #[serde(default, borrow)]
    pub thinking: FlexibleText<'a>,
    #[serde(default, borrow)]
    pub reasoning_details: FlexibleText<'a>,
    #[serde(default, borrow)]
    pub refusal: FlexibleText<'a>,
    pub tool_calls: Option<Value>,
    /// The form before `tool_calls`.
    pub function_call: Option<Value>,
}

/// Returns the token counts of a completion.
pub(super) fn usage(value: &Value) -> Usage {
    let cached = value.pointer("/prompt_tokens_details/cached_tokens").and_then(tokens);
    Usage {
        input: tokens(&value["prompt_tokens"]),
        output: tokens(&value["completion_tokens"]),
        // DeepSeek uses another name.
        cached: cached.or_else(|| tokens(&value["prompt_cache_hit_tokens"])),
        cache_write: None,
        web: None,
    }
}

/// The content of a message: text, or a list of parts, some of which may be thinking (Mistral).
#[derive(Default)]
pub(super) struct ChatContent<'a> {
    pub thinking: String,
    pub text: Cow<'a, str>,
}

impl<'de: 'a, 'a> Deserialize<'de> for ChatContent<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ContentVisitor)
    }
}

struct ContentVisitor;

impl<'de> Visitor<'de> for ContentVisitor {
    type Value = ChatContent<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("text")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(ChatContent { text: Cow::Borrowed(text), ..ChatContent::default() })
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(ChatContent { text: Cow::Owned(text.to_owned()), ..ChatContent::default() })
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(ChatContent::default())
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
        Ok(ChatContent::default())
    }

    fn visit_u64<E>(self, number: u64) -> Result<Self::Value, E> {
        Ok(ChatContent { text: Cow::Owned(number.to_string()), ..ChatContent::default() })
    }

    fn visit_i64<E>(self, number: i64) -> Result<Self::Value, E> {
        Ok(ChatContent { text: Cow::Owned(number.to_string()), ..ChatContent::default() })
    }

    fn visit_f64<E>(self, number: f64) -> Result<Self::Value, E> {
        Ok(ChatContent { text: Cow::Owned(number.to_string()), ..ChatContent::default() })
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
        let mut all = ChatContent::default();
        while let Some(part) = items.next_element::<ChatContent>()? {
            all.thinking.push_str(&part.thinking);
            all.text.to_mut().push_str(&part.text);
        }
        Ok(all)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Self::Value, A::Error> {
        let mut part = ChatContent::default();
        let mut is_thought = false;
        while let Some(key) = fields.next_key::<String>()? {
            match key.as_str() {
                "thinking" | "reasoning" => part.thinking.push_str(&fields.next_value::<FlexibleText>()?.0),
                NUMBER | "text" | "content" | "summary" => {
                    part.text.to_mut().push_str(&fields.next_value::<FlexibleText>()?.0)
                }
                "type" => {
                    let kind = fields.next_value::<FlexibleText>()?.0;
                    is_thought |=
                        ["thinking", "reasoning", "thought"].iter().any(|word| kind.starts_with(word));
                }
                // Google's mark.
                "thought" => is_thought |= fields.next_value::<Value>()? == true,
                _ => drop(fields.next_value::<IgnoredAny>()?),
            }
        }
        if is_thought {
            part.thinking.push_str(&std::mem::take(&mut part.text));
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
        for (json, thinking, expected) in [
            (r#""a\n안""#.to_string(), "", "a\n안"),
            ("null".into(), "", ""),
            ("7".into(), "", "7"),
            ("1.5".into(), "", "1.5"),
            (format!("[{thought}]"), "so 한", ""),
            (format!("[{thought},{text},\"c\"]"), "so 한", "bc"),
            (r#"[{"thinking":"x","type":"thinking","closed":true}]"#.into(), "x", ""),
            (text.into(), "", "b"),
            (
                r#"[{"type":"reasoning","text":"x"},{"text":"y","thought":true},{"text":"z"}]"#.into(),
                "xy",
                "z",
            ),
            ("[]".into(), "", ""),
        ] {
            let content: ChatContent = serde_json::from_str(&json).unwrap();
            assert_eq!((content.thinking.as_str(), &*content.text), (thinking, expected), "{json}");
        }
    }
}
