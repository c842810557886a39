//! `import --hook`, `--on-end`, `--watch` and `--from`: what other tools delete is in the store before. The tools' logs
//! are written by scripts here; `archiving_agents` has the tools themselves.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use crate::disk::{bubbs, journal};
use crate::home::{Home, Ran, run, until};

const SESSION: &str = "5e550001-0000-4000-8000-000000000001";

/// The path of a log of Claude Code in a home.
fn claude_log(session: &str) -> String {
    format!(".claude/projects/-work/{session}.jsonl")
}

/// A line of Claude Code: message `n` of a session about `dir`, at second `n`.
fn claude_line(dir: &str, n: u32, text: &str, stop: Option<&str>) -> String {
    let parent = n.checked_sub(1).map(|parent| format!("m{parent}"));
    let time = format!("2026-08-01T10:{:02}:{:02}.000Z", n / 60, n % 60);
    let message = match n % 2 {
        0 => json!({ "role": "user", "content": text }),
        _ => {
            json!({ "role": "assistant", "id": format!("msg_{n}"), "model": "m", "stop_reason": stop, "content": [{ "type": "text", "text": text }] })
        }
    };
    let kind = if n.is_multiple_of(2) { "user" } else { "assistant" };
    let line = json!({
        "type": kind, "uuid": format!("m{n}"), "parentUuid": parent, "cwd": dir, "sessionId": SESSION,
        "timestamp": time, "message": message,
    });
    format!("{line}\n")
}

/// The lines of a session of so many messages; each answer ends its turn.
fn claude_lines(dir: &str, count: u32) -> Vec<String> {
    (0..count).map(|n| claude_line(dir, n, &format!("message {n}"), Some("end_turn"))).collect()
}

fn work(home: &Home) -> String {
    home.work().canonicalize().unwrap().to_string_lossy().into_owned()
}

/// Ends a session as Claude Code does: the event on stdin.
fn end_session(home: &Home, args: &[&str], event: &Value) -> Ran {
    run(home.command(&[args, &["import", "--on-end", "claude-code"]].concat()), event.to_string().as_bytes())
}

pub fn texts(home: &Home) -> Vec<String> {
    bubbs(home).into_iter().map(|bubb| bubb.text).collect()
}

/// A running `lepo import --watch`.
pub struct Watch {
    child: Child,
    lines: BufReader<std::process::ChildStdout>,
}

impl Watch {
    pub fn start(home: &Home, args: &[&str]) -> Watch {
        let mut command = home.command(&[&["import", "--watch"], args].concat());
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap());
        Watch { child, lines }
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.lines.read_line(&mut line).unwrap();
        line
    }

    pub fn signal(&mut self, signal: &str) -> Option<i32> {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args([signal, &id]).status().unwrap().success());
        self.child.wait().unwrap().code()
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn each_tool_gets_the_lines_that_call_lepo_by_its_whole_path() {
    let home = Home::new();
    home.ok(&["init"]);
    let hook = |tool: &str, args: &[&str]| {
        let ran = home.lepo(&[args, &["import", "--hook", tool]].concat());
        assert_eq!(ran.code, 0, "{}", ran.err);
        (ran.out, ran.err)
    };
    for (tool, seconds) in [("claude-code", 60), ("gemini-cli", 60_000)] {
        let (out, err) = hook(tool, &[]);
        let settings: Value = serde_json::from_str(&out).unwrap();
        let hook = &settings["hooks"]["SessionEnd"][0]["hooks"][0];
        assert_eq!((&hook["type"], &hook["timeout"]), (&json!("command"), &json!(seconds)), "{tool}");
        let command = shlex::split(hook["command"].as_str().unwrap()).unwrap();
        assert!(command[0].starts_with('/') && command[0].ends_with("/lepo"), "{command:?}");
        assert_eq!(command[1..], ["import", "--on-end", tool]);
        assert!(err.contains("settings.json"), "{err}");
    }
    let (out, err) = hook("codex", &["-s", "./a b"]);
    // Strings and arrays of TOML that need no escape are JSON.
    let words: Vec<String> = serde_json::from_str(out.trim().strip_prefix("notify = ").unwrap()).unwrap();
    let store = home.work().join("a b");
    assert_eq!(words[1..], ["-s", store.to_str().unwrap(), "import", "--on-end", "codex"]);
    assert!(err.contains("only one notify"), "{err}");
    let (out, err) = hook("opencode", &[]);
    assert!(err.contains("opencode has no hook"), "{err}");
    assert!(out.contains("import") && out.contains("--on-end") && out.contains("opencode"), "{out}");
    assert!(out.contains(&work(&home)), "{out}");
    // It writes into no tool's folder.
    for folder in [".claude", ".codex", ".gemini", ".config/systemd"] {
        assert!(!home.path().join(folder).exists(), "{folder}");
    }
    assert_eq!(home.lepo(&["import", "--hook", "pi"]).code, 2);
}

