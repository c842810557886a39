//! Files that a program loads from its start folder although no argument names them: packages by name, and modules in the
//! folder of a script.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};

/// Most files of a folder that count.
const MOST: usize = 2000;

/// Maximum length of a file to search for names, in bytes.
pub(super) const LONGEST_TEXT: u64 = 1 << 20;

/// Files whose text decides which programs run.
const RECIPES: &[&str] = &[
    "Makefile",
    "makefile",
    "GNUmakefile",
    "justfile",
    "Justfile",
    ".justfile",
    "Taskfile.yml",
    "Taskfile.yaml",
    ".envrc",
    "package.json",
];

/// Programs that run a package by its name, from `node_modules` if it is installed there.
const PACKAGE_RUNNERS: &[&str] = &["npm", "npx", "pnpm", "pnpx", "yarn", "bun", "corepack", "deno"];

/// Extensions of scripts, grouped with the extensions of the modules that such a script finds in its own folder.
const MODULES: &[&[&str]] = &[
    &["py", "pyw", "pyc", "so"],
    &["js", "mjs", "cjs", "jsx", "ts", "mts", "cts", "tsx", "node"],
    &["rb"],
    &["pl", "pm"],
    &["php"],
    &["lua"],
    &["sh", "bash", "zsh", "fish", "ksh"],
];

/// Returns the files of classes that a definition may name in one of these folders (`com.example.Main`).
pub(super) fn class_files(words: &[&str], folders: &[PathBuf]) -> Vec<PathBuf> {
    // `-m MODULE/CLASS`
    let names = words.iter().map(|word| word.rsplit('/').next().unwrap_or(word));
    let is_part =
        |part: &str| !part.is_empty() && part.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '$');
    let names = names.filter(|name| name.split('.').all(is_part));
    let paths = names.map(|name| format!("{}.class", name.replace('.', "/")));
    paths
        .flat_map(|path| folders.iter().map(move |folder| folder.join(&path)))
        .filter(|path| path.is_file())
        .collect()
}

/// Returns the folders of `node_modules` from which a package runner takes the packages that these words name.
pub(super) fn packages(words: &[&str], folders: &[PathBuf]) -> Vec<PathBuf> {
    if !words.iter().any(|word| is_one_of(word, PACKAGE_RUNNERS)) {
        return Vec::new();
    }
    let names = words.iter().filter_map(|word| package(word));
    names.flat_map(|name| folders.iter().map(move |folder| folder.join("node_modules").join(&name))).collect()
}

/// Returns the name of a package without its version, and without a preceding `--package=`.
fn package(word: &str) -> Option<String> {
    let word = word.split_once('=').map_or(word, |(_, value)| value);
    let (scope, rest) = match word.strip_prefix('@') {
        Some(rest) => (Some(rest.split_once('/')?.0), rest.split_once('/')?.1),
        None => (None, word),
    };
    let name = rest.split('@').next().unwrap_or_default();
    let is_plain = |text: &str| {
        !text.is_empty() && !text.starts_with(['.', '-']) && !text.contains(['/', '\0', '\\', ':'])
    };
    match scope {
        Some(scope) if is_plain(scope) && is_plain(name) => Some(format!("@{scope}/{name}")),
        None if is_plain(name) => Some(name.to_string()),
        _ => None,
    }
}

/// Returns the modules that a script finds in its own folder before all others, and those in packages there.
pub(super) fn modules_near_script(script: &Path) -> Vec<PathBuf> {
    let ending = script.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    let Some(endings) = MODULES.iter().find(|endings| endings.contains(&ending)) else { return Vec::new() };
    script.parent().map(|folder| modules(folder, endings)).unwrap_or_default()
}

/// Whether a program runs a folder by a file in it: `node ./server`, `python3 tools`.
pub(super) fn runs_folder(word: &str) -> bool {
    is_one_of(word, &["node", "bun", "deno", "tsx", "python", "pypy"])
}

/// Reads a file of at most [`LONGEST_TEXT`] bytes.
pub(super) fn short_text(path: &Path) -> Option<String> {
    let is_short = path.metadata().is_ok_and(|meta| meta.is_file() && meta.len() <= LONGEST_TEXT);
    is_short.then(|| std::fs::read_to_string(path).ok()).flatten()
}

/// Returns the files that such a program runs in a folder.
pub(super) fn entry_files(folder: &Path) -> Vec<PathBuf> {
    let manifest = folder.join("package.json");
    let document: Option<serde_json::Value> =
        short_text(&manifest).and_then(|text| serde_json::from_str(&text).ok());
    let main = document.as_ref().and_then(|document| document.get("main")?.as_str());
    let names = ["index.js", "index.mjs", "index.cjs", "index.ts", "__main__.py"];
    names.into_iter().chain(main).map(|name| folder.join(name)).chain([manifest.clone()]).collect()
}

/// Whether these words start Python so that it searches its working directory first for every module.
pub(super) fn runs_python_from_folder(words: &[&str]) -> bool {
    let runs = words.iter().any(|word| is_one_of(word, &["python", "pypy"]));
    runs && words.iter().any(|word| word.starts_with("-m") || *word == "-c")
}

/// Returns the Python modules in a folder and below it.
pub(super) fn python_modules(folder: &Path) -> Vec<PathBuf> {
    modules(folder, MODULES.first().copied().unwrap_or_default())
}

