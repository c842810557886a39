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
    /// Whether a refusal with this HTTP status and lower-case body is about the quirk.
    fn is_named(&self, status: u16, body: &str) -> bool {
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

/// Quirks about fields that only the user sets.
const SET_BY_USER: &[&str] = &["effort", "reasoning_effort", "seed", "stop", "stop_sequences", "top_p"];

/// Lower-case texts of a refusal that rejects a value of a field, and not the field: the user must correct the value.
const VALUE_REJECTED: &[&str] = &[
    "supported values are",
    "must be in ",
    "must be between",
    "must be one of",
    "must be greater",
    "must be less",
    "must be at ",
    "input should be",
    "expected one of",
    "one of the following",
];

/// Returns the `possible` quirks that a refusal names.
pub(super) fn quirks_named_in(status: u16, body: &str, possible: &[&'static Quirk]) -> Quirks {
    let by_table = field(status, body);
    let lower = body.to_lowercase();
    let is_named = |quirk: &&Quirk| quirk.is_named(status, &lower) || by_table == Some(quirk.word);
    let mut found: Quirks = possible.iter().copied().filter(is_named).collect();
    if VALUE_REJECTED.iter().any(|text| lower.contains(text)) {
        found.0.retain(|word, _| !SET_BY_USER.contains(word));
    }
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
        // The server accepts the message in the role `system`.
        ("developer_role", NO_SYSTEM.word),
        ("developer_role", SYSTEM_FIRST.word),
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
mod tests;
