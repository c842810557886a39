//! The folder in which the program of a model starts.

use std::fmt;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use lepo_base::error::{Error, Result};
use lepo_base::search_path::may_exist;
use lepo_process::StartFolder;

/// Returns the folder in which a program starts that works for this folder.
pub type FindStart = Arc<dyn Fn(&Path) -> StartFolder + Send + Sync>;

/// Compares a program's files with those that the user agreed to, by its command line and start folder. An error is
/// the reason not to start it. The returned descriptor is a lock: close it when the program has started.
pub type CompareFiles =
    Arc<dyn Fn(&[String], &Path) -> std::result::Result<Option<OwnedFd>, String> + Send + Sync>;

/// Folders of the programs that run models.
#[derive(Clone)]
pub struct ModelFolders {
    /// Folder that a `cli` model works in.
    pub cli_dir: PathBuf,
    /// Called right before a start, because the user may have been asked in the meantime.
    pub find_start: FindStart,
    /// Called right before a start outside of every sandbox.
    pub compare_files: CompareFiles,
    /// Whether this is a trial: it needs nothing from the folder, so a `cli` model may answer from an empty one.
    pub is_trial: bool,
}

impl fmt::Debug for ModelFolders {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ModelFolders").field("cli_dir", &self.cli_dir).finish_non_exhaustive()
    }
}

impl ModelFolders {
    /// Returns the folders for a trial question: each program gets an empty folder in `state`.
    pub fn of_trial(state: &Path) -> ModelFolders {
        let empty = StartFolder::empty(state);
        let cli_dir = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("/"));
        ModelFolders {
            cli_dir,
            find_start: Arc::new(move |_| empty.clone()),
            compare_files: Arc::new(|_, _| Ok(None)),
            is_trial: true,
        }
    }

    /// Returns the folder in which an agent that works for `dir` starts.
    pub(crate) fn start_in(&self, dir: &Path) -> StartFolder {
        (self.find_start)(dir)
    }

    /// Returns the folder in which the `cli` model of this name starts. The program reads settings from its folder,
    /// so it does not start in an untrusted one. A missing program fails when it is started.
    pub(crate) fn cli_start(&self, model: &str, program: &str) -> Result<StartFolder> {
        let start = self.start_in(&self.cli_dir);
        if start.is_empty() && !self.is_trial && may_exist(program) {
            let dir = self.cli_dir.display();
            return Err(Error::usage(format!(
                "model \"{model}\" is not started: {dir} is not trusted, and a program may run files of the folder it \
                 starts in"
            ))
            .hint("`lepo trust` trusts this folder; or ask another model with -m"));
        }
        Ok(start)
    }
}
