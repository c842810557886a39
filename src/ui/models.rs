//! The models to choose from: `lepo model ls` and `/set-model`.

use std::collections::HashMap;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::term::{StatusLine, print_status};
use lepo_base::env::Env;
use lepo_base::error::Result;
use lepo_base::keyword::Keyword;
use lepo_model::weights::{self, SMOLLM2};
use lepo_model::{ModelConfig, Provider, embedded_program};
use lepo_model::{ModelFacts, ModelOptions, known_window, offered_before};
use lepo_turn::config::{
    self, Flags, KeyEntry, MathNotation, NewModel, PagerChoice, Paths, Prices, Settings, load_settings,
};
use lepo_turn::recorded::options_json;

/// A model to choose, with the known facts about it.
pub struct ListedModel {
    /// Name for `-m`.
    pub name: String,
    provider: Provider,
    /// The provider's name for the model; empty if it has none.
    model: String,
    /// The context window in tokens, as configured or as last reported by the server.
    window: Option<u64>,
    options: ModelOptions,
    /// Whether this model answers by default.
    pub is_active: bool,
    /// The configuration file or variable that defines the model.
    configured: Option<String>,
    /// Whether the weights of an embedded model exist.
    installed: Option<bool>,
}

/// Lists the configured models, then the embedded model and the added weights that are not configured.
pub fn listed_models(settings: &Settings, paths: &Paths) -> Vec<ListedModel> {
    let has_program = embedded_program().is_some();
    let is_installed = |name: &str| has_program && weights::model_path(&paths.models(), name).is_some();
    let configured = settings.models.iter().map(|model| ListedModel {
        name: model.name.clone(),
        provider: model.provider,
        model: model.model.clone(),
        window: known_window(model, &paths.state),
        options: model.options.clone(),
        is_active: model.is_active,
        configured: Some(settings.source(&format!("models.{}", model.name)).to_string()),
        installed: (model.provider == Provider::Embedded).then(|| is_installed(&model.model)),
    });
    let embedded = ListedModel {
        name: SMOLLM2.name.to_string(),
        provider: Provider::Embedded,
        model: String::new(),
        window: None,
        options: ModelOptions::default(),
        is_active: false,
        configured: None,
        installed: Some(is_installed("")),
    };
    let missing = embedded_in(settings).is_none().then_some(embedded);
    let is_known = |name: &String| {
        settings.models.iter().any(|model| model.provider == Provider::Embedded && model.model == *name)
    };
    let added = weights::names(&paths.models()).into_iter().filter(|name| !is_known(name));
    let added = added.map(|name| ListedModel {
        model: name.clone(),
        name,
        provider: Provider::Embedded,
        window: None,
        options: ModelOptions::default(),
        is_active: false,
        configured: None,
        installed: Some(has_program),
    });
    configured.chain(missing).chain(added).collect()
}

/// Returns the models that the server of `PROVIDER:` offered within the last hour, each as `PROVIDER:MODEL` with
/// its facts, without a request.
pub fn offered_names(settings: &Settings, paths: &Paths, prefix: &str) -> Vec<(String, String)> {
    let Some((word, _)) = prefix.split_once(':') else { return Vec::new() };
    let Ok(config) = settings.server_of(&format!("{word}:")) else { return Vec::new() };
    let models = offered_before(&config, &paths.state).into_iter();
    models.map(|model| (format!("{word}:{}", model.id), offered_line(&model))).collect()
}

/// Whether `lepo model rm` removes an entry of the user's file: `lepo model add` could have written it.
pub fn is_removable(model: &ModelConfig) -> bool {
    model.provider.server().is_some() || model.provider == Provider::Embedded
}

/// Returns what `lepo model rm` removes, each with a description: entries of the user's file, and weights.
pub fn removable_models(settings: &Settings, paths: &Paths) -> Vec<(String, String)> {
    let weights = weights::names(&paths.models());
    let entries = settings.models.iter().filter(|model| is_removable(model));
    // Weights are removed before an entry of the same name.
    let entries = entries.filter(|model| !weights.contains(&model.name));
    let entries =
        entries.map(|model| (model.name.clone(), format!("{} {}", model.provider.as_str(), model.model)));
    entries.chain(weights.iter().map(|name| (name.clone(), "weights".to_string()))).collect()
}

/// Returns the known windows by the names of the configured models, and the prices of tokens, without a request;
/// both empty if the settings cannot be read.
pub fn known_models() -> (HashMap<String, u64>, Prices) {
    let Some((settings, paths)) = user_settings() else { return Default::default() };
    let window = |model: &ModelConfig| Some((model.name.clone(), known_window(model, &paths.state)?));
    (settings.models.iter().filter_map(window).collect(), settings.prices())
}

