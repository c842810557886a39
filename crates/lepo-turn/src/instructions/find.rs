//! Finds the instructions of a repository that apply to a folder in it.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use super::bounded::read_inside;
use lepo_base::worktree::Worktree;

/// File names of instructions; the first that exists in a folder counts.
const NAMES: [&str; 2] = ["AGENTS.md", "CLAUDE.md"];

/// Maximum bytes of all instructions together.
pub(super) const MOST: usize = 64 << 10;

/// The reason for skipping another user's files.
pub(crate) const NOT_TAKEN: &str =
    "the repository belongs to another user, and git's safe.directory does not name it";

/// A file of instructions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstructionFile {
    /// Path below the root of the repository.
    pub path: String,
    /// The text.
    pub text: String,
}

/// The instructions of a repository that apply to a folder in it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Instructions {
    /// Root of the repository; `None` outside of a repository.
    pub root: Option<PathBuf>,
    /// The files, from the root down.
    pub files: Vec<InstructionFile>,
    /// The skipped files, each with the reason.
    pub left_out: Vec<(String, String)>,
}

/// Whether this is a path of instructions below the root of a repository, as lepo writes it.
pub fn is_path_of_instructions(path: &str) -> bool {
    let mut parts = path.split('/').rev();
    parts.next().is_some_and(|name| NAMES.contains(&name))
        && parts.all(|part| !matches!(part, "" | "." | ".." | ".git" | ".lepo"))
        && !path.chars().any(char::is_control)
}

impl Instructions {
    /// Reads the files that apply to `dir`.
    pub fn read(dir: &Path) -> Instructions {
        let Some(tree) = Worktree::containing(dir) else { return Instructions::default() };
        let mut found = Instructions { root: Some(tree.root.clone()), ..Instructions::default() };
        let mut paths = paths_between(&tree.root, dir);
        if !tree.is_taken {
            let named = paths.first().map(|path| (display_path(&tree.root, path), NOT_TAKEN.to_string()));
            found.left_out.extend(named);
            return found;
        }
        let (mut visited, mut room) = (HashSet::new(), MOST);
        // The nearest file is read first: if not all fit, the more distant ones are skipped.
        paths.reverse();
        for path in paths {
            let shown = display_path(&tree.root, &path);
            if !is_path_of_instructions(&shown) {
                found.left_out.push((shown, "its path is not plain text".to_string()));
                continue;
            }
            match read_instructions(Some(&tree.root), &path) {
                Ok((text, real)) => {
                    if !visited.insert(real) || text.trim().is_empty() {
                        continue;
                    }
                    match room.checked_sub(text.len()) {
                        Some(left) => {
                            room = left;
                            found.files.push(InstructionFile { path: shown, text });
                        }
                        None => {
                            let why = format!("with those nearer it would be more than {} KiB", MOST >> 10);
                            found.left_out.push((shown, why));
                        }
                    }
                }
                Err(why) => found.left_out.push((shown, why)),
            }
        }
        found.files.reverse();
        found.left_out.reverse();
        found
    }

    /// Returns the bytes of all files.
    pub fn len(&self) -> usize {
        self.files.iter().map(|file| file.text.len()).sum()
    }

    /// Whether no file was found.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// Returns `AGENTS.md (1.2k tokens)`, or this with the number of further files; `None` if no file was
    /// found.
    pub fn about(&self) -> Option<String> {
        let first = self.files.first()?;
        let name = match self.files.len() {
            1 => first.path.clone(),
            more => format!("{} and {} more", first.path, more - 1),
        };
        Some(format!("{name} ({} tokens)", in_thousands(self.len().div_ceil(4))))
    }
}

/// Maximum bytes of a path.
const MOST_PATH: usize = 4096;

/// Maximum number of files that point to each other.
const HOPS: usize = 8;

/// Returns the text of a file of instructions, and the path that it was read from. A file that contains only
/// a path is how git checks out a link without `core.symlinks`: the file at that path is read instead, if it
/// exists.
pub(super) fn read_instructions(within: Option<&Path>, path: &Path) -> Result<(String, PathBuf), String> {
    let (mut text, mut real) = read_inside(within, path, MOST)?;
    for _ in 0..HOPS {
        let Some(target) = linked(&text, &real) else { break };
        (text, real) = read_inside(within, &target, MOST)?;
    }
    Ok((text, real))
}

/// Returns the file that a text points to, if the text is nothing but a path.
fn linked(text: &str, file: &Path) -> Option<PathBuf> {
    let path = text.trim();
    let is_path = !path.is_empty() && path.len() <= MOST_PATH && !path.contains(char::is_control);
    let target = file.parent().filter(|_| is_path)?.join(path);
    (target != file && (target.is_symlink() || target.is_file())).then_some(target)
}

