//! Recognises the refusal of a conversation that is longer than the model's window.

use lepo_base::error::{Error, Kind};
use lepo_base::hint::{Act, Command, Hint};

/// The words of servers that refuse a conversation as too long, in lower case: all of a row stand in one refusal.
const PATTERNS: &[&[&str]] = &[
    // OpenAI and servers after its model
    &["context_length_exceeded"],
    &["maximum context length"],
    &["context window", "exceed"],
    &["exceeds the context"],
    &["context length", "exceed"],
    &["context size", "exceed"],
    // llama.cpp
    &["exceed_context_size_error"],
    &["n_prompt_tokens", "n_ctx"],
    // Anthropic
    &["prompt is too long"],
    &["input length and", "exceed context limit"],
    &["request_too_large"],
    &["exceed", "maximum allowed number of input tokens"],
    // Ollama, with `truncate: false`
    &["input", "exceeds", "context"],
    &["prompt too long"],
    // Google
    &["input token count", "exceeds the maximum number of tokens"],
    // xAI, Groq, Mistral, OpenRouter, vLLM, Bedrock
    &["maximum prompt length"],
    &["reduce the length of the messages"],
    &["too large for model with", "maximum context"],
    &["endpoint's maximum context length"],
    &["decoder prompt", "longer than the maximum model length"],
    &["input is too long"],
    &["too many tokens"],
    &["token limit exceeded"],
];

/// True if a refusal with this status and these words says that the conversation is too long.
pub(super) fn is_overflow(status: u16, body: &str) -> bool {
    let body = body.to_lowercase();
    matches!(status, 400 | 413 | 422 | 500)
        && PATTERNS.iter().any(|words| words.iter().all(|word| body.contains(word)))
}

/// The error for it.
pub(super) fn overflow(model: &str, words: &str) -> Error {
    Error::new(Kind::Overflow, format!("the conversation is too long for {model}: {words}")).hint(
        Hint::from(Act::Compact)
            .words(" continues from a summary of it; a model with a larger window takes it as it is: ")
            .command(Command::OtherModel),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overflows_are_told_from_other_refusals() {
        for (status, body, expected) in [
            (400, r#"{"error":{"code":"context_length_exceeded"}}"#, true),
            (400, r#"{"error":{"code":400,"type":"exceed_context_size_error","n_ctx":8192}}"#, true),
            (400, "prompt is too long: 208310 tokens > 200000 maximum", true),
            (413, r#"{"error":{"type":"request_too_large"}}"#, true),
            (400, "The input (70000 tokens) exceeds the context length of 4096", true),
            (400, "The input token count (1200000) exceeds the maximum number of tokens allowed", true),
            (400, "This model's maximum context length is 8192 tokens", true),
            (429, "too many tokens per minute", false),
            (400, "temperature is not supported", false),
            (400, "max_tokens: 999999 > 128000, which is the maximum allowed number of output tokens", false),
        ] {
            assert_eq!(is_overflow(status, body), expected, "{body}");
        }
    }
}
