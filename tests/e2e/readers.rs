//! The two readers of `contrib/readers/`, which use docs/format.md alone: they find what lepo finds in every vector and in a
//! store that lepo has just written; and their writer is safe beside lepo. Skipped where Python is not installed.

use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::Value;

use crate::bots::Bot;
use crate::common::vectors::{Vector, sha256, vectors};
use crate::home::{Home, Ran, run};

const PYTHON: &str = "lepo-read.py";
const SHELL: &str = "lepo-read.sh";

fn reader(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("contrib/readers").join(file)
}

/// A reader, run on the store of a home; its stdout as bytes.
fn read(home: &Home, file: &str, args: &[&str], stdin: &[u8]) -> (Ran, Vec<u8>) {
    let program = if file == PYTHON { "python3" } else { "sh" };
    let path = reader(file);
    let mut whole = vec![path.to_str().unwrap(), args[0], ".lepo"];
    whole.extend(&args[1..]);
    let mut command = home.program(program, &whole);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child: Child = command.spawn().unwrap();
    let _ = std::io::Write::write_all(&mut child.stdin.take().unwrap(), stdin);
    let output = child.wait_with_output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let ran = Ran {
        code: output.status.code().unwrap(),
        out: text(&output.stdout),
        err: text(&output.stderr),
        made: String::new(),
    };
    (ran, output.stdout)
}

/// Runs the Python reader many times in one process: a list of directories and arguments, and for each what it printed
/// on stdout, as hexadecimal digits, and on stderr, and its exit code.
const MANY: &str = r#"
import contextlib, importlib.util, io, json, os, sys
sys.dont_write_bytecode = True
spec = importlib.util.spec_from_file_location("reader", sys.argv[1])
reader = importlib.util.module_from_spec(spec)
spec.loader.exec_module(reader)
told = []
for place, args in json.load(sys.stdin):
    os.chdir(place)
    out = io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True)
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()) as err:
        try:
            code = reader.main(args[0], ".lepo", *args[1:]) or 0
        except (reader.Problem, OSError, ValueError, MemoryError) as e:
            code = 2
            print(f"lepo-read: {e or type(e).__name__}", file=sys.stderr)
    told.append([out.buffer.getvalue().hex(), err.getvalue(), code])
json.dump(told, sys.stdout)
"#;

/// The Python reader, run on many stores in one process, with these arguments each.
fn read_all(home: &Home, asked: &[(&Home, Vec<String>)]) -> Vec<(Ran, Vec<u8>)> {
    let asked: Vec<Value> = asked.iter().map(|(home, args)| serde_json::json!([home.work(), args])).collect();
    let path = reader(PYTHON);
    let ran = run(
        home.program("python3", &["-c", MANY, path.to_str().unwrap()]),
        serde_json::to_string(&asked).unwrap().as_bytes(),
    );
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    let document: Vec<(String, String, i32)> = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(document.len(), asked.len());
    let one = |(hex, err, code): (String, String, i32)| {
        let digits: Vec<u8> = hex.chars().map(|digit| digit.to_digit(16).unwrap() as u8).collect();
        let bytes: Vec<u8> = digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect();
        let out = String::from_utf8_lossy(&bytes).into_owned();
        (Ran { code, out, err, made: String::new() }, bytes)
    };
    document.into_iter().map(one).collect()
}

/// A reader, run on stores with these arguments each: Python once for all.
fn read_each(file: &str, asked: &[(&Home, Vec<String>)]) -> Vec<(Ran, Vec<u8>)> {
    if file == PYTHON {
        return read_all(&Home::new(), asked);
    }
    let one = |(home, args): &(&Home, Vec<String>)| {
        read(home, file, &args.iter().map(String::as_str).collect::<Vec<_>>(), b"")
    };
    asked.iter().map(one).collect()
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| word.to_string()).collect()
}

/// The readers that can be run here.
fn readers() -> Vec<&'static str> {
    match std::process::Command::new("python3").arg("--version").output() {
        Ok(_) => vec![PYTHON, SHELL],
        Err(_) => {
            crate::skip::skipped("python3", "no python3 here");
            vec![SHELL]
        }
    }
}

