//! A change that `lepo undo` can take back, as a value: which messages left the store and which came, which branches
//! and titles changed, each with the value before and after.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::super::branches::check_branch_name;
use crate::bubb::{BubbId, BubbName, ContentHash};

/// The command that made a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ChangingCommand {
    Rm,
    Branch,
    Title,
    Rebase,
    Sync,
    Import,
}

impl ChangingCommand {
    pub fn as_str(self) -> &'static str {
        match self {
            ChangingCommand::Rm => "rm",
            ChangingCommand::Branch => "branch",
            ChangingCommand::Title => "title",
            ChangingCommand::Rebase => "rebase",
            ChangingCommand::Sync => "sync",
            ChangingCommand::Import => "import",
        }
    }

    /// Whether a message that something follows may stay when the messages are removed again.
    pub fn leaves_followed(self) -> bool {
        matches!(self, ChangingCommand::Rebase | ChangingCommand::Import)
    }
}

/// Whether a line of the list is a change itself, or takes one back, or makes one again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ChangeDirection {
    First,
    Undo,
    Redo,
}

/// A folder of `_removed/`: `MILLISECONDS-PROCESS`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct RemovedFolder {
    /// When it was made, in milliseconds since 1970.
    pub time: u64,
    pub process: u32,
}

impl RemovedFolder {
    pub fn parse(name: &str) -> Option<RemovedFolder> {
        let (time, process) = name.split_once('-')?;
        let folder = RemovedFolder { time: time.parse().ok()?, process: process.parse().ok()? };
        (folder.to_string() == name).then_some(folder)
    }
}

impl std::fmt::Display for RemovedFolder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}-{}", self.time, self.process)
    }
}

impl From<RemovedFolder> for String {
    fn from(folder: RemovedFolder) -> String {
        folder.to_string()
    }
}

impl TryFrom<String> for RemovedFolder {
    type Error = String;

    fn try_from(name: String) -> Result<RemovedFolder, String> {
        RemovedFolder::parse(&name).ok_or_else(|| format!("{name:?} is not a folder of removed messages"))
    }
}

/// A valid name of a branch.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct BranchName(String);

impl BranchName {
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<BranchName> for String {
    fn from(name: BranchName) -> String {
        name.0
    }
}

impl TryFrom<String> for BranchName {
    type Error = String;

    fn try_from(name: String) -> Result<BranchName, String> {
        match check_branch_name(&name) {
            Ok(()) => Ok(BranchName(name)),
            Err(error) => Err(error.to_string()),
        }
    }
}

/// The ids in a branch's file, greatest first; `None` if the branch does not exist.
pub type BranchIds = Option<Vec<BubbId>>;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BranchChange {
    pub name: BranchName,
    pub before: BranchIds,
    pub after: BranchIds,
}

/// A title that a user set; empty if the conversation has none.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TitleChange {
    pub root: BubbId,
    pub before: String,
    pub after: String,
}

/// Messages and blobs, each message before its prev.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangedFiles {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bubbs: Vec<BubbName>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub blobs: Vec<ContentHash>,
}

impl ChangedFiles {
    pub fn is_empty(&self) -> bool {
        self.bubbs.is_empty() && self.blobs.is_empty()
    }
}

/// A line of `_undo.ndjson` without its state and its proof.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// The number in the list. Taking a change back and making it again repeat its number.
    pub n: u64,
    /// Milliseconds since 1970.
    pub time: u64,
    pub command: ChangingCommand,
    pub direction: ChangeDirection,
    /// The folder of `_removed/` into which files move.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder: Option<RemovedFolder>,
    /// The folder of `_removed/` from which files come back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<RemovedFolder>,
    #[serde(default, skip_serializing_if = "ChangedFiles::is_empty")]
    pub removed: ChangedFiles,
    #[serde(default, skip_serializing_if = "ChangedFiles::is_empty")]
    pub added: ChangedFiles,
    /// Requests whose unmasked text in `_wire` was deleted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dropped: Vec<BubbId>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub branches: Vec<BranchChange>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub titles: Vec<TitleChange>,
}

impl Change {
    /// Whether it changes nothing, so that it leaves no line.
    pub fn is_nothing(&self) -> bool {
        self.removed.is_empty()
            && self.added.is_empty()
            && self.branches.iter().all(|branch| branch.before == branch.after)
            && self.titles.iter().all(|title| title.before == title.after)
    }

