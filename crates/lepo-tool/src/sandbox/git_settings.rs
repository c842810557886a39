//! Files in the working directory that git obeys because a setting names them: hooks (`core.hooksPath`), further
//! settings (`include.path`), and programs (`core.fsmonitor`, filters, aliases). Parses the files of git's settings,
//! and never runs git.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use lepo_base::env;

/// Maximum number of settings files to read, and of bytes of each: a repository can name any number.
const MOST_FILES: usize = 500;
const MOST_BYTES: u64 = 1 << 20;

/// Settings whose value is a command, by the last part of their name.
#[rustfmt::skip]
const COMMANDS: &[&str] = &[
    "askpass", "clean", "cmd", "command", "difffilter", "driver", "editor", "external", "fsmonitor", "helper", "pager",
    "process", "program", "smudge", "sshcommand", "textconv",
];

/// Paths in a working directory that git's settings name; they need not exist.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct NamedPaths {
    /// Directories of hooks, and settings files.
    pub obeyed: BTreeSet<PathBuf>,
    pub programs: BTreeSet<PathBuf>,
}

/// A setting, with its names in lower case.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Setting {
    section: String,
    key: String,
    value: String,
}

/// Finds the paths in `dir` that the settings of the user, or of repositories at, below or around `dir`, name.
/// `git_dirs` are the entries named `.git` below `dir`.
pub fn paths_named_for(dir: &Path, git_dirs: &[PathBuf]) -> NamedPaths {
    let home = env::var("HOME").map(PathBuf::from);
    let of_home = |path: &str| home.as_ref().map(|home| home.join(path));
    let config = env::var("XDG_CONFIG_HOME").map(PathBuf::from).or_else(|| of_home(".config"));
    let by_variable =
        ["GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"].map(|name| env::var(name).map(PathBuf::from));
    let of_user =
        [Some("/etc/gitconfig".into()), config.map(|dir| dir.join("git/config")), of_home(".gitconfig")];
    let of_user: Vec<_> = of_user.into_iter().chain(by_variable).flatten().collect();
    named_by(dir, git_dirs, &of_user, home.as_deref())
}

fn named_by(dir: &Path, git_dirs: &[PathBuf], of_user: &[PathBuf], home: Option<&Path>) -> NamedPaths {
    let mut reading = SettingsReader { dir, home, remaining: MOST_FILES, named: NamedPaths::default() };
    // The settings files themselves, after following links: the user may be working on the dotfiles.
    let own = of_user.iter().filter_map(|file| file.canonicalize().ok()).filter(|file| file.starts_with(dir));
    reading.named.obeyed.extend(own);
    let general = reading.settings(of_user.to_vec());
    // Without a repository, the user may still create one.
    let mut roots = vec![(dir.to_path_buf(), Vec::new())];
    let around = dir.ancestors().map(|above| above.join(".git")).find(|path| path.exists());
    for git_dir in git_dirs.iter().cloned().chain(around) {
        let root = git_dir.parent().unwrap_or(dir).to_path_buf();
        roots.push((root, files_of(&git_dir)));
    }
    for (root, files) in roots {
        let own = reading.settings(files);
        for setting in general.iter().chain(&own) {
            reading.note(&root, setting);
        }
    }
    reading.named
}

/// Returns the settings files of a repository, given its `.git`, which may be a file that points to it.
fn files_of(git_dir: &Path) -> Vec<PathBuf> {
    let path_in = |file: &Path, key: &str, from: &Path| {
        let text = read(file)?;
        Some(from.join(text.strip_prefix(key)?.trim()))
    };
    let own = path_in(git_dir, "gitdir:", git_dir.parent().unwrap_or(git_dir))
        .unwrap_or_else(|| git_dir.to_path_buf());
    let common = path_in(&own.join("commondir"), "", &own).unwrap_or_else(|| own.clone());
    vec![common.join("config"), own.join("config.worktree")]
}

struct SettingsReader<'a> {
    dir: &'a Path,
    home: Option<&'a Path>,
    /// How many more files may be read.
    remaining: usize,
    named: NamedPaths,
}