#[test]
fn both_readers_list_the_tails_of_every_vector() {
    let vectors = vectors();
    let asked: Vec<_> = vectors.iter().map(|vector| (&vector.home, words(&["list"]))).collect();
    for file in readers() {
        for (vector, (ran, _)) in vectors.iter().zip(read_each(file, &asked)) {
            let texts: Vec<&str> = ran.out.lines().collect();
            let listed = vector.listed();
            // lepo says whose a message of another store is, too.
            let listed: Vec<&str> = listed.iter().filter_map(|line| line.rsplit('/').next()).collect();
            assert_eq!(texts, listed, "{}: {file}: {}", vector.name, ran.err);
            assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{}: {file}", vector.name);
        }
    }
}

#[test]
fn both_readers_find_the_newest_of_every_vector() {
    let vectors = vectors();
    for file in readers() {
        let shown: Vec<_> = vectors.iter().map(|vector| (&vector.home, words(&["show", "@"]))).collect();
        let named = |vector: &Vector| words(&["show", vector.expected["@"].as_str().unwrap_or("none")]);
        let expected: Vec<_> = vectors.iter().map(|vector| (&vector.home, named(vector))).collect();
        let expected = read_each(file, &expected);
        for ((ran, bytes), (vector, (other, same))) in
            read_each(file, &shown).iter().zip(vectors.iter().zip(&expected))
        {
            assert_eq!((ran.code, bytes), (other.code, same), "{}: {file}: {}", vector.name, ran.err);
            assert_eq!(ran.code == 0, vector.expected["@"].is_string(), "{}: {file}", vector.name);
        }
    }
}

#[test]
fn both_readers_show_every_conversation_as_lepo_does() {
    let mut vectors = vectors();
    // lepo names the speakers too.
    vectors.retain(|vector| !vector.expected["speakers"].is_object());
    let asked: Vec<_> = vectors
        .iter()
        .flat_map(|vector| vector.by_id("conversations").map(move |(tail, _)| (vector, tail)))
        .collect();
    let args: Vec<_> =
        asked.iter().map(|(vector, tail)| (&vector.home, words(&["show", &tail.to_lowercase()]))).collect();
    let shown: Vec<Vec<u8>> = asked
        .iter()
        .map(|(vector, tail)| vector.home.command(&["show", tail]).output().unwrap().stdout)
        .collect();
    for file in readers() {
        for ((ran, bytes), ((vector, tail), shown)) in
            read_each(file, &args).iter().zip(asked.iter().zip(&shown))
        {
            let context = format!("{}: {file}: {tail}: {}", vector.name, ran.err);
            assert_eq!(ran.out, String::from_utf8_lossy(shown), "{context}");
            assert_eq!(bytes, shown, "{context}");
            let is_broken = vector.ids("incomplete").contains(tail);
            assert_eq!(ran.err.contains("incomplete conversation"), is_broken, "{context}");
        }
    }
}

