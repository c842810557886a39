//! Finds the tool whose schema a refusal is about, by its name, its index or its path.

use super::message::ToolSpec;

/// Texts before the index of a tool, in lower case. Google counts functions within the first tool.
const BEFORE_INDEX: &[&str] =
    &["function_declarations[", "functiondeclarations[", "tools[", "tools.", "tools/", "functions["];

/// Returns the tool that a refusal names, if it concerns a schema or a name and the tool belongs to an MCP server.
pub(super) fn refused_tool<'t>(status: u16, body: &str, tools: &'t [ToolSpec]) -> Option<&'t ToolSpec> {
    let lower = body.to_lowercase();
    let is_about_form =
        ["schema", "parameters", "properties", "pattern"].iter().any(|word| lower.contains(word));
    if !matches!(status, 400 | 422) || !is_about_form {
        return None;
    }
    let by_name = || {
        let quotes = ["'", "\"", "`", "\\\""];
        let is_named = |tool: &&ToolSpec| {
            quotes.iter().any(|quote| body.contains(&format!("{quote}{}{quote}", tool.name)))
        };
        tools.iter().find(is_named)
    };
    let by_index = || BEFORE_INDEX.iter().find_map(|before| tools.get(index_after(&lower, before)?));
    // Tools of the user's servers can be left out; lepo's own tools are valid.
    by_name().or_else(by_index).filter(|tool| tool.name.contains("__"))
}

fn index_after(text: &str, before: &str) -> Option<usize> {
    text.split(before).skip(1).find_map(|after| {
        let end = after.find(|c: char| !c.is_ascii_digit()).unwrap_or(after.len());
        after.split_at(end).0.parse().ok()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_refusal_names_one_tool() {
        let tool = |name: &str| ToolSpec { name: name.into(), description: String::new(), schema: json!({}) };
        let tools = [tool("run_command"), tool("fs__read"), tool("fs__write")];
        for (status, body, expected) in [
            (400, "Invalid schema for function 'fs__write': array schema missing items", Some("fs__write")),
            (400, r#"{"error":{"message":"Invalid schema for function \"fs__read\""}}"#, Some("fs__read")),
            (400, "tools.2.custom.input_schema: JSON schema is invalid", Some("fs__write")),
            (400, "Invalid 'tools[1].function.parameters': schema must be of type object", Some("fs__read")),
            (
                400,
                "GenerateContentRequest.tools[0].function_declarations[2].parameters.properties: should be non-empty",
                Some("fs__write"),
            ),
            (400, "toolConfig.tools.1.toolSpec.inputSchema.json.type must be object", Some("fs__read")),
            (422, "body/tools/2/function/parameters/type must be object", Some("fs__write")),
            // lepo's own tool is valid, and the schema of an answer does not belong to a tool.
            (400, "tools.0.custom.input_schema: JSON schema is invalid", None),
            (400, "Invalid schema for response_format 'choice'", None),
            (400, "tools.9.custom.input_schema: JSON schema is invalid", None),
            (400, "'fs__read' was called twice", None),
            (500, "Invalid schema for function 'fs__write'", None),
        ] {
            let found = refused_tool(status, body, &tools);
            assert_eq!(found.map(|tool| tool.name.as_str()), expected, "{body}");
        }
    }
}
