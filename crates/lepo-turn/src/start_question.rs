//! The question before programs of the user's start: all that a turn needs of a person, in one.

use std::path::Path;

use super::program_changes::ChangedProgram;
use super::steering_words::SteeringWords;
use crate::config::{FolderQuestion, FolderTrust, Paths, ProgramTrust, Trust};
use lepo_base::error::Result;
use lepo_tool::Unagreed;

/// Everything that one yes agrees to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StartQuestion {
    /// Folders in which programs start once they are trusted.
    pub folders: Vec<FolderQuestion>,
    /// Programs whose files changed since they were agreed to.
    pub changed: Vec<ChangedProgram>,
    pub(crate) words: SteeringWords,
}

impl StartQuestion {
    /// The question about files that changed, alone.
    pub fn about_files(changed: Vec<ChangedProgram>) -> StartQuestion {
        StartQuestion { changed, ..StartQuestion::default() }
    }

    /// The question about folders, alone.
    pub fn about_folders(folders: Vec<FolderQuestion>) -> StartQuestion {
        StartQuestion { folders, ..StartQuestion::default() }
    }

    /// True if no program needs an answer. Words alone are asked about with the request that they might steer.
    pub fn is_empty(&self) -> bool {
        self.folders.is_empty() && self.changed.is_empty()
    }

    /// Words of others that a yes agrees to.
    pub fn words(&self) -> Vec<Unagreed> {
        self.words.names()
    }

    /// The programs that it is about to start in new folders, each once.
    pub fn programs(&self) -> Vec<String> {
        let mut programs: Vec<String> =
            self.folders.iter().flat_map(|folder| folder.programs.clone()).collect();
        programs.sort();
        programs.dedup();
        programs
    }

    /// Keeps a person's answer, for programs that work for the repository of `root`. A no is kept for folders alone: a
    /// changed program is refused at its start, and asked about again.
    pub fn keep(&self, answer: bool, paths: &Paths, root: &Path) -> Result<()> {
        let trust = FolderTrust::new(paths);
        self.folders.iter().try_for_each(|question| trust.keep(&question.folder, answer))?;
        if !answer {
            return Ok(());
        }
        if let Some(trust) = ProgramTrust::of_folder(&paths.state, root) {
            self.changed.iter().try_for_each(|program| trust.agree(&program.files))?;
        }
        self.words.agree(&Trust::of(paths))
    }
}