/// Returns the prices of tokens and the notation of formulas; the defaults if the settings cannot be read.
pub fn reading_settings() -> (Prices, MathNotation) {
    user_settings().map(|(settings, _)| (settings.prices(), settings.term_math)).unwrap_or_default()
}

/// Returns which commands use a pager; all if the settings cannot be read.
pub fn pager_choice() -> PagerChoice {
    user_settings().map(|(settings, _)| settings.term_pager).unwrap_or_default()
}

fn user_settings() -> Option<(Settings, Paths)> {
    let env = Env::from_process();
    let paths = Paths::from_env(&env).ok()?;
    Some((load_settings(&paths, &env, None, &Flags::default()).ok()?, paths))
}

/// Returns a model that a server offers as one line: `ID`, then window, size and capabilities, if reported.
pub fn offered_line(model: &ModelFacts) -> String {
    let mut parts = vec![model.id.clone()];
    parts.extend(model.context.map(|tokens| format!("{tokens} tokens")));
    parts.extend(model.size.map(|bytes| format!("{:.1} GB", bytes as f64 / 1e9)));
    parts.extend((!model.capabilities.is_empty()).then(|| model.capabilities.join(",")));
    parts.join(" ")
}

impl ListedModel {
    /// Returns `NAME PROVIDER MODEL`.
    pub fn line(&self) -> String {
        self.cells().join(" ")
    }

    /// Returns the name, the provider and the model, `-` for none.
    pub fn cells(&self) -> [&str; 3] {
        let model = if self.model.is_empty() { "-" } else { &self.model };
        [&self.name, self.provider.as_str(), model]
    }

    /// Returns the state, printed after the model's line: ` active`, ` not installed`.
    pub fn state(&self) -> &'static str {
        match (self.is_active, self.installed, &self.configured) {
            (true, Some(false), _) if embedded_program().is_none() => {
                " active, lepo-embedded is not installed"
            }
            (_, Some(false), _) if embedded_program().is_none() => " lepo-embedded is not installed",
            (_, Some(true), None) => " installed, not configured",
            (true, Some(false), _) => " active, not installed",
            (true, ..) => " active",
            (false, Some(false), _) => " not installed",
            (false, ..) => "",
        }
    }

    pub fn document(&self) -> ModelFields<'_> {
        ModelFields {
            name: &self.name,
            provider: self.provider.as_str(),
            model: &self.model,
            window: self.window,
            options: options_json(&self.options, &Map::new()).unwrap_or_else(|| json!({})),
            active: self.is_active,
            configured: self.configured.as_deref(),
            installed: self.installed,
        }
    }
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "model")]
pub struct ModelFields<'d> {
    name: &'d str,
    provider: &'static str,
    model: &'d str,
    /// The context window in tokens, as configured or last reported by the server.
    window: Option<u64>,
    /// The configured options of its requests; empty without any.
    #[schemars(with = "Map<String, Value>")]
    options: Value,
    active: bool,
    /// The file and line that configure it; null for embedded models in no file.
    configured: Option<&'d str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "bool")]
    installed: Option<bool>,
}

/// Makes a model the active one in the user's file; the embedded model is added to it if necessary.
pub fn activate_model(settings: &Settings, paths: &Paths, name: &str) -> Result<()> {
    let known = settings.models.iter().any(|model| model.name == name);
    if !known && weights::find(&paths.models(), name).is_some() {
        return config::add_model(&settings.file, &embedded_model(name, Some(name))).map(|_| ());
    }
    let embedded = if name == SMOLLM2.name && !known {
        config::add_model(&settings.file, &embedded_model(name, None))?;
        Some(String::new())
    } else {
        config::set_active(&settings.file, name)?;
        let of_it = |model: &&ModelConfig| model.name == name && model.provider == Provider::Embedded;
        settings.models.iter().find(of_it).map(|model| model.model.clone())
    };
    if embedded.is_some_and(|model| weights::model_path(&paths.models(), &model).is_none()) {
        print_status(&StatusLine::note("its weights are not installed yet: lepo model get"));
    }
    Ok(())
}

fn embedded_model(name: &str, weights: Option<&str>) -> NewModel {
    NewModel {
        name: name.to_string(),
        provider: Provider::Embedded,
        model: weights.map(str::to_string),
        base_url: None,
        key: KeyEntry::None,
        is_active: true,
    }
}

pub fn embedded_in(settings: &Settings) -> Option<&ModelConfig> {
    settings.models.iter().find(|model| model.provider == Provider::Embedded)
}
