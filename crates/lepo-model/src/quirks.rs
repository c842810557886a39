//! Quirks of models as data: the wording of a refusal, and the notice about it.
//!
//! Servers with the same API differ in what they accept, and say so only in a refusal. So lepo sends every field,
//! and repeats a refused request in the form that the refusal demands. Each provider lists its quirks; `memory`
//! stores the learned ones.

use std::collections::BTreeMap;

use super::refusals::field;

/// A field or form that a model rejects or requires.
#[derive(Debug)]
pub(super) struct Quirk {
    /// The word in the file.
    pub word: &'static str,
    /// The HTTP statuses of a refusal that may be about the quirk.
    pub status: &'static [u16],
    /// Groups of lower-case texts: the refusal contains at least one text of each group.
    pub named: &'static [&'static [&'static str]],
    /// The notice when the quirk is learned, which follows the model's name.
    pub notice: &'static str,
}

/// The statuses of a malformed request.
pub(super) const MALFORMED: &[u16] = &[400, 422];

/// The model rejects `temperature`.
pub(super) static TEMPERATURE: Quirk = Quirk {
    word: "temperature",
    status: MALFORMED,
    named: &[&["temperature"]],
    notice: "does not accept `temperature`: retrying without it",
};

/// System messages only first, and alternating roles. Chat templates reject the order of roles with 400, or with
/// 500 if the template itself raises the error.
pub(super) static SYSTEM_FIRST: Quirk = Quirk {
    word: "system_first",
    status: &[400, 422, 500],
    named: &[
        &["role", "message"],
        &["alternat", "system", "developer instruction", "only user and assistant", "incorrect role"],
    ],
    notice: "accepts a system message only at the beginning: retrying in that form",
};

/// The model rejects system messages, so their text becomes part of the user's first message. A request in the form
/// of [`SYSTEM_FIRST`] is refused, too.
pub(super) static NO_SYSTEM: Quirk = Quirk {
    word: "no_system",
    status: &[400, 422, 500],
    named: &[
        &["system", "developer instruction", "only user and assistant", "incorrect role"],
        &["role", "support", "not allowed", "not enabled", "invalid value"],
    ],
    notice: "does not accept system messages: retrying with it in the question",
};

/// The server rejects strict schemas, or this schema: the fault of one schema, so it is not stored for the model.
pub(super) static STRICT: Quirk = Quirk {
    word: "strict",
    status: MALFORMED,
    named: &[
        &["schema", "strict"],
        &["strict", "additionalproperties", "'required'", "\"required\"", "invalid schema"],
    ],
    notice: "does not accept the schema as strict: retrying without `strict`",
};

/// A schema or tools, but not both in one request.
pub(super) static SCHEMA_ALONE: Quirk = Quirk {
    word: "schema_alone",
    status: MALFORMED,
    named: &[
        &["tool", "function call"],
        &[
            "response_format",
            "response format",
            "response mime type",
            "json mode",
            "json_schema",
            "json schema",
            "structured output",
            "grammar",
        ],
        &["cannot", "can't", "support", "incompatible", "not allowed", "combin", "together", "exclusive"],
    ],
    notice: "does not accept tools together with a schema: retrying without the tools",
};

/// The word of a quirk that is the fault of one schema, like [`STRICT`].
pub(super) const ONE_SCHEMA: &str = "schema";

/// The model rejects native tools, so they are described as text, and a chooser plans. The texts are in the table
/// of refusals.
pub(super) static TOOLS: Quirk = Quirk {
    word: "tools",
    status: &[],
    named: &[],
    notice: "does not support native tools: a separate request asks whether a command is needed (planner = \
        \"chooser\")",
};

/// The model rejects streams: the answer arrives complete. The texts are in the table of refusals.
pub(super) static STREAM: Quirk = Quirk {
    word: "stream",
    status: &[],
    named: &[],
    notice: "does not stream here: retrying for the whole answer at once",
};

/// Answers start within thinking, because a chat template has opened it. Learned from an answer, not from a
/// refusal.
pub(super) static BEGINS_THINKING: Quirk =
    Quirk { word: "begins_thinking", status: &[], named: &[], notice: "begins its answers with thinking" };

/// The model reads text only, and rejects files.
pub(super) static FILES: Quirk = Quirk {
    word: "files",
    status: &[400, 404, 415, 422, 500],
    named: &[&[
        "only supported by certain models",
        "support image input",
        "not support image",
        "not support vision",
        "not support multimodal",
        "not support file",
        "mmproj",
        "not a multimodal",
        "at most 0 image",
        "unknown variant `image_url`",
        "unknown variant `file`",
        "content must be a string",
        "required for image input",
        "image input is not",
        "image inputs are not",
        "image content is not",
        "image_url is not",
        "images are not supported",
        "not accept image",
        "vision is not",
        // Zhipu names the types that it accepts.
        "['text']",
    ]],
    notice: "does not accept files",
};

impl Quirk {
    /// Whether a refusal with this HTTP status and body is about the quirk.
    pub fn is_named(&self, status: u16, body: &str) -> bool {
        let body = body.to_lowercase();
        self.status.contains(&status)
            && self.named.iter().all(|group| group.iter().any(|word| body.contains(word)))
    }
}

#[derive(Debug, Clone, Default)]
pub(super) struct Quirks(BTreeMap<&'static str, &'static Quirk>);

impl Quirks {
    pub fn contains(&self, quirk: &Quirk) -> bool {
        self.0.contains_key(quirk.word)
    }

