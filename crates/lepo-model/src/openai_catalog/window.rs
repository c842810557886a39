//! The window with which a local server runs a model; it may be smaller than the model's own.

use serde_json::Value;

use crate::model_facts::{RunningEndpoint, RunningWindow};

/// The endpoints, at a server's root, that return a running window. vLLM includes it in its list of models.
pub(super) const RUNNING: &[RunningEndpoint] = &[
    // LM Studio
    RunningEndpoint { path: &["api", "v1", "models"], read: lm_studio },
    // llama.cpp
    RunningEndpoint { path: &["props"], read: llama_cpp },
];

/// Parses `models[].loaded_instances[].config.context_length`, under the model's key and the instance's id.
fn lm_studio(answer: &Value) -> Vec<RunningWindow> {
    let each = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let mut windows = Vec::new();
    for model in each(&answer["models"]) {
        for instance in each(&model["loaded_instances"]) {
            let tokens = instance.pointer("/config/context_length").and_then(Value::as_u64);
            for name in [&instance["id"], &model["key"]] {
                let name = name.as_str().map(str::to_owned);
                windows.extend(
                    name.zip(tokens).map(|(name, tokens)| RunningWindow { model: Some(name), tokens }),
                );
            }
        }
    }
    windows
}

/// Parses `default_generation_settings.n_ctx`: the server has a single model.
fn llama_cpp(answer: &Value) -> Vec<RunningWindow> {
    let tokens = answer.pointer("/default_generation_settings/n_ctx").and_then(Value::as_u64);
    tokens.map(|tokens| RunningWindow { model: None, tokens }).into_iter().collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn each_server_tells_it_in_its_own_place() {
        let named = |windows: Vec<RunningWindow>| -> Vec<(Option<String>, u64)> {
            windows.into_iter().map(|window| (window.model, window.tokens)).collect()
        };
        let loaded = json!({"models": [
            {"key": "qwen/qwen3-8b", "max_context_length": 131_072,
             "loaded_instances": [{"id": "qwen3", "config": {"context_length": 8192}}, {"id": "odd", "config": {"context_length": -1}}]},
            {"key": "not loaded", "max_context_length": 4096, "loaded_instances": []},
        ]});
        assert_eq!(
            named(lm_studio(&loaded)),
            [(Some("qwen3".into()), 8192), (Some("qwen/qwen3-8b".into()), 8192)]
        );
        assert_eq!(named(lm_studio(&json!({"models": 3}))), []);
        assert_eq!(
            named(llama_cpp(&json!({"default_generation_settings": {"n_ctx": 4096}}))),
            [(None, 4096)]
        );
        assert_eq!(named(llama_cpp(&json!({"default_generation_settings": {"n_ctx": "4096"}}))), []);
    }
}