/// Returns the files with these extensions in a folder and below it, the nearest first, without installed packages.
fn modules(folder: &Path, endings: &[&str]) -> Vec<PathBuf> {
    let (mut found, mut folders) = (Vec::new(), VecDeque::from([folder.to_path_buf()]));
    while let Some(folder) = folders.pop_front() {
        for path in entries(&folder) {
            let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
            if path.symlink_metadata().is_ok_and(|meta| meta.is_dir()) {
                folders.extend(is_searched(&path).then_some(path));
            } else if endings.contains(&ending) {
                found.push(path);
            }
            if found.len() + folders.len() > MOST {
                return found;
            }
        }
    }
    found
}

fn is_searched(folder: &Path) -> bool {
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    let is_foreign = name.starts_with('.') || ["node_modules", "__pycache__"].contains(&&*name);
    !is_foreign && !folder.join("pyvenv.cfg").exists()
}

/// Returns the text in which a recipe, a shell script or a script of `package.json` names the files that it runs.
pub(super) fn running_text(path: &Path, words: &[&str]) -> Option<String> {
    let name = path.file_name()?.to_str()?;
    let is_shell = MODULES.last()?.iter().any(|ending| name.ends_with(&format!(".{ending}")));
    let is_script = !name.contains('.') && !RECIPES.contains(&name);
    if !is_shell && !is_script && !RECIPES.contains(&name) {
        return None;
    }
    let meta = path.metadata().ok()?;
    let bytes = (meta.is_file() && meta.len() <= LONGEST_TEXT).then(|| std::fs::read(path).ok())??;
    let text = String::from_utf8(bytes).ok()?;
    match name {
        "package.json" => {
            let document: serde_json::Value = serde_json::from_str(&text).ok()?;
            let scripts = document.get("scripts")?.as_object()?.iter();
            let ran = scripts.filter(|(name, _)| words.iter().any(|word| name.ends_with(word)));
            Some(ran.filter_map(|(_, script)| script.as_str()).collect::<Vec<_>>().join("\n"))
        }
        // A file without an extension is a shell script if its first line says so.
        _ if is_script => text
            .lines()
            .next()
            .is_some_and(|first| first.starts_with("#!") && first.contains("sh"))
            .then_some(text),
        _ => Some(text),
    }
}

/// Returns the root of a virtual environment, for `bin/NAME`, and its files that run before any of its programs.
pub(super) fn virtual_environment(program: &Path) -> Option<(PathBuf, Vec<PathBuf>)> {
    let root = program.parent().filter(|bin| bin.ends_with("bin"))?.parent()?;
    let settings = Some(root.join("pyvenv.cfg")).filter(|path| path.is_file())?;
    let mut files = vec![settings];
    for lib in entries(&root.join("lib")) {
        let runs_first = |path: &PathBuf| {
            path.extension().is_some_and(|ending| ending == "pth")
                || path.ends_with("sitecustomize.py")
                || path.ends_with("usercustomize.py")
        };
        files.extend(entries(&lib.join("site-packages")).into_iter().filter(runs_first));
    }
    Some((root.to_path_buf(), files))
}

/// Returns the entries of a folder, sorted.
pub(super) fn entries(folder: &Path) -> Vec<PathBuf> {
    let read = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> = read.map(|entry| entry.path()).collect();
    found.sort();
    found.truncate(MOST);
    found
}

/// Whether the last component of `word` is one of these programs, possibly followed by a version or a suffix
/// (`python3.12`, `npm-cli`).
pub(super) fn is_one_of(word: &str, programs: &[&str]) -> bool {
    let name = word.rsplit('/').next().unwrap_or(word);
    programs.iter().any(|program| {
        let rest = name.strip_prefix(program);
        program.is_empty()
            || rest.is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_alphabetic() && c != 'x'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_package_is_named_with_or_without_scope_and_version() {
        for (word, name) in [
            ("pkg", Some("pkg")),
            ("pkg@1.2", Some("pkg")),
            ("@s/pkg@latest", Some("@s/pkg")),
            ("--package=@s/pkg", Some("@s/pkg")),
            ("-y", None),
            ("./pkg", None),
            ("@s", None),
            ("../x", None),
            ("a/b", None),
        ] {
            assert_eq!(package(word).as_deref(), name, "{word}");
        }
    }

    #[test]
    fn a_program_is_known_by_its_name() {
        for (word, programs, is_it) in [
            ("npx", &["npx"][..], true),
            ("/usr/bin/npx", &["npx"], true),
            ("uvx", &["uv"], true),
            ("python3.12", &["python"], true),
            ("npm-cli.js", &["npm"], true),
            ("makeself", &["make"], false),
            ("goose", &["go"], false),
        ] {
            assert_eq!(is_one_of(word, programs), is_it, "{word}");
        }
    }

    #[test]
    fn a_class_is_named_with_its_package_and_module() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(dir.path().join("com/x")).unwrap();
        std::fs::write(dir.path().join("com/x/Main.class"), "").unwrap();
        for (word, count) in
            [("com.x.Main", 1), ("m/com.x.Main", 1), ("com.x.None", 0), ("com/x/Main", 0), ("..", 0)]
        {
            assert_eq!(class_files(&[word], &[dir.path().to_path_buf()]).len(), count, "{word}");
        }
    }
}
