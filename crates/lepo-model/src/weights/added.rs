//! Weights that the user added, by name. A file is added once its hash is correct and a model has answered from it;
//! an incomplete file is removed by the next addition.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::{FetchProgress, LOCK, lock, unusable};
use lepo_base::error::{Error, Result};
use lepo_base::hash::hex;

/// The folder of added weights, within the folder of all weights.
const FOLDER: &str = "added";

const END: &str = ".gguf";

/// The suffix of the converted weights that the embedded program stores next to the file.
const CONVERTED: &str = ".q8_0";

/// The name of an incomplete file.
const INCOMING: &str = ".incoming";

/// The maximum length of a name.
const LONGEST: usize = 64;

/// Whether a name is valid: letters, digits, `-`, `_` and `.`, without `.` or `-` at the start.
pub fn is_name(name: &str) -> bool {
    let is_sound = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    !name.is_empty() && name.len() <= LONGEST && name.chars().all(is_sound) && !name.starts_with(['.', '-'])
}

/// Returns the path of added weights.
pub fn find(dir: &Path, name: &str) -> Option<PathBuf> {
    let path = dir.join(FOLDER).join(format!("{name}{END}"));
    (is_name(name) && path.is_file()).then_some(path)
}

/// Returns the names of all added weights, sorted.
pub fn names(dir: &Path) -> Vec<String> {
    let entries = fs::read_dir(dir.join(FOLDER)).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries
        .filter_map(|entry| entry.file_name().into_string().ok()?.strip_suffix(END).map(str::to_string))
        .filter(|name| is_name(name))
        .collect();
    names.sort();
    names
}

/// Removes added weights; returns false if the name is unknown.
pub fn remove(dir: &Path, name: &str) -> Result<bool> {
    let Some(path) = find(dir, name) else { return Ok(false) };
    fs::remove_file(&path).map_err(|error| unusable(dir, error))?;
    let _ = fs::remove_file(temp_path(&path));
    Ok(true)
}

/// Weights that are being added. Dropping the value removes them.
pub struct NewWeights {
    dir: PathBuf,
    path: PathBuf,
    file: File,
    hash: Sha256,
    /// Only one addition runs at a time.
    _lock: File,
}

impl NewWeights {
    /// Starts an addition; waits for other fetches and additions.
    pub fn create(dir: &Path, progress: &mut dyn FnMut(FetchProgress)) -> Result<NewWeights> {
        let failed = |error: io::Error| unusable(dir, error);
        let folder = dir.join(FOLDER);
        fs::create_dir_all(&folder).map_err(failed)?;
        let lock = lock(&dir.join(LOCK), progress).map_err(failed)?;
        let path = folder.join(INCOMING);
        let file = File::create(&path).map_err(failed)?;
        let _ = fs::remove_file(temp_path(&path));
        Ok(NewWeights { dir: dir.to_path_buf(), path, file, hash: Sha256::new(), _lock: lock })
    }

    /// Appends bytes to the file.
    pub fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.hash.update(bytes);
        self.file.write_all(bytes).map_err(|error| unusable(&self.dir, error))
    }

    /// Returns the path of the complete file, to try a model with it. Fails if the hash is not `sha256`.
    pub fn checked(&self, sha256: &str) -> Result<&Path> {
        let found = hex(&self.hash.clone().finalize());
        match found.eq_ignore_ascii_case(sha256) {
            true => Ok(&self.path),
            false => Err(Error::remote(format!("its sha256 is {found}, not {sha256}"))
                .hint("nothing was added; take the hash from where the weights are published")),
        }
    }

    /// Adds the file under a new name.
    pub fn add_as(self, name: &str) -> Result<PathBuf> {
        let path = self.dir.join(FOLDER).join(format!("{name}{END}"));
        let kept = self.file.sync_all().and_then(|()| fs::hard_link(&self.path, &path));
        kept.map_err(|error| unusable(&self.dir, error))?;
        // The converted weights belong to the same file.
        let _ = fs::rename(temp_path(&self.path), temp_path(&path));
        File::open(self.dir.join(FOLDER))
            .and_then(|folder| folder.sync_all())
            .map_err(|error| unusable(&self.dir, error))?;
        Ok(path)
    }
}

impl Drop for NewWeights {
    fn drop(&mut self) {
        let _ = fs::remove_file(temp_path(&self.path));
        let _ = fs::remove_file(&self.path);
    }
}

fn temp_path(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(CONVERTED);
    name.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The hash of `hello` and a newline.
    const HASH: &str = "5891B5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03";

    fn incoming(dir: &Path) -> NewWeights {
        let mut incoming = NewWeights::create(dir, &mut |_| ()).unwrap();
        incoming.write(b"hel").unwrap();
        incoming.write(b"lo\n").unwrap();
        incoming
    }

    #[test]
    fn what_counts_was_checked() {
        let home = tempfile::tempdir().unwrap();
        let dir = home.path().join("models");
        assert!(names(&dir).is_empty());
        let wrong = incoming(&dir);
        assert!(wrong.checked(&"0".repeat(64)).unwrap_err().message.contains("5891b5b5"));
        drop(wrong);
        assert!(names(&dir).is_empty() && fs::read_dir(dir.join(FOLDER)).unwrap().next().is_none());

        let sound = incoming(&dir);
        let path = sound.checked(HASH).unwrap();
        fs::write(temp_path(path), "converted").unwrap();
        let kept = sound.add_as("big.er").unwrap();
        assert_eq!(fs::read(&kept).unwrap(), b"hello\n");
        assert_eq!(fs::read(temp_path(&kept)).unwrap(), b"converted");
        assert_eq!((names(&dir), find(&dir, "big.er")), (vec!["big.er".to_string()], Some(kept)));
        assert!(incoming(&dir).add_as("big.er").is_err(), "none is replaced");

        assert!(remove(&dir, "big.er").unwrap() && !remove(&dir, "big.er").unwrap());
        assert!(fs::read_dir(dir.join(FOLDER)).unwrap().next().is_none());
    }

    #[test]
    fn names_are_plain() {
        for (name, is) in [
            ("SmolLM2-360M_Q8.0", true),
            ("", false),
            (".x", false),
            ("-x", false),
            ("a/b", false),
            ("가", false),
        ] {
            assert_eq!(is_name(name), is, "{name}");
        }
    }
}
