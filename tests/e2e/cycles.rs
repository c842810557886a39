//! Files of a crate do not name each other in a circle, and a type has its methods in its own file, where a call of one
//! is seen as a name of that file.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::file_graph::{Crate, cycles};
use crate::paths_in_code::short;

/// Files that are in a circle still. The list only gets shorter.
const IN_A_CYCLE: &[&str] = &[];

/// Files with methods of a type that another file defines. The list only gets shorter: what is not of a type's own
/// file is a function that takes the value. (The `Store` of lepo-store has its methods by subject, and is free of this.)
const APART: &[(&str, &str)] = &[
    ("commands/import/write/store.rs", "ImportWriter"),
    ("lepo-model/registry.rs", "ModelConfig"),
    ("lepo-sync/compare.rs", "SyncRecord"),
    ("lepo-tool/mcp/client/request.rs", "McpClient"),
    ("lepo-tool/mcp/client/requests.rs", "McpClient"),
    ("lepo-turn/config/choose.rs", "Settings"),
];

/// The first file of each crate and of the program.
fn roots() -> Vec<PathBuf> {
    let top = Path::new(env!("CARGO_MANIFEST_DIR"));
    let crates = std::fs::read_dir(top.join("crates")).unwrap();
    let mut folders: Vec<PathBuf> = crates.map(|entry| entry.unwrap().path().join("src")).collect();
    folders.push(top.join("src"));
    folders.sort();
    let first = |folder: PathBuf| {
        ["lib.rs", "main.rs"].map(|name| folder.join(name)).into_iter().find(|file| file.exists()).unwrap()
    };
    folders.into_iter().map(first).collect()
}

/// A file of the crate of `root`, as the lists name it.
fn listed(root: &Path, file: &str) -> String {
    short(&root.with_file_name(file))
}

#[test]
fn no_files_name_each_other_in_a_circle() {
    let mut found = BTreeSet::new();
    let mut wrong = Vec::new();
    for root in roots() {
        let graph = Crate::read(&root).graph();
        for circle in cycles(&graph) {
            let new: Vec<String> = circle
                .iter()
                .map(|file| listed(&root, file))
                .filter(|file| !IN_A_CYCLE.contains(&file.as_str()))
                .collect();
            found.extend(circle.iter().map(|file| listed(&root, file)));
            if !new.is_empty() {
                let edges: Vec<String> = circle
                    .iter()
                    .map(|file| {
                        format!("{file} names {:?}", graph[file].intersection(&circle).collect::<Vec<_>>())
                    })
                    .collect();
                wrong.push(format!("{new:?} in a circle: {edges:#?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let free: Vec<_> = IN_A_CYCLE.iter().filter(|file| !found.contains(**file)).collect();
    assert!(free.is_empty(), "no longer in a circle, to be taken off the list: {free:#?}");
}

/// The first file of the crate whose `Store` has its methods by subject.
const BY_SUBJECT: &str = "lepo-store/src/lib.rs";

#[test]
fn the_graph_sees_the_names_of_each_crate() {
    for root in roots() {
        let graph = Crate::read(&root).graph();
        let edges: usize = graph.values().map(BTreeSet::len).sum();
        assert!(graph.len() == 1 || edges > 0, "{}: {} files, no name", root.display(), graph.len());
    }
    let roots = roots();
    let mut free = roots.iter().filter(|root| root.ends_with(BY_SUBJECT));
    let apart = free.next().map(|root| Crate::read(root).methods_apart()).unwrap_or_default();
    assert!(!apart.is_empty(), "{BY_SUBJECT} needs no exception");
}

#[test]
fn a_type_has_its_methods_in_its_own_file() {
    let found: BTreeSet<(String, String)> = roots()
        .iter()
        .filter(|root| !root.ends_with(BY_SUBJECT))
        .flat_map(|root| {
            let apart = Crate::read(root).methods_apart();
            apart.into_iter().map(|(file, name)| (listed(root, &file), name))
        })
        .collect();
    let listed: BTreeSet<(String, String)> =
        APART.iter().map(|(file, name)| (file.to_string(), name.to_string())).collect();
    let new: Vec<_> = found.difference(&listed).collect();
    assert!(new.is_empty(), "methods of a type of another file: {new:#?}");
    let gone: Vec<_> = listed.difference(&found).collect();
    assert!(gone.is_empty(), "to be taken off the list: {gone:#?}");
}

/// A crate of these files, in a folder of its own.
fn made_of(files: &[(&str, &str)]) -> (tempfile::TempDir, Crate) {
    let folder = tempfile::tempdir().unwrap();
    for (name, code) in files {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, code).unwrap();
    }
    let read = Crate::read(&folder.path().join("lib.rs"));
    (folder, read)
}

#[test]
fn a_name_is_followed_to_the_file_that_defines_it() {
    let (_folder, read) = made_of(&[
        (
            "lib.rs",
            "mod a; pub mod b; mod m { pub mod inner; pub use inner::Deep as Low; }\npub use b::{c::Thing, made};",
        ),
        // Through a `pub use`, by a renamed module, in the arguments of a macro, and from nowhere.
        (
            "a.rs",
            "use crate::Thing;\nuse super::b as other;\nfn f() { println!(\"{}\", other::made(), std::x()) }",
        ),
        ("b/mod.rs", "pub mod c;\npub fn made() {}\n#[cfg(test)]\nmod tests { use crate::a::f; }"),
        (
            "b/c.rs",
            "pub struct Thing;\n// crate::a::f\nimpl Thing { fn g() { \"crate::a::f\"; crate::m::Low::new() } }",
        ),
        (
            "m/inner.rs",
            "pub struct Deep;\n#[cfg(all(test, unix))]\nuse crate::a::f;\nimpl crate::b::c::Thing {}",
        ),
    ]);
    let named: Vec<(String, Vec<String>)> =
        read.graph().into_iter().map(|(file, names)| (file, names.into_iter().collect())).collect();
    let row =
        |file: &str, names: &[&str]| (file.to_string(), names.iter().map(ToString::to_string).collect());
    assert_eq!(
        named,
        [
            row("a.rs", &["b/c.rs", "b/mod.rs"]),
            row("b/c.rs", &["m/inner.rs"]),
            row("b/mod.rs", &[]),
            row("lib.rs", &[]),
            row("m/inner.rs", &["b/c.rs"]),
        ]
    );
    assert_eq!(read.methods_apart(), BTreeSet::from([("m/inner.rs".to_string(), "Thing".to_string())]));
    assert_eq!(cycles(&read.graph()), [BTreeSet::from(["b/c.rs".to_string(), "m/inner.rs".to_string()])]);
}

#[test]
fn a_circle_is_found_however_long_it_is_and_a_line_is_none() {
    let line = [
        ("lib.rs", "mod a; mod b; mod c;"),
        ("a.rs", "use crate::b::B;"),
        ("b.rs", "use crate::c::C; pub struct B;"),
    ];
    let (_folder, read) = made_of(&[&line[..], &[("c.rs", "pub struct C;")]].concat());
    assert!(cycles(&read.graph()).is_empty());
    let (_folder, read) =
        made_of(&[&line[..], &[("c.rs", "pub struct C;\nfn f() { crate::a::g() }")]].concat());
    assert_eq!(cycles(&read.graph()).len(), 1);
    assert_eq!(cycles(&read.graph())[0].len(), 3);
}
