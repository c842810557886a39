//! Finds the repository or the store around a folder, and the repository to which the folder certainly belongs.

use std::path::{Path, PathBuf};

/// Maximum size, in bytes, of a file that names another folder, such as a `.git` file.
const LONGEST: u64 = 4096;

/// Maximum size, in bytes, of a repository's settings.
const LONGEST_CONFIG: u64 = 1 << 20;

/// Most linked worktrees of a repository to examine.
const MOST_TREES: usize = 1000;

/// Whether `dir` is the root of a git worktree.
pub fn has_repository(dir: &Path) -> bool {
    repository_of(dir).is_some()
}

/// Returns the root of the git worktree that contains `dir`, or else the nearest parent with a store.
pub fn root_around(dir: &Path) -> Option<PathBuf> {
    let dir = dir.canonicalize().ok()?;
    let tree = dir.ancestors().find(|dir| has_repository(dir));
    let root = tree.or_else(|| dir.ancestors().find(|dir| dir.join(".lepo").is_dir()));
    root.map(Path::to_path_buf)
}

/// Returns the roots of the git worktrees that contain `dir`, a path without links, except its own.
pub fn repositories_around(dir: &Path) -> Vec<PathBuf> {
    dir.ancestors().skip(1).filter(|dir| has_repository(dir)).map(Path::to_path_buf).collect()
}

/// Returns the repository, without links, that the worktree at `root` certainly belongs to: its folder `.git`, or
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

/// Returns the roots of all worktrees of the repository to which the worktree at `root` certainly belongs, the main
/// one first. Each must name that repository too.
pub fn worktrees(root: &Path) -> Vec<PathBuf> {
    let Some(common) = mutual_repository(root) else { return Vec::new() };
    let linked = std::fs::read_dir(common.join("worktrees")).into_iter().flatten().flatten();
    let linked = linked.take(MOST_TREES).filter_map(|entry| {
        // Absolute, or with `worktree.useRelativePaths` relative to this folder (gitrepository-layout(5)).
        let git = entry.path().join(short_text(&entry.path().join("gitdir"))?);
        git.parent().map(Path::to_path_buf)
    });
    // The `.git` of a submodule is elsewhere, and its settings name its worktree.
    let main = main_tree(&common).or_else(|| common.parent().map(Path::to_path_buf));
    let trees = main.into_iter().chain(linked).filter_map(|tree| tree.canonicalize().ok());
    trees.filter(|tree| mutual_repository(tree).as_ref() == Some(&common)).collect()
}

/// Like [`own_repository`]; also for the worktree of a submodule, which the settings of its repository must name.
fn mutual_repository(root: &Path) -> Option<PathBuf> {
    own_repository(root).or_else(|| {
        let named = repository_of(root)?.canonicalize().ok()?;
        (main_tree(&named)?.canonicalize().ok()? == root.canonicalize().ok()?).then_some(named)
    })
}

/// Returns the worktree in `core.worktree` of a repository.
fn main_tree(repository: &Path) -> Option<PathBuf> {
    let text = text_within(&repository.join("config"), LONGEST_CONFIG)?;
    let mut named =
        text.lines().filter_map(|line| line.trim().strip_prefix("worktree")?.trim().strip_prefix('='));
    named.next_back().map(|tree| repository.join(tree.trim().trim_matches('"')))
}

fn short_text(path: &Path) -> Option<PathBuf> {
    Some(PathBuf::from(text_within(path, LONGEST)?.trim_end_matches(['\n', '\r'])))
}

/// Reads a file of at most `most` bytes.
fn text_within(path: &Path, most: u64) -> Option<String> {
    let kind = path.metadata().ok()?;
    let text = Some(path).filter(|_| kind.is_file() && kind.len() <= most);
    std::fs::read_to_string(text?).ok()
}

/// Returns the repository of the worktree at `root`: its folder `.git`, or the folder named in its `.git` file.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_worktree_of_a_repository_leads_to_all() {
        let dir = tempfile::tempdir().unwrap();
        let top = dir.path().canonicalize().unwrap();
        let write = |path: &str, text: &str| {
            std::fs::create_dir_all(top.join(path).parent().unwrap()).unwrap();
            std::fs::write(top.join(path), text.replace("TOP", top.to_str().unwrap())).unwrap();
        };
        for (git, main) in [("app/.git", "app"), ("outer/.git/modules/sub", "outer/sub")] {
            write(&format!("{git}/HEAD"), "ref: refs/heads/main\n");
            std::fs::create_dir(top.join(git).join("objects")).unwrap();
            for (name, gitdir) in [
                ("one", format!("TOP/{main}-one/.git\n")),
                ("two", "../../../../two/.git".into()),
                ("gone", "/no-such-tree/.git".into()),
                ("foreign", "TOP/foreign/.git".into()),
            ] {
                write(&format!("{git}/worktrees/{name}/gitdir"), &gitdir);
                write(&format!("{git}/worktrees/{name}/commondir"), "../..\n");
                write(&format!("{git}/worktrees/{name}/HEAD"), "ref: refs/heads/x\n");
            }
            write(&format!("{main}-one/.git"), &format!("gitdir: TOP/{git}/worktrees/one\n"));
        }
        write("two/.git", "gitdir: TOP/app/.git/worktrees/two\n");
        write("foreign/.git/HEAD", "ref: refs/heads/main\n");
        std::fs::create_dir(top.join("foreign/.git/objects")).unwrap();
        write("outer/sub/.git", "gitdir: ../.git/modules/sub\n");
        write("outer/.git/modules/sub/config", "[core]\n\tworktree = ../../../sub\n");
        for (root, found) in [
            ("app", &["app", "app-one", "two"][..]),
            ("app-one", &["app", "app-one", "two"]),
            ("two", &["app", "app-one", "two"]),
            ("outer/sub", &["outer/sub", "outer/sub-one"]),
            ("outer/sub-one", &["outer/sub", "outer/sub-one"]),
            ("foreign", &["foreign"]),
            ("none", &[]),
        ] {
            let mut trees = worktrees(&top.join(root));
            trees.sort();
            let expected: Vec<PathBuf> = found.iter().map(|tree| top.join(tree)).collect();
            assert_eq!(trees, expected, "{root}");
        }
    }
}
