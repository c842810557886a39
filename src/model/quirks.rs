//! What a model turned out not to take, learned from its own refusals and remembered.
//!
//! Servers that speak one API differ in what they accept, and say so only when asked. So lepo asks
//! for everything, and asks once more without what a refusal names.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// Something a model does not take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Quirk {
    /// No `temperature`.
    Temperature,
    /// No structured output.
    ResponseFormat,
    /// No `stream_options`.
    StreamOptions,
    /// System messages only first, roles only in turns.
    SystemFirst,
}

impl Quirk {
    const ALL: [Quirk; 4] =
        [Quirk::Temperature, Quirk::ResponseFormat, Quirk::StreamOptions, Quirk::SystemFirst];

    /// Its word in the file; also the API's own name of the field, where it is one.
    fn word(self) -> &'static str {
        match self {
            Quirk::Temperature => "temperature",
            Quirk::ResponseFormat => "response_format",
            Quirk::StreamOptions => "stream_options",
            Quirk::SystemFirst => "system_first",
        }
    }

    /// What is said of it, once, when it is learned.
    pub fn notice(self, model: &str) -> String {
        match self {
            Quirk::SystemFirst => {
                format!("{model} takes a system message only as the first one: asking again in that form")
            }
            field => format!("{model} does not take `{}`: asking again without it", field.word()),
        }
    }

    /// Whether a refusal with this HTTP status and body is about it.
    ///
    /// Chat templates refuse the order of roles with 400, or with 500 where the template itself raised it.
    fn is_named(self, status: u16, body: &str) -> bool {
        match self {
            Quirk::SystemFirst => {
                let body = body.to_lowercase();
                matches!(status, 400 | 422 | 500)
                    && (body.contains("role") || body.contains("message"))
                    && (body.contains("alternat") || body.contains("system"))
            }
            field => matches!(status, 400 | 422) && body.contains(field.word()),
        }
    }
}

/// The quirks of one model.
pub(super) type Quirks = BTreeSet<Quirk>;

/// Those of the `possible` quirks that a refusal names.
pub(super) fn named(status: u16, body: &str, possible: &Quirks) -> Quirks {
    possible.iter().copied().filter(|quirk| quirk.is_named(status, body)).collect()
}

/// The file in the state directory where quirks are remembered, and the model they belong to.
///
/// `quirks.json`: `{"openai https://api.openai.com/v1 o3": ["temperature"]}`. It is a convenience:
/// what cannot be read or written is learned again.
pub(super) struct Memory {
    path: PathBuf,
    model: String,
}

type Remembered = BTreeMap<String, BTreeSet<String>>;

impl Memory {
    /// The memory of `model` (provider, address without its query, name) in `state_dir`.
    pub fn new(state_dir: &Path, model: String) -> Self {
        Memory { path: state_dir.join("quirks.json"), model }
    }

    /// What was learned in earlier runs.
    pub fn recall(&self) -> Quirks {
        let words = self.read().remove(&self.model).unwrap_or_default();
        Quirk::ALL.into_iter().filter(|quirk| words.contains(quirk.word())).collect()
    }

    /// Adds to what was learned.
    pub fn keep(&self, quirks: &Quirks) {
        let mut all = self.read();
        all.entry(self.model.clone()).or_default().extend(quirks.iter().map(|quirk| quirk.word().to_owned()));
        if let Err(error) = self.write(&all) {
            tracing::warn!("{} could not be written: {error}", self.path.display());
        }
    }

    fn read(&self) -> Remembered {
        let bytes = fs::read(&self.path).unwrap_or_default();
        serde_json::from_slice(&bytes).unwrap_or_default()
    }

    /// By rename, so that a reader never sees half of it; of two writers at once, one learns again.
    fn write(&self, all: &Remembered) -> std::io::Result<()> {
        if let Some(directory) = self.path.parent() {
            fs::DirBuilder::new().recursive(true).mode(0o700).create(directory)?;
        }
        let temporary = self.path.with_extension(format!("{}.tmp", std::process::id()));
        let mut file =
            fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&temporary)?;
        file.write_all(&serde_json::to_vec_pretty(all)?)?;
        fs::rename(&temporary, &self.path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_name_what_they_refuse() {
        let all: Quirks = Quirk::ALL.into();
        for (status, body, expected) in [
            (400, "Unsupported value: 'temperature' does not support 0.1", vec![Quirk::Temperature]),
            (422, "extra fields: response_format", vec![Quirk::ResponseFormat]),
            (400, "stream_options and temperature unknown", vec![Quirk::Temperature, Quirk::StreamOptions]),
            (400, "Conversation roles must alternate user/assistant", vec![Quirk::SystemFirst]),
            (500, "System message must be at the beginning.", vec![Quirk::SystemFirst]),
            (400, "context length exceeded", vec![]),
            (404, "temperature", vec![]),
            (500, "temperature", vec![]),
        ] {
            let found: Vec<Quirk> = named(status, body, &all).into_iter().collect();
            assert_eq!(found, expected, "{status} {body}");
        }
        assert_eq!(named(400, "temperature", &Quirks::new()), Quirks::new());
    }

    #[test]
    fn what_is_kept_is_recalled_for_its_model_only() {
        let state = tempfile::tempdir().unwrap();
        let directory = state.path().join("lepo");
        let memory = |model: &str| Memory::new(&directory, model.to_owned());
        assert_eq!(memory("a").recall(), Quirks::new());
        memory("a").keep(&[Quirk::Temperature].into());
        memory("b").keep(&[Quirk::SystemFirst].into());
        memory("a").keep(&[Quirk::StreamOptions].into());
        assert_eq!(memory("a").recall(), [Quirk::Temperature, Quirk::StreamOptions].into());
        assert_eq!(memory("b").recall(), [Quirk::SystemFirst].into());
        fs::write(directory.join("quirks.json"), "{").unwrap();
        assert_eq!(memory("a").recall(), Quirks::new());
    }
}
