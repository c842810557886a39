//! Two people on one question: what a session, `watch` and completion tell of the other's answers.

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use crate::bots::Bot;
use crate::home::{Home, run, until};
use crate::pty::on_terminal;
use crate::screen::Screen;
use crate::scripted::openai_sse;
use crate::secrets::github_token;
use crate::sync::{begin, clone, remote};

const OFF: &str = "planner = \"off\"\n[term]\nusage = false";

#[test]
fn a_session_tells_who_answered_below_its_conversation() {
    let dir = tempfile::tempdir().unwrap();
    let remote = remote(dir.path());
    let bot = Bot::openai(OFF, [openai_sse(["mine"]), openai_sse(["second"]), openai_sse(["third"])]);
    bot.home.write(".gitconfig", "[user]\n\temail = me@x\n");
    bot.home.add(&["--prev", "head"], "first");
    assert_eq!(begin(&bot.home, &remote, "me").code, 0);
    let alice = clone("alice@x");
    alice.add(&["--prev", "head"], "unrelated");
    assert_eq!(begin(&alice, &remote, "alice").code, 0);
    assert_eq!(bot.home.alone(&["sync"]).code, 0);
    let Some(screen) = Screen::lepo(&bot.home, 100, &["-n"]) else { return };
    screen.prompts("> ");
    screen.enters("what is it?").shows("mine").prompts("> ");
    assert_eq!(bot.home.alone(&["sync"]).code, 0);
    assert_eq!(alice.alone(&["sync"]).code, 0);
    let at = bot.home.ok(&["resolve", "@"]).trim().to_string();
    alice.add(&["--prev", &format!("me/{at}")], "and why?");
    let hers = alice.add(&["--kind", "a"], "because of this");
    assert_eq!(alice.alone(&["sync"]).code, 0);
    assert_eq!(bot.home.alone(&["sync"]).code, 0);
    let line = format!("alice answered in this conversation: /tail {hers}");
    screen.enters("/help").shows(&line).prompts("> ");
    assert_eq!(screen.whole().matches(&line).count(), 1);
    screen.enters(&format!("/tail {hers}")).prompts("> ");
    screen.enters("go on").shows("second").prompts("> ");
    assert_eq!(screen.whole().matches("answered in this conversation").count(), 1, "{}", screen.whole());
    let shown = bot.home.ok(&["show", "@"]);
    assert!(shown.contains("because of this") && shown.contains("second"), "{shown}");
    screen.enters("/ls").shows("  alice/");
    // Her branches do not move, and `alice/@` is none.
    let ran = bot.home.alone(&["do", "--no-stdin", "--tail", "alice/@", "and then?"]);
    assert_eq!((ran.code, ran.out.trim()), (0, "third"), "{}", ran.err);
    assert!(!ran.err.contains("left unchanged"), "{}", ran.err);
}

#[test]
fn the_own_newest_conversation_is_listed_although_a_colleague_continued_it() {
    let dir = tempfile::tempdir().unwrap();
    let remote = remote(dir.path());
    let bot = Bot::openai(OFF, [openai_sse(["mine"]), openai_sse(["on"])]);
    bot.home.write(".gitconfig", "[user]\n\temail = me@x\n");
    bot.home.add(&["--prev", "head"], "first");
    assert_eq!(bot.home.lepo(&["do", "-n", "what is it?"]).code, 0);
    let own = bot.home.ok(&["resolve", "@"]).trim().to_string();
    assert_eq!(begin(&bot.home, &remote, "me").code, 0);
    let alice = clone("alice@x");
    alice.add(&["--prev", "head"], "unrelated");
    assert_eq!(begin(&alice, &remote, "alice").code, 0);
    let hers = alice.add(&["--prev", &format!("me/{own}")], "and why?");
    assert_eq!(alice.alone(&["sync"]).code, 0);
    assert_eq!(bot.home.alone(&["sync"]).code, 0);
    assert_eq!(bot.home.ok(&["resolve", "@"]).trim(), own);
    let ids = |args: &[&str]| -> Vec<String> {
        let listed = bot.home.ok(args);
        listed.lines().map(|line| line.split(' ').next().unwrap().trim_end_matches(':').to_string()).collect()
    };
    let rows = ids(&["ls"]);
    assert_eq!((&rows[0], rows.contains(&own)), (&format!("alice/{hers}"), false), "{rows:?}");
    let ran = Home::new().lepo_with(&["add", "--prev", "alice/@"], b"q");
    assert!(ran.code == 2 && ran.err.contains("no message, branch or file \"alice/@\""), "{}", ran.err);
    let ran = bot.home.lepo(&["show", "alicia/@"]);
    assert!(
        ran.code == 2 && ran.err.contains("no clone is named alicia\nhint: clones: alice\n"),
        "{}",
        ran.err
    );
    for file in ["./notes.md", "/none/notes.md", ".lepo/notes.md"] {
        let ran = bot.home.lepo(&["show", file]);
        assert!(ran.err.contains(&format!("the file {file} is not a message")), "{}", ran.err);
    }
    let end = own.get(18..).unwrap();
    for args in [&["ls"][..], &["ls", "--grep", "what is"]] {
        assert!(on_terminal(bot.home.command(args), &[]).out.contains(end), "{args:?}");
    }
    let Some(screen) = Screen::lepo(&bot.home, 100, &["browse"]) else { return };
    screen
        .shows("what is it?")
        .keys(&["j", "j"])
        .becomes("the own end", || screen.text().lines().last().unwrap().contains(end));
    screen.keys(&["q"]).ends(0);
    let Some(screen) = Screen::lepo(&bot.home, 100, &[]) else { return };
    screen.prompts("> ").enters("/ls").becomes("the own row", || screen.text().contains(&format!("* {end}")));
    screen.enters("/exit").ends(0);
    assert_eq!(bot.home.lepo(&["do", "go on"]).out, "on\n");
    assert!(bot.home.ok(&["show", "@"]).contains("what is it?"));
}

