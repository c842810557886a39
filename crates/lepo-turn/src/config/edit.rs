//! Edits the user's `config.toml`, preserving comments and layout. The text is checked before and after each
//! edit, so that lepo never writes a file that it would refuse to read.

use std::path::Path;

use toml_edit::{Array, ArrayOfTables, DocumentMut, Item, Table, TableLike, Value};

use super::Settings;
use super::entry::KeyEntry;
use super::file::ConfigFile;
use super::models::complete;
use super::write::replace;
use lepo_base::env::Env;
use lepo_base::error::{Error, Result};
use lepo_base::hash_file::read_if_there;
use lepo_base::hint::{Hint, HintCommand};
use lepo_base::keyword::Keyword;
use lepo_model::{ModelConfig, Provider};
use lepo_tool::ToolMode;

/// A model to be added to a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewModel {
    /// Name for `-m`.
    pub name: String,
    /// Provider of the model.
    pub provider: Provider,
    /// The provider's name for the model, if the provider has named models.
    pub model: Option<String>,
    /// URL of the server, if not the provider's default.
    pub base_url: Option<String>,
    /// Source of its key. A literal key is written into the file.
    pub key: KeyEntry,
    /// Whether the model becomes the active one.
    pub is_active: bool,
}

/// Makes a model of the file the active one. Exit 2 if the file does not have it.
pub fn set_active(path: &Path, name: &str) -> Result<()> {
    change(path, |document| {
        if activate(document, name) {
            return Ok(());
        }
        Err(Error::usage(format!("no model \"{name}\" in {}", path.display())).hint(
            Hint::from(HintCommand::Models)
                .text(" lists the models; this file is the only one that is changed"),
        ))
    })
}

/// Sets `tool_call_mode`; creates the file if necessary. Exit 2 for `off`, which cannot be a default.
pub fn set_tool_mode(path: &Path, mode: ToolMode) -> Result<()> {
    change(path, |document| {
        put(document.as_table_mut(), "tool_call_mode", mode.as_str().into());
        Ok(())
    })
}

/// Appends a model; creates the file if necessary. If the file has a model of this name, returns false and
/// writes nothing.
pub fn add_model(path: &Path, model: &NewModel) -> Result<bool> {
    let old = text_of(path)?;
    match with_model(path, &old, model)? {
        Some(new) => replace(path, new.as_bytes()).map(|()| true),
        None => Ok(false),
    }
}

/// Removes a model; the comments before it remain. If the file has no model of this name, returns false and
/// writes nothing.
pub fn remove_model(path: &Path, name: &str) -> Result<bool> {
    let mut is_removed = false;
    change(path, |document| {
        is_removed = pull(document, name);
        Ok(())
    })?;
    Ok(is_removed)
}

/// Returns the text of a file with the model added; `None` if it has a model of this name.
pub(super) fn with_model(path: &Path, text: &str, model: &NewModel) -> Result<Option<String>> {
    let file = ConfigFile::parse(path, text.as_bytes())?;
    if file.models.iter().any(|entry| entry.config.name == model.name) {
        return Ok(None);
    }
    changed(path, text, |document| push(document, model)).map(Some)
}

/// Returns the text of a file with a setting of its root added or changed.
pub(super) fn with_setting(path: &Path, text: &str, key: &str, word: &str) -> Result<String> {
    changed(path, text, |document| {
        put(document.as_table_mut(), key, word.into());
        Ok(())
    })
}

