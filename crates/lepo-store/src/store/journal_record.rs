//! A line of the journal, for writing and for reading: facts about a bubb. Lines of imports have a type of their own.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use super::dir::now;
use super::journal_exchange::{MadeItem, ids, ids_as_texts, made_items};
use super::proof::Statement;
use crate::bubb::BubbId;

/// A line of the journal. A missing fact is empty, and times are in milliseconds.
///
/// As the journal may be another user's, a value of another type than its field's is ignored; a number of another type
/// makes the whole line ignored.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct JournalRecord {
    /// Time of writing, since 1970.
    pub time: u64,
    /// The bubb that the line describes; `None` for an answer that was empty or could not be read.
    #[serde(serialize_with = "id_as_text", deserialize_with = "id")]
    pub bubb: Option<BubbId>,
    /// Kind of fact: docs/format.md, section 11.
    pub what: String,
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "one_line")]
    pub model: Option<String>,
    /// Tokens of the request, as counted by the provider, including those read from its cache.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "tokens")]
    pub input: Option<u64>,
    /// How many of the request's tokens the server read from its cache.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "tokens")]
    pub cached: Option<u64>,
    /// How many of the request's tokens the server wrote to its cache.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "tokens")]
    pub cache_write: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "tokens")]
    pub output: Option<u64>,
    /// Searches and fetches that the provider's server ran for the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub web: Option<u64>,
    /// From the request to the end of the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ms: Option<u64>,
    /// From the request to the first text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit: Option<i32>,
    /// Whether the request failed; a request that the user stopped did not.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub failed: bool,
    /// The bubb that the request followed if it produced no bubb, or the unanswered question.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "id_as_text", deserialize_with = "id")]
    pub under: Option<BubbId>,
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "text")]
    pub agent_session: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "text")]
    pub session: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub options: Option<Value>,
    /// A hash of the schema of the answer.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "text")]
    pub schema: Option<String>,
    /// Hashes of the tools offered to the model: an object with a hash for each server, or a hash of all of them by
    /// earlier versions.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "hashes")]
    pub tools: Option<Value>,
    /// The hidden messages of the request, in order, since the last answer with parts in `made`.
    #[serde(
        skip_serializing_if = "Vec::is_empty",
        serialize_with = "ids_as_texts",
        deserialize_with = "ids"
    )]
    pub after: Vec<BubbId>,
    /// The parts of an answer to another program's request.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "made_items")]
    pub made: Vec<MadeItem>,
    /// Why the answer ended: `stop`, `length`, `tools`, `filter`, `refusal`.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "text")]
    pub finish: Option<String>,
    /// The beginning of the answer, which the request had.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "text")]
    pub prefill: Option<String>,
    /// The program that asked.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "text")]
    pub client: Option<String>,
    /// The provider's id of the answer.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "text")]
    pub response: Option<String>,
    /// The system text in force.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "id_as_text", deserialize_with = "id")]
    pub system: Option<BubbId>,
    /// The original, if the message is a copy, for which no request was sent.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "id_as_text", deserialize_with = "id")]
    pub copy_of: Option<BubbId>,
    /// The keyed hash of the redacted message that this one replaces.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "text")]
    pub was: Option<String>,
    /// The format of the sessions about the directory `from`.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "text")]
    pub format: Option<String>,
    /// A directory whose sessions an import takes as this repository's.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "text")]
    pub from: Option<String>,
    /// A keyed hash: the user's own lepo wrote the message, or the line.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "text")]
    pub proof: Option<String>,
}

impl JournalRecord {
    /// Creates a line about a bubb, of now.
    pub(super) fn new(bubb: BubbId, what: &str) -> JournalRecord {
        JournalRecord { time: now(), bubb: Some(bubb), what: what.into(), ..JournalRecord::default() }
    }

    /// Parses a line; `None` if it is torn.
    pub(super) fn parse(line: &[u8]) -> Option<JournalRecord> {
        serde_json::from_slice(line).ok()
    }