#[test]
fn a_session_tells_who_came_while_it_ran() {
    let dir = tempfile::tempdir().unwrap();
    let remote = remote(dir.path());
    let bot = Bot::openai(OFF, [openai_sse(["mine"])]);
    bot.home.write(".gitconfig", "[user]\n\temail = me@x\n");
    bot.home.add(&["--prev", "head"], "first");
    assert_eq!(begin(&bot.home, &remote, "me").code, 0);
    let Some(screen) = Screen::lepo(&bot.home, 100, &["-n"]) else { return };
    screen.prompts("> ");
    screen.enters("what is it?").shows("mine").prompts("> ");
    assert_eq!(bot.home.alone(&["sync"]).code, 0);
    let bob = clone("bob@x");
    let at = bot.home.ok(&["resolve", "@"]).trim().to_string();
    assert_eq!(begin(&bob, &remote, "bob").code, 0);
    let his = bob.add(&["--prev", &format!("me/{at}")], "and why?");
    assert_eq!(bob.alone(&["sync"]).code, 0);
    assert_eq!(bot.home.alone(&["sync"]).code, 0);
    let line = format!("bob answered in this conversation: /tail {his}");
    screen.enters("/help").shows(&line).prompts("> ");
    screen.enters("/help").prompts("> ");
    assert_eq!(screen.whole().matches(&line).count(), 1);
    screen.enters("/tail bob/@").prompts("> ");
    assert!(!screen.whole().contains("error"), "{}", screen.whole());
}

