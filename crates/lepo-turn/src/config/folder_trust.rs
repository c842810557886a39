//! Trust in a folder: whether the user's programs may start in it. Many of them run files of the folder in
//! which they start, so starting one in a cloned repository is more than the user asked for.
//!
//! Unlike [`Trust`](super::Trust), it does not depend on bytes: it is a yes or no for a folder, regardless of
//! later changes in it.

use std::path::Path;

use lepo_base::error::{Error, Result};
use lepo_base::hash_file::HashFile;
use lepo_base::work_folder::WorkFolder;
use lepo_process::StartFolder;

use super::Paths;

/// The keyword of an answer in the record, before the folder's path.
const YES: &str = "yes";
const NO: &str = "no";
const FORGOTTEN: &str = "forgotten";

/// The record of answers: a line each, `IDENTITY yes "PATH"`; the last line of a folder counts.
#[derive(Debug, Clone)]
pub struct FolderTrust {
    record: HashFile,
    empty: StartFolder,
}

/// The question whether the user's programs may start in a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FolderQuestion {
    /// The folder.
    pub folder: WorkFolder,
    /// The programs, in displayed form.
    pub programs: Vec<String>,
}

impl FolderTrust {
    /// Opens the user's record.
    pub fn new(paths: &Paths) -> FolderTrust {
        FolderTrust::in_state(&paths.state)
    }

    /// Opens the record in this state folder.
    pub fn in_state(state: &Path) -> FolderTrust {
        FolderTrust { record: HashFile::at(state.join("trusted-folders")), empty: StartFolder::empty(state) }
    }

    /// Returns the user's answer about a folder and its linked worktrees; `None` before the first.
    pub fn answer(&self, folder: &WorkFolder) -> Result<Option<bool>> {
        // The folder may have become a repository since. The later line counts, because an answer for another
        // worktree applies here too.
        let last = self.record.last(&[&folder.identity, &folder.root_identity])?;
        Ok(match last.as_deref().and_then(|text| text.split(' ').next()) {
            Some(YES) => Some(true),
            Some(NO) => Some(false),
            _ => None,
        })
    }

    /// Records an answer, durably.
    pub fn record_answer(&self, folder: &WorkFolder, is_trusted: bool) -> Result<()> {
        self.add(folder, if is_trusted { YES } else { NO })
    }

    /// Deletes the answer about a folder; false without one.
    pub fn forget(&self, folder: &WorkFolder) -> Result<bool> {
        if self.answer(folder)?.is_none() {
            return Ok(false);
        }
        self.add(folder, FORGOTTEN)?;
        Ok(true)
    }

    /// Deletes the answers about folders that had this path; false without one.
    pub fn forget_path(&self, path: &Path) -> Result<bool> {
        let texts = [YES, NO].map(|word| format!("{word} {path:?}"));
        let hashes = self.record.hashes_of(&[&texts[0], &texts[1]])?;
        let lines: Vec<String> = hashes.iter().map(|hash| format!("{hash} {FORGOTTEN} {path:?}")).collect();
        if !lines.is_empty() {
            self.record.append(&lines)?;
        }
        Ok(!lines.is_empty())
    }

    /// Returns the folder in which a program of the user for `dir` starts: `dir` if it is trusted, otherwise
    /// an empty one. A folder that cannot be looked up is not trusted.
    pub fn start_in(&self, dir: &Path) -> StartFolder {
        let answer = WorkFolder::read(dir).ok().and_then(|folder| self.answer(&folder).ok()?);
        match answer {
            Some(true) => StartFolder::trusted(dir),
            Some(false) | None => self.empty.clone(),
        }
    }

    fn add(&self, folder: &WorkFolder, word: &str) -> Result<()> {
        let line = |identity: &str| format!("{identity} {word} {:?}", folder.root);
        let mut lines = vec![line(&folder.identity)];
        lines.extend((folder.root_identity != folder.identity).then(|| line(&folder.root_identity)));
        self.record.append(&lines)
    }
}

