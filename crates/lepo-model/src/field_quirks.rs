//! Quirks about optional fields of a request, which the user may have set: a model that rejects one gets the request
//! without it.

use super::quirks::{MALFORMED, ONE_SCHEMA, Quirk};

/// Returns the texts by which refusals name a field: quoted, as JSON within JSON, or after a noun.
macro_rules! names {
    ($field:literal) => {
        &[
            concat!("'", $field, "'"),
            concat!("`", $field, "`"),
            concat!("\"", $field, "\""),
            concat!("\"", $field, "\\\""),
            concat!("supplied: ", $field),
            concat!("parameter: ", $field),
            concat!("parameters: ", $field),
            concat!("parameter ", $field),
            concat!("argument: ", $field),
            concat!("argument ", $field),
            concat!("field: ", $field),
            concat!("model: ", $field),
            concat!("body.", $field),
            concat!("-> ", $field),
            concat!("body/", $field),
            concat!($field, ": extra"),
            concat!($field, " is not supported"),
        ]
    };
}

/// Texts of a refusal of a field itself, whatever its value.
const REJECTED: &[&str] = &[
    "support",
    "unrecognized",
    "unrecognised",
    "unknown",
    "extra inputs",
    "extra fields",
    "not permitted",
    "not allowed",
    "additional propert",
    "unexpected",
    "invalid parameter",
    "cannot be set",
    "cannot both",
];

pub(super) static TOP_P: Quirk = Quirk {
    word: "top_p",
    status: MALFORMED,
    named: &[&["top_p"]],
    notice: "does not accept `top_p`: retrying without it",
};

pub(super) static SEED: Quirk = Quirk {
    word: "seed",
    status: MALFORMED,
    named: &[names!("seed"), REJECTED],
    notice: "does not accept `seed`: retrying without it",
};

pub(super) static STOP: Quirk = Quirk {
    word: "stop",
    status: MALFORMED,
    named: &[names!("stop"), REJECTED],
    notice: "does not accept `stop`: retrying without it",
};

pub(super) static STOP_SEQUENCES: Quirk = Quirk {
    word: "stop_sequences",
    status: MALFORMED,
    named: &[&["stop_sequences"], REJECTED],
    notice: "does not accept `stop_sequences`: retrying without it",
};

pub(super) static REASONING_EFFORT: Quirk = Quirk {
    word: "reasoning_effort",
    status: MALFORMED,
    named: &[&["reasoning_effort", "reasoning effort", "reasoning.effort", "reasoningeffort"]],
    notice: "does not accept `reasoning_effort`: retrying without it",
};

/// Texts of a refusal that rejects the field, and not its value.
const NO_SUCH_FIELD: &[&str] = &[
    "unsupported parameter",
    "unsupported_parameter",
    "unrecognized request argument",
    "unknown parameter",
    "unknown field",
    "unknown name",
    "extra inputs",
    "additional properties",
    "unexpected keyword",
];

/// Neither `max_tokens` nor `max_completion_tokens`.
pub(super) static NO_LIMIT: Quirk = Quirk {
    word: "no_limit",
    status: MALFORMED,
    named: &[&["max_tokens", "max_completion_tokens", "max_output_tokens"], NO_SUCH_FIELD],
    notice: "does not accept a limit of tokens: retrying without it",
};

pub(super) static TOOL_CHOICE: Quirk = Quirk {
    word: "tool_choice",
    status: MALFORMED,
    named: &[&["tool_choice"]],
    notice: "does not accept `tool_choice`: retrying without it",
};

/// The server cannot enforce this schema: the fault of one schema, so it is not stored for the model.
pub(super) static UNSUPPORTED_SCHEMA: Quirk = Quirk {
    word: ONE_SCHEMA,
    status: MALFORMED,
    named: &[
        &["schema", "grammar"],
        &["xgrammar", "outlines", "guidance", "unimplemented", "compil", "not supported by", "grammar error"],
    ],
    notice: "cannot enforce this schema: retrying without it",
};

/// A field of OpenAI's own that other servers of its API may reject.
pub(super) static STORE: Quirk = Quirk {
    word: "store",
    status: MALFORMED,
    named: &[names!("store"), NO_SUCH_FIELD],
    notice: "does not accept `store = false`, so it may store what is sent: retrying without it",
};
