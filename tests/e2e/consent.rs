//! Consent as a file: a request that nobody could be asked about waits, and a word on it is given
//! later, elsewhere, by another process.

use std::process::Command;

use crate::bots::Bot;
use crate::disk::{bubbs, forest, spools};
use crate::home::{finish, run, until};
use crate::pty::on_terminal;
use crate::screen::Screen;

const NONE: &str = r#"{"tool":"none"}"#;
const COMMAND: &str = r#"{"tool":"command"}"#;
/// At `full`, so that no sandbox of the machine decides what is seen of it.
const REQUEST: &str = r#"{"access":"full","command":"echo 한글 >> ran","why":"to see"}"#;
/// Runs until the file `go` is there.
const SLOW: &str = r#"{"access":"full","command":"echo x >> ran; until [ -e go ]; do sleep 0.02; done"}"#;

/// A turn whose request waits; the model goes on with `then`. Its id.
fn waiting(request: &str, then: &[&str]) -> (Bot, String) {
    let bot = Bot::saying("", &[&[COMMAND, request], then].concat());
    let ran = bot.home.alone(&["do", "say it"]);
    assert_eq!((ran.code, ran.out.as_str()), (4, ""), "{}", ran.err);
    let id = bubbs(&bot.home).pop().unwrap().id;
    let error = "needs approval: ".to_string();
    assert!(ran.err.contains(&error), "{}", ran.err);
    for option in ["approve", "deny"] {
        assert!(ran.err.contains(&format!("\n  lepo do --{option} {id}\n")), "{}", ran.err);
    }
    (bot, id)
}

fn refused(bot: &Bot, args: &[&str], why: &str) {
    let before = bot.home.bubbs();
    let ran = bot.home.alone(args);
    assert_eq!(ran.code, 2, "{args:?} {}", ran.err);
    assert!(ran.err.contains(why), "{args:?} {}", ran.err);
    assert_eq!(bot.home.bubbs(), before);
}

#[test]
fn approved_it_runs_and_the_turn_goes_on_to_its_answer() {
    let (bot, id) = waiting(REQUEST, &[NONE, "Said."]);
    assert_eq!(forest(&bot.home), "A s1 head / B u0 A / C s1 B / D s1 C");
    assert_eq!(bot.home.read("work/ran"), "");
    std::fs::create_dir(bot.home.work().join("sub")).unwrap();

    let ran = bot.home.alone(&["-c", "sub", "do", "--approve", &id.to_lowercase()]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "Said.\n"), "{}", ran.err);
    for told in ["$ echo 한글 >> ran", "access: full (no sandbox)", "why: to see"] {
        assert!(ran.err.contains(told), "{}", ran.err);
    }
    assert_eq!(bot.home.read("work/ran"), "한글\n");
    assert_eq!(forest(&bot.home), "A s1 head / B u0 A / C s1 B / D s1 C / E s1 D / F s1 E / G a0 F");
    assert_eq!(bubbs(&bot.home)[4].text, "$ echo 한글 >> ran\nexit code: 0");
    assert!(spools(&bot.home).is_empty());

    refused(&bot, &["do", "--approve", &id], "is not pending");
    refused(&bot, &["do", "--deny", &id], "is not pending");
    assert_eq!(bot.home.read("work/ran"), "한글\n");
}

#[test]
fn the_hint_names_the_model_that_was_named() {
    let bot = Bot::saying("", &[COMMAND, REQUEST]);
    let ran = bot.home.alone(&["do", "-m", "test", "say it"]);
    assert_eq!(ran.code, 4, "{}", ran.err);
    let id = bubbs(&bot.home).pop().unwrap().id;
    assert!(ran.err.contains(&format!("\n  lepo do -m test --approve {id}\n")), "{}", ran.err);
    assert!(ran.err.contains(&format!("\n  lepo do -m test --deny {id}\n")), "{}", ran.err);
}

