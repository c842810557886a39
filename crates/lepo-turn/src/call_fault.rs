//! Explains to the model why a call is invalid: an unknown tool, invalid JSON, or an invalid field.

use serde_json::Value;

use super::native::RUN_COMMAND;
use lepo_model::ToolCall;
use lepo_tool::CommandRequest;

/// Maximum number of tool names to list.
const MOST: usize = 60;

pub fn call_fault(call: &ToolCall, tools: &[String]) -> String {
    let name = &call.name;
    if !tools.contains(name) {
        return format!("error: there is no tool {name:?}; {}", fault_text(tools));
    }
    if let Value::String(text) = &call.arguments {
        return match serde_json::from_str::<Value>(text.trim()) {
            Err(error) => format!("error: the arguments of {name} are not JSON: {error}"),
            Ok(_) => format!("error: the arguments of {name} must be a JSON object, and are a string"),
        };
    }
    if !call.arguments.is_object() {
        return format!(
            "error: the arguments of {name} must be a JSON object, and are {}",
            kind(&call.arguments)
        );
    }
    let fault = if name == RUN_COMMAND { CommandRequest::fault(&call.arguments) } else { None };
    match fault {
        Some(fault) => format!("error: the arguments of {name} do not fit: {fault}"),
        None => format!("error: the arguments of {name} do not fit its schema"),
    }
}

/// Lists the available tools for the model.
pub fn fault_text(tools: &[String]) -> String {
    let names: Vec<&str> = tools.iter().take(MOST).map(String::as_str).collect();
    match tools.len() {
        0 => "there are none here: answer in words".to_string(),
        count if count > MOST => format!("there are {} and {} more", names.join(", "), count - MOST),
        _ => format!("there are: {}", names.join(", ")),
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Array(_) => "a list",
        Value::String(_) => "a string",
        Value::Number(_) => "a number",
        Value::Bool(_) => "true or false",
        Value::Null => "null",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_model_is_told_one_thing_precisely() {
        let tools = ["run_command".to_string(), "fs__read".to_string()];
        for (name, arguments, expected) in [
            ("hammer", json!({}), "there is no tool \"hammer\"; there are: run_command, fs__read"),
            (
                "run_command",
                json!("{\"command\":\"ls"),
                "are not JSON: EOF while parsing a string at line 1 column 14",
            ),
            (
                "fs__read",
                json!("ls -l"),
                "the arguments of fs__read are not JSON: expected value at line 1 column 1",
            ),
            ("run_command", json!([1]), "must be a JSON object, and are a list"),
            ("run_command", json!({}), "do not fit: `command` is missing"),
            ("run_command", json!({"command": 7}), "do not fit: `command` must be a string"),
            ("run_command", json!({"command": " "}), "do not fit: `command` has no command in it"),
            (
                "run_command",
                json!({"command": "ls", "access": "all"}),
                "do not fit: `access` must be one of read, write, net, full",
            ),
            ("run_command", json!({"command": "ls", "access": 1}), "do not fit: `access` must be one of"),
            ("run_command", json!({"command": "ls", "why": 1}), "do not fit: `why` must be a string"),
        ] {
            let call = ToolCall { id: "c".into(), name: name.into(), arguments };
            let fault = call_fault(&call, &tools);
            assert!(fault.contains(expected), "{fault}");
            assert!(!fault.contains(" or its "), "{fault}");
        }
        assert!(
            call_fault(&ToolCall { id: "c".into(), name: "x".into(), arguments: json!({}) }, &[])
                .contains("none here")
        );
    }
}
