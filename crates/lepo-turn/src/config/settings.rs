//! Merges the settings: defaults < user file < trusted repo file < environment < flags; and lists them.

use std::path::PathBuf;

use super::Paths;
use super::alias::Alias;
use super::ambient::Ambient;
use super::file::ConfigFile;
use super::flags::Flags;
use super::mistake::Mistake;
use super::models::{complete, merge};
use super::money::may_replace;
use super::reader::ConfigReader;
use super::source::{SettingSource, SourcedValue};
use super::table::{NAMES, Settings, VARIABLES};
use super::tree::SettingTable;
use lepo_base::env::{Env, expand_home};
use lepo_base::error::{Error, Result};
use lepo_base::hash_file::read_if_there;
use lepo_base::keyword::Keyword;
use lepo_model::{ModelConfig, Provider};

/// The variable that names the model that answers.
const MODEL: &str = "LEPO_MODEL";

/// A setting in effect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingRow {
    /// `max_rounds`, `http.idle_timeout`, `models.gpt`.
    pub name: String,
    /// The value in readable form; durations in seconds, empty if unset.
    pub value: String,
    /// Source of the value.
    pub source: SettingSource,
    /// The allowed values, if they can be listed or have bounds.
    pub allowed: Option<String>,
}

/// Reads the user's file (or `--config`) and applies the other sources over it. `repo` is a trusted
/// `.lepo/_config.toml`: its path and bytes. Exit 2 for any error.
pub fn load_settings(
    paths: &Paths,
    env: &Env,
    repo: Option<(PathBuf, Vec<u8>)>,
    flags: &Flags,
) -> Result<Settings> {
    let file = flags.config.clone().unwrap_or_else(|| paths.config_file());
    let user = match read_if_there(&file)? {
        Some(bytes) => ConfigFile::parse(&file, &bytes)?,
        None if flags.config.is_none() => ConfigFile::default(),
        None => {
            let what = format!("no configuration file {}", file.display());
            return Err(Error::usage(what).hint("name one that exists after --config"));
        }
    };
    let repo = match repo {
        Some((path, bytes)) => ConfigFile::parse(&path, &bytes)?.check_repository()?,
        None => ConfigFile::default(),
    };
    // Collects the variables of every file, and of models that another file overrides: no command may inherit
    // a key.
    let mut keys: Vec<String> = user.key_variables().chain(repo.key_variables()).collect();
    if flags.config.is_some()
        && let Some(bytes) = read_if_there(&paths.config_file())?
        && let Ok(usual) = ConfigFile::parse(&paths.config_file(), &bytes)
    {
        keys.extend(usual.key_variables());
    }
    let (mut table, mut above) = (user.table, repo.table);
    for (name, theirs, own) in [
        ("budget.turn", repo.settings.budget_turn, user.settings.budget_turn),
        ("budget.day", repo.settings.budget_day, user.settings.budget_day),
    ] {
        if !may_replace(theirs, own) {
            above.remove(name);
        }
    }
    table.merge(above);
    let mut settings = Settings { file, ..read_layers(table, env, flags)? };
    let folders = settings.sandbox_read_only.into_iter();
    let folders =
        folders.map(|path| expand_home(path, paths.home.as_deref())).filter(|path| path.is_absolute());
    settings.sandbox_read_only = folders.collect();
    settings.ambient = Ambient::from_env(env)?.asking(&flags.options).with_weights(paths.models());
    for entry in merge(user.models, repo.models) {
        settings.sources.insert(format!("models.{}", entry.config.name), entry.source.clone());
        let model = complete(entry, env, &settings.ambient)?;
        let options = flags.options.clone().or(model.options);
        settings.models.push(ModelConfig { options, ..model });
    }
    let servers = Provider::ALL.iter().filter_map(|provider| provider.server());
    let usual = servers.flat_map(|facts| facts.key_env).map(|(name, _)| name.to_string());
    keys.splice(..0, usual);
    Ok(Settings { key_variables: keys, aliases: user.aliases, price_table: user.prices, ..settings })
}

/// Reads the settings of the files, and applies the variables and the options over them.
fn read_layers(mut table: SettingTable, env: &Env, flags: &Flags) -> Result<Settings> {
    for (name, variable) in VARIABLES {
        if let Some(word) = env.text(variable)? {
            table.set_word(name, variable, word);
        }
    }
    let mut settings: Settings = ConfigReader::root(&table).read(NAMES).map_err(Mistake::file_error)?;
    for name in NAMES {
        settings.sources.extend(table.source(name).map(|source| (name.to_string(), source.clone())));
    }
    settings.set_flags(flags);
    let wanted = env.text(MODEL)?.map(|name| (name.to_string(), SettingSource::Env(MODEL)));
    let option = flags.model.clone().map(|name| (name, SettingSource::Flag("--model")));
    if let Some((name, source)) = option.or(wanted) {
        settings.requested_model = Some(name);
        settings.sources.insert("model".to_string(), source);
    }
    Ok(settings)
}

/// Returns every setting and every model in the order of the manual, as `lepo config` prints them. Contains
/// no keys; a model's program is listed without its arguments, since an argument may be a key.
pub fn setting_lines(settings: &Settings) -> Vec<SettingRow> {
    let none = SourcedValue { value: String::new(), source: SettingSource::Default };
    let SourcedValue { value, source } = settings.chosen_model().unwrap_or(none);
    let model = SettingRow { name: "model".into(), value, source, allowed: None };
    let line = |(name, value, allowed): (String, String, Option<String>)| {
        let source = settings.source(&name).clone();
        SettingRow { name, value, source, allowed }
    };
    let shown =
        settings.values().into_iter().map(|(name, value, allowed)| (name.to_string(), value, allowed));
    let models = settings.models.iter().map(|model| (format!("models.{}", model.name), about(model), None));
    let alias = |alias: &Alias| SettingRow {
        name: format!("alias.{}", alias.name),
        value: alias.text.clone(),
        source: alias.source.clone(),
        allowed: None,
    };
    let aliases = settings.aliases.iter().map(alias);
    [model].into_iter().chain(shown.chain(models).map(line)).chain(aliases).collect()
}

fn about(model: &ModelConfig) -> String {
    let mut parts = vec![model.provider.as_str().to_string()];
    parts.extend(model.command.first().cloned());
    if !model.model.is_empty() {
        parts.push(model.model.clone());
    }
    if !model.base_url.is_empty() {
        parts.push(format!("at {}", model.base_url));
    }
    let mut text = parts.join(" ");
    match (&model.key.value, model.key.looked_for.is_empty()) {
        (Some(_), _) => text.push_str(", with a key"),
        (None, false) => text.push_str(", its key is missing"),
        (None, true) => {}
    }
    if model.is_active {
        text.push_str(", active");
    }
    text
}
