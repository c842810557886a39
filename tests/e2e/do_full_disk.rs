//! A disk that is full, or a limit on files that is reached: exit 5, and an answer already received is printed.

use crate::bots::Bot;
use crate::disk::{bubbs, forest, journal, spools};
use crate::home::run;
use crate::scripted::{Reply, openai_event};

const OFF: &str = "planner = \"off\"";

/// An answer of many pieces that is larger than any limit here.
fn long() -> String {
    (0..2000).map(|n| format!("line {n} 한글\n")).collect()
}

fn streamed(text: &str) -> Reply {
    let mut events: Vec<String> = text
        .split_inclusive('\n')
        .map(|line| openai_event(serde_json::json!({"content": line}), None))
        .collect();
    events.push(openai_event(serde_json::json!({}), Some("stop")) + "data: [DONE]\n\n");
    Reply::chunks(events.iter().map(String::as_bytes))
}

#[test]
fn a_file_size_limit_is_no_silent_death() {
    let text = long();
    let bot = Bot::openai(OFF, [streamed(&text), streamed("short\n")]);
    bot.home.ok(&["init"]);
    let ran = run(bot.home.shell("ulimit -f 8; exec lepo do q"), b"");
    assert_eq!(ran.code, 5, "{}", ran.err);
    assert_eq!(ran.out, text);
    assert!(ran.err.contains("cannot write .lepo/_tmp/a0-"), "{}", ran.err);
    assert!(ran.err.contains("hint: a file size limit stopped it (ulimit -f)"), "{}", ran.err);
    assert_eq!(forest(&bot.home), "A s1 head / B u0 A");
    assert!(spools(&bot.home).is_empty());
    assert_eq!(bot.lepo(&["do", "--retry"]).out, "short\n");
}

#[test]
fn a_question_that_cannot_be_written_is_not_sent() {
    let bot = Bot::openai(OFF, [streamed("short\n")]);
    bot.home.ok(&["init"]);
    bot.home.write("config/system_prompt.txt", "P");
    let question = "q".repeat(20_000);
    let ran = run(bot.home.shell("ulimit -f 8; exec lepo do"), question.as_bytes());
    assert_eq!(ran.code, 5, "{}", ran.err);
    assert_eq!(bot.times_asked(), 0);
    assert_eq!(forest(&bot.home), "A s1 head");
    assert!(spools(&bot.home).is_empty());
}

#[test]
fn a_full_disk_keeps_the_old_and_prints_the_new() {
    let text = long();
    let bot = Bot::openai(OFF, [streamed("first\n"), streamed(&text)]);
    // A small disk of its own, in a mount namespace of its own, filled but for a few pages.
    let script = r#"
        mount -t tmpfs -o size=256k,mode=700 none . && cd "$PWD" || exit 99
        lepo do one || exit 98
        free=$(df --output=avail -k . | tail -1)
        head -c $((free - 20))k /dev/zero > filler
        lepo do two
        code=$?
        rm filler
        cp -r .lepo "$HOME/kept"
        exit $code"#;
    let ran = run(bot.home.program("unshare", &["-rm", "sh", "-c", script]), b"");
    if ran.code == 99 || ran.err.contains("unshare") {
        crate::skip::skipped("mount-namespace", format!("no mount namespace here: {}", ran.err));
        return;
    }
    assert_eq!(ran.code, 5, "{}", ran.err);
    assert_eq!(ran.out, format!("first\n{text}"));
    assert!(ran.err.contains("hint: free some space on the disk"), "{}", ran.err);
    let kept = crate::disk::bubbs_in(&bot.home.path().join("kept"));
    assert_eq!(crate::disk::forest_of(&kept), "A s1 head / B u0 A / C a0 B / D u0 C");
    assert_eq!(kept[2].text, "first\n");
}

#[test]
fn a_journal_that_cannot_be_written_is_done_without() {
    let bot = Bot::openai(OFF, [streamed("short\n")]);
    bot.home.ok(&["init"]);
    std::fs::create_dir(bot.home.work().join(".lepo/_journal.ndjson")).unwrap();
    let ran = bot.lepo(&["do", "q"]);
    assert_eq!((ran.code, ran.out.as_str(), ran.err.as_str()), (0, "short\n", ""));
    assert_eq!(bubbs(&bot.home).len(), 3);
    std::fs::remove_dir(bot.home.work().join(".lepo/_journal.ndjson")).unwrap();
    assert!(journal(&bot.home).is_empty());
}
