//! Linked git worktrees: they share the store of the main worktree, each with a conversation of its own.

use std::path::{Path, PathBuf};

use serde_json::json;

use crate::bots::Bot;
use crate::disk::forest;
use crate::home::{Home, Ran, run};
use crate::pty::on_terminal;
use crate::screen::Screen;

const OFF: &str = "planner = \"off\"\n";

/// git in a folder of a home, whose user has a name.
fn git(home: &Home, dir: &Path, args: &[&str]) {
    let named = ["-c", "user.name=x", "-c", "user.email=x@x", "-c", "init.defaultBranch=main"];
    let mut git = home.program("git", &[&named[..], args].concat());
    let ran = git.current_dir(dir).output().unwrap();
    assert!(ran.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&ran.stderr));
}

/// `work` as a repository with a commit, and a worktree `linked` beside it.
pub fn with_worktree(home: &Home) -> PathBuf {
    git(home, &home.work(), &["init", "--quiet"]);
    git(home, &home.work(), &["commit", "--quiet", "--allow-empty", "-m", "one"]);
    let linked = home.path().join("linked");
    git(home, &home.work(), &["worktree", "add", "--quiet", "-b", "topic", linked.to_str().unwrap()]);
    linked
}

/// lepo in a folder.
fn lepo_in(home: &Home, dir: &Path, args: &[&str]) -> Ran {
    let mut command = home.command(args);
    command.current_dir(dir);
    run(command, b"")
}

#[test]
fn a_linked_worktree_uses_the_store_of_the_main_one_and_goes_on_with_its_own_conversation() {
    let bot = Bot::saying(OFF, &["one", "two", "three", "four", "five", "six", "seven"]);
    let home = &bot.home;
    home.write("config/system_prompt.txt", "PROMPT");
    let linked = &with_worktree(home);
    std::fs::create_dir_all(linked.join("deep/er")).unwrap();
    assert_eq!(home.lepo(&["do", "main asks"]).code, 0);
    // It is said once, and a conversation begins.
    let ran = lepo_in(home, linked, &["do", "linked asks"]);
    let (uses, begins) =
        ("note: uses .lepo of ~/work, the main worktree\n", "begins a conversation of its own");
    assert_eq!(ran.out, "two\n");
    assert!(ran.err.contains(uses) && ran.err.contains(begins), "{}", ran.err);
    assert_eq!(forest(home), "A s1 head / B u0 A / C a0 B / D s1 head / E u0 D / F a0 E");
    // The main one asks meanwhile; the worktree goes on with its own, from any folder of it.
    assert_eq!(home.lepo(&["do", "--tail", "@~0", "main asks again"]).out, "three\n");
    assert_eq!(home.lepo(&["do", "-n", "elsewhere"]).out, "four\n");
    let newest = home.ok(&["resolve", "@"]);
    let ran = lepo_in(home, &linked.join("deep/er"), &["do", "linked asks again"]);
    assert_eq!((ran.out.as_str(), ran.err.as_str()), ("five\n", ""));
    let line = lepo_in(home, linked, &["show", "@"]).out;
    assert!(line.contains("linked asks\n") && line.contains("linked asks again\n"), "{line}");
    // A named message wins; `@` is of each worktree.
    let ran = lepo_in(home, linked, &["do", "--tail", newest.trim(), "on with that"]);
    assert_eq!(ran.out, "six\n");
    assert!(lepo_in(home, linked, &["show", "@"]).out.contains("elsewhere"));
    assert_eq!(home.ok(&["resolve", "@"]), newest);
    // What was last used there is gone on with.
    assert_eq!(lepo_in(home, linked, &["do", "and on"]).out, "seven\n");
    assert!(lepo_in(home, linked, &["show", "@"]).out.contains("on with that"));
    assert!(!linked.join(".lepo").exists());
    assert_eq!(lepo_in(home, linked, &["root"]).out, format!("{}\n", home.work().join(".lepo").display()));
    // The worktree's removal, which deletes what git ignores, leaves the conversations.
    git(home, &home.work(), &["worktree", "remove", linked.to_str().unwrap()]);
    assert!(home.ok(&["show", "@"]).contains("and on"));
}

