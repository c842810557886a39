//! `grep` by the text cache against `grep` without it and against grep(1), after a random order of all that can
//! happen to a store: in the ordinary temporary directory, and on tmpfs.
//!
//! `LEPO_TEST_SEED` is another run, `LEPO_TEST_SEED=random` one whose seed is printed; `LEPO_TEST_STEPS` makes it longer.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::home::Home;
use crate::sync_random::{Dice, number, seed};

/// Days in which something happens; one more is left alone.
const DAYS: u64 = 50;

const WORDS: [&str; 4] = ["apple", "코드", "pear tree", "fn main()"];

/// Characters with more than two cases, signs of regular expressions, texts with a mark of their order of bytes, with
/// other ends of lines, and that are no text.
const ODD: [&[u8]; 8] = [
    "kelvin 300 \u{212a} (\u{212a}elvin)".as_bytes(),
    "\u{17f}tra\u{df}e STRASSE stra\u{df}e".as_bytes(),
    "İstanbul istanbul ISTANBUL".as_bytes(),
    "a.*b [x] a+b".as_bytes(),
    "aab aaab\r\napple\r\n".as_bytes(),
    "\u{feff}apple 코드".as_bytes(),
    b"\xff\xfea\0p\0p\0l\0e\0",
    b"\0\x80\xff apple \xec\xbd main\0",
];

/// Patterns of which some, all or none let days be passed over unread.
const PATTERNS: [&[&str]; 32] = [
    &["-i", "KELVIN"],
    &["-i", "k"],
    &["-i", "kelvin \\d"],
    &["-i", "\u{212a}ELV"],
    &["(?i)strasse"],
    &["-i", "STRA\u{1e9e}E"],
    &["-i", "ISTANBUL"],
    &["-i", "İstan"],
    &["-w", "apple"],
    &["-w", "-i", "PEAR|MAIN"],
    &["-F", "a.*b ["],
    &["-F", "-i", "FN MAIN("],
    &["-F", "-w", "apple"],
    &["apple|코드"],
    &["apple|x"],
    &["apple|zebra"],
    &["p.*of.*end"],
    &["(?s)p.*d"],
    &["(?-u)end [0-9]"],
    &["(?i-u)kelvin"],
    &["(?-u)\\xff\\xfe"],
    &["(?-u) apple \\xec"],
    &["[a-d]pple|pear [a-z]+"],
    &["p{2,}le|a{3}b"],
    &["(pear ){1,3}tree"],
    &["-U", "-i", "TREE OF\\s[0-9]+\\n"],
    &["-U", "(?s)apple.*end 1"],
    &["-U", "STRASSE\\nend|코드\\n+end"],
    &["\\bmain\\b|^코드"],
    &["main\\(\\)$|\\r$"],
    &["-c", "-i", "--hidden", "TREE|코드"],
    &["--json", "-n", "5", "-i", "istanbul|elvin"],
];

/// A past day, as `--time` takes it.
fn moment(day: u64, dice: &mut Dice) -> String {
    let minute = dice.roll(24 * 60);
    format!("2025-{:02}-{:02}T{:02}:{:02}Z", day / 28 + 3, day % 28 + 1, minute / 60, minute % 60)
}

fn add(home: &Home, day: u64, dice: &mut Dice) -> String {
    let odd = std::str::from_utf8(ODD[dice.roll(6)]).unwrap();
    let third = if dice.roll(3) == 0 { odd } else { "" };
    let (first, second, end) = (WORDS[dice.roll(4)], WORDS[dice.roll(4)], dice.roll(1000));
    let said = format!("{first} of {day}\n{second}\n{third}\nend {end}");
    let kind = ["u", "a"][dice.roll(2)];
    let mut args =
        vec!["--time".to_string(), moment(day, dice), "--kind".into(), kind.into(), "--prev".into()];
    args.push("head".into());
    args.extend((dice.roll(5) == 0).then(|| "--hidden".into()));
    home.add(&args.iter().map(String::as_str).collect::<Vec<_>>(), &said)
}

