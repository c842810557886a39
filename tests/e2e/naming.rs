//! Names and comments as the dictionary wants them: what is against it today is counted, and each count may only fall.

mod comments;
mod items;

use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;

use comments::IDIOMS;
use items::{Item, Items};

use crate::paths_in_code::{short, sources};

/// Rules about names, each with the highest count.
const LIMITS: &[(&str, usize)] = &[
    ("types that share a name", 0),
    ("types with a forbidden name", 0),
    ("functions with a forbidden name", 0),
    ("files with a forbidden name", 0),
    ("files of less than 45 lines without comments", 105),
];

/// Participles and other words that tell nothing of what a type is.
const NO_TYPES: &str = "Told Said Asked Given Held Taken Kept Left Shown Wish Wanted Look Looked Place Beside Others There \
    Words Found Seen Made Sent Written Moved Listed Came Going Past";

/// Words that tell nothing of what a function does.
const NO_FUNCTIONS: &str = "of tell told take say said begin there word given held kept happens sees hears shown keep behind \
    beside goes_on go_on named wanted wants listed offered agreed agree opened placed gone past left settled own others \
    taken missed lost moved answered asked chosen";

/// Files whose types may have the name of another: the systems offer the same names.
const SHARING: &[&str] = &["lepo-base/sys/"];

/// The items of all source files, each with the file's path.
fn all_items() -> Vec<(String, Items)> {
    sources()
        .iter()
        .filter(|file| !is_test(&short(file)))
        .map(|file| (short(file), Items::read(&std::fs::read_to_string(file).unwrap())))
        .collect()
}

fn is_test(path: &str) -> bool {
    path.contains("/tests") || path.ends_with("_tests.rs") || path.ends_with("tests.rs")
}

/// Holds a count to its limit. One that fell is told of past the capture of the test's output: whoever made it fall is to
/// lower the limit.
fn hold(rule: &str, limit: usize, found: &[String]) -> Result<(), String> {
    if found.len() < limit {
        let line = format!("{rule}: lower the limit to {} (it is {limit})\n", found.len());
        std::io::stderr().write_all(line.as_bytes()).unwrap();
    }
    if found.len() > limit {
        return Err(format!("{rule}: {}, of which {limit} may be:\n  {}", found.len(), found.join("\n  ")));
    }
    Ok(())
}

fn hold_all(counts: Vec<(&str, usize, Vec<String>)>) {
    let wrong: Vec<String> =
        counts.iter().filter_map(|(rule, limit, found)| hold(rule, *limit, found).err()).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn names_against_the_dictionary_only_get_fewer() {
    let all = all_items();
    let of_kind = |kind: fn(&Items) -> &Vec<Item>| {
        let all = all.iter().flat_map(move |(path, items)| kind(items).iter().map(move |item| (path, item)));
        all.collect::<Vec<_>>()
    };
    let (types, functions) = (of_kind(|items| &items.types), of_kind(|items| &items.functions));
    assert!(types.len() > 900 && functions.len() > 5000, "{} {}", types.len(), functions.len());
    let mut named: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (path, item) in &types {
        if !SHARING.iter().any(|room| path.starts_with(room)) {
            named.entry(&item.name).or_default().push(path);
        }
    }
    for room in SHARING {
        assert!(all.iter().any(|(path, _)| path.starts_with(room)), "{room} has no file");
    }
    let shared = named.iter().filter(|(_, paths)| paths.len() > 1);
    let shared = shared.flat_map(|(name, paths)| paths.iter().map(move |path| format!("{name} in {path}")));
    let forbidden = |items: &[(&String, &Item)], names: &str| {
        let names: Vec<&str> = names.split_whitespace().collect();
        let found = items.iter().filter(|(_, item)| names.contains(&item.name.as_str()));
        found.map(|(path, item)| format!("{} in {path}", item.name)).collect::<Vec<_>>()
    };
    let lower = format!("{NO_TYPES} {NO_FUNCTIONS}").to_lowercase();
    let stem = |path: &str| path.rsplit('/').next().unwrap().trim_end_matches(".rs").to_string();
    let files = all.iter().map(|(path, _)| path);
    let misnamed = files.filter(|path| lower.split_whitespace().any(|word| word == stem(path)));
    // Whoever deletes a comment is not to join files.
    let is_code = |line: &&str| !line.trim_start().starts_with("//") && !line.trim().is_empty();
    let lines = |file: &PathBuf| std::fs::read_to_string(file).unwrap().lines().filter(is_code).count();
    // The first file of a crate or a folder is as long as what it lists.
    let is_first = |path: &str| ["lib", "main", "mod"].contains(&stem(path).as_str());
    let is_small = |file: &PathBuf| !is_test(&short(file)) && !is_first(&short(file)) && lines(file) < 45;
    let short_files = sources().into_iter().filter(is_small);
    let found = [
        shared.collect(),
        forbidden(&types, NO_TYPES),
        forbidden(&functions, NO_FUNCTIONS),
        misnamed.cloned().collect(),
        short_files.map(|file| short(&file)).collect(),
    ];
    assert_eq!(found.len(), LIMITS.len());
    let counts = LIMITS.iter().zip(found).map(|((rule, limit), found)| (*rule, *limit, found));
    hold_all(counts.collect());
}

#[test]
fn idioms_in_comments_only_get_fewer() {
    let mut found = vec![Vec::new(); IDIOMS.len()];
    let mut count = 0;
    for file in sources().iter().filter(|file| !is_test(&short(file))) {
        let text = std::fs::read_to_string(file).unwrap();
        for (line, comment) in comments::read(text.split("#[cfg(test)]\nmod tests").next().unwrap()) {
            count += 1;
            for (found, (_, idiom, _)) in found.iter_mut().zip(IDIOMS) {
                if idiom.is_in(&comment) {
                    found.push(format!("{}:{line}", short(file)));
                }
            }
        }
    }
    assert!(count > 5000, "{count} comments");
    let counts = IDIOMS.iter().zip(found).map(|((rule, _, limit), found)| (*rule, *limit, found));
    hold_all(counts.collect());
}

#[test]
fn a_count_over_its_limit_is_a_fault_and_one_at_it_is_none() {
    let two = ["a.rs:1".to_string(), "b.rs:2".to_string()];
    assert_eq!(hold("rule", 1, &two), Err("rule: 2, of which 1 may be:\n  a.rs:1\n  b.rs:2".to_string()));
    assert_eq!(hold("rule", 2, &two), Ok(()));
}
