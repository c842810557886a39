//! Parses `config.toml`, the user's or a trusted repository's, into settings and models, or returns the first error
//! with its line.

use std::path::Path;

use serde::Deserialize;

use super::Paths;
use super::alias::{Alias, read_aliases};
use super::entry::{KeyEntry, ModelEntry, read_entry};
use super::mistake::Mistake;
use super::price::{PriceEntry, read_price_entry};
use super::reader::ConfigReader;
use super::table::{NAMES, Settings};
use super::tree::SettingTable;
use lepo_base::error::{Error, Result};
use lepo_base::hash_file::read_if_there;

/// The settings and models of a file.
#[derive(Debug, Clone, Default)]
pub struct ConfigFile {
    /// All that the file has, with its sources.
    pub table: SettingTable,
    /// The settings of the file, with defaults for all others.
    pub settings: Settings,
    /// Models in the order of the file. Their names are unique, and at most one is active.
    pub models: Vec<ModelEntry>,
    pub aliases: Vec<Alias>,
    /// Prices in the order of the file.
    pub prices: Vec<PriceEntry>,
}

impl ConfigFile {
    /// Parses the text of a file. Errors name `path` (exit 2).
    pub fn parse(path: &Path, bytes: &[u8]) -> Result<ConfigFile> {
        ConfigFile::read(path, bytes).map_err(Mistake::file_error)
    }

    pub(super) fn read(path: &Path, bytes: &[u8]) -> std::result::Result<ConfigFile, Mistake> {
        let table = SettingTable::parse(path, bytes)?;
        let mut root = ConfigReader::root(&table);
        let settings = root.read(NAMES)?;
        let mut models: Vec<ModelEntry> = Vec::new();
        for reader in root.tables("models")? {
            let source = reader.source.clone();
            let entry = read_entry(reader)?;
            if let Some(twin) = models.iter().find(|other| other.config.name == entry.config.name) {
                let what = format!("model \"{}\" appears twice, first at {}", entry.config.name, twin.source);
                return Err(Mistake::at(source, what, "give each model a name of its own"));
            }
            if let Some(other) = models.iter().find(|other| other.config.is_active && entry.config.is_active)
            {
                let (a, b) = (&other.config.name, &entry.config.name);
                let what = format!("two active models, \"{a}\" and \"{b}\"");
                return Err(Mistake::at(source, what, "leave active = true in one model at most"));
            }
            models.push(entry);
        }
        let aliases = root.any_table("alias")?.map(read_aliases).transpose()?.unwrap_or_default();
        let prices = root.tables("prices")?.into_iter().map(read_price_entry);
        let prices = prices.collect::<std::result::Result<_, _>>()?;
        root.finish()?;
        Ok(ConfigFile { settings, models, aliases, prices, table })
    }
}

impl ConfigFile {
    /// Rejects keys that only the user's own file may have: a repository may not run programs
    /// (`api_key_command`), define aliases, change `secrets` or `keep_removed`, or set prices.
    pub fn check_repository(self) -> Result<ConfigFile> {
        if let Some(alias) = self.aliases.first() {
            let what = format!("{}: `[alias]` is not allowed in a repository's file", alias.source);
            return Err(Error::usage(what).hint("put the alias into your own config.toml"));
        }
        let user_only = ["secrets", "keep_removed"].into_iter();
        if let Some((name, source)) =
            user_only.filter_map(|name| Some((name, self.table.source(name)?))).next()
        {
            let what = format!("{source}: `{name}` is not allowed in a repository's file");
            return Err(Error::usage(what).hint("put it into your own config.toml"));
        }
        if !self.prices.is_empty() || self.models.iter().any(|model| model.config.price.is_some()) {
            let what = "prices are not allowed in a repository's file: budgets are counted by them";
            return Err(Error::usage(what).hint("put [[prices]] into your own config.toml"));
        }
        match self.models.iter().find(|model| matches!(model.key, KeyEntry::Command(_))) {
            None => Ok(self),
            Some(model) => {
                let what =
                    format!("{}: `api_key_command` is not allowed in a repository's file", model.source);
                Err(Error::usage(what).hint("put this model into your own config.toml"))
            }
        }
    }

    /// Returns the variables that contain its models' keys.
    pub fn key_variables(&self) -> impl Iterator<Item = String> {
        self.models.iter().filter_map(|model| match &model.key {
            KeyEntry::Env(name) => Some(name.clone()),
            KeyEntry::None | KeyEntry::Literal(_) | KeyEntry::Command(_) => None,
        })
    }
}

/// Reads the aliases of the user's file.
pub fn aliases(paths: &Paths) -> Result<Vec<Alias>> {
    let file = paths.config_file();
    let Some(bytes) = read_if_there(&file)? else { return Ok(Vec::new()) };
    Ok(ConfigFile::parse(&file, &bytes)?.aliases)
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct RecordedSection {
    recorded: RecordedKeys,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct RecordedKeys {
    ignore: Vec<String>,
}

/// The table `[recorded]` of a store's own `_config.toml`, which counts without trust: all that it does is to make
/// recorded answers found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RecordedTable {
    /// Names and patterns of texts that do not count where requests are compared.
    pub ignore: Vec<String>,
    /// The file has nothing else, so there is nothing to trust.
    pub is_alone: bool,
}

impl RecordedTable {
    /// Reads the table alone. Mistakes elsewhere in the file are ignored, unless it is not TOML; errors name `path` (exit
    /// 2).
    pub fn parse(path: &Path, bytes: &[u8]) -> Result<RecordedTable> {
        let table = SettingTable::parse(path, bytes).map_err(Mistake::file_error)?;
        let mut root = ConfigReader::root(&table);
        let RecordedSection { recorded: RecordedKeys { ignore } } =
            root.read(&["recorded"]).map_err(Mistake::file_error)?;
        Ok(RecordedTable { ignore, is_alone: root.rest().is_empty() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_read_whatever_else_the_file_has() {
        for (text, ignore, is_alone) in [
            ("", &[][..], true),
            ("[recorded]\nignore = ['\\d+', 'system']", &["\\d+", "system"], true),
            ("max_rounds = 'many'\n[recorded]\nignore = ['a']", &["a"], false),
            ("[[models]]\nname = 'x'", &[], false),
        ] {
            let table = RecordedTable::parse(Path::new("c"), text.as_bytes()).unwrap();
            assert_eq!(
                (table.ignore, table.is_alone),
                (ignore.iter().map(|s| s.to_string()).collect(), is_alone)
            );
        }
        for text in ["[recorded]\nignore = 'a'", "[recorded]\nignored = []", "[recorded", "recorded = 1"] {
            let error = RecordedTable::parse(Path::new("/c.toml"), text.as_bytes()).unwrap_err();
            assert!(error.chain().contains("/c.toml:"), "{text}: {}", error.chain());
        }
    }
}
