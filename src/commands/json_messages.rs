//! The document of `lepo show --json`, which `lepo export` writes too: messages with their facts from the journal.

use std::cell::Cell;
use std::collections::HashMap;
use std::io::Write;

use schemars::JsonSchema;
use serde::Serialize;
use serde::ser::{Error as _, SerializeSeq};

use crate::view::{NameFields, RowList, RowSource, UsageFields, write_rows};
use lepo_base::error::{Error, Result};
use lepo_base::role::Role;
use lepo_store::bubb::{Attachment, BubbId, BubbName, split_attachments};
use lepo_store::conv::Forest;
use lepo_store::store::{JournalRecord, Store};
use lepo_turn::StoppedAnswers;

/// A single document: messages, oldest first, with their facts from the journal.
#[derive(Serialize, JsonSchema)]
#[serde(bound(serialize = "R: RowSource"))]
#[schemars(bound = "")]
pub struct MessagesDocument<R> {
    #[schemars(with = "Vec<MessageRow>")]
    bubbs: RowList<R>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "message")]
struct MessageRow {
    #[serde(flatten)]
    name: NameFields,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    attachments: Vec<AttachmentFields>,
    /// Whether it is a stopped answer, which is part of the talk though it is hidden.
    stopped: bool,
    /// The text, with U+FFFD for bytes that are not UTF-8.
    text: String,
    /// The model that answered, if several were asked.
    speaker: Option<String>,
    model: Option<String>,
    usage: UsageFields,
    ms: Option<u64>,
    /// The exit code of a command.
    exit: Option<i32>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
struct AttachmentFields {
    /// The MIME type.
    r#type: &'static str,
    bytes: u64,
    name: String,
    path: String,
}

/// Writes the document. If a message cannot be read, returns the error; if it is the first one, nothing was written.
pub fn write_messages(
    store: &Store,
    forest: &Forest,
    names: impl Iterator<Item = BubbName>,
    to: &mut impl Write,
) -> Result<()> {
    let reader = MessageReader {
        store,
        forest,
        stopped: StoppedAnswers::new(store, forest),
        facts: store.journal().facts(),
    };
    let mut names = names;
    let first = names.next().map(|name| reader.read(&name)).transpose()?;
    let error = Cell::new(None);
    let bubbs = RowList::new(MessageRows { reader: &reader, first, names, error: &error });
    // The reader has closed the output, or `to` remembers the error.
    let _ = write_rows(to, &MessagesDocument { bubbs });
    error.into_inner().map_or(Ok(()), Err)
}

struct MessageReader<'r> {
    store: &'r Store,
    forest: &'r Forest,
    stopped: StoppedAnswers,
    facts: HashMap<BubbId, JournalRecord>,
}

struct MessageRows<'r, I> {
    reader: &'r MessageReader<'r>,
    first: Option<MessageRow>,
    names: I,
    /// The error that ended the document.
    error: &'r Cell<Option<Error>>,
}

impl<I: Iterator<Item = BubbName>> RowSource for MessageRows<'_, I> {
    fn each<S: SerializeSeq>(self, rows: &mut S) -> std::result::Result<(), S::Error> {
        self.first.iter().try_for_each(|row| rows.serialize_element(row))?;
        for name in self.names {
            let row = self.reader.read(&name).map_err(|error| {
                self.error.set(Some(error));
                S::Error::custom("a message cannot be read")
            })?;
            rows.serialize_element(&row)?;
        }
        Ok(())
    }
}

impl MessageReader<'_> {
    fn read(&self, name: &BubbName) -> Result<MessageRow> {
        let store = self.store;
        let text = store.text(name)?;
        let files = if name.role == Role::User { split_attachments(&text).1 } else { Vec::new() };
        let file = |file: &Attachment| AttachmentFields {
            r#type: file.media.mime(),
            bytes: file.len,
            name: file.name.clone(),
            path: store.blob_path(&file.hash).to_string_lossy().into_owned(),
        };
        let fact = self.facts.get(&name.id).cloned().unwrap_or_default();
        Ok(MessageRow {
            name: NameFields::new(store, name),
            attachments: files.iter().map(file).collect(),
            stopped: self.stopped.contains(name.id),
            text,
            speaker: store.speaker(self.forest, name),
            model: fact.model,
            usage: UsageFields { input: fact.input, output: fact.output },
            ms: fact.ms,
            exit: fact.exit,
        })
    }
}
