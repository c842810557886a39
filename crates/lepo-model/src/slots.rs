//! The JSON of a request as a `Value`, without its long texts and files: in the `Value` each is a slot, a string that
//! ends with a mark. The serialised `Value` is cut at the marks, and the contents are sent from where they are.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};

use bytes::{Buf, Bytes};
use memchr::memmem;
use serde_json::{Map, Value};

use super::media::MediaFile;
use super::payload::{BodyPart, Payload};
use super::text::SharedText;

/// Longer texts, in bytes, become slots.
const SMALL: usize = 4 << 10;

/// Fields with the conversation, which the user's own fields do not replace.
const CONVERSATION: &[&str] = &["messages", "input", "system"];

/// The slots of one body.
pub(super) struct Slots {
    /// 16 bytes in hexadecimal, random for each body, so that no text can contain it.
    mark: String,
    /// By the mark and a number.
    contents: HashMap<Bytes, BodyPart>,
}

impl Slots {
    pub fn new() -> Slots {
        let random = RandomState::new();
        let mark = [0u8, 1].map(|half| format!("{:016x}", random.hash_one(half))).concat();
        Slots { mark, contents: HashMap::new() }
    }

    /// Returns a label and a text as one string.
    pub fn text(&mut self, label: &str, text: &SharedText) -> Value {
        match text.len() {
            ..=SMALL => format!("{label}{text}").into(),
            _ => self.slot(label, BodyPart::Text(text.clone())),
        }
    }

    /// Returns a string of `start` and the base64 of a file.
    pub fn file(&mut self, start: &str, file: &MediaFile) -> Value {
        self.slot(start, BodyPart::File(file.clone()))
    }

    /// Returns JSON as received, which may be long.
    pub fn received(&mut self, json: &Value) -> Value {
        self.slot("", BodyPart::Json(json.to_string().into()))
    }

    fn slot(&mut self, start: &str, content: BodyPart) -> Value {
        let slot = format!("{}{:08x}", self.mark, self.contents.len());
        let string = format!("{start}{slot}");
        self.contents.insert(slot.into(), content);
        string.into()
    }

    /// Returns a body without its null fields and with the user's own, which replace others; objects are merged.
    pub fn into_payload(mut self, body: Value, extra: &Map<String, Value>) -> Payload {
        let mut body = compact(body);
        for (key, theirs) in extra {
            match (body.get_mut(key), theirs) {
                (Some(_), _) if CONVERSATION.contains(&key.as_str()) => {}
                (Some(Value::Object(ours)), Value::Object(theirs)) => ours.extend(theirs.clone()),
                _ => body[key] = theirs.clone(),
            }
        }
        let mut json = Bytes::from(body.to_string());
        let mut parts = Vec::new();
        while let Some(at) = memmem::find(&json, self.mark.as_bytes()) {
            let mut before = json.split_to(at);
            let slot = json.split_to(self.mark.len() + 8);
            let content = self.contents.remove(&slot);
            if let Some(BodyPart::Json(_)) = content {
                // The slot was a string, and its content may be any JSON.
                before.truncate(at - 1);
                json.advance(1);
            }
            parts.push(BodyPart::Json(before));
            parts.extend(content);
        }
        parts.push(BodyPart::Json(json));
        Payload::new(parts)
    }
}

/// Returns an object with a value in a field, where `json!` would copy the value.
pub(super) fn with_field(mut object: Value, key: &str, value: impl Into<Value>) -> Value {
    object[key] = value.into();
    object
}

/// Removes the null fields of an object, and returns null for an empty object or list: a field that is null is absent
/// from a request.
pub(super) fn compact(mut json: Value) -> Value {
    if let Value::Object(fields) = &mut json {
        fields.retain(|_, value| !value.is_null());
    }
    let is_empty = match &json {
        Value::Object(fields) => fields.is_empty(),
        Value::Array(items) => items.is_empty(),
        _ => false,
    };
    if is_empty { Value::Null } else { json }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn sent(payload: &Payload) -> Value {
        serde_json::from_slice(&payload.to_vec()).unwrap()
    }

    #[test]
    fn a_long_text_is_the_same_json_in_pieces() {
        let odd = "가\u{1}\"\\\n\r\t\u{8}\u{c}\u{7f}🙂z";
        for times in [1, 1000, 20_000] {
            let text = SharedText::from(odd.repeat(times));
            let mut slots = Slots::new();
            let body = json!({"a": slots.text("", &text), "b": [slots.text("\"한: ", &text)]});
            let payload = slots.into_payload(body, &Map::new());
            let bytes = payload.to_vec();
            assert_eq!(payload.length(), bytes.len(), "{times}");
            let whole = json!({"a": &*text, "b": [format!("\"한: {text}")]});
            assert_eq!(bytes, whole.to_string().into_bytes(), "{times}");
        }
    }

    #[test]
    fn an_outline_has_no_long_text_and_a_log_has_all() {
        let [short, long] = [3, SMALL + 1].map(|len| SharedText::from("x".repeat(len)));
        let mut slots = Slots::new();
        let messages = [&short, &long].map(|text| slots.text("a: ", text));
        let payload = slots.into_payload(json!({"messages": messages, "stream": true}), &Map::new());
        let outline: Value = serde_json::from_str(&payload.outline()).unwrap();
        assert_eq!(outline, json!({"messages": ["a: xxx", "a: "], "stream": true}));
        assert_eq!(payload.log_text().into_bytes(), payload.to_vec());
    }

    #[test]
    fn contents_go_where_their_slots_are() {
        let [one, two] = ["1", "2"].map(|digit| SharedText::from(digit.repeat(SMALL + 1)));
        let received = json!({"x": [1.50, null], "y": &*one});
        for received in [received, json!(null), json!([]), json!("text")] {
            let mut slots = Slots::new();
            let (first, second) = (slots.text("", &one), slots.text("", &two));
            let body = json!({"b": second, "r": slots.received(&received), "a": first, "gone": slots.text("", &one)});
            let extra = json!({"gone": 1});
            let payload = slots.into_payload(body, extra.as_object().unwrap());
            assert_eq!(sent(&payload), json!({"b": &*two, "r": received, "a": &*one, "gone": 1}));
        }
    }

    #[test]
    fn a_slot_of_another_request_is_a_text() {
        let (mut slots, mut other) = (Slots::new(), Slots::new());
        let long = SharedText::from("x".repeat(SMALL + 1));
        let slot = other.text("", &long);
        let body = json!({"a": slot, "b": slots.text("", &long)});
        assert_eq!(sent(&slots.into_payload(body, &Map::new())), json!({"a": slot, "b": &*long}));
    }

    #[test]
    fn extra_keys_replace_and_merge() {
        let extra = json!({"top": 1, "options": {"b": 2}, "model": "x", "absent": null, "messages": [], "system": "s"});
        let body = json!({"model": "m", "messages": ["hi"], "options": {"a": 1, "b": 1}, "none": null, "system": null});
        let payload = Slots::new().into_payload(body, extra.as_object().unwrap());
        let expected =
            r#"{"model":"x","messages":["hi"],"options":{"a":1,"b":2},"top":1,"absent":null,"system":"s"}"#;
        assert_eq!(payload.to_vec(), expected.as_bytes());
    }
}
