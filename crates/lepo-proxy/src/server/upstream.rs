//! Where a request goes, and with which key: to a configured model, to `--upstream`, or to the provider.

use hyper::StatusCode;
use hyper::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};
use lepo_base::env::Env;
use lepo_base::error::{Error, Result};
use lepo_base::keyword::Keyword;
use lepo_base::secret::Secret;
use lepo_model::{ApiKey, ModelConfig, Provider, Wire, base_url, key_header};
use url::Url;

use super::refusal::ProxyRefusal;
use super::token::ClientKey;
use crate::wire::ProxyWire;

/// A header with a key in it.
pub type KeyHeader = (HeaderName, HeaderValue);

/// The upstream address of a request, and the key to send with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Destination {
    pub url: Url,
    /// The address above the paths that clients know.
    pub base: Url,
    pub key: DestinationKey,
    /// The real name of a configured model, if the client used another.
    pub model: Option<String>,
}

/// The key of an outgoing request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DestinationKey {
    /// As the client sent it.
    Client,
    /// lepo's, or none.
    Lepo(Option<KeyHeader>),
}

/// A model of the configuration that a client can ask by its name.
struct ProxyModel {
    config: ModelConfig,
    base: Url,
}

/// A provider's address and keys, for requests that name no configured model.
struct ProviderRoute {
    base: Url,
    /// By the header in which the client sent the token: a bearer token, or the provider's own.
    bearer: Option<KeyHeader>,
    own_key: Option<KeyHeader>,
}

/// All addresses and keys of a proxy.
pub struct UpstreamTable {
    models: Vec<ProxyModel>,
    openai: ProviderRoute,
    anthropic: ProviderRoute,
    ollama: ProviderRoute,
}

/// A request, as far as its destination depends on it.
pub struct RoutedRequest<'r> {
    pub wire: Option<ProxyWire>,
    pub model: Option<&'r str>,
    pub path: &'r str,
    pub query: Option<&'r str>,
    pub headers: &'r HeaderMap,
    pub client_key: ClientKey,
}

impl UpstreamTable {
    /// Reads addresses and keys of the environment and of the configured models. `upstream` is for all requests that name
    /// no configured model.
    pub fn read(env: &Env, models: &[ModelConfig], upstream: Option<&str>) -> Result<UpstreamTable> {
        let given = upstream.map(read_upstream).transpose()?;
        let route = |provider, more| ProviderRoute::read(env, provider, more, given.as_deref());
        let openai = route(Provider::Openai, &[("CODEX_API_KEY", true)])?;
        Ok(UpstreamTable {
            models: models
                .iter()
                .filter_map(|model| ProxyModel::read(model).transpose())
                .collect::<Result<_>>()?,
            openai: ProviderRoute { own_key: openai.bearer.as_ref().and_then(azure_key), ..openai },
            anthropic: route(Provider::Anthropic, &[])?,
            ollama: route(Provider::Ollama, &[("OLLAMA_API_KEY", true)])?,
        })
    }

    /// Chooses where a request goes.
    pub fn choose(&self, request: &RoutedRequest<'_>) -> std::result::Result<Destination, ProxyRefusal> {
        if let (Some(wire), Some(name)) = (request.wire, request.model)
            && let Some(model) = self.models.iter().find(|model| model.config.name == name)
        {
            return model.destination(wire, request);
        }
        let route = match request.wire {
            Some(ProxyWire::Chat | ProxyWire::Responses) => &self.openai,
            Some(ProxyWire::Messages) => &self.anthropic,
            Some(ProxyWire::Ollama) => &self.ollama,
            None if request.headers.contains_key("anthropic-version") => &self.anthropic,
            None if request.path.starts_with("/api/") => &self.ollama,
            None => &self.openai,
        };
        let key = match request.client_key {
            ClientKey::Token => DestinationKey::Lepo(route.key(request.headers).cloned()),
            ClientKey::Own | ClientKey::Absent => DestinationKey::Client,
        };
        let url = below(&route.base, request.path, request.query);
        Ok(Destination { url, base: route.base.clone(), key, model: None })
    }
}

