//! Finds a sandbox that works here by trying it: an installed program may be forbidden (containers, AppArmor), and a
//! new kernel may have the feature disabled.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::OnceCell;

use super::mount::{self, Mount};
use super::{Sandbox, bubblewrap, landlock};
use crate::{Access, SHELL};
use lepo_base::env;
use lepo_base::search_path::SearchPath;
use lepo_base::sys::HAS_SANDBOX;
use lepo_net::runtime::current_thread;
use lepo_process::{Environment, Program};

/// Time limit of the trial; a sandbox that starts more slowly is not used.
const TRIAL: Duration = Duration::from_secs(5);

/// The sandbox that works here, tried once per process. Clones share the result.
#[derive(Debug, Clone, Default)]
pub struct SandboxDetector(Arc<OnceCell<Sandbox>>);

impl SandboxDetector {
    /// Starts the trial in the background.
    pub fn start(&self, dir: &Path) {
        let (detected, dir) = (self.clone(), dir.to_path_buf());
        tokio::spawn(async move {
            detected.get(&dir).await;
        });
    }

    /// Returns the sandbox that works, for a program without an async runtime.
    pub fn now(dir: &Path) -> Sandbox {
        current_thread().map_or(Sandbox::None, |runtime| runtime.block_on(detect(dir)))
    }

    /// Returns the sandbox that works for commands that may write in `dir`.
    pub async fn get(&self, dir: &Path) -> &Sandbox {
        self.0.get_or_init(|| detect(dir)).await
    }
}

async fn detect(dir: &Path) -> Sandbox {
    if !HAS_SANDBOX {
        return Sandbox::None;
    }
    for program in find_bwrap(dir) {
        if works(&program).await {
            return Sandbox::Bubblewrap(program);
        }
    }
    match landlock::is_available() {
        true => Sandbox::Landlock,
        false => Sandbox::None,
    }
}

/// Finds programs `bwrap` in the search path, except those in the working directory: a command that may write there
/// could have created one, and it would run outside of any sandbox.
fn find_bwrap(dir: &Path) -> Vec<PathBuf> {
    let Ok(dir) = dir.canonicalize() else { return Vec::new() };
    let program = |entry: PathBuf| {
        let file = entry.join("bwrap").canonicalize().ok()?;
        let meta = file.metadata().ok()?;
        let sound = entry.is_absolute() && !entry.canonicalize().ok()?.starts_with(&dir);
        (sound && !file.starts_with(&dir) && meta.is_file() && meta.mode() & 0o111 != 0).then_some(file)
    };
    let path = env::var("PATH").unwrap_or_default();
    SearchPath::for_folders(&path, &[&dir]).dirs().iter().cloned().filter_map(program).collect()
}

async fn works(program: &Path) -> bool {
    let mut mounts = mount::everything();
    // Mounted by its descriptor, which older versions do not support.
    mounts.insert("/usr".into(), Mount::ReadOnly);
    let env = Environment::new();
    let words = [SHELL, "-c", ":"];
    let trial = bubblewrap::program(program, Access::Read, &mounts, Path::new("/"), &env, &words);
    let Ok(mut running) = trial.and_then(Program::spawn) else { return false };
    let works = match tokio::time::timeout(TRIAL, running.wait()).await {
        Ok(Ok(status)) => status.success(),
        _ => false,
    };
    running.terminate();
    works
}