#[test]
fn denied_it_does_not_run_and_the_model_is_told() {
    let (bot, id) = waiting(REQUEST, &["Then not."]);
    let ran = bot.home.alone(&["do", "--json", "--deny", &id]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let document: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(document["answer"]["text"], "Then not.");
    assert_eq!(document["tools"][0]["bubb"], id.as_str());
    assert_eq!(document["user"], bubbs(&bot.home)[1].id.as_str());
    assert_eq!(document["conv"].as_array().unwrap().len(), 6);
    assert_eq!(forest(&bot.home), "A s1 head / B u0 A / C s1 B / D s1 C / E s1 D / F a0 E");
    assert!(bubbs(&bot.home)[4].text.starts_with("refused"));
    assert_eq!(bot.home.read("work/ran"), "");
}

#[test]
fn only_the_full_id_of_a_request_will_do() {
    let (bot, id) = waiting(REQUEST, &[]);
    let question = bubbs(&bot.home)[1].id.clone();
    for (args, why) in [
        (&["do", "--approve", &id[18..]][..], "full id"),
        (&["do", "--deny", "@"], "full id"),
        (&["do", "--approve", &question], "is not a request"),
        (&["do", "--approve", "01JB3Z0Q4N8V2K5T7W9X1Y3Z5A"], "no message"),
        (&["do", "--approve", &id, "and more"], "cannot be used with"),
        (&["do", "--approve", &id, "--deny", &id], "cannot be used with"),
        (&["do", "--approve", &id, "--file", "x"], "cannot be used with"),
    ] {
        refused(&bot, args, why);
    }
    // A visible message that looks like a request is none: anybody may write one.
    let visible = bot.home.add(&["--kind", "s"], r#"{"access":"read","command":"ls"}"#);
    refused(&bot, &["do", "--approve", &visible], "is not a request");
}

#[test]
fn an_edited_request_is_refused_and_only_it_must_prove_its_hash() {
    let (bot, id) = waiting(REQUEST, &[]);
    let name = bot.home.bubbs()[3].clone();
    bot.home.write(&format!("work/.lepo/{name}"), REQUEST.replace("한글", "글한"));
    refused(&bot, &["do", "--approve", &id], "was edited");
    assert_eq!(bot.home.read("work/ran"), "");
    // The messages before it may be another tool's, whose ids are no hashes.
    for which in [2, 1, 0] {
        let (bot, id) = waiting(REQUEST, &["Done."]);
        let name = bot.home.bubbs()[which].clone();
        bot.home.write(&format!("work/.lepo/{name}"), "other words");
        let ran = bot.lepo(&["do", "--tools", "off", "--approve", &id]);
        assert_eq!(bot.home.read("work/ran"), "한글\n", "{}", ran.err);
    }
    let (bot, id) = waiting(REQUEST, &[]);
    std::fs::remove_file(bot.home.work().join(".lepo").join(&bot.home.bubbs()[1])).unwrap();
    refused(&bot, &["do", "--approve", &id], "is incomplete");
}

#[test]
fn after_a_newer_answer_it_is_not_pending() {
    let (bot, id) = waiting(REQUEST, &["Another way."]);
    assert_eq!(bot.lepo(&["do", "--retry", "--tools", "off"]).code, 0);
    refused(&bot, &["do", "--approve", &id], "continues from its question");
    assert_eq!(bot.home.read("work/ran"), "");
}

#[test]
fn of_two_approvals_at_the_same_moment_one_wins() {
    let (bot, id) = waiting(SLOW, &[NONE, "Done."]);
    let mut first = bot.home.detached(&["do", "--approve", &id]);
    first.stdin(std::process::Stdio::null());
    let first =
        first.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped()).spawn().unwrap();
    until("the command runs", || bot.home.read("work/ran") == "x\n");
    refused(&bot, &["do", "--approve", &id], "another process");
    refused(&bot, &["do", "--deny", &id], "another process");
    bot.home.write("work/go", "");
    let first = finish(first);
    assert_eq!((first.code, first.out.as_str()), (0, "Done.\n"), "{}", first.err);
    assert_eq!(bot.home.read("work/ran"), "x\n");
}

#[test]
fn while_it_is_asked_about_nobody_else_decides() {
    let bot = Bot::saying("", &[COMMAND, REQUEST, NONE, "Done."]);
    // The editor of the question is the other process: it says yes to the very request that is asked about.
    bot.home.write(
        "ed",
        "#!/bin/sh\nid=$(lepo ls --pending | cut -c1-26)\nlepo do --approve $id >approved 2>&1\n",
    );
    let mut command = bot.home.command(&["do", "say it"]);
    command.env("EDITOR", format!("sh {}", bot.home.path().join("ed").display()));
    let question = "Run it? [y]es ";
    let ran = on_terminal(command, &[(question, "e\n"), (question, "y\n")]);
    assert_eq!(ran.code, 0, "{}", ran.out);
    let approved = bot.home.read("work/approved");
    assert!(approved.contains("another process is working on it"), "{approved}");
    assert_eq!(bot.home.read("work/ran"), "한글\n");
}

#[test]
fn a_crash_leaves_a_request_that_can_be_approved_again() {
    let (bot, id) = waiting(SLOW, &[NONE, "Done."]);
    let mut lepo = bot.home.command(&["do", "--approve", &id]);
    let mut first = lepo.stdin(std::process::Stdio::null()).spawn().unwrap();
    until("the command runs", || bot.home.read("work/ran") == "x\n");
    first.kill().unwrap();
    first.wait().unwrap();
    assert!(bot.home.work().join(format!(".lepo/_tmp/claim-{id}")).exists());
    bot.home.write("work/go", "");
    let ran = bot.home.alone(&["do", "--approve", &id]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "Done.\n"), "{}", ran.err);
    assert_eq!(bot.home.read("work/ran"), "x\nx\n");
}

