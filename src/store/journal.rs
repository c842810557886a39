//! `_journal.ndjson`: facts about bubbs (model, tokens, times, exit codes), never needed to read them.

use std::io::{self, Write};

use rustix::fs::OFlags;
use serde::Serialize;

use super::{FILE, Store, now};
use crate::bubb::BubbId;
use crate::error::Result;

/// One line of the journal. Times in milliseconds.
#[derive(Debug, Default, Serialize)]
pub struct Entry<'a> {
    /// When it was written, milliseconds since 1970.
    pub time: u64,
    /// The bubb it tells of.
    #[serde(serialize_with = "as_text")]
    pub bubb: Option<BubbId>,
    /// What it was: `answer`, `chooser`, `writer`, `command`.
    pub what: &'a str,
    /// The model's configured name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<&'a str>,
    /// Tokens of the request, as the provider counted them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input: Option<u64>,
    /// Tokens of the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<u64>,
    /// From the request to the end.
    pub ms: u64,
    /// From the request to the first text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_ms: Option<u64>,
    /// A command's exit code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit: Option<i32>,
}

fn as_text<S: serde::Serializer>(id: &Option<BubbId>, to: S) -> std::result::Result<S::Ok, S::Error> {
    match id {
        Some(id) => to.collect_str(id),
        None => to.serialize_none(),
    }
}

impl Store {
    /// Appends one line by one `write`, so that lines of several processes do not mix.
    pub fn journal(&self, mut entry: Entry<'_>) -> Result<()> {
        const FILE_NAME: &str = "_journal.ndjson";
        entry.time = now();
        let flags = OFlags::WRONLY
            | OFlags::APPEND
            | OFlags::CREATE
            | OFlags::NOFOLLOW
            | OFlags::NONBLOCK
            | OFlags::CLOEXEC;
        let written = (|| {
            let mut line = serde_json::to_vec(&entry)?;
            line.push(b'\n');
            let mut file = std::fs::File::from(rustix::fs::openat(&self.dir, FILE_NAME, flags, FILE)?);
            match file.write(&line)? {
                n if n == line.len() => Ok(()),
                _ => Err(io::Error::from(io::ErrorKind::WriteZero)),
            }
        })();
        written.map_err(|error| self.error("cannot write", FILE_NAME, error))
    }
}
