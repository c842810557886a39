//! `grep`: what was said is found, with its day, speaker and conversation.

use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use crate::disk::{put, put_old};
use crate::home::{Home, run};
use crate::sandbox::world::{as_user, is_root, users};

/// prompt → question → answer → question, and another conversation.
fn store(home: &Home) -> Vec<String> {
    let prompt = home.add(&["--kind", "s", "--hidden", "--prev", "head"], "secret prompt about parsers");
    let question = home.add(&[], "how do I parse a date\nin Rust?");
    let answer = home.add(&["--kind", "a"], "Use a parser.\nA Parser is a function.\nThat is all.");
    let more = home.add(&[], "코드를 보여 줘: parse()");
    let other = home.add(&["--prev", "head"], "an unrelated question");
    vec![prompt, question, answer, more, other]
}

#[test]
fn what_is_no_regular_file_holds_nothing_up() {
    let home = Home::new();
    let ids = store(&home);
    // A file that is not a regular one is no bubb, and holds nothing up.
    let path = home.work().join(home.ok(&["resolve", "--path", &ids[2]]).trim());
    std::fs::remove_file(&path).unwrap();
    assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
    assert_eq!(home.lepo(&["grep", "Parser is"]).code, 1);
}

#[test]
fn a_terminal_gets_no_control_characters_of_a_match() {
    let home = Home::new();
    home.add(&["--prev", "head"], "clear \u{1b}[2J the screen");
    let ran = home.terminal("lepo grep --color never clear").output().unwrap();
    let shown = String::from_utf8_lossy(&ran.stdout);
    assert!(shown.contains("clear ␛[2J the screen"), "{shown}");
    // lepo's own colours are colours.
    let ran = home.terminal("lepo grep --color always clear").output().unwrap();
    let shown = String::from_utf8_lossy(&ran.stdout);
    assert!(shown.contains("\u{1b}[2m\"clear ␛[2J the") && !shown.contains("␛[2m"), "{shown}");
    assert!(home.ok(&["grep", "clear"]).contains("clear \u{1b}[2J"));
}

#[test]
fn version_and_help_are_where_they_are_everywhere() {
    let home = Home::new();
    assert!(home.ok(&["grep", "--version"]).starts_with("lepo "));
    assert!(home.ok(&["-v", "grep", "x"]).starts_with("lepo "));
    assert!(home.ok(&["grep", "x", "-h"]).contains("lepo grep"));
}

/// The ids in whose files grep(1) finds a word, sorted.
fn by_grep(home: &Home, word: &str) -> Vec<String> {
    let found = home
        .shell(&format!("grep -rlF --include='*.md' --exclude-dir=_removed -- '{word}' .lepo"))
        .output()
        .unwrap();
    let text = String::from_utf8(found.stdout).unwrap();
    let id = |path: &str| path.rsplit('/').next().unwrap()[..26].to_string();
    let mut ids: Vec<String> = text.lines().map(id).collect();
    ids.sort();
    ids
}

/// The ids that `lepo grep` finds, newest first as printed and sorted.
fn by_lepo(home: &Home, word: &str, options: &[&str]) -> Vec<String> {
    let ran = home.lepo(&[&["grep", "-l", "--ids", "--hidden", "-F"], options, &[word]].concat());
    let printed: Vec<String> = ran.out.lines().map(str::to_string).collect();
    let mut ids = printed.clone();
    ids.sort();
    assert!(printed.iter().rev().eq(ids.iter()), "newest first: {printed:?}");
    ids
}

#[test]
fn days_that_are_over_are_found_with_and_without_the_cache_whatever_happens_to_them() {
    let home = Home::new();
    let cache = home.work().join(".lepo/_cache/text");
    let add = |day: u32, text: &str| {
        home.add(
            &["--prev", "head", "--time", &format!("2025-{:02}-{:02}T10:00Z", day / 28 + 1, day % 28 + 1)],
            text,
        )
    };
    let words = ["apple", "코드", "pear tree"];
    let check = |when: &str| {
        for word in words {
            let expected = by_grep(&home, word);
            assert_eq!(by_lepo(&home, word, &[]), expected, "{word} {when}");
            assert_eq!(by_lepo(&home, word, &["--no-cache"]), expected, "{word} {when}, without the cache");
            assert_eq!(by_lepo(&home, word, &["-U"]), expected, "{word} {when}, by bubbs");
        }
    };
    home.ok(&["init"]);
    let mut ids = Vec::new();
    for day in 0..60 {
        // Ten o'clock of a first of January, February or March, and so many days later.
        let first = [1_735_725_600_000, 1_738_404_000_000, 1_740_823_200_000][day / 28];
        let text = format!("{} number {day}\nsecond line", words[day % 3]);
        ids.push(put(&home, first + day as u64 % 28 * 86_400_000, "u0", "head", &text));
    }
    home.ok(&["tidy", "--keep", "0"]);
    // A folder is recorded once its last change is two seconds old.
    let begun = std::time::Instant::now();
    while std::fs::read_dir(&cache).map_or(0, Iterator::count) < 2 {
        check("at first");
        assert!(begun.elapsed().as_secs() < 60, "no cache was made");
    }
    check("cached");
    ids.push(add(3, "apple and pear tree, later"));
    check("with one in .lepo/");
    home.ok(&["tidy", "--keep", "0"]);
    check("with one in a day that was cached");
    home.ok(&["rm", "-y", &ids[0]]);
    check("with one removed");
    let kept = std::fs::read(cache.join("2025-01")).unwrap();
    assert!(!kept.windows(8).any(|bytes| bytes == b"number 0"));
    // Renamed over, as an editor saves.
    let path = home.work().join(home.ok(&["resolve", "--path", &ids[1]]).trim());
    std::fs::write(path.with_extension("new"), "pear tree now").unwrap();
    std::fs::rename(path.with_extension("new"), &path).unwrap();
    check("with one edited");
    std::fs::remove_file(&path).unwrap();
    check("with one deleted by hand");
    // Torn, and emptied.
    std::fs::write(cache.join("2025-01"), &kept[..kept.len() / 2]).unwrap();
    check("with a torn segment");
    std::fs::remove_dir_all(home.work().join(".lepo/_cache")).unwrap();
    check("without a cache");
    assert_eq!(home.lepo(&["fsck"]).code, 0);
}