    pub fn add(&mut self, quirk: &'static Quirk) {
        self.0.insert(quirk.word, quirk);
    }

    pub fn remove(&mut self, quirk: &Quirk) {
        self.0.remove(quirk.word);
    }

    /// Returns the quirks that are not in `known`.
    pub fn beyond(&self, known: &Quirks) -> Quirks {
        Quirks(
            self.0.iter().filter(|(word, _)| !known.0.contains_key(*word)).map(|(w, q)| (*w, *q)).collect(),
        )
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the names of the quirks that belong to the model, and not to one request.
    pub fn lasting(&self) -> impl Iterator<Item = &'static str> {
        self.names().filter(|word| ![STRICT.word, ONE_SCHEMA].contains(word))
    }

    pub fn each(&self) -> impl Iterator<Item = &'static Quirk> {
        self.0.values().copied()
    }

    /// Returns the names of the quirks, as in the file.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.0.keys().copied()
    }
}

impl FromIterator<&'static Quirk> for Quirks {
    fn from_iter<I: IntoIterator<Item = &'static Quirk>>(quirks: I) -> Quirks {
        Quirks(quirks.into_iter().map(|quirk| (quirk.word, quirk)).collect())
    }
}

/// Returns the `possible` quirks that a refusal names.
pub(super) fn quirks_named_in(status: u16, body: &str, possible: &[&'static Quirk]) -> Quirks {
    let by_table = field(status, body);
    let is_named = |quirk: &&Quirk| quirk.is_named(status, body) || by_table == Some(quirk.word);
    let mut found: Quirks = possible.iter().copied().filter(is_named).collect();
    if found.contains(&STRICT) {
        // A refusal of strict schemas mentions these, too.
        found.0.remove("response_format");
        found.0.remove("text_format");
        found.0.remove(SCHEMA_ALONE.word);
        found.0.remove(ONE_SCHEMA);
    }
    if found.0.contains_key("response_format") || found.0.contains_key("text_format") {
        found.0.remove(ONE_SCHEMA);
    }
    if found.contains(&SCHEMA_ALONE) {
        // The server accepts each of the two alone.
        found.0.remove("response_format");
        found.0.remove("text_format");
        found.0.remove(TOOLS.word);
    }
    // A request with `max_completion_tokens`, with the effort "none", or without a temperature may be accepted.
    for (first, other) in [
        ("max_completion_tokens", "no_limit"),
        ("effort_none", "reasoning_effort"),
        (TEMPERATURE.word, "top_p"),
    ] {
        if found.0.contains_key(first) {
            found.0.remove(other);
        }
    }
    // The server accepts the form, but not this schema.
    if found.0.contains_key(ONE_SCHEMA) {
        found.0.remove("output_format");
    }
    // A refusal that names something about tools does not reject tools altogether.
    if found.0.len() > 1 {
        found.0.remove(TOOLS.word);
    }
    found
}

#[cfg(test)]
mod tests {
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
            (404, "temperature", vec![]),
            (500, "temperature", vec![]),
        ] {
            let quirks = openai::SPEC.http.unwrap().quirks;
            let found: Vec<&str> = quirks_named_in(status, body, quirks).names().collect();
            assert_eq!(found, expected, "{status} {body}");
        }
        assert!(quirks_named_in(400, "temperature", &[]).is_empty());
    }
}