impl SettingsReader<'_> {
    /// Reads the settings of files and of the files that they include, under any condition.
    fn settings(&mut self, mut files: Vec<PathBuf>) -> Vec<Setting> {
        let (mut all, mut next) = (Vec::new(), 0);
        while let Some(file) = files.get(next).cloned() {
            next += 1;
            if self.remaining == 0 {
                break;
            }
            self.remaining -= 1;
            let settings = parse(&read(&file).unwrap_or_default());
            for setting in settings.iter().filter(|it| it.section.starts_with("include") && it.key == "path")
            {
                let path = self.resolved(file.parent().unwrap_or(Path::new("/")), &setting.value);
                if let Some(path) = self.inside(&path) {
                    self.named.obeyed.insert(path);
                }
                if !files.contains(&path) {
                    files.push(path);
                }
            }
            all.extend(settings);
        }
        all
    }

    /// Records the paths in a setting that applies to the repository at `root`.
    fn note(&mut self, root: &Path, setting: &Setting) {
        if setting.section == "core" && setting.key == "hookspath" {
            let path = self.inside(&self.resolved(root, &setting.value));
            self.named.obeyed.extend(path);
        }
        let runs = COMMANDS.contains(&setting.key.as_str())
            || ["alias", "pager"].contains(&setting.section.as_str());
        if runs {
            let words = setting.value.split(|c: char| c.is_whitespace() || "!\"';&|()".contains(c));
            for word in words.filter(|word| word.contains('/')) {
                let path = self.inside(&self.resolved(root, word));
                self.named.programs.extend(path);
            }
        }
    }

    fn resolved(&self, from: &Path, value: &str) -> PathBuf {
        match (value.strip_prefix("~/"), self.home) {
            (Some(rest), Some(home)) => home.join(rest),
            _ => from.join(value),
        }
    }

    /// Resolves links except in the last component; `None` if the result is outside of the working directory.
    fn inside(&self, path: &Path) -> Option<PathBuf> {
        // A path that does not exist yet has no links.
        let (mut there, mut rest) = (plain(path), Vec::new());
        let (name, parent) = (there.file_name()?.to_os_string(), there.parent()?.to_path_buf());
        rest.push(name);
        there = parent;
        let there = loop {
            match there.canonicalize() {
                Ok(real) => break real,
                Err(_) => {
                    rest.push(there.file_name()?.to_os_string());
                    there = there.parent()?.to_path_buf();
                }
            }
        };
        let path = rest.into_iter().rev().fold(there, |path, name| path.join(name));
        path.starts_with(self.dir).then_some(path)
    }
}

/// Removes `.` and `..` lexically.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => drop(plain.pop()),
            other => plain.push(other),
        }
    }
    plain
}

/// Reads a regular file, unless it is larger than settings are.
fn read(file: &Path) -> Option<String> {
    let meta = file.metadata().ok().filter(|meta| meta.is_file() && meta.len() <= MOST_BYTES);
    meta.and_then(|_| std::fs::read(file).ok()).map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
}

fn parse(text: &str) -> Vec<Setting> {
    let (mut section, mut found) = (String::new(), Vec::new());
    let joined = text.replace("\\\r\n", "").replace("\\\n", "");
    for line in joined.lines() {
        let mut line = line.trim();
        if let Some(rest) = line.strip_prefix('[') {
            let Some((head, after)) = rest.split_once(']') else { continue };
            let name = head.split([' ', '\t', '"', '.']).next().unwrap_or_default();
            section = name.to_ascii_lowercase();
            line = after.trim();
        }
        if line.is_empty() || line.starts_with(['#', ';']) {
            continue;
        }
        // A key without a value is a switch that is on, and names no path.
        let Some((key, value)) = line.split_once('=') else { continue };
        let (section, key) = (section.clone(), key.trim().to_ascii_lowercase());
        found.push(Setting { section, key, value: unquoted(value.trim()) });
    }
    found
}

