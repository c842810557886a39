//! Content blocks: the parts of a prompt, and the content of updates.

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

/// Longest name of an unknown type, in characters.
const LONGEST_TYPE: usize = 80;

/// A content block.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ContentBlock {
    /// Text.
    Text {
        /// The text.
        text: String,
    },
    /// An image.
    Image {
        /// Its media type.
        #[serde(rename = "mimeType")]
        mime: String,
        /// Its bytes in base64.
        data: String,
    },
    /// A link to a file or another resource.
    ResourceLink {
        /// Its URI.
        uri: String,
        /// Its display name.
        name: String,
    },
    /// A resource with its content.
    Resource {
        /// The resource.
        resource: EmbeddedResource,
    },
    /// A block of another type.
    #[serde(untagged)]
    Other {
        /// The type's name.
        #[serde(rename = "type")]
        kind: String,
    },
}

/// A resource within a block.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum EmbeddedResource {
    /// A resource with its text.
    Text {
        /// Its URI.
        uri: String,
        /// Its text.
        text: String,
    },
    /// A resource with its bytes.
    Blob {
        /// Its URI.
        uri: String,
        /// Its bytes in base64.
        blob: String,
    },
}

// By hand, as in [`super::reading`]: fields that nothing reads may have any number.
impl<'de> Deserialize<'de> for ContentBlock {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<ContentBlock, D::Error> {
        let block = Value::deserialize(from)?;
        ContentBlock::read(&block)
            .ok_or_else(|| D::Error::custom("a block of `prompt` is not a content block"))
    }
}

impl ContentBlock {
    /// Parses a block; `None` if a field of its type is missing.
    fn read(block: &Value) -> Option<ContentBlock> {
        let text = |key: &str| block[key].as_str().map(str::to_string);
        Some(match block["type"].as_str()? {
            "text" => ContentBlock::Text { text: text("text")? },
            "image" => match text("data").filter(|data| !data.is_empty()) {
                Some(data) => ContentBlock::Image { mime: text("mimeType")?, data },
                // Some clients upload an image, and send its address alone.
                None => ContentBlock::ResourceLink { uri: text("uri")?, name: "image".to_string() },
            },
            "resource_link" => {
                ContentBlock::ResourceLink { uri: text("uri")?, name: text("name").unwrap_or_default() }
            }
            "resource" => ContentBlock::Resource { resource: EmbeddedResource::read(&block["resource"])? },
            other => ContentBlock::Other { kind: other.chars().take(LONGEST_TYPE).collect() },
        })
    }

    /// Creates a block of text.
    pub fn text(text: impl Into<String>) -> ContentBlock {
        ContentBlock::Text { text: text.into() }
    }

    /// Returns the text of a block that has one.
    pub fn into_text(self) -> Option<String> {
        match self {
            ContentBlock::Text { text }
            | ContentBlock::Resource { resource: EmbeddedResource::Text { text, .. } } => Some(text),
            ContentBlock::Image { .. }
            | ContentBlock::ResourceLink { .. }
            | ContentBlock::Resource { resource: EmbeddedResource::Blob { .. } }
            | ContentBlock::Other { .. } => None,
        }
    }
}

impl EmbeddedResource {
    fn read(resource: &Value) -> Option<EmbeddedResource> {
        let text = |key: &str| resource[key].as_str().map(str::to_string);
        let uri = text("uri")?;
        match text("text") {
            Some(text) => Some(EmbeddedResource::Text { uri, text }),
            None => Some(EmbeddedResource::Blob { uri, blob: text("blob")? }),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn blocks_are_read_or_refused() {
        let read = |value: Value| serde_json::from_value::<ContentBlock>(value).ok();
        let link = |uri: &str, name: &str| ContentBlock::ResourceLink { uri: uri.into(), name: name.into() };
        let resource = |resource: EmbeddedResource| ContentBlock::Resource { resource };
        for block in [
            ContentBlock::text("a"),
            ContentBlock::Image { mime: "image/png".into(), data: "QQ==".into() },
            link("file:///a", "a"),
            resource(EmbeddedResource::Text { uri: "file:///a".into(), text: "t".into() }),
            resource(EmbeddedResource::Blob { uri: "file:///a".into(), blob: "QQ==".into() }),
            ContentBlock::Other { kind: "audio".into() },
        ] {
            assert_eq!(read(serde_json::to_value(&block).unwrap()), Some(block));
        }
        for (value, expected) in [
            (
                json!({ "type": "resource_link", "uri": "file:///a", "name": "a", "size": 1 }),
                link("file:///a", "a"),
            ),
            (json!({ "type": "resource_link", "uri": "file:///a" }), link("file:///a", "")),
            // https://github.com/anomalyco/opencode/issues/24815
            (
                json!({ "type": "image", "uri": "https://h/a.png", "mimeType": "image/png" }),
                link("https://h/a.png", "image"),
            ),
            // https://github.com/agentclientprotocol/codex-acp/pull/228
            (
                json!({ "type": "image", "data": "QQ==", "mimeType": "image/png", "uri": "zed:///agent/pasted-image" }),
                ContentBlock::Image { mime: "image/png".into(), data: "QQ==".into() },
            ),
            (json!({ "type": "resource_link", "uri": "u", "name": null }), link("u", "")),
            (json!({ "type": "resource_link", "uri": "u", "name": 7 }), link("u", "")),
            (
                json!({ "type": "resource", "resource": { "uri": "u", "text": "t", "blob": "b", "_meta": {} } }),
                resource(EmbeddedResource::Text { uri: "u".into(), text: "t".into() }),
            ),
            (
                json!({ "type": "audio", "data": "QQ==", "mimeType": "audio/wav" }),
                ContentBlock::Other { kind: "audio".into() },
            ),
        ] {
            assert_eq!(read(value.clone()), Some(expected), "{value}");
        }
        for wrong in [
            json!({}),
            json!({ "type": "text" }),
            json!({ "type": "text", "text": 7 }),
            json!({ "type": "image", "data": "QQ==" }),
            json!({ "type": "resource_link" }),
            json!({ "type": "resource", "resource": {} }),
            json!({ "type": 7 }),
            json!(7),
        ] {
            assert_eq!(read(wrong.clone()), None, "{wrong}");
        }
    }
}
