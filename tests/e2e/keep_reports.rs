//! Losses in other tools, by public reports: deleted conversations, renamed folders, hooks that fail.

use std::fs;

use serde_json::{Value, json};

use crate::disk::bubbs;
use crate::home::{Home, Ran, run};

/// The report, and what happens in a home with a store.
type Case = (&'static str, fn(&Home));

fn run_all(cases: &[Case]) {
    for (report, happens) in cases {
        let home = Home::new();
        home.ok(&["init"]);
        happens(&home);
        assert_eq!(home.ok(&["fsck"]), "", "{report}");
    }
}

/// A question with its answer; the answer's id.
fn pair(home: &Home, question: &str) -> String {
    let asked = home.add(&["--prev", "head"], question);
    home.add(&["--kind", "a", "--prev", &asked], &format!("answer to {question}"))
}

#[test]
fn what_was_deleted_comes_back() {
    run_all(&[
        // Deleted by one click too many.
        ("https://github.com/anthropics/claude-code/issues/45755", |home| {
            let id = pair(home, "one");
            let before = home.bubbs();
            home.ok(&["rm", "-y", &id]);
            home.ok(&["undo"]);
            assert_eq!(home.bubbs(), before);
        }),
        // Undo twice goes two changes back, and is not its own opposite.
        ("https://github.com/jj-vcs/jj/issues/3700", |home| {
            for id in [pair(home, "one"), pair(home, "two")] {
                home.ok(&["rm", "-y", &id]);
            }
            home.ok(&["undo"]);
            home.ok(&["undo"]);
            assert_eq!(home.bubbs().len(), 4);
            home.ok(&["undo", "--redo"]);
            home.ok(&["undo", "--redo"]);
            assert_eq!(home.bubbs().len(), 0);
        }),
        // Undo names the change that it takes back.
        ("https://github.com/jj-vcs/jj/pull/8111", |home| {
            let id = pair(home, "the wrong one");
            home.ok(&["rm", "-y", &id]);
            let message = home.lepo(&["undo"]).err;
            assert!(message.contains("undone: 1 rm") && message.contains("the wrong one"), "{message}");
        }),
        // A command without effect is not in the list, so undo takes back the change before it.
        ("https://github.com/jj-vcs/jj/issues/9208", |home| {
            let id = pair(home, "one");
            home.ok(&["branch", "main", &id]);
            home.ok(&["branch", "-f", "main", &id]);
            home.ok(&["title", &id, "numbers"]);
            home.ok(&["title", &id, "numbers"]);
            assert_eq!(home.ok(&["undo", "--list"]).lines().count(), 2);
            home.ok(&["undo"]);
            home.ok(&["undo"]);
            assert_eq!(home.ok(&["branch"]), "");
            assert_eq!(home.lepo(&["undo"]).code, 1);
        }),
        // After a new change, what was taken back before can be made again.
        ("https://github.com/jj-vcs/jj/pull/7362", |home| {
            let id = pair(home, "one");
            home.ok(&["branch", "main", &id]);
            home.ok(&["undo"]);
            home.ok(&["title", &id, "numbers"]);
            home.ok(&["undo", "--redo", "1"]);
            assert!(home.ok(&["branch"]).contains("main"));
        }),
        // The files of a conversation come back with it.
        ("https://github.com/Cocolalilal/LastChat/pull/223", |home| {
            // SHA-256 of `a picture`.
            let hash = "92b2fa58028958317e408bd84ecfa70f5ee35b121991dbc232c49d166353708b";
            let file = format!("work/.lepo/_blobs/{hash}");
            home.write(&file, "a picture");
            let asked = home.add(&["--prev", "head"], &format!("look\n[9 bytes: _blobs/{hash}]"));
            let before = home.ok(&["show", "--json", &asked]);
            home.ok(&["rm", "-y", &asked]);
            assert!(!home.path().join(&file).exists());
            home.ok(&["undo"]);
            assert_eq!(home.read(&file), "a picture");
            assert_eq!(home.ok(&["show", "--json", &asked]), before);
        }),
        // Once it is gone for good, undo says so instead of doing nothing.
        ("https://github.com/Cocolalilal/LastChat/pull/223", |home| {
            let id = pair(home, "one");
            home.ok(&["rm", "-y", &id]);
            home.ok(&["rm", "-y", "--empty"]);
            let ran = home.lepo(&["undo", "1"]);
            assert_eq!(ran.code, 1, "{}", ran.err);
            assert!(!ran.err.is_empty() && home.bubbs().is_empty(), "{}", ran.err);
        }),
        // A conversation of one unanswered question comes back whole.
        ("https://github.com/klinker-apps/pulse-sms-issues/issues/61", |home| {
            let asked = home.add(&["--prev", "head"], "nobody read it");
            home.ok(&["rm", "-y", &asked]);
            home.ok(&["undo"]);
            assert_eq!(home.ok(&["show", "-1", &asked]), "nobody read it");
        }),
        // The whole conversation went where one message was meant.
        ("https://github.com/OHWR/ohwr.org/issues/311", |home| {
            let first = pair(home, "years of it");
            let second = home.add(&["--prev", &first], "this alone");
            let ran = home.lepo(&["rm", "-y", &second]);
            assert_eq!(ran.out.lines().count(), 3, "{}", ran.out);
            assert!(ran.err.contains("lepo undo"), "{}", ran.err);
            home.ok(&["undo"]);
            assert_eq!(home.bubbs().len(), 3);
        }),
        // Back and forth through several deletions.
        ("https://github.com/SillyTavern/SillyTavern/issues/4037", |home| {
            let ids: Vec<String> = ["a", "b", "c"].map(|text| pair(home, text)).into();
            for id in &ids {
                home.ok(&["rm", "-y", id]);
            }
            for left in [2, 4, 6] {
                home.ok(&["undo"]);
                assert_eq!(home.bubbs().len(), left);
            }
            for left in [4, 2, 0] {
                home.ok(&["undo", "--redo"]);
                assert_eq!(home.bubbs().len(), left);
            }
        }),
    ]);
}

/// A log of Claude Code of two messages about a directory, the answer without a mark of its end, from now.
fn claude_log(home: &Home, path: &str, dir: &str) {
    let now = format!("{:.3}", jiff::Timestamp::now());
    let line = |id: &str, parent: Option<&str>, kind: &str, message: Value| {
        json!({ "type": kind, "uuid": id, "parentUuid": parent, "cwd": dir, "sessionId": "s",
            "timestamp": now, "message": message })
    };
    let asked = line("m0", None, "user", json!({ "role": "user", "content": format!("about {dir}") }));
    let answer = json!({ "role": "assistant", "id": "a", "model": "m", "content": [{ "type": "text", "text": "an answer" }] });
    let answered = line("m1", Some("m0"), "assistant", answer);
    home.write(path, format!("{asked}\n{answered}\n"));
}

fn work(home: &Home) -> String {
    home.work().canonicalize().unwrap().to_string_lossy().into_owned()
}

/// Ends a session of a tool with this event, which prints nothing.
fn end(home: &Home, tool: &str, event: &str) -> Ran {
    let ran = run(home.command(&["import", "--on-end", tool]), event.as_bytes());
    assert_eq!((ran.code, ran.out.as_str()), (0, ""), "{event}: {}", ran.err);
    ran
}

#[test]
fn a_hook_takes_what_it_can() {
    run_all(&[
        // The event has no path of the transcript.
        ("https://github.com/affaan-m/ECC/issues/331", |home| {
            claude_log(home, ".claude/projects/-work/s.jsonl", &work(home));
            end(home, "claude-code", &json!({ "session_id": "s", "cwd": work(home) }).to_string());
            assert_eq!(bubbs(home).len(), 2);
        }),
        // The path is empty, and the name of the log is not the session's.
        ("https://github.com/google-gemini/gemini-cli/issues/14715", |home| {
            let project = ".gemini/tmp/project";
            home.write(&format!("{project}/.project_root"), format!("{}\n", work(home)));
            let now = format!("{:.3}", jiff::Timestamp::now());
            let lines = [
                json!({ "sessionId": "5e550001-0000-4000", "startTime": now, "kind": "main" }),
                json!({ "id": "m1", "timestamp": now, "type": "user", "content": [{ "text": "q" }] }),
                json!({ "id": "m2", "timestamp": now, "type": "gemini", "content": "an answer", "model": "g" }),
            ];
            let log = lines.map(|line| format!("{line}\n")).concat();
            home.write(&format!("{project}/chats/session-2026-08-01T10-00-5e550001.jsonl"), log);
            let event =
                json!({ "session_id": "5e550001-0000-4000", "transcript_path": "", "cwd": work(home) });
            end(home, "gemini-cli", &event.to_string());
            assert_eq!(bubbs(home).len(), 2);
        }),
        // The transcript was deleted before the hook came to it; another one is there.
        ("https://github.com/anthropics/claude-code/issues/30217", |home| {
            claude_log(home, ".claude/projects/-work/other.jsonl", &work(home));
            let path = home.path().join(".claude/projects/-work/s.jsonl");
            let event = json!({ "session_id": "s", "transcript_path": path, "cwd": work(home) });
            let ran = end(home, "claude-code", &event.to_string());
            assert_eq!((bubbs(home).len(), ran.err.as_str()), (1, ""), "the end of another is withheld");
        }),
        // Not the event but the whole transcript is on stdin.
        ("https://github.com/rahilp/second-brain-cloudflare/issues/327", |home| {
            claude_log(home, ".claude/projects/-work/s.jsonl", &work(home));
            let log = home.read(".claude/projects/-work/s.jsonl");
            end(home, "claude-code", &log);
            assert_eq!(bubbs(home).len(), 1);
        }),
        // A session's folder whose transcript was deleted.
        ("https://github.com/anthropics/claude-code/issues/95403", |home| {
            home.write(".claude/projects/-work/gone/tool-results/hook.txt", "x");
            claude_log(home, ".claude/projects/-work/s.jsonl", &work(home));
            end(home, "claude-code", &json!({ "session_id": "gone", "cwd": work(home) }).to_string());
            assert_eq!(bubbs(home).len(), 1);
        }),
        // Transcripts went without a word; what was imported stays, and an import has nothing to remove.
        ("https://github.com/anthropics/claude-code/issues/85466", |home| {
            claude_log(home, ".claude/projects/-work/s.jsonl", &work(home));
            end(home, "claude-code", &json!({ "session_id": "s", "cwd": work(home) }).to_string());
            fs::remove_dir_all(home.path().join(".claude")).unwrap();
            end(home, "claude-code", "{}");
            assert_eq!(bubbs(home).len(), 2);
        }),
    ]);
}

/// The directory that a session is about, seen from the folder that `work` is in; and the path of the session's log.
const RENAMED: &[(&str, &str, &str)] = &[
    ("https://github.com/anthropics/claude-code/issues/86713", "my_app", "-my-app/s.jsonl"),
    ("https://github.com/anthropics/claude-code/issues/37954", "my-project", "-my-project/s.jsonl"),
    ("https://github.com/anthropics/claude-code/issues/55831", "Desktop/work", "-Desktop-work/s.jsonl"),
    ("https://github.com/anthropics/claude-code/issues/27473", "elsewhere/work", "-elsewhere-work/s.jsonl"),
    ("https://github.com/anthropics/claude-code/issues/52494", "Claude Root", "-Claude-Root/s.jsonl"),
    // The folder of the logs was renamed by hand, too.
    ("https://github.com/anthropics/claude-code/issues/12680", "before", "-work/s.jsonl"),
    ("https://github.com/anthropics/claude-code/issues/79215", "myproject-old", "-myproject-old/s.jsonl"),
    ("https://github.com/anthropics/claude-code/issues/88903", "각/앱", "-----/s.jsonl"),
];

#[test]
fn sessions_of_a_renamed_folder_are_named_and_taken() {
    for (report, former, path) in RENAMED {
        let home = Home::new();
        let work = match *former {
            "각/앱" => home.path().join("옮김/앱"),
            _ => home.work(),
        };
        fs::create_dir_all(&work).unwrap();
        let work = work.canonicalize().unwrap().to_string_lossy().into_owned();
        let lepo = |args: &[&str]| home.lepo(&[&["-c", &work], args].concat());
        assert_eq!(lepo(&["init"]).code, 0);
        let former = home.path().canonicalize().unwrap().join(former).to_string_lossy().into_owned();
        claude_log(&home, &format!(".claude/projects/{path}"), &former);
        let ran = lepo(&["import", "claude-code"]);
        assert_eq!(ran.code, 1, "{report}: {}{}", ran.out, ran.err);
        let command =
            ran.err.lines().find_map(|line| line.split_once("gone: lepo ")).map(|(_, command)| command);
        let words = shlex::split(command.unwrap_or_else(|| panic!("{report}: {}", ran.err))).unwrap();
        // As typed, wherever one is: the hint has the `-c`.
        let ran = home.lepo(&words.iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!(ran.code, 0, "{report}: {}", ran.err);
        assert!(lepo(&["show"]).out.contains(&format!("about {former}")), "{report}: {}", ran.out);
    }
}