    /// Appends the line to `lines`.
    pub(super) fn write_to(&self, lines: &mut Vec<u8>) {
        if serde_json::to_writer(&mut *lines, self).is_ok() {
            lines.push(b'\n');
        }
    }

    /// Returns the statement that the proof of a line about a bubb covers.
    pub(super) fn statement(&self) -> Option<Statement<'_>> {
        let bubb = self.bubb?;
        Some(match (&self.model, &self.agent_session) {
            (Some(model), Some(session)) => Statement::AgentSession(bubb, model, session),
            _ => Statement::Message(bubb),
        })
    }
}

fn id_as_text<S: Serializer>(id: &Option<BubbId>, to: S) -> Result<S::Ok, S::Error> {
    match id {
        Some(id) => to.collect_str(id),
        None => to.serialize_none(),
    }
}

pub(super) fn id<'d, D: Deserializer<'d>>(from: D) -> Result<Option<BubbId>, D::Error> {
    Ok(text(from)?.and_then(|id| BubbId::parse(id.as_bytes())))
}

fn text<'d, D: Deserializer<'d>>(from: D) -> Result<Option<String>, D::Error> {
    Ok(match Option::<Value>::deserialize(from)? {
        Some(Value::String(text)) => Some(text),
        _ => None,
    })
}

/// Replaces control characters, because names from imports are untrusted and appear in headings and tables.
fn one_line<'d, D: Deserializer<'d>>(from: D) -> Result<Option<String>, D::Error> {
    Ok(text(from)?.map(|name| match name.contains(char::is_control) {
        true => name.replace(char::is_control, "\u{fffd}"),
        false => name,
    }))
}

/// Drops impossible numbers of tokens, so that sums cannot overflow.
fn tokens<'d, D: Deserializer<'d>>(from: D) -> Result<Option<u64>, D::Error> {
    Ok(Option::<u64>::deserialize(from)?.filter(|tokens| *tokens < 1 << 40))
}

