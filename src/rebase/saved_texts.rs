//! Edited texts that could not be used, stored in the state folder for the next try.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use lepo_store::store::now;

/// Older ones are deleted.
const MOST: usize = 10;

const PREFIX: &str = "rebase-";

/// Writes a text for its owner only; returns its path.
pub fn save_text(folder: &Path, text: &[u8]) -> io::Result<PathBuf> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    // Later than every other, so that names sort by age.
    let mut stamp = saved_texts(folder).last().map_or(0, |last| stamp_of(last) + 1).max(now());
    let (path, mut file) = loop {
        let path = folder.join(format!("{PREFIX}{stamp:013}.md"));
        match create(&path) {
            Ok(file) => break (path, file),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => stamp += 1,
            Err(error) => return Err(error),
        }
    };
    file.write_all(text)?;
    let kept = saved_texts(folder);
    let old = kept.len().saturating_sub(MOST);
    // A text that cannot be deleted is deleted by the next one.
    kept.iter().take(old).for_each(|path| drop(std::fs::remove_file(path)));
    Ok(path)
}

fn stamp_of(path: &Path) -> u64 {
    let name = path.file_stem().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    name.strip_prefix(PREFIX).and_then(|stamp| stamp.parse().ok()).unwrap_or_default()
}

fn create(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)
}

/// Returns the paths of the stored texts, the oldest first.
pub fn saved_texts(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let is_text =
        |path: &PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(PREFIX));
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).filter(is_text).collect();
    paths.sort();
    paths
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn the_last_ten_stay_readable_by_their_owner_only() {
        let dir = tempfile::TempDir::new().unwrap();
        let folder = dir.path().join("state/texts");
        assert_eq!(saved_texts(&folder), Vec::<PathBuf>::new());
        let paths: Vec<PathBuf> = (0..13).map(|at| save_text(&folder, &[b'0' + at]).unwrap()).collect();
        assert_eq!(saved_texts(&folder), &paths[3..]);
        for (at, path) in paths.iter().enumerate().skip(3) {
            assert_eq!(std::fs::read(path).unwrap(), [b'0' + at as u8]);
            assert_eq!(std::fs::metadata(path).unwrap().permissions().mode() & 0o777, 0o600);
        }
        assert_eq!(std::fs::metadata(&folder).unwrap().permissions().mode() & 0o777, 0o700);
    }
}