#[test]
fn a_day_that_cannot_be_read_is_named_and_passed_over() {
    // Root reads everything.
    let Some(user) = users().last().copied().filter(|user| user.is_some() || !is_root()) else { return };
    let home = Home::new();
    let [first, _, last] =
        [("2023-11-14", "one"), ("2023-11-15", "two"), ("2023-12-01", "three")].map(|(day, text)| {
            home.add(&["--time", &format!("{day}T12:00:00Z"), "--prev", "head"], &format!("needle {text}"))
        });
    home.ok(&["tidy", "--keep", "0"]);
    if let Some(user) = user {
        let chowned = Command::new("chown").args(["-R", &user.to_string()]).arg(home.path()).status();
        assert!(chowned.unwrap().success());
    }
    let lepo = |args: &[&str]| {
        let command = home.command(args);
        run(user.map_or_else(|| home.command(args), |user| as_user(command, user)), b"")
    };
    let set = |path: &str, mode: u32| {
        let path = home.work().join(".lepo/_old").join(path);
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    for (folder, found) in [("2023-11/14", &["two", "three"][..]), ("2023-11", &["three"])] {
        // Once more when the days that can be read are in the text cache.
        for args in [&["grep", "needle"][..], &["grep", "--no-cache", "needle"], &["grep", "-l", "needle"]] {
            for _ in 0..2 {
                set(folder, 0o000);
                let ran = lepo(args);
                let absent = lepo(&["grep", "one"]);
                set(folder, 0o700);
                assert_eq!(ran.code, 0, "{}", ran.err);
                assert_eq!(ran.err.matches(&format!("_old/{folder}: ")).count(), 1, "{}", ran.err);
                assert_eq!(ran.out.lines().count(), found.len(), "{args:?}: {}", ran.out);
                assert!(
                    args.contains(&"-l") || found.iter().all(|text| ran.out.contains(text)),
                    "{}",
                    ran.out
                );
                assert_eq!((absent.code, &*absent.out), (5, ""), "{}", absent.err);
            }
        }
        // A search of all days passes over it too; an address that may lie there does not.
        for (args, code, rows) in [
            (&["grep", "-c", "needle"][..], 0, found.len()),
            (&["grep", "-c", "one"], 5, 0),
            (&["grep", "-c", "needle", &last], 0, 1),
            (&["grep", "needle", &last], 0, 1),
            (&["ls", "--grep", "needle"], 0, found.len()),
            (&["ls", "--grep", "one"], 5, 0),
            (&["ls", "--grep", "needle", &last], 0, 1),
            (&["grep", "-c", "needle", &first], 5, 0),
            (&["grep", "needle", &first], 5, 0),
            (&["ls", "--grep", "needle", &first], 5, 0),
            (&["ls"], 5, 0),
        ] {
            set(folder, 0o000);
            let ran = lepo(args);
            set(folder, 0o700);
            assert_eq!((ran.code, ran.out.lines().count()), (code, rows), "{args:?}: {}{}", ran.out, ran.err);
            let names = ran.err.matches(&format!("_old/{folder}: ")).count();
            let is_named = args[0] == "ls" || args[1] == "-c" || code == 5;
            assert!(names >= usize::from(is_named) && (code == 5 || names < 2), "{args:?}: {}", ran.err);
        }
    }
    assert_eq!(lepo(&["grep", "needle"]).out.lines().count(), 3);
}

#[test]
fn composed_and_decomposed_characters_are_the_same_also_in_days_that_are_over() {
    let home = Home::new();
    let texts =
        ["\u{d55c}\u{ae00} caf\u{e9}", "\u{1112}\u{1161}\u{11ab}\u{1100}\u{1173}\u{11af} cafe\u{301}"];
    let mut ids: Vec<String> =
        texts.iter().zip(1..).map(|(text, at)| put_old(&home, at * 1000, "u0", "head", text)).collect();
    ids.push(home.add(&["--prev", "head"], texts[0]));
    ids.push(home.add(&["--prev", "head"], texts[1]));
    ids.sort();
    let found = |args: &[&str]| {
        let mut found: Vec<String> = home.ok(args).lines().map(str::to_string).collect();
        found.sort();
        found
    };
    for pattern in [texts[0], texts[1]] {
        for args in [
            &["grep", "--ids", "-l", pattern][..],
            &["grep", "--ids", "-l", "-F", pattern],
            &["grep", "--ids", "-l", "-w", pattern],
        ] {
            assert_eq!(found(args), ids, "{args:?}");
            assert_eq!(found(args), ids, "with the cache: {args:?}");
        }
    }
}
