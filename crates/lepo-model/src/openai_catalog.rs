//! The list of models, common to both APIs of OpenAI's kind.

mod window;

use serde_json::Value;

use super::model_facts::{CatalogSpec, LookupMethod, ModelFacts};

/// The endpoint at which servers of OpenAI's kind list their models.
pub(super) const CATALOG: CatalogSpec = CatalogSpec {
    path: &["models"],
    one: LookupMethod::Listed,
    needed: false,
    read: model_facts,
    running: window::RUNNING,
};

/// Parses a server's facts about a model: llama.cpp, OpenRouter, vLLM, LM Studio and others have their own fields.
fn model_facts(model: &Value) -> Option<ModelFacts> {
    let number = |pointers: &[&str]| {
        pointers.iter().filter_map(|pointer| model.pointer(pointer)?.as_u64()).find(|&number| number > 0)
    };
    let words = |pointer: &str| {
        let words = model.pointer(pointer).and_then(Value::as_array).into_iter().flatten();
        words.filter_map(|word| Some(word.as_str()?.to_owned())).collect::<Vec<String>>()
    };
    let mut capabilities = words("/capabilities");
    capabilities.extend(words("/supported_parameters"));
    Some(ModelFacts {
        id: model["id"].as_str()?.to_owned(),
        context: number(&[
            "/meta/n_ctx",
            "/context_length",
            "/max_model_len",
            "/max_context_length",
            "/context_window",
            "/meta/n_ctx_train",
        ]),
        max_tokens: number(&["/top_provider/max_completion_tokens", "/max_completion_tokens"]),
        size: number(&["/meta/size", "/size"]),
        capabilities,
    })
}
