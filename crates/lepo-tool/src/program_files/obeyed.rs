//! Settings that programs obey in the folder in which they start and in those above it, by program; and the code that such
//! settings name.

use std::path::{Path, PathBuf};

use super::candidates::candidates;
use super::loaded::{entries, is_one_of, short_text};
use super::obeyed_table::{OBEYED, ObeyedRow};

/// Most files to search for the names of others.
const MOST_READ: usize = 50;

/// Most lines of a file to search.
const MOST_LINES: usize = 2000;

/// Settings whose values are paths of code, or of other settings with such values.
const NAMING: &[&str] = &[
    "tsconfig.json",
    "jsconfig.json",
    ".swcrc",
    ".babelrc",
    ".babelrc.json",
    "babel.config.json",
    "nodemon.json",
    "bunfig.toml",
    "deno.json",
    "deno.jsonc",
    "node.config.json",
    "fastmcp.json",
    "loader.properties",
];

/// Settings by which the name of a module can lead anywhere in the tree, and the parts of their text that do so.
const RENAMING: &[(&str, &[&str])] = &[
    ("tsconfig.json", &["\"paths\"", "\"baseUrl\"", "\"rootDirs\"", "\"extends\""]),
    ("jsconfig.json", &["\"paths\"", "\"baseUrl\""]),
    ("package.json", &["\"imports\"", "_moduleAliases"]),
    ("deno.json", &["\"imports\"", "\"importMap\""]),
    ("deno.jsonc", &["\"imports\"", "\"importMap\""]),
];

/// Returns the files that a program with these words obeys in one of these folders.
pub(super) fn obeyed(words: &[&str], folders: &[PathBuf]) -> Vec<PathBuf> {
    let names: Vec<&str> = rows(words, false).flat_map(|(_, names)| names.iter().copied()).collect();
    let mut found = Vec::new();
    for folder in folders {
        for name in &names {
            match name.strip_suffix('/') {
                Some(name) => found.extend(entries(&folder.join(name))),
                None => found.push(folder.join(name)),
            }
        }
    }
    found
}

/// Returns the names of settings that a command line obeys in a folder; all names if its programs are unknown.
pub(super) fn settings_of_all<'w>(
    words: &'w [&str],
    is_unknown: bool,
) -> impl Iterator<Item = &'static str> + use<'w> {
    rows(words, is_unknown).flat_map(|(_, names)| names.iter().map(|name| name.trim_end_matches('/')))
}

/// Returns the rows for the programs of a command line.
fn rows<'w>(words: &'w [&str], is_unknown: bool) -> impl Iterator<Item = &'static ObeyedRow> + use<'w> {
    OBEYED
        .iter()
        .filter(move |(programs, _)| is_unknown || words.iter().any(|word| names_one_of(word, programs)))
}

/// Whether a word is one of these programs, or a module of one (`-r ts-node/register`, `--import=@swc-node/register`).
fn names_one_of(word: &str, programs: &[&str]) -> bool {
    let value = word.split_once('=').map_or(word, |(_, value)| value);
    let is_specifier = !value.starts_with(['/', '.', '-']);
    let parts = value.split('/').filter(|_| is_specifier);
    is_one_of(word, programs)
        || parts.map(|part| part.trim_start_matches('@')).any(|part| is_one_of(part, programs))
}

/// Returns the files that settings of a folder name, directly or through each other, if the command line obeys them.
pub(super) fn named_in_settings(folder: &Path, words: &[&str]) -> Vec<PathBuf> {
    let own =
        settings_of_all(words, false).filter(|name| NAMING.contains(name)).map(|name| folder.join(name));
    let (mut left, mut found): (Vec<PathBuf>, Vec<PathBuf>) = (own.collect(), Vec::new());
    for _ in 0..MOST_READ {
        let Some(file) = left.pop() else { break };
        let (Some(text), Some(folder)) = (short_text(&file), file.parent()) else { continue };
        let named =
            text.lines().take(MOST_LINES).flat_map(candidates).map(|path| path.trim_matches(['[', ']']));
        let named = named.filter(|path| !path.is_empty()).map(|path| folder.join(path));
        // `extends` may leave its ending out.
        let named = named.map(|path| if path.is_file() { path } else { path.with_added_extension("json") });
        for path in named.filter_map(|path| path.canonicalize().ok()).filter(|path| path.is_file()) {
            if !found.contains(&path) {
                let is_settings = path.extension().is_some_and(|ending| ending == "json");
                left.extend(is_settings.then(|| path.clone()));
                found.push(path);
            }
        }
    }
    found
}

/// Whether settings of a folder map names of modules to paths.
pub(super) fn renames_modules(folder: &Path) -> bool {
    RENAMING.iter().any(|(name, parts)| {
        short_text(&folder.join(name)).is_some_and(|text| parts.iter().any(|part| text.contains(part)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_those_of_the_programs_in_a_line() {
        for (line, name, is_obeyed) in [
            ("ts-node tools/server.ts", "tsconfig.json", true),
            ("node -r ts-node/register tools/server.ts", "tsconfig.json", true),
            ("node --import=tsx tools/server.ts", "tsconfig.json", true),
            ("node --import tsx/esm tools/server.ts", "tsconfig.json", true),
            ("node --require=@swc-node/register x.ts", ".swcrc", true),
            ("node -r @babel/register x.js", ".babelrc", true),
            ("node -r dotenv/config x.js", ".env", true),
            ("npx -y tsx@4 x.ts", "tsconfig.json", true),
            ("bunx x", "bunfig.toml", true),
            ("node tools/server.js", "tsconfig.json", false),
            ("deno run x.ts", "deno.json", true),
            ("pipenv run x", "Pipfile", true),
            ("/usr/bin/gunicorn app:app", "gunicorn.conf.py", true),
            ("java -jar x.jar", "config/application.yml", true),
            ("Rscript x.R", ".Rprofile", true),
            ("some-server", ".config/mise", true),
            ("some-server", "tsconfig.json", false),
        ] {
            let words: Vec<&str> = line.split(' ').collect();
            let found = settings_of_all(&words, false).any(|found| found == name);
            assert_eq!(found, is_obeyed, "{line} {name}");
        }
    }

    #[test]
    fn code_is_found_by_the_settings_that_name_it() {
        let dir = tempfile::tempdir().unwrap();
        let top = dir.path().canonicalize().unwrap();
        for (name, text) in [
            ("tsconfig.json", r#"{"extends": ["./base"], "files": ["src/x.ts"]}"#),
            ("base.json", r#"{"ts-node": {"require":["./first.js"], "compiler": "./lib/ts.cjs"}}"#),
            ("bunfig.toml", "preload = [\"./second.js\"]\n"),
            ("first.js", ""),
            ("second.js", ""),
            ("other.js", ""),
            ("lib/ts.cjs", ""),
        ] {
            std::fs::create_dir_all(top.join(name).parent().unwrap()).unwrap();
            std::fs::write(top.join(name), text).unwrap();
        }
        for (words, expected) in [
            (&["tsx"][..], "base.json first.js lib/ts.cjs"),
            (&["bun"], "base.json first.js lib/ts.cjs second.js"),
            (&["node"], ""),
        ] {
            let mut found: Vec<String> = named_in_settings(&top, words)
                .iter()
                .map(|path| path.strip_prefix(&top).unwrap().display().to_string())
                .collect();
            found.sort();
            assert_eq!(found.join(" "), expected, "{words:?}");
        }
        assert!(renames_modules(&top) && !renames_modules(&top.join("lib")));
    }
}