impl ProviderRoute {
    /// Reads the address of a provider, or `given`, and its keys, by the variables of lepo's own models and then
    /// `more`, each with whether it has a bearer token.
    fn read(
        env: &Env,
        provider: Provider,
        more: &'static [(&'static str, bool)],
        given: Option<&str>,
    ) -> Result<ProviderRoute> {
        let Some(facts) = provider.server() else {
            return Err(Error::usage(format!("{} has no server", provider.as_str())));
        };
        let text = match given {
            Some(given) => given.to_string(),
            None => {
                let variable = facts.url_env;
                let text = env.text(variable)?.unwrap_or(facts.url);
                (facts.read_url)(text).map_err(|why| Error::usage(format!("{variable} {why}")))?
            }
        };
        let base = without_version(&text).ok_or_else(|| Error::usage(format!("{text} is not an address")))?;
        let mut route = ProviderRoute { base, bearer: None, own_key: None };
        for (variable, bearer) in facts.key_env.iter().chain(more) {
            let slot = if *bearer { &mut route.bearer } else { &mut route.own_key };
            if let (None, Some(text)) = (&slot, env.text(variable)?) {
                let looked_for = format!("{variable} in the environment");
                let key =
                    ApiKey { value: Some(Secret::new(text)), looked_for, bearer: *bearer, command: vec![] };
                *slot = key_header(&ModelConfig { key, ..ModelConfig::new("", provider) })?;
            }
        }
        Ok(route)
    }

    /// Returns the key for the header in which the client sent the token, else the other one.
    fn key(&self, headers: &HeaderMap) -> Option<&KeyHeader> {
        match headers.contains_key(AUTHORIZATION) {
            true => self.bearer.as_ref().or(self.own_key.as_ref()),
            false => self.own_key.as_ref().or(self.bearer.as_ref()),
        }
    }
}

impl ProxyModel {
    /// Reads a model; `None` for one that is a program.
    fn read(config: &ModelConfig) -> Result<Option<ProxyModel>> {
        if config.provider.server().is_none() {
            return Ok(None);
        }
        let base = Url::parse(&config.base_url).map_err(|_| {
            Error::usage(format!("model \"{}\": {} is not an address", config.name, config.base_url))
        })?;
        Ok(Some(ProxyModel { config: config.clone(), base }))
    }

    fn has_wire(&self, wire: ProxyWire) -> bool {
        match (self.config.provider, wire) {
            (Provider::Openai, ProxyWire::Chat) => self.config.wire != Some(Wire::Responses),
            (Provider::Openai, ProxyWire::Responses) => self.config.wire != Some(Wire::Chat),
            (Provider::Anthropic, ProxyWire::Messages) | (Provider::Ollama, ProxyWire::Ollama) => true,
            _ => false,
        }
    }

    fn destination(
        &self,
        wire: ProxyWire,
        request: &RoutedRequest<'_>,
    ) -> std::result::Result<Destination, ProxyRefusal> {
        let name = &self.config.name;
        if !self.has_wire(wire) {
            let message = format!("model {name:?} of lepo's configuration does not speak {}", wire.title());
            return Err(ProxyRefusal::new(StatusCode::BAD_REQUEST, message));
        }
        let key = &self.config.key;
        // Its start needs a comparison of changed files first, and perhaps a question.
        if key.value.is_none() && !key.command.is_empty() {
            let message = format!(
                "model {name:?} of lepo's configuration has its key from a program, which the proxy does not start: \
                 api_key_env can name a variable"
            );
            return Err(ProxyRefusal::new(StatusCode::BAD_GATEWAY, message));
        }
        // Without the token, another user of this machine could spend the key's money.
        if key.value.is_some() && request.client_key != ClientKey::Token {
            let message =
                format!("model {name:?} of lepo's configuration needs the token of this proxy as key");
            return Err(ProxyRefusal::new(StatusCode::UNAUTHORIZED, message));
        }
        let key = key_header(&self.config)
            .map_err(|error| ProxyRefusal::new(StatusCode::BAD_GATEWAY, error.chain()))?;
        let mut url = self.base.clone();
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty();
            if wire == ProxyWire::Messages && self.base.path().trim_end_matches('/').ends_with("/v1") {
                segments.pop();
            }
            segments.extend(wire.endpoint());
        }
        url.set_query(request.query);
        let model = (self.config.model != *name).then(|| self.config.model.clone());
        Ok(Destination { url, base: self.base.clone(), key: DestinationKey::Lepo(key), model })
    }
}

