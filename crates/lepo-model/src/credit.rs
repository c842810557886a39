//! Recognises the refusal of an account whose credit or spending limit is used up: it comes with the status of a
//! rate limit, but does not pass by itself.

use serde_json::Value;

use lepo_base::error::Error;
use lepo_base::hint::{Command, Hint};

/// Codes and words of servers for it, in lower case. Google's "exceeded your current quota" is none of them: its
/// limits a minute say the same.
const PATTERNS: &[&str] = &[
    // OpenAI and servers after its model
    "insufficient_quota",
    "billing_hard_limit_reached",
    "billing_not_active",
    "credit_balance_exhausted",
    "spend_limit_exceeded",
    "organization_usage_limit_exceeded",
    // Anthropic
    "credit balance is too low",
    "credit_balance_too_low",
    "billing_error",
    // DeepSeek, OpenRouter
    "insufficient balance",
    "insufficient_balance",
    "insufficient credits",
    // Moonshot
    "exceeded_current_quota_error",
    // xAI
    "used all available credits",
    // Alibaba
    "arrearage",
];

/// The HTTP status that says so without words.
pub(super) const PAYMENT_REQUIRED: u64 = 402;

/// True if a refusal with this status and these words says so.
pub(super) fn is_used_up(status: u16, body: &str) -> bool {
    u64::from(status) == PAYMENT_REQUIRED || matches!(status, 400 | 403 | 429) && has_words(body)
}

/// True if an error within a stream says so.
pub(super) fn says_used_up(error: &Value) -> bool {
    has_words(&error.to_string())
}

fn has_words(text: &str) -> bool {
    let text = text.to_lowercase();
    PATTERNS.iter().any(|words| text.contains(words))
}

/// The error for it, from `place`.
pub(super) fn used_up(place: &str, words: &str) -> Error {
    Error::remote(format!("the credit or spending limit at {place} is used up: {words}")).hint(
        Hint::from("add credit or raise the limit there, or ask another model: ")
            .command(Command::OtherModel),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_account_without_credit_is_told_from_a_busy_one() {
        for (status, body, expected) in [
            (429, r#"{"error":{"type":"insufficient_quota","code":"insufficient_quota"}}"#, true),
            (429, r#"{"error":{"type":"insufficient_quota","code":"project_spend_limit_exceeded"}}"#, true),
            (400, r#"{"error":{"code":"billing_hard_limit_reached"}}"#, true),
            (400, "Your credit balance is too low to access the Anthropic API", true),
            (402, r#"{"error":{"message":"Insufficient Balance"}}"#, true),
            (402, "", true),
            (403, "Your team has either used all available credits or reached its limit", true),
            (429, r#"{"error":{"code":"rate_limit_exceeded","type":"requests"}}"#, false),
            (
                429,
                r#"{"error":{"message":"You exceeded your current quota, please check your plan and billing details. Please retry in 23s","status":"RESOURCE_EXHAUSTED"}}"#,
                false,
            ),
            (500, "insufficient_quota", false),
            (400, "temperature is not supported", false),
        ] {
            assert_eq!(is_used_up(status, body), expected, "{status} {body}");
        }
    }
}
