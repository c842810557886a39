//! Content blocks: the parts of a prompt, and the content of updates.

use serde_json::{Value, json};

/// A content block.
#[derive(Debug, Clone, PartialEq)]
pub enum ContentBlock {
    /// Text.
    Text(String),
    /// An image.
    Image {
        /// Its media type.
        mime: String,
        /// Its bytes in base64.
        data: String,
    },
    /// A link to a file or another resource.
    Link {
        /// Its URI.
        uri: String,
        /// Its display name.
        name: String,
    },
    /// A resource with its text.
    TextResource {
        /// Its URI.
        uri: String,
        /// Its text.
        text: String,
    },
    /// A resource with its bytes.
    BlobResource {
        /// Its URI.
        uri: String,
        /// Its bytes in base64.
        data: String,
    },
    /// A block of another type, with the type's name.
    Other(String),
}

impl ContentBlock {
    /// Parses a block; `None` if a field of its type is missing.
    pub fn read(value: &Value) -> Option<ContentBlock> {
        let text = |key: &str| value[key].as_str().map(str::to_string);
        Some(match value["type"].as_str()? {
            "text" => ContentBlock::Text(text("text")?),
            "image" => ContentBlock::Image { mime: text("mimeType")?, data: text("data")? },
            "resource_link" => {
                ContentBlock::Link { uri: text("uri")?, name: text("name").unwrap_or_default() }
            }
            "resource" => {
                let resource = &value["resource"];
                let uri = resource["uri"].as_str()?.to_string();
                match (resource["text"].as_str(), resource["blob"].as_str()) {
                    (Some(text), _) => ContentBlock::TextResource { uri, text: text.to_string() },
                    (None, Some(blob)) => ContentBlock::BlobResource { uri, data: blob.to_string() },
                    (None, None) => return None,
                }
            }
            other => ContentBlock::Other(other.chars().take(80).collect()),
        })
    }

    /// Returns the text of a block that has one.
    pub fn text(value: &Value) -> Option<&str> {
        match value["type"].as_str()? {
            "text" => value["text"].as_str(),
            "resource" => value["resource"]["text"].as_str(),
            _ => None,
        }
    }
}

/// Builds a text block.
pub fn text(text: &str) -> Value {
    json!({ "type": "text", "text": text })
}

/// Builds an image block from bytes in base64.
pub fn image(mime: &str, data: &str) -> Value {
    json!({ "type": "image", "mimeType": mime, "data": data })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_read_or_refused() {
        let read = |value: Value| ContentBlock::read(&value);
        assert_eq!(read(text("a")), Some(ContentBlock::Text("a".into())));
        assert_eq!(
            read(image("image/png", "QQ==")),
            Some(ContentBlock::Image { mime: "image/png".into(), data: "QQ==".into() })
        );
        assert_eq!(
            read(json!({ "type": "resource_link", "uri": "file:///a", "name": "a", "size": 1 })),
            Some(ContentBlock::Link { uri: "file:///a".into(), name: "a".into() })
        );
        assert_eq!(
            read(json!({ "type": "resource", "resource": { "uri": "file:///a", "text": "t" } })),
            Some(ContentBlock::TextResource { uri: "file:///a".into(), text: "t".into() })
        );
        assert_eq!(read(json!({ "type": "audio" })), Some(ContentBlock::Other("audio".into())));
        for wrong in
            [json!({}), json!({ "type": "text" }), json!({ "type": "resource", "resource": {} }), json!(7)]
        {
            assert_eq!(read(wrong.clone()), None, "{wrong}");
        }
    }
}