#[test]
fn full_is_asked_even_when_auto_may_do_anything_else() {
    let bot = Bot::saying("tool_call_mode = 'auto'\nauto_access = 'net'", &[COMMAND, REQUEST]);
    let ran = bot.home.alone(&["do", "say it"]);
    assert_eq!(ran.code, 4, "{}", ran.err);
    assert_eq!(bot.home.read("work/ran"), "");
}

#[test]
fn a_question_says_what_where_and_what_holds_it() {
    let bot = Bot::saying("", &[COMMAND, REQUEST, NONE, "Said."]);
    let ran = on_terminal(bot.home.command(&["do", "say it"]), &[("Run it? [y]es ", "y\n")]);
    assert_eq!(ran.code, 0, "{}", ran.out);
    let work = bot.home.work();
    for told in
        ["$ echo 한글 >> ran", work.to_str().unwrap(), "Not sandboxed: can do anything", "why: to see"]
    {
        assert!(ran.out.contains(told), "{told}: {}", ran.out);
    }
    assert_eq!(bot.home.read("work/ran"), "한글\n");
}

#[test]
fn another_user_of_the_words_in_a_pipe_changes_nothing() {
    // A pipe full of yes is no person.
    let bot = Bot::saying("", &[COMMAND, REQUEST]);
    let lepo: Command = bot.home.detached(&["do", "say it"]);
    assert_eq!(run(lepo, b"y\ny\ny\n").code, 4);
    assert_eq!(bot.home.read("work/ran"), "");
}

#[test]
fn what_was_typed_before_the_question_is_no_answer() {
    let bot = Bot::saying("", &[COMMAND, REQUEST, "Then not."]);
    let command = "echo rea''dy >&2; until [ -e typed ]; do sleep 0.02; done";
    let Some(screen) = Screen::lepo(&bot.home, 100, &["do", "--run", command, "say it"]) else { return };
    screen.shows("ready").types("y").keys(&["Enter"]).types("y").keys(&["Enter"]);
    bot.home.write("work/typed", "");
    screen.shows("Run it? [y]es ").enters("n").ends(0);
    let shown = screen.whole();
    assert_eq!(shown.matches("Run it?").count(), 1, "{shown}");
    assert_eq!(bot.home.read("work/ran"), "");
}

