//! Finds the repository or the store around a folder, and the repository to which the folder certainly belongs.

use std::path::{Path, PathBuf};

/// Maximum size, in bytes, of a file that names another folder, such as a `.git` file.
const LONGEST: u64 = 4096;

/// Whether `dir` is the root of a git work tree.
pub fn has_repository(dir: &Path) -> bool {
    repository_of(dir).is_some()
}

/// Returns the root of the git work tree that contains `dir`, or else the nearest parent with a store.
pub fn root_around(dir: &Path) -> Option<PathBuf> {
    let dir = dir.canonicalize().ok()?;
    let tree = dir.ancestors().find(|dir| has_repository(dir));
    let root = tree.or_else(|| dir.ancestors().find(|dir| dir.join(".lepo").is_dir()));
    root.map(Path::to_path_buf)
}

/// Returns the roots of the git work trees that contain `dir`, a path without links, except its own.
pub fn repositories_around(dir: &Path) -> Vec<PathBuf> {
    dir.ancestors().skip(1).filter(|dir| has_repository(dir)).map(Path::to_path_buf).collect()
}

/// Returns the repository, without links, that the work tree at `root` certainly belongs to: its folder `.git`, or
/// the repository of which it is a linked worktree. Any folder can name any repository in a file, so a linked
/// worktree counts only if that repository names it too.
pub fn own_repository(root: &Path) -> Option<PathBuf> {
    let git = root.join(".git");
    let kind = git.symlink_metadata().ok()?;
    if kind.is_dir() {
        return git.canonicalize().ok();
    }
    if !kind.is_file() {
        return None;
    }
    let own = repository_of(root)?.canonicalize().ok()?;
    let common = own.join(short_text(&own.join("commondir"))?).canonicalize().ok()?;
    let is_inside = own.parent()? == common.join("worktrees");
    let named = own.join(short_text(&own.join("gitdir"))?).canonicalize().ok()?;
    (is_inside && named == git.canonicalize().ok()?).then_some(common)
}

fn short_text(path: &Path) -> Option<PathBuf> {
    let kind = path.metadata().ok()?;
    let text = Some(path).filter(|_| kind.is_file() && kind.len() <= LONGEST);
    Some(PathBuf::from(std::fs::read_to_string(text?).ok()?.trim_end_matches(['\n', '\r'])))
}

/// Returns the repository of the work tree at `root`: its folder `.git`, or the folder named in its `.git` file.
pub fn repository_of(root: &Path) -> Option<PathBuf> {
    let git = root.join(".git");
    let is_repository = |dir: &Path| {
        let has_head = dir.join("HEAD").symlink_metadata().is_ok();
        has_head && (dir.join("objects").is_dir() || dir.join("commondir").is_file())
    };
    let kind = git.metadata().ok()?;
    if kind.is_dir() {
        return Some(git).filter(|git| is_repository(git));
    }
    let text = Some(&git).filter(|_| kind.is_file() && kind.len() <= LONGEST);
    let text = text.and_then(|git| std::fs::read_to_string(git).ok())?;
    let named = root.join(text.strip_prefix("gitdir:")?.trim());
    Some(named).filter(|named| is_repository(named))
}
