//! Estimates, by the family of a program, the files that it may run beyond those that its definition names. The user
//! is asked about such a file if a sandboxed command changed it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use lepo_base::repository::root_around;

use super::NamedProgram;
use super::code_folders::{code_folders, has_classes_in_folder, words_with_variables};
use super::families::{
    code_in, families, imports_from_folder, is_shell_script, leads_elsewhere, local_package,
};
use super::family_table::{AGENT_SETTINGS, JAVA, JAVASCRIPT, PYTHON, ProgramFamily};
use super::loaded::packages;
use super::obeyed::{named_in_settings, renames_modules, settings_of_all};
use super::shell_text::words_outside;

/// Maximum number of entries of a folder to search for links.
const MOST_ENTRIES: usize = 20_000;

/// Maximum number of folders to add because links lead to them.
const MOST_LINKED: usize = 200;

/// Files that a program may run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reach {
    rules: BTreeSet<ReachRule>,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct ReachRule {
    root: PathBuf,
    loads: Loads,
}

/// The files below a root that may be loaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Loads {
    /// The root itself and everything below it.
    Everything,
    /// Files that Python may load.
    Python,
    /// Files that Node and similar programs may load.
    JavaScript,
    /// Files that Java may load.
    Java,
}

impl Reach {
    /// Whether it contains no folder of the user.
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// Whether the program may run this file or link.
    pub fn covers(&self, path: &Path, is_link: bool) -> bool {
        self.rules.iter().any(|rule| {
            let endings = match rule.loads {
                Loads::Everything => return path.starts_with(&rule.root),
                Loads::Python => PYTHON,
                Loads::JavaScript => JAVASCRIPT,
                Loads::Java if !is_link && path.extension().is_none() && path != rule.root => return false,
                Loads::Java => JAVA,
            };
            path.starts_with(&rule.root) && (is_link || path == rule.root || code_in(path, endings))
        })
    }

    /// Whether the program may run something below this folder.
    pub fn meets(&self, folder: &Path) -> bool {
        self.rules.iter().any(|rule| folder.starts_with(&rule.root) || rule.root.starts_with(folder))
    }

    /// Adds the targets of links that lead outside.
    pub fn with_links(mut self) -> Reach {
        let mut left: Vec<ReachRule> = self.rules.iter().cloned().collect();
        let mut linked = 0;
        while let Some(rule) = left.pop() {
            let Some(targets) = targets_below(&rule.root) else {
                self.rules.insert(ReachRule { root: tree_of(&rule.root), loads: Loads::Everything });
                continue;
            };
            for target in targets {
                let rule = ReachRule { root: target, loads: rule.loads };
                let is_known = self.rules.iter().any(|known| {
                    rule.root.starts_with(&known.root)
                        && (known.loads == rule.loads || known.loads == Loads::Everything)
                });
                if is_known || linked > MOST_LINKED {
                    continue;
                }
                linked += 1;
                self.rules.insert(rule.clone());
                left.push(rule);
            }
        }
        self
    }

    fn add(&mut self, root: &Path, loads: Loads) {
        // An empty folder is given as `/`, which would reach everything.
        if root.parent().is_none() {
            return;
        }
        for root in [Some(root.to_path_buf()), root.canonicalize().ok()].into_iter().flatten() {
            self.rules.insert(ReachRule { root, loads });
        }
    }

    /// Adds the folder of a file, both as named and with links resolved.
    fn add_folder_of(&mut self, file: &Path, loads: Loads) {
        self.add(file, Loads::Everything);
        for file in [Some(file.to_path_buf()), file.canonicalize().ok()].into_iter().flatten() {
            if let Some(folder) = file.parent() {
                self.add(folder, loads);
            }
        }
    }

    /// Adds the worktree of a script whose text refers to files outside of its folder.
    fn add_elsewhere(&mut self, script: &Path, start: &Path, loads: Loads) {
        if leads_elsewhere(script) {
            self.add(&tree_of(script.parent().unwrap_or(script)), loads);
            if script.starts_with(start) {
                self.add(start, loads);
            }
        }
    }
}

