//! Looks for an Ollama server, for use when nothing is configured.

use std::time::Duration;

use reqwest::redirect;
use serde::Deserialize;

/// Time limit, short because the server is expected on this machine.
const LIMIT: Duration = Duration::from_millis(500);

#[derive(Deserialize)]
struct Tags {
    models: Vec<Tag>,
}

#[derive(Deserialize)]
struct Tag {
    name: String,
}

/// Returns the first model of the Ollama server at `base_url`, if it answers and has a model.
pub async fn first_ollama_model(base_url: &str) -> Option<String> {
    let builder =
        lepo_net::client::client().redirect(redirect::Policy::none()).http1_only().timeout(LIMIT).no_proxy();
    let builder = if base_url.starts_with("http:") { builder.tls_certs_only([]) } else { builder };
    let response = builder.build().ok()?.get(format!("{base_url}/api/tags")).send().await.ok()?;
    let body = response.error_for_status().ok()?.bytes().await.ok()?;
    let tags: Tags = serde_json::from_slice(&body).ok()?;
    tags.models.into_iter().next().map(|tag| tag.name)
}
