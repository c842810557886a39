//! The JSON body of a request in pieces: JSON, long texts and files. A text is escaped and a file read only when it is
//! sent, so that memory has only one copy of the conversation, whatever its length.

use std::io;

use bytes::Bytes;
use serde::Serialize;
use serde_json::{Map, Value};
use tokio::sync::mpsc::{Receiver, channel};

use super::media::{Base64Chunks, MediaFile};
use super::text::SharedText;

/// Texts up to this size in bytes are escaped immediately.
const SMALL: usize = 4 << 10;

/// Bytes of a long text per chunk, before escaping.
const SLICE: usize = 64 << 10;

/// Number of chunks in advance of the sender; a chunk of a file has a quarter of a megabyte.
const AHEAD: usize = 32;

/// A JSON document in pieces. Clones share the long texts.
#[derive(Debug, Clone, Default)]
pub(super) struct Payload {
    parts: Vec<BodyPart>,
    /// JSON after the last part, which the next long text or file turns into a part.
    open_json: Vec<u8>,
    /// Length of `parts` in bytes, escaped and encoded.
    length: usize,
}

#[derive(Debug, Clone)]
enum BodyPart {
    Json(Bytes),
    /// The inside of a JSON string, before escaping.
    Text(SharedText),
    /// A file that is not read yet, for base64.
    File(MediaFile),
}

impl Payload {
    /// Appends JSON verbatim.
    pub fn raw(&mut self, json: &str) {
        self.open_json.extend_from_slice(json.as_bytes());
    }

    /// Appends a value. All values here have string keys only, so serialising cannot fail.
    pub fn json(&mut self, value: &(impl Serialize + ?Sized)) {
        let _ = serde_json::to_writer(&mut self.open_json, value);
    }

    /// Appends a text as a JSON string.
    pub fn text(&mut self, text: &SharedText) {
        self.labelled_text("", text);
    }

    /// Appends a label and a text as one JSON string.
    pub fn labelled_text(&mut self, label: &str, text: &SharedText) {
        self.json(label);
        self.open_json.pop();
        if text.len() <= SMALL {
            let quoted = serde_json::to_vec(&**text).unwrap_or_default();
            self.open_json.extend_from_slice(quoted.get(1..).unwrap_or(b"\""));
            return;
        }
        self.flush();
        self.length += escaped_length(text);
        self.parts.push(BodyPart::Text(text.clone()));
        self.open_json.push(b'"');
    }

    /// Appends a file as base64, within a JSON string that starts with `before`.
    pub fn file(&mut self, before: &str, file: &MediaFile) {
        self.open_json.push(b'"');
        self.open_json.extend_from_slice(before.as_bytes());
        self.flush();
        self.length += file.encoded_len() as usize;
        self.parts.push(BodyPart::File(file.clone()));
        self.open_json.push(b'"');
    }

    fn flush(&mut self) {
        if !self.open_json.is_empty() {
            self.length += self.open_json.len();
            self.parts.push(BodyPart::Json(Bytes::from(std::mem::take(&mut self.open_json))));
        }
    }

    /// Returns the length of the body in bytes.
    pub fn length(&self) -> usize {
        self.length + self.open_json.len()
    }

    /// Whether the body has files, which may fail to be read.
    pub fn has_files(&self) -> bool {
        self.parts.iter().any(|part| matches!(part, BodyPart::File(_)))
    }

    /// Returns the body in chunks, each made on demand.
    pub fn chunks(mut self) -> impl Iterator<Item = io::Result<Bytes>> + Send {
        self.flush();
        self.parts.into_iter().flat_map(BodyChunks::new)
    }

    /// Returns the body in chunks, made by a separate thread some megabytes in advance, so that reading a large
    /// file overlaps with sending it. `None` if no thread can be spawned.
    pub fn chunks_ahead(&self) -> Option<Receiver<io::Result<Bytes>>> {
        let (sender, receiver) = channel(AHEAD);
        let chunks = self.clone().chunks();
        // If the request is cancelled, the receiver is gone and the thread ends.
        let work = move || {
            for chunk in chunks {
                if sender.blocking_send(chunk).is_err() {
                    return;
                }
            }
        };
        std::thread::Builder::new().spawn(work).ok().map(|_| receiver)
    }

    /// Returns the whole body, for short requests: without files, so that no read can fail.
    pub fn to_vec(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.length());
        self.clone().chunks().flatten().for_each(|chunk| bytes.extend_from_slice(&chunk));
        bytes
    }

    /// Returns the body for a log, with the lengths of files instead of their content.
    pub fn log_text(&self) -> String {
        self.without_files(BodyPart::Text)
    }

    /// Returns the body with every long text empty. Only messages have long texts, so all other fields are whole.
    pub fn outline(&self) -> String {
        self.without_files(|_| BodyPart::Json(Bytes::new()))
    }

    fn without_files(&self, text: impl Fn(SharedText) -> BodyPart) -> String {
        let mut payload = self.clone();
        let described = |part| match part {
            BodyPart::Json(json) => BodyPart::Json(json),
            BodyPart::Text(long) => text(long),
            BodyPart::File(file) => BodyPart::Json(Bytes::from(format!("({} bytes)", file.len))),
        };
        payload.parts = payload.parts.into_iter().map(described).collect();
        // All parts are UTF-8, and this does not copy them.
        String::from_utf8(payload.to_vec()).unwrap_or_default()
    }
}

enum BodyChunks {
    Json(Bytes),
    /// A text, and the offset of its unsent rest.
    Text(SharedText, usize),
    File(Base64Chunks),
}

