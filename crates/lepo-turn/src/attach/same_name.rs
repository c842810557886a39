//! Names that look alike but differ in bytes: a file system may store `é` or `한` decomposed, while a keyboard
//! enters it composed.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use icu_normalizer::ComposingNormalizerBorrowed;

/// Returns the text in composed form (NFC).
pub fn composed(text: &str) -> String {
    ComposingNormalizerBorrowed::new_nfc().normalize(text).into_owned()
}

/// Returns the path unchanged if it exists; otherwise an existing path with equivalent names, if there is
/// one.
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

/// Returns the entry of this folder whose name has the same composed form.
fn alike(folder: &Path, name: &OsStr) -> Option<PathBuf> {
    let name = composed(name.to_str()?);
    let listed = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let entries = listed.read_dir().ok()?.flatten().map(|entry| entry.file_name());
    let mut alike: Vec<_> =
        entries.filter(|entry| entry.to_str().is_some_and(|entry| composed(entry) == name)).collect();
    alike.sort();
    alike.into_iter().next().map(|entry| folder.join(entry))
}

/// Returns an existing file whose name looks like this missing one: it differs in blanks, quotes, dashes,
/// capitals, or characters without a width.
pub fn lookalike(path: &Path) -> Option<PathBuf> {
    let name = path.file_name()?.to_str()?;
    let folder = path.parent().map(same_name).unwrap_or_default();
    let listed = if folder.as_os_str().is_empty() { Path::new(".") } else { &folder };
    let looks = plain(name);
    let entries = listed.read_dir().ok()?.flatten().take(MOST).map(|entry| entry.file_name());
    let mut alike: Vec<_> = entries
        .filter(|entry| entry.to_str().is_some_and(|entry| entry != name && plain(entry) == looks))
        .collect();
    alike.sort();
    alike.into_iter().next().map(|entry| folder.join(entry))
}

/// Maximum number of entries of a folder to look at.
const MOST: usize = 20_000;

/// Normalises a name to how it looks to a user who types it from a listing.
fn plain(name: &str) -> String {
    let letter = |letter: char| match letter {
        letter if letter.is_whitespace() => Some(' '),
        '\u{ad}'
        | '\u{200b}'..='\u{200f}'
        | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{2069}'
        | '\u{feff}' => None,
        '\u{2018}' | '\u{2019}' | '\u{2bc}' | '`' => Some('\''),
        '\u{201c}' | '\u{201d}' => Some('"'),
        '\u{2010}'..='\u{2015}' | '\u{2212}' => Some('-'),
        '\u{2026}' => Some('.'),
        letter => Some(letter),
    };
    let plain: String = composed(name).chars().filter_map(letter).collect();
    plain.to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `회의록` and `한글`, composed and decomposed.
    const MINUTES: (&str, &str) =
        ("\u{d68c}\u{c758}\u{b85d}", "\u{1112}\u{116c}\u{110b}\u{1174}\u{1105}\u{1169}\u{11a8}");
    const HANGUL: (&str, &str) = ("\u{d55c}\u{ae00}", "\u{1112}\u{1161}\u{11ab}\u{1100}\u{1173}\u{11af}");

    #[test]
    fn a_file_that_looks_like_one_that_is_not_there_is_found() {
        for (there, typed, is_alike) in [
            ("Screenshot 10.00\u{202f}AM.png", "Screenshot 10.00 AM.png", true),
            ("it\u{2019}s.txt", "it's.txt", true),
            ("README.md", "readme.md", true),
            ("a\u{200b}b.txt", "ab.txt", true),
            ("a\u{2013}b.txt", "a-b.txt", true),
            ("cafe\u{301}.TXT", "caf\u{e9}.txt", true),
            // https://github.com/mpfaffenberger/code_puppy/pull/911, https://github.com/cline/cline/pull/10691
            (
                "Screenshot 2026-08-28 at 8.55.11\u{202f}PM.png",
                "Screenshot 2026-08-28 at 8.55.11 PM.png",
                true,
            ),
            // https://github.com/superset-sh/superset/issues/6369
            (
                "Screenshot 2026-08-12 at 9.42.51\u{202f}am.png",
                "Screenshot 2026-08-12 at 9.42.51 am.png",
                true,
            ),
            // https://github.com/anthropics/claude-code/issues/59381
            ("Sn\u{ed}mek 2026-05-15 v\u{a0}13.05.05.png", "Sn\u{ed}mek 2026-05-15 v 13.05.05.png", true),
            ("Sni\u{301}mek 2026-05-15 v\u{a0}13.05.05.png", "Sn\u{ed}mek 2026-05-15 v 13.05.05.png", true),
            // https://github.com/anthropics/claude-code/issues/85673
            ("Screenshot at 9.22.20\u{202f}PM.heic", "Screenshot at 9.22.20 PM.heic", true),
            ("other.txt", "another.txt", false),
            ("a.txt", "a.md", false),
        ] {
            let dir = tempfile::tempdir().unwrap();
            std::fs::write(dir.path().join(there), "x").unwrap();
            let found = lookalike(&dir.path().join(typed));
            assert_eq!(found, is_alike.then(|| dir.path().join(there)), "{typed}");
        }
    }

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
