//! Joins the pieces of a streamed message, including fields unknown to lepo.

use serde_json::{Map, Value, json};

/// Fields whose pieces are concatenated. For any other field, the last value counts.
const JOINED: &[&str] =
    &["content", "reasoning_content", "reasoning", "refusal", "text", "summary", "thinking", "arguments"];

/// Adds the fields of a piece. Items of a list are joined if their `index` and `type` are equal; without an index, if
/// they are adjacent and are text or thinking. If text and such a list follow each other, the text becomes an item too.
pub fn merge(message: &mut Map<String, Value>, piece: Map<String, Value>) {
    for (field, value) in piece {
        if value.is_null() {
            continue;
        }
        match (message.get_mut(&field), value) {
            (Some(Value::String(whole)), Value::String(text)) if JOINED.contains(&field.as_str()) => {
                whole.push_str(&text);
            }
            (Some(Value::Array(items)), Value::String(text)) if field == "content" => {
                if !text.is_empty() {
                    merge_item(items, json!({"type": "text", "text": text}));
                }
            }
            (Some(whole @ Value::String(_)), Value::Array(pieces)) if field == "content" => {
                let text = whole.take();
                let mut items = Vec::new();
                if text != "" {
                    items.push(json!({"type": "text", "text": text}));
                }
                pieces.into_iter().for_each(|piece| merge_item(&mut items, piece));
                *whole = Value::Array(items);
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
    let field = |item: &Value, name: &str| item.get(name) == piece.get(name);
    let at = match piece.get("index") {
        Some(_) => items.iter().position(|item| field(item, "index") && field(item, "type")),
        None => {
            let goes_on = matches!(piece["type"].as_str(), Some("text" | "thinking"));
            let last = items.last().filter(|last| field(last, "index") && field(last, "type"));
            last.filter(|_| goes_on).map(|_| items.len() - 1)
        }
    };
    match (at.and_then(|at| items.get_mut(at)), piece) {
        (Some(Value::Object(item)), Value::Object(piece)) => merge(item, piece),
        (_, piece) => items.push(piece),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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

    #[test]
    fn thinking_and_text_of_one_content_stay_in_order() {
        let thought = |text| json!([{"type": "thinking", "thinking": [{"type": "text", "text": text}]}]);
        let mut whole = Map::new();
        for piece in [json!(""), thought("so "), json!(""), thought("it is"), json!("Hel"), json!("lo")] {
            merge(&mut whole, Map::from_iter([("content".to_owned(), piece)]));
        }
        let items = json!([
            {"type": "thinking", "thinking": [{"type": "text", "text": "so it is"}]},
            {"type": "text", "text": "Hello"},
        ]);
        assert_eq!(whole["content"], items);
        merge(&mut whole, Map::from_iter([("content".to_owned(), "!".into())]));
        assert_eq!(whole["content"][1]["text"], "Hello!");
    }
}
