//! Chooses the thinking parameter of a request, by the server's facts about the model.

use serde_json::{Value, json};

use crate::ModelConfig;
use crate::model_facts::ModelFacts;

/// Longest answer, in tokens, if neither the configuration nor the server limits it.
pub const MAX_TOKENS: u64 = 8192;

/// Longest answer of older models, in tokens.
pub const FEW_TOKENS: u64 = 4096;

/// Smallest budget for thinking, in tokens.
const LEAST: u64 = 1024;

/// Returns the value of `thinking`; `None` for a model that does not think, or if the limit on tokens leaves no room.
///
/// A model with a budget refuses to think after calls whose own thinking is missing (`rebuilt`).
pub fn thinking_for(config: &ModelConfig, facts: &ModelFacts, limit: u64, rebuilt: bool) -> Option<Value> {
    let effort = config.options.effort.as_deref();
    if effort == Some("none") || limit < 2 * LEAST {
        return None;
    }
    if facts.can("thinking.adaptive") {
        return Some(json!({"type": "adaptive", "display": "summarized"}));
    }
    if !facts.can("thinking.enabled") || rebuilt {
        return None;
    }
    let wished = match effort {
        Some("minimal" | "low") => 2 * LEAST,
        Some("high") => 16 * LEAST,
        Some("xhigh" | "max") => 32 * LEAST,
        _ => 8 * LEAST,
    };
    Some(json!({"type": "enabled", "budget_tokens": wished.min(limit / 2)}))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ModelOptions, Provider};

    #[test]
    fn the_model_list_and_the_limit_decide() {
        for (capability, effort, limit, rebuilt, expected) in [
            ("thinking.adaptive", None, 8192, false, "adaptive"),
            ("thinking.adaptive", Some("none"), 8192, false, "-"),
            ("thinking.adaptive", None, 8192, true, "adaptive"),
            ("thinking.adaptive", None, 2047, false, "-"),
            ("thinking.enabled", None, 64_000, false, "8192"),
            ("thinking.enabled", None, 8192, false, "4096"),
            ("thinking.enabled", Some("low"), 2048, false, "1024"),
            ("thinking.enabled", Some("max"), 128_000, false, "32768"),
            ("thinking.enabled", None, 1500, false, "-"),
            ("thinking.enabled", None, 8192, true, "-"),
            ("batch", None, 8192, false, "-"),
        ] {
            let options = ModelOptions { effort: effort.map(str::to_owned), ..ModelOptions::default() };
            let config = ModelConfig { options, ..ModelConfig::new("m", Provider::Anthropic) };
            let facts = ModelFacts { capabilities: vec![capability.to_owned()], ..ModelFacts::default() };
            let found = match thinking_for(&config, &facts, limit, rebuilt) {
                None => "-".to_owned(),
                Some(value) if value["type"] == "enabled" => value["budget_tokens"].to_string(),
                Some(value) => value["type"].as_str().unwrap().to_owned(),
            };
            assert_eq!(found, expected, "{capability} {effort:?} {limit} {rebuilt}");
        }
    }
}
