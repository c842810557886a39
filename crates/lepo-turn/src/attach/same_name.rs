//! Names that look the same and are other bytes: a file system may keep `é` or `한` decomposed, while a keyboard types
//! it composed.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use icu_normalizer::ComposingNormalizerBorrowed;

/// The text in composed form.
pub fn composed(text: &str) -> String {
    ComposingNormalizerBorrowed::new_nfc().normalize(text).into_owned()
}

/// The path itself; where nothing is there, the one with the same names in another form, if there is one.
pub fn same_name(path: &Path) -> PathBuf {
    if path.to_str().is_none_or(str::is_ascii) || path.symlink_metadata().is_ok() {
        return path.to_path_buf();
    }
    let mut found = PathBuf::new();
    for part in path.components() {
        let next = found.join(part);
        let other = if next.symlink_metadata().is_ok() { None } else { alike(&found, part.as_os_str()) };
        found = other.unwrap_or(next);
    }
    if found.symlink_metadata().is_ok() { found } else { path.to_path_buf() }
}

/// The entry of this folder whose name is the same in composed form.
fn alike(folder: &Path, name: &OsStr) -> Option<PathBuf> {
    let name = composed(name.to_str()?);
    let listed = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let entries = listed.read_dir().ok()?.flatten().map(|entry| entry.file_name());
    let mut alike: Vec<_> =
        entries.filter(|entry| entry.to_str().is_some_and(|entry| composed(entry) == name)).collect();
    alike.sort();
    alike.into_iter().next().map(|entry| folder.join(entry))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `회의록` and `한글`, composed and decomposed.
    const MINUTES: (&str, &str) =
        ("\u{d68c}\u{c758}\u{b85d}", "\u{1112}\u{116c}\u{110b}\u{1174}\u{1105}\u{1169}\u{11a8}");
    const HANGUL: (&str, &str) = ("\u{d55c}\u{ae00}", "\u{1112}\u{1161}\u{11ab}\u{1100}\u{1173}\u{11af}");

    #[test]
    fn a_name_that_looks_the_same_is_found() {
        let dir = tempfile::tempdir().unwrap();
        let dir = dir.path();
        let folder = dir.join(HANGUL.1);
        std::fs::create_dir(&folder).unwrap();
        let file = folder.join(format!("{}.txt", MINUTES.1));
        std::fs::write(&file, "x").unwrap();
        let both = (dir.join("caf\u{e9}"), dir.join("cafe\u{301}"));
        std::fs::write(&both.0, "x").unwrap();
        std::fs::write(&both.1, "x").unwrap();
        let typed = dir.join(HANGUL.0).join(format!("{}.txt", MINUTES.0));
        for (path, found) in [
            (typed.as_path(), file.as_path()),
            (&file, &file),
            (&dir.join(HANGUL.0), &folder),
            (&both.0, &both.0),
            (&both.1, &both.1),
            (&folder.join("none"), &folder.join("none")),
            (&typed.with_extension("md"), &typed.with_extension("md")),
        ] {
            assert_eq!(same_name(path), found, "{path:?}");
        }
    }
}
