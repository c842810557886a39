//! Compares searches with the text cache to searches of every file, after random changes to a store, in the ordinary
//! temporary directory and in one in memory.

use std::collections::BTreeSet;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use lepo_base::role::Role;
use lepo_store::bubb::BubbName;
use lepo_store::store::{OLD, STORE, Store, WriteBatch, now};
use tempfile::TempDir;

use super::conv_positions::ConvPosition;
use super::{
    ConvPositions, FileResult, Filter, FoundLine, Pattern, PatternOptions, SearchOptions, by_month,
    search_files,
};

/// Number of days that change; one more day never does.
const DAYS: usize = 30;
const DAY: u64 = 24 * 60 * 60 * 1000;
/// 2025-03-15.
const BEGIN: u64 = 1_741_996_800_000;

const WORDS: [&str; 4] = ["apple", "코드", "pear tree", "fn main()"];

/// Characters with more than two cases, metacharacters of regular expressions, byte order marks, other line ends, and
/// bytes that are not text.
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

/// Patterns that allow some, all or none of the days to be skipped, with the letters of their options.
const PATTERNS: [(&str, &str); 44] = [
    ("lF", "apple"),
    ("lF", "코드"),
    ("lF", "pear tree"),
    ("lF", "fn main()"),
    ("", "apple|end [0-9]+5$"),
    ("C", "pear"),
    ("U", "tree of [0-9]+\\n[a-z]"),
    ("liw", "APPLE"),
    ("v", "a"),
    ("", "^$"),
    ("", "\\Aend"),
    ("", "main\\(\\)$"),
    ("i", "KELVIN"),
    ("i", "k"),
    ("i", "kelvin \\d"),
    ("i", "\u{212a}ELV"),
    ("", "(?i)strasse"),
    ("i", "STRA\u{1e9e}E"),
    ("i", "ISTANBUL"),
    ("i", "İstan"),
    ("w", "apple"),
    ("wi", "PEAR|MAIN"),
    ("F", "a.*b ["),
    ("Fi", "FN MAIN("),
    ("Fw", "apple"),
    ("", "apple|코드"),
    ("", "apple|x"),
    ("", "apple|zebra"),
    ("", "p.*of.*end"),
    ("", "(?s)p.*d"),
    ("", "(?-u)end [0-9]"),
    ("", "(?i-u)kelvin"),
    ("", "(?-u)\\xff\\xfe"),
    ("", "(?-u) apple \\xec"),
    ("", "[a-d]pple|pear [a-z]+"),
    ("", "p{2,}le|a{3}b"),
    ("", "(pear ){1,3}tree"),
    ("Ui", "TREE OF\\s[0-9]+\\n"),
    ("U", "(?s)apple.*end 1"),
    ("U", "STRASSE\\nend|코드\\n+end"),
    ("", "\\bmain\\b|^코드"),
    ("", "main\\(\\)$|\\r$"),
    ("i", "TREE|코드"),
    ("i", "istanbul|elvin"),
];

fn pattern((letters, text): (&str, &str)) -> Pattern {
    let has = |letter| letters.contains(letter);
    let options = PatternOptions {
        ignore_case: has('i'),
        whole_words: has('w'),
        fixed: has('F'),
        invert: has('v'),
        multi_line: has('U'),
        context: usize::from(has('C')),
        first: has('l'),
    };
    Pattern::new(text, options).unwrap()
}

struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % sides
    }
}

/// A store, and another user's store whose messages are copied into it.
struct World {
    own: TempDir,
    alice: TempDir,
    patterns: Vec<Pattern>,
    dice: Dice,
}

/// Opens the store in a directory, without cached state.
fn store(dir: &TempDir) -> Store {
    Store::at(dir.path(), Path::new(STORE)).unwrap().unwrap()
}

fn tidy(dir: &TempDir) {
    let store = store(dir);
    store.tidy_by_plan(&store.plan_tidy(0).unwrap(), &mut |_| ()).unwrap();
}

/// Lists the files of bubbs in a store and its days.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
            if path.is_dir() && (name == OLD || name.starts_with(|first: char| first.is_ascii_digit())) {
                folders.push(path);
            } else if name.ends_with(".md") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

fn name_of(path: &Path) -> BubbName {
    BubbName::parse(path.file_name().unwrap().as_encoded_bytes()).unwrap()
}

/// The result of a search: the bubbs with their lines and positions, in order.
type ExpectedAnswers = Vec<(BubbName, Vec<FoundLine>, ConvPosition)>;

