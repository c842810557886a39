//! Trust in a repository's own configuration: nothing in it counts before a person has seen what it
//! would do. A yes is kept outside the repository, as a hash of path and exact bytes.

use std::fs::{DirBuilder, OpenOptions};
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::PathBuf;

use serde_json::Value;
use sha2::{Digest, Sha256};

use super::entry::{KeyEntry, ModelEntry};
use super::file::{ConfigFile, read_if_there};
use super::word::Word;
use super::{Paths, Provider};
use crate::error::{Error, Result};

/// A repository's configuration file, as it is now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RepoFile {
    /// Its path, absolute and without links.
    pub path: PathBuf,
    /// All of it. What was shown, hashed and used are these very bytes.
    pub bytes: Vec<u8>,
}

/// The record of what was trusted: one line a file, `HASH PATH`, only ever added to.
#[derive(Debug, Clone)]
pub struct Trust {
    record: PathBuf,
}

impl Trust {
    /// The user's record.
    pub fn of(paths: &Paths) -> Trust {
        Trust { record: paths.state.join("trust") }
    }

    /// Whether a person said yes to this file: these bytes, at this path.
    pub fn covers(&self, file: &RepoFile) -> Result<bool> {
        let record = read_if_there(&self.record)?.unwrap_or_default();
        let hash = file.hash();
        Ok(record.split(|&byte| byte == b'\n').any(|line| line.starts_with(hash.as_bytes())))
    }

    /// Keeps a person's yes, durable when this returns. One write for all, so that it is whole or not there.
    pub fn keep(&self, files: &[RepoFile]) -> Result<()> {
        let line = |file: &RepoFile| format!("{} {:?}\n", file.hash(), file.path);
        let lines: String = files.iter().map(line).collect();
        let written = (|| {
            if let Some(dir) = self.record.parent() {
                DirBuilder::new().recursive(true).mode(0o700).create(dir)?;
            }
            let mut record = OpenOptions::new().append(true).create(true).mode(0o600).open(&self.record)?;
            record.write_all(lines.as_bytes())?;
            record.sync_all()
        })();
        written.map_err(|error| {
            Error::usage(format!("cannot write {}", self.record.display()))
                .because(error)
                .hint("make its directory writable, or name another one with XDG_STATE_HOME")
        })
    }
}

impl RepoFile {
    /// What the file would make lepo do, one line each. A file that would be no use for its mistakes: exit 2.
    pub fn effects(&self) -> Result<Vec<String>> {
        match self.path.extension().is_some_and(|end| end == "json") {
            true => servers(self),
            false => ConfigFile::parse(&self.path, &self.bytes).map(|file| settings(&file)),
        }
    }

