//! Finds the tools whose schemas a refusal is about, by their names, their indexes or their paths.

use std::collections::BTreeSet;

use super::message::ToolSpec;

/// Texts before the index of a tool, in lower case. Google counts functions within the first tool.
const BEFORE_INDEX: &[&str] =
    &["function_declarations[", "functiondeclarations[", "tools[", "tools.", "tools/", "functions["];

/// Texts of a refusal that is about the form of a tool, in lower case.
const FORM: &[&str] = &["schema", "parameters", "properties", "pattern", "description"];

/// Returns the tools that a refusal names, if it concerns a schema, a description or a name, and the tools belong to
/// MCP servers. Google's refusals name all of them.
pub(super) fn refused_tools<'t>(status: u16, body: &str, tools: &'t [ToolSpec]) -> Vec<&'t ToolSpec> {
    let lower = body.to_lowercase();
    if !matches!(status, 400 | 422) || !FORM.iter().any(|word| lower.contains(word)) {
        return Vec::new();
    }
    let quotes = ["'", "\"", "`", "\\\""];
    let is_named =
        |tool: &ToolSpec| quotes.iter().any(|quote| body.contains(&format!("{quote}{}{quote}", tool.name)));
    // Tools of the user's servers can be left out; lepo's own tools are valid.
    let is_of_server = |tool: &ToolSpec| tool.name.contains("__");
    let named: Vec<&ToolSpec> = tools.iter().filter(|tool| is_named(tool)).collect();
    // A refusal that repeats the request names all of them.
    if named.iter().any(|tool| !is_of_server(tool)) || named.len() > 1 && named.len() == tools.len() {
        return Vec::new();
    }
    let found = match named.is_empty() {
        false => named,
        true => BEFORE_INDEX
            .iter()
            .map(|before| indexes_after(&lower, before))
            .map(|indexes| indexes.iter().filter_map(|&index| tools.get(index)).collect::<Vec<_>>())
            .find(|found| !found.is_empty())
            .unwrap_or_default(),
    };
    found.into_iter().filter(|tool| is_of_server(tool)).collect()
}

/// Returns the numbers after a text, each once.
fn indexes_after(text: &str, before: &str) -> BTreeSet<usize> {
    let number = |after: &str| {
        let end = after.find(|c: char| !c.is_ascii_digit()).unwrap_or(after.len());
        after.split_at(end).0.parse().ok()
    };
    text.split(before).skip(1).filter_map(number).collect()
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
            (400, "Field required: parameters. Tools: 'fs__read', 'fs__write', 'run_command'", None),
        ] {
            let found = refused_tools(status, body, &tools);
            let expected: Vec<&str> = expected.into_iter().collect();
            assert_eq!(found.iter().map(|tool| tool.name.as_str()).collect::<Vec<_>>(), expected, "{body}");
        }
    }

    #[test]
    fn a_refusal_that_names_several_tools_names_all() {
        let tool = |name: &str| ToolSpec { name: name.into(), description: String::new(), schema: json!({}) };
        let tools = [tool("run_command"), tool("fs__read"), tool("fs__write"), tool("db__query")];
        let google = |index: usize, keyword: &str| {
            format!(
                "Invalid JSON payload received. Unknown name \\\"{keyword}\\\" at 'tools[0].function_declarations[{index}].parameters': Cannot find field."
            )
        };
        for (report, body, expected) in [
            (
                "https://github.com/openswarm-ai/openswarm/issues/24",
                google(1, "propertyNames") + "\\n" + &google(3, "const") + "\\n" + &google(3, "$schema"),
                vec!["fs__read", "db__query"],
            ),
            (
                "https://github.com/pizza-bot-app/pizza-bot/issues/62",
                google(2, "exclusiveMinimum"),
                vec!["fs__write"],
            ),
            (
                "https://github.com/rusiaaman/wcgw/issues/51",
                "Invalid 'tools[3].function.description': string too long.".to_owned(),
                vec!["db__query"],
            ),
            // The second is lepo's own, which is valid.
            ("both kinds", google(1, "$ref") + &google(0, "$ref"), vec!["fs__read"]),
        ] {
            let found: Vec<&str> =
                refused_tools(400, &body, &tools).iter().map(|tool| tool.name.as_str()).collect();
            assert_eq!(found, expected, "{report}");
        }
    }
}
