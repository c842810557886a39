//! Files below the start folder of a configured program: those that its definition names, which a sandboxed command
//! must not change, and those that it loads without naming them.

mod candidates;
mod code_folders;
mod families;
mod family_table;
mod loaded;
mod obeyed;
mod obeyed_table;
mod reach;
mod shell_text;
mod start_check;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use lepo_base::search_path::SearchPath;
use lepo_base::secret::Secret;

pub use reach::{Reach, reach_of};
pub use start_check::{RunningCheck, StartCheck};

use candidates::candidates;
use loaded::{
    class_files, entry_files, modules_near_script, packages, python_modules, running_text, runs_folder,
    runs_python_from_folder, virtual_environment,
};
use obeyed::obeyed;

/// Most folders to search for a relative path.
const MOST_FOLDERS: usize = 16;

/// Most lines of a text to search for names of files.
const MOST_LINES: usize = 2000;

/// Suffixes of variables that make a program load files.
const LOADERS: &[&str] = &[
    "PATH",
    "PRELOAD",
    "OPTIONS",
    "OPT",
    "STARTUP",
    "ENV",
    "CONFIG",
    "CONFIG_GLOBAL",
    "CLASSPATH",
    "PROJECT",
    "LIB",
    "INIT",
    "RC",
];

/// Extensions of data that programs write themselves; a change of such a file does not affect which code runs.
const DATA: &[&str] = &[
    "db", "db3", "sqlite", "sqlite3", "log", "jsonl", "ndjson", "csv", "tsv", "parquet", "pdf", "png", "jpg",
    "jpeg", "gif", "webp", "mp3", "mp4", "wav",
];

/// Extensions that interpreters append to the name of a file.
const ENDINGS: &[&str] = &["js", "mjs", "cjs", "ts", "py", "rb", "pm", "lua", "php", "sh", "class", "jar"];

/// A program that a configuration names, with everything that decides which code it runs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NamedProgram {
    /// Path or name.
    pub program: String,
    /// Arguments of the program.
    pub args: Vec<String>,
    /// Variables to add to its environment.
    pub env: Vec<(String, Secret)>,
    /// Start folder, absolute.
    pub dir: PathBuf,
}

/// Files below a folder from which a program starts: absolute, with links resolved except in the last component.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProgramFiles {
    /// Files and folders that the definition names; none is a link.
    pub read_only: BTreeSet<PathBuf>,
    /// Files whose bytes decide which code runs: the named ones, and those that are loaded unnamed.
    pub compared: BTreeSet<PathBuf>,
}

impl NamedProgram {
    /// Creates a program with arguments that starts in `dir`.
    pub fn new(program: &str, args: &[String], dir: &Path) -> NamedProgram {
        let (program, args, dir) = (program.to_string(), args.to_vec(), dir.to_path_buf());
        NamedProgram { program, args, env: Vec::new(), dir }
    }

    /// Returns the files below `tree` from which the program starts.
    pub fn files(&self, tree: &Path) -> ProgramFiles {
        self.search(tree, true).files
    }

    /// Returns the files and folders below `tree` that the definition names; none is a link.
    pub fn read_only(&self, tree: &Path) -> BTreeSet<PathBuf> {
        self.search(tree, false).files.read_only
    }

    fn search(&self, tree: &Path, compares: bool) -> FileSearch {
        let Ok(tree) = tree.canonicalize() else { return FileSearch::default() };
        let mut search = FileSearch { tree, compares, files: ProgramFiles::default() };
        let folders = self.folders(&search);
        search.add_named(self, &folders);
        search.add_modules(self, &folders);
        search.add_loaded(self, &folders);
        search
    }

    fn words(&self) -> Vec<&str> {
        std::iter::once(&self.program).chain(&self.args).map(String::as_str).collect()
    }

    /// Returns the values of variables that make programs load files.
    fn loader_values(&self) -> impl Iterator<Item = &str> {
        let is_loader = |name: &str| LOADERS.iter().any(|end| name.ends_with(end));
        self.env.iter().filter(move |(name, _)| is_loader(name)).map(|(_, value)| value.reveal())
    }

    /// Returns the folders to which paths may be relative: the start folder, and folders below the tree that arguments
    /// name (`uv --directory tools run server.py`).
    fn folders(&self, search: &FileSearch) -> Vec<PathBuf> {
        let mut folders = vec![self.dir.clone()];
        for word in self.args.iter().map(String::as_str).chain(self.loader_values()) {
            for path in candidates(word).into_iter().map(|path| self.dir.join(path)) {
                if folders.len() < MOST_FOLDERS
                    && path.is_dir()
                    && search.is_below(&path)
                    && !folders.contains(&path)
                {
                    folders.push(path);
                }
            }
        }
        folders
    }

