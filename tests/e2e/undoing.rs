//! `undo`: what changed a store is taken back, and made again.

use std::fs;

use crate::home::{Home, run};
use crate::pty::on_terminal;
use crate::secrets::github_token;

/// A question with its answer; their ids.
fn pair(home: &Home, question: &str) -> [String; 2] {
    let asked = home.add(&["--prev", "head"], question);
    let answered = home.add(&["--kind", "a", "--prev", &asked], &format!("answer to {question}"));
    [asked, answered]
}

fn list(home: &Home) -> Vec<String> {
    home.ok(&["undo", "--list"]).lines().map(str::to_string).collect()
}

#[test]
fn the_wrong_conversation_deleted_three_times_comes_back_with_its_branch() {
    let home = Home::new();
    let ids: Vec<[String; 2]> = ["one", "two", "three", "four"].map(|text| pair(&home, text)).into();
    home.ok(&["branch", "keep", &ids[0][1]]);
    home.ok(&["title", "--", "numbers"]);
    let before = (home.bubbs(), home.ok(&["branch"]));
    // A branch protects the messages that it names.
    assert_eq!(home.lepo(&["rm", "-y", &ids[0][1]]).code, 1);
    home.ok(&["branch", "-d", "keep"]);
    for [_, tail] in &ids[..3] {
        let ran = home.lepo(&["rm", "-y", tail]);
        assert_eq!((ran.code, ran.err.as_str()), (0, "`lepo undo` brings it back for 30 days\n"));
        assert_eq!(ran.out.lines().count(), 2);
    }
    assert_eq!(home.bubbs().len(), 2);
    let listed = list(&home);
    assert_eq!(listed.len(), 6);
    let not_listed = home.lepo(&["undo", "--list"]).err;
    for word in ["`do`", "rm --redact", "--watch", "tidy", "settings, models, prompts, files edited by hand"]
    {
        assert!(not_listed.contains(word), "{not_listed}");
    }
    assert!(listed[0].ends_with(" rm 2 messages of `three`"), "{}", listed[0]);
    assert!(listed[3].contains(&format!(" branch keep deleted at {}", ids[0][1])), "{}", listed[3]);
    assert!(listed[4].ends_with(" title `numbers`"), "{}", listed[4]);
    for (number, command) in
        [(6, "rm: 2 messages of `three`"), (5, "rm: 2 messages of `two`"), (4, "rm: 2 messages of `one`")]
    {
        assert_eq!(home.lepo(&["undo"]).err, format!("undone: {number} {command}\n"));
    }
    home.ok(&["undo"]);
    assert_eq!((home.bubbs(), home.ok(&["branch"])), before);
    assert!(home.ok(&["fsck"]).is_empty());
    assert!(list(&home)[..4].iter().all(|line| line.ends_with(" (undone)")));
    // And again, in the order in which they were made.
    for _ in 0..4 {
        home.ok(&["undo", "--redo"]);
    }
    assert_eq!(home.bubbs().len(), 2);
    assert_eq!(home.ok(&["branch"]), "");
    assert_eq!(home.lepo(&["undo", "--redo"]).code, 1);
}