/// Returns the folder to which trust in `dir` applies, or an error with its name if it cannot be read.
pub fn work_folder(dir: &Path) -> Result<WorkFolder> {
    WorkFolder::read(dir).map_err(|error| {
        Error::usage(format!("cannot look at {}", dir.display()))
            .because(error)
            .hint("make it a folder that you may read")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_answer_about_a_folder_counts_and_no_other_folder_has_it() {
        let dir = tempfile::tempdir().unwrap();
        let [app, other] = ["app", "other"].map(|name| {
            std::fs::create_dir(dir.path().join(name)).unwrap();
            dir.path().join(name)
        });
        let state = dir.path().join("state");
        let trust = FolderTrust::in_state(&state);
        let (folder, foreign) = (work_folder(&app).unwrap(), work_folder(&other).unwrap());
        let starts = || trust.start_in(&app) == StartFolder::trusted(&app);
        assert_eq!((trust.answer(&folder).unwrap(), starts()), (None, false));
        assert!(!trust.forget(&folder).unwrap());
        for (answer, is_trusted) in [(false, false), (true, true), (false, false), (true, true)] {
            trust.record_answer(&folder, answer).unwrap();
            assert_eq!((trust.answer(&folder).unwrap(), starts()), (Some(answer), is_trusted));
        }
        assert_eq!((trust.answer(&foreign).unwrap(), trust.start_in(&other).is_empty()), (None, true));
        assert!(trust.forget_path(&folder.root).unwrap() && !trust.forget_path(&folder.root).unwrap());
        assert_eq!(trust.answer(&folder).unwrap(), None);
        trust.record_answer(&folder, true).unwrap();
        // A folder created again under its name is another folder.
        std::fs::rename(&app, dir.path().join("moved")).unwrap();
        std::fs::create_dir(&app).unwrap();
        assert!(!starts());
        let moved = work_folder(&dir.path().join("moved")).unwrap();
        assert_eq!(trust.answer(&moved).unwrap(), Some(true));
        assert!(trust.forget(&moved).unwrap());
        assert_eq!(trust.answer(&moved).unwrap(), None);
        assert!(work_folder(&dir.path().join("gone")).is_err());
        // A folder that becomes a repository keeps its answer.
        trust.record_answer(&foreign, true).unwrap();
        std::fs::create_dir_all(other.join(".git/objects")).unwrap();
        std::fs::write(other.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
        let repository = work_folder(&other).unwrap();
        assert_ne!(repository.identity, foreign.identity);
        assert_eq!(trust.answer(&repository).unwrap(), Some(true));
        assert!(trust.forget(&repository).unwrap());
        assert_eq!(trust.answer(&repository).unwrap(), None);
        // A worktree shares the repository's identity, and has its own root.
        let worktree = |root: &str| WorkFolder {
            root: root.into(),
            identity: "repository".into(),
            root_identity: root.into(),
        };
        let both = [worktree("main"), worktree("linked")];
        for (agreed, taken_back) in [(0, 1), (1, 0), (0, 0), (1, 1)] {
            trust.record_answer(&both[agreed], true).unwrap();
            assert_eq!(both.each_ref().map(|tree| trust.answer(tree).unwrap()), [Some(true); 2]);
            assert!(trust.forget(&both[taken_back]).unwrap());
            assert_eq!(both.each_ref().map(|tree| trust.answer(tree).unwrap()), [None; 2]);
            trust.record_answer(&both[agreed], true).unwrap();
            trust.record_answer(&both[taken_back], false).unwrap();
            assert_eq!(both.each_ref().map(|tree| trust.answer(tree).unwrap()), [Some(false); 2]);
        }
        // A record that cannot be read trusts nothing.
        std::fs::remove_file(state.join("trusted-folders")).unwrap();
        std::fs::create_dir(state.join("trusted-folders")).unwrap();
        assert!(trust.start_in(&dir.path().join("moved")).is_empty());
    }
}