#[test]
fn a_summary_in_a_worktree_is_its_own() {
    let bot = Bot::saying(OFF, &["one", "two", "three", "SUMMARY", "five", "six"]);
    let home = &bot.home;
    home.write("config/system_prompt.txt", "PROMPT");
    let linked = &with_worktree(home);
    assert_eq!(home.lepo(&["do", "main asks"]).code, 0);
    let main = home.ok(&["resolve", "@"]);
    for question in ["linked asks", "linked asks again"] {
        assert_eq!(lepo_in(home, linked, &["do", question]).code, 0);
    }
    let ran = lepo_in(home, linked, &["do", "--compact", "--keep", "1"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_eq!(lepo_in(home, linked, &["resolve", "@"]).out, ran.out);
    assert_eq!(home.ok(&["resolve", "@"]), main);
    assert_eq!(lepo_in(home, linked, &["do", "after it"]).out, "five\n");
    assert!(bot.bodies()[4]["messages"].to_string().contains("SUMMARY"));
    assert_eq!(home.lepo(&["do", "main asks again"]).out, "six\n");
    assert!(home.ok(&["show", "@"]).starts_with(&home.ok(&["show", main.trim()])));
}

#[test]
fn the_output_of_ones_own_command_in_a_worktree_is_its_own() {
    let bot = Bot::saying(OFF, &["one", "two", "three"]);
    let home = &bot.home;
    let linked = &with_worktree(home);
    assert_eq!(home.lepo(&["do", "main asks"]).code, 0);
    let main = home.ok(&["resolve", "@"]);
    assert_eq!(lepo_in(home, linked, &["do", "linked asks"]).code, 0);
    let mut session = home.command(&[]);
    session.current_dir(linked);
    let ran = on_terminal(session, &[("> ", "!echo own\n"), ("> ", "/exit\n")]);
    assert!(ran.out.contains("own"), "{}", ran.out);
    assert_eq!(home.ok(&["resolve", "@"]), main);
    assert_eq!(lepo_in(home, linked, &["do", "and then?"]).out, "three\n");
    assert!(bot.bodies()[2]["messages"].to_string().contains("echo own"));
}

#[test]
fn the_main_worktree_continues_its_own_conversation_too() {
    let bot = Bot::saying(OFF, &["1", "2", "3", "4", "5", "6", "7", "8", "9"]);
    let home = &bot.home;
    home.write("config/system_prompt.txt", "PROMPT");
    let linked = &with_worktree(home);
    let [a_to_c, d_to_f] = ["A s1 head / B u0 A / C a0 B", "D s1 head / E u0 D / F a0 E"];
    // With conversations of a linked one only, it begins its own.
    assert_eq!(lepo_in(home, linked, &["do", "linked asks"]).code, 0);
    let newest = lepo_in(home, linked, &["resolve", "@"]).out;
    let ran = home.lepo(&["do", "main asks"]);
    let note = format!(
        "note: this worktree begins a conversation of its own; --tail {} continues the newest\n",
        newest.trim()
    );
    assert!(ran.code == 0 && ran.err.contains(&note), "{}", ran.err);
    assert_eq!(forest(home), format!("{a_to_c} / {d_to_f}"));
    // Each continues its own.
    assert_eq!(lepo_in(home, linked, &["do", "linked asks again"]).code, 0);
    let ran = home.lepo(&["do", "main asks again"]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    assert_eq!(forest(home), format!("{a_to_c} / {d_to_f} / G u0 C / H a0 G / I u0 F / J a0 I"));
    // What the linked one added to the main one's conversation is not the main one's.
    let main = home.ok(&["resolve", "@"]);
    assert_eq!(lepo_in(home, linked, &["do", "--tail", main.trim(), "on with main's"]).code, 0);
    assert_eq!(home.lepo(&["do", "main forks"]).err, "");
    assert!(forest(home).ends_with("J a0 I / K u0 J / L a0 K / M u0 J / N a0 M"), "{}", forest(home));
    assert_eq!(lepo_in(home, linked, &["do", "and on"]).code, 0);
    assert!(forest(home).ends_with("O u0 L / P a0 O"), "{}", forest(home));
    // Messages that no question made count as ever.
    home.add(&["--prev", "head"], "by a script");
    assert_eq!(lepo_in(home, linked, &["do", "and again"]).code, 0);
    assert_eq!(home.lepo(&["do", "about the script"]).code, 0);
    assert!(home.ok(&["show", "@"]).contains("by a script"), "{}", forest(home));
}

#[test]
fn the_main_worktree_continues_what_a_removed_worktree_left_and_what_it_is_told_to() {
    let bot = Bot::saying(OFF, &["1", "2", "3", "4", "5", "6"]);
    let home = &bot.home;
    home.write("config/system_prompt.txt", "PROMPT");
    let linked = &with_worktree(home);
    assert_eq!(lepo_in(home, linked, &["do", "linked asks"]).code, 0);
    assert_eq!(home.lepo(&["do", "--continue", "main asks"]).err, "");
    assert_eq!(forest(home), "A s1 head / B u0 A / C a0 B / D u0 C / E a0 D");
    assert_eq!(lepo_in(home, linked, &["do", "-n", "linked asks anew"]).code, 0);
    git(home, &home.work(), &["worktree", "remove", linked.to_str().unwrap()]);
    let ran = home.lepo(&["do", "on"]);
    let note =
        "note: this continues the conversation of ~/linked, a worktree that was removed; -n begins another\n";
    assert_eq!((ran.out.as_str(), ran.err.as_str()), ("4\n", note));
    assert!(home.ok(&["show", "@"]).contains("linked asks anew"), "{}", forest(home));
    // After that it is the main one's, and a new worktree of the same name has none.
    assert_eq!(home.lepo(&["do", "and on"]).err, "");
    git(home, &home.work(), &["worktree", "add", "--quiet", linked.to_str().unwrap(), "topic"]);
    let ran = lepo_in(home, linked, &["do", "in the new one"]);
    assert!(ran.err.contains("this worktree begins a conversation of its own"), "{}", ran.err);
    assert!(!lepo_in(home, linked, &["show", "@"]).out.contains("linked asks"), "{}", forest(home));
}

#[test]
fn a_worktree_that_was_moved_has_its_conversation_still() {
    let bot = Bot::saying(OFF, &["1", "2", "3", "4", "5"]);
    let home = &bot.home;
    home.write("config/system_prompt.txt", "PROMPT");
    let linked = &with_worktree(home);
    assert_eq!(home.lepo(&["do", "main asks"]).code, 0);
    assert_eq!(lepo_in(home, linked, &["do", "linked asks"]).code, 0);
    let moved = home.path().join("moved");
    git(home, &home.work(), &["worktree", "move", linked.to_str().unwrap(), moved.to_str().unwrap()]);
    assert_eq!(home.lepo(&["do", "main again"]).err, "");
    assert!(home.ok(&["show", "@"]).contains("main asks"));
    assert_eq!(lepo_in(home, &moved, &["do", "moved asks"]).err, "");
    assert!(lepo_in(home, &moved, &["show", "@"]).out.contains("linked asks"));
    // The main one may move, too.
    let main = home.path().join("main");
    std::fs::rename(home.work(), &main).unwrap();
    git(home, &main, &["worktree", "repair", moved.to_str().unwrap()]);
    let ran = lepo_in(home, &main, &["do", "main from elsewhere"]);
    assert!(ran.code == 0 && !ran.err.contains("removed"), "{}", ran.err);
    assert!(lepo_in(home, &main, &["show", "@"]).out.contains("main asks"));
}

#[test]
fn a_rebase_that_copies_nothing_moves_no_conversation_to_another_worktree() {
    let bot = Bot::saying(OFF, &["1", "2"]);
    let home = &bot.home;
    assert_eq!(home.lepo(&["do", "main asks"]).code, 0);
    let linked = &with_worktree(home);
    let tail = home.ok(&["resolve", "@"]);
    let ran = lepo_in(home, linked, &["rebase", tail.trim(), "--root"]);
    assert!(ran.code == 0 && ran.err.contains("already here"), "{}", ran.err);
    assert_eq!(home.lepo(&["do", "main again"]).err, "");
    assert!(home.ok(&["show", "@"]).contains("main asks"));
    // Nor does it make a copy of `@`.
    let ran = home.lepo(&["rebase", "@", "--root"]);
    assert_eq!((ran.out, ran.err.as_str()), (home.ok(&["resolve", "@"]), "already here\n"));
}

#[test]
fn the_newest_message_of_a_worktree_is_listed_although_another_one_continued_it() {
    let bot = Bot::saying(OFF, &["one", "two", "three"]);
    let home = &bot.home;
    let linked = &with_worktree(home);
    assert_eq!(lepo_in(home, linked, &["do", "linked asks"]).code, 0);
    let own = lepo_in(home, linked, &["resolve", "@"]).out;
    assert_eq!(home.lepo(&["do", "--tail", own.trim(), "on in main"]).code, 0);
    assert_eq!(lepo_in(home, linked, &["resolve", "@"]).out, own);
    let end = &own.trim()[18..];
    let on_screen = |dir: &Path, args: &[&str]| {
        let mut command = home.command(args);
        command.current_dir(dir);
        on_terminal(command, &[]).out
    };
    for args in [&["ls"][..], &["ls", "-n", "2"], &["ls", "--grep", "linked asks"], &["ls", "-l"]] {
        assert!(on_screen(linked, args).contains(end), "{args:?} {}", on_screen(linked, args));
        assert!(!on_screen(&home.work(), args).contains(end), "{args:?}");
        assert!(!lepo_in(home, linked, args).out.contains(end), "a pipe has the tails alone: {args:?}");
    }
    let session = |args: &[&str]| {
        let mut lepo = home.command(args);
        lepo.current_dir(linked);
        Screen::of(&lepo, home, 100)
    };
    let Some(screen) = session(&["browse"]) else { return };
    screen.shows("on in main").keys(&["j"]).becomes("the own end", || screen.text().contains(end));
    screen.keys(&["q"]).ends(0);
    let Some(screen) = session(&[]) else { return };
    screen.prompts("> ").enters("/ls").becomes("the own row", || screen.text().contains(&format!("* {end}")));
    screen.enters("/exit").ends(0);
}

#[test]
fn the_newest_message_is_that_of_the_worktree_for_every_command() {
    let bot = Bot::saying(OFF, &["one", "two", "three", "four", "five"]);
    let home = &bot.home;
    home.write("config/system_prompt.txt", "PROMPT");
    let linked = &with_worktree(home);
    let other = home.path().join("other");
    git(home, &home.work(), &["worktree", "add", "--quiet", "-b", "other", other.to_str().unwrap()]);
    for (dir, question) in [(linked, "linked asks"), (&home.work(), "main asks"), (&other, "other asks")] {
        assert_eq!(lepo_in(home, dir, &["do", question]).code, 0);
    }
    for (dir, question) in [(linked, "linked asks"), (&home.work(), "main asks"), (&other, "other asks")] {
        for args in [&["show"][..], &["show", "@"], &["log", "@^..@"], &["export", "--format", "markdown"]] {
            let ran = lepo_in(home, dir, args);
            let is_own = args[0] == "log" || ran.out.contains(question);
            assert!(ran.code == 0 && ran.err.is_empty() && is_own, "{args:?} {} {}", ran.out, ran.err);
        }
        let id = lepo_in(home, dir, &["resolve", "@"]).out;
        let mut completes = home.command(&["--", "lepo", "show", ""]);
        completes.current_dir(dir).env("LEPO_COMPLETE", "fish");
        let offers = run(completes, b"").out;
        assert!(offers.lines().any(|line| line.starts_with("@\t") && line.contains(question)), "{offers}");
        assert_eq!(lepo_in(home, dir, &["branch", question.split(' ').next().unwrap()]).code, 0);
        assert_eq!(home.ok(&["resolve", question.split(' ').next().unwrap()]), id);
    }
    assert_eq!(home.lepo(&["branch", "-d", "main", "linked", "other"]).code, 0);
    // A copy is gone on with where it was made, and nowhere else.
    let copy = lepo_in(home, linked, &["rebase", "@", "--system", "Other.", "--redate"]);
    assert!(copy.err.contains("@ is now the copy"), "{}", copy.err);
    assert_eq!(lepo_in(home, linked, &["resolve", "@"]).out, copy.out);
    assert!(home.ok(&["show", "@"]).contains("main asks"));
    assert_eq!(home.lepo(&["do", "main again"]).err, "");
    assert!(home.ok(&["show", "@"]).contains("main asks"));
    // `rm @` removes the message of this worktree; then `@` is the one used before.
    let ran = lepo_in(home, linked, &["rm", "-y", "@"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let shown = lepo_in(home, linked, &["show", "-a", "@"]).out;
    assert!(shown.contains("linked asks") && !shown.contains("Other."), "{shown}");
    assert_eq!(lepo_in(home, linked, &["do", "linked again"]).err, "");
    assert!(lepo_in(home, linked, &["show", "@"]).out.contains("linked asks"));
}

#[test]
fn a_worktree_without_a_conversation_of_its_own_removes_none() {
    let bot = Bot::saying(OFF, &["one"]);
    let home = &bot.home;
    let linked = &with_worktree(home);
    assert_eq!(home.lepo(&["do", "main asks"]).code, 0);
    let ran = lepo_in(home, linked, &["show"]);
    let note = "note: nothing was asked in this worktree yet: @ is the newest of the store\n";
    assert!(ran.out.contains("main asks") && ran.err.ends_with(note), "{}", ran.err);
    home.write("linked/f.txt", "another text");
    for args in [
        &["rm", "-y", "@"][..],
        &["rm", "-y", "@~0"],
        &["rm", "-y", "-"],
        &["rm", "-y", "--redact", "@"],
        &["rm", "-y", "--redact", "-"],
        &["rm", "-y", "--redact", "--replace", "@=f.txt"],
    ] {
        let mut command = home.command(args);
        command.current_dir(linked);
        let ran = run(command, b"@\n");
        assert!(ran.code == 2 && ran.err.contains("@"), "{args:?} {}", ran.err);
        assert!(ran.err.contains("belongs to another one"), "{args:?} {}", ran.err);
    }
    assert!(home.ok(&["show"]).contains("main asks"));
}

#[test]
fn a_redaction_leaves_each_worktree_its_conversation() {
    let token = crate::secrets::github_token(1);
    let bot = Bot::saying(&format!("{OFF}secrets = \"off\"\n"), &["one", "two", "three", "four"]);
    let home = &bot.home;
    home.write("config/system_prompt.txt", "PROMPT");
    let linked = &with_worktree(home);
    let ask = |dir: &Path, text: &str| assert_eq!(lepo_in(home, dir, &["do", text]).code, 0);
    ask(linked, &format!("linked asks {token}"));
    ask(&home.work(), "main asks");
    // From the other worktree, all of it.
    let ran = home.lepo(&["rm", "-y", "--redact", "--all"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let shown = lepo_in(home, linked, &["show", "@"]);
    assert!(shown.out.contains("linked asks [secret: "), "{} {}", shown.out, shown.err);
    assert_eq!(lepo_in(home, linked, &["do", "linked again"]).err, "");
    assert!(lepo_in(home, linked, &["show", "@"]).out.contains("linked asks [secret: "));
    assert_eq!(home.lepo(&["do", "main again"]).err, "");
    assert!(home.ok(&["show", "@"]).contains("main asks"));
}

#[test]
fn a_question_that_failed_in_a_worktree_is_answered_again_there() {
    use crate::scripted::{Reply, openai_sse};
    let bot = Bot::openai(
        OFF,
        [
            openai_sse(["one"]),
            openai_sse(["two"]),
            Reply::new(401, "no"),
            openai_sse(["three"]),
            openai_sse(["four"]),
        ],
    );
    let home = &bot.home;
    home.write("config/system_prompt.txt", "PROMPT");
    let linked = &with_worktree(home);
    assert_eq!(lepo_in(home, linked, &["do", "first"]).code, 0);
    assert_eq!(home.lepo(&["do", "-n", "in main"]).code, 0);
    assert_eq!(lepo_in(home, linked, &["do", "fails"]).code, 3);
    let ran = lepo_in(home, linked, &["do", "--retry"]);
    assert_eq!(ran.out, "three\n", "{}", ran.err);
    assert_eq!(forest(home), "A s1 head / B u0 A / C a0 B / D s1 head / E u0 D / F a0 E / G u0 C / H a0 G");
    assert_eq!(lepo_in(home, linked, &["do", "next"]).out, "four\n");
    assert!(forest(home).ends_with("G u0 C / H a0 G / I u0 H / J a0 I"), "{}", forest(home));
}

#[test]
fn the_settings_and_variables_that_say_where_a_question_goes_win_in_a_worktree() {
    let bot = Bot::saying(&format!("{OFF}new = \"always\"\n"), &["one", "two", "three", "four"]);
    let home = &bot.home;
    home.write("config/system_prompt.txt", "PROMPT");
    let linked = &with_worktree(home);
    for answer in ["one\n", "two\n"] {
        assert_eq!(lepo_in(home, linked, &["do", "q"]).out, answer);
    }
    assert_eq!(forest(home), "A s1 head / B u0 A / C a0 B / D s1 head / E u0 D / F a0 E");
    assert_eq!(lepo_in(home, linked, &["do", "--continue", "q"]).out, "three\n");
    assert!(forest(home).ends_with("F a0 E / G u0 F / H a0 G"), "{}", forest(home));
    let first = home.bubbs()[2].get(..26).unwrap().to_string();
    let mut command = home.command(&["do", "q"]);
    command.current_dir(linked).env("LEPO_TAIL", &first);
    assert_eq!(run(command, b"").out, "four\n");
    assert!(forest(home).ends_with("I u0 C / J a0 I"), "{}", forest(home));
}

#[test]
fn commands_files_and_instructions_are_those_of_the_worktree() {
    let bot = Bot::saying(OFF, &["one", "two"]);
    let home = &bot.home;
    home.write("config/system_prompt.txt", "PROMPT");
    let linked = &with_worktree(home);
    home.write("work/notes.txt", "of main");
    home.write("linked/notes.txt", "of the worktree");
    let ran = lepo_in(home, linked, &["do", "--run", "cat notes.txt; pwd", "what?"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let shown = lepo_in(home, linked, &["show", "-a", "@"]).out;
    assert!(shown.contains(&format!("of the worktree{}", linked.display())), "{shown}");
    let ran = lepo_in(home, linked, &["do", "@notes.txt what?"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let asked = bot.server.as_ref().unwrap().asked();
    let body = String::from_utf8_lossy(&asked.last().unwrap().body).into_owned();
    assert!(body.contains("of the worktree") && !body.contains("of main"), "{body}");
}

#[test]
fn a_store_of_the_worktree_itself_wins_and_init_says_what_becomes_of_it() {
    let home = Home::new();
    let linked = &with_worktree(&home);
    let mine = home.add(&[], "in main");
    assert_eq!(lepo_in(&home, linked, &["resolve", "@"]).out.trim(), mine);
    let ran = lepo_in(&home, linked, &["init"]);
    assert!(
        ran.err.contains("instead of the store") && ran.err.contains("of the main worktree"),
        "{}",
        ran.err
    );
    assert!(ran.err.contains("it belongs to this worktree: `git worktree remove` deletes"), "{}", ran.err);
    assert_eq!(lepo_in(&home, linked, &["resolve", "@"]).code, 2, "another store, without messages");
    assert_eq!(home.ok(&["resolve", "@"]).trim(), mine);
}

#[test]
fn without_a_store_it_is_made_in_the_main_worktree() {
    let home = Home::new();
    let linked = &with_worktree(&home);
    let mut command = home.command(&["add"]);
    command.current_dir(linked);
    let ran = run(command, b"from the worktree");
    assert_eq!(ran.made, format!("made .lepo in {}\n", home.work().display()));
    assert_eq!(home.ok(&["resolve", "@"]), ran.out);
    assert!(!linked.join(".lepo").exists());
}

#[test]
fn what_is_no_linked_worktree_has_a_store_of_its_own() {
    let home = Home::new();
    let linked = &with_worktree(&home);
    home.add(&[], "in main");
    let finds = |dir: &Path| lepo_in(&home, dir, &["resolve", "@"]).code == 0;
    assert!(finds(linked));
    // A copy, as an archive unpacks it, does not lead to the store of another project.
    let copy = home.path().join("copy");
    assert!(
        home.program("cp", &["-r", linked.to_str().unwrap(), copy.to_str().unwrap()])
            .status()
            .unwrap()
            .success()
    );
    assert!(!finds(&copy));
    // A submodule is none, and has its own.
    let module = home.path().join("module");
    std::fs::create_dir(&module).unwrap();
    git(&home, &module, &["init", "--quiet"]);
    git(&home, &module, &["commit", "--quiet", "--allow-empty", "-m", "one"]);
    let add =
        ["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", module.to_str().unwrap(), "sub"];
    git(&home, &home.work(), &add);
    assert!(!finds(&home.work().join("sub")));
    // Worktrees of a bare repository have nothing beside them.
    let (bare, tree) = (home.path().join("bare/.git"), home.path().join("bare/tree"));
    git(
        &home,
        home.path(),
        &["clone", "--quiet", "--bare", module.to_str().unwrap(), bare.to_str().unwrap()],
    );
    git(&home, &bare, &["worktree", "add", "--quiet", "-b", "t", tree.to_str().unwrap()]);
    let mut command = home.command(&["add"]);
    command.current_dir(&tree);
    assert_eq!(run(command, b"x").made, format!("made .lepo in {}\n", tree.display()));
}

#[test]
fn an_import_counts_the_sessions_of_both_folders() {
    let home = Home::new();
    let linked = &with_worktree(&home);
    home.add(&[], "in main");
    let elsewhere = home.path().join("elsewhere");
    for (number, cwd) in [&home.work(), linked, &elsewhere].into_iter().enumerate() {
        let id = format!("00000000-0000-4000-8000-00000000000{number}");
        let line = json!({ "type": "user", "uuid": id, "parentUuid": null, "sessionId": id, "cwd": cwd,
            "timestamp": "2025-06-01T10:00:00.000Z", "message": { "role": "user", "content": format!("asked {number}") } });
        home.write(&format!(".claude/projects/p{number}/{id}.jsonl"), format!("{line}\n"));
    }
    let ran = lepo_in(&home, linked, &["import", "claude-code"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let listed = home.ok(&["ls"]);
    assert!(
        listed.contains("asked 0") && listed.contains("asked 1") && !listed.contains("asked 2"),
        "{listed}"
    );
}

#[test]
fn a_held_command_works_in_the_worktree_and_sees_no_settings_of_the_shared_store() {
    use crate::scripted::{openai_calls, openai_sse};
    let command = "pwd; cat notes.txt; cat ../work/.lepo/_config.toml; true";
    let call = json!({ "command": command, "access": "read" }).to_string();
    let bot = Bot::openai(
        "planner = \"native\"",
        [openai_calls("", &[("run_command", &call)]), openai_sse(["Done."])],
    );
    let home = &bot.home;
    let store = home.work().join(".lepo");
    let linked = &with_worktree(home);
    home.write("linked/notes.txt", "of the worktree");
    home.ok(&["init"]);
    std::fs::write(store.join("_config.toml"), "# canary-of-settings").unwrap();
    let mut command = home.command(&["do", "-q", "--tools", "auto", "look"]);
    command.current_dir(linked);
    let ran = run(command, b"");
    if ran.code == 4 {
        return crate::skip::skipped("sandbox", "nothing here can hold a command");
    }
    assert_eq!(ran.code, 0, "{}", ran.err);
    // The result stands beside the answer.
    let shown: String = home.bubbs().iter().map(|name| home.read(&format!("work/.lepo/{name}"))).collect();
    assert!(shown.contains("of the worktree") && shown.contains(&linked.display().to_string()), "{shown}");
    assert!(!shown.contains("canary-of-settings"), "{shown}");
}

#[test]
fn a_remote_inside_the_main_worktree_is_refused_from_a_linked_one() {
    let home = Home::new();
    let linked = &with_worktree(&home);
    home.add(&[], "in main");
    let inside = home.work().join("planted.git");
    git(&home, &home.work(), &["init", "--quiet", "--bare", inside.to_str().unwrap()]);
    let mut command = home.detached(&["sync", "--yes", inside.to_str().unwrap()]);
    command.current_dir(linked);
    let ran = run(command, b"");
    assert_eq!(ran.code, 2, "{} {}", ran.out, ran.err);
    assert!(ran.err.contains("is inside the working tree"), "{}", ran.err);
}
