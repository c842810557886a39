//! Which sandbox works here: found out by trying one, for a program that is there may still be
//! forbidden (containers, AppArmor) and a kernel that is new may have it switched off.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::OnceCell;

use super::{Sandbox, bubblewrap, ground, landlock};
use crate::tool::Access;

/// How long the trial may take; a sandbox that starts slower is none.
const TRIAL: Duration = Duration::from_secs(5);

/// What works here, tried once a process. Clones share what was found.
#[derive(Debug, Clone, Default)]
pub struct Detected(Arc<OnceCell<Sandbox>>);

impl Detected {
    /// Begins to try, while other work goes on.
    pub fn begin(&self) {
        let detected = self.clone();
        tokio::spawn(async move {
            detected.get().await;
        });
    }

    /// What works.
    pub async fn get(&self) -> &Sandbox {
        self.0.get_or_init(detect).await
    }
}

async fn detect() -> Sandbox {
    if let Some(program) = find_bwrap()
        && works(&program).await
    {
        return Sandbox::Bubblewrap(program);
    }
    match landlock::works() {
        true => Sandbox::Landlock,
        false => Sandbox::None,
    }
}

/// In `PATH`, its absolute directories only: where lepo stands, others may have put files.
fn find_bwrap() -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .filter(|dir| dir.is_absolute())
        .map(|dir| dir.join("bwrap"))
        .find(|file| file.is_file())
}

async fn works(program: &Path) -> bool {
    let Ok(mut held) =
        bubblewrap::Held::new(program, Access::Read, &ground::everything(), Path::new("/"), &[])
    else {
        return false;
    };
    held.command.args(["sh", "-c", ":"]).kill_on_drop(true);
    held.command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    match tokio::time::timeout(TRIAL, held.command.status()).await {
        Ok(Ok(status)) => status.success(),
        _ => false,
    }
}
