//! `tidy`, and the tidying after `add` and `do`: files move, answers stay (scale.md).

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::disk::put;
use crate::home::{Home, away_from_midnight, run};
use crate::sandbox::world::{as_user, is_root, users};
use crate::scripted::{Server, openai_sse};

/// A store of so many questions, one an hour up to four days ago, each with an answer.
fn fill(home: &Home, turns: u64) -> Vec<String> {
    away_from_midnight();
    home.ok(&["init"]);
    let now = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap().as_millis() as u64;
    let mut ids = Vec::new();
    for turn in 0..turns {
        let time = (now - (96 + turns - turn) * 3_600_000) / 60_000 * 60_000;
        let question = put(home, time, "u0", "head", &format!("question {turn}"));
        let answer = put(home, time + 1, "a0", &question, &format!("answer {turn}"));
        ids.extend([question, answer]);
    }
    ids
}

fn jiff_time(ms: u64) -> String {
    jiff::Timestamp::from_millisecond(ms as i64).unwrap().strftime("%Y-%m-%dT%H:%MZ").to_string()
}

/// The bubbs in `.lepo/` itself.
fn recent(home: &Home) -> usize {
    let entries = std::fs::read_dir(home.work().join(".lepo")).unwrap();
    entries.filter(|entry| entry.as_ref().unwrap().path().extension().is_some_and(|end| end == "md")).count()
}

#[test]
fn every_command_answers_as_before_wherever_the_files_are() {
    let home = Home::new();
    let ids = fill(&home, 40);
    home.ok(&["branch", "old", &ids[1]]);
    let first = home.ok(&["resolve", "--path", &ids[0]]);
    let asks: Vec<Vec<&str>> = vec![
        vec!["ls"],
        vec!["ls", "-n", "3"],
        vec!["ls", "old"],
        vec!["show"],
        vec!["show", "old"],
        vec!["show", &ids[20]],
        vec!["log", "--all"],
        vec!["log", "--graph", "old"],
        vec!["diff", "old", "@"],
        vec!["export", &ids[3]],
        vec!["branch"],
        vec!["resolve", first.trim()],
        vec!["resolve", ids[7].get(16..).unwrap()],
        vec!["resolve", ids[7].get(..12).unwrap()],
        vec!["grep", "answer 7"],
        vec!["fsck"],
    ];
    let answers = || -> Vec<String> {
        asks.iter()
            .map(|ask| {
                let ran = home.lepo(ask);
                format!("{ask:?} {} {}", ran.code, ran.out)
            })
            .collect()
    };
    let before = answers();
    let listed = home.ok(&["tidy", "-n", "--keep", "0"]);
    assert!(listed.lines().count() >= 2, "{listed}");
    assert_eq!(recent(&home), 80);
    let ran = home.lepo(&["tidy", "--keep", "0"]);
    assert!(
        ran.code == 0 && ran.out.is_empty() && ran.err.starts_with("80 messages moved into "),
        "{}",
        ran.err
    );
    assert_eq!(recent(&home), 0);
    assert_eq!(answers(), before);
    // Paths lead to where the files are now, for other programs too.
    let path = home.ok(&["resolve", "--path", &ids[0]]);
    assert!(path.starts_with(".lepo/_old/20") && home.work().join(path.trim()).is_file(), "{path}");
    for path in home.ok(&["ls", "--paths"]).lines().chain(home.ok(&["show", "--paths", "old"]).lines()) {
        assert!(home.work().join(path).is_file(), "{path}");
    }
    let found = home
        .shell("grep -rl --include='0*.md' 'answer 7' .lepo | lepo ls - | cut -d' ' -f1")
        .output()
        .unwrap();
    assert_eq!(String::from_utf8(found.stdout).unwrap().trim(), ids[15]);
    // A message that follows an old one is new.
    home.add(&["--prev", "old"], "and now?");
    assert_eq!(recent(&home), 1);
    assert!(home.ok(&["show"]).contains("answer 0"));
    let gone = home.ok(&["rm", "-y", &ids[5]]);
    assert!(gone.lines().all(|path| path.starts_with(".lepo/_old/") && !home.work().join(path).exists()));
    assert_eq!(home.lepo(&["show", &ids[5]]).code, 2);
    home.ok(&["fsck"]);
}

