//! Errors for a received answer without text, or with too much text.

use lepo_base::error::Error;

/// Returns the error for a model that sent only thinking.
pub fn only_thinking(model: &str) -> Error {
    Error::remote(format!("{model} thought, and gave no answer; its thinking is kept, hidden")).ask_again()
}

pub fn too_long() -> Error {
    Error::remote("the answer exceeded max_answer and was stopped; the part that came is kept, hidden")
        .hint("max_answer in config.toml is the limit, in bytes")
}
