//! The result of a tool as a text, or as JSON if it has no text.

use super::attach;
use super::conversation::{ImportedFile, NodeContent};
use super::json::JsonValue;

/// Returns the text of a result: a string, the texts of its parts, the text or the parts in `content`, or its JSON.
/// Parts that are files have no text.
pub fn text(result: JsonValue<'_>) -> String {
    if let Some(text) = result.text() {
        return text.into_owned();
    }
    if result.is_null() {
        return String::new();
    }
    let content = result.get("content");
    let only_content = result.is_object() && result.fields().count() == 1;
    let parts = match (result.is_array(), content.is_array(), content.text()) {
        (true, ..) => result,
        (_, true, _) => content,
        (_, _, Some(text)) if only_content => return text.into_owned(),
        _ => return json(result),
    };
    let texts: Vec<String> = parts.items().filter(|part| !is_file(*part)).map(part).collect();
    texts.into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n\n")
}

/// Returns a result with its text and its files.
pub fn of_call(call: String, result: JsonValue<'_>) -> NodeContent {
    let parts = if result.is_array() { result } else { result.get("content") };
    let files = parts.items().filter(|part| is_file(*part)).map(file).collect();
    NodeContent::Output { call, text: text(result), files }
}

fn file(part: JsonValue<'_>) -> ImportedFile {
    let (source, image) = (part.get("source"), part.get("image_url"));
    let name =
        [part.get("title"), part.get("name")].into_iter().find_map(JsonValue::non_empty).unwrap_or_default();
    let mime = [source.get("media_type"), part.get("mimeType"), part.get("mime_type")];
    let mime = mime.into_iter().find_map(JsonValue::non_empty).unwrap_or_default();
    if let Some(data) = source.get("data").non_empty().or_else(|| part.get("data").non_empty()) {
        return attach::base64(&name, &mime, &data);
    }
    let url = image
        .non_empty()
        .or_else(|| image.get("url").non_empty())
        .unwrap_or_else(|| source.get("url").string());
    attach::url(&name, if mime.is_empty() { "image/png" } else { &mime }, &url)
}

/// Returns the JSON of a value, verbatim.
pub fn json(value: JsonValue<'_>) -> String {
    String::from_utf8_lossy(value.raw()).into_owned()
}

fn part(part: JsonValue<'_>) -> String {
    let text = part.text().or_else(|| part.get("text").text());
    text.map_or_else(|| json(part), |text| text.into_owned())
}

/// Whether a part has the bytes of a file, or their URL.
fn is_file(part: JsonValue<'_>) -> bool {
    let has_bytes = part.get("source").is_object() || part.get("data").text().is_some();
    match &*part.get("type").text().unwrap_or_default() {
        "image" | "document" | "audio" => has_bytes,
        "image_url" | "input_image" => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::read_json;

    #[test]
    fn a_result_without_words_is_its_json() {
        for (result, expected) in [
            (r#""plain""#, "plain"),
            ("null", ""),
            ("[]", ""),
            (r#"[{"type":"text","text":"a"},{"type":"text","text":"b"}]"#, "a\n\nb"),
            (
                r#"[{"type":"tool_reference","tool_name":"x"}]"#,
                r#"{"type":"tool_reference","tool_name":"x"}"#,
            ),
            (r#"[{"type":"text","text":"a"},{"n":1}]"#, "a\n\n{\"n\":1}"),
            (r#"[{"type":"image","source":{"data":"x"}}]"#, ""),
            (r#"{"output":"3\n","exit_code":0}"#, r#"{"output":"3\n","exit_code":0}"#),
            (r#"{"content":"alone"}"#, "alone"),
            (r#"{"content":[{"type":"text","text":"a"}],"isError":false}"#, "a"),
            ("7", "7"),
            ("true", "true"),
            (r#"["a",["b"]]"#, "a\n\n[\"b\"]"),
        ] {
            assert_eq!(read_json(result, text).as_deref(), Some(expected), "{result}");
        }
    }
}
