//! Quirks of models as data: the wording of a refusal, and the note about it.
//!
//! Servers that speak one API differ in what they accept, and say so only when asked. So lepo asks
//! for everything, and asks once more in the form that a refusal calls for. Each provider lists its
//! quirks; `memory` keeps what was learned.

use std::collections::BTreeMap;

use super::refusals::field;

/// Something a model does not take, or needs.
#[derive(Debug)]
pub(super) struct Quirk {
    /// Word in the file.
    pub word: &'static str,
    /// The HTTP statuses of a refusal that may be about it.
    pub status: &'static [u16],
    /// Groups of words in lower case: the refusal has one of each group.
    pub named: &'static [&'static [&'static str]],
    /// The note shown once, when it is learned, behind the model's name.
    pub says: &'static str,
}

/// The statuses of a request that was not well formed.
pub(super) const MALFORMED: &[u16] = &[400, 422];

/// No `temperature`.
pub(super) static TEMPERATURE: Quirk = Quirk {
    word: "temperature",
    status: MALFORMED,
    named: &[&["temperature"]],
    says: "does not accept `temperature`: retrying without it",
};

/// System messages only first, roles only in turns. Chat templates refuse the order of roles with 400, or
/// with 500 where the template itself raised it.
pub(super) static SYSTEM_FIRST: Quirk = Quirk {
    word: "system_first",
    status: &[400, 422, 500],
    named: &[
        &["role", "message"],
        &["alternat", "system", "developer instruction", "only user and assistant"],
    ],
    says: "accepts a system message only at the beginning: retrying in that form",
};

/// No system messages at all: what they say is in the user's first message. The form of [`SYSTEM_FIRST`] is refused
/// for it.
pub(super) static NO_SYSTEM: Quirk = Quirk {
    word: "no_system",
    status: &[400, 422, 500],
    named: &[
        &["system", "developer instruction", "only user and assistant"],
        &["role", "support", "not allowed", "not enabled", "invalid value"],
    ],
    says: "does not accept system messages: retrying with it in the question",
};

/// No strict schema, or not this one: a schema's own fault, so that it is not remembered of the model.
pub(super) static STRICT: Quirk = Quirk {
    word: "strict",
    status: MALFORMED,
    named: &[
        &["schema", "strict"],
        &["strict", "additionalproperties", "'required'", "\"required\"", "invalid schema"],
    ],
    says: "does not accept the schema as strict: retrying without `strict`",
};

/// A schema or tools, not both in one request.
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
    says: "does not accept tools together with a schema: retrying without the tools",
};

/// The word of a quirk that is the fault of one schema, besides [`STRICT`].
pub(super) const ONE_SCHEMA: &str = "schema";

/// No native tools: they are told in words, and a chooser plans. Its words are in the table of refusals.
pub(super) static TOOLS: Quirk = Quirk {
    word: "tools",
    status: &[],
    named: &[],
    says: "does not support native tools: a separate request asks whether a command is needed (planner = \
        \"chooser\")",
};

/// No streams: the answer comes whole. Its words are in the table of refusals.
pub(super) static STREAM: Quirk = Quirk {
    word: "stream",
    status: &[],
    named: &[],
    says: "does not stream here: retrying for the whole answer at once",
};

/// Answers begin within thinking: a chat template has opened it. Learned from an answer, not from a refusal.
pub(super) static BEGINS_THINKING: Quirk =
    Quirk { word: "begins_thinking", status: &[], named: &[], says: "begins its answers with thinking" };

/// No files: the model reads text only.
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
    ]],
    says: "does not accept files",
};

impl Quirk {
    /// True if a refusal with this HTTP status and body is about it.
    pub fn is_named(&self, status: u16, body: &str) -> bool {
        let body = body.to_lowercase();
        self.status.contains(&status)
            && self.named.iter().all(|group| group.iter().any(|word| body.contains(word)))
    }
}

/// The quirks of one model.
#[derive(Debug, Clone, Default)]
pub(super) struct Quirks(BTreeMap<&'static str, &'static Quirk>);

impl Quirks {
    /// True if this one is among them.
    pub fn has(&self, quirk: &Quirk) -> bool {
        self.0.contains_key(quirk.word)
    }

    /// Adds one.
    pub fn add(&mut self, quirk: &'static Quirk) {
        self.0.insert(quirk.word, quirk);
    }

    /// Takes one away.
    pub fn remove(&mut self, quirk: &Quirk) {
        self.0.remove(quirk.word);
    }

    /// Quirks that `known` has not.
    pub fn beyond(&self, known: &Quirks) -> Quirks {
        Quirks(
            self.0.iter().filter(|(word, _)| !known.0.contains_key(*word)).map(|(w, q)| (*w, *q)).collect(),
        )
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Quirks of the model, not of one request.
    pub fn lasting(&self) -> impl Iterator<Item = &'static str> {
        self.words().filter(|word| ![STRICT.word, ONE_SCHEMA].contains(word))
    }

    /// Each of them.
    pub fn each(&self) -> impl Iterator<Item = &'static Quirk> {
        self.0.values().copied()
    }

    /// Words of the quirks, as the file has them.
    pub fn words(&self) -> impl Iterator<Item = &'static str> {
        self.0.keys().copied()
    }
}

impl FromIterator<&'static Quirk> for Quirks {
    fn from_iter<I: IntoIterator<Item = &'static Quirk>>(quirks: I) -> Quirks {
        Quirks(quirks.into_iter().map(|quirk| (quirk.word, quirk)).collect())
    }
}

/// The `possible` quirks that a refusal names.
pub(super) fn named(status: u16, body: &str, possible: &[&'static Quirk]) -> Quirks {
    let by_table = field(status, body);
    let is_named = |quirk: &&Quirk| quirk.is_named(status, body) || by_table == Some(quirk.word);
    let mut found: Quirks = possible.iter().copied().filter(is_named).collect();
    if found.has(&STRICT) {
        // It is named as a part of these.
        found.0.remove("response_format");
        found.0.remove("text_format");
        found.0.remove(SCHEMA_ALONE.word);
    }
    if found.has(&SCHEMA_ALONE) {
        // Each of the two is accepted by itself.
        found.0.remove("response_format");
        found.0.remove("text_format");
        found.0.remove(TOOLS.word);
    }
    // The form is taken, but not this schema in it.
    if found.0.contains_key(ONE_SCHEMA) {
        found.0.remove("output_format");
    }
    // A refusal that names something about tools does not refuse tools as such.
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
            (404, "temperature", vec![]),
            (500, "temperature", vec![]),
        ] {
            let quirks = openai::SPEC.http.unwrap().quirks;
            let found: Vec<&str> = named(status, body, quirks).words().collect();
            assert_eq!(found, expected, "{status} {body}");
        }
        assert!(named(400, "temperature", &[]).is_empty());
    }
}
