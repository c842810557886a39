//! The question before the user's programs start: a single question with everything for which a turn needs
//! the user.

use std::path::Path;

use super::program_changes::ChangedProgram;
use super::steering_texts::SteeringTexts;
use crate::config::{FolderQuestion, FolderTrust, Paths, ProgramTrust, Trust};
use lepo_base::error::Result;
use lepo_tool::Unagreed;

/// Everything that a single yes agrees to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StartQuestion {
    /// Folders in which programs start once they are trusted.
    pub folders: Vec<FolderQuestion>,
    /// Programs with files that changed since the user agreed to them.
    pub changed: Vec<ChangedProgram>,
    pub(crate) steering: SteeringTexts,
}

impl StartQuestion {
    /// Creates a question only about changed files.
    pub fn about_files(changed: Vec<ChangedProgram>) -> StartQuestion {
        StartQuestion { changed, ..StartQuestion::default() }
    }

    /// Creates a question only about folders.
    pub fn about_folders(folders: Vec<FolderQuestion>) -> StartQuestion {
        StartQuestion { folders, ..StartQuestion::default() }
    }

    /// Whether no program needs an answer. Texts of others alone are part of the question about the request
    /// that they might steer.
    pub fn is_empty(&self) -> bool {
        self.folders.is_empty() && self.changed.is_empty()
    }

    /// Returns the texts of others that a yes agrees to.
    pub fn texts(&self) -> Vec<Unagreed> {
        self.steering.names()
    }

    /// Returns the programs to start in new folders, without duplicates.
    pub fn programs(&self) -> Vec<String> {
        let mut programs: Vec<String> =
            self.folders.iter().flat_map(|folder| folder.programs.clone()).collect();
        programs.sort();
        programs.dedup();
        programs
    }

    /// Records the user's answer, for programs of the repository at `root`. A no is recorded for folders
    /// only: a changed program is refused when it starts, and the user is asked again.
    pub fn record_answer(&self, answer: bool, paths: &Paths, root: &Path) -> Result<()> {
        let trust = FolderTrust::new(paths);
        self.folders.iter().try_for_each(|question| trust.record_answer(&question.folder, answer))?;
        if !answer {
            return Ok(());
        }
        if let Some(trust) = ProgramTrust::of_folder(&paths.state, root) {
            self.changed.iter().try_for_each(|program| trust.record_consent(&program.files))?;
        }
        self.steering.record_consent(&Trust::new(paths))
    }
}
