//! //! The configuration of a model that is about to be added, before anything is written.

use super::Settings;
use super::edit::{NewModel, text_of, with_model};
use super::file::ConfigFile;
use super::models::complete;
use lepo_base::env::Env;
use lepo_base::error::Result;
use lepo_model::ModelConfig;

/// Returns the model as the user's file would define it; `None` if the file has a model of this name.
pub fn planned_model(settings: &Settings, model: &NewModel, env: &Env) -> Result<Option<ModelConfig>> {
    let file = &settings.file;
    let Some(text) = with_model(file, &text_of(file)?, model)? else { return Ok(None) };
    let entries = ConfigFile::parse(file, text.as_bytes())?.models;
    let Some(entry) = entries.into_iter().find(|entry| entry.name == model.name) else { return Ok(None) };
    complete(entry, env, &settings.ambient).map(Some)
}