#[test]
fn a_session_that_ended_is_whole_and_nothing_is_printed() {
    let home = Home::new();
    home.ok(&["init"]);
    let dir = work(&home);
    // The last message has no mark of an end: the user closed the terminal.
    let now = jiff::Timestamp::now().as_millisecond();
    let mut lines = claude_lines(&dir, 4);
    let recent = format!("{:.3}", jiff::Timestamp::from_millisecond(now).unwrap());
    lines.push(claude_line(&dir, 4, "cut", None).replace("2026-08-01T10:00:04.000Z", &recent));
    home.write(&claude_log(SESSION), lines.concat());
    let by_hand: Value = serde_json::from_str(&home.ok(&["import", "claude-code", "-n", "--json"])).unwrap();
    assert_eq!((&by_hand["made"], &by_hand["held"]), (&json!(4), &json!(1)));
    let transcript = home.path().join(claude_log(SESSION));
    for event in [
        json!({ "session_id": SESSION, "transcript_path": transcript, "cwd": dir, "hook_event_name": "SessionEnd" }),
        json!({ "session_id": SESSION, "cwd": dir }),
        json!({ "transcript_path": transcript }),
    ] {
        let ran = end_session(&home, &[], &event);
        assert_eq!((ran.code, ran.out.as_str(), ran.err.as_str()), (0, "", ""), "{event}");
        assert_eq!(texts(&home), ["message 0", "message 1", "message 2", "message 3", "cut"], "{event}");
        fs::remove_dir_all(home.work().join(".lepo")).unwrap();
        home.ok(&["init"]);
    }
    // Hooks take turns; a change list has only what a user did.
    end_session(&home, &[], &json!({ "transcript_path": transcript }));
    assert_eq!(home.ok(&["undo", "--list"]), "");
    assert_eq!(home.ok(&["fsck"]), "");
}

#[test]
fn without_a_store_or_with_an_odd_event_a_hook_does_nothing() {
    let home = Home::new();
    let dir = work(&home);
    home.write(&claude_log(SESSION), claude_lines(&dir, 4).concat());
    let event = json!({ "transcript_path": home.path().join(claude_log(SESSION)), "cwd": dir });
    let ran = end_session(&home, &[], &event);
    assert_eq!((ran.code, ran.out.as_str(), ran.err.as_str()), (0, "", ""));
    assert!(!home.work().join(".lepo").exists());
    home.ok(&["init"]);
    for event in ["", "null", "{", "[]", "{\"transcript_path\":\"/nowhere\"}", "{\"cwd\":7}"] {
        let ran = run(home.command(&["import", "--on-end", "claude-code"]), event.as_bytes());
        assert_eq!((ran.code, ran.out.as_str(), ran.err.as_str()), (0, "", ""), "{event}");
        assert_eq!(texts(&home).len(), 4, "{event}");
    }
    for tool in ["codex", "gemini-cli", "opencode"] {
        let ran = home.lepo(&["import", "--on-end", tool, "{\"type\":\"agent-turn-complete\"}"]);
        assert_eq!((ran.code, ran.out.as_str(), ran.err.as_str()), (0, "", ""), "{tool}");
    }
}