/// Returns a file's text, empty if the file does not exist.
pub(super) fn text_of(path: &Path) -> Result<String> {
    let bytes = read_if_there(path)?.unwrap_or_default();
    ConfigFile::parse(path, &bytes)?;
    // The parser has checked that it is UTF-8.
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Changes the text of a file, and checks it before and after.
pub(super) fn change(path: &Path, edit: impl FnOnce(&mut DocumentMut) -> Result<()>) -> Result<()> {
    let old = text_of(path)?;
    let new = changed(path, &old, edit)?;
    match new == old {
        true => Ok(()),
        false => replace(path, new.as_bytes()),
    }
}

fn changed(path: &Path, text: &str, edit: impl FnOnce(&mut DocumentMut) -> Result<()>) -> Result<String> {
    let mut document: DocumentMut = text
        .parse()
        .map_err(|_| Error::usage(format!("cannot change {}", path.display())).hint("change it by hand"))?;
    edit(&mut document)?;
    let new = document.to_string();
    ConfigFile::parse(path, new.as_bytes())?;
    Ok(new)
}

/// Returns the tables of `models`, written as `[[models]]` or inline.
fn models(document: &mut DocumentMut) -> Vec<&mut dyn TableLike> {
    match document.get_mut("models") {
        Some(Item::ArrayOfTables(tables)) => {
            tables.iter_mut().map(|table| table as &mut dyn TableLike).collect()
        }
        Some(Item::Value(Value::Array(array))) => array
            .iter_mut()
            .filter_map(Value::as_inline_table_mut)
            .map(|table| table as &mut dyn TableLike)
            .collect(),
        _ => Vec::new(),
    }
}

/// Returns false if no model has this name.
fn activate(document: &mut DocumentMut, name: &str) -> bool {
    let mut found = false;
    for table in models(document) {
        let is_it = table.get("name").and_then(Item::as_str) == Some(name);
        if is_it || table.contains_key("active") {
            put(table, "active", is_it.into());
        }
        found |= is_it;
    }
    found
}

/// Replaces a value, preserving the spaces and comments around it, or appends it.
pub(super) fn put(table: &mut dyn TableLike, key: &str, mut value: Value) {
    match table.get_mut(key).and_then(Item::as_value_mut) {
        Some(old) => {
            *value.decor_mut() = old.decor().clone();
            *old = value;
        }
        None => {
            table.insert(key, Item::Value(value));
        }
    }
}

/// Returns false if no model has this name.
fn pull(document: &mut DocumentMut, name: &str) -> bool {
    let is_it = |table: &dyn TableLike| table.get("name").and_then(Item::as_str) == Some(name);
    let (mut comments, mut is_last) = (String::new(), false);
    match document.get_mut("models") {
        Some(Item::ArrayOfTables(tables)) => {
            let Some(index) = tables.iter().position(|table| is_it(table)) else { return false };
            let prefix =
                |table: &Table| table.decor().prefix().and_then(|text| text.as_str()).map(str::to_string);
            comments =
                tables.get(index).and_then(prefix).filter(|text| text.contains('#')).unwrap_or_default();
            tables.remove(index);
            is_last = tables.is_empty();
            if let Some(next) = tables.get_mut(index).filter(|_| !comments.is_empty()) {
                let before = prefix(next).unwrap_or_default();
                next.decor_mut().set_prefix(std::mem::take(&mut comments) + &before);
            }
        }
        Some(Item::Value(Value::Array(array))) => {
            let is_named = |value: &Value| value.as_inline_table().is_some_and(|table| is_it(table));
            let Some(index) = array.iter().position(is_named) else { return false };
            array.remove(index);
        }
        _ => return false,
    }
    if is_last {
        document.remove("models");
    }
    if !comments.is_empty() {
        let after = document.trailing().as_str().unwrap_or_default().to_string();
        document.set_trailing(comments + &after);
    }
    true
}

fn push(document: &mut DocumentMut, model: &NewModel) -> Result<()> {
    let mut table = Table::new();
    let text = |text: &Option<String>| text.clone().map(Value::from);
    let values = [
        ("name", Some(model.name.clone().into())),
        ("provider", Some(model.provider.as_str().into())),
        ("model", text(&model.model)),
        ("base_url", text(&model.base_url)),
        match &model.key {
            KeyEntry::None => ("api_key", None),
            KeyEntry::Literal(key) => ("api_key", Some(key.reveal().into())),
            KeyEntry::Env(variable) => ("api_key_env", Some(variable.clone().into())),
            KeyEntry::Command(words) => ("api_key_command", Some(words.iter().collect::<Array>().into())),
        },
    ];
    for (key, value) in values {
        if let Some(value) = value {
            put(&mut table, key, value);
        }
    }
    match document.entry("models").or_insert(Item::ArrayOfTables(ArrayOfTables::new())) {
        Item::Value(Value::Array(array)) => array.push(table.into_inline_table()),
        Item::ArrayOfTables(tables) => {
            tables.push(table);
        }
        _ => return Err(Error::usage("`models` is not a list of tables")),
    }
    if model.is_active {
        activate(document, &model.name);
    }
    Ok(())
}

/// Returns the model as the user's file would define it; `None` if the file has a model of this name.
pub fn planned_model(settings: &Settings, model: &NewModel, env: &Env) -> Result<Option<ModelConfig>> {
    let file = &settings.file;
    let Some(text) = with_model(file, &text_of(file)?, model)? else { return Ok(None) };
    let entries = ConfigFile::parse(file, text.as_bytes())?.models;
    let Some(entry) = entries.into_iter().find(|entry| entry.config.name == model.name) else {
        return Ok(None);
    };
    complete(entry, env, &settings.ambient).map(Some)
}
