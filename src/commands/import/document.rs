//! The documents of `lepo import --json`.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::Serialize;

use crate::view::IdText;

/// A single document: the result of an import; without a source, the histories on this machine.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
pub enum ImportDocument<'d> {
    Report(ReportFields<'d>),
    Places {
        places: Vec<PlaceFields<'d>>,
    },
    /// With --watch, one per line.
    News(NewsFields<'d>),
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "report")]
pub struct ReportFields<'d> {
    pub sources: Vec<SourceFields<'d>>,
    pub read: ReadFields,
    pub made: u64,
    /// Messages that already existed.
    pub here: u64,
    /// Messages that are withheld for now.
    pub held: u64,
    /// Messages that are not imported again, because they were removed here or taken back.
    pub left_out: u64,
    /// The time from which all withheld messages count as complete, in milliseconds since 1970.
    pub held_until: Option<u64>,
    pub skipped: Vec<SkippedFields<'d>>,
    /// The newest tail afterwards.
    pub at: Option<IdText>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
pub struct SourceFields<'d> {
    pub format: &'d str,
    pub path: Cow<'d, str>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
pub struct ReadFields {
    pub conversations: u64,
    pub messages: u64,
}

#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
pub struct SkippedFields<'d> {
    pub reason: &'d str,
    pub count: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Vec<String>")]
    pub files: Option<&'d [String]>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "place")]
pub struct PlaceFields<'d> {
    pub tool: &'d str,
    pub format: &'d str,
    pub path: Cow<'d, str>,
    pub conversations: usize,
    pub bytes: u64,
    pub newest: Option<u64>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "news")]
pub struct NewsFields<'d> {
    pub format: &'d str,
    pub path: Cow<'d, str>,
    /// The id of the session in the other tool; may be empty.
    pub id: &'d str,
    pub made: u64,
    /// The first question.
    pub excerpt: &'d str,
}
