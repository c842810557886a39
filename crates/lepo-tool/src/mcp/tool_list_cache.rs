//! Caches lists of tools between processes, one file per definition of a server. A turn offers tools from there, and
//! starts no server for it.

use std::fmt;
use std::fs::{DirBuilder, File};
use std::io::{self, Read, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use super::failure_text::hidden;
use super::secrets::ServerSecrets;
use super::tools::{Tool, ToolListing};
use crate::mcp::config::{ServerConfig, ServerTarget};

/// Age at which a server is asked for its tools again.
const OLD: Duration = Duration::from_secs(24 * 60 * 60);

/// Age at which an unused list is deleted.
const FORGOTTEN: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// Time for which a server that did not answer is waited for briefly.
const SILENT: Duration = Duration::from_secs(10 * 60);

/// Maximum length of a file to read, in bytes. A list has a lower limit, but JSON may escape each of its bytes.
const LONGEST: u64 = 32 << 20;

/// A keyed hash of some texts.
pub type KeyedHash = Arc<dyn Fn(&[&[u8]]) -> String + Send + Sync>;

/// The folder of cached lists of tools.
#[derive(Clone)]
pub struct ToolListCache {
    dir: PathBuf,
    hash: KeyedHash,
}

impl fmt::Debug for ToolListCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolLists").field("dir", &self.dir).finish_non_exhaustive()
    }
}

impl ToolListCache {
    /// Uses the lists in `dir`. Definitions contain secrets, so files are named by `hash`.
    pub fn new(dir: PathBuf, hash: KeyedHash) -> ToolListCache {
        ToolListCache { dir, hash }
    }

    /// Returns the file for a server with this configuration, started in `folder`.
    pub(super) fn file_for(&self, config: &ServerConfig, folder: Option<&Path>) -> ToolListFile {
        let definition = (self.hash)(&parts(config, folder).iter().map(Vec::as_slice).collect::<Vec<_>>());
        ToolListFile { path: self.dir.join(format!("{definition}.json")), definition }
    }
}

/// Returns everything that identifies a server, each part preceded by a label.
fn parts(config: &ServerConfig, folder: Option<&Path>) -> Vec<Vec<u8>> {
    let mut parts: Vec<Vec<u8>> = Vec::new();
    let mut add = |kind: &str, part: &[u8]| parts.extend([kind.as_bytes().to_vec(), part.to_vec()]);
    add("name", config.name.as_bytes());
    if let Some(folder) = folder {
        add("folder", folder.as_os_str().as_encoded_bytes());
    }
    match &config.target {
        ServerTarget::Program { command, args, env, .. } => {
            add("command", command.as_bytes());
            args.iter().for_each(|arg| add("arg", arg.as_bytes()));
            for (name, value) in env {
                add("env", name.as_bytes());
                add("value", value.reveal().as_bytes());
            }
        }
        ServerTarget::Remote { url, headers, identity, transport } => {
            add("url", url.as_str().as_bytes());
            add("transport", format!("{transport:?}").as_bytes());
            for (name, value) in headers {
                add("header", name.as_bytes());
                add("value", value.reveal().as_bytes());
            }
            let secret = identity.client_secret.as_ref().map(|secret| secret.reveal());
            let document = identity.client_metadata_url.as_ref().map(url::Url::as_str);
            for part in [identity.client_id.as_deref(), secret, document] {
                add("client", part.unwrap_or_default().as_bytes());
            }
        }
    }
    parts
}

#[derive(Debug, Clone)]
pub(super) struct ToolListFile {
    path: PathBuf,
    /// Hash of the server's definition: a list of another definition is ignored.
    definition: String,
}

impl ToolListFile {
    /// Returns all tools, and when the server listed them; `None` if the list is old, damaged, or dated in the future.
    pub fn load(&self) -> Option<(Vec<Tool>, SystemTime)> {
        self.read().filter(|(_, asked)| is_recent(*asked))
    }

    /// Returns all tools of the last list, however old it is.
    pub fn last(&self) -> Option<Vec<Tool>> {
        self.read().map(|(tools, _)| tools)
    }

    fn read(&self) -> Option<(Vec<Tool>, SystemTime)> {
        let about = std::fs::symlink_metadata(&self.path).ok()?;
        if !about.is_file() || about.len() > LONGEST {
            return None;
        }
        let mut bytes = Vec::new();
        File::open(&self.path).ok()?.take(LONGEST).read_to_end(&mut bytes).ok()?;
        let document: Value = serde_json::from_slice(&bytes).ok()?;
        if document.get("definition").and_then(Value::as_str) != Some(self.definition.as_str()) {
            return None;
        }
        let asked = Duration::from_secs(document.get("asked").and_then(Value::as_u64)?);
        let asked = UNIX_EPOCH.checked_add(asked)?;
        let mut listing = ToolListing::default();
        listing.add_page(&document);
        listing.notes.is_empty().then_some((listing.tools, asked))
    }