#[test]
fn watch_prints_what_sync_brings_from_people_old_and_new() {
    let dir = tempfile::tempdir().unwrap();
    let remote = remote(dir.path());
    let (me, alice, bob) = (clone("me@x"), clone("alice@x"), clone("bob@x"));
    me.add(&["--prev", "head"], "mine");
    alice.add(&["--prev", "head"], "old");
    begin(&me, &remote, "me");
    begin(&alice, &remote, "alice");
    me.alone(&["sync"]);
    let mut child = me.command(&["watch"]).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    until("the watch", || {
        let fds = std::fs::read_dir(format!("/proc/{}/fdinfo", child.id())).into_iter().flatten().flatten();
        let watches = |text: String| text.matches("inotify wd").count() > 1;
        fds.filter_map(|fd| std::fs::read_to_string(fd.path()).ok()).any(watches)
    });
    let hers = alice.add(&["--prev", "head"], "a new one");
    alice.alone(&["sync"]);
    assert_eq!(me.alone(&["sync"]).code, 0);
    assert_eq!(lines.next().unwrap().unwrap(), format!("alice/{hers} u0 a new one"));
    let his = bob.add(&["--prev", "head"], "hello");
    begin(&bob, &remote, "bob");
    assert_eq!(me.alone(&["sync"]).code, 0);
    assert_eq!(lines.next().unwrap().unwrap(), format!("bob/{his} u0 hello"));
    let mine = me.add(&["--prev", "head"], "after all");
    assert_eq!(lines.next().unwrap().unwrap(), format!("{mine} u0 after all"));
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn a_sync_that_watches_lets_others_in_and_says_once_what_is_held_back() {
    let dir = tempfile::tempdir().unwrap();
    let remote = remote(dir.path());
    let me = clone("me@x");
    me.add(&["--prev", "head"], "mine");
    begin(&me, &remote, "me");
    let held = me.add(&["--prev", "head"], &github_token(1));
    let log = dir.path().join("log");
    let mut child = me
        .command(&["sync", "--watch", "1"])
        .stdout(Stdio::null())
        .stderr(std::fs::File::create(&log).unwrap())
        .spawn()
        .unwrap();
    let said = || std::fs::read_to_string(&log).unwrap();
    let line = format!("held back {held}: ");
    until("it is held back", || said().contains(&line));
    // The hint of that line is followed while the other goes on.
    let lepo = env!("CARGO_BIN_EXE_lepo");
    let ran = run(me.program("timeout", &["60", lepo, "sync"]), b"");
    assert_eq!(ran.code, 1, "{}", ran.err);
    assert_eq!(said().matches(&line).count(), 1, "{}", said());
    let ran = run(me.program("timeout", &["60", lepo, "sync", "--allow", &held]), b"");
    assert_eq!((ran.code, ran.out.as_str()), (0, "sent 1 message as me\n"), "{}", ran.err);
    // Once more, as what another sync decided counts for this one.
    let second = me.add(&["--prev", "head"], &github_token(2));
    until("the next is held back", || said().contains(&format!("held back {second}: ")));
    assert_eq!(said().matches("held back").count(), 2, "{}", said());
    // Its state is deleted: nothing is sent anywhere, and it ends.
    std::fs::remove_dir_all(me.path().join("data/lepo/sync")).unwrap();
    until("it ends", || child.try_wait().unwrap().is_some());
    assert!(!child.wait().unwrap().success(), "{}", said());
}

#[test]
fn no_other_store_is_removed_through_a_link() {
    let dir = tempfile::tempdir().unwrap();
    let remote = remote(dir.path());
    let (me, desk) = (clone("me@x"), clone("me@x"));
    me.add(&["--prev", "head"], "mine");
    begin(&me, &remote, "me");
    desk.add(&["--prev", "head"], "from the desk");
    begin(&desk, &remote, "desk");
    me.write("outside/desk/file", "kept");
    std::os::unix::fs::symlink(me.path().join("outside"), me.work().join(".lepo/_from")).unwrap();
    let ran = me.alone(&["sync", "--mine", "desk"]);
    assert_eq!((ran.code, me.read("outside/desk/file").as_str()), (0, "kept"), "{}", ran.err);
    assert!(ran.out.contains("from desk (yours): 1 message"), "{}", ran.out);
}

#[test]
fn a_clone_with_the_same_email_is_asked_about_once_on_a_terminal() {
    let dir = tempfile::tempdir().unwrap();
    let remote = remote(dir.path());
    let (me, desk, phone) = (clone("me@x"), clone("me@x"), clone("me@x"));
    me.add(&["--prev", "head"], "mine");
    begin(&me, &remote, "me");
    desk.add(&["--prev", "head"], "from the desk");
    begin(&desk, &remote, "desk");
    // Without a terminal nothing is asked, and nothing decided.
    let ran = me.alone(&["sync"]);
    assert!(ran.code == 0 && ran.err.contains("`lepo sync --mine desk` merges it"), "{}", ran.err);
    phone.add(&["--prev", "head"], "from the phone");
    begin(&phone, &remote, "phone");
    let asked = [("desk has your git email", ""), ("(y/N): ", "y\n"), ("phone has your git email", "n\n")];
    let ran = on_terminal(me.command(&["sync"]), &asked);
    assert_eq!(ran.code, 0, "{}", ran.out);
    assert!(ran.out.contains("from desk (yours): 1 message"), "{}", ran.out);
    assert!(ran.out.contains("it stays in _from/phone"), "{}", ran.out);
    assert!(!me.work().join(".lepo/_from/desk").exists() && me.work().join(".lepo/_from/phone").exists());
    // Decided once.
    let ran = on_terminal(me.command(&["sync"]), &[]);
    assert!(ran.code == 0 && !ran.out.contains("git email"), "{}", ran.out);
}