#[test]
fn the_python_reader_exports_every_conversation_and_finds_what_was_edited() {
    if !readers().contains(&PYTHON) {
        return;
    }
    let vectors = vectors();
    let asked: Vec<_> = vectors
        .iter()
        .flat_map(|vector| {
            let exports = vector.by_id("conversations").map(|(tail, _)| words(&["export", tail]));
            exports.chain([words(&["verify"])]).map(move |args| (&vector.home, args))
        })
        .collect();
    let mut runs = read_all(&vectors[0].home, &asked).into_iter();
    for vector in &vectors {
        let name = &vector.name;
        for (_, path) in vector.by_id("conversations") {
            let (ran, _) = runs.next().unwrap();
            let document: Vec<Value> = serde_json::from_str(&ran.out).unwrap();
            let ids: Vec<&Value> = document.iter().map(|message| &message["id"]).collect();
            assert_eq!(ids, path.as_array().unwrap().iter().collect::<Vec<_>>(), "{name}");
            for message in &document {
                let (id, text) = (message["id"].as_str().unwrap(), message["text"].as_str().unwrap());
                let hash = vector.expected["texts"][id].as_str();
                // Bytes that are no text are not whole in JSON.
                assert!(
                    hash.is_none_or(|hash| hash == sha256(text.as_bytes()) || text.contains('\u{fffd}')),
                    "{name}"
                );
            }
        }
        let findings = vector.findings();
        let mut edited: Vec<String> =
            findings.iter().filter_map(|found| found.strip_prefix("edited ")).map(id_in).collect();
        edited.sort();
        edited.dedup();
        let (ran, _) = runs.next().unwrap();
        assert_eq!(ran.out.lines().collect::<Vec<_>>(), edited, "{name}: {}", ran.err);
        assert_eq!(ran.code, i32::from(!edited.is_empty()), "{name}: {}", ran.err);
    }
}

/// The id in the path of a message.
fn id_in(path: &str) -> String {
    path.rsplit('/').next().unwrap()[..26].to_uppercase()
}

/// Every list and every conversation that a reader gives is the same as lepo's.
fn reads_as_lepo_does(home: &Home) {
    let tails = home.ok(&["ls"]);
    let tails: Vec<&str> = tails.lines().map(|line| line.split_inclusive(')').next().unwrap()).collect();
    for file in readers() {
        let (ran, _) = read(home, file, &["list"], b"");
        assert_eq!(ran.out.lines().collect::<Vec<_>>(), tails, "{file}: {}", ran.err);
        for tail in &tails {
            let id = tail.split(' ').next().unwrap();
            assert_eq!(read(home, file, &["show", id], b"").0.out, home.ok(&["show", id]), "{file}");
        }
        if file == PYTHON {
            assert_eq!(read(home, file, &["verify"], b"").0.code, 0);
        }
    }
}

/// A conversation of the year 2024, one message a minute.
fn import_old(home: &Home, name: &str, count: usize) {
    let role = |n: usize| if n.is_multiple_of(2) { "user" } else { "assistant" };
    let messages: Vec<Value> = (0..count)
        .map(|n| serde_json::json!({"role": role(n), "content": format!("{name} {n}, 옛날")}))
        .collect();
    home.write(&format!("work/{name}.json"), serde_json::json!({ "messages": messages }).to_string());
    home.ok(&["import", "messages", "--date", "2024-05-01", &format!("{name}.json")]);
}

