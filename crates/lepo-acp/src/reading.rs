//! Parts of a message that serde's attributes cannot read: enums whose variant is named by a field of their object,
//! fields and entries that may have another type.
//!
//! The `tag` of serde collects the fields in a buffer that refuses integers of more than 64 bits, even in fields that
//! nothing reads. Here the fields stay a JSON value, which may have any number.

use serde::de::{DeserializeOwned, Error as _};
use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Result, Value};

/// Implements reading and writing with a tag for an enum that derives them with `remote = "Self"`.
macro_rules! tagged {
    ($name:ident, $tag:expr) => {
        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                $crate::reading::write($name::serialize(self, serde_json::value::Serializer), $tag, to)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(from: D) -> Result<$name, D::Error> {
                $crate::reading::read(from, $tag, $name::deserialize)
            }
        }
    };
}

pub(crate) use tagged;

/// Parses an enum; `variant` parses `"name"` and `{"name": fields}`.
pub(crate) fn read<'de, D: Deserializer<'de>, T>(
    from: D,
    tag: &str,
    variant: impl Fn(Value) -> Result<T>,
) -> std::result::Result<T, D::Error> {
    let mut fields = Map::deserialize(from)?;
    let Some(Value::String(name)) = fields.shift_remove(tag) else {
        return Err(D::Error::custom(format!("`{tag}` is not a string")));
    };
    // A variant without fields is its name alone, whatever fields there are.
    let bare = variant(Value::String(name.clone()));
    bare.or_else(|_| variant(Map::from_iter([(name, fields.into())]).into())).map_err(D::Error::custom)
}

/// Writes what the enum is without a tag, with the tag as its first field.
pub(crate) fn write<S: Serializer>(
    variant: Result<Value>,
    tag: &str,
    to: S,
) -> std::result::Result<S::Ok, S::Error> {
    let (name, fields) = match variant.map_err(S::Error::custom)? {
        Value::Object(variant) => variant.into_iter().next().unwrap_or_default(),
        name => (name.as_str().unwrap_or_default().to_string(), Value::Null),
    };
    let mut tagged = Map::from_iter([(tag.to_string(), name.into())]);
    if let Value::Object(fields) = fields {
        tagged.extend(fields);
    }
    tagged.serialize(to)
}

/// Parses a field that the protocol does not require: `None` if it has another type.
pub(crate) fn or_none<'de, D: Deserializer<'de>, T: DeserializeOwned>(
    from: D,
) -> std::result::Result<Option<T>, D::Error> {
    Ok(serde_json::from_value(Value::deserialize(from)?).ok())
}

