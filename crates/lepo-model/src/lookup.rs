//! Asks a server what models it has.

use reqwest::Method;
use serde_json::{Value, json};

use super::contract::HttpSpec;
use super::facts::{ModelFacts, One, listed};
use super::http::Http;
use super::refusal::Refusal;
use lepo_base::error::{Error, Result};

/// The longest list that is read.
const LONGEST: usize = 4 << 20;

/// The most pages of a list that are read.
const PAGES: usize = 100;

/// Fetches the server's facts of one model; none, if it has no such model.
pub(super) async fn look_up(http: &mut Http, api: &HttpSpec, model: &str) -> Result<ModelFacts> {
    let catalog = &api.catalog;
    match &catalog.one {
        One::Get => {
            let path: Vec<&str> = catalog.path.iter().copied().chain([model]).collect();
            match ask(http, Method::GET, &path, &[], None).await? {
                Ok(answer) => Ok((catalog.read)(&answer).unwrap_or_default()),
                // Some servers have the list alone.
                Err(refusal) if refusal.status == 404 => listed_facts(http, api, model).await,
                Err(refusal) => Err(untold(http, &refusal)),
            }
        }
        One::Listed => listed_facts(http, api, model).await,
        One::Post(path, facts) => {
            let answer = read(http, Method::POST, path, &[], Some(json!({"model": model}))).await?;
            Ok(facts(&answer).unwrap_or_default())
        }
    }
}

/// The facts of a model in the server's list; none, if it is not there.
async fn listed_facts(http: &mut Http, api: &HttpSpec, model: &str) -> Result<ModelFacts> {
    let models = list(http, api).await?;
    Ok(models.into_iter().find(|facts| facts.id == model).unwrap_or_default())
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
    ask(http, method, path, query, body).await?.map_err(|refusal| untold(http, &refusal))
}

fn untold(http: &Http, refusal: &Refusal) -> Error {
    Error::remote(format!("{} does not list its models: {}", http.place, refusal.words()))
}

/// The document that answers a request, or the refusal of it.
async fn ask(
    http: &mut Http,
    method: Method,
    path: &[&str],
    query: &[(&str, String)],
    body: Option<Value>,
) -> Result<std::result::Result<Value, Refusal>> {
    let mut response = http.query(method, path, query, body).await?;
    if !response.status().is_success() {
        return Ok(Err(Refusal::read(response, http.timeouts.idle).await));
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
        .map(Ok)
        .map_err(|_| Error::remote(format!("{} lists its models in an unknown form", http.place)))
}