#[test]
fn a_store_elsewhere_takes_the_session_that_ended() {
    let home = Home::new();
    let dir = work(&home);
    home.write(&claude_log(SESSION), claude_lines(&dir, 4).concat());
    home.write(&claude_log("other"), claude_lines("/elsewhere", 2).concat());
    let store = home.path().join("all");
    let event = json!({ "transcript_path": home.path().join(claude_log(SESSION)), "cwd": dir });
    let ran = end_session(&home, &["-s", store.to_str().unwrap()], &event);
    assert_eq!((ran.code, ran.out.as_str()), (0, ""), "{}", ran.err);
    assert_eq!(crate::disk::bubbs_in(&store).len(), 4);
    assert!(!home.work().join(".lepo").exists());
}

/// What users of other tools lost or waited for, each with the report that describes it.
#[test]
fn what_users_of_other_tools_reported() {
    let whole = ["message 0", "message 1", "message 2", "message 3"];
    let event =
        |home: &Home| json!({ "transcript_path": home.path().join(claude_log(SESSION)), "cwd": work(home) });
    type Case = (&'static str, fn(&Home));
    let cases: [Case; 6] = [
        // Transcripts are deleted after 30 days: the store still has them.
        ("https://github.com/anthropics/claude-code/issues/90667", |home| {
            fs::remove_dir_all(home.path().join(".claude")).unwrap();
            end_session(home, &[], &json!({}));
        }),
        // A session opened in a new folder is written over, empty: what was imported stays.
        ("https://github.com/anthropics/claude-code/issues/41344", |home| {
            home.write(&claude_log(SESSION), "");
            end_session(home, &[], &json!({ "transcript_path": home.path().join(claude_log(SESSION)) }));
        }),
        // Of a partly swept folder only the newest session is left.
        ("https://github.com/anthropics/claude-code/issues/62476", |home| {
            fs::remove_file(home.path().join(claude_log(SESSION))).unwrap();
            home.write(&claude_log("later"), "{}\n");
            end_session(home, &[], &json!({ "session_id": "later" }));
        }),
        // The agent does not close stdin: the event is read, not the end of the stream.
        ("https://github.com/Yeachan-Heo/oh-my-claudecode/issues/1700", |home| {
            let mut hook = home.command(&["import", "--on-end", "claude-code"]);
            let mut child = hook.stdin(Stdio::piped()).spawn().unwrap();
            let mut stdin = child.stdin.take().unwrap();
            stdin.write_all(b"{\"session_id\":\"x\"}").unwrap();
            stdin.flush().unwrap();
            assert!(child.wait().unwrap().success());
            drop(stdin);
        }),
        // The agent kills the hook as it exits: the store is clean, and the next one completes it.
        ("https://github.com/anthropics/claude-code/issues/41577", |home| {
            let mut hook = home.command(&["import", "--on-end", "claude-code"]);
            let mut child = hook.stdin(Stdio::null()).spawn().unwrap();
            child.kill().unwrap();
            child.wait().unwrap();
            assert_eq!(home.ok(&["fsck"]), "");
            end_session(home, &[], &json!({ "cwd": work(home) }));
        }),
        // Codex passes its event as an argument.
        ("https://github.com/openai/codex/pull/793", |home| {
            let event = "{\"type\":\"agent-turn-complete\",\"turn-id\":\"1\",\"input-messages\":[\"x\"]}";
            assert_eq!(home.lepo(&["import", "--on-end", "codex", event]).code, 0);
        }),
    ];
    for (report, happens) in cases {
        let home = Home::new();
        home.ok(&["init"]);
        home.write(&claude_log(SESSION), claude_lines(&work(&home), 4).concat());
        let ran = end_session(&home, &[], &event(&home));
        assert_eq!((ran.code, texts(&home)), (0, whole.map(String::from).to_vec()), "{report}");
        happens(&home);
        assert_eq!(texts(&home), whole, "{report}");
        assert_eq!(home.ok(&["fsck"]), "", "{report}");
    }
}

#[test]
fn what_rm_removed_stays_away_from_hooks_and_comes_by_hand() {
    let removed = [&["rm", "-y"][..], &["rm", "-y", "--now"]];
    for rm in removed {
        let home = Home::new();
        home.ok(&["init"]);
        let dir = work(&home);
        home.write(&claude_log(SESSION), claude_lines(&dir, 4).concat());
        let event = json!({ "cwd": dir });
        end_session(&home, &[], &event);
        let ids: Vec<String> = bubbs(&home).into_iter().map(|bubb| bubb.id).collect();
        home.ok(&[rm, &[&ids[3]]].concat());
        assert_eq!(texts(&home).len(), 0);
        // Nor does what follows come, nor anything by a watch.
        home.write(&claude_log(SESSION), claude_lines(&dir, 6).concat());
        end_session(&home, &[], &event);
        assert_eq!(texts(&home).len(), 0, "{rm:?}");
        let state = home.path().join("state/lepo/removed");
        let record: String = fs::read_dir(&state)
            .unwrap()
            .map(|file| fs::read_to_string(file.unwrap().path()).unwrap())
            .collect();
        assert!(!record.is_empty() && ids.iter().all(|id| !record.contains(id)), "{record}");
        let output = home.ok(&["import", "claude-code"]);
        assert!(output.contains("brought back 1 message that `lepo rm` removed here"), "{output}");
        assert_eq!(texts(&home).len(), 6, "{rm:?}");
    }
    // What came back by `undo` goes on.
    let home = Home::new();
    home.ok(&["init"]);
    let dir = work(&home);
    home.write(&claude_log(SESSION), claude_lines(&dir, 4).concat());
    end_session(&home, &[], &json!({ "cwd": dir }));
    home.ok(&["rm", "-y", "@"]);
    home.ok(&["undo"]);
    home.write(&claude_log(SESSION), claude_lines(&dir, 6).concat());
    end_session(&home, &[], &json!({ "cwd": dir }));
    assert_eq!(texts(&home).len(), 6);
}

#[test]
fn an_import_that_was_taken_back_stays_away_from_hooks() {
    let home = Home::new();
    home.ok(&["init"]);
    let dir = work(&home);
    home.write(&claude_log(SESSION), claude_lines(&dir, 4).concat());
    home.ok(&["import", "claude-code"]);
    home.ok(&["undo"]);
    assert_eq!(texts(&home).len(), 0);
    let undone = |home: &Home| journal(home).iter().filter(|line| line["what"] == "undone").count();
    assert_eq!(undone(&home), 1, "the first message alone");
    home.write(&claude_log(SESSION), claude_lines(&dir, 6).concat());
    end_session(&home, &[], &json!({ "cwd": dir }));
    assert_eq!(texts(&home).len(), 0);
    home.ok(&["undo", "--redo"]);
    end_session(&home, &[], &json!({ "cwd": dir }));
    assert_eq!(texts(&home).len(), 6);
    // By hand it comes again at any time.
    home.ok(&["rm", "-y", "--now", "@"]);
    home.ok(&["import", "claude-code"]);
    assert_eq!(texts(&home).len(), 6);
    assert_eq!(home.ok(&["fsck"]), "");
}

#[test]
fn sessions_of_a_folder_that_moved_are_named_taken_and_remembered() {
    let home = Home::new();
    home.ok(&["init"]);
    let former = "/former/place/work";
    home.write(&claude_log(SESSION), claude_lines(&format!("{former}/sub"), 4).concat());
    home.write(&claude_log("unlike"), claude_lines("/former/place/other", 2).concat());
    let ran = home.lepo(&["import", "claude-code"]);
    assert_eq!(ran.code, 1);
    // The folder below has another name, so only the place itself is named.
    assert!(!ran.err.contains("--from"), "{}", ran.err);
    home.write(&claude_log("second"), claude_lines(former, 2).concat().replace("10:00", "11:00"));
    let ran = home.lepo(&["import", "claude-code"]);
    assert_eq!(ran.code, 1);
    let command = format!("lepo import claude-code --from {former}");
    assert!(
        ran.err.contains(&format!("1 session is about {former}, which is gone: {command}")),
        "{}",
        ran.err
    );
    assert!(!ran.err.contains("other"), "{}", ran.err);
    home.ok(&["import", "claude-code", "--from", former]);
    assert_eq!(texts(&home).len(), 6);
    // Remembered: by hand, by a hook.
    home.write(&claude_log("third"), claude_lines(former, 2).concat().replace("10:00", "12:00"));
    home.ok(&["import", "claude-code"]);
    assert_eq!(texts(&home).len(), 8);
    home.write(&claude_log("fourth"), claude_lines(former, 2).concat().replace("10:00", "13:00"));
    end_session(&home, &[], &json!({ "cwd": work(&home) }));
    assert_eq!(texts(&home).len(), 10);
    // What is taken back stays away from it, unless it is asked for again.
    home.ok(&["undo"]);
    assert_eq!(texts(&home).len(), 8);
    let output = home.ok(&["import", "claude-code"]);
    assert!(output.contains("left out 2 messages that `lepo undo` undid"), "{output}");
    assert_eq!(texts(&home).len(), 8);
    home.ok(&["import", "claude-code", "--from", former]);
    assert_eq!(texts(&home).len(), 10);
    assert_eq!(home.ok(&["fsck"]), "");
}

#[test]
fn a_repository_cannot_ask_for_sessions_about_another_directory() {
    let (home, other) = (Home::new(), Home::new());
    for home in [&home, &other] {
        home.ok(&["init"]);
        home.write(&claude_log(SESSION), claude_lines("/secret/project", 4).concat());
    }
    other.ok(&["import", "claude-code", "--from", "/secret/project"]);
    let line = journal(&other).into_iter().find(|line| line["what"] == "import_dir").unwrap();
    assert_eq!((&line["format"], &line["from"]), (&json!("claude-code"), &json!("/secret/project")));
    home.write("work/.lepo/_journal.ndjson", format!("{line}\n"));
    assert_eq!(home.lepo(&["import", "claude-code"]).code, 1);
    end_session(&home, &[], &json!({ "cwd": work(&home) }));
    assert_eq!(texts(&home).len(), 0);
}

#[test]
fn a_thread_of_codex_at_a_commit_of_this_repository_is_named_whatever_its_folder_was_called() {
    let home = Home::new();
    let git = |args: &[&str]| {
        let identity = ["-c", "user.name=x", "-c", "user.email=x@y"];
        let ran = run(home.program("git", &[&identity[..], args].concat()), b"");
        assert_eq!(ran.code, 0, "{}", ran.err);
        ran.out.trim().to_string()
    };
    git(&["init", "-q"]);
    git(&["commit", "-q", "--allow-empty", "-m", "x"]);
    let commit = git(&["rev-parse", "HEAD"]);
    home.ok(&["init"]);
    for (name, dir, commit) in
        [("a", "/former/called-otherwise", commit.as_str()), ("b", "/former/unlike", &"0".repeat(40))]
    {
        let meta = json!({ "id": name, "cwd": dir, "timestamp": "2026-08-01T10:00:00.000Z", "git": { "commit_hash": commit } });
        let line =
            json!({ "timestamp": "2026-08-01T10:00:00.000Z", "type": "session_meta", "payload": meta });
        home.write(
            &format!(".codex/sessions/2026/08/01/rollout-2026-08-01T10-00-00-{name}.jsonl"),
            format!("{line}\n"),
        );
    }
    let ran = home.lepo(&["import", "codex"]);
    assert!(ran.err.contains("lepo import codex --from /former/called-otherwise"), "{}", ran.err);
    assert!(!ran.err.contains("unlike"), "{}", ran.err);
}

#[test]
fn from_takes_one_format_with_directories() {
    let home = Home::new();
    for args in
        [&["--from", "/x"][..], &["chatgpt", "--from", "/x"], &["claude-code", "codex", "--from", "/x"]]
    {
        assert_eq!(home.lepo(&[&["import"], args].concat()).code, 2, "{args:?}");
    }
    home.write(&claude_log(SESSION), claude_lines("/elsewhere", 2).concat());
    assert_eq!(home.lepo(&["import", "claude-code", "--from", "/x"]).code, 1);
    assert!(!home.work().join(".lepo").exists());
}

#[test]
fn a_watch_imports_messages_as_they_are_written() {
    let home = Home::new();
    home.ok(&["init"]);
    let dir = work(&home);
    let mut watch = Watch::start(&home, &[]);
    // The folder of the tool comes later.
    let lines = claude_lines(&dir, 40);
    let log = home.path().join(claude_log(SESSION));
    fs::create_dir_all(log.parent().unwrap()).unwrap();
    let mut file = fs::File::create(&log).unwrap();
    let mut writer = Vec::new();
    for (n, line) in lines.iter().enumerate() {
        // In pieces, as a pipe may pass them.
        let (head, tail) = line.split_at(line.len() / 3);
        file.write_all(head.as_bytes()).unwrap();
        file.write_all(tail.as_bytes()).unwrap();
        writer.push(format!("message {n}"));
        // A question waits for its answer; an answer that ends its turn does not.
        let known = if n % 2 == 0 { n } else { n + 1 };
        until("the message", || texts(&home).len() == known);
        assert_eq!(texts(&home), writer[..known]);
    }
    assert_eq!(watch.line(), format!("claude-code {SESSION} message 0\n"));
    fs::remove_dir_all(home.path().join(".claude")).unwrap();
    // Another session comes after the folder went.
    home.write(&claude_log("later"), claude_lines(&dir, 2).concat().replace("10:00", "12:00"));
    assert_eq!(watch.line(), "claude-code later message 0\n");
    assert_eq!(watch.signal("-INT"), Some(130));
    assert_eq!(texts(&home).len(), 42);
    assert_eq!(home.ok(&["fsck"]), "");
}

#[test]
fn a_watch_that_is_killed_and_started_again_imports_nothing_twice() {
    let home = Home::new();
    home.ok(&["init"]);
    let dir = work(&home);
    let lines = claude_lines(&dir, 60);
    let log = home.path().join(claude_log(SESSION));
    fs::create_dir_all(log.parent().unwrap()).unwrap();
    let mut file = fs::File::create(&log).unwrap();
    for (n, pair) in lines.chunks(2).enumerate() {
        let mut watch = Watch::start(&home, &["claude-code"]);
        file.write_all(pair.concat().as_bytes()).unwrap();
        // Every other watch is killed while it may be writing.
        if n % 2 == 0 {
            watch.signal("-KILL");
        } else {
            until("the messages", || texts(&home).len() == (n + 1) * 2);
            assert_eq!(watch.signal("-TERM"), Some(143));
        }
    }
    let expected: Vec<String> = (0..60).map(|n| format!("message {n}")).collect();
    assert_eq!(texts(&home), expected);
    let known = home.bubbs();
    end_session(&home, &[], &json!({ "cwd": dir }));
    home.ok(&["import", "claude-code"]);
    assert_eq!(home.bubbs(), known);
    assert_eq!(home.ok(&["fsck"]), "");
    let imports = journal(&home).iter().filter(|line| line["what"] == "import").count();
    assert_eq!(imports, 1);
}

#[test]
fn a_watch_leaves_out_what_rm_removed_and_other_directories() {
    let home = Home::new();
    home.ok(&["init"]);
    let dir = work(&home);
    home.write(&claude_log(SESSION), claude_lines(&dir, 2).concat());
    end_session(&home, &[], &json!({ "cwd": dir }));
    home.ok(&["rm", "-y", "@"]);
    home.write(&claude_log("elsewhere"), claude_lines("/elsewhere", 2).concat());
    let mut watch = Watch::start(&home, &["--json"]);
    home.write(&claude_log("here"), claude_lines(&dir, 2).concat().replace("10:00", "12:00"));
    let line: Value = serde_json::from_str(&watch.line()).unwrap();
    assert_eq!((&line["id"], &line["made"]), (&json!("here"), &json!(2)), "{line}");
    assert_eq!(texts(&home).len(), 2);
    watch.signal("-INT");
}

#[test]
fn only_formats_with_directories_are_watched() {
    let home = Home::new();
    for word in ["chatgpt", "lepo", "x.jsonl"] {
        let ran = home.lepo(&["import", "--watch", word]);
        assert_eq!(ran.code, 2, "{word}");
        assert!(ran.err.contains("--watch takes claude-code"), "{}", ran.err);
    }
}

/// A log of each tool, and whether its last message is taken at once.
#[test]
fn a_message_that_its_tool_marks_as_complete_is_taken_at_once() {
    let now = jiff::Timestamp::now();
    let time = |ago: i64| format!("{:.3}", now - jiff::SignedDuration::from_secs(ago));
    let claude = |stop: Option<&str>| {
        let lines = claude_lines("/w", 1).concat() + &claude_line("/w", 1, "answer", stop);
        lines.replace("2026-08-01T10:00:00.000Z", &time(20)).replace("2026-08-01T10:00:01.000Z", &time(10))
    };
    let codex = |end: bool| {
        let line = |kind: &str, ago: i64, payload: Value| {
            format!("{}\n", json!({ "timestamp": time(ago), "type": kind, "payload": payload }))
        };
        let item = |role: &str, text: &str| json!({ "type": "message", "role": role, "content": [{ "type": "output_text", "text": text }] });
        let log = [
            line("session_meta", 30, json!({ "id": "t", "timestamp": time(30), "cwd": "/w" })),
            line("response_item", 20, item("user", "question")),
            line("response_item", 10, item("assistant", "answer")),
        ];
        let end = if end { line("event_msg", 5, json!({ "type": "task_complete" })) } else { String::new() };
        log.concat() + &end
    };
    let pi = |stop: &str| {
        let line = |n: u8, ago: i64, message: Value| {
            let parent = n.checked_sub(1).map(|parent| format!("m{parent}"));
            format!(
                "{}\n",
                json!({ "type": "message", "id": format!("m{n}"), "parentId": parent, "timestamp": time(ago), "message": message })
            )
        };
        let header =
            json!({ "type": "session", "version": 3, "id": "s", "timestamp": time(30), "cwd": "/w" });
        let answer = json!({ "role": "assistant", "stopReason": stop, "content": [{ "type": "text", "text": "answer" }] });
        format!("{header}\n")
            + &line(0, 20, json!({ "role": "user", "content": "question" }))
            + &line(1, 10, answer)
    };
    for (name, log, held) in [
        ("claude-code end_turn", claude(Some("end_turn")), 0),
        ("claude-code max_tokens", claude(Some("max_tokens")), 0),
        ("claude-code tool_use", claude(Some("tool_use")), 1),
        ("claude-code streams", claude(None), 1),
        ("codex task_complete", codex(true), 0),
        ("codex", codex(false), 1),
        ("pi stop", pi("stop"), 0),
        ("pi toolUse", pi("toolUse"), 1),
    ] {
        let home = Home::new();
        home.write("work/log.jsonl", log);
        let document: Value = serde_json::from_str(&home.ok(&["import", "--json", "log.jsonl"])).unwrap();
        assert_eq!(
            (&document["held"], &document["made"]),
            (&json!(held), &json!(2 - held)),
            "{name}: {document}"
        );
    }
}

/// The folder of a tool may be a link.
#[test]
fn a_tools_folder_that_is_a_link_is_watched() {
    let home = Home::new();
    home.ok(&["init"]);
    let dir = work(&home);
    let real: PathBuf = home.path().join("dotfiles/claude");
    fs::create_dir_all(real.join("projects")).unwrap();
    std::os::unix::fs::symlink(&real, home.path().join(".claude")).unwrap();
    let mut watch = Watch::start(&home, &[]);
    home.write(&claude_log(SESSION), claude_lines(&dir, 2).concat());
    assert_eq!(watch.line(), format!("claude-code {SESSION} message 0\n"));
    watch.signal("-INT");
}