/// Parses the entries of a list that can be parsed.
pub(crate) fn entries<T: DeserializeOwned>(list: Vec<Value>) -> impl Iterator<Item = T> {
    list.into_iter().filter_map(|entry| serde_json::from_value(entry).ok())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::content::ContentBlock;
    use crate::permission::{PermissionOptionKind, PermissionOutcome, outcome};
    use crate::request::{ClientNotification, ClientRequest};
    use crate::update::{self, SessionUpdate};

    /// Integers that fit into no type of 64 bits.
    fn large() -> Value {
        serde_json::from_str("[99999999999999999999, -99999999999999999999, 1e999]").unwrap()
    }

    /// The object with a field that nothing reads.
    fn extended(mut object: Value) -> Value {
        object["unknown"] = json!({ "a": large() });
        object
    }

    fn blocks() -> [Value; 6] {
        [
            json!({ "type": "text", "text": "a" }),
            json!({ "type": "image", "mimeType": "image/png", "data": "QQ==" }),
            json!({ "type": "resource_link", "uri": "file:///a", "name": "a" }),
            json!({ "type": "resource", "resource": extended(json!({ "uri": "u", "text": "t" })) }),
            json!({ "type": "resource", "resource": extended(json!({ "uri": "u", "blob": "QQ==" })) }),
            json!({ "type": "audio", "data": "QQ==" }),
        ]
    }

    #[test]
    fn an_unknown_field_of_a_block_may_have_any_number() {
        let read = |value: Value| serde_json::from_value::<ContentBlock>(value).ok();
        for block in blocks() {
            let sound = read(block.clone());
            assert!(sound.is_some(), "{block}");
            assert_eq!(read(extended(block.clone())), sound, "{block}");
        }
    }

    #[test]
    fn an_unknown_field_of_an_update_may_have_any_number() {
        let read = |update: Value| update::read(extended(json!({ "sessionId": "s", "update": update })));
        let call = json!({ "toolCallId": "1", "title": "a", "content": [
            extended(json!({ "type": "content", "content": extended(json!({ "type": "text", "text": "a" })) })),
            extended(json!({ "type": "diff", "path": "p", "newText": "n" })),
        ]});
        let chunk = || json!({ "content": { "type": "text", "text": "a" }, "messageId": "m" });
        for (tag, mut update) in [
            ("user_message_chunk", chunk()),
            ("agent_message_chunk", chunk()),
            ("agent_thought_chunk", chunk()),
            ("tool_call", call.clone()),
            ("tool_call_update", call),
            (
                "available_commands_update",
                json!({ "availableCommands": [{ "name": "a", "description": "A" }] }),
            ),
            ("current_mode_update", json!({ "currentModeId": "m" })),
            ("config_option_update", json!({ "configOptions": [] })),
            ("session_info_update", json!({ "title": "t" })),
            ("usage_update", json!({ "used": 1, "size": 2 })),
            ("new", json!({})),
        ] {
            update["sessionUpdate"] = tag.into();
            let sound = read(update.clone());
            assert_eq!(matches!(sound, Some((_, SessionUpdate::Other))), tag == "new", "{tag}");
            assert_eq!(read(extended(update)), sound, "{tag}");
        }
    }

    #[test]
    fn the_input_and_the_output_of_a_call_may_have_any_number() {
        let update = json!({
            "sessionUpdate": "tool_call", "toolCallId": "1", "rawInput": { "a": large() },
            "rawOutput": large()[0], "_meta": { "a": large() },
        });
        let Some((_, SessionUpdate::ToolCall(call))) =
            update::read(json!({ "sessionId": "s", "update": update }))
        else {
            panic!("no tool call");
        };
        assert_eq!(call.input, Some(json!({ "a": large() })));
        assert_eq!(call.output.map(|output| output.to_string()).as_deref(), Some("99999999999999999999"));
        assert_eq!(call.meta, Some(json!({ "a": large() })));
    }

    #[test]
    fn an_unknown_field_of_a_request_may_have_any_number() {
        let blocks: Vec<Value> = blocks().into_iter().map(extended).collect();
        for (method, params) in [
            ("initialize", json!({ "protocolVersion": 1, "clientInfo": extended(json!({})) })),
            (
                "session/new",
                json!({ "cwd": "/", "mcpServers": [extended(json!({ "name": "a", "command": "a" }))] }),
            ),
            ("session/load", json!({ "sessionId": "s", "cwd": "/", "mcpServers": [extended(json!({}))] })),
            ("session/resume", json!({ "sessionId": "s", "cwd": "/" })),
            ("session/list", json!({})),
            ("session/close", json!({ "sessionId": "s" })),
            ("session/prompt", json!({ "sessionId": "s", "prompt": blocks })),
            ("session/set_mode", json!({ "sessionId": "s", "modeId": "m" })),
            ("session/set_config_option", json!({ "sessionId": "s", "configId": "c", "value": "v" })),
            ("session/fork", json!({ "sessionId": "s", "cwd": "/" })),
            ("_lepo/fork", json!({ "sessionId": "s", "messageId": "m" })),
        ] {
            let read = ClientRequest::read(method, extended(params));
            assert!(read.is_ok(), "{method}: {read:?}");
        }
        for (method, params) in
            [("session/cancel", json!({ "sessionId": "s" })), ("$/cancel_request", json!({ "requestId": 1 }))]
        {
            assert_ne!(
                ClientNotification::read(method, extended(params)),
                ClientNotification::Other,
                "{method}"
            );
        }
    }

    #[test]
    fn an_unknown_field_of_an_answer_may_have_any_number() {
        let answer = extended(json!({ "outcome": "selected", "optionId": "allow_once" }));
        let once = PermissionOptionKind::AllowOnce;
        let offered = [(once, "Allow")];
        assert_eq!(outcome(&json!({ "outcome": answer }), &offered), PermissionOutcome::Chosen(once));
    }
}