/// Returns OpenAI's key in the header of clients for Azure.
fn azure_key((_, value): &KeyHeader) -> Option<KeyHeader> {
    let mut value = HeaderValue::from_bytes(value.as_bytes().strip_prefix(b"Bearer ")?).ok()?;
    value.set_sensitive(true);
    Some((HeaderName::from_static("api-key"), value))
}

fn read_upstream(text: &str) -> Result<String> {
    base_url(text).map_err(|why| {
        Error::usage(format!("--upstream {text} {why}")).hint("an address is like http://localhost:8080")
    })
}

/// Returns the address without the `/v1` at its end, which the paths of clients have.
fn without_version(text: &str) -> Option<Url> {
    let text = text.trim_end_matches('/');
    Url::parse(text.strip_suffix("/v1").unwrap_or(text)).ok()
}

/// Appends a request's own path to an address.
fn below(base: &Url, path: &str, query: Option<&str>) -> Url {
    let mut url = base.clone();
    url.set_path(&format!("{}{path}", base.path().trim_end_matches('/')));
    url.set_query(query);
    url
}

#[cfg(test)]
mod tests {
    use super::*;
    use lepo_model::ApiKey;

    fn table(variables: &[(&str, &str)], upstream: Option<&str>) -> UpstreamTable {
        let server = |name: &str, provider, base: &str, key: Option<&str>| ModelConfig {
            base_url: base.to_string(),
            model: format!("{name}-real"),
            key: ApiKey { value: key.map(Secret::new), ..ApiKey::default() },
            ..ModelConfig::new(name, provider)
        };
        let models = [
            server("mine", Provider::Openai, "http://m.example/v1", Some("k1")),
            server("free", Provider::Openai, "http://f.example/v1", None),
            server("son", Provider::Anthropic, "http://s.example", Some("k2")),
            server("qw", Provider::Ollama, "http://q.example/", None),
            ModelConfig::new("prog", Provider::Cli),
            ModelConfig {
                base_url: "http://p.example/v1".to_string(),
                key: ApiKey { command: vec!["pass".to_string()], ..ApiKey::default() },
                ..ModelConfig::new("passed", Provider::Openai)
            },
        ];
        UpstreamTable::read(&Env::from_pairs(variables), &models, upstream).unwrap()
    }

    /// The address, and the key or what the client sent.
    fn chosen(table: &UpstreamTable, path: &str, model: &str, key: ClientKey) -> (String, String) {
        let wire = ProxyWire::from_path(path);
        let headers = HeaderMap::new();
        let (path, query) = path.split_once('?').map_or((path, None), |(path, query)| (path, Some(query)));
        let model = wire.map(|_| model);
        let request = RoutedRequest { wire, model, path, query, headers: &headers, client_key: key };
        match table.choose(&request) {
            Ok(to) => {
                let key = match to.key {
                    DestinationKey::Client => "client".to_string(),
                    DestinationKey::Lepo(None) => "none".to_string(),
                    DestinationKey::Lepo(Some((name, value))) => {
                        format!("{name}: {}", value.to_str().unwrap())
                    }
                };
                (to.url.to_string(), key)
            }
            Err(refusal) => (refusal.status.as_u16().to_string(), String::new()),
        }
    }