    /// Returns the file that a bare name means.
    fn in_search_path(&self) -> Option<PathBuf> {
        let own = self.env.iter().rev().find(|(name, _)| name == "PATH");
        let folders: Vec<PathBuf> = match own {
            Some((_, value)) => std::env::split_paths(value.reveal()).collect(),
            None => SearchPath::current().dirs().to_vec(),
        };
        let mut files = folders.into_iter().map(|folder| self.dir.join(folder).join(&self.program));
        files.find(|path| path.is_file())
    }
}

/// The files found below a tree. The path of the tree has no links.
#[derive(Default)]
struct FileSearch {
    tree: PathBuf,
    /// Whether to search for files that are loaded unnamed, too.
    compares: bool,
    files: ProgramFiles,
}

impl FileSearch {
    /// All files that the definition names, links too.
    fn files_named(self) -> BTreeSet<PathBuf> {
        let ProgramFiles { mut read_only, compared } = self.files;
        read_only.extend(compared);
        read_only
    }

    /// Whether a path leads into the tree.
    fn is_below(&self, path: &Path) -> bool {
        path.canonicalize().is_ok_and(|path| path.starts_with(&self.tree))
    }

    /// Resolves links except in the last component; `None` if the result is outside of the tree.
    fn inside(&self, path: &Path) -> Option<PathBuf> {
        let path = match path.file_name() {
            Some(name) => path.parent()?.canonicalize().ok()?.join(name),
            None => path.canonicalize().ok()?,
        };
        (path.starts_with(&self.tree) && path != self.tree).then_some(path)
    }

    /// Adds the files that the definition names.
    fn add_named(&mut self, program: &NamedProgram, folders: &[PathBuf]) {
        match program.program.contains('/') {
            true => self.add_program(&program.dir.join(&program.program)),
            false => {
                if let Some(path) = program.in_search_path() {
                    self.add_program(&path);
                }
            }
        }
        let runs_folders = program.words().iter().any(|word| runs_folder(word));
        // An interpreter runs a script of any name.
        let args = program.args.iter().enumerate().map(|(index, arg)| (index == 0, arg.as_str()));
        for (is_first, word) in args.chain(program.loader_values().map(|value| (false, value))) {
            for path in candidates(word) {
                let is_data = has_ending(Path::new(path), DATA);
                for folder in folders.iter().filter(|_| is_first || !is_data) {
                    self.add_argument(&folder.join(path), runs_folders);
                }
            }
        }
    }

    /// Adds the path in an argument: a file, a file without its extension, or a folder that an interpreter runs.
    fn add_argument(&mut self, path: &Path, runs_folders: bool) {
        if path.is_file() {
            self.add_file(path);
        } else if path.is_dir() {
            let entries = if runs_folders { entry_files(path) } else { Vec::new() };
            entries.iter().for_each(|entry| self.add_file(entry));
        } else if let Some(name) = path.file_name().and_then(|name| name.to_str()) {
            ENDINGS.iter().for_each(|ending| self.add_file(&path.with_file_name(format!("{name}.{ending}"))));
        }
    }

    /// Adds a program by its path, and the virtual environment that contains it.
    fn add_program(&mut self, path: &Path) {
        self.add_file(path);
        let Some((root, first)) = virtual_environment(path).filter(|(root, _)| self.is_below(root)) else {
            return;
        };
        if let Some(root) = self.inside(&root).filter(|root| !is_link(root)) {
            self.files.read_only.insert(root);
        }
        self.add_compared(first);
    }

    /// Adds a file, and its target if it is a link. A link itself cannot be mounted, so its bytes are compared.
    fn add_file(&mut self, path: &Path) {
        if !path.is_file() {
            return;
        }
        let target = path.canonicalize().ok().filter(|target| target.starts_with(&self.tree));
        for path in [self.inside(path), target].into_iter().flatten() {
            if !is_link(&path) {
                self.files.read_only.insert(path.clone());
            }
            self.files.compared.insert(path);
        }
    }

    fn add_compared(&mut self, paths: Vec<PathBuf>) {
        let inside: Vec<PathBuf> =
            paths.iter().filter(|path| path.is_file()).filter_map(|path| self.inside(path)).collect();
        self.files.compared.extend(inside);
    }