/// Estimates the files that a program may run.
pub fn reach_of(program: &NamedProgram) -> Reach {
    let mut reach = Reach::default();
    let named = program.search(Path::new("/"), false).files_named();
    let path = path_of(program);
    let dir_tree = tree_of(&program.dir);
    let scripts: Vec<&PathBuf> = named.iter().filter(|file| is_shell_script(file)).collect();
    let outside: Vec<_> =
        scripts.iter().filter_map(|script| words_outside(script, &program.dir, &dir_tree)).collect();
    let knows_scripts = !scripts.is_empty() && scripts.len() == outside.len();
    let mut words = all_words(program);
    if knows_scripts {
        words.extend(outside.into_iter().flatten());
    }
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let families = families(&program.words(), &words, knows_scripts);
    let around: Vec<PathBuf> = program
        .dir
        .ancestors()
        .take_while(|folder| folder.starts_with(&dir_tree) && folder.parent().is_some())
        .map(Path::to_path_buf)
        .collect();
    let is_python = families.contains(&ProgramFamily::Python);
    let is_script = is_python || families.contains(&ProgramFamily::JavaScript);
    for file in &named {
        let is_program = path
            .as_ref()
            .is_some_and(|path| path == file || path.canonicalize().is_ok_and(|path| path == *file));
        match () {
            () if file.is_dir() => reach.add(file, Loads::Everything),
            () if is_program && !program.program.contains('/') => reach.add(file, Loads::Everything),
            () if (families.contains(&ProgramFamily::Builder) && !is_program) || is_shell_script(file) => {
                reach.add_folder_of(file, Loads::Everything);
                reach.add(&tree_of(file.parent().unwrap_or(file)), Loads::Everything);
                if !knows_scripts {
                    reach.add(&dir_tree, Loads::Everything);
                }
            }
            () if is_script && !is_program => {
                if is_python {
                    reach.add_folder_of(file, Loads::Python);
                    reach.add_elsewhere(file, &dir_tree, Loads::Python);
                }
                if families.contains(&ProgramFamily::JavaScript) {
                    reach.add_folder_of(file, Loads::JavaScript);
                    reach.add_elsewhere(file, &dir_tree, Loads::JavaScript);
                    if file.starts_with(&dir_tree) && around.iter().any(|folder| renames_modules(folder)) {
                        reach.add(&dir_tree, Loads::JavaScript);
                    }
                    for folder in file.ancestors().skip(1).filter(|folder| folder.parent().is_some()) {
                        reach.add(&folder.join("node_modules"), Loads::Everything);
                        reach.add(&folder.join("package.json"), Loads::Everything);
                    }
                }
            }
            () if !is_program && families.contains(&ProgramFamily::Java) => {
                reach.add_folder_of(file, Loads::Java);
                // The manifest of an archive may name other archives; a source file may belong to a package in a
                // parent folder.
                let is_class = file.extension().is_some_and(|ending| ending == "class");
                if !is_class && file.starts_with(&dir_tree) {
                    reach.add(&dir_tree, Loads::Java);
                }
            }
            () if !is_program && families.contains(&ProgramFamily::Runner) => {
                reach.add(file, Loads::Everything);
            }
            () => {
                reach.add_folder_of(file, Loads::Everything);
                // Runners such as an absolute `npx` load their own modules like this.
                if !is_program || file.starts_with(&dir_tree) {
                    reach.add_elsewhere(file, &dir_tree, Loads::Everything);
                }
            }
        }
    }
    if families.contains(&ProgramFamily::Builder) {
        reach.add(&dir_tree, Loads::Everything);
    }
    if families.contains(&ProgramFamily::PythonProject) {
        reach.add(&dir_tree, Loads::Python);
    }
    if imports_from_folder(&words) {
        reach.add(&program.dir, Loads::Python);
    }
    for folder in code_folders(program) {
        reach.add(&folder, Loads::Everything);
    }
    if families.contains(&ProgramFamily::Java) && has_classes_in_folder(program) {
        reach.add(&program.dir, Loads::Java);
    }
    let words = words_with_variables(program, &words);
    for folder in &around {
        named_in_settings(folder, &words).iter().for_each(|file| reach.add(file, Loads::Everything));
        for name in settings_of_all(&words, families.is_empty()) {
            reach.add(&folder.join(name), Loads::Everything);
        }
        if families.contains(&ProgramFamily::Agent) {
            AGENT_SETTINGS.iter().for_each(|name| reach.add(&folder.join(name), Loads::Everything));
        }
        if families.contains(&ProgramFamily::Packages) {
            reach.add(&folder.join("node_modules"), Loads::Everything);
            if local_package(folder, &words) {
                reach.add(folder, Loads::JavaScript);
            }
        }
    }
    if families.contains(&ProgramFamily::Packages) {
        for package in packages(&words, &around).iter().filter_map(|package| package.canonicalize().ok()) {
            reach.add(&package, Loads::Everything);
        }
    }
    reach
}

