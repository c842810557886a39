//! The models there are to choose from: `lepo model ls` and `/set-model`.

use std::collections::HashMap;

use serde_json::{Map, Value, json};

use crate::term::{Line, say};
use lepo_base::env::Env;
use lepo_base::error::Result;
use lepo_base::word::Word;
use lepo_model::weights::{self, SMOLLM2};
use lepo_model::{ModelConfig, Provider, embedded_program};
use lepo_model::{ModelFacts, Options, known_window, offered_before};
use lepo_turn::config::{self, Flags, KeyEntry, NewModel, Paths, Prices, Settings, load_settings};
use lepo_turn::recorded::options_json;

/// A model to choose, and what there is to know of it.
pub struct ListedModel {
    /// Name for `-m`.
    pub name: String,
    provider: Provider,
    /// The provider's name for it; empty where it has none.
    model: String,
    /// Its window in tokens, as it is configured or was told last.
    window: Option<u64>,
    /// The configured options of its requests.
    options: Options,
    /// The model answers when nothing else is said.
    pub active: bool,
    /// The place that configures it.
    configured: Option<String>,
    /// Of an embedded one: its weights are there.
    installed: Option<bool>,
}

/// The configured models; then the embedded one and those that were added, if they are not among them.
pub fn listed_models(settings: &Settings, paths: &Paths) -> Vec<ListedModel> {
    let has_program = embedded_program().is_some();
    let is_installed = |name: &str| has_program && weights::of_model(&paths.models(), name).is_some();
    let configured = settings.models.iter().map(|model| ListedModel {
        name: model.name.clone(),
        provider: model.provider,
        model: model.model.clone(),
        window: known_window(model, &paths.state),
        options: model.options.clone(),
        active: model.active,
        configured: Some(settings.source(&format!("models.{}", model.name)).to_string()),
        installed: (model.provider == Provider::Embedded).then(|| is_installed(&model.model)),
    });
    let embedded = ListedModel {
        name: SMOLLM2.name.to_string(),
        provider: Provider::Embedded,
        model: String::new(),
        window: None,
        options: Options::default(),
        active: false,
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
        options: Options::default(),
        active: false,
        configured: None,
        installed: Some(has_program),
    });
    configured.chain(missing).chain(added).collect()
}

/// The models that the server of `PROVIDER:` offered within the last hour, each as `PROVIDER:MODEL` with what
/// is known of it. Nothing is asked.
pub fn offered_names(settings: &Settings, paths: &Paths, begun: &str) -> Vec<(String, String)> {
    let Some((word, _)) = begun.split_once(':') else { return Vec::new() };
    let Ok(config) = settings.server_of(&format!("{word}:")) else { return Vec::new() };
    let models = offered_before(&config, &paths.state).into_iter();
    models.map(|model| (format!("{word}:{}", model.id), offered_line(&model))).collect()
}

/// The window of each configured model that is known, by the model's name, and the prices of tokens. Nothing is asked;
/// settings that cannot be read have neither.
pub fn known_models() -> (HashMap<String, u64>, Prices) {
    let Some((settings, paths)) = user_settings() else { return Default::default() };
    let window = |model: &ModelConfig| Some((model.name.clone(), known_window(model, &paths.state)?));
    (settings.models.iter().filter_map(window).collect(), settings.prices())
}

/// The prices of tokens; none from settings that cannot be read.
pub fn known_prices() -> Prices {
    user_settings().map(|(settings, _)| settings.prices()).unwrap_or_default()
}

fn user_settings() -> Option<(Settings, Paths)> {
    let env = Env::from_process();
    let paths = Paths::from_env(&env).ok()?;
    Some((load_settings(&paths, &env, None, &Flags::default()).ok()?, paths))
}

/// A model that a server offers, on one line: `ID`, then its window, its size and what it can do, where told.
pub fn offered_line(model: &ModelFacts) -> String {
    let mut words = vec![model.id.clone()];
    words.extend(model.context.map(|tokens| format!("{tokens} tokens")));
    words.extend(model.size.map(|bytes| format!("{:.1} GB", bytes as f64 / 1e9)));
    words.extend((!model.capabilities.is_empty()).then(|| model.capabilities.join(",")));
    words.join(" ")
}

impl ListedModel {
    /// `NAME PROVIDER MODEL`.
    pub fn line(&self) -> String {
        let model = if self.model.is_empty() { "-" } else { &self.model };
        format!("{} {} {model}", self.name, self.provider.word())
    }

    /// State of the model, shown behind its line: ` active`, ` not installed`.
    pub fn state(&self) -> &'static str {
        match (self.active, self.installed, &self.configured) {
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

    /// The document of it.
    pub fn document(&self) -> Value {
        let mut document = json!({
            "name": self.name,
            "provider": self.provider.word(),
            "model": self.model,
            "window": self.window,
            "options": options_json(&self.options, &Map::new()).unwrap_or_else(|| json!({})),
            "active": self.active,
            "configured": self.configured,
        });
        if let Some(installed) = self.installed {
            document["installed"] = installed.into();
        }
        document
    }
}

/// Makes a model the active one, in the user's file; the embedded one is added to it if need be.
pub fn activate_model(settings: &Settings, paths: &Paths, name: &str) -> Result<()> {
    let known = settings.models.iter().any(|model| model.name == name);
    if !known && weights::named(&paths.models(), name).is_some() {
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
    if embedded.is_some_and(|model| weights::of_model(&paths.models(), &model).is_none()) {
        say(&Line::note("its weights are not installed yet: lepo model get"));
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
        active: true,
    }
}

/// The configured embedded model.
pub fn embedded_in(settings: &Settings) -> Option<&ModelConfig> {
    settings.models.iter().find(|model| model.provider == Provider::Embedded)
}