fn search(dir: &TempDir, pattern: &Pattern, filter: &Filter, no_cache: bool) -> ExpectedAnswers {
    let store = store(dir);
    let mut listing = store.listing().unwrap();
    let mut convs = ConvPositions::new(|id| listing.find(id).unwrap());
    let mut found = Vec::new();
    let looking = SearchOptions { no_cache, is_placed: true, progress: &|_, _| () };
    by_month(&store, pattern, filter, &looking, |candidates| {
        assert!(candidates.unreadable.is_empty(), "{:?}", candidates.unreadable);
        convs.preload(candidates.above);
        search_files(&store, pattern, candidates.names.into_iter(), |outcome| {
            let FileResult::Found(name, lines) = outcome else { panic!("a file cannot be read") };
            found.push((name, lines, convs.position(&name)));
            ControlFlow::Continue(())
        })
    })
    .unwrap();
    found
}

impl World {
    fn new(folder: &Path, seed: u64) -> World {
        let dir = || {
            let dir = tempfile::tempdir_in(folder).unwrap();
            Store::make(dir.path(), Path::new(STORE), "").unwrap();
            dir
        };
        let patterns = PATTERNS.into_iter().map(pattern).collect();
        World { own: dir(), alice: dir(), patterns, dice: Dice(seed) }
    }

    fn lepo(&self) -> PathBuf {
        self.own.path().join(STORE)
    }

    fn hers(&self) -> PathBuf {
        self.lepo().join("_from/alice")
    }

    /// Adds a message of a day, after an earlier one or as a root.
    fn add(&mut self, is_alices: bool, day: usize) -> BubbName {
        let dice = &mut self.dice;
        let store = store(if is_alices { &self.alice } else { &self.own });
        let time = BEGIN + day as u64 * DAY + dice.roll(DAY as usize) as u64;
        let odd = if dice.roll(3) == 0 { ODD[dice.roll(6)] } else { b"" };
        let (first, second, end) = (WORDS[dice.roll(4)], WORDS[dice.roll(4)], dice.roll(1000));
        let mut text = format!("{first} of {day}\n{second}\n").into_bytes();
        text.extend(odd);
        text.extend(format!("\nend {end}").into_bytes());
        let mut earlier = store.names().unwrap();
        earlier.retain(|name| name.id.time() < time);
        let prev =
            if earlier.is_empty() || dice.roll(3) == 0 { None } else { Some(dice.roll(earlier.len())) };
        let prev = prev.map(|at| earlier[at].id);
        let mut batch = WriteBatch::new(&store, false).unwrap();
        let role = [Role::User, Role::Assistant][dice.roll(2)];
        let added = batch.add(role, dice.roll(5) == 0, prev, time, &text).unwrap();
        batch.flush().unwrap();
        added.name
    }

    /// Copies new files, as `sync` adds them to a peer's store.
    fn carry(&self) {
        let from = self.alice.path().join(STORE);
        for file in files(&from) {
            let to = self.hers().join(file.strip_prefix(&from).unwrap());
            fs::create_dir_all(to.parent().unwrap()).unwrap();
            if !to.exists() {
                fs::copy(&file, &to).unwrap();
            }
        }
    }

    fn filter(&mut self) -> Filter {
        let any = Filter { hidden: true, ..Filter::visible() };
        match self.dice.roll(4) {
            0 => Filter::visible(),
            1 => Filter { kinds: vec![Role::Assistant], ..any },
            2 => Filter { times: BEGIN + 5 * DAY..=BEGIN + 20 * DAY, ..any },
            _ => any,
        }
    }

    /// Compares searches with and without the cache, for all patterns or some.
    fn check(&mut self, when: &str, is_of_all: bool) {
        let any = Filter { hidden: true, ..Filter::visible() };
        for (at, word) in WORDS.into_iter().enumerate() {
            let hits = search(&self.own, &self.patterns[at], &any, false);
            assert!(hits.is_sorted_by(|a, b| a.0.id > b.0.id), "newest first: {hits:?}");
            let found: BTreeSet<BubbName> = hits.into_iter().map(|(name, ..)| name).collect();
            let mut all = [files(&self.lepo()), files(&self.hers())].concat();
            all.retain(|path| {
                let text = fs::read(path).unwrap();
                text.windows(word.len()).any(|part| part == word.as_bytes())
            });
            assert_eq!(found, all.iter().map(|path| name_of(path)).collect(), "{word} {when}");
        }
        let some: Vec<usize> = match is_of_all {
            true => (0..PATTERNS.len()).collect(),
            false => (0..6).map(|_| self.dice.roll(PATTERNS.len())).collect(),
        };
        for at in some {
            let filter = self.filter();
            let plain = search(&self.own, &self.patterns[at], &filter, true);
            let cached = search(&self.own, &self.patterns[at], &filter, false);
            assert_eq!(cached, plain, "{:?} {when}: {filter:?}", PATTERNS[at]);
        }
    }

