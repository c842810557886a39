//! Where repositories and stores are: the root of the one that a folder lies in, and the repository that it certainly is of.

use std::path::{Path, PathBuf};

/// The most bytes of a file that names another folder, such as a `.git` that is a file.
const LONGEST: u64 = 4096;

/// True if `dir` is the root of a git work tree.
pub fn has_repository(dir: &Path) -> bool {
    repository_of(dir).is_some()
}

/// The root of the git work tree that `dir` lies in, else the nearest folder above it with a store.
pub fn root_around(dir: &Path) -> Option<PathBuf> {
    let dir = dir.canonicalize().ok()?;
    let tree = dir.ancestors().find(|dir| has_repository(dir));
    let root = tree.or_else(|| dir.ancestors().find(|dir| dir.join(".lepo").is_dir()));
    root.map(Path::to_path_buf)
}

/// The roots of the git work trees that `dir`, without links, lies in, but for its own.
pub fn repositories_around(dir: &Path) -> Vec<PathBuf> {
    dir.ancestors().skip(1).filter(|dir| has_repository(dir)).map(Path::to_path_buf).collect()
}

/// The repository that the work tree at `root` certainly is of, without links: the folder `.git` in it, or the
/// repository of which it is a linked worktree. Any folder can name any repository in a file, so a linked worktree
/// counts only where that repository names it too.
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

/// The text of a small file of a repository, without the end of its line.
fn short_text(path: &Path) -> Option<PathBuf> {
    let kind = path.metadata().ok()?;
    let text = Some(path).filter(|_| kind.is_file() && kind.len() <= LONGEST);
    Some(PathBuf::from(std::fs::read_to_string(text?).ok()?.trim_end_matches(['\n', '\r'])))
}

/// The repository of the work tree at `root`: its `.git`, or the folder that a `.git` that is a file names.
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
