//! ARCHITECTURE.md has three flows, each a list of files: every file is there and names the next one or is named by it,
//! and no flow is longer than a reader follows.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::paths_in_code::{code_of, module_of, short, sources};

/// The flows in their order, each with the most files on one of its ways.
const FLOWS: &[(&str, usize)] = &[
    ("A question becomes a file.", 9),
    ("A chunk reaches screen and disk.", 9),
    ("A tool call is agreed to and run.", 11),
];

/// A function with a name of more files than this says nothing of where it is.
const MOST_NAMESAKES: usize = 3;

/// The files of a way, without those in brackets and behind a semicolon.
fn files_on_way(text: &str) -> Vec<String> {
    let (mut depth, mut way) = (0, String::new());
    for part in text.split_inclusive(['(', ')']) {
        if depth == 0 {
            way += part.trim_end_matches('(');
        }
        depth += if part.ends_with('(') { 1 } else { 0 };
        depth -= if part.ends_with(')') { 1 } else { 0 };
    }
    let way = way.split(';').next().unwrap_or_default();
    let words = way.split('`').skip(1).step_by(2).filter(|word| word.ends_with(".rs"));
    words.map(|word| word.trim_start_matches("src/").to_string()).collect()
}

/// The ways of a flow: its list, then each way from a file of the list.
fn ways(flow: &str) -> Vec<Vec<String>> {
    let is_of_list = |line: &&str| line.starts_with(|c: char| c.is_ascii_digit() || c == ' ');
    let list: Vec<&str> = flow.lines().skip(1).filter(is_of_list).collect();
    let main = files_on_way(&list.join("\n"));
    let mut ways = vec![main.clone()];
    for paragraph in flow.split("\n\n") {
        for side in format!("\n{paragraph}").split("\nFrom `").skip(1) {
            let side = files_on_way(&format!("`{side}"));
            let start = main.iter().position(|file| Some(file) == side.first());
            let start = start.unwrap_or_else(|| panic!("{side:?} begins at no file of the list"));
            ways.push(main[..start].iter().cloned().chain(side).collect());
        }
    }
    ways
}

/// The types and functions that a file defines, each with whether it is a function.
fn items(code: &str) -> BTreeSet<(String, bool)> {
    let mut found = BTreeSet::new();
    for line in code.lines() {
        let line = line.trim_start().trim_start_matches("pub").trim_start();
        let line = if line.starts_with('(') { line.split_once(") ").unwrap_or_default().1 } else { line };
        let mut words = line.split_whitespace().skip_while(|word| ["const", "async"].contains(word));
        let (Some(kind), Some(name)) = (words.next(), words.next()) else { continue };
        let name: String = name.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
        if ["fn", "struct", "enum", "trait"].contains(&kind) && !name.is_empty() {
            found.insert((name, kind == "fn"));
        }
    }
    found
}

struct CodeMap {
    files: BTreeMap<String, (String, BTreeSet<(String, bool)>)>,
    /// The number of files that define a function of this name.
    namesakes: BTreeMap<String, usize>,
}

impl CodeMap {
    fn read() -> CodeMap {
        let (mut files, mut namesakes) = (BTreeMap::new(), BTreeMap::new());
        for file in sources() {
            let code = code_of(&file);
            let code = code.split("#[cfg(test)]\nmod tests").next().unwrap().to_string();
            let items = items(&code);
            for (name, _) in items.iter().filter(|(_, is_function)| *is_function) {
                *namesakes.entry(name.clone()).or_default() += 1;
            }
            files.insert(short(&file), (code, items));
        }
        CodeMap { files, namesakes }
    }

    /// Whether a file names another by its module, a type of it, or a function that few files define.
    fn names(&self, file: &str, other: &str) -> bool {
        let (code, own) = &self.files[file];
        let module = module_of(other).pop().unwrap_or_default();
        if code.contains(&format!("{module}::")) && module.len() > 2 {
            return true;
        }
        let words: BTreeSet<&str> = code.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
        self.files[other].1.iter().any(|(name, is_function)| {
            let is_clear = !is_function || self.namesakes[name] <= MOST_NAMESAKES;
            is_clear && words.contains(name.as_str()) && !own.contains(&(name.clone(), *is_function))
        })
    }
}

fn flows() -> Vec<(String, String)> {
    let text =
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("ARCHITECTURE.md")).unwrap();
    let text = text.split_once("## Three flows").unwrap().1.split_once("\n## ").unwrap().0;
    let flows = text.split("\n**").skip(1);
    flows
        .map(|flow| flow.split_once("**").unwrap())
        .map(|(title, flow)| (title.into(), flow.into()))
        .collect()
}

#[test]
fn each_file_of_a_flow_names_the_next_or_is_named_by_it() {
    let (map, flows) = (CodeMap::read(), flows());
    assert_eq!(
        flows.iter().map(|(title, _)| title).collect::<Vec<_>>(),
        FLOWS.iter().map(|(title, _)| title).collect::<Vec<_>>()
    );
    let mut wrong = Vec::new();
    for ((title, flow), (_, most)) in flows.iter().zip(FLOWS) {
        for way in ways(flow) {
            assert!(way.len() > 4, "{title} has a list of {way:?}");
            if way.len() > *most {
                wrong.push(format!("{title} {} files, of which {most} may be: {way:?}", way.len()));
            }
            for pair in way.windows(2) {
                let [file, next] = pair else { continue };
                let missing: Vec<&String> =
                    pair.iter().filter(|file| !map.files.contains_key(*file)).collect();
                if !missing.is_empty() {
                    wrong.push(format!("{title} no file {missing:?}"));
                } else if !map.names(file, next) && !map.names(next, file) {
                    wrong.push(format!("{title} {file} and {next} do not name each other"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn the_map_is_no_longer_than_a_few_pages() {
    let path: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("ARCHITECTURE.md");
    let lines = std::fs::read_to_string(path).unwrap().lines().count();
    assert!(lines <= 120, "{lines} lines");
}

#[test]
fn a_way_has_no_file_of_a_bracket_and_begins_in_the_list() {
    let flow = "\n1. `a.rs` (`x`; `no.rs` for it)\n2. `b/c.rs` → `src/d.rs` (see\n   `no.rs`). Then.\n\nFrom `b/c.rs` on: `e.rs` → `f.rs`; `no.rs`\nFrom `a.rs`\nto: `g.rs`\n\nNot `no.rs`.\n";
    let expected =
        [vec!["a.rs", "b/c.rs", "d.rs"], vec!["a.rs", "b/c.rs", "e.rs", "f.rs"], vec!["a.rs", "g.rs"]];
    assert_eq!(ways(flow), expected);
}