    /// Returns the change in the other direction, without the folder into which its files will move.
    pub fn inverse(&self, direction: ChangeDirection, time: u64) -> Change {
        let branches = self
            .branches
            .iter()
            .cloned()
            .map(|BranchChange { name, before, after }| BranchChange { name, before: after, after: before });
        let titles = self.titles.iter().cloned().map(|TitleChange { root, before, after }| TitleChange {
            root,
            before: after,
            after: before,
        });
        Change {
            n: self.n,
            time,
            command: self.command,
            direction,
            folder: None,
            source: self.folder,
            removed: self.added.clone(),
            added: self.removed.clone(),
            dropped: Vec::new(),
            branches: branches.collect(),
            titles: titles.collect(),
        }
    }
}

impl Change {
    /// Puts the new ids of messages into branches and titles, and replaces their texts; omits a branch whose name is
    /// replaced. Returns whether anything changed.
    pub(super) fn follow(
        &mut self,
        moved: &HashMap<BubbId, BubbId>,
        mask: &mut dyn FnMut(&str) -> Option<String>,
    ) -> bool {
        let before = self.clone();
        self.branches.retain(|branch| mask(branch.name.as_str()).is_none());
        let branches = self.branches.iter_mut().flat_map(|branch| [&mut branch.before, &mut branch.after]);
        let titles = self.titles.iter_mut().map(|title| &mut title.root);
        for id in branches.flatten().flatten().chain(titles) {
            *id = *moved.get(id).unwrap_or(id);
        }
        for text in self.titles.iter_mut().flat_map(|title| [&mut title.before, &mut title.after]) {
            if let Some(masked) = mask(text) {
                *text = masked;
            }
        }
        *self != before
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "01JB3Z0Q4N8V2K5T7W9X1Y3Z5A";

    #[test]
    fn the_name_of_a_folder_is_its_time_and_process_alone() {
        let folder = RemovedFolder { time: 1_732_633_200_000, process: 42 };
        assert_eq!(RemovedFolder::parse("1732633200000-42"), Some(folder));
        for other in
            ["", "1", "1-", "-1", "01-1", "1-01", "+1-1", "1-1-1", "../1-1", "1-1/..", "a-1", "1-4294967296"]
        {
            assert_eq!(RemovedFolder::parse(other), None, "{other}");
        }
    }

    #[test]
    fn a_line_with_a_name_that_is_none_is_no_change() {
        let line = |fields: &str| {
            let text = format!(r#"{{"n":1,"time":2,"command":"rm","direction":"first",{fields}}}"#);
            serde_json::from_str::<Change>(&text).is_ok()
        };
        let branch =
            |name: &str| format!(r#""branches":[{{"name":"{name}","before":null,"after":["{ID}"]}}]"#);
        for (fields, is_change) in [
            (r#""folder":"5-6""#.to_string(), true),
            (r#""folder":"../5-6""#.to_string(), false),
            (r#""source":"/etc""#.to_string(), false),
            (format!(r#""removed":{{"bubbs":["{ID}-u0-head.md"]}}"#), true),
            (r#""removed":{"bubbs":["../../.ssh/id"]}"#.to_string(), false),
            (r#""added":{"blobs":["../../.ssh/id"]}"#.to_string(), false),
            (branch("main"), true),
            (branch("a/b"), true),
            (branch("../main"), false),
            (branch("-d"), false),
            (format!(r#""titles":[{{"root":"{ID}","before":"","after":"x"}}]"#), true),
            (r#""titles":[{"root":"../x","before":"","after":"x"}]"#.to_string(), false),
        ] {
            assert_eq!(line(&fields), is_change, "{fields}");
        }
    }

    #[test]
    fn the_inverse_of_the_inverse_is_the_change() {
        let id = BubbId::parse(ID.as_bytes()).unwrap();
        let name = BubbName::parse(format!("{ID}-u0-head.md").as_bytes()).unwrap();
        let change = Change {
            n: 3,
            time: 1,
            command: ChangingCommand::Rm,
            direction: ChangeDirection::First,
            folder: None,
            source: None,
            removed: ChangedFiles { bubbs: vec![name], blobs: Vec::new() },
            added: ChangedFiles::default(),
            dropped: Vec::new(),
            branches: vec![BranchChange {
                name: "b".to_string().try_into().unwrap(),
                before: None,
                after: Some(vec![id]),
            }],
            titles: vec![TitleChange { root: id, before: "a".into(), after: "b".into() }],
        };
        let back = change.inverse(ChangeDirection::Undo, 2);
        assert_eq!((back.added.bubbs.len(), back.removed.bubbs.len()), (1, 0));
        assert_eq!(back.branches[0].after, None);
        assert_eq!(back.titles[0].after, "a");
        assert_eq!(back.inverse(ChangeDirection::First, 1), change);
    }
}
