//! Whether git tracks a file of a worktree: then it came with a clone, or may come with the next pull.

use std::ffi::OsString;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::process::Stdio;

use crate::repository::repository_of;
use crate::search_path;
use crate::worktree::REMOVED;

/// Maximum size in bytes of an index to search here; for a larger one git is run.
const LARGEST: u64 = 64 << 20;

/// Variables that make git interpret a path differently.
const READ_PATHS: [&str; 4] =
    ["GIT_LITERAL_PATHSPECS", "GIT_GLOB_PATHSPECS", "GIT_NOGLOB_PATHSPECS", "GIT_ICASE_PATHSPECS"];

/// Whether git tracks the file at `path`, in the worktree with this root. If this cannot be determined, it counts as
/// tracked.
///
/// The index is searched first: most have no file of that name, and starting git costs milliseconds.
pub fn is_tracked(root: &Path, path: &Path) -> bool {
    let Some(name) = path.file_name() else { return true };
    match index_of(root).map(|index| lacks(&index, name.as_encoded_bytes())) {
        Some(true) => false,
        _ => git_tracks(root, path),
    }
}

/// Reads the index; `None` if it is missing or too large.
fn index_of(root: &Path) -> Option<Vec<u8>> {
    let file = File::open(repository_of(root)?.join("index")).ok()?;
    let mut bytes = Vec::new();
    let length = file.take(LARGEST + 1).read_to_end(&mut bytes).ok()? as u64;
    (length <= LARGEST).then_some(bytes)
}

/// Whether an index certainly has no file of this name, in any case. Version 4 compresses names, and a split or
/// sparse index does not list all of them, so neither is certain.
fn lacks(index: &[u8], name: &[u8]) -> bool {
    let is_plain = index.starts_with(b"DIRC\0\0\0\x02") || index.starts_with(b"DIRC\0\0\0\x03");
    let has = |word: &[u8]| index.windows(word.len()).any(|found| found.eq_ignore_ascii_case(word));
    is_plain && !has(name) && !has(b"link") && !has(b"sdir")
}

/// Asks git. Without git, or if it refuses, the file counts as tracked.
fn git_tracks(root: &Path, path: &Path) -> bool {
    let Ok(below) = path.strip_prefix(root) else { return true };
    let mut git = search_path::command("git");
    for variable in REMOVED.iter().chain(&READ_PATHS) {
        git.env_remove(variable);
    }
    // On a case-insensitive file system, `_Insts.toml` is the same file.
    let mut exactly = OsString::from(":(literal,icase)");
    exactly.push(below);
    git.arg("-C").arg(root).args(["-c", "core.fsmonitor=false", "ls-files", "--"]);
    git.arg(exactly).stdin(Stdio::null()).stderr(Stdio::null());
    match git.output() {
        Ok(ran) if ran.status.success() => !ran.stdout.is_empty(),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    fn git(root: &Path, args: &[&str]) {
        let mut git = Command::new("git");
        git.arg("-C").arg(root).args(["-c", "user.name=x", "-c", "user.email=x@y"]).args(args);
        assert!(git.stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap().success(), "{args:?}");
    }

    #[test]
    fn a_file_is_tracked_once_git_knows_it_in_every_form_of_an_index() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let file = root.join(".lepo/_insts.toml");
        std::fs::create_dir(root.join(".lepo")).unwrap();
        std::fs::write(&file, "x").unwrap();
        std::fs::write(root.join("other"), "x").unwrap();
        assert!(is_tracked(&root, &file), "no repository says anything");
        git(&root, &["init", "-q"]);
        assert!(!is_tracked(&root, &file), "an empty repository has no index");
        git(&root, &["add", "other"]);
        assert!(!is_tracked(&root, &file));
        for form in [&["update-index", "--index-version", "4"][..], &["update-index", "--split-index"]] {
            git(&root, form);
            assert!(!is_tracked(&root, &file), "{form:?}");
        }
        // A file of the same name elsewhere is another file.
        std::fs::create_dir_all(root.join("sub/.lepo")).unwrap();
        std::fs::write(root.join("sub/.lepo/_insts.toml"), "x").unwrap();
        git(&root, &["add", "sub"]);
        assert!(!is_tracked(&root, &file));
        for form in [
            &["add", "-f", ".lepo/_insts.toml"][..],
            &["update-index", "--no-split-index"],
            &["update-index", "--index-version", "2"],
            &["commit", "-qm", "x"],
        ] {
            git(&root, form);
            assert!(is_tracked(&root, &file), "{form:?}");
        }
        git(&root, &["rm", "-q", "--cached", ".lepo/_insts.toml"]);
        assert!(!is_tracked(&root, &file));
        // On a case-insensitive file system, a clone has the file under another spelling.
        std::fs::create_dir_all(root.join(".LEPO")).unwrap();
        std::fs::write(root.join(".LEPO/_Insts.toml"), "x").unwrap();
        git(&root, &["add", "-f", ".LEPO/_Insts.toml"]);
        assert!(is_tracked(&root, &file));
        assert!(is_tracked(&root, Path::new("/elsewhere/_insts.toml")), "outside of the worktree");
    }
}
