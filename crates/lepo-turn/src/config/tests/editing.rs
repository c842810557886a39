//! An edit changes its target and nothing else of the file.

use std::path::Path;

use crate::config::file::ConfigFile;
use crate::config::write::replace;
use crate::config::{KeyEntry, NewModel, add_model, set_active, set_tool_mode};
use lepo_base::error::Result;
use lepo_model::Provider;
use lepo_tool::ToolMode;

const FILE: &str = "\
# mine
log_level = 'info' # quiet

[[models]] # the big one
name = 'a'
provider = 'ollama'
model = 'm'
active   = true # for now

# the other
[[models]]
name = 'b'
provider = 'ollama'
model = 'm'

[many]
timeout = 3
";

/// Runs `edit` on a file with `text`, and returns the text afterwards.
fn after<T>(text: &str, edit: impl FnOnce(&Path) -> Result<T>) -> Result<String> {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("lepo/config.toml");
    if !text.is_empty() {
        replace(&path, text.as_bytes()).unwrap();
    }
    edit(&path)?;
    Ok(std::fs::read_to_string(&path).unwrap())
}

fn small(active: bool) -> NewModel {
    NewModel {
        name: "small".into(),
        provider: Provider::Embedded,
        model: None,
        base_url: None,
        key: KeyEntry::None,
        is_active: active,
    }
}

#[test]
fn another_model_becomes_the_active_one() {
    let got = after(FILE, |path| set_active(path, "b")).unwrap();
    let wanted = FILE
        .replace("active   = true # for now", "active   = false # for now")
        .replace("model = 'm'\n\n[many]", "model = 'm'\nactive = true\n\n[many]");
    assert_eq!(got, wanted);
    assert_eq!(after(FILE, |path| set_active(path, "a")).unwrap(), FILE);
    let error = after(FILE, |path| set_active(path, "c")).unwrap_err();
    assert!(error.message.contains("no model \"c\"") && error.kind.exit_code() == 2);
}

#[test]
fn models_may_stand_inline() {
    let file = "models = [{ name = 'a', provider = 'ollama', model = 'm', active = true }]\n";
    let got = after(file, |path| add_model(path, &small(true))).unwrap();
    assert!(got.starts_with("models = [{ name = 'a',") && got.contains("active = false"));
    let file = ConfigFile::parse(Path::new("c"), got.as_bytes()).unwrap();
    let active: Vec<_> =
        file.models.iter().map(|model| (model.config.name.as_str(), model.config.is_active)).collect();
    assert_eq!(active, [("a", false), ("small", true)]);
}

#[test]
fn the_tool_mode_is_set_where_it_belongs() {
    let set = |path: &Path| set_tool_mode(path, ToolMode::Auto);
    assert_eq!(after("", set).unwrap(), "tool_call_mode = \"auto\"\n");
    let got = after("tool_call_mode = 'manual' # ask\n", set).unwrap();
    assert_eq!(got, "tool_call_mode = \"auto\" # ask\n");
    let got = after(FILE, set).unwrap();
    assert_eq!(got, FILE.replace("# quiet\n", "# quiet\ntool_call_mode = \"auto\"\n"));
    assert!(after(FILE, |path| set_tool_mode(path, ToolMode::Off)).is_err());
}

#[test]
fn a_model_is_added_once() {
    let got = after("", |path| add_model(path, &small(true))).unwrap();
    assert_eq!(got, "[[models]]\nname = \"small\"\nprovider = \"embedded\"\nactive = true\n");
    let again = after(&got, |path| {
        assert!(!add_model(path, &small(false))?);
        Ok(())
    });
    assert_eq!(again.unwrap(), got);
    let got = after(FILE, |path| add_model(path, &small(false))).unwrap();
    assert!(got.starts_with("# mine\n") && got.contains("\n# the other\n[[models]]"));
    assert_eq!(ConfigFile::parse(Path::new("c"), got.as_bytes()).unwrap().models.len(), 3);
}

#[test]
fn a_file_with_a_mistake_is_left_alone() {
    let error = after("log_level = 'loud'\n", |path| set_tool_mode(path, ToolMode::Auto)).unwrap_err();
    assert!(error.message.contains("config.toml:1: "));
}
