//! The known fields of a new model, each validated.

use lepo_base::error::{Error, Result};
use lepo_base::keyword::{Keyword, parse_keyword};
use lepo_model::{BASE_URL_FORM, Provider, ProviderFields, base_url};
use lepo_turn::config::{KeyEntry, Settings};

#[derive(Default)]
pub struct PartialModel {
    /// Name for `-m`.
    pub name: Option<String>,
    pub provider: Option<Provider>,
    /// The provider's name for the model.
    pub model: Option<String>,
    pub base_url: Option<String>,
    pub key: Option<KeyEntry>,
    /// Whether it becomes the active model even if another one is active.
    pub is_used: bool,
}

pub fn no_server(provider: Provider) -> Error {
    let error = Error::usage(format!("a model of provider {} cannot be added this way", provider.as_str()));
    match provider.fields() {
        ProviderFields::Program => {
            error.hint("lepo-config(5) says how a program is configured; -m claude needs no configuration")
        }
        ProviderFields::Agent => error
            .hint("lepo-config(5) says how an agent is configured; -m acp:opencode needs no configuration"),
        ProviderFields::Weights | ProviderFields::Server(_) => {
            error.hint("`lepo model get`, then `lepo model use smollm2-135m`")
        }
    }
}

/// Fails if a name is taken or invalid.
pub fn check_name(settings: &Settings, name: &str) -> Result<()> {
    if name.trim().is_empty() || name.trim() != name || name.contains(',') {
        return Err(Error::usage(format!("{name:?} is not a valid model name"))
            .hint("use a name without commas, and without spaces around it"));
    }
    let has_it = settings.models.iter().any(|model| model.name == name);
    if has_it { Err(name_taken(settings, name)) } else { Ok(()) }
}

pub fn name_taken(settings: &Settings, name: &str) -> Error {
    Error::usage(format!("a model named {name} already exists in {}", settings.file.display()))
        .hint(format!("choose another name, or make it active: lepo model use {name}"))
}

pub fn checked_url(text: &str) -> Result<String> {
    base_url(text).map_err(|what| {
        let hint = with_scheme(text).unwrap_or_else(|| BASE_URL_FORM.to_string());
        Error::usage(format!("the address {text} {what}")).hint(hint)
    })
}

/// Adds `http://` to an address without a scheme; `None` if the result is not a base URL.
pub fn with_scheme(text: &str) -> Option<String> {
    let is_host = !text.contains("://") && text.contains(['.', ':']);
    is_host.then(|| base_url(&format!("http://{text}")).ok()).flatten()
}

pub fn provider_of(text: &str) -> Option<Provider> {
    parse_keyword(text, Provider::ALL)
}
