//! Prefill: a request that ends with the start of an answer, such as a stopped one, which the model continues. Only some
//! models accept it: those since 4.6 refuse it with status 400, and older ones do if they think.
//! <https://platform.claude.com/docs/en/about-claude/models/migration-guide>

use super::thinking::{MAX_TOKENS, thinking_for};
use crate::ModelConfig;
use crate::message::ChatRequest;
use crate::model_facts::ModelFacts;
use lepo_base::role::Role;

/// Names of models that accept it, or the start of such a name up to a hyphen.
const PREFILL_MODELS: &[&str] = &[
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

/// Whether the model accepts a request that ends with an assistant's message: by its name, and because it will not think.
pub fn takes_prefill(config: &ModelConfig, facts: &ModelFacts) -> bool {
    let is_named = |known: &str| {
        let rest = config.model.strip_prefix(known);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
    };
    let rebuilt = false;
    let limit = config.options.max_tokens.or(facts.max_tokens).unwrap_or(MAX_TOKENS);
    PREFILL_MODELS.iter().any(|known| is_named(known))
        && thinking_for(config, facts, limit, rebuilt).is_none()
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
