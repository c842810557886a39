//! Parses a tool's result block by block: text for the model, and the bytes of images and other files. A block that
//! cannot be read becomes a note, and costs nothing else.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

const MOST_FILES: usize = 100;

/// The result of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallResult {
    /// Whether the tool itself reports a failure. The model decides what that means.
    pub is_error: bool,
    /// Blocks in the server's order.
    pub blocks: Vec<ResultBlock>,
}

/// A block of a result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ResultBlock {
    /// Text.
    Text(String),
    /// Bytes and their description: `image/png`, `file:///a.bin (application/zip)`.
    Bytes(String, Vec<u8>),
}

/// Keys of a result that are not part of what the tool returned.
const NOT_RETURNED: &[&str] = &["_meta", "isError", "resultType"];

/// Parses a server's result; `None` if it contains nothing. A result without `content` and `structuredContent` is its
/// text or its JSON.
pub fn read(result: &Value) -> Option<CallResult> {
    let is_error = result.get("isError").is_some_and(|is_error| *is_error == true || *is_error == "true");
    let content = result.get("content").filter(|content| !content.is_null());
    let mut blocks: Vec<ResultBlock> = match content {
        Some(Value::Array(content)) => content.iter().map(block).collect(),
        Some(alone) => vec![block(alone)],
        None => Vec::new(),
    };
    // Each of these becomes a file.
    let files = blocks.iter_mut().filter(|block| matches!(block, ResultBlock::Bytes(..)));
    for block in files.skip(MOST_FILES) {
        *block =
            ResultBlock::Text(format!("[left out: only the first {MOST_FILES} images and files are kept]"));
    }
    if blocks.is_empty() {
        // If `content` exists, `structuredContent` repeats it.
        match result.get("structuredContent") {
            Some(structured) if !structured.is_null() => {
                blocks.push(ResultBlock::Text(structured.to_string()))
            }
            _ if content.is_some() => {}
            _ => blocks.push(ResultBlock::Text(returned(result)?)),
        }
    }
    Some(CallResult { is_error, blocks })
}

/// Returns the text or the JSON of a result in no form of the protocol; `toolResult` is the form before its first revision.
fn returned(result: &Value) -> Option<String> {
    let fields = match result {
        Value::String(text) => return Some(text.clone()),
        Value::Object(fields) => fields,
        _ => return None,
    };
    if let Some(Value::String(text)) = fields.get("toolResult") {
        return Some(text.clone());
    }
    let is_returned =
        |(key, value): (&String, &Value)| !NOT_RETURNED.contains(&key.as_str()) && !value.is_null();
    fields.iter().any(is_returned).then(|| result.to_string())
}

pub(super) fn block(block: &Value) -> ResultBlock {
    if let Value::String(text) = block {
        return ResultBlock::Text(text.clone());
    }
    let kind = block.get("type").and_then(Value::as_str).unwrap_or_default();
    let read = match kind {
        "text" => block
            .get("text")
            .map(|text| ResultBlock::Text(text.as_str().map_or_else(|| text.to_string(), str::to_string))),
        "json" => block.get("json").or(block.get("data")).map(|json| ResultBlock::Text(json.to_string())),
        "image" | "audio" => bytes(block, kind),
        "resource" => block.get("resource").and_then(resource),
        "resource_link" => text(block, "uri").map(|uri| {
            let name = text(block, "name").map(|name| format!(" ({name})")).unwrap_or_default();
            ResultBlock::Text(format!("[resource: {uri}{name}]"))
        }),
        _ => None,
    };
    read.unwrap_or_else(|| {
        ResultBlock::Text(format!("[a content block of type {kind:?} that cannot be read]"))
    })
}

fn text<'b>(block: &'b Value, key: &str) -> Option<&'b str> {
    block.get(key)?.as_str()
}

fn bytes(block: &Value, kind: &str) -> Option<ResultBlock> {
    let what = text(block, "mimeType").unwrap_or(kind);
    Some(ResultBlock::Bytes(what.to_string(), decode(text(block, "data")?)?))
}

