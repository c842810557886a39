//! Refusals of public reports, and the quirks that they name.

use super::*;
use crate::openai;

#[test]
fn refusals_name_what_they_refuse() {
    for (status, body, expected) in [
        (400, "Unsupported value: 'temperature' does not support 0.1", vec!["temperature"]),
        (422, "extra fields: response_format", vec!["response_format"]),
        (400, "stream_options and temperature unknown", vec!["stream_options", "temperature"]),
        (400, "Conversation roles must alternate user/assistant", vec!["system_first"]),
        (500, "System message must be at the beginning.", vec!["system_first"]),
        (400, "Invalid content type. image_url is only supported by certain models.", vec!["files"]),
        (404, "No endpoints found that support image input", vec!["files"]),
        (500, "image input is not supported - hint: you may need to provide the mmproj", vec!["files"]),
        (422, "messages[1]: unknown variant `image_url`, expected `text`", vec!["files"]),
        (400, "Invalid image: the image format is not supported, use png or jpeg", vec![]),
        (413, "image_url is only supported by certain models", vec![]),
        (400, "Cannot use custom grammar constraints with tools.", vec!["schema_alone"]),
        (400, "json mode cannot be combined with tool/function calling", vec!["schema_alone"]),
        (
            400,
            "Function calling with a response mime type: 'application/json' is unsupported",
            vec!["schema_alone"],
        ),
        (400, "tools are not supported by this model", vec!["tools"]),
        (
            400,
            "Invalid schema for response_format 'tool': 'additionalProperties' cannot be true",
            vec!["strict"],
        ),
        (400, "context length exceeded", vec![]),
        // huggingface/smolagents/issues/1765
        (
            400,
            r#"{"code":"Client specified an invalid argument","error":"Argument not supported on this model: stop"}"#,
            vec!["stop"],
        ),
        // langgenius/dify/issues/18971
        (400, "Unsupported parameter: 'stop' is not supported with this model.", vec!["stop"]),
        // yaroslavyaroslav/OpenAI-sublime-text/issues/146
        (400, "Unrecognized request argument supplied: reasoning_effort", vec!["reasoning_effort"]),
        // charmbracelet/catwalk/pull/181
        (400, "Model grok-4-0709 does not support parameter reasoningEffort.", vec!["reasoning_effort"]),
        (400, "The provided JSON schema contains features not supported by xgrammar.", vec!["schema"]),
        (400, "Grammar error: Unimplemented keys: [\"patternProperties\"]", vec!["schema"]),
        // NVIDIA/garak/issues/748
        (
            422,
            r#"{"detail":"body -> stop\n  Extra inputs are not permitted (type=extra_forbidden)\nbody -> seed\n  Extra inputs are not permitted"}"#,
            vec!["seed", "stop"],
        ),
        (
            422,
            r#"{"detail":[{"type":"extra_forbidden","loc":["body","seed"],"msg":"Extra inputs are not permitted"}]}"#,
            vec!["seed"],
        ),
        (400, "max_tokens: Extra inputs are not permitted", vec!["no_limit"]),
        (
            400,
            "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
            vec!["max_completion_tokens"],
        ),
        (400, "`temperature` and `top_p` cannot both be specified for this model", vec!["temperature"]),
        (400, "Function tools with reasoning_effort are not supported for gpt-5.4", vec!["effort_none"]),
        // karthink/gptel/issues/1203, jundot/omlx/issues/1995
        (
            400,
            "Tool call id was call_0fypS1hVX but must be a-z, A-Z, 0-9, with a length of 9",
            vec!["call_ids"],
        ),
        (
            500,
            "Tool call id was call_49c89af0 but must be a-z, A-Z, 0-9, with a length of 9",
            vec!["call_ids"],
        ),
        // vercel/ai/issues/5171
        (
            400,
            "Invalid 'messages[2].tool_calls[0].id': string too long. Expected a string with maximum length 40",
            vec!["call_ids"],
        ),
        // NousResearch/hermes-agent/issues/20154
        (400, "Unexpected role 'user' after role 'tool'", vec!["after_results"]),
        (400, "Unexpected role 'system' after role 'user'", vec!["no_system", "system_first"]),
        (
            400,
            "Unexpected role 'system' after role 'tool'",
            vec!["after_results", "no_system", "system_first"],
        ),
        // anomalyco/opencode/issues/15715
        (400, "ValidationException: messages: text content blocks must be non-empty", vec!["blank_text"]),
        (
            400,
            "The text field in the ContentBlock object at messages.0.content.0 is blank. Add text to the text field",
            vec!["blank_text"],
        ),
        // vastsa/PI-Desktop/issues/30
        (400, "[1214] Incorrect role information", vec!["no_system", "system_first"]),
        // janhq/jan/issues/8136, Kilo-Org/kilocode/issues/10375: the field is refused, and not asked for.
        (
            400,
            "'messages.1' : for 'role:assistant' the following must be satisfied[('messages.1' : property 'reasoning_content' is unsupported)]",
            vec!["own_thinking"],
        ),
        (
            400,
            "messages.2.assistant.reasoning_content: property 'messages.2.assistant.reasoning_content' is unsupported",
            vec!["own_thinking"],
        ),
        (
            400,
            "The `reasoning_content` in the thinking mode must be passed back to the API.",
            vec!["reasoning_content"],
        ),
        (
            400,
            "thinking is enabled but reasoning_content is missing in assistant tool call message at index 2",
            vec!["reasoning_content"],
        ),
        // OpenCoworkAI/open-cowork/issues/251
        (400, "this model does not support image input", vec!["files"]),
        // A value that the user sets wrongly is the user's to correct.
        (
            400,
            "Unsupported value: 'reasoning_effort' does not support 'hihg' with this model. Supported values are: 'low' and 'high'.",
            vec![],
        ),
        (400, "top_p must be in (0, 1], got 0.0.", vec![]),
        (404, "temperature", vec![]),
        (500, "temperature", vec![]),
    ] {
        let quirks = openai::SPEC.http.unwrap().quirks;
        let found: Vec<&str> = quirks_named_in(status, body, quirks).names().collect();
        assert_eq!(found, expected, "{status} {body}");
    }
    assert!(quirks_named_in(400, "temperature", &[]).is_empty());
}

#[test]
fn a_refused_role_developer_leaves_the_system_message() {
    let body = "Invalid value: 'developer'. Supported values are: 'system', 'assistant', 'user', and 'tool'.";
    let quirks = crate::responses::SPEC.http.unwrap().quirks;
    assert_eq!(quirks_named_in(400, body, quirks).names().collect::<Vec<_>>(), ["developer_role"]);
}

#[test]
fn each_field_of_the_users_is_a_quirk_of_a_provider() {
    let specs = [openai::SPEC.http, crate::anthropic::SPEC.http, crate::responses::SPEC.http];
    let words: Vec<&str> =
        specs.iter().flatten().flat_map(|spec| spec.quirks).map(|quirk| quirk.word).collect();
    for word in SET_BY_USER {
        assert!(words.contains(word), "{word}");
    }
}
