//! Classifies programs by the files of a folder that they may run.

use std::collections::BTreeSet;
use std::io::Read;
use std::path::{Path, PathBuf};

use super::family_table::{
    FAMILIES, HIDDEN, IMPORTERS, MANIFESTS, PACKAGE_WORDS, PROJECT_RUNNERS, ProgramFamily, SHELL_ENDINGS,
    SHELLS,
};
use super::loaded::{LONGEST_TEXT, is_one_of};

/// Parts of a text that refer to files above a script's folder, or below the folder in which the script starts.
const PATHS_ELSEWHERE: &[&str] = &[
    "../",
    "..'",
    "..\"",
    "..`",
    "parent",
    "cwd",
    "getwd",
    "sys.path",
    "use lib",
    "FindBin",
    "LOAD_PATH",
    "$:",
];

/// Maximum number of files next to a script to search for such parts.
const MOST_BESIDE: usize = 100;

/// Returns the families of a program with these arguments. `split` contains all words within them, and those of its
/// scripts if `knows_scripts`.
pub(super) fn families(words: &[&str], split: &[&str], knows_scripts: bool) -> BTreeSet<ProgramFamily> {
    let mut found: BTreeSet<ProgramFamily> = FAMILIES
        .iter()
        .filter(|(_, names)| split.iter().any(|word| is_program(word, names)))
        .map(|(family, _)| *family)
        .collect();
    let is = |names: &[&str]| split.iter().any(|word| is_program(word, names));
    // Packages of agents have the names of the agents.
    let agents =
        FAMILIES.iter().filter(|(family, _)| *family == ProgramFamily::Agent).flat_map(|(_, names)| *names);
    if agents.into_iter().any(|name| split.iter().any(|word| is_one_of(word, &[name]))) {
        found.insert(ProgramFamily::Agent);
    }
    let has = |wanted: &[&str]| split.iter().any(|word| wanted.contains(word));
    if is(PROJECT_RUNNERS) && has(&["run", "sync", "install", "shell", "-m"]) && !has(&["tool"]) {
        found.insert(ProgramFamily::PythonProject);
    }
    let runs_script = split.iter().enumerate().any(|(at, word)| {
        let next = split.iter().skip(at + 1).find(|word| !word.starts_with('-'));
        let is_package = next.is_some_and(|next| PACKAGE_WORDS.contains(next));
        is_program(word, &["npm", "pnpm", "yarn", "bun"]) && !is_package
    });
    if runs_script {
        found.insert(ProgramFamily::Builder);
    }
    if is(&["docker", "podman"]) && has(&["compose", "build", "buildx", "bake", "stack"]) {
        found.insert(ProgramFamily::Builder);
    }
    if is(SHELLS) && !knows_scripts && !is_plain_line(words) {
        found.insert(ProgramFamily::Builder);
    }
    found
}

/// Whether a shell runs a plain command line, which names everything that runs.
fn is_plain_line(words: &[&str]) -> bool {
    let is_plain = |c: char| c.is_alphanumeric() || " -_./@:=,+".contains(c);
    let line = words.windows(2).find_map(|pair| match pair {
        [option, line] => {
            (option.starts_with('-') && !option.starts_with("--") && option.ends_with('c')).then_some(*line)
        }
        _ => None,
    });
    // A script, or a file that the shell reads, could name anything.
    let reads =
        |line: &str| line.split_whitespace().any(|word| [".", "source", "eval", "cd"].contains(&word));
    line.is_some_and(|line| {
        let runs_file = line.split_whitespace().any(|word| word.ends_with("sh") && word.contains('/'));
        line.chars().all(is_plain) && !reads(line) && !runs_file
    })
}

/// Whether the last component of a word is one of these programs, possibly followed by a version or a script
/// extension.
fn is_program(word: &str, programs: &[&str]) -> bool {
    let name = word.rsplit('/').next().unwrap_or(word);
    programs.iter().any(|program| {
        let rest = name.strip_prefix(program).map(|rest| rest.trim_start_matches('-'));
        rest.is_some_and(|rest| {
            let rest = rest.strip_prefix("cli").unwrap_or(rest);
            let rest = rest.strip_suffix(".js").unwrap_or(rest);
            rest.chars().all(|c| c.is_ascii_digit() || c == '.')
        })
    })
}

/// Whether a path has one of these extensions or none, or is one of the hidden files that programs load.
pub(super) fn code_in(path: &Path, endings: &[&str]) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    if let Some(hidden) = name.strip_prefix('.') {
        let ending = hidden.rsplit_once('.').map(|(_, ending)| ending);
        return HIDDEN.iter().any(|known| name.starts_with(known))
            || ending.is_some_and(|ending| endings.contains(&ending));
    }
    match path.extension() {
        _ if MANIFESTS.contains(&&*name) => true,
        None => true,
        // Some file systems are case-insensitive.
        Some(ending) => {
            ending.to_str().is_none_or(|ending| endings.contains(&ending.to_ascii_lowercase().as_str()))
        }
    }
}

/// Whether Python searches its start folder first for every module.
pub(super) fn imports_from_folder(words: &[&str]) -> bool {
    if words.iter().any(|word| is_program(word, IMPORTERS)) {
        return true;
    }
    let python = FAMILIES.iter().find(|(family, _)| *family == ProgramFamily::Python);
    let names = python.map(|(_, names)| *names).unwrap_or_default();
    let behind = words.iter().skip_while(|word| !is_program(word, names));
    behind
        .skip(1)
        .any(|word| word.starts_with("-m") || word.starts_with("-c") || *word == "-" || *word == "-i")
}