fn resource(resource: &Value) -> Option<ResultBlock> {
    let uri = text(resource, "uri").unwrap_or("resource");
    if let Some(text) = text(resource, "text") {
        return Some(ResultBlock::Text(format!("[{uri}]\n{text}")));
    }
    let mime = text(resource, "mimeType").map(|mime| format!(" ({mime})")).unwrap_or_default();
    Some(ResultBlock::Bytes(format!("{uri}{mime}"), decode(text(resource, "blob")?)?))
}

/// Decodes base64 with or without padding and line ends.
pub(super) fn decode(text: &str) -> Option<Vec<u8>> {
    let digits: String = text.chars().filter(|c| !c.is_ascii_whitespace()).collect();
    let digits = digits.trim_end_matches('=');
    let padding = "=".repeat((4 - digits.len() % 4) % 4);
    STANDARD.decode(format!("{digits}{padding}")).ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn written(result: Value) -> String {
        let Some(result) = read(&result) else { return "none".to_string() };
        let block = |block: &ResultBlock| match block {
            ResultBlock::Text(text) => text.replace('\n', "/"),
            ResultBlock::Bytes(what, bytes) => format!("<{what} {}>", String::from_utf8_lossy(bytes)),
        };
        let error = if result.is_error { "error:" } else { "" };
        format!("{error}{}", result.blocks.iter().map(block).collect::<Vec<_>>().join("|"))
    }

    #[test]
    fn only_so_many_images_are_kept() {
        let image = json!({"type": "image", "data": "aGk="});
        let result = read(&json!({"content": vec![image; MOST_FILES + 7]})).unwrap();
        let kept = result.blocks.iter().filter(|block| matches!(block, ResultBlock::Bytes(..))).count();
        assert_eq!((kept, result.blocks.len()), (MOST_FILES, MOST_FILES + 7));
    }

    #[test]
    fn every_block_is_read_or_said_to_be_there() {
        for (result, expected) in [
            (json!({"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}), "a|b"),
            (json!({"content": [{"type": "text", "text": "a"}], "isError": true}), "error:a"),
            (
                json!({"content": [{"type": "image", "data": "aGk=", "mimeType": "image/png"}]}),
                "<image/png hi>",
            ),
            (json!({"content": [{"type": "image", "data": "aG\nk"}]}), "<image hi>"),
            (
                json!({"content": [{"type": "image", "data": "!"}]}),
                "[a content block of type \"image\" that cannot be read]",
            ),
            (json!({"content": [{"type": "resource", "resource": {"uri": "u", "text": "t"}}]}), "[u]/t"),
            (
                json!({"content": [{"type": "resource", "resource": {"uri": "u", "mimeType": "m", "blob": "aGk="}}]}),
                "<u (m) hi>",
            ),
            (json!({"content": [{"type": "resource_link", "uri": "u", "name": "n"}]}), "[resource: u (n)]"),
            (
                json!({"content": [{"type": "odd"}, 3, {"type": "text"}, {"type": "text", "text": "ok"}]}),
                "[a content block of type \"odd\" that cannot be read]|[a content block of type \"\" that cannot \
                 be read]|[a content block of type \"text\" that cannot be read]|ok",
            ),
            (json!({"content": [], "structuredContent": {"a": 1}}), "{\"a\":1}"),
            (json!({"content": [{"type": "text", "text": "a"}], "structuredContent": {"a": 1}}), "a"),
            (json!({"content": []}), ""),
            (json!({"content": "words"}), "words"),
            (json!({"content": {"type": "text", "text": "words"}}), "words"),
            (json!({"content": ["words", {"type": "text", "text": 42}]}), "words|42"),
            (json!({"content": [{"type": "text", "text": {"a": 1}}]}), "{\"a\":1}"),
            (json!({"content": [{"type": "json", "json": {"a": 1}}]}), "{\"a\":1}"),
            (json!({"content": [], "isError": "true"}), "error:"),
            (json!({"toolResult": "words"}), "words"),
            (json!({"answer": 4, "_meta": {}}), "{\"answer\":4,\"_meta\":{}}"),
            (json!("words"), "words"),
            (json!({"_meta": {}, "isError": false}), "none"),
            (json!({"content": null}), "none"),
            (json!({}), "none"),
            (json!([1]), "none"),
        ] {
            assert_eq!(written(result.clone()), expected, "{result}");
        }
    }
}
