//! The models that continue an assistant's message at the end of a request: a stopped answer.
//! Since 4.6, models refuse such a request with status 400, and so do older ones that think.
//! <https://platform.claude.com/docs/en/about-claude/models/migration-guide>

use super::thinking::{MAX_TOKENS, wanted};
use crate::ModelConfig;
use crate::message::ChatRequest;
use crate::model_facts::ModelFacts;
use lepo_base::role::Role;

/// Beginnings of the names of such models: the whole name, or up to a hyphen.
const PREFILLED: &[&str] = &[
    "claude-3",
    "claude-haiku-4-5",
    "claude-opus-4-0",
    "claude-opus-4-1",
    "claude-opus-4-20250514",
    "claude-opus-4-5",
    "claude-sonnet-4-0",
    "claude-sonnet-4-20250514",
    "claude-sonnet-4-5",
];

/// Whether a request may end with an assistant's message: the model is known for it, and will not think.
pub fn takes_prefill(config: &ModelConfig, facts: &ModelFacts) -> bool {
    let is_named = |known: &str| {
        let rest = config.model.strip_prefix(known);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
    };
    let limit = config.options.max_tokens.or(facts.max_tokens).unwrap_or(MAX_TOKENS);
    PREFILLED.iter().any(|known| is_named(known)) && wanted(config, facts, limit, false).is_none()
}

/// Whether a request ends with an assistant's message.
pub fn is_prefilled(request: &ChatRequest<'_>) -> bool {
    request.messages.last().is_some_and(|last| last.role == Role::Assistant && last.replay.is_none())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Provider;

    #[test]
    fn models_before_4_6_that_do_not_think_take_it() {
        for (model, capability, takes) in [
            ("claude-3-5-haiku-latest", "", true),
            ("claude-3-haiku-20240307", "", true),
            ("claude-opus-4-20250514", "", true),
            ("claude-opus-4-1-20250805", "", true),
            ("claude-sonnet-4-5", "batch", true),
            ("claude-haiku-4-5-20251001", "", true),
            ("claude-sonnet-4-5", "thinking.enabled", false),
            ("claude-opus-4-6", "", false),
            ("claude-sonnet-4-6", "", false),
            ("claude-opus-4-50", "", false),
            ("claude-opus-5-5", "", false),
            ("claude-fable-5", "", false),
            ("another", "", false),
        ] {
            let config =
                ModelConfig { model: model.to_owned(), ..ModelConfig::new("m", Provider::Anthropic) };
            let facts = ModelFacts { capabilities: vec![capability.to_owned()], ..ModelFacts::default() };
            assert_eq!(takes_prefill(&config, &facts), takes, "{model} {capability}");
        }
    }
}