    /// No path holds a zero byte, so no two files come to the same text.
    fn hash(&self) -> String {
        let path = self.path.as_os_str().as_bytes();
        let hash = Sha256::new().chain_update(path).chain_update([0]).chain_update(&self.bytes).finalize();
        hash.iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

fn settings(file: &ConfigFile) -> Vec<String> {
    let mut effects: Vec<String> = file.models.iter().map(model).collect();
    if let Some(set) = &file.layer.tool_call_mode {
        effects.push(format!("gives consent to tools: {}", set.value.word()));
    }
    if let Some(set) = &file.layer.auto_access {
        effects.push(format!("lets auto run commands up to: {}", set.value.word()));
    }
    if let Some(set) = &file.layer.read_only {
        effects.push(format!("shows commands these directories: {:?}", set.value));
    }
    effects.push("and its other settings, as below".to_string());
    effects
}

fn model(entry: &ModelEntry) -> String {
    let what = match (entry.provider, &entry.base_url) {
        (Provider::Cli, _) => format!("runs {:?}", entry.command),
        (Provider::Embedded, _) => "runs the embedded model".to_string(),
        (_, Some(url)) => format!("sends conversations to {url}"),
        (provider, None) => format!("sends conversations to {}'s usual address", provider.word()),
    };
    let key = match &entry.key {
        KeyEntry::None => String::new(),
        KeyEntry::Literal(_) => ", with a key of its own".to_string(),
        KeyEntry::Env(name) => format!(", with your key in {name}"),
    };
    let active = if entry.active { ", whenever no model is named" } else { "" };
    format!("model {:?}: {what}{key}{active}", entry.name)
}

fn servers(file: &RepoFile) -> Result<Vec<String>> {
    let wrong = |what: &str| {
        Error::usage(format!("{}: {what}", file.path.display()))
            .hint("it is to hold {\"mcpServers\": {\"NAME\": {…}}}")
    };
    let document: Value =
        serde_json::from_slice(&file.bytes).map_err(|error| wrong("no JSON").because(error))?;
    let servers =
        document.get("mcpServers").and_then(Value::as_object).ok_or_else(|| wrong("no mcpServers"))?;
    Ok(servers.iter().map(|(name, server)| format!("server {name:?}: {}", server_effect(server))).collect())
}

fn server_effect(server: &Value) -> String {
    let text = |key: &str| server.get(key).and_then(Value::as_str);
    let mut effects = Vec::new();
    if let Some(command) = text("command") {
        let args = server.get("args").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let words: Vec<&str> = [command].into_iter().chain(args.iter().filter_map(Value::as_str)).collect();
        effects.push(format!("runs {words:?}"));
    }
    if let Some(url) = text("url") {
        effects.push(format!("connects to {url}"));
    }
    for key in ["env", "headers"] {
        let names = server.get(key).and_then(Value::as_object).into_iter().flat_map(|map| map.keys());
        let names: Vec<&str> = names.map(String::as_str).collect();
        if !names.is_empty() {
            effects.push(format!("with {key} {}", names.join(", ")));
        }
    }
    effects.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, text: &str) -> RepoFile {
        RepoFile { path: path.into(), bytes: text.into() }
    }

    #[test]
    fn a_yes_covers_these_bytes_at_this_path() {
        let home = tempfile::tempdir().unwrap();
        let trust = Trust { record: home.path().join("state/trust") };
        let (mine, other) = (file("/a/_config.toml", "x"), file("/a/_mcp.json", "y"));
        assert!(!trust.covers(&mine).unwrap());
        trust.keep(&[mine.clone(), other.clone()]).unwrap();
        for (file, covered) in [
            (mine, true),
            (other, true),
            (file("/a/_config.toml", "x "), false),
            (file("/a/_config.toml", ""), false),
            (file("/b/_config.toml", "x"), false),
            (file("/a/_config.tom", "lx"), false),
        ] {
            assert_eq!(trust.covers(&file).unwrap(), covered, "{file:?}");
        }
    }

    #[test]
    fn what_a_file_would_do_is_told() {
        for (path, text, effect) in [
            (
                "c.toml",
                "[[models]]\nname = 'm'\nprovider = 'openai'\nmodel = 'x'\nbase_url = 'http://evil.test'\n\
                 api_key_env = 'SECRET'\nactive = true",
                "model \"m\": sends conversations to http://evil.test, with your key in SECRET, whenever no \
                 model is named",
            ),
            (
                "c.toml",
                "[[models]]\nname = 'm'\nprovider = 'cli'\ncommand = ['rm', '-rf']",
                r#"model "m": runs ["rm", "-rf"]"#,
            ),
            ("c.toml", "auto_access = 'net'", "lets auto run commands up to: net"),
            (
                "m.json",
                r#"{"mcpServers":{"s":{"command":"sh","args":["-c","x"],"env":{"A":"1"}}}}"#,
                r#"server "s": runs ["sh", "-c", "x"], with env A"#,
            ),
            (
                "m.json",
                r#"{"mcpServers":{"s":{"url":"http://e.test"}}}"#,
                r#"server "s": connects to http://e.test"#,
            ),
        ] {
            let effects = file(path, text).effects().unwrap();
            assert!(effects.iter().any(|told| told == effect), "{effects:?}");
        }
        for (path, text) in [("c.toml", "nonsense = 1"), ("m.json", "{"), ("m.json", "{}")] {
            assert_eq!(file(path, text).effects().unwrap_err().kind.exit_code(), 2, "{text}");
        }
    }
}