#[test]
fn tidy_says_what_stays_and_why() {
    let home = Home::new();
    fill(&home, 40);
    home.add(&["--prev", "head"], "of today");
    // Without a number half of the setting stays, which is more than there are.
    let ran = home.lepo(&["tidy"]);
    let kept = "80 as half of the setting `tidy`; --keep 0 moves them";
    let all = format!(
        "0 messages moved into 0 days; 81 stay (1 of days that ended less than 48 hours ago, {kept})\n"
    );
    assert_eq!((ran.code, ran.err), (0, all));
    // The oldest of the days, which has one hour or more, is enough at any time of the day.
    let ran = home.lepo(&["tidy", "-n", "--keep", "79"]);
    let message = ran.err.trim_end();
    assert!(message.contains(" would stay (1 of days that ended less than 48 hours ago, "), "{message}");
    assert!(message.ends_with(" by --keep)"), "{message}");
    // All whole days that ended more than 48 hours ago move, whatever there is beside them.
    let now = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap().as_millis() as u64;
    let day = 24 * 3_600_000;
    let ended = now / day * day - 2 * day - 1;
    let edge =
        [ended, ended + 1].map(|time| home.add(&["--time", &jiff_time(time), "--prev", "head"], "edge"));
    let ran = home.lepo(&["tidy", "--keep", "0"]);
    assert!(ran.err.contains("81 messages moved into "), "{}", ran.err);
    assert!(ran.err.ends_with("; 2 stay (2 of days that ended less than 48 hours ago)\n"), "{}", ran.err);
    for (id, moved) in edge.iter().zip([true, false]) {
        assert_eq!(home.ok(&["resolve", "--path", id]).contains("_old"), moved, "{id}");
    }
    assert_eq!(recent(&home), 2);
}

#[test]
fn add_and_do_tidy_a_little_once_there_are_many() {
    let server = Server::start([openai_sse(["fine"]), openai_sse(["fine"])]);
    let home = Home::with_openai(&server.url());
    let config = home.read("config/config.toml");
    home.write("config/config.toml", format!("tidy = 100\n{config}"));
    fill(&home, 49);
    assert!(!home.work().join(".lepo/_old").exists());
    let ran = home.lepo(&["do", "and now?"]);
    assert_eq!((ran.code, ran.err.contains("_old")), (0, false), "{}", ran.err);
    home.add(&["--prev", "head"], "one more");
    assert_eq!(recent(&home), 98 + 2 + 1, "neither saw more than a hundred");
    let moved = home.lepo(&["do", "once more"]);
    assert_eq!(moved.code, 0, "{}", moved.err);
    assert!(moved.err.contains("move into .lepo/_old; `grep -r PATTERN .lepo` finds them"), "{}", moved.err);
    assert!(recent(&home) <= 60, "{}", recent(&home));
    home.ok(&["fsck"]);
    // Off, nothing moves.
    let home = Home::with_config("tidy = false\n");
    fill(&home, 60);
    home.add(&[], "more");
    assert_eq!(recent(&home), 121);
}

#[test]
fn a_store_that_cannot_be_written_is_read_and_a_tidying_says_so() {
    let home = Home::new();
    fill(&home, 5);
    home.ok(&["tidy", "--keep", "0"]);
    let whole = home.ok(&["ls"]);
    // A file where a folder should be: it is no folder, and nothing in it counts.
    home.write("work/.lepo/_old/2025-11", "no folder");
    assert_eq!(home.ok(&["ls"]), whole);
    let ran = home.lepo(&["fsck"]);
    assert!(ran.out.starts_with("foreign _old/2025-11"), "{}", ran.out);
    std::fs::remove_file(home.work().join(".lepo/_old/2025-11")).unwrap();
    std::fs::rename(home.work().join(".lepo/_old"), home.work().join("aside")).unwrap();
    home.write("work/.lepo/_old", "no folder");
    home.add(&["--time", "2025-11-13T12:00Z", "--prev", "head"], "long ago");
    let ran = home.lepo(&["tidy", "--keep", "0"]);
    assert_eq!(ran.code, 5, "{}", ran.err);
    assert!(ran.err.contains("_old is not a directory"), "{}", ran.err);
    assert_eq!(home.ok(&["show"]).lines().nth(1), Some("long ago"));
}

#[test]
fn a_commited_store_reads_the_same_after_a_checkout() {
    let home = Home::new();
    let ids = fill(&home, 30);
    let git = |args: &str| {
        let done = home.shell(&format!("git -c user.name=n -c user.email=e {args}")).output().unwrap();
        assert!(done.status.success(), "{args}: {}", String::from_utf8_lossy(&done.stderr));
    };
    let whole = home.ok(&["ls"]);
    home.write("work/.lepo/.gitignore", "_tmp/\n");
    git("init -q .");
    git("add -A");
    git("commit -q -m flat");
    home.ok(&["tidy", "--keep", "0"]);
    git("add -A");
    git("commit -q -m folders");
    assert_eq!(home.ok(&["ls"]), whole);
    git("checkout -q HEAD~1");
    assert_eq!((home.ok(&["ls"]), recent(&home)), (whole.clone(), 60));
    git("checkout -q -");
    assert_eq!((home.ok(&["ls"]), recent(&home)), (whole.clone(), 0));
    // A merge that leaves both is one store.
    git("checkout -q HEAD~1 -- .lepo");
    assert_eq!(home.ok(&["ls"]), whole);
    home.ok(&["fsck"]);
    home.ok(&["tidy", "--keep", "0"]);
    assert_eq!((home.ok(&["ls"]), recent(&home)), (whole, 0));
    assert!(Path::new(&home.work().join(home.ok(&["resolve", "--path", &ids[9]]).trim())).is_file());
}

