//! Tools as text, for models whose API takes no tools: the list goes to the end of the system prompt, followed by how
//! to call one.

use serde_json::Value;

use super::Tool;

const FUNCTION_CALL: &str = include_str!("function-call-block.txt");

/// Returns both blocks for these servers and their tools.
pub fn blocks<'t>(servers: impl IntoIterator<Item = (&'t str, &'t [Tool])>) -> String {
    let mut text = "FUNCTIONS:\n\n# Connected MCP Servers\n".to_string();
    for (name, tools) in servers {
        text.push_str(&format!("\n## {name}\nThese are tool name, description and input schema.\n"));
        for tool in tools {
            let (name, description) = (&tool.name, &tool.description);
            let schema = format!("{:#}", Value::Object(tool.schema.clone())).replace('\n', "\n    ");
            text.push_str(&format!("\n- **{name}**: {description}\n    Input Schema:\n    {schema}\n"));
        }
    }
    format!("{text}\n{}", FUNCTION_CALL.trim_end_matches('\n'))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_blocks_have_their_form() {
        let Value::Object(schema) = json!({"type": "object", "properties": {}}) else { panic!() };
        let tool = |name: &str| Tool {
            name: name.into(),
            description: format!("Does {name}."),
            schema: schema.clone(),
        };
        let (a, b) = ([tool("x"), tool("y")], [tool("z")]);
        let schema =
            "    Input Schema:\n    {\n      \"type\": \"object\",\n      \"properties\": {}\n    }\n";
        let expected = format!(
            "FUNCTIONS:\n\n# Connected MCP Servers\n\n## a\nThese are tool name, description and input schema.\n\n\
             - **x**: Does x.\n{schema}\n- **y**: Does y.\n{schema}\n## b\n\
             These are tool name, description and input schema.\n\n- **z**: Does z.\n{schema}\nFUNCTION_CALL:\n- Schema\n"
        );
        let text = blocks([("a", a.as_slice()), ("b", b.as_slice())]);
        assert!(text.starts_with(&expected), "{text}");
        assert!(text.ends_with("\t  \"libraryName\": \"java\"\n\t}\n}"), "{text}");
    }
}
