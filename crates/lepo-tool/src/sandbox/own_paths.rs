//! lepo's own folders and files, followed through links: a command that could change or replace one of them would decide
//! what lepo starts next.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::io;
use std::path::{Component, Path, PathBuf};

/// Limits the links of one path, as the kernel does (`ELOOP`).
const MOST_LINKS: usize = 40;

/// Limits the search for links within a folder: its depth, and the entries read.
const MOST_DEPTH: usize = 3;
const MOST_ENTRIES: usize = 2000;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ResolvedPath {
    Existing(PathBuf),
    /// The first missing component; its parent exists.
    Missing {
        path: PathBuf,
        is_last: bool,
    },
}

/// Resolves these paths, and the links within the folders among them. A link in a writable folder is an error: a command
/// could replace it, however its target is mounted.
pub fn resolve_all(own: &[PathBuf], is_writable: impl Fn(&Path) -> bool) -> io::Result<Vec<ResolvedPath>> {
    let mut resolved = Vec::new();
    for path in own {
        let path = resolve(path, &is_writable)?;
        let targets = match &path {
            ResolvedPath::Existing(folder) => targets_within(folder),
            ResolvedPath::Missing { .. } => Vec::new(),
        };
        resolved.push(path);
        for target in targets {
            resolved.push(resolve(&target, &is_writable)?);
        }
    }
    Ok(resolved)
}

/// Follows the links of an absolute path. A link in a writable folder is an error.
pub fn resolve(path: &Path, is_writable: &impl Fn(&Path) -> bool) -> io::Result<ResolvedPath> {
    let mut left: VecDeque<OsString> = names(path);
    let (mut at, mut links) = (PathBuf::from("/"), 0);
    while let Some(name) = left.pop_front() {
        if name == ".." {
            at.pop();
            continue;
        }
        let next = at.join(&name);
        let Ok(meta) = next.symlink_metadata() else {
            return Ok(ResolvedPath::Missing { path: next, is_last: left.is_empty() });
        };
        if !meta.is_symlink() {
            at = next;
            continue;
        }
        links += 1;
        if links > MOST_LINKS || is_writable(&at) {
            let what = format!("{} is a link, which a sandbox cannot keep unchanged", next.display());
            return Err(io::Error::other(what));
        }
        let target = next.read_link()?;
        if target.is_absolute() {
            at = PathBuf::from("/");
        }
        for name in names(&target).into_iter().rev() {
            left.push_front(name);
        }
    }
    Ok(ResolvedPath::Existing(at))
}

/// Returns the names of a path and its `..`.
fn names(path: &Path) -> VecDeque<OsString> {
    let parts = path.components().filter(|part| matches!(part, Component::Normal(_) | Component::ParentDir));
    parts.map(|part| part.as_os_str().to_os_string()).collect()
}

/// Returns the targets of links in a folder, which may not exist.
fn targets_within(folder: &Path) -> Vec<PathBuf> {
    let (mut targets, mut folders, mut entries) = (Vec::new(), vec![(folder.to_path_buf(), 0)], 0);
    while let Some((folder, depth)) = folders.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            entries += 1;
            if entries > MOST_ENTRIES {
                return targets;
            }
            match entry.file_type() {
                Ok(kind) if kind.is_symlink() => {
                    targets.extend(entry.path().read_link().map(|target| folder.join(target)));
                }
                Ok(kind) if kind.is_dir() && depth < MOST_DEPTH => folders.push((entry.path(), depth + 1)),
                _ => {}
            }
        }
    }
    targets
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn links_are_followed_to_the_end_or_to_what_is_missing() {
        let home = tempfile::tempdir().unwrap();
        let home = home.path().canonicalize().unwrap();
        for folder in ["app/lepo/.config/lepo", ".config", "state"] {
            std::fs::create_dir_all(home.join(folder)).unwrap();
        }
        std::fs::write(home.join("app/mcp.json"), "{}").unwrap();
        let own = home.join("app/lepo/.config/lepo");
        symlink("../app/lepo/.config/lepo", home.join(".config/lepo")).unwrap();
        symlink(home.join("app/mcp.json"), own.join("mcp.json")).unwrap();
        symlink("../../../config.toml", own.join("config.toml")).unwrap();
        let writable = home.join("app");
        let is_writable = |path: &Path| path.starts_with(&writable);
        let mut resolved =
            resolve_all(&[home.join(".config/lepo"), home.join("app/new/lepo")], is_writable).unwrap();
        resolved.sort_by_key(|path| format!("{path:?}"));
        let mut expected = vec![
            ResolvedPath::Existing(own),
            ResolvedPath::Existing(home.join("app/mcp.json")),
            ResolvedPath::Missing { path: home.join("app/config.toml"), is_last: true },
            ResolvedPath::Missing { path: home.join("app/new"), is_last: false },
        ];
        expected.sort_by_key(|path| format!("{path:?}"));
        assert_eq!(resolved, expected);
        symlink("lepo", home.join("app/l")).unwrap();
        let error = resolve_all(&[home.join("app/l/.config")], is_writable).unwrap_err();
        assert!(
            error.to_string().ends_with("app/l is a link, which a sandbox cannot keep unchanged"),
            "{error}"
        );
    }
}
