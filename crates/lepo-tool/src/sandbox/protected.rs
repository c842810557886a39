//! Paths that a command may not change in a working directory that it may otherwise write: repositories, whose hooks
//! and settings git obeys the next time that the user runs it, and stores.

use std::ffi::OsStr;
use std::io;
use std::path::{Component, Path, PathBuf};

use super::mount::Mount;
use super::survey::Survey;

/// Entries that make a directory a repository.
const REPOSITORY: &[&str] = &["HEAD", "objects", "refs"];

/// Returns each protected path at or below `dir` with its mount, links resolved, and the store, wherever it is. A path
/// with [`Mount::Absent`] has an existing parent.
pub fn protected(dir: &Path, store: &Path, survey: &Survey) -> io::Result<Vec<(PathBuf, Mount)>> {
    if survey.bare.iter().any(|bare| bare == dir) {
        let what = format!("{} is a git repository itself, whose settings git obeys", dir.display());
        return Err(io::Error::other(what));
    }
    let mut paths = vec![dir.join(".git"), dir.join(".lepo"), store.to_path_buf()];
    if !dir.join(".git").exists() || is_left(&dir.join(".git")) {
        // As long as one of these parts is missing, the directory itself does not become a repository.
        let mut parts = REPOSITORY.iter().map(|part| dir.join(part));
        paths.extend(parts.find(|part| part.symlink_metadata().is_err() || is_left(part)));
    }
    if survey.obeyed.iter().any(|obeyed| obeyed == dir) {
        let what = format!("{} is where a setting of git looks for hooks", dir.display());
        return Err(io::Error::other(what));
    }
    paths.extend(survey.obeyed.iter().filter(|path| path.symlink_metadata().is_ok()).cloned());
    paths.extend(submodules(dir));
    paths.extend(
        [&survey.repositories, &survey.stores, &survey.bare, &survey.unread].into_iter().flatten().cloned(),
    );
    let mut kept = Vec::new();
    let mut next = 0;
    while let Some(path) = paths.get(next).cloned() {
        next += 1;
        let Some(mount) = mount(&path)? else { continue };
        let path = if mount == Mount::ReadOnly { path.canonicalize()? } else { path };
        if path.is_file() {
            paths.extend(elsewhere(&path, dir));
        }
        if path.file_name() != Some(OsStr::new(".lepo")) && path.is_dir() {
            paths.extend(common(&path, dir));
        }
        kept.push((path, mount));
    }
    Ok(kept)
}

fn mount(path: &Path) -> io::Result<Option<Mount>> {
    Ok(match path.symlink_metadata() {
        Ok(meta) if meta.is_symlink() => {
            // The link could be replaced, however its target is mounted.
            let what = format!("{} is a link, which a sandbox cannot keep unchanged", path.display());
            return Err(io::Error::other(what));
        }
        Ok(_) if is_left(path) => Some(Mount::Absent),
        Ok(_) => Some(Mount::ReadOnly),
        // A repository made by a command would have hooks and settings that git obeys.
        Err(_) => path.parent().is_some_and(Path::is_dir).then_some(Mount::Absent),
    })
}

/// Whether this is an empty mount point, left over from a sandbox whose supervisor was killed.
fn is_left(path: &Path) -> bool {
    let is_dir = path.symlink_metadata().is_ok_and(|meta| meta.is_dir());
    let is_empty = || std::fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_none());
    is_dir && (path.ends_with(".git") || path.ends_with("HEAD")) && is_empty()
}

/// Returns the repositories of submodules, which git enters from above, even if they do not exist yet.
fn submodules(dir: &Path) -> Vec<PathBuf> {
    let text = std::fs::read_to_string(dir.join(".gitmodules")).unwrap_or_default();
    let path = |line: &str| {
        let (key, value) = line.split_once('=')?;
        let path = PathBuf::from(value.trim().trim_matches('"'));
        let plain = path.components().all(|part| matches!(part, Component::Normal(_)));
        (key.trim() == "path" && plain).then_some(path)
    };
    text.lines().filter_map(path).filter_map(|path| below(&dir.join(path).join(".git"), dir)).collect()
}

/// Returns the repository to which a `.git` file points.
fn elsewhere(file: &Path, dir: &Path) -> Option<PathBuf> {
    let text = std::fs::read_to_string(file).ok()?;
    let path = text.strip_prefix("gitdir:")?.trim();
    below(&file.parent()?.join(path), dir)
}

/// Returns the common directory to which a worktree's repository points.
fn common(repository: &Path, dir: &Path) -> Option<PathBuf> {
    let text = std::fs::read_to_string(repository.join("commondir")).ok()?;
    below(&repository.join(text.trim()), dir)
}

/// Resolves links except in the last component; `None` if the result is not below `dir`: elsewhere nothing can be
/// written anyway.
fn below(path: &Path, dir: &Path) -> Option<PathBuf> {
    let path = match path.file_name() {
        Some(name) => path.parent()?.canonicalize().ok()?.join(name),
        // The path ends in `..`.
        None => path.canonicalize().ok()?,
    };
    (path.starts_with(dir) && path != dir).then_some(path)
}

#[cfg(test)]
mod tests {
    use super::super::survey::survey;
    use super::*;

    #[test]
    fn repositories_and_stores_are_found_wherever_they_are() {
        let temp_dir = tempfile::tempdir().unwrap();
        let dir = temp_dir.path().canonicalize().unwrap();
        let modules =
            "[submodule \"lib\"]\n\tpath = lib\n[submodule \"x\"]\n\tpath = ../x\n\tpath = gone/deep\n";
        for (path, text) in [
            (".git/HEAD", "ref"),
            ("fixture/HEAD", "ref"),
            ("fixture/objects/x", ""),
            ("fixture/refs/x", ""),
            ("lib/.git", "gitdir: ../.git/modules/lib"),
            (".git/modules/lib/HEAD", "ref"),
            ("sub/tree/.git", "gitdir: ../../repository/worktrees/tree\n"),
            ("repository/worktrees/tree/commondir", "../.."),
            ("repository/HEAD", "ref"),
            ("deep/er/.lepo/x.md", ""),
            ("killed/src/main.c", ""),
            (".gitmodules", modules),
        ] {
            let path = dir.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        for path in ["killed/.git", "not-yet"] {
            std::fs::create_dir(dir.join(path)).unwrap();
        }
        std::fs::write(dir.join(".gitmodules"), format!("{modules}\tpath=\"not-yet\"\n")).unwrap();
        let survey = survey(&dir, 100).unwrap();
        let kept = protected(&dir, &dir.join(".lepo"), &survey).unwrap();
        let mut found: Vec<(String, Mount)> = kept
            .into_iter()
            .map(|(path, mount)| (path.strip_prefix(&dir).unwrap().display().to_string(), mount))
            .collect();
        found.sort_by(|a, b| a.0.cmp(&b.0));
        found.dedup();
        let expected = [
            (".git", Mount::ReadOnly),
            (".git/modules/lib", Mount::ReadOnly),
            (".lepo", Mount::Absent),
            ("deep/er/.lepo", Mount::ReadOnly),
            ("fixture", Mount::ReadOnly),
            ("killed/.git", Mount::Absent),
            ("lib/.git", Mount::ReadOnly),
            ("not-yet/.git", Mount::Absent),
            ("repository", Mount::ReadOnly),
            ("repository/worktrees/tree", Mount::ReadOnly),
            ("sub/tree/.git", Mount::ReadOnly),
        ];
        assert_eq!(found, expected.map(|(path, mount)| (path.to_string(), mount)));
    }
}