/// Returns the arguments, and the words within each.
fn all_words(program: &NamedProgram) -> Vec<String> {
    let words = program.words().into_iter();
    words.flat_map(str::split_whitespace).map(str::to_string).collect()
}

/// Returns the path of the program, if it is found.
fn path_of(program: &NamedProgram) -> Option<PathBuf> {
    match program.program.contains('/') {
        true => Some(program.dir.join(&program.program)),
        false => program.in_search_path(),
    }
}

/// Returns the worktree, or the folder with a store, that contains this folder; otherwise the folder itself.
fn tree_of(folder: &Path) -> PathBuf {
    root_around(folder).unwrap_or_else(|| folder.canonicalize().unwrap_or_else(|_| folder.to_path_buf()))
}

/// Returns the targets outside of a folder to which links below it lead; `None` if it has too many entries. In
/// `node_modules` only direct entries are read, because these are packages.
fn targets_below(root: &Path) -> Option<Vec<PathBuf>> {
    let (mut targets, mut looked) = (Vec::new(), 0);
    let most_deep = if root.ends_with("node_modules") { 2 } else { usize::MAX };
    let mut folders = vec![(root.to_path_buf(), 0)];
    while let Some((folder, depth)) = folders.pop() {
        let Ok(entries) = std::fs::read_dir(&folder) else { continue };
        for entry in entries.flatten() {
            looked += 1;
            if looked > MOST_ENTRIES {
                return None;
            }
            let Ok(kind) = entry.file_type() else { continue };
            let is_own = [".git", "node_modules"].iter().any(|name| entry.file_name() == *name);
            if kind.is_symlink() {
                targets.extend(entry.path().canonicalize().ok().filter(|target| !target.starts_with(root)));
            } else if kind.is_dir() && !is_own && depth + 1 < most_deep {
                folders.push((entry.path(), depth + 1));
            }
        }
    }
    Some(targets)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree() -> (tempfile::TempDir, PathBuf) {
        let temp_dir = tempfile::tempdir().unwrap();
        let top = temp_dir.path().canonicalize().unwrap();
        for name in [
            "app/.git/HEAD",
            "app/.git/objects/x",
            "app/tools/server.py",
            "app/tools/server.js",
            "app/tools/run.sh",
            "app/tools/program",
            "app/pkg/__main__.py",
            "app/node_modules/own/package.json",
            "app/src/main.rs",
            "other/.git/HEAD",
            "other/.git/objects/x",
            "other/tools/server.py",
        ] {
            let path = top.join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "").unwrap();
        }
        std::fs::write(top.join("app/package.json"), r#"{"name": "local", "bin": "cli.js"}"#).unwrap();
        std::os::unix::fs::symlink("../../other/lib", top.join("app/tools/lib")).unwrap();
        std::fs::create_dir(top.join("other/lib")).unwrap();
        (temp_dir, top)
    }

    #[test]
    fn each_family_reaches_what_it_may_run_and_no_more() {
        let (_place, top) = tree();
        let other = top.join("other/tools/server.py").display().to_string();
        let sh_other = format!("python3 {other}");
        for (words, within, without) in [
            (
                &["python3", "tools/server.py"][..],
                &[
                    "app/tools/json.py",
                    "app/tools/__pycache__/x.cpython-311.pyc",
                    "app/tools/x.so",
                    "app/tools/p/pyvenv.cfg",
                    "app/tools/noending",
                    "other/lib/x.py",
                ][..],
                &["app/src/main.rs", "app/src/x.py", "app/tools/x.md", "app/node_modules/a.js"][..],
            ),
            (&["python3", "-m", "pkg"], &["app/json.py", "app/pkg/x.py"], &["app/src/main.rs", "app/x.js"]),
            (&["env", "python3", &other], &["other/tools/json.py"], &["app/json.py", "other/src/x.py"]),
            (&["sh", "-c", &sh_other], &["other/tools/json.py"], &["app/json.py"]),
            (
                &["node", "tools/server.js"],
                &["app/tools/x.mjs", "app/node_modules/x/y", "app/package.json"],
                &["app/src/main.rs", "app/x.js", "app/tools/x.py"],
            ),
            (
                &["npx", "-y", "some-server"],
                &["app/node_modules/.bin/node", "app/package.json", "app/.npmrc", "app/.pnpmfile.cjs"],
                &["app/src/main.rs", "app/x.js", "app/tools/server.py"],
            ),
            (&["npx", "local"], &["app/cli.js"], &["app/src/main.rs"]),
            (&["npx", "."], &["app/cli.js"], &[]),
            (
                &["uvx", "some-server", "--repository", "tools"],
                &["app/uv.toml", "app/pyproject.toml"],
                &["app/src/main.rs", "app/x.py", "app/x.js", "app/tools/x.py"],
            ),
            (&["uvx", "--from", "./tools", "x"], &["app/tools/x.py"], &["app/src/main.rs"]),
            (&["uv", "run", "x"], &["app/src/x.py"], &["app/src/main.rs"]),
            (&["npm", "run", "serve"], &["app/src/main.rs", "app/x.js"], &["other/x.js"]),
            (&["sh", "tools/run.sh"], &["app/src/x.py", "app/deep/y"], &["other/x"]),
            (&["sh", "-c", "exec npx -y some-server"], &["app/package.json"], &["app/src/main.rs"]),
            (&["sh", "-c", "cd tools && $X"], &["app/src/main.rs"], &["other/x"]),
            (&["make", "serve"], &["app/mk/a.mk", "app/src/main.rs"], &["other/x"]),
            (&["cargo", "run"], &["app/src/main.rs"], &["other/x"]),
            (&["docker", "run", "-i", "mcp/x"], &["app/mise.toml"], &["app/src/main.rs"]),
            (&["docker", "compose", "up"], &["app/src/main.rs"], &[]),
            (&["tools/program"], &["app/tools/json.py", "app/tools/x.md"], &["app/src/main.rs"]),
            (&["claude", "-p"], &["app/.claude/hooks/x", "app/.mcp.json"], &["app/src/main.rs"]),
            (&["no-such-program"], &["app/package.json", "app/Makefile"], &["app/src/main.rs"]),
        ] {
            let args: Vec<String> = words[1..].iter().map(|word| word.to_string()).collect();
            let reach = reach_of(&NamedProgram::new(words[0], &args, &top.join("app"))).with_links();
            for path in within {
                assert!(reach.covers(&top.join(path), false), "{words:?} {path}");
                assert!(reach.meets(&top.join(path)), "{words:?} {path}");
            }
            for path in without {
                assert!(!reach.covers(&top.join(path), false), "{words:?} {path}");
            }
        }
    }

    #[test]
    fn a_link_counts_and_a_program_outside_reaches_nothing() {
        let (_place, top) = tree();
        let args = ["tools/server.py".to_string()];
        let reach = reach_of(&NamedProgram::new("python3", &args, &top.join("app")));
        assert!(reach.covers(&top.join("app/tools/json"), true));
        assert!(
            reach.covers(&top.join("app/tools/x.md"), true)
                && !reach.covers(&top.join("app/tools/x.md"), false)
        );
        let outside =
            reach_of(&NamedProgram::new("npx", &["-y".to_string(), "x".to_string()], Path::new("/")));
        assert!(!outside.meets(&top), "{outside:?}");
    }
}