    /// Waits until every day can be recorded, two seconds after its last change, then records it.
    fn record(&self) {
        let begun = Instant::now();
        let (own, hers) = (store(&self.own), Store::anywhere(&self.hers()).unwrap().unwrap());
        let is_over = |store: &Store| {
            // The filesystem's clock may lag by a tick.
            let states = store.old_states(now() - 50).expect("change times are kept");
            states.iter().all(|(_, state)| state.is_some())
        };
        while !is_over(&own) || !is_over(&hers) {
            assert!(begun.elapsed() < Duration::from_secs(60), "the days stay young");
            std::thread::sleep(Duration::from_millis(20));
        }
        search(&self.own, &pattern(("", "absent")), &Filter::visible(), false);
        for store in [self.lepo(), self.hers()] {
            assert!(fs::read_dir(store.join("_cache/text")).unwrap().count() >= 2, "no cache was made");
        }
    }

    /// Makes a random change, except to the day that never changes.
    fn step(&mut self, number: usize, left_alone: BubbName) -> String {
        let own = files(&self.lepo());
        let some = own[self.dice.roll(own.len())].clone();
        let is_free = name_of(&some) != left_alone;
        let day = self.dice.roll(DAYS);
        match self.dice.roll(10) {
            0 | 1 => format!("added {}", self.add(false, day)),
            2 => {
                self.add(true, day);
                tidy(&self.alice);
                self.carry();
                "added for alice".into()
            }
            3 => {
                tidy(&self.own);
                "tidied".into()
            }
            4 if is_free => {
                store(&self.own).remove_bubbs(&[name_of(&some)], &[]).unwrap();
                format!("removed {}", some.display())
            }
            5 if is_free => {
                // Like an editor that saves.
                let new = some.with_extension("new");
                let text = format!("{} edited {number}\n", WORDS[self.dice.roll(4)]);
                fs::write(&new, [text.as_bytes(), ODD[self.dice.roll(ODD.len())]].concat()).unwrap();
                fs::rename(&new, &some).unwrap();
                format!("edited {}", some.display())
            }
            6 if is_free => {
                fs::remove_file(&some).unwrap();
                format!("deleted {}", some.display())
            }
            7 if is_free => {
                // Moved out of its day, as a user may do by hand.
                fs::rename(&some, self.lepo().join(some.file_name().unwrap())).unwrap();
                format!("moved {}", some.display())
            }
            8 => {
                let segment = self.lepo().join("_cache/text/2025-03");
                let bytes = fs::read(&segment).unwrap_or_default();
                if !bytes.is_empty() {
                    fs::write(&segment, &bytes[..self.dice.roll(bytes.len() + 1)]).unwrap();
                }
                "tore a segment".into()
            }
            9 if self.dice.roll(3) == 0 => {
                let _ = fs::remove_dir_all(self.lepo().join("_cache"));
                "deleted the cache".into()
            }
            _ => "nothing".into(),
        }
    }
}

fn run(folder: &Path, seed: u64) {
    let mut world = World::new(folder, seed);
    for day in 0..DAYS {
        world.add(false, day);
        if day % 5 == 0 {
            world.add(true, day);
        }
    }
    let left_alone = world.add(false, DAYS + 1);
    tidy(&world.own);
    tidy(&world.alice);
    world.carry();
    world.check("at first", false);
    world.record();
    world.check("cached", true);
    for number in 0..15 {
        let what = world.step(number, left_alone);
        world.check(&format!("with seed {seed}, after step {number}: {what}"), false);
    }
    world.record();
    world.check("cached again", true);
    // Appending to an old file does not change its folder, so a search that misses the text has used the cache.
    let path = files(&world.lepo()).into_iter().find(|path| name_of(path) == left_alone).unwrap();
    OpenOptions::new().append(true).open(&path).unwrap().write_all(b"quince\n").unwrap();
    let quince = pattern(("", "quince"));
    let any = Filter { hidden: true, ..Filter::visible() };
    assert_eq!(search(&world.own, &quince, &any, false), []);
    assert_eq!(search(&world.own, &quince, &any, true).len(), 1);
}

#[test]
fn the_cache_never_changes_an_answer() {
    run(&std::env::temp_dir(), 11);
}

#[test]
fn the_cache_never_changes_an_answer_of_a_store_in_memory() {
    let shm = Path::new("/dev/shm");
    run(&if shm.is_dir() { shm.to_path_buf() } else { std::env::temp_dir() }, 12);
}