/// Whether a file is a shell script, by its extension or its first line.
pub(super) fn is_shell_script(file: &Path) -> bool {
    if file
        .extension()
        .and_then(|ending| ending.to_str())
        .is_some_and(|ending| SHELL_ENDINGS.contains(&ending))
    {
        return true;
    }
    let mut first = [0; 128];
    let read = std::fs::File::open(file).and_then(|mut file| file.read(&mut first)).unwrap_or_default();
    let first = String::from_utf8_lossy(first.get(..read).unwrap_or_default()).into_owned();
    let words = first.lines().next().and_then(|line| line.strip_prefix("#!")).unwrap_or_default();
    words.split_whitespace().any(|word| is_program(word, SHELLS))
}

/// Whether a script, or a file of the same type in its folder, refers to files elsewhere.
pub(super) fn leads_elsewhere(script: &Path) -> bool {
    let entries = script.parent().and_then(|folder| std::fs::read_dir(folder).ok()).into_iter().flatten();
    let beside = entries.flatten().map(|entry| entry.path());
    let is_alike = |path: &PathBuf| path.extension().is_some() && path.extension() == script.extension();
    let beside = beside.filter(is_alike).take(MOST_BESIDE);
    std::iter::once(script.to_path_buf()).chain(beside).any(|path| {
        let is_text = path.metadata().is_ok_and(|meta| meta.is_file() && meta.len() <= LONGEST_TEXT);
        let text = is_text.then(|| std::fs::read_to_string(path).ok()).flatten();
        text.is_some_and(|text| PATHS_ELSEWHERE.iter().any(|part| text.contains(part)))
    })
}

/// Whether the package in this folder has one of these names, or a program with one.
pub(super) fn local_package(folder: &Path, words: &[&str]) -> bool {
    let manifest = folder.join("package.json");
    if !manifest.metadata().is_ok_and(|meta| meta.is_file() && meta.len() <= LONGEST_TEXT) {
        return false;
    }
    let document = std::fs::read(&manifest).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok());
    let Some(document): Option<serde_json::Value> = document else { return false };
    let name = document.get("name").and_then(|name| name.as_str()).unwrap_or_default();
    let bare = name.rsplit('/').next().unwrap_or(name);
    let bins = document.get("bin").and_then(|bin| bin.as_object());
    let mut names = bins.into_iter().flat_map(|bins| bins.keys().map(String::as_str)).chain([name, bare]);
    names.any(|name| !name.is_empty() && words.iter().any(|word| word.trim_end_matches("@latest") == name))
}

#[cfg(test)]
mod tests {
    use super::super::family_table::PYTHON;
    use super::*;

    #[test]
    fn a_program_is_of_the_families_of_its_words() {
        for (words, found) in [
            (&["python3.12", "x.py"][..], &[ProgramFamily::Python][..]),
            (&["/usr/bin/node", "x.js"], &[ProgramFamily::JavaScript]),
            (&["/opt/jdk/bin/java", "-cp", "build", "Main"], &[ProgramFamily::Java]),
            (&["gunicorn", "app:app"], &[ProgramFamily::Python]),
            (&["npx", "-y", "task-master"], &[ProgramFamily::Packages, ProgramFamily::Runner]),
            (&["npm", "exec", "x"], &[ProgramFamily::Packages, ProgramFamily::Runner]),
            (&["npm", "run", "x"], &[ProgramFamily::Packages, ProgramFamily::Runner, ProgramFamily::Builder]),
            (
                &["npx", "@scope/claude-code-acp@1.2"],
                &[ProgramFamily::Packages, ProgramFamily::Runner, ProgramFamily::Agent],
            ),
            (&["uv", "run", "x"], &[ProgramFamily::PythonProject, ProgramFamily::Runner]),
            (&["uvx", "x"], &[ProgramFamily::Runner]),
            (&["bash", "x.sh"], &[ProgramFamily::Builder]),
            (&["bash", "-lc", "uvx x"], &[ProgramFamily::Runner]),
            (&["sh", "-c", "uvx x; y"], &[ProgramFamily::Runner, ProgramFamily::Builder]),
            (&["sh", "-c", ". ./env"], &[ProgramFamily::Builder]),
            (&["docker", "run", "x"], &[ProgramFamily::Runner]),
            (&["docker", "compose", "up"], &[ProgramFamily::Runner, ProgramFamily::Builder]),
            (&["some-server"], &[]),
        ] {
            let split: Vec<&str> = words.iter().flat_map(|word| word.split_whitespace()).collect();
            assert_eq!(families(words, &split, false), found.iter().copied().collect(), "{words:?}");
        }
    }

    #[test]
    fn code_is_known_by_its_ending_or_by_none() {
        for (path, is_code) in [
            ("/a/x.py", true),
            ("/a/X.PY", true),
            ("/a/x.cpython-311.pyc", true),
            ("/a/run", true),
            ("/a/.env.local", true),
            ("/a/.gitignore", false),
            ("/a/.x.py", true),
            ("/a/x.md", false),
            ("/a/pyvenv.cfg", true),
            ("/a/x.cfg", false),
            ("/a/x.rs", false),
        ] {
            assert_eq!(code_in(Path::new(path), PYTHON), is_code, "{path}");
        }
    }
}
