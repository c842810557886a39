//! Items next to messages: a call, its result and reasoning, of the Responses API or of the events that Gemini CLI prints.

use super::conversation::{History, NodeContent};
use super::json::JsonValue;
use super::message_builder::MessageBuilder;
use super::output;
use lepo_base::role::Role;

/// Whether a value is an item of the Responses API other than a message, or an event that Gemini CLI prints.
pub fn is_item(value: JsonValue<'_>) -> bool {
    let kind = value.get("type").text().unwrap_or_default();
    kind == "reasoning" && value.has("summary")
        || matches!(&*kind, "tool_use" | "tool_result") && value.has("tool_id")
        || kind.contains("_call") && (value.has("call_id") || value.has("id"))
}

/// Adds an item of the Responses API: a call, its result, reasoning.
pub fn add_item(conversation: &mut History, parent: Option<usize>, at: Option<u64>, item: JsonValue<'_>) {
    let mut parts = MessageBuilder::new(conversation, parent, at, Role::Assistant);
    let kind = item.get("type").text().unwrap_or_default();
    let call = item.get("call_id").non_empty().or_else(|| item.get("id").non_empty()).unwrap_or_default();
    if kind == "reasoning" {
        let texts = [item.get("summary"), item.get("content")].map(output::text);
        let texts: Vec<String> = texts.into_iter().filter(|text| !text.is_empty()).collect();
        parts.aside(Role::Assistant, &texts.join("\n\n"));
    } else if kind == "tool_use" {
        let (id, name) = (item.get("tool_id").string(), item.get("tool_name").string());
        parts.push_node(NodeContent::Call { id, name, input: output::json(item.get("parameters")) });
    } else if kind == "tool_result" {
        let given = ["output", "error"].map(|key| item.get(key));
        let given = given.into_iter().find(|value| !value.is_null()).unwrap_or(item);
        parts.push_node(output::of_call(item.get("tool_id").string(), given));
    } else if kind.ends_with("_output") {
        parts.push_node(output::of_call(call, item.get("output")));
    } else {
        let given = ["arguments", "input", "action"].map(|key| item.get(key));
        let given = given.into_iter().find(|value| !value.is_null()).unwrap_or(item);
        let input = given.non_empty().unwrap_or_else(|| output::json(given));
        let name = item.get("name").non_empty().unwrap_or_else(|| kind.trim_end_matches("_call").to_string());
        parts.push_node(NodeContent::Call { id: call, name, input });
    }
    parts.finish();
}