#[test]
fn what_waits_is_told_whole_wherever_it_is_told() {
    let long = format!("echo {} > ran\necho 끝 >> ran", "한글 ".repeat(50));
    let request = serde_json::json!({ "access": "full", "command": long }).to_string();
    let bot = Bot::saying("", &[COMMAND, &request, NONE, "Done."]);
    let ran = bot.home.alone(&["do", "say it"]);
    assert!(ran.code == 4 && ran.err.contains(&format!("{} (full)", long.replace('\n', "␊"))), "{}", ran.err);
    let id = bubbs(&bot.home).pop().unwrap().id;
    let line = format!("{id} (4): full (no sandbox) {}\n", long.replace('\n', "␊"));
    assert_eq!(bot.home.ok(&["ls", "--pending"]), line);
    for (columns, head, below) in [(60, "now full (no sandbox)", ""), (40, "now", "full (no sandbox) ")] {
        let script = format!("stty cols {columns} rows 60; lepo --color never ls --pending");
        let mut narrow = bot.home.shell(&script);
        narrow.env("TERM", "xterm");
        let shown = on_terminal(narrow, &[]).out;
        let rows: Vec<&str> = shown.split_terminator("\r\n").collect();
        assert_eq!(rows[0], format!("{id} {head}"), "{shown}");
        assert!(rows[1].starts_with(&format!("  {below}echo ")), "{shown}");
        assert!(rows[2..].iter().all(|row| row.starts_with("  + ")), "{shown}");
        let whole: String = rows[2..].iter().map(|row| row.trim_start_matches("  + ")).collect();
        let whole = format!("{}{whole}", &rows[1][2..]);
        assert_eq!(whole, format!("{below}{}", long.replace('\n', "␊")), "{shown}");
    }
    // Quietly too, what runs is shown, and where.
    let ran = bot.home.alone(&["do", "-q", "--approve", &id]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_eq!(ran.err, format!("in {}: {request}\n", bot.home.work().display()));
}

#[test]
fn a_reason_cannot_forge_the_question() {
    let why = format!("{}Command request\n  $ ls\n  access: read (sandboxed by bubblewrap)", "\n".repeat(60));
    let request = serde_json::json!({ "access": "full", "command": "touch ran\n  access: read", "why": why });
    let bot = Bot::saying("", &[COMMAND, &request.to_string(), "Then not."]);
    let ran = on_terminal(
        bot.home.command(&["do", "q"]),
        &[("Not sandboxed: can do anything that you can.\r\nRun it? [y]es [n]o [e]dit [?] ", "n\n")],
    );
    assert_eq!(ran.code, 0, "{}", ran.out);
    assert!(ran.out.contains("\r\n  $ touch ran\r\n  |   access: read\r\n  in "), "{}", ran.out);
    assert!(!ran.out.contains("\r\n  $ ls"), "{}", ran.out);
}

#[test]
fn several_requests_of_one_answer_are_carried_out_in_order() {
    let two = r#"First {"access":"full","command":"echo 1 >> ran"} and {"access":"full","command":"echo 2 >> ran"}"#;
    let bot = Bot::saying("", &[COMMAND, two, NONE, "Done."]);
    let yes = ("Run it? [y]es ", "y\n");
    let ran = on_terminal(bot.home.command(&["do", "q"]), &[yes, yes]);
    assert_eq!(ran.code, 0, "{}", ran.out);
    assert_eq!(bot.home.read("work/ran"), "1\n2\n");
    let links = "A s1 head / B u0 A / C s1 B / D a1 C / E s1 D / F s1 E / G s1 F / H s1 G / I s1 H / J a0 I";
    assert_eq!(forest(&bot.home), links);
    let found = bubbs(&bot.home);
    assert!(found[3].text.starts_with("First\n\nand\n\n(2 requests in this answer"), "{}", found[3].text);
    assert_eq!(found[6].text, r#"{"access":"full","command":"echo 2 >> ran"}"#);

    // One that waits drops the rest, and the model was told beforehand.
    let (bot, id) = waiting(two, &[NONE, "Done."]);
    assert_eq!(bot.home.alone(&["do", "--approve", &id]).code, 0);
    assert_eq!(bot.home.read("work/ran"), "1\n");
    assert!(bot.bodies()[2]["messages"].to_string().contains("waits for consent are dropped"));
}

#[test]
fn the_original_of_an_edited_request_was_not_carried_out() {
    let bot = Bot::saying("", &[COMMAND, REQUEST, NONE, "Done."]);
    let edited = r#"{"access":"full","command":"echo edited"}"#;
    bot.home.write("ed", "#!/bin/sh\necho 'echo edited' > \"$1\"\n");
    let mut command = bot.home.command(&["do", "say it"]);
    command.env("EDITOR", format!("sh {}", bot.home.path().join("ed").display()));
    let question = "Run it? [y]es ";
    let ran = on_terminal(command, &[(question, "e\n"), (question, "{TERM}")]);
    assert_eq!(ran.code, 143, "{}", ran.out);
    // Approved by another lepo, whose model then asks for what was written first.
    let id = bubbs(&bot.home).pop().unwrap().id;
    assert!(bubbs(&bot.home)[4].text.contains("echo edited"), "{edited}");
    let answers = [COMMAND, REQUEST, NONE, "Done."];
    let again = Bot::saying("", &answers);
    let mut command = bot.home.command(&["do", "--approve", &id]);
    command.env("LEPO_CONFIG_HOME", again.home.path().join("config"));
    let ran = on_terminal(command, &[(question, "y\n")]);
    assert_eq!(ran.code, 0, "{}", ran.out);
    assert_eq!(bot.home.read("work/ran"), "한글\n");
}

#[test]
fn an_interrupt_is_heard_after_an_editor_too() {
    let bot = Bot::saying("", &[COMMAND, REQUEST]);
    let mut command = bot.home.command(&["do", "say it"]);
    command.env("EDITOR", "true");
    let question = "Run it? [y]es ";
    let ran = on_terminal(command, &[(question, "e\n"), (question, "{INT}")]);
    assert_eq!(ran.code, 130, "{}", ran.out);
    assert!(ran.out.contains("error: interrupted"), "{}", ran.out);
    assert!(spools(&bot.home).is_empty());
}

#[test]
fn an_edited_command_holds_no_zero_byte() {
    let bot = Bot::saying("", &[COMMAND, REQUEST, "Then not."]);
    bot.home.write("ed", "#!/bin/sh\nprintf 'echo a\\0b' > \"$1\"\n");
    let mut command = bot.home.command(&["do", "say it"]);
    command.env("EDITOR", format!("sh {}", bot.home.path().join("ed").display()));
    let question = "Run it? [y]es ";
    let ran = on_terminal(command, &[(question, "e\n"), (question, "n\n")]);
    assert!(ran.code == 0 && ran.out.contains("cannot hold a zero byte"), "{}", ran.out);
}

#[test]
fn an_interrupted_command_does_not_wait_to_be_run_again() {
    let slow = r#"{"access":"full","command":"echo x >> ran; exec sleep 60"}"#;
    let (bot, id) = waiting(slow, &[]);
    let mut lepo = bot.home.detached(&["do", "--approve", &id]);
    lepo.stdin(std::process::Stdio::null());
    let lepo =
        lepo.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped()).spawn().unwrap();
    until("the command runs", || bot.home.read("work/ran") == "x\n");
    // The one that was started waits for lepo, which leads a session.
    let children = std::fs::read_to_string(format!("/proc/{0}/task/{0}/children", lepo.id())).unwrap();
    let which =
        if children.trim().is_empty() || is_lepo(lepo.id()) { lepo.id().to_string() } else { children };
    assert!(Command::new("kill").args(["-TERM", which.trim()]).status().unwrap().success());
    assert_eq!(finish(lepo).code, 143);
    assert!(bubbs(&bot.home).pop().unwrap().text.starts_with("interrupted"));
    refused(&bot, &["do", "--approve", &id], "is its result");
    assert_eq!(bot.home.ok(&["ls", "--pending"]), "");
}

fn is_lepo(pid: u32) -> bool {
    std::fs::read_link(format!("/proc/{pid}/exe")).is_ok_and(|exe| exe.ends_with("lepo"))
}

#[test]
fn a_long_command_is_not_repeated_whole_in_its_result() {
    let command = format!("true {}", "가".repeat(30_000));
    let request = serde_json::json!({ "access": "full", "command": command }).to_string();
    let (bot, id) = waiting(&request, &[NONE, "Done."]);
    assert_eq!(bot.home.alone(&["do", "--approve", &id]).code, 0);
    let result = &bubbs(&bot.home)[4].text;
    assert!(result.len() < 5000 && result.contains("bytes left out …]\nexit code: 0"), "{}", result.len());
}

#[test]
fn a_command_that_ends_its_keeper_has_run_and_leaves_nothing() {
    // More than a pipe holds: lepo knows that the command runs when it has read it.
    let command = "sleep 987 & echo $! > child; head -c 2000000 /dev/zero; kill -9 $PPID; sleep 987";
    let request = serde_json::json!({ "access": "full", "command": command }).to_string();
    let (bot, id) = waiting(&request, &["Done."]);
    let ran = bot.home.alone(&["do", "--approve", &id]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "Done.\n"), "{}", ran.err);
    let result = &bubbs(&bot.home)[4].text;
    assert!(result.contains("\nended together with the process of lepo that keeps it"), "{result}");
    assert_eq!(bot.home.ok(&["ls", "--pending"]), "");
    let child = bot.home.read("work/child");
    let command_line = format!("/proc/{}/cmdline", child.trim());
    until("its child ends", || {
        !std::fs::read_to_string(&command_line).is_ok_and(|line| line.contains("987"))
    });
}

#[test]
fn a_question_that_waits_calls_once_where_that_is_wanted() {
    for (settings, call) in
        [("[term]\nnotify = 'bell'", "\x07"), ("[term]\nnotify = 'osc9'", "\x1b]9;lepo: question\x07")]
    {
        let bot = Bot::saying(settings, &[COMMAND, REQUEST, "Then not."]);
        let steps = [("Run it? [y]es ", ""), (call, "n\n")];
        let ran = on_terminal(bot.home.command(&["do", "say it"]), &steps);
        assert_eq!(ran.code, 0, "{}", ran.out);
        assert_eq!(ran.out.matches('\x07').count(), 1, "{:?}", ran.out);
    }
}
