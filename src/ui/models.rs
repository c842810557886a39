//! The models there are to choose from: `lepo model ls` and `/set-model`.

use std::collections::HashMap;

use serde_json::{Value, json};

use crate::config::{self, Flags, ModelConfig, NewModel, Paths, Provider, Settings, Word};
use crate::env::Env;
use crate::error::Result;
use crate::model::weights::{self, SMOLLM2};
use crate::model::{ModelFacts, known_window, offered_before};
use crate::term::say;

/// A model to choose, and what there is to know of it.
pub struct ListedModel {
    /// Its name for `-m`.
    pub name: String,
    provider: Provider,
    /// The provider's name for it; empty where it has none.
    model: String,
    /// It answers when nothing else is said.
    pub active: bool,
    /// The place that configures it.
    configured: Option<String>,
    /// Of an embedded one: its weights are there.
    installed: Option<bool>,
}

/// The configured models; then the embedded one, if it is not among them.
pub fn listed_models(settings: &Settings, paths: &Paths) -> Vec<ListedModel> {
    let installed = is_installed(paths);
    let configured = settings.models.iter().map(|model| ListedModel {
        name: model.name.clone(),
        provider: model.provider,
        model: model.model.clone(),
        active: model.active,
        configured: Some(settings.source(&format!("models.{}", model.name)).to_string()),
        installed: (model.provider == Provider::Embedded).then_some(installed),
    });
    let embedded = ListedModel {
        name: SMOLLM2.name.to_string(),
        provider: Provider::Embedded,
        model: String::new(),
        active: false,
        configured: None,
        installed: Some(installed),
    };
    let missing = embedded_in(settings).is_none().then_some(embedded);
    configured.chain(missing).collect()
}

/// The models that the server of `PROVIDER:` offered within the last hour, each as `PROVIDER:MODEL` with what
/// is known of it. Nothing is asked.
pub fn offered_names(settings: &Settings, paths: &Paths, begun: &str) -> Vec<(String, String)> {
    let Some((word, _)) = begun.split_once(':') else { return Vec::new() };
    let Ok(config) = settings.server_of(&format!("{word}:")) else { return Vec::new() };
    let models = offered_before(&config, &paths.state).into_iter();
    models.map(|model| (format!("{word}:{}", model.id), offered_line(&model))).collect()
}

/// The window of each configured model that is known, by the model's name. Nothing is asked; settings that cannot
/// be read have no models.
pub fn known_windows() -> HashMap<String, u64> {
    let env = Env::from_process();
    let Ok(paths) = Paths::from_env(&env) else { return HashMap::new() };
    let Ok(settings) = Settings::load(&paths, &env, None, &Flags::default()) else { return HashMap::new() };
    let window = |model: &ModelConfig| Some((model.name.clone(), known_window(model, &paths.state)?));
    settings.models.iter().filter_map(window).collect()
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

    /// Its state, behind its line: ` active`, ` not installed`.
    pub fn state(&self) -> &'static str {
        match (self.active, self.installed, &self.configured) {
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
    let embedded = if name == SMOLLM2.name && !known {
        config::add_model(&settings.file, &embedded_model())?;
        true
    } else {
        config::set_active(&settings.file, name)?;
        settings.models.iter().any(|model| model.name == name && model.provider == Provider::Embedded)
    };
    if embedded && !is_installed(paths) {
        say("note: it is not installed yet: lepo model get");
    }
    Ok(())
}

fn embedded_model() -> NewModel {
    NewModel {
        name: SMOLLM2.name.to_string(),
        provider: Provider::Embedded,
        model: None,
        base_url: None,
        api_key: None,
        active: true,
    }
}

/// The configured embedded model.
pub fn embedded_in(settings: &Settings) -> Option<&ModelConfig> {
    settings.models.iter().find(|model| model.provider == Provider::Embedded)
}

/// Its weights are there. The program that reads them comes with lepo.
fn is_installed(paths: &Paths) -> bool {
    weights::installed(&paths.models()).is_some()
}