/// Formats `312`, `1.2k`, `12k`.
pub(crate) fn in_thousands(n: usize) -> String {
    match n {
        0..1000 => n.to_string(),
        1000..10_000 => format!("{}.{}k", n / 1000, n % 1000 / 100),
        _ => format!("{}k", n / 1000),
    }
}

/// Returns the files of instructions from `root` down to `dir`, at most one per folder.
fn paths_between(root: &Path, dir: &Path) -> Vec<PathBuf> {
    let Ok(dir) = dir.canonicalize() else { return Vec::new() };
    let Ok(below) = dir.strip_prefix(root) else { return Vec::new() };
    let mut folder = root.to_path_buf();
    let mut folders = vec![folder.clone()];
    for part in below.components() {
        folder.push(part);
        folders.push(folder.clone());
    }
    let instructions_in =
        |folder: PathBuf| NAMES.map(|name| folder.join(name)).into_iter().find(|path| is_there(path));
    folders.into_iter().filter_map(instructions_in).collect()
}

/// Whether an entry exists, even a broken link.
fn is_there(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}

/// Formats the path below the root. Bytes that are not UTF-8 become U+FFFD.
fn display_path(root: &Path, path: &Path) -> String {
    path.strip_prefix(root).unwrap_or(path).to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    /// Creates a repository with these files.
    fn repository(files: &[(&str, &[u8])]) -> (tempfile::TempDir, PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap().join("repo");
        for (path, bytes) in [(".git/HEAD", &b"ref"[..]), (".git/objects/x", b"")].iter().chain(files) {
            let path = root.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, bytes).unwrap();
        }
        (dir, root)
    }

    fn found(dir: &Path) -> (String, String) {
        let found = Instructions::read(dir);
        let files: Vec<String> = found
            .files
            .iter()
            .map(|file| format!("{}={}", file.path, file.text.get(..3).unwrap_or(&file.text)))
            .collect();
        let left: Vec<String> = found.left_out.iter().map(|(path, why)| format!("{path}: {why}")).collect();
        (files.join(" "), left.join(" / "))
    }

    #[test]
    fn each_folder_down_to_the_one_of_the_start_has_one() {
        let (_dir, root) = repository(&[
            ("AGENTS.md", b"top"),
            ("CLAUDE.md", b"not"),
            ("a/CLAUDE.md", "각".as_bytes()),
            ("a/b/AGENTS.md", b"  \n"),
            ("a/b/CLAUDE.md", b"not"),
            ("a/b/c/AGENTS.md", b"low"),
            ("other/AGENTS.md", b"not"),
        ]);
        assert_eq!(found(&root).0, "AGENTS.md=top");
        assert_eq!(found(&root.join("a/b")).0, "AGENTS.md=top a/CLAUDE.md=각");
        let all = found(&root.join("a/b/c"));
        assert_eq!(all, ("AGENTS.md=top a/CLAUDE.md=각 a/b/c/AGENTS.md=low".into(), String::new()));
        symlink(root.join("a/b"), root.join("short")).unwrap();
        assert_eq!(found(&root.join("short")).0, "AGENTS.md=top a/CLAUDE.md=각");
        assert_eq!(found(root.parent().unwrap()).0, "", "outside of a repository there are none");
    }

    #[test]
    fn what_is_no_text_inside_the_repository_is_left_out_and_named() {
        let (_dir, root) = repository(&[
            ("real.md", b"real"),
            ("b/AGENTS.md", b"caf\xe9"),
            ("b/CLAUDE.md", b"does not take its place"),
            ("b/c/AGENTS.md/x", b""),
            ("b/c/d/AGENTS.md", b"a\0b"),
        ]);
        std::fs::write(root.parent().unwrap().join("out.md"), "out").unwrap();
        std::fs::write(root.join(".git/config"), "token").unwrap();
        symlink("../out.md", root.join("AGENTS.md")).unwrap();
        symlink("../../../../real.md", root.join("b/c/d/CLAUDE.md")).unwrap();
        let deep = root.join("b/c/d/e");
        std::fs::create_dir_all(deep.join("f/g/h/i")).unwrap();
        symlink("../../../../real.md", deep.join("AGENTS.md")).unwrap();
        symlink("../../../../../real.md", deep.join("f/AGENTS.md")).unwrap();
        symlink("nowhere", deep.join("f/g/AGENTS.md")).unwrap();
        symlink(root.join(".git/config"), deep.join("f/g/h/AGENTS.md")).unwrap();
        let fifo = deep.join("f/g/h/i/AGENTS.md");
        rustix::fs::mknodat(rustix::fs::CWD, &fifo, rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
        let (files, left) = found(&deep.join("f/g/h/i"));
        assert_eq!(files, "b/c/d/e/f/AGENTS.md=rea", "the same file by another link counts once");
        assert_eq!(
            left,
            "AGENTS.md: its link leads outside the repository / b/AGENTS.md: it is not UTF-8 text / \
             b/c/AGENTS.md: it is not a regular file / b/c/d/AGENTS.md: it is not UTF-8 text / \
             b/c/d/e/f/g/AGENTS.md: it is a broken link / \
             b/c/d/e/f/g/h/AGENTS.md: its link leads into .git / \
             b/c/d/e/f/g/h/i/AGENTS.md: it is not a regular file"
        );
    }

    /// Git's `core.symlinks=false`: https://github.com/IABTechLab/trusted-server/issues/1091,
    /// https://github.com/MoonshotAI/kimi-code/pull/1420, https://github.com/Comfy-Org/ComfyUI/pull/14757.
    #[test]
    fn a_file_that_holds_only_a_path_is_the_file_it_names() {
        for (files, expected, left) in [
            (&[("AGENTS.md", &b"CLAUDE.md"[..]), ("CLAUDE.md", b"real")][..], "AGENTS.md=rea", ""),
            (&[("AGENTS.md", b"docs/agents.txt\n"), ("docs/agents.txt", b"real")], "AGENTS.md=rea", ""),
            (&[("AGENTS.md", b"a b.md"), ("a b.md", b"real")], "AGENTS.md=rea", ""),
            (&[("AGENTS.md", b"one.md"), ("one.md", b"two.md"), ("two.md", b"real")], "AGENTS.md=rea", ""),
            (&[("AGENTS.md", b"CLAUDE.md"), ("CLAUDE.md", b"AGENTS.md")], "AGENTS.md=CLA", ""),
            (&[("AGENTS.md", b"gone.md")], "AGENTS.md=gon", ""),
            (&[("AGENTS.md", b"be kind")], "AGENTS.md=be ", ""),
            (&[("AGENTS.md", b"docs"), ("docs/x", b"")], "AGENTS.md=doc", ""),
            (&[("AGENTS.md", b"../out.md")], "", "AGENTS.md: its link leads outside the repository"),
            (&[("AGENTS.md", b".git/config")], "", "AGENTS.md: its link leads into .git"),
        ] {
            let (_dir, root) = repository(files);
            std::fs::write(root.parent().unwrap().join("out.md"), "out").unwrap();
            std::fs::write(root.join(".git/config"), "token").unwrap();
            assert_eq!(found(&root), (expected.to_string(), left.to_string()), "{files:?}");
        }
    }

    #[test]
    fn the_nearest_win_and_a_file_is_whole_or_left_out() {
        let large = vec![b'x'; 40 << 10];
        let (_dir, root) =
            repository(&[("AGENTS.md", b"small"), ("a/AGENTS.md", &large), ("a/b/AGENTS.md", &large)]);
        std::fs::create_dir_all(root.join("a/b/c")).unwrap();
        std::fs::File::create(root.join("a/b/c/AGENTS.md")).unwrap().set_len(1 << 30).unwrap();
        let (files, left) = found(&root.join("a/b/c"));
        assert_eq!(files, "AGENTS.md=sma a/b/AGENTS.md=xxx");
        assert_eq!(
            left,
            "a/AGENTS.md: with those nearer it would be more than 64 KiB / \
             a/b/c/AGENTS.md: it is larger than 64 KiB"
        );
    }

    #[test]
    fn folders_with_odd_names_are_left_out() {
        let (_dir, root) = repository(&[]);
        let odd = root.join("a\n== AGENTS.md, 3 bytes ==");
        std::fs::create_dir_all(&odd).unwrap();
        std::fs::write(odd.join("AGENTS.md"), "x").unwrap();
        let (files, left) = found(&odd);
        assert!(files.is_empty() && left.ends_with("its path is not plain text"), "{left}");
    }

    #[test]
    fn deep_folders_are_walked_one_by_one() {
        let (_dir, root) = repository(&[("AGENTS.md", b"top")]);
        let deep = root.join(["d"; 500].join("/"));
        std::fs::create_dir_all(&deep).unwrap();
        std::fs::write(deep.join("AGENTS.md"), "low").unwrap();
        assert_eq!(Instructions::read(&deep).files.len(), 2);
    }

    #[test]
    fn tokens_are_told_in_thousands() {
        for (n, expected) in [(0, "0"), (999, "999"), (1250, "1.2k"), (12_345, "12k")] {
            assert_eq!(in_thousands(n), expected);
        }
    }
}
