//! Errors for a received answer without text, or with too much text.

use lepo_base::error::Error;

/// Returns the error for a model that sent only thinking.
pub fn only_thinking(model: &str) -> Error {
    Error::remote(format!("{model} gave no answer, only thinking, which is stored as a hidden message"))
        .ask_again()
}

pub fn too_long() -> Error {
    Error::remote(
        "the answer exceeded max_answer and was stopped; the received part is stored as a hidden message",
    )
    .hint("max_answer in config.toml is the limit, in bytes")
}
