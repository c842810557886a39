//! Facts about an exchange that file names cannot express: the parts of an answer, and the hidden messages of its
//! request.

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use crate::bubb::BubbId;

/// A part of an answer, in the order in which the model made them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MadeItem {
    /// The message that has its text, or its call.
    pub bubb: BubbId,
    /// The provider's id of the call, which may be empty; `None` for text.
    pub call: Option<String>,
}

#[derive(Serialize, Deserialize)]
struct MadeLine {
    bubb: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    call: Option<String>,
}

impl Serialize for MadeItem {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        MadeLine { bubb: self.bubb.to_string(), call: self.call.clone() }.serialize(to)
    }
}

/// Writes ids as texts.
pub(super) fn ids_as_texts<S: serde::Serializer>(ids: &[BubbId], to: S) -> Result<S::Ok, S::Error> {
    to.collect_seq(ids.iter().map(BubbId::to_string))
}

/// Reads a list of ids. Anything else in it, and any other value, is ignored.
pub(super) fn ids<'d, D: Deserializer<'d>>(from: D) -> Result<Vec<BubbId>, D::Error> {
    let value = Option::<Value>::deserialize(from)?;
    let items = value.as_ref().and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    Ok(items.iter().filter_map(|id| BubbId::parse(id.as_str()?.as_bytes())).collect())
}

/// Reads the parts of an answer; malformed ones are ignored.
pub(super) fn made_items<'d, D: Deserializer<'d>>(from: D) -> Result<Vec<MadeItem>, D::Error> {
    let value = Option::<Value>::deserialize(from)?;
    let items = value.as_ref().and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let item = |item: &Value| {
        let MadeLine { bubb, call } = MadeLine::deserialize(item).ok()?;
        Some(MadeItem { bubb: BubbId::parse(bubb.as_bytes())?, call })
    };
    Ok(items.iter().filter_map(item).collect())
}

#[cfg(test)]
mod tests {
    use super::super::journal_record::JournalRecord;
    use super::*;

    #[test]
    fn an_exchange_is_read_as_it_was_written() {
        let id = |end: char| BubbId::parse(format!("01JB3Z0Q4N8V2K5T7W9X1Y3Z5{end}").as_bytes()).unwrap();
        let made = vec![
            MadeItem { bubb: id('A'), call: None },
            MadeItem { bubb: id('B'), call: Some("call_1".into()) },
        ];
        let after = vec![id('C'), id('D')];
        let record = JournalRecord {
            bubb: Some(id('A')),
            what: "answer".into(),
            after,
            made,
            finish: Some("tools".into()),
            prefill: Some("{".into()),
            client: Some("curl/8".into()),
            response: Some("resp_1".into()),
            system: Some(id('E')),
            ..JournalRecord::default()
        };
        let line = serde_json::to_vec(&record).unwrap();
        assert_eq!(JournalRecord::parse(&line), Some(record));
        let bare = serde_json::to_string(&JournalRecord::default()).unwrap();
        assert_eq!(bare, r#"{"time":0,"bubb":null,"what":""}"#);
    }

    #[test]
    fn what_has_another_form_is_no_part_of_an_exchange() {
        let id = "01JB3Z0Q4N8V2K5T7W9X1Y3Z5A";
        for (fields, after, made) in [
            (format!(r#""after":["{id}","x",1]"#), 1, 0),
            (r#""after":7,"made":{"a":1}"#.to_string(), 0, 0),
            (format!(r#""made":[{{"bubb":"{id}","new":1}},{{"bubb":"x"}},{{"call":"a"}},null]"#), 0, 1),
            (r#""finish":1,"response":[],"system":"x""#.to_string(), 0, 0),
        ] {
            let facts = JournalRecord::parse(format!(r#"{{"bubb":"{id}",{fields}}}"#).as_bytes()).unwrap();
            assert_eq!((facts.after.len(), facts.made.len()), (after, made), "{fields}");
            assert_eq!((facts.finish, facts.response, facts.system), (None, None, None), "{fields}");
        }
    }
}