    /// Stores a list that the server just sent. A failure is harmless: without the file, the server is asked again.
    pub fn save(&self, tools: &[Tool], secrets: &ServerSecrets) {
        let asked = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        let tools: Vec<Value> = tools
            .iter()
            .map(|tool| json!({"name": tool.name, "description": tool.description, "inputSchema": tool.schema}))
            .collect();
        let tools = Value::Array(tools);
        // A list that contains a secret of the server is not written to disk.
        if hidden(tools.clone(), secrets) != tools {
            return;
        }
        let document = json!({ "definition": self.definition, "asked": asked, "tools": tools });
        if let Err(error) = self.write(document.to_string().as_bytes()) {
            tracing::debug!(%error, "a list of tools is not cached");
        }
    }

    /// Records that the server did not answer within its time limit.
    pub fn note_silence(&self) {
        let Some(dir) = self.path.parent() else { return };
        let written = DirBuilder::new().recursive(true).mode(0o700).create(dir);
        let written = written.and_then(|()| std::fs::write(self.silence(), b""));
        if let Err(error) = written {
            tracing::debug!(%error, "a silent server is not noted");
        }
    }

    /// Deletes that record.
    pub fn forget_silence(&self) {
        let _ = std::fs::remove_file(self.silence());
    }

    /// Whether the server did not answer a short time ago.
    pub fn was_silent(&self) -> bool {
        let noted = self.silence().symlink_metadata().and_then(|about| about.modified());
        noted.is_ok_and(|noted| noted.elapsed().is_ok_and(|age| age < SILENT))
    }

    fn silence(&self) -> PathBuf {
        self.path.with_extension("silent")
    }

    fn write(&self, bytes: &[u8]) -> io::Result<()> {
        let Some(dir) = self.path.parent() else { return Ok(()) };
        DirBuilder::new().recursive(true).mode(0o700).create(dir)?;
        // A temporary file is readable by its owner only, and other processes see either the old list or the new one.
        let mut file = tempfile::NamedTempFile::new_in(dir)?;
        file.write_all(bytes)?;
        file.persist(&self.path).map_err(|error| error.error)?;
        forget_tool_lists(dir);
        Ok(())
    }
}

/// Whether `asked` is at most a day ago.
pub(super) fn is_recent(asked: SystemTime) -> bool {
    asked.elapsed().is_ok_and(|age| age < OLD)
}

