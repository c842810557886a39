//! Quirks learned in earlier runs: `quirks.json` in the state directory.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use reqwest::Url;

use super::base_path::redacted_url;
use super::provider_spec::HttpSpec;
use super::quirks::{Quirk, Quirks};
use crate::ModelConfig;

/// The file that stores quirks, and the model that they belong to.
///
/// `{"openai https://api.openai.com/v1 o3": ["temperature"]}`. The file is optional: quirks that cannot be read or
/// written are learned again.
pub(super) struct QuirkFile {
    path: PathBuf,
    model: String,
}

type QuirkTable = BTreeMap<String, BTreeSet<String>>;

impl QuirkFile {
    /// Creates the entry of `model` (provider, URL without its query, name) in `state_dir`.
    pub fn new(state_dir: &Path, model: String) -> Self {
        QuirkFile { path: state_dir.join("quirks.json"), model }
    }

    /// Returns the `possible` quirks for which the file has an entry.
    pub fn recall(&self, possible: &[&'static Quirk]) -> Quirks {
        let words = self.read().remove(&self.model).unwrap_or_default();
        possible.iter().copied().filter(|quirk| words.contains(quirk.word)).collect()
    }

    /// Adds learned quirks.
    pub fn save(&self, quirks: &Quirks) {
        let mut all = self.read();
        all.entry(self.model.clone()).or_default().extend(quirks.lasting().map(str::to_owned));
        if let Err(error) = self.write(&all) {
            tracing::warn!("cannot write {}: {error}", self.path.display());
        }
    }

    pub fn forget(&self, quirk: &Quirk) {
        let mut all = self.read();
        let had = all.get_mut(&self.model).is_some_and(|words| words.remove(quirk.word));
        if had && let Err(error) = self.write(&all) {
            tracing::warn!("cannot write {}: {error}", self.path.display());
        }
    }

    fn read(&self) -> QuirkTable {
        let bytes = fs::read(&self.path).unwrap_or_default();
        serde_json::from_slice(&bytes).unwrap_or_default()
    }

    fn write(&self, all: &QuirkTable) -> std::io::Result<()> {
        replace(&self.path, &serde_json::to_vec_pretty(all)?)
    }
}

/// Returns the name of a model with a URL in the file.
pub(super) fn remembered_name(spec: &HttpSpec, base: &Url, config: &ModelConfig) -> String {
    format!("{} {} {}", spec.name, redacted_url(base), config.model)
}

/// Returns the name of a model without a URL in the file: its program and its configured name, or the embedded
/// model's own name.
pub(super) fn local_name(config: &ModelConfig) -> String {
    match config.command.first() {
        Some(program) => format!("program {program} {}", config.name),
        None => format!("embedded {}", config.model),
    }
}

/// Writes a file of the state directory by rename, so that no reader sees half of it. With two concurrent writers,
/// the last one wins.
pub(super) fn replace(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    if let Some(directory) = path.parent() {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(directory)?;
    }
    let temporary = path.with_extension(format!("{}.tmp", std::process::id()));
    let mut file =
        fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&temporary)?;
    file.write_all(bytes)?;
    fs::rename(&temporary, path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quirks::{SYSTEM_FIRST, TEMPERATURE};

    #[test]
    fn what_is_kept_is_recalled_for_its_model_only() {
        let state = tempfile::tempdir().unwrap();
        let directory = state.path().join("lepo");
        let memory = |model: &str| QuirkFile::new(&directory, model.to_owned());
        let recalled =
            |model: &str| memory(model).recall(&[&TEMPERATURE, &SYSTEM_FIRST]).names().collect::<Vec<_>>();
        let learned = |quirk: &'static Quirk| [quirk].into_iter().collect::<Quirks>();
        assert!(recalled("a").is_empty());
        memory("a").save(&learned(&TEMPERATURE));
        memory("b").save(&learned(&SYSTEM_FIRST));
        assert_eq!(recalled("a"), ["temperature"]);
        assert_eq!(recalled("b"), ["system_first"]);
        memory("a").save(&learned(&SYSTEM_FIRST));
        assert_eq!(recalled("a"), ["system_first", "temperature"]);
        memory("a").forget(&TEMPERATURE);
        assert_eq!(recalled("a"), ["system_first"]);
        assert_eq!(recalled("b"), ["system_first"]);
        fs::write(directory.join("quirks.json"), "{").unwrap();
        assert!(recalled("a").is_empty());
    }
}