/// A store of so many old messages, written by hand.
fn old_messages(home: &Home, count: usize) {
    home.ok(&["init"]);
    for number in 0..count {
        home.write(&format!("work/.lepo/01JB{number:022}-u0-head.md"), "an old message");
    }
}

#[test]
fn two_tidyings_at_once_call_nothing_different() {
    let home = Home::new();
    old_messages(&home, 1500);
    let tidy = || home.command(&["tidy", "--keep", "0"]).stderr(Stdio::piped()).spawn().unwrap();
    let both = [tidy(), tidy()].map(|tidying| tidying.wait_with_output().unwrap());
    for ran in both {
        let text = String::from_utf8(ran.stderr).unwrap();
        assert!(ran.status.success() && !text.contains("different bytes"), "{text}");
    }
    assert_eq!(recent(&home), 0);
}

#[test]
fn a_name_in_lower_case_stays_and_is_not_counted() {
    let home = Home::new();
    home.ok(&["init"]);
    home.write("work/.lepo/01jb0000000000000000000000-u0-head.md", "written by hand");
    for args in [&["tidy", "-n", "--keep", "0"][..], &["tidy", "--keep", "0"]] {
        let ran = home.lepo(args);
        assert!(ran.code == 0 && ran.err.starts_with("0 messages "), "{args:?}: {}", ran.err);
    }
    assert_eq!(recent(&home), 1);
}

#[test]
fn what_cannot_be_read_is_named_by_its_own_path() {
    // Root reads everything.
    let Some(user) = users().last().copied().filter(|user| user.is_some() || !is_root()) else { return };
    let home = Home::new();
    home.write("work/.lepo/_old/2023-11/14/01HF7YAT000000000000000000-u0-head.md", "an old message");
    home.write("work/.lepo/_insts.toml", "");
    if let Some(user) = user {
        let chowned = Command::new("chown").args(["-R", &user.to_string()]).arg(home.path()).status();
        assert!(chowned.unwrap().success());
    }
    let lepo = |args: &[&str]| {
        let command = home.command(args);
        let ran = run(user.map_or_else(|| home.command(args), |user| as_user(command, user)), b"");
        (ran.code, format!("{}{}", ran.out, ran.err))
    };
    let set = |path: &str, mode: u32| {
        std::fs::set_permissions(home.work().join(path), std::fs::Permissions::from_mode(mode)).unwrap();
    };
    let (folder, file) =
        (".lepo/_old/2023-11/14", ".lepo/_old/2023-11/14/01HF7YAT000000000000000000-u0-head.md");
    set(file, 0o000);
    let (code, said) = lepo(&["show", "01HF7YAT000000000000000000"]);
    assert!(code == 5 && said.contains(&format!("cannot read {file}")), "{code} {said}");
    let (_, said) = lepo(&["ls"]);
    assert_eq!(
        said.matches("cannot read").count(),
        said.lines().filter(|it| it.contains("cannot read")).count()
    );
    set(file, 0o600);
    set(folder, 0o000);
    let (code, said) = lepo(&["ls"]);
    assert!(code == 5 && said.contains("_old/2023-11/14: "), "{code} {said}");
    let (code, said) = lepo(&["fsck"]);
    assert!(code == 1 && said.contains("unreadable _old/2023-11/14: "), "{code} {said}");
    set(folder, 0o700);
}

#[test]
fn a_misplaced_file_with_the_name_of_another_is_a_duplicate() {
    let home = Home::new();
    home.ok(&["init"]);
    let name = "01JB3Z0Q4N8V2K5T7W9X1Y3Z5A-u0-head.md";
    home.write(&format!("work/.lepo/{name}"), "one");
    home.ok(&["tidy", "--keep", "0"]);
    let day = home.shell(&format!("find .lepo/_old -name {name}")).output().unwrap().stdout;
    let day = String::from_utf8(day).unwrap();
    let counts = home.read(&format!("work/{}", day.trim()));
    for (text, what) in [("other bytes", "duplicate"), (counts.as_str(), "misplaced")] {
        home.write(&format!("work/.lepo/_old/{name}"), text);
        let found = home.lepo(&["fsck"]).out;
        assert!(found.contains(&format!("{what} _old/{name}: ")), "{found}");
        let ran = home.lepo(&["tidy"]);
        assert_eq!(ran.err.contains("lepo fsck"), what == "duplicate", "{}{}", ran.out, ran.err);
    }
}
