//! The paths that source code names (`crate::a::b`, `super::super::c`, in braces too), as paths from the crate's
//! root. For the tests of the house.

use std::path::{Path, PathBuf};

/// A path of modules and items from the root of the crate.
pub type Segments = Vec<String>;

/// A path that is named, and whether a `pub use` names it.
pub struct Named {
    /// From the root: a room comes first.
    pub path: Segments,
    /// It is made another room's to hand on.
    pub handed_on: bool,
}

/// All source files of the program and of the crates beside it.
pub fn sources() -> Vec<PathBuf> {
    let mut files = Vec::new();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut folders = vec![root.join("src"), root.join("crates")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|end| end == "rs") {
                files.push(path);
            }
        }
    }
    files.sort();
    files
}

/// The source files of the program.
pub fn program_sources() -> Vec<PathBuf> {
    sources().into_iter().filter(|file| !short(file).starts_with("lepo-")).collect()
}

/// A file's path below `src`; with the name of its crate before it, if it is not of the program.
pub fn short(file: &Path) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let below = file.strip_prefix(root).unwrap().to_string_lossy().into_owned();
    match below.strip_prefix("src/") {
        Some(below) => below.to_string(),
        None => below.trim_start_matches("crates/").replacen("/src/", "/", 1),
    }
}

/// A file's code: no comments.
pub fn code_of(file: &Path) -> String {
    let text = std::fs::read_to_string(file).unwrap();
    let code = text.lines().map(|line| if line.trim_start().starts_with("//") { "" } else { line });
    code.collect::<Vec<_>>().join("\n")
}

/// The module that a file is: `a/b.rs` and `a/b/mod.rs` are a, b.
pub fn module_of(short: &str) -> Segments {
    let path = short.trim_end_matches(".rs").trim_end_matches("/mod");
    path.split('/').filter(|part| !matches!(*part, "lib" | "main")).map(String::from).collect()
}

/// The paths that the code of a module names.
pub fn paths_in(module: &[String], code: &str) -> Vec<Named> {
    let mut found = Vec::new();
    // Modules within the file, by the indentation of their lines.
    let mut inner: Vec<(usize, String)> = Vec::new();
    let mut offset = 0;
    for line in code.split_inclusive('\n') {
        let indent = line.len() - line.trim_start().len();
        if line.trim() == "}" && inner.last().is_some_and(|(at, _)| *at == indent) {
            inner.pop();
        }
        let words: Vec<&str> = line.split_whitespace().collect();
        if let [.., "mod", name, "{"] = words[..] {
            inner.push((indent, name.to_string()));
        }
        let here: Segments =
            module.iter().cloned().chain(inner.iter().map(|(_, name)| name.clone())).collect();
        for (at, _) in line.match_indices("crate::").chain(line.match_indices("super::")) {
            let before = line[..at].chars().next_back();
            if before.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == ':') {
                continue;
            }
            let handed_on = line.trim_start().starts_with("pub use");
            let mut rest = &code[offset + at..];
            let mut base = here.clone();
            if let Some(after) = rest.strip_prefix("crate::") {
                (base, rest) = (Vec::new(), after);
            }
            while let Some(after) = rest.strip_prefix("super::") {
                base.pop();
                rest = after;
            }
            expand(&base, rest, &mut |path| found.push(Named { path, handed_on }));
        }
        offset += line.len();
    }
    found
}

/// Gives each path that `text` begins with, below `base`; the text behind it.
fn expand<'t>(base: &[String], text: &'t str, give: &mut dyn FnMut(Segments)) -> &'t str {
    let text = text.trim_start();
    if let Some(mut rest) = text.strip_prefix('{') {
        loop {
            rest = expand(base, rest, give).trim_start();
            match rest.strip_prefix(',') {
                Some(more) if more.trim_start().starts_with('}') => rest = more.trim_start(),
                Some(more) => rest = more,
                None => {}
            }
            match rest.strip_prefix('}') {
                Some(after) => return after,
                None if rest.is_empty() => return rest,
                None => {}
            }
        }
    }
    let text = text.strip_prefix("r#").unwrap_or(text);
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
    let (word, mut rest) = text.split_at(end);
    let mut path = base.to_vec();
    match word {
        "self" => {}
        "" => return rest.get(1..).unwrap_or_default(),
        word => path.push(word.to_string()),
    }
    if let Some(below) = rest.strip_prefix("::") {
        return expand(&path, below, give);
    }
    if let Some(renamed) = rest.strip_prefix(" as ") {
        let end = renamed.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(renamed.len());
        rest = &renamed[end..];
    }
    give(path);
    rest
}

#[test]
fn paths_are_found_wherever_they_hide() {
    let code = "use crate::store::{self, Store};\nuse super::super::{model::Wire, tool};\n\
                fn f() { crate::term::say(1) }\npub use crate::bubb::Name as N;\n\
                mod tests {\n    use super::super::conv;\n}\nlet x = super::r#do::Args;";
    let named = paths_in(&["commands".into(), "do".into()], code);
    let named: Vec<(String, bool)> =
        named.into_iter().map(|named| (named.path.join("::"), named.handed_on)).collect();
    for (path, handed_on) in [
        ("store", false),
        ("store::Store", false),
        ("model::Wire", false),
        ("tool", false),
        ("term::say", false),
        ("bubb::Name", true),
        ("commands::conv", false),
        ("commands::do::Args", false),
    ] {
        assert!(named.contains(&(path.to_string(), handed_on)), "{path} in {named:?}");
    }
    assert_eq!(named.len(), 8, "{named:?}");
}
