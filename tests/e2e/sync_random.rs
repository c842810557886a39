//! Five clones of one person against one remote, in a random order of everything that they do. In the end all have
//! one set: all that was written and not removed, and nothing that was not.
//!
//! `LEPO_TEST_SEED` is another run, `LEPO_TEST_SEED=random` one whose seed is printed; `LEPO_TEST_STEPS` makes it longer.

use std::collections::BTreeSet;
use std::hash::{BuildHasher, RandomState};
use std::path::Path;

use crate::git_http::GitHttp;
use crate::home::Home;
use crate::sync::{begin, clone, ids, open_remote, remote};

pub struct Dice(pub u64);

impl Dice {
    pub fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % sides as u64) as usize
    }
}

const CLONES: usize = 5;

/// The actions of all clones.
#[derive(Default)]
struct Model {
    added: BTreeSet<String>,
    removed: BTreeSet<String>,
    /// Messages that others follow or branches name: they may come back after their removal.
    held: BTreeSet<String>,
}

pub fn number(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

/// The same at each run, unless `LEPO_TEST_SEED` says otherwise.
pub fn seed() -> u64 {
    let random = std::env::var("LEPO_TEST_SEED").is_ok_and(|seed| seed == "random");
    let other = if random { RandomState::new().hash_one(0) } else { 0x1E90_5EED };
    let seed = number("LEPO_TEST_SEED", other);
    println!("LEPO_TEST_SEED={seed}");
    seed
}

fn run(remote: &Path, steps: u64) {
    let seed = seed();
    let (mut dice, mut model) = (Dice(seed | 1), Model::default());
    let homes: Vec<Home> = (0..CLONES).map(|_| clone("me@x")).collect();
    for (i, home) in homes.iter().enumerate() {
        model.added.insert(home.add(&["--prev", "head"], &format!("first of {i}")));
        assert_eq!(begin(home, remote, &format!("c{i}")).code, 0);
        let others: Vec<String> =
            (0..CLONES).filter(|other| *other != i).map(|other| format!("--mine=c{other}")).collect();
        let mine: Vec<&str> = others.iter().map(String::as_str).collect();
        let ran = home.alone(&[&["sync"], &mine[..]].concat());
        assert_eq!(ran.code, 0, "{}", ran.err);
    }
    for step in 0..number("LEPO_TEST_STEPS", steps) {
        let at = dice.roll(CLONES);
        let home = &homes[at];
        let here = ids(home);
        let some = here.get(dice.roll(here.len().max(1))).cloned();
        match (dice.roll(10), some) {
            (0..=2, Some(prev)) => {
                let kind = ["u", "a"][dice.roll(2)];
                model.added.insert(home.add(&["--prev", &prev, "--kind", kind], &format!("{step} at {at}")));
                model.held.insert(prev);
            }
            (3, _) => drop(model.added.insert(home.add(&["--prev", "head"], &format!("{step} at {at}")))),
            (4, Some(id)) => {
                let gone = home.lepo(&["rm", "-y", &id]);
                // One that a branch names, or that others follow elsewhere, is refused.
                if gone.code == 0 {
                    let left: BTreeSet<String> = ids(home).into_iter().collect();
                    model.removed.extend(here.iter().filter(|id| !left.contains(*id)).cloned());
                }
            }
            (5, Some(id)) => {
                let name = format!("b{}", dice.roll(3));
                home.lepo(&["branch", "-d", &name]);
                if dice.roll(2) == 0 && home.lepo(&["branch", &name, &id]).code == 0 {
                    model.held.insert(id);
                }
            }
            (6, _) => drop(home.ok(&["tidy", "--keep", "0"])),
            (7, _) => {
                let text = format!(
                    "{{\"messages\":[{{\"role\":\"user\",\"content\":\"import {step} at {at}\"}}]}}\n"
                );
                home.write("work/new.jsonl", text);
                let before: BTreeSet<String> = here.into_iter().collect();
                home.ok(&["import", "messages", "new.jsonl"]);
                model.added.extend(ids(home).into_iter().filter(|id| !before.contains(id)));
            }
            _ => {
                let ran = home.alone(&["sync"]);
                assert_eq!(ran.code, 0, "seed {seed}, step {step}: {}", ran.err);
            }
        }
    }
    for _ in 0..3 {
        for home in &homes {
            assert_eq!(home.alone(&["sync"]).code, 0, "seed {seed}");
        }
    }
    let all: Vec<BTreeSet<String>> = homes.iter().map(|home| ids(home).into_iter().collect()).collect();
    for (i, set) in all.iter().enumerate() {
        assert_eq!(set, &all[0], "seed {seed}: clone {i} differs");
        let checked = homes[i].lepo(&["fsck"]);
        assert_eq!(checked.code, 0, "seed {seed}: {}", checked.out);
        assert_eq!(homes[i].alone(&["sync"]).out, "", "seed {seed}");
    }
    let end = &all[0];
    let lost: Vec<&String> = model.added.difference(end).filter(|id| !model.removed.contains(*id)).collect();
    assert!(lost.is_empty(), "seed {seed}: lost {lost:?}");
    let invented: Vec<&String> = end.difference(&model.added).collect();
    assert!(invented.is_empty(), "seed {seed}: from nowhere {invented:?}");
    let back: Vec<&String> = model.removed.intersection(end).filter(|id| !model.held.contains(*id)).collect();
    assert!(back.is_empty(), "seed {seed}: back without need {back:?}");
}

#[test]
fn five_clones_in_any_order_end_with_one_set() {
    let dir = tempfile::tempdir().unwrap();
    run(&remote(dir.path()), 80);
}

#[test]
fn five_clones_over_http_end_with_one_set() {
    let dir = tempfile::tempdir().unwrap();
    open_remote(dir.path());
    match GitHttp::serve(dir.path()) {
        Some(server) => run(Path::new(&server.url("remote.git")), 25),
        None => eprintln!("SKIPPED: git has no http-backend here"),
    }
}
