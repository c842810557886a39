//! JSON documents of bubbs, equal in every command that prints them.

use std::io::Write;

use serde_json::{Value, json};

use lepo_base::error::Result;
use lepo_base::role::Role;
use lepo_store::bubb::{Attachment, BubbName, split_attachments};
use lepo_store::conv::Forest;
use lepo_store::store::{JournalRecord, Store};
use lepo_turn::StoppedAnswers;

/// Returns the fields that a bubb's name contains.
pub fn name_json(store: &Store, name: &BubbName) -> serde_json::Map<String, serde_json::Value> {
    let mut map = serde_json::Map::new();
    map.insert("id".into(), name.id.to_string().into());
    map.insert("kind".into(), name.role.as_str().into());
    map.insert("hidden".into(), name.hidden.into());
    map.insert("prev".into(), name.prev.map(|prev| prev.to_string()).into());
    map.insert("time".into(), name.id.time().into());
    map.insert("path".into(), store.bubb_path(name).to_string_lossy().into());
    map
}

/// Writes the document of `--json`: names, texts and journal facts.
pub fn bubbs_json(
    store: &Store,
    forest: &Forest,
    names: impl Iterator<Item = BubbName>,
    to: &mut impl Write,
) -> Result<()> {
    let facts = store.journal().facts();
    let stopped = StoppedAnswers::new(store, forest);
    let mut open = write!(to, "{{\"bubbs\":[").is_ok();
    for (i, name) in names.enumerate() {
        if !open {
            break; // the reader has closed the pipe, or `to` remembers the error
        }
        let comma = if i > 0 { "," } else { "" };
        open = write!(to, "{comma}\n{}", bubb_json(store, (forest, &stopped), &name, facts.get(&name.id))?)
            .is_ok();
    }
    let _ = write!(to, "\n]}}\n");
    Ok(())
}

/// Returns a bubb with its journal facts; unknown ones are null.
fn bubb_json(
    store: &Store,
    (forest, stopped): (&Forest, &StoppedAnswers),
    name: &BubbName,
    fact: Option<&JournalRecord>,
) -> Result<Value> {
    let mut map = name_json(store, name);
    let text = store.text(name)?;
    let files = if name.role == Role::User { split_attachments(&text).1 } else { Vec::new() };
    if !files.is_empty() {
        let file = |file: &Attachment| {
            json!({
                "type": file.media.mime(),
                "bytes": file.len,
                "name": file.name,
                "path": store.blob_path(&file.hash).to_string_lossy(),
            })
        };
        map.insert("attachments".into(), files.iter().map(file).collect());
    }
    map.insert("stopped".into(), stopped.contains(name.id).into());
    map.insert("text".into(), text.into());
    let fact = fact.cloned().unwrap_or_default();
    map.insert("speaker".into(), store.speaker(forest, name).into());
    map.insert("model".into(), fact.model.into());
    map.insert("usage".into(), json!({ "input": fact.input, "output": fact.output }));
    map.insert("ms".into(), fact.ms.into());
    map.insert("exit".into(), fact.exit.into());
    Ok(map.into())
}