/// The bubbs' files in a store and its days.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
        if path.is_dir() && (name == "_old" || name.starts_with(|first: char| first.is_ascii_digit())) {
            found.extend(files(&path));
        } else if name.ends_with(".md") {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// Copies what is not there yet, as `sync` adds to another person's store.
fn carry(from: &Path, to: &Path) {
    for file in files(from) {
        let to = to.join(file.strip_prefix(from).unwrap());
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        if !to.exists() {
            fs::copy(&file, &to).unwrap();
        }
    }
}

/// The ids in whose files grep(1) finds a text, in any of the stores.
fn by_grep(home: &Home, word: &str) -> BTreeSet<String> {
    let ran = home.shell(&format!("grep -rlF --include='*.md' -- '{word}' .lepo")).output().unwrap();
    let told = String::from_utf8(ran.stdout).unwrap();
    told.lines().map(|path| path.rsplit('/').next().unwrap()[..26].to_string()).collect()
}

/// The same question with the cache and without it.
fn both(home: &Home, args: &[&str], when: &str) -> String {
    let cached = home.lepo(&[&["grep"], args].concat());
    let plain = home.lepo(&[&["grep", "--no-cache"], args].concat());
    assert_eq!((&cached.out, cached.code), (&plain.out, plain.code), "{args:?} {when} {}", cached.err);
    cached.out
}

fn check(home: &Home, dice: &mut Dice, when: &str) {
    for word in WORDS {
        let ids = both(home, &["-l", "--ids", "--hidden", "-F", word], when);
        let lines: Vec<&str> = ids.lines().collect();
        assert!(lines.is_sorted_by(|a, b| a > b), "newest first: {ids}");
        let found: BTreeSet<String> = lines.into_iter().map(str::to_string).collect();
        assert_eq!(found, by_grep(home, word), "{word} {when}");
    }
    for args in [
        &["apple|end [0-9]+5$"][..],
        &["-c", "apple"],
        &["-c", "--hidden", "--kind", "a", "코드"],
        &["-C", "1", "--since", "2025-03-10", "--until", "2025-04-05", "pear"],
        &["-U", "tree of [0-9]+\\n[a-z]"],
        &["-l", "-i", "-w", "APPLE"],
        &["--invert-match", "-n", "20", "a"],
        &["^$"],
        &["\\Aend"],
        &["--json", "-n", "7", "main\\(\\)$"],
    ] {
        both(home, args, when);
    }
    for _ in 0..5 {
        both(home, &[&["--hidden"], PATTERNS[dice.roll(PATTERNS.len())]].concat(), when);
    }
}

/// Asks until all months have a segment: a folder is recorded once its last change is two seconds old.
fn until_cached(home: &Home, folders: &[PathBuf], months: usize) {
    let begun = Instant::now();
    while folders.iter().any(|folder| fs::read_dir(folder).map_or(0, Iterator::count) < months) {
        assert!(begun.elapsed() < Duration::from_secs(60), "no cache was made");
        home.lepo(&["grep", "absent"]);
    }
}

fn run(folder: &Path, steps: u64) {
    let seed = seed();
    let mut dice = Dice(seed | 1);
    let (home, alice) = (Home::within(folder), Home::within(folder));
    let (lepo, hers) = (home.work().join(".lepo"), home.work().join(".lepo/_from/alice"));
    for day in 0..DAYS {
        add(&home, day, &mut dice);
        if day % 5 == 0 {
            add(&alice, day, &mut dice);
        }
    }
    let left_alone = add(&home, DAYS + 1, &mut dice);
    for home in [&home, &alice] {
        home.ok(&["tidy", "--keep", "0"]);
    }
    carry(&alice.work().join(".lepo"), &hers);
    check(&home, &mut dice, "at first");
    until_cached(&home, &[lepo.join("_cache/text"), hers.join("_cache/text")], 2);
    check(&home, &mut dice, "cached");
    for args in PATTERNS {
        both(&home, args, "cached");
    }
    for step in 0..number("LEPO_TEST_STEPS", steps) {
        let own = files(&lepo);
        let some = own[dice.roll(own.len())].clone();
        let is_free = !some.to_string_lossy().contains(&left_alone);
        let day = dice.roll(DAYS as usize) as u64;
        let what = match dice.roll(10) {
            0 | 1 => format!("added {}", add(&home, day, &mut dice)),
            2 => {
                add(&alice, day, &mut dice);
                alice.ok(&["tidy", "--keep", "0"]);
                carry(&alice.work().join(".lepo"), &hers);
                "added for alice".into()
            }
            3 => format!("tidied {}", home.ok(&["tidy", "--keep", "0"])),
            4 if is_free => {
                let id = &some.file_name().unwrap().to_string_lossy()[..26];
                format!("removed {}", home.ok(&["rm", "-y", id]))
            }
            5 if is_free => {
                // As an editor saves.
                let new = some.with_extension("new");
                let said = format!("{} edited {step}\n", WORDS[dice.roll(4)]);
                fs::write(&new, [said.as_bytes(), ODD[dice.roll(ODD.len())]].concat()).unwrap();
                fs::rename(&new, &some).unwrap();
                format!("edited {}", some.display())
            }
            6 if is_free => {
                fs::remove_file(&some).unwrap();
                format!("deleted {}", some.display())
            }
            7 if is_free => {
                // Back out of its day, as by hand.
                fs::rename(&some, lepo.join(some.file_name().unwrap())).unwrap();
                format!("moved {}", some.display())
            }
            8 => {
                let segment = lepo.join("_cache/text/2025-03");
                let bytes = fs::read(&segment).unwrap_or_default();
                fs::write(&segment, &bytes[..dice.roll(bytes.len() + 1)]).unwrap();
                "tore a segment".into()
            }
            9 if dice.roll(3) == 0 => {
                let _ = fs::remove_dir_all(lepo.join("_cache"));
                "deleted the cache".into()
            }
            _ => "nothing".into(),
        };
        check(&home, &mut dice, &format!("after step {step}: {what}"));
    }
    assert_eq!(home.lepo(&["fsck"]).code & !1, 0, "nothing worse than edited bubbs");
    // Text appended in place to an old file leaves its folder as it was: a search that misses it used the cache.
    until_cached(&home, &[lepo.join("_cache/text")], 2);
    let path = files(&lepo).into_iter().find(|path| path.to_string_lossy().contains(&left_alone)).unwrap();
    assert!(fs::metadata(&path).is_ok());
    assert!(
        home.shell(&format!("chmod u+w '{0}' && echo quince >> '{0}'", path.display()))
            .status()
            .unwrap()
            .success()
    );
    assert_eq!(home.lepo(&["grep", "--hidden", "quince"]).code, 1);
    assert_eq!(home.lepo(&["grep", "--hidden", "--no-cache", "quince"]).code, 0);
}

#[test]
fn the_cache_never_changes_an_answer() {
    run(&std::env::temp_dir(), 15);
}

#[test]
fn the_cache_never_changes_an_answer_on_tmpfs() {
    let shm = Path::new("/dev/shm");
    let kind = std::process::Command::new("stat").args(["-f", "-c", "%T"]).arg(shm).output();
    if !kind.is_ok_and(|kind| kind.stdout.starts_with(b"tmpfs")) {
        crate::skip::skipped("tmpfs", "no tmpfs at /dev/shm");
        return;
    }
    run(shm, 15);
}

#[test]
fn answers_of_a_model_are_found_by_the_cache_too() {
    let home = Home::new();
    let mut lines = String::new();
    for conv in 0..220 {
        let said = |i: u64| {
            let (role, model) = if i % 2 == 1 {
                ("assistant", ["m1", "m2"][(conv % 10 == 0) as usize])
            } else {
                ("user", "")
            };
            let time = 1_740_000_000 + conv * 40_000 + i;
            format!(
                "{{\"role\":\"{role}\",\"model\":\"{model}\",\"content\":\"{} {conv} {i}\",\"created_at\":{time}}}",
                WORDS[((conv + i) % 4) as usize]
            )
        };
        let said: Vec<String> = (0..24).map(said).collect();
        lines += &format!("{{\"id\":\"c{conv}\",\"messages\":[{}]}}\n", said.join(","));
    }
    home.write("work/all.jsonl", lines);
    home.ok(&["import", "messages", "all.jsonl"]);
    home.ok(&["tidy", "--keep", "0"]);
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
    until_cached(&home, &[home.work().join(".lepo/_cache/text")], months);
    check("cached");
    let some = files(&home.work().join(".lepo"));
    for path in some.iter().step_by(97) {
        let new = path.with_extension("new");
        fs::write(&new, "fn main() {} // apple 110 edited").unwrap();
        fs::rename(&new, path).unwrap();
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
