//! Message content in the forms of all wires: texts, images, files and results of tools. Bytes that are not of a known
//! kind of file become a line of text that describes them.

use base64::Engine;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use serde_json::Value;

use super::message::{CallOutput, MessageItem, ProxyFile};
use lepo_base::hash::sha256_hex;
use lepo_base::media::Media;

/// Padding may be missing.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// Returns a text field; empty if it is missing or not a text.
pub fn text_of<'v>(value: &'v Value, key: &str) -> &'v str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// Returns the elements of a list; empty for any other value.
pub fn items_of(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

/// Converts a content: a text, a part, or a list of parts.
pub fn items_of_content(content: &Value) -> Vec<MessageItem> {
    match content {
        Value::Null => Vec::new(),
        Value::String(text) => vec![MessageItem::Text(text.clone())],
        Value::Array(parts) => parts.iter().flat_map(item_of_part).collect(),
        part => item_of_part(part).into_iter().collect(),
    }
}

/// Returns a content as one text, its parts separated by blank lines; a file is the line that describes it.
pub fn joined_content(content: &Value) -> String {
    let texts = items_of_content(content).into_iter().filter_map(|item| match item {
        MessageItem::Text(text) if !text.is_empty() => Some(text),
        MessageItem::File(file) => Some(bytes_line(file.media.mime(), &file.bytes)),
        _ => None,
    });
    texts.collect::<Vec<_>>().join("\n\n")
}

/// Returns the result of a call with this content.
pub fn output_of(call: &str, content: &Value) -> CallOutput {
    let (mut texts, mut files) = (Vec::new(), Vec::new());
    for item in items_of_content(content) {
        match item {
            MessageItem::Text(text) if !text.is_empty() => texts.push(text),
            MessageItem::File(file) => files.push(file),
            _ => {}
        }
    }
    CallOutput { call: call.to_string(), text: texts.join("\n\n"), files }
}

/// Converts a part; `None` if it has no content, such as encrypted reasoning. A part of an unknown type is the line that
/// describes its JSON.
fn item_of_part(part: &Value) -> Option<MessageItem> {
    if let Some(text) = part.as_str() {
        return Some(MessageItem::Text(text.to_string()));
    }
    let name = name_of_part(part);
    match text_of(part, "type") {
        "image_url" | "input_image" | "output_image" => {
            let image = part.get("image_url").unwrap_or(&Value::Null);
            let url = image.as_str().unwrap_or_else(|| text_of(image, "url"));
            match url {
                "" => file_by_id("image", text_of(part, "file_id")),
                url => Some(file_of_url("image", &name, url)),
            }
        }
        "image" | "document" | "video" => Some(file_of_source(part, &name)),
        "file" | "input_file" => {
            let file = part.get("file").filter(|file| file.is_object()).unwrap_or(part);
            let name = name_of_part(file);
            let data = ["file_data", "file_url", "data", "url"].map(|key| text_of(file, key));
            match data.into_iter().find(|data| !data.is_empty()) {
                Some(data) => Some(file_of_url("file", &name, data)),
                None => file_by_id("file", text_of(file, "file_id")),
            }
        }
        "input_audio" => {
            let audio = part.get("input_audio").unwrap_or(part);
            let format = text_of(audio, "format");
            let mime = if format.is_empty() { "audio".to_string() } else { format!("audio/{format}") };
            Some(file_of_base64(&mime, "", text_of(audio, "data")))
        }
        "thinking" | "reasoning" => {
            let text = ["thinking", "text"].map(|key| text_of(part, key));
            let text = text.into_iter().find(|text| !text.is_empty());
            text.map(|text| MessageItem::Thinking(text.to_string()))
        }
        // Encrypted reasoning has no text.
        "redacted_thinking" => None,
        kind => match part.get("text").or_else(|| part.get("refusal")).and_then(Value::as_str) {
            Some(text) => Some(MessageItem::Text(text.to_string())),
            None => {
                let kind = if kind.is_empty() { "content" } else { kind };
                Some(MessageItem::Text(bytes_line(kind, part.to_string().as_bytes())))
            }
        },
    }
}

fn name_of_part(part: &Value) -> String {
    let names = ["filename", "title", "name"].map(|key| text_of(part, key));
    names.into_iter().find(|name| !name.is_empty()).unwrap_or_default().to_string()
}

/// Returns the line for a file that the request names only by an id; `None` for an empty id.
fn file_by_id(kind: &str, id: &str) -> Option<MessageItem> {
    (!id.is_empty()).then(|| MessageItem::Text(format!("[{kind}: {}]", one_line(id))))
}

/// Reads a file in the format of Anthropic or of the Model Context Protocol.
fn file_of_source(part: &Value, name: &str) -> MessageItem {
    let kind = text_of(part, "type");
    let source = part.get("source").unwrap_or(part);
    let media = ["media_type", "mimeType", "mime_type"].map(|key| text_of(source, key));
    let media = media.into_iter().find(|media| !media.is_empty()).unwrap_or(kind);
    match text_of(source, "type") {
        "text" => MessageItem::Text(text_of(source, "data").to_string()),
        "url" => file_of_url(kind, name, text_of(source, "url")),
        "file" => MessageItem::Text(format!("[{kind}: {}]", one_line(text_of(source, "file_id")))),
        "content" => {
            let content = source.get("content").unwrap_or(&Value::Null);
            let parts = || items_of(content).iter().map(|part| text_of(part, "text")).collect::<Vec<_>>();
            MessageItem::Text(content.as_str().map_or_else(|| parts().join("\n\n"), str::to_string))
        }
        _ => file_of_base64(media, name, text_of(source, "data")),
    }
}

/// Returns the file of a URL: its bytes if it is a data URL, else a line with the address.
pub fn file_of_url(kind: &str, name: &str, url: &str) -> MessageItem {
    let Some((head, data)) = url.strip_prefix("data:").and_then(|url| url.split_once(',')) else {
        // Some wires have bare base64 where others have a URL.
        return match url.contains(':') {
            true => MessageItem::Text(format!("[{kind}: {}]", one_line(url))),
            false => file_of_base64(kind, name, url),
        };
    };
    let mime = head.split(';').next().filter(|mime| !mime.is_empty()).unwrap_or(kind);
    match head.ends_with(";base64") {
        true => file_of_base64(mime, name, data),
        false => file_of_bytes(mime, name, data.as_bytes().to_vec()),
    }
}

/// Returns the file in this base64. If it is malformed, the text itself is the content of the file.
pub fn file_of_base64(mime: &str, name: &str, text: &str) -> MessageItem {
    let compact: String = text.split_ascii_whitespace().collect();
    let bytes = BASE64.decode(compact.as_bytes()).unwrap_or_else(|_| text.as_bytes().to_vec());
    file_of_bytes(mime, name, bytes)
}

/// Returns a file of a known kind, or else the line that describes the bytes.
fn file_of_bytes(mime: &str, name: &str, bytes: Vec<u8>) -> MessageItem {
    match Media::from_magic(&bytes) {
        Some(media) => MessageItem::File(ProxyFile { name: name.to_string(), media, bytes }),
        None => MessageItem::Text(bytes_line(mime, &bytes)),
    }
}

/// Returns the line that describes bytes: `[audio/wav 48213 bytes: sha256 …]`.
pub fn bytes_line(kind: &str, bytes: &[u8]) -> String {
    format!("[{} {} bytes: sha256 {}]", one_line(kind), bytes.len(), sha256_hex(bytes))
}

fn one_line(text: &str) -> String {
    text.replace(|c: char| c.is_control(), "\u{fffd}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn each_kind_of_part_is_text_a_file_or_a_line() {
        let png = "iVBORw0KGgo=";
        let audio = sha256_hex(b"RIFFxxx");
        for (part, expected) in [
            (json!("a"), "a".to_string()),
            (json!({"type": "text", "text": "a"}), "a".into()),
            (json!({"type": "input_text", "text": "a"}), "a".into()),
            (json!({"type": "output_text", "text": "a"}), "a".into()),
            (json!({"type": "refusal", "refusal": "no"}), "no".into()),
            (
                json!({"type": "image_url", "image_url": {"url": format!("data:image/png;base64,{png}")}}),
                "<image/png 8>".into(),
            ),
            (
                json!({"type": "input_image", "image_url": format!("data:image/png;base64,{png}")}),
                "<image/png 8>".into(),
            ),
            (
                json!({"type": "image_url", "image_url": {"url": "https://x.test/a.png"}}),
                "[image: https://x.test/a.png]".into(),
            ),
            (json!({"type": "input_image", "file_id": "file-1"}), "[image: file-1]".into()),
            (
                json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": png}}),
                "<image/png 8>".into(),
            ),
            (
                json!({"type": "image", "source": {"type": "url", "url": "https://x.test/a"}}),
                "[image: https://x.test/a]".into(),
            ),
            (json!({"type": "image", "data": png, "mimeType": "image/png"}), "<image/png 8>".into()),
            (
                json!({"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "words"}}),
                "words".into(),
            ),
            (
                json!({"type": "document", "title": "a.pdf", "source": {"type": "base64", "media_type": "application/pdf", "data": "JVBERi0x"}}),
                "<application/pdf 6 a.pdf>".into(),
            ),
            (
                json!({"type": "file", "file": {"filename": "b.pdf", "file_data": "data:application/pdf;base64,JVBERi0x"}}),
                "<application/pdf 6 b.pdf>".into(),
            ),
            (json!({"type": "input_file", "file_id": "file-2"}), "[file: file-2]".into()),
            (
                json!({"type": "input_audio", "input_audio": {"format": "wav", "data": "UklGRnh4eA=="}}),
                format!("[audio/wav 7 bytes: sha256 {audio}]"),
            ),
            (json!({"type": "thinking", "thinking": "hm", "signature": "x"}), "(hm)".into()),
            (json!({"type": "redacted_thinking", "data": "x"}), String::new()),
            (
                json!({"type": "new", "a": 1}),
                format!("[new 20 bytes: sha256 {}]", sha256_hex(br#"{"type":"new","a":1}"#)),
            ),
        ] {
            let found: Vec<String> = items_of_content(&json!([part]))
                .into_iter()
                .map(|item| match item {
                    MessageItem::Text(text) => text,
                    MessageItem::Thinking(text) => format!("({text})"),
                    MessageItem::File(ProxyFile { name, media, bytes }) => {
                        format!("<{} {} {name}", media.mime(), bytes.len()).trim_end().to_string() + ">"
                    }
                    other => format!("{other:?}"),
                })
                .collect();
            assert_eq!(found.join("|"), expected, "{part}");
        }
    }

    #[test]
    fn a_result_has_its_text_and_its_files() {
        let content = json!([{"type": "text", "text": "a"}, {"type": "text", "text": "b"},
            {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}}]);
        let output = output_of("c1", &content);
        assert_eq!((output.call.as_str(), output.text.as_str(), output.files.len()), ("c1", "a\n\nb", 1));
        assert_eq!(output_of("", &json!("plain")).text, "plain");
        assert_eq!(output_of("", &Value::Null), CallOutput::default());
    }
}