/// Deletes lists that no configuration has used in a long time; a list in use is renewed each day.
pub fn forget_tool_lists(dir: &Path) {
    for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
        let age = entry.metadata().ok().and_then(|about| about.modified().ok()?.elapsed().ok());
        if age.is_some_and(|age| age > FORGOTTEN) {
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lepo_base::hash::hash_of;

    fn lists(dir: &Path) -> ToolListCache {
        ToolListCache::new(dir.join("lists"), Arc::new(hash_of))
    }

    fn config(name: &str, fields: &str) -> ServerConfig {
        let text = format!(r#"{{"mcpServers":{{"{name}":{fields}}}}}"#);
        crate::mcp::config::parse("m".as_ref(), text.as_bytes()).unwrap().remove(0)
    }

    fn tool(name: &str) -> Tool {
        let schema = serde_json::from_str(r#"{"type":"object","z":1,"a":12345678901234567890}"#).unwrap();
        Tool { name: name.into(), description: "Tells \"it\"\n한글".into(), schema }
    }

    #[test]
    fn a_list_is_of_one_definition() {
        let dir = tempfile::tempdir().unwrap();
        let lists = lists(dir.path());
        let program = r#"{"command":"x","args":["a","b"],"env":{"A":"1"}}"#;
        let remote = r#"{"url":"http://h/mcp?token=1","headers":{"A":"1"}}"#;
        let here = Some(Path::new("/here"));
        for (first, second, same) in [
            (("s", program, here), ("s", program, here), true),
            (("s", program, here), ("t", program, here), false),
            (("s", program, here), ("s", program, Some(Path::new("/there"))), false),
            (("s", program, here), ("s", r#"{"command":"y","args":["a","b"],"env":{"A":"1"}}"#, here), false),
            (("s", program, here), ("s", r#"{"command":"x","args":["a b"],"env":{"A":"1"}}"#, here), false),
            (("s", program, here), ("s", r#"{"command":"x","args":["a"],"env":{"A":"1"}}"#, here), false),
            (("s", program, here), ("s", r#"{"command":"x","args":["a","b"],"env":{"A":"2"}}"#, here), false),
            (("s", program, here), ("s", r#"{"command":"x","args":["a","b"],"env":{"B":"1"}}"#, here), false),
            // Tools that the configuration excludes do not change the list.
            (
                ("s", program, here),
                ("s", r#"{"command":"x","args":["a","b"],"env":{"A":"1"},"excludeTools":["t"]}"#, here),
                true,
            ),
            (("s", remote, None), ("s", remote, None), true),
            (
                ("s", remote, None),
                ("s", r#"{"url":"http://h/mcp?token=2","headers":{"A":"1"}}"#, None),
                false,
            ),
            (
                ("s", remote, None),
                ("s", r#"{"url":"http://h/mcp?token=1","headers":{"A":"2"}}"#, None),
                false,
            ),
        ] {
            let of = |(name, fields, folder): (&str, &str, Option<&Path>)| {
                lists.file_for(&config(name, fields), folder).path
            };
            assert_eq!(of(first) == of(second), same, "{first:?} {second:?}");
        }
    }

    #[test]
    fn what_is_kept_is_what_was_told() {
        let dir = tempfile::tempdir().unwrap();
        let list = lists(dir.path()).file_for(&config("s", r#"{"command":"x"}"#), None);
        assert_eq!(list.load(), None);
        list.save(&[tool("a"), tool("b")], &ServerSecrets::default());
        let (tools, asked) = list.load().unwrap();
        assert_eq!(tools, [tool("a"), tool("b")]);
        assert!(is_recent(asked));
        use std::os::unix::fs::PermissionsExt;
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&list.path), mode(list.path.parent().unwrap())), (0o600, 0o700));
        list.save(&[], &ServerSecrets::default());
        assert_eq!(list.load().unwrap().0, []);
    }

    #[test]
    fn a_server_that_tells_its_secret_in_a_description_is_not_kept() {
        let dir = tempfile::tempdir().unwrap();
        let config = config("s", r#"{"command":"x","env":{"MY_TOKEN":"tok-s3cr3t-1234567890"}}"#);
        let list = lists(dir.path()).file_for(&config, None);
        let leaky = Tool { description: "with tok-s3cr3t-1234567890".into(), ..tool("a") };
        list.save(&[leaky], &ServerSecrets::from_config(&config));
        assert!(!list.path.exists());
    }

    #[test]
    fn a_list_that_is_damaged_old_or_of_another_server_is_none() {
        let dir = tempfile::tempdir().unwrap();
        let list = lists(dir.path()).file_for(&config("s", r#"{"command":"x"}"#), None);
        list.save(&[tool("a")], &ServerSecrets::default());
        let whole: Value = serde_json::from_slice(&std::fs::read(&list.path).unwrap()).unwrap();
        let asked = whole["asked"].as_u64().unwrap();
        let with = |key: &str, value: Value| {
            let mut document = whole.clone();
            document[key] = value;
            document.to_string()
        };
        let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
        for (text, is_one) in [
            (whole.to_string(), true),
            (with("asked", (asked - 86_300).into()), true),
            (with("asked", (asked - 86_401).into()), false),
            (with("asked", (asked + 600).into()), false),
            (with("asked", u64::MAX.into()), false),
            (with("asked", (-1).into()), false),
            (with("definition", "another".into()), false),
            (with("tools", Value::Null), false),
            (with("tools", json!([{"name": "a\u{1b}[2J"}])), false),
            (with("tools", json!([{"name": "a", "inputSchema": "odd"}])), false),
            (with("tools", json!([3])), false),
            (
                with("tools", json!((0..1001).map(|n| json!({"name": format!("t{n}")})).collect::<Vec<_>>())),
                false,
            ),
            (with("tools", json!([{"name": "a", "description": "x".repeat(5 << 20)}])), false),
            (whole.to_string().replace('}', ""), false),
            (with("tools", "DEEP".into()).replace("\"DEEP\"", &deep), false),
            (String::new(), false),
        ] {
            std::fs::write(&list.path, &text).unwrap();
            let shown: String = text.chars().take(200).collect();
            assert_eq!(list.load().is_some(), is_one, "{shown}");
        }
        std::fs::remove_file(&list.path).unwrap();
        std::os::unix::fs::symlink("/dev/zero", &list.path).unwrap();
        assert_eq!(list.load(), None);
        std::fs::remove_file(&list.path).unwrap();
        std::fs::create_dir(&list.path).unwrap();
        assert_eq!(list.load(), None);
        list.save(&[tool("a")], &ServerSecrets::default());
    }

    #[test]
    fn a_list_that_nobody_asks_for_is_deleted_in_time() {
        let dir = tempfile::tempdir().unwrap();
        let lists = lists(dir.path());
        let [old, new] = ["x", "y"]
            .map(|command| lists.file_for(&config("s", &format!(r#"{{"command":"{command}"}}"#)), None));
        old.save(&[], &ServerSecrets::default());
        let long_ago = SystemTime::now() - FORGOTTEN - Duration::from_secs(60);
        File::open(&old.path).unwrap().set_modified(long_ago).unwrap();
        new.save(&[], &ServerSecrets::default());
        assert_eq!((old.path.exists(), new.path.exists()), (false, true));
    }
}
