//! The documents of `lepo fsck --json`.

use schemars::JsonSchema;
use serde::Serialize;

use crate::view::IdText;
use lepo_store::store::Finding;

/// A single document: findings; with --recover, the outcome for files left by a crash.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
pub enum FsckDocument<'d> {
    Check {
        findings: Vec<FindingFields<'d>>,
    },
    /// With --secrets.
    Secrets {
        findings: &'d [SecretFinding],
    },
    Recovery {
        recovered: Vec<IdText>,
        removed: Vec<String>,
        /// Files whose line ends match their name again.
        restored: Vec<String>,
        failed: Vec<String>,
    },
}

#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
pub struct FindingFields<'d> {
    /// A word of docs/format.md, section 15.
    what: &'static str,
    /// The file in the store.
    name: &'d str,
    why: &'d str,
    warning: bool,
}

impl<'d> FindingFields<'d> {
    pub fn new(finding: &'d Finding) -> FindingFields<'d> {
        let Finding { what, name, why, .. } = finding;
        FindingFields { what: what.as_str(), name, why, warning: what.is_warning() }
    }
}

#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
pub struct SecretFinding {
    /// The id of the message, or the path of another file in the store.
    pub subject: String,
    pub kind: &'static str,
    pub line: usize,
    /// The clone that it belongs to, if not the user's own.
    #[serde(rename = "from")]
    pub clone_name: Option<String>,
}
