//! Failures of an answer that came: without words, or with too many.

use lepo_base::error::Error;

/// The error for a model that thought, and said nothing.
pub fn only_thinking(model: &str) -> Error {
    Error::remote(format!("{model} thought, and gave no answer; its thinking is kept, hidden")).ask_again()
}

/// The error for an answer that is longer than any may be.
pub fn too_long() -> Error {
    Error::remote("the answer exceeded max_answer and was stopped; the part that came is kept, hidden")
        .hint("max_answer in config.toml is the limit, in bytes")
}