#[test]
fn both_readers_read_what_lepo_has_just_written() {
    let request = r#"{"access":"read","command":"ls"}"#;
    let bot = Bot::saying(
        "tool_call_mode = \"auto\"",
        &[r#"{"tool":"none"}"#, "Fine.", r#"{"tool":"command"}"#, request, r#"{"tool":"none"}"#, "두 번째"],
    );
    let home = &bot.home;
    import_old(home, "old", 40);
    home.ok(&["tidy", "--keep", "0"]);
    assert!(home.work().join(".lepo/_old/2024-05/01").is_dir());
    home.lepo(&["do", "-n", "How are you?"]);
    home.lepo(&["do", "What is here?"]);
    home.add(&["--prev", "head"], "no newline");
    let fork = home.add(&["--kind", "a"], "ends with one\n");
    home.add(&["--kind", "t", "--hidden", "--prev", &fork], "out");
    assert!(home.bubbs().iter().filter(|name| name[28..].starts_with('1')).count() > 4);
    reads_as_lepo_does(home);
}

#[test]
fn what_the_python_writer_writes_is_what_lepo_would_have_written() {
    if !readers().contains(&PYTHON) {
        return;
    }
    let home = Home::new();
    home.ok(&["init"]);
    let append = |args: &[&str], text: &str| {
        let (ran, _) = read(&home, PYTHON, &[&["append"], args].concat(), text.as_bytes());
        assert_eq!((ran.code, ran.err.as_str()), (0, ""));
        ran.out.trim().to_string()
    };
    let root = append(&["u", "head"], "처음");
    let hidden = append(&["a1", &root], "");
    let answer = append(&["a", &root.to_lowercase()], "answer\n");
    assert_eq!(home.ok(&["resolve", "@"]).trim(), answer);
    assert_eq!(home.ok(&["show", "--one", &root]), "처음");
    assert!(home.bubbs().contains(&format!("{hidden}-a1-{root}.md")));
    let (ran, _) = read(&home, PYTHON, &["append", "u", "01JB3Z0Q4N8V2K5T7W9X1Y3Z5A"], b"x");
    assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{}", ran.err);
    assert_eq!(home.lepo(&["fsck"]).out, "");
    reads_as_lepo_does(&home);
}

/// Appends in one process: behind each of its own messages, and behind each of the ids that it is given.
const WRITER: &str = r#"
import contextlib, importlib.util, io, os, sys, types
sys.dont_write_bytecode = True
spec = importlib.util.spec_from_file_location("reader", sys.argv[1])
reader = importlib.util.module_from_spec(spec)
spec.loader.exec_module(reader)
directory = os.open(".lepo", reader.DIRECTORY)
name, count, old = sys.argv[2], int(sys.argv[3]), sys.argv[4:]
prev = None
for number in range(count):
    if number % 5 == 4:
        prev = old[number % len(old)]
    text = f"{name} {number} 글\n" * (1 + number % 7)
    sys.stdin = types.SimpleNamespace(buffer=io.BytesIO(text.encode()))
    with contextlib.redirect_stdout(io.StringIO()) as told:
        reader.append(directory, "au"[number % 2], prev or "head")
    prev = told.getvalue().strip()
    print(prev, flush=True)
"#;

#[test]
fn five_hundred_messages_of_another_program_are_safe_beside_lepo() {
    if !readers().contains(&PYTHON) {
        return;
    }
    const WRITERS: usize = 4;
    const EACH: usize = 125;
    let home = Home::new();
    import_old(&home, "old", 200);
    let old: Vec<String> = home.bubbs().iter().map(|name| name[..26].to_string()).collect();
    home.write("writer.py", WRITER);
    let path = reader(PYTHON);
    let done = AtomicBool::new(false);
    let (written, added) = std::thread::scope(|scope| {
        let writers: Vec<_> = (0..WRITERS)
            .map(|number| {
                let (home, old, path) = (&home, &old, &path);
                scope.spawn(move || {
                    let (name, count) = (format!("writer {number}"), EACH.to_string());
                    let mut args = vec!["../writer.py", path.to_str().unwrap(), &name, &count];
                    args.extend(old.iter().map(String::as_str));
                    let ran = run(home.program("python3", &args), b"");
                    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
                    ran.out.lines().map(str::to_string).collect::<Vec<_>>()
                })
            })
            .collect();
        // Days are over one after the other, and their messages move while others go on from them.
        let tidier = scope.spawn(|| {
            for keep in (0..old.len()).rev().step_by(10).cycle() {
                if done.load(Ordering::Relaxed) {
                    break;
                }
                home.ok(&["tidy", "--keep", &keep.to_string()]);
                home.ok(&["ls"]);
            }
        });
        let adder = scope.spawn(|| {
            let mut added = Vec::new();
            while !done.load(Ordering::Relaxed) {
                added.push(home.add(&[], &format!("lepo {}", added.len())));
            }
            added
        });
        let written: Vec<String> = writers.into_iter().flat_map(|writer| writer.join().unwrap()).collect();
        done.store(true, Ordering::Relaxed);
        tidier.join().unwrap();
        (written, adder.join().unwrap())
    });
    assert_eq!(written.len(), WRITERS * EACH);
    assert!(!added.is_empty());
    assert_eq!(home.lepo(&["fsck"]).out, "");
    let log = home.ok(&["log", "--all", "--json"]);
    let there: std::collections::HashSet<String> = log
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["id"].as_str().unwrap().to_string())
        .collect();
    assert_eq!(there.len(), old.len() + written.len() + added.len());
    let lost: Vec<&String> =
        written.iter().chain(&added).chain(&old).filter(|id| !there.contains(*id)).collect();
    assert!(lost.is_empty(), "{lost:?}");
    // Nothing of a writer is left behind.
    let left = std::fs::read_dir(home.work().join(".lepo/_tmp")).unwrap().count();
    assert_eq!(left, 0);
    let tails = home.ok(&["ls"]);
    let tails: Vec<&str> = tails.lines().map(|line| line.split_inclusive(')').next().unwrap()).collect();
    for file in readers() {
        assert_eq!(read(&home, file, &["list"], b"").0.out.lines().collect::<Vec<_>>(), tails, "{file}");
    }
}