#[test]
fn a_number_that_is_not_there_or_taken_back_is_exit_1() {
    let home = Home::new();
    let [_, tail] = pair(&home, "one");
    assert_eq!(home.lepo(&["undo"]).code, 1);
    assert_eq!(home.ok(&["undo", "--list"]), "");
    home.ok(&["branch", "main", &tail]);
    for (args, error) in [
        (&["undo", "7"][..], "no change 7"),
        (&["undo", "--redo"], "nothing to redo"),
        (&["undo", "--redo", "1"], "change 1 is not undone"),
        (&["undo", "--redo", "7"], "no change 7"),
    ] {
        let ran = home.lepo(args);
        assert_eq!((ran.code, ran.err.contains(error)), (1, true), "{args:?} {}", ran.err);
    }
    home.ok(&["undo", "1"]);
    let ran = home.lepo(&["undo", "1"]);
    assert_eq!((ran.code, ran.err.contains("change 1 is undone already")), (1, true), "{}", ran.err);
    assert!(home.lepo(&["undo"]).err.contains("nothing to undo"));
    for wrong in [&["undo", "x"][..], &["undo", "--list", "1"], &["undo", "--json"], &["undo", "-n", "1"]] {
        assert_eq!(home.lepo(wrong).code, 2, "{wrong:?}");
    }
    let listed = home.ok(&["undo", "--list", "--json"]);
    assert!(listed.contains(r#""taken_back":true"#) && listed.contains(r#""command":"branch""#), "{listed}");
    assert_eq!(home.ok(&["undo", "--list", "-n", "0"]), "");
}

#[test]
fn who_undoes_a_question_gets_the_way_back() {
    let hint = |home: &Home| {
        let ran = home.lepo(&["undo"]);
        assert_eq!(ran.code, 1, "{}", ran.err);
        ran.err.lines().find_map(|line| line.strip_prefix("hint: ")).unwrap_or_default().to_string()
    };
    let home = Home::new();
    home.ok(&["init"]);
    assert_eq!(hint(&home), "");
    let [_, first] = pair(&home, "one");
    assert_eq!(hint(&home), "a question is not a change; to begin again: lepo -n QUESTION");
    let asked = home.add(&[], "two");
    let again = "a question is not a change; to ask another in place of the last one: lepo --tail";
    assert_eq!(hint(&home), format!("{again} @~1 QUESTION"));
    let second = home.add(&["--kind", "a", "--prev", &asked], "answer to two");
    assert_eq!(hint(&home), format!("{again} @~2 QUESTION"));
    // A question moves its branch.
    home.ok(&["branch", "main", &first]);
    fs::write(home.work().join(".lepo/_branches/main"), format!("{second}\n")).unwrap();
    let back = "`lepo branch -f main main~2` leaves out its last question";
    assert_eq!(hint(&home), format!("{back}; --force deletes it anyway"));
    home.ok(&["branch", "-f", "main", "main~2"]);
    assert_eq!(home.read("work/.lepo/_branches/main"), format!("{first}\n"));
}

#[test]
fn what_changed_since_is_refused_and_named() {
    let home = Home::new();
    let [asked, tail] = pair(&home, "one");
    home.ok(&["branch", "main", &asked]);
    home.ok(&["branch", "-f", "main", &tail]);
    // A turn moves the branch, which is no change of the list.
    fs::write(home.work().join(".lepo/_branches/main"), format!("{asked}\n")).unwrap();
    let ran = home.lepo(&["undo", "1"]);
    assert_eq!(ran.code, 0, "the first change left it so: {}", ran.err);
    fs::write(home.work().join(".lepo/_branches/main"), format!("{asked}\n")).unwrap();
    let ran = home.lepo(&["undo", "2"]);
    assert_eq!(ran.code, 1);
    assert!(
        ran.err.contains("main was changed since") && ran.err.contains(&asked) && ran.err.contains(&tail),
        "{}",
        ran.err
    );
    assert!(ran.err.contains("hint: --force "), "{}", ran.err);
    assert!(ran.err.contains(" anyway"), "{}", ran.err);
    home.ok(&["undo", "--force", "2"]);
    assert_eq!(home.read("work/.lepo/_branches/main"), format!("{asked}\n"));
    // A title that was set by another clone.
    home.ok(&["title", "one"]);
    let titles = home.read("work/.lepo/_titles");
    home.write("work/.lepo/_titles", format!("{titles}{}", titles.replace(" one", " two")));
    let ran = home.lepo(&["undo"]);
    assert_eq!(
        (ran.code, ran.err.contains("the title was changed since: two, not one")),
        (1, true),
        "{}",
        ran.err
    );
    home.ok(&["undo", "--force"]);
    assert_eq!(home.lepo(&["title"]).code, 1);
    // A redo would cut off the message that now follows.
    home.ok(&["branch", "-d", "main"]);
    home.ok(&["rm", "-y", &tail]);
    home.ok(&["undo"]);
    home.add(&["--prev", &tail], "more");
    let ran = home.lepo(&["undo", "--redo"]);
    assert_eq!((ran.code, ran.err.contains(&format!("something follows {tail}"))), (1, true), "{}", ran.err);
    assert_eq!(home.bubbs().len(), 3);
}

#[test]
fn an_older_removal_needs_what_a_later_one_removed() {
    let home = Home::new();
    let asked = home.add(&[], "why?");
    let [one, two] = ["because", "therefore"].map(|text| home.add(&["--kind", "a", "--prev", &asked], text));
    home.ok(&["rm", "-y", &one]);
    home.ok(&["rm", "-y", &two]);
    let ran = home.lepo(&["undo", "1"]);
    assert_eq!(ran.code, 1);
    assert!(
        ran.err.contains(&format!("change 2 removed {asked}")) && ran.err.contains("lepo undo 2"),
        "{}",
        ran.err
    );
    home.ok(&["undo", "2"]);
    home.ok(&["undo", "1"]);
    assert_eq!(home.bubbs().len(), 3);
    assert!(home.ok(&["fsck"]).is_empty());
}

#[test]
fn a_rebase_is_taken_back_except_what_something_follows() {
    let home = Home::new();
    let [_, tail] = pair(&home, "one");
    let before = home.bubbs();
    let copy = home.ok(&["rebase", "--system", "be brief", "--branch", "copy", &tail]);
    assert_eq!((home.bubbs().len(), home.ok(&["branch"]).lines().count()), (5, 1));
    home.ok(&["undo"]);
    assert_eq!((home.bubbs(), home.ok(&["branch"])), (before.clone(), String::new()));
    home.ok(&["undo", "--redo"]);
    assert_eq!(home.ok(&["resolve", "copy"]), copy);
    // Continued: the copies stay, and the branch goes.
    home.add(&["--prev", copy.trim()], "more");
    let ran = home.lepo(&["undo"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.err.contains("3 messages stay"), "{}", ran.err);
    assert_eq!((home.bubbs().len(), home.ok(&["branch"])), (6, String::new()));
    // A rebase that changes nothing leaves no line.
    let count = list(&home).len();
    home.ok(&["rebase", "--system", "be brief", &tail]);
    assert_eq!(list(&home).len(), count);
}

#[test]
fn an_import_is_taken_back_except_what_something_follows() {
    let home = Home::new();
    let sample = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/interop/chatgpt-conversations-000.json");
    home.add(&[], "mine");
    let before = (home.bubbs(), home.ok(&["ls"]));
    home.ok(&["import", "--branches", sample]);
    let (all, branches) = (home.ok(&["log", "--all", "-a"]), home.ok(&["branch"]));
    assert!(!branches.is_empty());
    let listed = list(&home);
    assert!(listed[0].contains(" import ") && listed[0].contains(" messages added"), "{}", listed[0]);
    assert_eq!(listed.len(), 1, "messages and branches are one change");
    // Nothing new leaves no line.
    home.ok(&["import", sample]);
    assert_eq!(list(&home).len(), 1);
    home.ok(&["undo"]);
    assert_eq!((home.bubbs(), home.ok(&["ls"]), home.ok(&["branch"])), (before.0, before.1, String::new()));
    assert!(!home.work().join(".lepo/_blobs").read_dir().is_ok_and(|mut blobs| blobs.next().is_some()));
    home.ok(&["undo", "--redo"]);
    assert_eq!((home.ok(&["log", "--all", "-a"]), home.ok(&["branch"])), (all.clone(), branches));
    assert!(home.ok(&["fsck"]).is_empty());
    // A conversation that was continued stays, with its ancestors.
    let tail = home
        .ok(&["ls"])
        .lines()
        .find(|line| !line.contains("mine"))
        .unwrap()
        .split(' ')
        .next()
        .unwrap()
        .to_string();
    home.add(&["--prev", &tail], "more");
    let ran = home.lepo(&["undo"]);
    assert!(ran.err.contains("stay, because something follows or a branch names them"), "{}", ran.err);
    assert!(home.ok(&["log", "--all"]).contains(&tail) && home.ok(&["fsck"]).is_empty());
    // An import by hand brings the rest again, and what was removed by hand.
    home.ok(&["import", sample]);
    assert_eq!(home.ok(&["log", "--all", "-a"]).lines().count(), all.lines().count() + 1);
}

#[test]
fn no_reader_of_messages_looks_into_what_was_removed_but_the_finder_of_secrets_does() {
    let home = Home::with_config("secrets = \"off\"\n");
    let token = github_token(1);
    home.add(&[], &format!("the key is {token}"));
    home.add(&["--prev", "head"], "other");
    let tail = home.ok(&["ls"]).lines().last().unwrap().split(' ').next().unwrap().to_string();
    home.ok(&["tidy", "--keep", "0"]);
    home.ok(&["rm", "-y", &tail]);
    let found = |args: &[&str]| home.lepo(args).out.contains("the key is");
    for args in
        [&["ls"][..], &["log", "--all"], &["grep", "key"], &["export", "--all", "--format", "openwebui"]]
    {
        assert!(!found(args), "{args:?}");
    }
    assert_eq!(home.lepo(&["show", &tail]).code, 2);
    assert!(home.ok(&["fsck"]).is_empty());
    let ran = home.lepo(&["fsck", "--secrets"]);
    assert_eq!(ran.code, 1);
    assert!(ran.out.contains("_removed/") && ran.out.contains("github-token"), "{}", ran.out);
    // A mask reaches it there, and the titles in the list; an undo brings the masked copy.
    home.ok(&["title", "--", &format!("title {token}")]);
    home.ok(&["title", "--", "other"]);
    let ran = home.lepo(&["rm", "-y", "--redact", "--all"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_eq!(home.ok(&["fsck", "--secrets"]), "");
    assert!(!home.read("work/.lepo/_undo.ndjson").contains(&token));
    for shown in ["other", "title [secret: github-token", ""] {
        assert!(home.lepo(&["title"]).out.starts_with(shown), "{shown}");
        home.ok(&["undo"]);
    }
    let text = home.ok(&["show", &tail]);
    assert!(text.contains("the key is [secret: github-token"), "{text}");
}

#[test]
fn a_redaction_gives_the_list_the_new_ids() {
    let home = Home::with_config("secrets = \"off\"\n");
    let asked = home.add(&[], &format!("the key is {}", github_token(1)));
    home.ok(&["title", "one"]);
    home.ok(&["branch", "main"]);
    home.ok(&["branch", "-d", "main"]);
    home.ok(&["rm", "-y", "--redact", &asked]);
    home.ok(&["undo"]);
    let copy = home.ok(&["resolve", "@"]);
    assert_ne!(copy.trim(), asked);
    assert_eq!(home.ok(&["resolve", "main"]), copy);
    home.ok(&["undo"]);
    home.ok(&["undo"]);
    assert_eq!((home.ok(&["branch"]), home.lepo(&["title"]).code), (String::new(), 1));
}

#[test]
fn removed_at_once_or_emptied_nothing_comes_back_and_the_titles_go_too() {
    let home = Home::new();
    let titled = |text: &str| {
        let [_, tail] = pair(&home, text);
        home.ok(&["title", &tail, "--", &format!("title {text}")]);
        tail
    };
    let [now, later, kept] = ["now", "later", "kept"].map(titled);
    let ran = home.lepo(&["rm", "-y", "--now", &now]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    assert!(!home.work().join(".lepo/_removed").read_dir().unwrap().any(|_| true));
    home.ok(&["rm", "-y", &later]);
    let folder = home.ok(&["rm", "-n", "--empty"]);
    assert!(folder.starts_with(".lepo/_removed/") && folder.ends_with(" 2 files\n"), "{folder}");
    assert_eq!(run(home.detached(&["rm", "--empty"]), b"y\n").code, 2);
    for (answer, code) in [("n\n", 1), ("y\n", 0)] {
        let ran = on_terminal(home.command(&["rm", "--empty"]), &[("(y/N): ", answer)]);
        assert_eq!(ran.code, code, "{}", ran.out);
        assert!(ran.out.contains("Delete 2 files"), "{}", ran.out);
    }
    assert_eq!(home.lepo(&["rm", "-n", "--empty"]).err, "nothing to delete\n");
    for file in ["work/.lepo/_titles", "work/.lepo/_undo.ndjson"] {
        let text = home.read(file);
        assert!(
            text.contains("title kept") && !text.contains("title now") && !text.contains("title later"),
            "{text}"
        );
    }
    let removed =
        list(&home).iter().find(|line| line.contains(" rm ")).unwrap().split(' ').next().unwrap().to_string();
    let ran = home.lepo(&["undo", &removed]);
    assert_eq!((ran.code, ran.err.contains("it was emptied")), (1, true), "{}", ran.err);
    // Plain undo passes over it.
    home.ok(&["undo"]);
    assert_eq!(home.lepo(&["title", &kept]).code, 1);
}

#[test]
fn the_setting_says_how_long_it_stays() {
    let home = Home::with_config("keep_removed = \"0d\"\n");
    let [_, tail] = pair(&home, "one");
    assert_eq!(home.lepo(&["rm", "-y", &tail]).err, "");
    assert!(!home.work().join(".lepo/_removed").exists());
    assert_eq!(home.lepo(&["undo"]).code, 1);
    home.write("config/config.toml", "keep_removed = \"2w\"\n");
    let [_, tail] = pair(&home, "two");
    assert_eq!(home.lepo(&["rm", "-y", &tail]).err, "`lepo undo` brings it back for 14 days\n");
    home.write("config/config.toml", "keep_removed = \"soon\"\n");
    let ran = home.lepo(&["config"]);
    assert_eq!((ran.code, ran.err.contains("keep_removed")), (2, true), "{}", ran.err);
    // Only the user's own file decides.
    home.write("config/config.toml", "");
    home.write("work/.lepo/_config.toml", "keep_removed = \"0d\"\n");
    let ran = run(home.detached(&["trust"]), b"y\n");
    assert_eq!(
        (ran.code, ran.err.contains("`keep_removed` is not allowed in a repository's file")),
        (2, true),
        "{}",
        ran.err
    );
}

#[test]
fn what_is_older_is_emptied_after_a_write_and_by_tidy() {
    for command in [&["add", "--prev", "head"][..], &["tidy"]] {
        let home = Home::with_config("keep_removed = \"1d\"\n");
        pair(&home, "one");
        home.ok(&["rm", "-y", "@"]);
        let removed = home.work().join(".lepo/_removed");
        let count = || removed.read_dir().unwrap().count();
        run(home.command(command), b"text");
        assert_eq!(count(), 1, "{command:?}: it is younger");
        home.write("config/config.toml", "keep_removed = \"0d\"\n");
        // One dated ahead stays, and one that lepo did not make.
        for other in ["99999999999999-1", "1-1", "other"] {
            fs::create_dir(removed.join(other)).unwrap();
            fs::write(removed.join(other).join("file"), "").unwrap();
        }
        run(home.command(command), b"text");
        assert_eq!(count(), 3, "{command:?}");
        let ran = home.lepo(&["undo", "--list"]);
        for other in ["99999999999999-1", "1-1", "other"] {
            assert!(
                ran.err.contains(&format!("_removed/{other} is not by lepo on this machine")),
                "{}",
                ran.err
            );
        }
    }
}

#[test]
fn a_list_that_a_repository_brought_does_nothing() {
    let (home, other) = (Home::new(), Home::new());
    let [_, tail] = pair(&home, "one");
    home.ok(&["branch", "main", &tail]);
    home.ok(&["branch", "-d", "main"]);
    home.ok(&["rm", "-y", "@"]);
    let store = other.work().join(".lepo");
    assert!(
        std::process::Command::new("cp")
            .arg("-r")
            .arg(home.work().join(".lepo"))
            .arg(&store)
            .status()
            .unwrap()
            .success()
    );
    pair(&other, "two");
    let ran = other.lepo(&["undo"]);
    assert_eq!(
        (ran.code, ran.err.contains("3 lines of _undo.ndjson not by lepo on this machine")),
        (1, true),
        "{}",
        ran.err
    );
    assert_eq!((other.bubbs().len(), other.ok(&["branch"])), (2, String::new()));
    other.ok(&["rm", "-y", "--empty"]);
    assert_eq!(store.join("_removed").read_dir().unwrap().count(), 1, "it is left alone");
}

#[test]
fn a_moved_project_takes_its_changes_back() {
    let home = Home::new();
    fs::create_dir(home.work().join("one")).unwrap();
    home.add(&["-c", "one"], "text");
    home.ok(&["-c", "one", "rm", "-y", "@"]);
    fs::rename(home.work().join("one"), home.work().join("two")).unwrap();
    home.ok(&["-c", "two", "undo"]);
    assert_eq!(home.ok(&["-c", "two", "ls"]).lines().count(), 1);
}

#[test]
fn git_ignores_both_in_a_store_from_before_them() {
    let home = Home::new();
    let [_, tail] = pair(&home, "one");
    let ignores = home.work().join(".lepo/.gitignore");
    let text = fs::read_to_string(&ignores).unwrap();
    assert!(text.contains("/_removed/\n/_undo.ndjson\n"), "{text}");
    fs::write(&ignores, "/_tmp/\n").unwrap();
    home.ok(&["branch", "main", &tail]);
    assert_eq!(fs::read_to_string(&ignores).unwrap(), "/_tmp/\n/_removed/\n/_undo.ndjson\n");
    // Once the user took them out, they stay away.
    fs::write(&ignores, "/_tmp/\n").unwrap();
    home.ok(&["branch", "-d", "main"]);
    assert_eq!(fs::read_to_string(&ignores).unwrap(), "/_tmp/\n");
}

#[test]
fn a_session_makes_changes_that_are_taken_back() {
    let home = Home::with_openai("http://127.0.0.1:9/v1");
    let [_, tail] = pair(&home, "one");
    let ran = on_terminal(
        home.command(&["--tail", &tail]),
        &[("> ", "/branch idea\n"), ("branch idea", "/title numbers\n"), ("title: numbers", "/exit\n")],
    );
    assert_eq!(ran.code, 0, "{}", ran.out);
    let listed = list(&home);
    assert_eq!(listed.len(), 2, "{listed:?}");
    home.ok(&["undo"]);
    home.ok(&["undo"]);
    assert_eq!((home.ok(&["branch"]), home.lepo(&["title"]).code), (String::new(), 1));
}