/// Removes the quotes, the escapes and the comment of a value.
fn unquoted(value: &str) -> String {
    let (mut out, mut quoted, mut chars) = (String::new(), false, value.chars());
    while let Some(c) = chars.next() {
        match c {
            '"' => quoted = !quoted,
            '\\' => out.extend(chars.next()),
            '#' | ';' if !quoted => break,
            c => out.push(c),
        }
    }
    out.trim_end().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_settings_name_in_the_working_directory_is_found() {
        let temp_dir = tempfile::tempdir().unwrap();
        let top = temp_dir.path().canonicalize().unwrap();
        let (dir, home) = (top.join("home/work"), top.join("home"));
        for (path, text) in [
            (
                "home/.gitconfig",
                "[core]\n\thooksPath = .githooks ; mine\n[Include]\npath = \"~/work/shared.ini\"\n",
            ),
            ("home/work/shared.ini", "[alias] x = !tools/run.sh now\n[filter \"f\"]\nclean = ./clean %f\n"),
            (
                "home/work/.git/config",
                "[include]\n\tpath = ../.gitconfig\n[core]\n\tfsmonitor = \\\n../outside\n",
            ),
            (
                "home/work/.gitconfig",
                "[includeIf \"gitdir:x\"]\npath=../loop\n[core]\nsshCommand = bin/ssh -i k\n",
            ),
            ("home/loop", "[include]\npath = loop\n"),
            ("home/work/lib/.git", "gitdir: ../.git/modules/lib\n"),
            ("home/work/.git/modules/lib/config", "[core]\nhooksPath = /usr/share/hooks\neditor = vi\n"),
        ] {
            std::fs::create_dir_all(top.join(path).parent().unwrap()).unwrap();
            std::fs::write(top.join(path), text).unwrap();
        }
        let git_dirs = [dir.join(".git"), dir.join("lib/.git")];
        let found = named_by(&dir, &git_dirs, &[home.join(".gitconfig"), home.join("none")], Some(&home));
        let short = |paths: &BTreeSet<PathBuf>| {
            let shown = paths.iter().map(|path| path.strip_prefix(&dir).unwrap().display().to_string());
            shown.collect::<Vec<_>>()
        };
        assert_eq!(short(&found.obeyed), [".gitconfig", ".githooks", "lib/.githooks", "shared.ini"]);
        let programs = ["bin/ssh", "clean", "lib/clean", "lib/tools/run.sh", "tools/run.sh"];
        assert_eq!(short(&found.programs), programs);
    }

    #[test]
    fn the_users_own_settings_can_be_what_is_worked_on() {
        let temp_dir = tempfile::tempdir().unwrap();
        let top = temp_dir.path().canonicalize().unwrap();
        let dir = top.join("dotfiles");
        std::fs::create_dir(&dir).unwrap();
        std::fs::write(dir.join("gitconfig"), "").unwrap();
        std::os::unix::fs::symlink("dotfiles/gitconfig", top.join(".gitconfig")).unwrap();
        let found = named_by(&dir, &[], &[top.join(".gitconfig")], Some(&top));
        assert_eq!(found.obeyed, BTreeSet::from([dir.join("gitconfig")]));
    }

    #[test]
    fn settings_are_read_as_git_does() {
        let text = "[core]a=1\n#x\n;y\n[s \"Sub\"]\n K = \"a # b\" # c\n on\n[open\n";
        let setting = |section: &str, key: &str, value: &str| Setting {
            section: section.into(),
            key: key.into(),
            value: value.into(),
        };
        assert_eq!(parse(text), [setting("core", "a", "1"), setting("s", "k", "a # b")]);
    }

    #[test]
    fn files_that_include_each_other_are_read_so_often_and_no_more() {
        let temp_dir = tempfile::tempdir().unwrap();
        let dir = temp_dir.path().canonicalize().unwrap();
        for i in 0..600 {
            std::fs::write(dir.join(i.to_string()), format!("[include]\npath = {}\n", (i + 1) % 600))
                .unwrap();
        }
        let found = named_by(&dir, &[], &[dir.join("0")], None);
        // The first file, and a file that each of them names.
        assert_eq!(found.obeyed.len(), 1 + MOST_FILES);
    }
}
