//! Asks a server what models it has.

use reqwest::Method;
use serde_json::{Value, json};

use super::catalog::{ModelFacts, One, listed};
use super::http::Http;
use super::refusal::Refusal;
use super::spec::HttpSpec;
use crate::error::{Error, Result};

/// The longest list that is read.
const LONGEST: usize = 16 << 20;

/// The most pages of a list that are read.
const PAGES: usize = 100;

/// Fetches the server's facts of one model; none, if it has no such model.
pub(super) async fn look_up(http: &mut Http, api: &HttpSpec, model: &str) -> Result<ModelFacts> {
    let catalog = &api.catalog;
    match &catalog.one {
        One::Get => {
            let path: Vec<&str> = catalog.path.iter().copied().chain([model]).collect();
            let answer = read(http, Method::GET, &path, &[], None).await?;
            Ok((catalog.read)(&answer).unwrap_or_default())
        }
        One::Listed => {
            let models = list(http, api).await?;
            Ok(models.into_iter().find(|facts| facts.id == model).unwrap_or_default())
        }
        One::Post(path, facts) => {
            let answer = read(http, Method::POST, path, &[], Some(json!({"model": model}))).await?;
            Ok(facts(&answer).unwrap_or_default())
        }
    }
}

/// All models of the server, in its order.
pub(super) async fn list(http: &mut Http, api: &HttpSpec) -> Result<Vec<ModelFacts>> {
    let (mut models, mut after) = (Vec::new(), None);
    for _ in 0..PAGES {
        let query: Vec<(&str, String)> = match after.take() {
            None => Vec::new(),
            Some(id) => vec![("after_id", id)],
        };
        let answer = read(http, Method::GET, api.catalog.path, &query, None).await?;
        models.extend(listed(&api.catalog, &answer));
        match (answer["has_more"].as_bool(), answer["last_id"].as_str()) {
            (Some(true), Some(id)) => after = Some(id.to_owned()),
            _ => break,
        }
    }
    Ok(models)
}

async fn read(
    http: &mut Http,
    method: Method,
    path: &[&str],
    query: &[(&str, String)],
    body: Option<Value>,
) -> Result<Value> {
    let mut response = http.query(method, path, query, body).await?;
    if !response.status().is_success() {
        let refusal = Refusal::read(response, http.timeouts.idle).await;
        return Err(Error::remote(format!("{} does not list its models: {}", http.place, refusal.words())));
    }
    let mut bytes = Vec::new();
    let reading = async {
        while let Ok(Some(chunk)) = response.chunk().await {
            bytes.extend_from_slice(&chunk);
            if bytes.len() > LONGEST {
                break;
            }
        }
    };
    let _ = tokio::time::timeout(http.timeouts.idle, reading).await;
    serde_json::from_slice(&bytes)
        .map_err(|_| Error::remote(format!("{} lists its models in an unknown form", http.place)))
}