/// A store of random names: any links, hidden or not, in the store itself, in days right and wrong, in those of others.
fn random_store(home: &Home, roll: &mut impl FnMut(usize) -> usize, is_wild: bool) {
    const DIGITS: &[u8] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";
    // The digits of a time, and its day.
    const DAYS: &[(&str, &str)] = &[
        ("01K9XFT8F0", "_old/2025-11/13"),
        ("01K9XFT9EG", "_old/2025-11/13"),
        ("01KA0A90M0", "_old/2025-11/14"),
        ("01KHBAS7M0", "_old/2026-02/13"),
    ];
    let ids: Vec<(String, &str)> = (0..1 + roll(12))
        .map(|_| {
            let (time, day) = DAYS[roll(DAYS.len())];
            (time.chars().chain((0..16).map(|_| DIGITS[roll(32)] as char)).collect(), day)
        })
        .collect();
    for (id, day) in &ids {
        for _ in 0..if roll(8) == 0 { 2 } else { 1 } {
            let befores: Vec<&str> = ids
                .iter()
                .map(|(other, _)| other.as_str())
                .filter(|other| is_wild || *other < id.as_str())
                .collect();
            let prev = match roll(10) {
                0 => "01HF7YAT00X9VHGMPM65NNS16B",
                1..8 if !befores.is_empty() => befores[roll(befores.len())],
                _ => "head",
            };
            let of_others = format!("_from/b/{day}");
            let folders = [
                "",
                "",
                "",
                day,
                day,
                day,
                "_old",
                DAYS[roll(DAYS.len())].1,
                "_from/a",
                "_from/b",
                &of_others,
            ];
            let spelled = if roll(8) == 0 { id.to_lowercase() } else { id.clone() };
            let (role, hidden) = (["s", "u", "a", "t"][roll(4)], ["0", "0", "1"][roll(3)]);
            let folder = folders[roll(folders.len())];
            home.write(&format!("work/.lepo/{folder}/{spelled}-{role}{hidden}-{prev}.md"), id);
        }
    }
}

#[test]
fn both_readers_list_any_random_forest_as_lepo_does() {
    let mut dice = 11u64;
    let mut roll = |sides: usize| {
        dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (dice >> 33) as usize % sides
    };
    let homes: Vec<Home> = (0..30)
        .map(|round| {
            let home = Home::new();
            home.write("work/.lepo/_insts.toml", "");
            random_store(&home, &mut roll, round % 2 == 1);
            home
        })
        .collect();
    let asked: Vec<_> = homes.iter().map(|home| (home, words(&["list"]))).collect();
    let listed: Vec<String> = homes.iter().map(|home| home.lepo(&["ls"]).out).collect();
    for file in readers() {
        for ((ran, _), (home, listed)) in read_each(file, &asked).iter().zip(homes.iter().zip(&listed)) {
            let listed: Vec<&str> = listed
                .lines()
                .filter_map(|line| line.split_inclusive(')').next()?.rsplit('/').next())
                .collect();
            let names = || home.program("find", &[".lepo", "-type", "f"]).output().unwrap().stdout;
            assert_eq!(
                ran.out.lines().collect::<Vec<_>>(),
                listed,
                "{file}: {}",
                String::from_utf8_lossy(&names())
            );
        }
    }
}