    /// Adds modules by name: `-m NAME` and `NAME:app` of Python, `-MNAME` of Perl.
    fn add_modules(&mut self, program: &NamedProgram, folders: &[PathBuf]) {
        let words = program.words();
        let after = words.windows(2).filter_map(|pair| match pair {
            ["-m", name] => Some(*name),
            _ => None,
        });
        let within = words.iter().filter_map(|word| word.strip_prefix("-m").filter(|name| !name.is_empty()));
        let applications = words.iter().filter_map(|word| word.split_once(':').map(|(module, _)| module));
        let perl = words.iter().filter_map(|word| word.strip_prefix("-M").filter(|name| !name.is_empty()));
        for (name, folder) in perl.flat_map(|name| folders.iter().map(move |folder| (name, folder))) {
            let name = name.split('=').next().unwrap_or_default().replace("::", "/");
            self.add_file(&folder.join(format!("{name}.pm")));
        }
        class_files(&words, folders).iter().for_each(|file| self.add_file(file));
        let names: Vec<&str> =
            after.chain(within).chain(applications).filter(|name| is_module(name)).collect();
        for (name, folder) in names.iter().flat_map(|name| folders.iter().map(move |folder| (name, folder))) {
            let mut path = folder.clone();
            for part in name.split('.') {
                self.add_file(&path.join(format!("{part}.py")));
                path.push(part);
                self.add_file(&path.join("__init__.py"));
            }
            self.add_file(&path.join("__main__.py"));
            if self.compares && path.is_dir() && self.is_below(&path) {
                self.add_compared(python_modules(&path));
            }
        }
    }

    /// Adds files that the program loads although nothing names them.
    fn add_loaded(&mut self, program: &NamedProgram, folders: &[PathBuf]) {
        let scripts: Vec<PathBuf> =
            self.files.read_only.iter().filter(|path| path.is_file()).cloned().collect();
        let words = program.words();
        let split: Vec<&str> = words.iter().flat_map(|word| word.split_whitespace()).collect();
        let scripts = if self.compares { scripts } else { Vec::new() };
        self.add_sibling(&scripts);
        self.add_named_in(&scripts, &split);
        if self.compares && runs_python_from_folder(&split) && self.is_below(&program.dir) {
            self.add_compared(python_modules(&program.dir));
        }
        let around = self.around(folders);
        if self.compares {
            let obeyed = obeyed(&split, &around);
            self.add_named_in(&obeyed, &split);
            self.add_compared(obeyed);
        }
        for package in packages(&split, &around) {
            let (manifest, name) = (package.join("package.json"), package.file_name().map(PathBuf::from));
            let program = name.and_then(|name| Some(modules_folder(&package)?.join(".bin").join(name)));
            self.add_compared([manifest].into_iter().chain(program).collect());
            if let Some(package) = self.inside(&package).filter(|path| path.is_dir() && !is_link(path)) {
                self.files.read_only.insert(package);
            }
        }
    }

    fn add_sibling(&mut self, scripts: &[PathBuf]) {
        let mut folders = BTreeSet::new();
        for script in scripts {
            if folders.insert((script.parent(), script.extension())) {
                self.add_compared(modules_near_script(script));
            }
        }
    }

    /// Adds the files named in the text of these files, if the text decides which programs run.
    fn add_named_in(&mut self, files: &[PathBuf], words: &[&str]) {
        for file in files {
            let (Some(text), Some(folder)) = (running_text(file, words), file.parent()) else { continue };
            let named = text.lines().take(MOST_LINES).flat_map(candidates).map(|path| folder.join(path));
            let named: Vec<PathBuf> = named.filter(|path| path.is_file() && self.is_below(path)).collect();
            self.add_sibling(&named);
            self.add_compared(named);
        }
    }

    /// Returns these folders, and those above them in the tree.
    fn around(&self, folders: &[PathBuf]) -> Vec<PathBuf> {
        let mut around = Vec::new();
        for folder in folders.iter().filter_map(|folder| folder.canonicalize().ok()) {
            for folder in folder.ancestors().take_while(|above| above.starts_with(&self.tree)) {
                if !around.iter().any(|known| known == folder) {
                    around.push(folder.to_path_buf());
                }
            }
        }
        around
    }
}

/// Returns the `node_modules` that contains a package.
fn modules_folder(package: &Path) -> Option<&Path> {
    package.ancestors().find(|above| above.ends_with("node_modules"))
}

fn is_link(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|meta| meta.is_symlink())
}

fn has_ending(path: &Path, endings: &[&str]) -> bool {
    path.extension().and_then(|ending| ending.to_str()).is_some_and(|ending| endings.contains(&ending))
}

/// Whether a text is a name of a Python module.
fn is_module(name: &str) -> bool {
    let is_part =
        |part: &str| !part.is_empty() && part.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '-');
    name.split('.').all(is_part)
}