/// Ignores a value that is neither a string nor an object.
fn hashes<'d, D: Deserializer<'d>>(from: D) -> Result<Option<Value>, D::Error> {
    let value = Option::<Value>::deserialize(from)?;
    Ok(value.filter(|value| value.is_string() || value.is_object()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lines of each kind as they were written before the record had a type for both directions; `A` is an id.
    const WRITTEN: [&str; 31] = [
        r#"{"time":1795322239924,"bubb":A,"what":"answer","model":"m","input":12,"cached":3,"cache_write":4,"output":34,"web":2,"ms":5,"first_ms":1,"options":{"temperature":0.5},"schema":"d2e6f371236f5ba5","tools":{"s":"d2e6f371236f5ba5"}}"#,
        r#"{"time":1,"bubb":A,"what":"answer","model":"m","ms":5,"agent_session":"s-0","tools":{"run_command":"c5"},"proof":"00"}"#,
        r#"{"time":1,"bubb":A,"what":"answer","model":"m","ms":5,"after":[A,A],"made":[{"bubb":A},{"bubb":A,"call":""}],"finish":"tools","prefill":"{","client":"curl/8","response":"r_1","system":A}"#,
        r#"{"time":1,"bubb":A,"what":"answer","model":"다온","ms":5,"tools":"a hash of all, by earlier versions"}"#,
        r#"{"time":1,"bubb":A,"what":"partial","model":"m","ms":5,"failed":true}"#,
        r#"{"time":1,"bubb":null,"what":"partial","model":"m","ms":5,"agent_session":"s-0"}"#,
        r#"{"time":1,"bubb":null,"what":"empty","model":"m","input":1,"ms":5,"under":A}"#,
        r#"{"time":1,"bubb":null,"what":"calls","model":"m","input":1,"output":2,"ms":5,"first_ms":4}"#,
        r#"{"time":1,"bubb":A,"what":"unfit","model":"m","ms":5,"schema":"d2"}"#,
        r#"{"time":1,"bubb":null,"what":"failed","model":"m","ms":5,"failed":true,"under":A}"#,
        r#"{"time":1,"bubb":null,"what":"unanswered","ms":0,"under":A}"#,
        r#"{"time":1,"bubb":A,"what":"chooser","model":"m","input":1,"output":2,"ms":5}"#,
        r#"{"time":1,"bubb":A,"what":"writer","model":"m","ms":5}"#,
        r#"{"time":1,"bubb":null,"what":"unreadable","model":"m","ms":5}"#,
        r#"{"time":1,"bubb":A,"what":"command","ms":5,"exit":-1}"#,
        r#"{"time":1,"bubb":A,"what":"mcp","ms":5}"#,
        r#"{"time":1,"bubb":null,"what":"floor","model":"m","input":1,"output":2,"ms":5,"under":A}"#,
        r#"{"time":1,"bubb":A,"what":"orchestrator","model":"m","ms":5,"options":{"seed":1}}"#,
        r#"{"time":1,"bubb":null,"what":"summary","model":"m","ms":5}"#,
        r#"{"time":1,"bubb":null,"what":"budget","ms":0}"#,
        r#"{"time":1,"bubb":null,"what":"estimate","model":"m","input":1,"output":2,"ms":0}"#,
        r#"{"time":1,"bubb":null,"what":"unkept","model":"m","input":1,"cached":1,"output":2,"ms":0}"#,
        r#"{"time":1,"bubb":null,"what":"session","ms":0,"session":"s"}"#,
        r#"{"time":1,"bubb":null,"what":"fork","ms":0,"under":A,"session":"s"}"#,
        r#"{"time":1,"bubb":A,"what":"imported","model":"m","output":2}"#,
        r#"{"time":1,"bubb":A,"what":"proven","proof":"00"}"#,
        r#"{"time":1,"bubb":A,"what":"redacted","was":"00"}"#,
        r#"{"time":1,"bubb":A,"what":"undone"}"#,
        r#"{"time":1,"bubb":null,"what":"import_dir","format":"claude-code","from":"/a\u0001","proof":"00"}"#,
        r#"{"time":1,"bubb":A,"what":"copy","copy_of":A}"#,
        r#"{"time":1,"bubb":A,"what":"answer","model":"m","ms":5,"copy_of":A,"proof":"00"}"#,
    ];

    #[test]
    fn each_line_is_written_as_it_was_read() {
        const ID: &str = r#""01JB3Z0Q4N8V2K5T7W9X1Y3Z5A""#;
        for line in WRITTEN.map(|line| line.replace('A', ID)) {
            let record = JournalRecord::parse(line.as_bytes()).unwrap();
            assert_eq!(serde_json::to_string(&record).unwrap(), line);
        }
    }

    #[test]
    fn what_has_another_type_or_is_unknown_is_ignored_and_a_wrong_number_ignores_the_line() {
        let read = |fields: &str| JournalRecord::parse(format!("{{{fields}}}").as_bytes());
        let bare = JournalRecord { what: "answer".into(), ..JournalRecord::default() };
        for fields in [
            r#""new":[1],"what":"answer""#,
            r#""what":"answer","bubb":7,"under":"x","system":[],"copy_of":{}"#,
            r#""what":"answer","model":1,"session":{},"proof":[],"schema":null,"was":2,"from":3,"format":4"#,
            r#""what":"answer","tools":[],"after":7,"made":{"a":1},"options":null,"input":18446744073709551615"#,
        ] {
            assert_eq!(read(fields).as_ref(), Some(&bare), "{fields}");
        }
        for fields in [r#""time":-1"#, r#""ms":"5""#, r#""exit":0.5"#, r#""failed":1"#, r#""what":7"#] {
            assert_eq!(read(fields), None, "{fields}");
        }
        assert_eq!(read(r#""model":"a\nb""#).unwrap().model.as_deref(), Some("a\u{fffd}b"));
    }
}
