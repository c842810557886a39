//! Requests a server's list of models, and reads cached facts about models without a request.

use std::path::Path;

use reqwest::{Method, Response};
use serde_json::{Value, json};

use super::cache::Cache;
use super::config::ModelConfig;
use super::http::{EndpointClient, display_url};
use super::model_facts::{LookupMethod, ModelFacts, RunningWindow, parse_list};
use super::provider_spec::HttpSpec;
use super::refusal::{HttpRefusal, refused_key};
use super::refusals::Meaning;
use super::registry::spec;
use super::unpack::Unpacking;
use lepo_base::error::{Error, Result};

/// The maximum size of a list in bytes.
const LONGEST: usize = 4 << 20;

/// The maximum number of pages of a list.
const PAGES: usize = 100;

/// Requests the server's facts of one model; empty if the model does not exist.
pub(super) async fn look_up(http: &mut EndpointClient, api: &HttpSpec, model: &str) -> Result<ModelFacts> {
    let catalog = &api.catalog;
    match &catalog.one {
        LookupMethod::Get => {
            let path: Vec<&str> = catalog.path.iter().copied().chain([model]).collect();
            match ask(http, Method::GET, &path, &[], None).await? {
                Ok(answer) => Ok((catalog.read)(&answer).unwrap_or_default()),
                // Some servers have only the list.
                Err(refusal) if refusal.status == 404 => listed_facts(http, api, model).await,
                Err(refusal) => Err(list_refused(http, &refusal)),
            }
        }
        LookupMethod::Listed => listed_facts(http, api, model).await,
        LookupMethod::Post(path, facts) => {
            let answer = read(http, Method::POST, path, &[], Some(json!({"model": model}))).await?;
            Ok(facts(&answer).unwrap_or_default())
        }
    }
}

/// Returns the facts of a model from the server's list; empty if it is not listed.
async fn listed_facts(http: &mut EndpointClient, api: &HttpSpec, model: &str) -> Result<ModelFacts> {
    let found = listed_models(http, api).await?.into_iter().find(|facts| facts.id == model);
    let mut facts = found.unwrap_or_else(|| ModelFacts { id: model.to_owned(), ..ModelFacts::default() });
    facts.run_with(&running(http, api).await);
    Ok(facts)
}

/// Requests all models of the server, in its order.
pub(super) async fn list(http: &mut EndpointClient, api: &HttpSpec) -> Result<Vec<ModelFacts>> {
    let mut models = listed_models(http, api).await?;
    let windows = running(http, api).await;
    models.iter_mut().for_each(|facts| facts.run_with(&windows));
    Ok(models)
}

/// Requests the server's list, with the windows that it has there.
async fn listed_models(http: &mut EndpointClient, api: &HttpSpec) -> Result<Vec<ModelFacts>> {
    let (mut models, mut after) = (Vec::new(), None);
    for _ in 0..PAGES {
        let query: Vec<(&str, String)> = match after.take() {
            None => Vec::new(),
            Some(id) => vec![("after_id", id)],
        };
        let answer = read(http, Method::GET, api.catalog.path, &query, None).await?;
        models.extend(parse_list(&api.catalog, &answer));
        match (answer["has_more"].as_bool(), answer["last_id"].as_str()) {
            (Some(true), Some(id)) => after = Some(id.to_owned()),
            _ => break,
        }
    }
    Ok(models)
}

/// Requests the actual windows of running models; empty if the server has no such endpoint. Only servers without
/// TLS are asked, because they are local ones.
async fn running(http: &mut EndpointClient, api: &HttpSpec) -> Vec<RunningWindow> {
    if http.base.scheme() != "http" {
        return Vec::new();
    }
    for endpoint in api.catalog.running {
        let Ok(response) = http.query_root(endpoint.path).await else { break };
        let Ok(Ok(answer)) = document(http, response).await else { continue };
        let windows = (endpoint.read)(&answer);
        if !windows.is_empty() {
            return windows;
        }
    }
    Vec::new()
}

async fn read(
    http: &mut EndpointClient,
    method: Method,
    path: &[&str],
    query: &[(&str, String)],
    body: Option<Value>,
) -> Result<Value> {
    ask(http, method, path, query, body).await?.map_err(|refusal| list_refused(http, &refusal))
}

fn list_refused(http: &EndpointClient, refusal: &HttpRefusal) -> Error {
    match refusal.meaning("") == Meaning::Key {
        true => refused_key(&http.url, refusal.message()),
        false => Error::remote(format!("{} does not list its models: {}", http.url, refusal.message())),
    }
}

/// Sends a request; returns the document, or the server's refusal.
async fn ask(
    http: &mut EndpointClient,
    method: Method,
    path: &[&str],
    query: &[(&str, String)],
    body: Option<Value>,
) -> Result<std::result::Result<Value, HttpRefusal>> {
    let response = http.query(method, path, query, body).await?;
    document(http, response).await
}

/// Returns the document of a response, or the refusal.
async fn document(
    http: &EndpointClient,
    mut response: Response,
) -> Result<std::result::Result<Value, HttpRefusal>> {
    if !response.status().is_success() {
        return Ok(Err(HttpRefusal::read(response, http.timeouts.idle).await));
    }
    let mut bytes = Vec::new();
    let mut unpacking = Unpacking::default();
    let reading = async {
        while let Ok(Some(chunk)) = response.chunk().await {
            let Ok(chunk) = unpacking.feed(chunk) else { break };
            bytes.extend_from_slice(&chunk);
            if bytes.len() > LONGEST {
                break;
            }
        }
    };
    let _ = tokio::time::timeout(http.timeouts.idle, reading).await;
    serde_json::from_slice(&bytes)
        .map(Ok)
        .map_err(|_| Error::remote(format!("{} lists its models in an unknown format", http.url)))
}

/// Returns the list of models that the server sent within the last hour. Sends no request.
pub fn offered_before(config: &ModelConfig, state_dir: &Path) -> Vec<ModelFacts> {
    let Some(api) = spec(config).http else { return Vec::new() };
    Cache::new(state_dir, api.name, &config.base_url, "").load().unwrap_or_default()
}

/// Whether a model continues a stopped answer at the end of a request, by its name and the cached facts about it. Sends
/// no request.
pub fn takes_prefill(config: &ModelConfig, state_dir: &Path) -> bool {
    let Some((api, url)) = spec(config).http.zip(display_url(config)) else { return false };
    let facts = Cache::new(state_dir, api.name, &url, &config.model).load_any().unwrap_or_default();
    (api.prefill)(config, &facts)
}

/// Returns the window of a model in tokens: the configured one, or the latest cached one, from the model's own facts or
/// from the server's list. Sends no request.
pub fn known_window(config: &ModelConfig, state_dir: &Path) -> Option<u64> {
    config.context.or_else(|| {
        let api = spec(config).http?;
        let one = Cache::new(state_dir, api.name, &display_url(config)?, &config.model);
        let list = Cache::new(state_dir, api.name, &config.base_url, "");
        let of_one = || one.load_any::<ModelFacts>()?.context;
        let of_list = || {
            let mut models = list.load_any::<Vec<ModelFacts>>()?.into_iter();
            models.find(|facts| facts.id == config.model)?.context
        };
        match list.cached_at() > one.cached_at() {
            true => of_list().or_else(of_one),
            false => of_one().or_else(of_list),
        }
    })
}
