//! Puts the pieces of a streamed message together again, fields unknown to lepo included.

use serde_json::{Map, Value};

/// Fields whose pieces are joined. Of all others the last value counts.
const JOINED: &[&str] =
    &["content", "reasoning_content", "reasoning", "refusal", "text", "summary", "thinking", "arguments"];

/// Adds a text to a field.
pub fn push(message: &mut Map<String, Value>, field: &str, text: &str) {
    match message.get_mut(field) {
        Some(Value::String(whole)) => whole.push_str(text),
        _ => {
            message.insert(field.to_owned(), text.into());
        }
    }
}

/// Adds the fields of a piece. Items of a list belong together if they have the same `index` and `type`.
pub fn merge(message: &mut Map<String, Value>, piece: Map<String, Value>) {
    for (field, value) in piece {
        if value.is_null() {
            continue;
        }
        match (message.get_mut(&field), value) {
            (Some(Value::String(_)), Value::String(text)) if JOINED.contains(&field.as_str()) => {
                push(message, &field, &text);
            }
            (Some(Value::Object(whole)), Value::Object(piece)) => merge(whole, piece),
            (Some(Value::Array(items)), Value::Array(pieces)) => {
                pieces.into_iter().for_each(|piece| merge_item(items, piece));
            }
            (_, value) => {
                message.insert(field, value);
            }
        }
    }
}

fn merge_item(items: &mut Vec<Value>, piece: Value) {
    let same = |item: &&mut Value| {
        let field = |name: &str| item.get(name) == piece.get(name);
        piece.get("index").is_some() && field("index") && field("type")
    };
    match (items.iter_mut().find(same), piece) {
        (Some(Value::Object(item)), Value::Object(piece)) => merge(item, piece),
        (_, piece) => items.push(piece),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn pieces_become_the_whole() {
        let mut whole = Map::new();
        for piece in [
            json!({"content": null, "reasoning_details": [{"type": "reasoning.text", "index": 0, "text": "I "}]}),
            json!({"reasoning_details": [{"type": "reasoning.text", "index": 0, "text": "think"}]}),
            json!({"reasoning_details": [{"type": "reasoning.text", "index": 0, "signature": "sig=="}]}),
            json!({"reasoning_details": [{"type": "reasoning.encrypted", "index": 1, "data": "x"}]}),
            json!({"extra_content": {"google": {"thought_signature": "a"}}, "content": "Hel"}),
            json!({"content": "lo"}),
        ] {
            let Value::Object(piece) = piece else { panic!() };
            merge(&mut whole, piece);
        }
        assert_eq!(
            Value::Object(whole),
            json!({
                "reasoning_details": [
                    {"type": "reasoning.text", "index": 0, "text": "I think", "signature": "sig=="},
                    {"type": "reasoning.encrypted", "index": 1, "data": "x"},
                ],
                "extra_content": {"google": {"thought_signature": "a"}},
                "content": "Hello",
            })
        );
    }
}
