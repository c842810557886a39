//! Verdicts on content of other clones: unusable refs and rejected contents, recorded so that the next sync neither
//! reads nor reports them again. Stored in the bare repository.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use serde::{Deserialize, Serialize};

use super::cat_file::Oid;
use super::git::Git;
use super::replace::replace;
use lepo_base::error::{Error, Result};

const FILE: &str = "lepo-verdicts.json";

/// Maximum number of rejected contents stored per clone.
const MOST: usize = 20_000;

/// An unusable ref is tried again after this many milliseconds.
const AGAIN: u64 = 24 * 60 * 60 * 1000;

#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CloneVerdicts(BTreeMap<String, CloneVerdict>);

#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct CloneVerdict {
    /// The last commit read.
    tip: Oid,
    /// Why the commit is unusable, and the time of that verdict, in milliseconds since 1970.
    refused: Option<(String, u64)>,
    /// Rejected paths, each with its object.
    left_out: BTreeSet<String>,
}

impl CloneVerdicts {
    /// Reads the verdicts; empty if the file is missing or unreadable.
    pub fn read(git: &Git) -> CloneVerdicts {
        let bytes = fs::read(git.file(FILE)).unwrap_or_default();
        serde_json::from_slice(&bytes).unwrap_or_default()
    }

    pub fn save(&self, git: &Git) -> Result<()> {
        let path = git.file(FILE);
        let text = serde_json::to_vec(self)
            .map_err(|error| Error::store(format!("cannot write {}", path.display())).because(error))?;
        replace(&path, &text, false)
    }

    /// Returns why this commit of a clone is unusable; `None` if it may be tried.
    pub fn refusal(&self, clone: &str, tip: &str, now: u64) -> Option<Error> {
        let verdict = self.0.get(clone).filter(|verdict| verdict.tip == tip)?;
        let (why, at) = verdict.refused.as_ref()?;
        (now.abs_diff(*at) < AGAIN).then(|| Error::remote(why.clone()))
    }

    /// Records that this commit of a clone is unusable.
    pub fn refuse(&mut self, clone: &str, tip: &str, why: &Error, now: u64) {
        let verdict = self.0.entry(clone.into()).or_default();
        (verdict.tip, verdict.refused) = (tip.into(), Some((why.chain(), now)));
    }

    /// Returns the verdict on a clone, and whether this commit of it has been read before.
    pub fn on(&mut self, clone: &str, tip: &str) -> (&mut CloneVerdict, bool) {
        let verdict = self.0.entry(clone.into()).or_default();
        let is_known = verdict.tip == tip;
        if !is_known {
            (verdict.tip, verdict.refused) = (tip.into(), None);
        }
        (verdict, is_known)
    }

    pub fn forget(&mut self, clone: &str) {
        self.0.remove(clone);
    }
}

impl CloneVerdict {
    pub fn has_left_out(&self, path: &str, oid: &str) -> bool {
        !self.left_out.is_empty() && self.left_out.contains(&format!("{path} {oid}"))
    }

    pub fn leave_out(&mut self, path: &str, oid: &str) {
        if self.left_out.len() < MOST {
            self.left_out.insert(format!("{path} {oid}"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_verdict_counts_for_one_commit_and_for_a_day() {
        let dir = tempfile::tempdir().unwrap();
        let git = Git::at(dir.path(), false);
        let mut verdicts = CloneVerdicts::read(&git);
        verdicts.refuse("a", "1", &Error::remote("too deep"), 1000);
        verdicts.on("b", "2").0.leave_out("path", "3");
        verdicts.save(&git).unwrap();
        let mut verdicts = CloneVerdicts::read(&git);
        assert_eq!(verdicts.refusal("a", "1", 2000).unwrap().message, "too deep");
        for (clone, tip, now) in [("a", "2", 2000), ("b", "1", 2000), ("a", "1", 1000 + AGAIN)] {
            assert!(verdicts.refusal(clone, tip, now).is_none(), "{clone} {tip} {now}");
        }
        // Rejected objects count for the next commit, too.
        for (tip, is_known) in [("2", true), ("4", false), ("4", true)] {
            let (verdict, known) = verdicts.on("b", tip);
            assert_eq!(known, is_known);
            assert!(verdict.has_left_out("path", "3") && !verdict.has_left_out("path", "4"));
        }
        std::fs::write(git.file(FILE), "{").unwrap();
        assert_eq!(CloneVerdicts::read(&git), CloneVerdicts::default());
    }
}
