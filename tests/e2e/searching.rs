//! `grep` by the text cache prints what it prints without it. What the cache finds is tried in `lepo-search`
//! (`random_tests`).

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::disk::put_old;
use crate::home::Home;
use crate::screen::Screen;

const WORDS: [&str; 4] = ["apple", "코드", "pear tree", "fn main()"];

/// 2025-02-20 in milliseconds.
const BEGIN: u64 = 1_740_009_600_000;
const DAY: u64 = 24 * 60 * 60 * 1000;

/// The bubbs' files in the days of a store.
fn files(store: &Path) -> Vec<PathBuf> {
    let mut folders = vec![store.join("_old")];
    let mut found = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() { folders.push(path) } else { found.push(path) }
        }
    }
    found.sort();
    found
}

/// The same question with the cache and without it.
fn both(home: &Home, args: &[&str], when: &str) -> String {
    let cached = home.lepo(&[&["grep"], args].concat());
    let plain = home.lepo(&[&["grep", "--no-cache"], args].concat());
    assert_eq!((&cached.out, cached.code), (&plain.out, plain.code), "{args:?} {when} {}", cached.err);
    cached.out
}

/// Asks until all months have a segment: a folder is recorded once its last change is two seconds old.
fn until_cached(home: &Home, months: usize) {
    let begun = Instant::now();
    let folder = home.work().join(".lepo/_cache/text");
    while fs::read_dir(&folder).map_or(0, Iterator::count) < months {
        assert!(begun.elapsed() < Duration::from_secs(60), "no cache was made");
        home.lepo(&["grep", "absent"]);
    }
}

#[test]
fn each_form_of_output_is_the_same_with_the_cache_and_without() {
    let home = Home::new();
    home.ok(&["init"]);
    let mut prev = "head".to_string();
    for day in 0..30 {
        let text = format!("{} of {day}\n{}\nend {day}5", WORDS[day % 4], WORDS[day / 4 % 4]);
        let tag = ["u0", "a0", "a0", "a1"][day % 4];
        let id = put_old(&home, BEGIN + day as u64 * DAY, tag, &prev, &text);
        prev = if day % 7 == 6 { "head".into() } else { id };
    }
    until_cached(&home, 2);
    for args in [
        &["apple|end [0-9]+5$"][..],
        &["-l", "--ids", "--hidden", "-F", "fn main()"],
        &["-l", "-i", "-w", "APPLE"],
        &["-c", "apple"],
        &["-c", "--hidden", "--kind", "a", "코드"],
        &["-C", "1", "--since", "2025-02-25", "--until", "2025-03-10", "pear"],
        &["-U", "tree of [0-9]+\\n[a-z]"],
        &["--invert-match", "-n", "20", "a"],
        &["--json", "-n", "7", "main\\(\\)$"],
        &["--json", "--hidden", "코드"],
    ] {
        let printed = both(&home, args, "cached");
        assert!(printed.lines().count() > 1, "{args:?}: {printed}");
    }
}

#[test]
fn answers_of_a_model_are_found_by_the_cache_too() {
    let home = Home::new();
    home.ok(&["init"]);
    let mut journal = String::new();
    for conv in 0..220 {
        let mut prev = "head".to_string();
        let model = ["m1", "m2"][(conv % 10 == 0) as usize];
        for i in 0..24 {
            let text = format!("{} {conv} {i}", WORDS[((conv + i) % 4) as usize]);
            let tag = ["u0", "a0"][(i % 2) as usize];
            prev = put_old(&home, BEGIN + conv * 40_000_000 + i * 1000, tag, &prev, &text);
            if tag == "a0" {
                let fact =
                    serde_json::json!({"time": 1, "bubb": prev, "what": "answer", "model": model, "ms": 1});
                journal += &format!("{fact}\n");
            }
        }
    }
    home.write("work/.lepo/_journal.ndjson", journal);
    let check = |when: &str| {
        // So many answers of one model that the cache is asked, and so few of another that it is not.
        for (model, least) in [("m1", 500), ("m2", 50)] {
            let found = both(&home, &["-l", "--ids", "--model", model, "-F", "fn main()"], when);
            assert!(found.lines().count() > least, "{model}: {}", found.lines().count());
            both(&home, &["-c", "--model", model, "apple 1?1[0-9] "], when);
            both(&home, &["--model", model, "--since", "2025-03-01", "-n", "30", "코드"], when);
        }
        assert_eq!(both(&home, &["--model", "m3", "apple"], when), "");
    };
    check("at first");
    let months = fs::read_dir(home.work().join(".lepo/_old")).unwrap().count();
    until_cached(&home, months);
    check("cached");
    for path in files(&home.work().join(".lepo")).iter().step_by(97) {
        let new = path.with_extension("new");
        fs::write(&new, "fn main() {} // apple 110 edited").unwrap();
        fs::rename(new, path).unwrap();
    }
    check("with some edited");
}

#[test]
fn a_count_ends_after_so_many_lines_and_a_store_may_be_anywhere() {
    let home = Home::new();
    for text in ["an apple", "another apple", "no fruit"] {
        home.add(&["--prev", "head"], text);
    }
    assert_eq!(home.ok(&["grep", "-c", "apple"]).lines().count(), 2);
    assert_eq!(home.ok(&["grep", "-c", "-n", "1", "apple"]).lines().count(), 1);
    let store = home.work().join(".lepo");
    let store = store.to_str().unwrap();
    assert_eq!(home.ok(&["-s", store, "grep", "apple"]).lines().count(), 2);
    home.ok(&["-s", store, "tidy", "-n"]);
    assert_eq!(home.lepo(&["-s", store, "tidy"]).code, 2);
}

/// Hits in the newest messages, and in the oldest one so many that a pager is needed; between them enough to read for a
/// while.
fn slow_forest(home: &Home, lines: usize) {
    let store = home.work().join(".lepo");
    let id = |letter: char, at: usize| format!("01JB3Z0Q4N8V2K5T7W9X1Y{letter}{at:03}");
    let write =
        |id: String, text: &str| std::fs::write(store.join(format!("{id}-u0-head.md")), text).unwrap();
    home.ok(&["init"]);
    write(id('Z', 1), "needle one\n");
    write(id('A', 1), &"a needle of the oldest\n".repeat(lines));
    let first = store.join(format!("{}-u0-head.md", id('M', 100)));
    std::fs::write(&first, "the quick brown fox jumps over the lazy dog\n".repeat(60_000)).unwrap();
    for at in 101..121 {
        std::fs::hard_link(&first, store.join(format!("{}-u0-head.md", id('M', at)))).unwrap();
    }
}

#[test]
fn hits_of_a_slow_search_are_seen_before_its_end_and_once() {
    for (lines, is_paged) in [(2, false), (40, true)] {
        let home = Home::new();
        slow_forest(&home, lines);
        let mut command = home.command(&["grep", "--no-cache", "-i", "needle|qu[a-z]+ cat$"]);
        command.env("PAGER", "less -RX");
        let Some(screen) = Screen::of(&command, &home, 80) else { return };
        screen.shows("needle one");
        assert!(!screen.text().contains("of the oldest"), "{}", screen.text());
        screen.shows("of the oldest");
        if is_paged {
            screen.prompts(":").keys(&["q"]);
        }
        screen.shows("[ended with 0]");
        assert_eq!(
            screen.whole().matches("needle one").count(),
            2,
            "its conversation and itself: {}",
            screen.whole()
        );
    }
}