impl BodyChunks {
    fn new(part: BodyPart) -> BodyChunks {
        match part {
            BodyPart::Json(json) => BodyChunks::Json(json),
            BodyPart::Text(text) => BodyChunks::Text(text, 0),
            BodyPart::File(file) => BodyChunks::File(file.encoded()),
        }
    }
}

impl Iterator for BodyChunks {
    type Item = io::Result<Bytes>;

    fn next(&mut self) -> Option<io::Result<Bytes>> {
        match self {
            BodyChunks::Json(json) if json.is_empty() => None,
            BodyChunks::Json(json) => Some(Ok(std::mem::take(json))),
            BodyChunks::Text(text, at) => {
                let rest = text.get(*at..).filter(|rest| !rest.is_empty())?;
                let slice = rest.split_at(rest.floor_char_boundary(SLICE)).0;
                *at += slice.len();
                let mut json = serde_json::to_vec(slice).unwrap_or_default();
                json.pop();
                Some(Ok(Bytes::from(json).slice(1..)))
            }
            BodyChunks::File(pieces) => pieces.next(),
        }
    }
}

fn escaped_length(text: &str) -> usize {
    let length = |byte: u8| match byte {
        b'"' | b'\\' | b'\n' | b'\r' | b'\t' | 0x08 | 0x0C => 2,
        0x00..=0x1F => 6,
        _ => 1,
    };
    text.bytes().map(length).sum()
}

/// Writes a JSON object, key by key. Keys of `extra` replace written keys, and objects are merged.
pub(super) struct JsonObjectWriter<'e> {
    payload: Payload,
    extra: &'e Map<String, Value>,
    written: Vec<&'static str>,
}

impl<'e> JsonObjectWriter<'e> {
    /// Creates an empty object.
    pub fn new(extra: &'e Map<String, Value>) -> Self {
        let mut payload = Payload::default();
        payload.raw("{");
        JsonObjectWriter { payload, extra, written: Vec::new() }
    }

    /// Writes a key, and returns the payload for its value.
    pub fn key(&mut self, key: &'static str) -> &mut Payload {
        if !self.written.is_empty() {
            self.payload.raw(",");
        }
        self.written.push(key);
        self.payload.json(key);
        self.payload.raw(":");
        &mut self.payload
    }

    /// Writes a key with its value.
    pub fn field(&mut self, key: &'static str, value: impl Into<Value>) {
        let value = match (value.into(), self.extra.get(key)) {
            (Value::Object(mut ours), Some(Value::Object(theirs))) => {
                ours.extend(theirs.clone());
                Value::Object(ours)
            }
            (_, Some(theirs)) => theirs.clone(),
            (ours, None) => ours,
        };
        self.key(key).json(&value);
    }

    /// Like `field`, but writes nothing for `None`.
    pub fn optional_field(&mut self, key: &'static str, value: Option<impl Into<Value>>) {
        if let Some(value) = value {
            self.field(key, value);
        }
    }

    /// Returns the complete object.
    pub fn finish(mut self) -> Payload {
        let rest: Vec<_> =
            self.extra.iter().filter(|(key, _)| !self.written.contains(&key.as_str())).collect();
        for (key, value) in rest {
            if self.payload.length() > 1 {
                self.payload.raw(",");
            }
            self.payload.json(key);
            self.payload.raw(":");
            self.payload.json(value);
        }
        self.payload.raw("}");
        self.payload
    }
}

/// Writes the items of a list.
pub(super) fn list<T>(
    payload: &mut Payload,
    items: impl IntoIterator<Item = T>,
    each: impl Fn(&mut Payload, T),
) {
    payload.raw("[");
    for (i, item) in items.into_iter().enumerate() {
        if i > 0 {
            payload.raw(",");
        }
        each(payload, item);
    }
    payload.raw("]");
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_long_text_is_the_same_json_in_pieces() {
        let odd = "가\u{1}\"\\\n\r\t\u{8}\u{c}\u{7f}🙂z";
        for times in [1, 1000, 20_000] {
            let text = SharedText::from(odd.repeat(times));
            let mut payload = Payload::default();
            list(&mut payload, [&text, &text], |payload, text| payload.text(text));
            let bytes = payload.to_vec();
            assert_eq!(payload.length(), bytes.len(), "{times}");
            assert_eq!(bytes, serde_json::to_vec(&[&*text, &*text]).unwrap(), "{times}");
        }
    }

    #[test]
    fn an_outline_has_no_long_text_and_a_log_has_all() {
        let [short, long] = [3, SMALL + 1].map(|len| SharedText::from("x".repeat(len)));
        let extra = Map::new();
        let mut object = JsonObjectWriter::new(&extra);
        list(object.key("messages"), [&short, &long], |payload, text| payload.labelled_text("a: ", text));
        object.field("stream", true);
        let body = object.finish();
        let read = |text: &str| serde_json::from_str::<Value>(text).unwrap();
        assert_eq!(read(&body.outline()), json!({ "messages": ["a: xxx", "a: "], "stream": true }));
        assert_eq!(read(&body.log_text()), read(std::str::from_utf8(&body.to_vec()).unwrap()));
    }

    #[test]
    fn extra_keys_replace_and_merge() {
        let extra = json!({"top": 1, "options": {"b": 2}, "model": "x"});
        let mut object = JsonObjectWriter::new(extra.as_object().unwrap());
        object.field("model", "m");
        object.field("options", json!({"a": 1, "b": 1}));
        object.optional_field("none", None::<Value>);
        let sent: Value = serde_json::from_slice(&object.finish().to_vec()).unwrap();
        assert_eq!(sent, json!({"model": "x", "options": {"a": 1, "b": 2}, "top": 1}));
        assert_eq!(JsonObjectWriter::new(&Map::new()).finish().to_vec(), b"{}");
    }
}