    #[test]
    fn a_request_goes_to_its_model_the_address_or_the_provider() {
        use ClientKey::{Absent, Own, Token};
        let bare = table(&[], None);
        let keyed = table(
            &[
                ("OPENAI_BASE_URL", "http://o.example/pre/v1"),
                ("CODEX_API_KEY", "c"),
                ("OPENAI_API_KEY", "o"),
                ("ANTHROPIC_AUTH_TOKEN", "t"),
                ("OLLAMA_HOST", "box:1"),
            ],
            None,
        );
        let given = table(
            &[("OPENAI_BASE_URL", "http://o.example/v1"), ("ANTHROPIC_API_KEY", "a")],
            Some("http://u.example/v1/"),
        );
        for (table, path, model, key, url, sent) in [
            (
                &bare,
                "/v1/chat/completions",
                "gpt",
                Own,
                "https://api.openai.com/v1/chat/completions",
                "client",
            ),
            (&bare, "/v1/responses", "gpt", Token, "https://api.openai.com/v1/responses", "none"),
            (&bare, "/v1/messages", "c", Absent, "https://api.anthropic.com/v1/messages", "client"),
            (&bare, "/api/chat", "l", Token, "http://127.0.0.1:11434/api/chat", "none"),
            (&bare, "/api/tags", "", Absent, "http://127.0.0.1:11434/api/tags", "client"),
            (&bare, "/v1/models", "", Token, "https://api.openai.com/v1/models", "none"),
            (
                &keyed,
                "/v1/chat/completions",
                "gpt",
                Token,
                "http://o.example/pre/v1/chat/completions",
                "api-key: o",
            ),
            (
                &keyed,
                "/v1/messages",
                "c",
                Token,
                "https://api.anthropic.com/v1/messages",
                "authorization: Bearer t",
            ),
            (&keyed, "/api/chat", "l", Own, "http://box:1/api/chat", "client"),
            (&given, "/v1/messages", "c", Token, "http://u.example/v1/messages", "x-api-key: a"),
            (&given, "/v1/chat/completions", "g", Own, "http://u.example/v1/chat/completions", "client"),
            (
                &bare,
                "/v1/chat/completions",
                "mine",
                Token,
                "http://m.example/v1/chat/completions",
                "authorization: Bearer k1",
            ),
            (
                &bare,
                "/v1/responses",
                "mine",
                Token,
                "http://m.example/v1/responses",
                "authorization: Bearer k1",
            ),
            (&bare, "/chat/completions", "mine", Own, "401", ""),
            (&bare, "/v1/chat/completions", "free", Own, "http://f.example/v1/chat/completions", "none"),
            (&bare, "/v1/messages", "son", Token, "http://s.example/v1/messages", "x-api-key: k2"),
            (&bare, "/v1/messages", "mine", Token, "400", ""),
            (&bare, "/v1/chat/completions", "passed", Token, "502", ""),
            (&bare, "/api/chat", "qw", Absent, "http://q.example/api/chat", "none"),
            (&bare, "/api/chat", "prog", Absent, "http://127.0.0.1:11434/api/chat", "client"),
        ] {
            assert_eq!(
                chosen(table, path, model, key),
                (url.to_string(), sent.to_string()),
                "{path} {model} {key:?}"
            );
        }
    }

    #[test]
    fn an_address_that_is_none_is_named() {
        let read = |upstream| UpstreamTable::read(&Env::default(), &[], Some(upstream));
        for upstream in ["localhost:8080", "ftp://x", "http://u:p@x"] {
            assert!(
                read(upstream).err().is_some_and(|error| error.chain().contains("--upstream")),
                "{upstream}"
            );
        }
    }
}
