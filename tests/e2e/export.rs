//! `export`: a conv as a document, on stdout and in files.

use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};

use crate::home::{Home, Ran, run};

/// In Seoul, so that the time zone is known.
fn export(home: &Home, args: &[&str]) -> Ran {
    let mut command = home.command(&[&["export"], args].concat());
    command.env("TZ", "Asia/Seoul");
    run(command, b"")
}

/// A conv that began on 16 October 2025 at 16:20:30 in Seoul: answered once, and asked again.
fn conv(home: &Home) -> [String; 4] {
    home.ok(&["init"]);
    // The first ten characters are the time, in Crockford's base 32.
    let prompt = "01K7NY8GJ80000000000000001".to_string();
    let question = "01K7NY8HHG0000000000000002".to_string();
    home.write(&format!("work/.lepo/{prompt}-s1-head.md"), "prompt");
    home.write(&format!("work/.lepo/{question}-u0-{prompt}.md"), "대화 제목: 이다\n길게");
    let answer = home.add(&["--kind", "a"], "네.\n");
    let more = home.add(&[], "unanswered");
    let facts = json!({ "time": 1, "bubb": answer, "what": "answer", "model": "gpt", "ms": 5 });
    home.write("work/.lepo/_journal.ndjson", format!("{facts}\n{{\"bubb\":\"torn"));
    [prompt, question, answer, more]
}

#[test]
fn a_session_has_the_finished_turns() {
    let home = Home::new();
    let [_, question, answer, _] = conv(&home);
    let ran = export(&home, &["--format", "session"]);
    let session: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(
        session,
        json!({
            "model": "gpt",
            "startedAt": "2025-10-16T16:20:30+09:00",
            "messages": [
                { "role": "user", "content": "대화 제목: 이다\n길게" },
                { "role": "assistant", "content": "네.\n" },
            ],
        })
    );
    let ran = export(&home, &["--format", "session", &question]);
    assert_eq!((ran.code, ran.out.as_str()), (1, ""), "{}", ran.err);
    home.write("work/.lepo/_journal.ndjson", "");
    let ran = export(&home, &["--format", "session", &answer]);
    assert_eq!(serde_json::from_str::<Value>(&ran.out).unwrap()["model"], Value::Null);
}

#[test]
fn a_file_never_replaces_another() {
    let home = Home::new();
    conv(&home);
    for name in [
        "20251016_162030_대화_제목_이다_",
        "20251016_162030_대화_제목_이다_-2",
        "20251016_162030_대화_제목_이다_-3",
    ] {
        let ran = export(&home, &["--format", "session", "-o", "sessions/old/"]);
        assert_eq!((ran.code, ran.out), (0, format!("sessions/old/{name}.json\n")), "{}", ran.err);
    }
    let first = home.work().join("sessions/old/20251016_162030_대화_제목_이다_.json");
    assert_eq!(std::fs::metadata(&first).unwrap().permissions().mode() & 0o777, 0o600);
    assert!(serde_json::from_slice::<Value>(&std::fs::read(&first).unwrap()).is_ok());
    assert_eq!(std::fs::read_dir(home.work().join("sessions/old")).unwrap().count(), 3);
    let ran = export(&home, &["-o", "sessions"]);
    assert_eq!(ran.out, "sessions/20251016_162030_대화_제목_이다_.md\n");
    home.write("work/file", "x");
    assert_eq!(export(&home, &["-o", "file/"]).code, 2);
}

#[test]
fn markdown_reads_and_json_is_that_of_show() {
    let home = Home::new();
    let [prompt, question, answer, more] = conv(&home);
    let ran = export(&home, &[&answer]);
    let text = ran.out;
    assert!(text.starts_with("# 대화 제목: 이다 길게\n\n## User\n\n*2025-10-16 16:20:30, "), "{text}");
    assert!(
        text.contains(&format!("{question}*\n\n대화 제목: 이다\n길게\n\n## Assistant (gpt)\n\n*")),
        "{text}"
    );
    assert!(text.ends_with(&format!(", {answer}*\n\n네.\n")), "{text}");
    assert!(export(&home, &["-a"]).out.contains(&format!("{prompt}*\n\nprompt\n")));
    let json = export(&home, &["--format", "json", "-a"]).out;
    assert_eq!(json, home.ok(&["show", "--json", "-a"]));
    let document: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(document["bubbs"][2]["model"], "gpt");
    assert_eq!(document["bubbs"][3]["id"], more.as_str());
    assert_eq!(export(&home, &["-a", "--format", "session"]).code, 2);
    assert_eq!(export(&home, &["@^..@"]).code, 2);
}

#[test]
fn an_empty_store_has_nothing_and_hides_nothing() {
    let home = Home::new();
    home.ok(&["init"]);
    for format in ["html", "chatgpt"] {
        let ran = export(&home, &["--format", format, "--all"]);
        assert_eq!((ran.code, ran.out.as_str()), (1, ""), "{}", ran.err);
        assert!(ran.err.contains("the store has no messages"), "{}", ran.err);
    }
}

#[test]
fn a_message_that_is_older_than_the_one_before_it_keeps_its_place() {
    let home = Home::new();
    home.ok(&["init"]);
    let (answer, question) = ("01K7NY8GJ80000000000000001", "01K7NY8HHG0000000000000002");
    home.write(&format!("work/.lepo/{question}-u0-head.md"), "question");
    home.write(&format!("work/.lepo/{answer}-a0-{question}.md"), "answer");
    for args in [&["--all"][..], &[answer]] {
        let exported = export(&home, &[&["--format", "chatgpt"], args].concat()).out;
        let document: Value = serde_json::from_str(&exported).unwrap();
        let mapping = &document[0]["mapping"];
        assert_eq!(mapping[answer.to_lowercase()]["parent"], question.to_lowercase(), "{exported}");
        assert_eq!(document[0]["current_node"], answer.to_lowercase(), "{exported}");
    }
}

#[test]
fn a_folder_that_is_a_link_is_refused_unless_its_name_says_that_it_is_one() {
    let home = Home::new();
    home.add(&["--prev", "head"], "q");
    home.add(&["--kind", "a"], "a");
    std::fs::create_dir(home.work().join("elsewhere")).unwrap();
    std::os::unix::fs::symlink("elsewhere", home.work().join("out")).unwrap();
    for args in [&["export", "-o", "out"][..], &["export", "--format", "pi", "-o", "out"]] {
        let ran = home.lepo(args);
        assert_eq!(ran.code, 2, "{args:?}: {}", ran.out);
        assert!(ran.err.contains("it is a link") && ran.err.contains("-o out/"), "{}", ran.err);
    }
    assert_eq!(std::fs::read_dir(home.work().join("elsewhere")).unwrap().count(), 0);
    assert_eq!(home.ok(&["export", "-o", "out/"]).lines().count(), 1);
    assert_eq!(std::fs::read_dir(home.work().join("elsewhere")).unwrap().count(), 1);
}

#[test]
fn a_hand_over_has_questions_turns_files_commands_and_the_open_request() {
    let home = Home::new();
    let a = home.add(&["--prev", "head"], "Why does src/main.rs fail?");
    let b = home.add(&["--kind", "a", "--prev", &a], "It reads no header.");
    let c = home.add(&["--kind", "s", "--prev", &b], "$ cargo test\nerror: no header");
    home.add(&["--prev", &c], "그럼 고쳐 줘");
    let output = home.ok(&["export", "--format", "handoff"]);
    for part in [
        "# Hand-over: Why does src/main.rs fail?\n",
        "### User\n\nWhy does src/main.rs fail?\n",
        "## Files named\n\n- src/main.rs\n",
        "## Commands\n\n- `cargo test`: no exit code\n",
        "그럼 고쳐 줘 (not answered yet)\n",
    ] {
        assert!(output.contains(part), "{part}: {output}");
    }
    assert_eq!(output, home.ok(&["export", "--format", "handoff"]));
    assert!(home.ok(&["export", "--format", "handoff", "--bytes", "1k"]).len() <= 1024);
    for wrong in ["0", "x", "-1k", "1m"] {
        assert_eq!(home.lepo(&["export", "--format", "handoff", &format!("--bytes={wrong}")]).code, 2);
    }
    assert_eq!(home.lepo(&["export", "--bytes", "2k"]).code, 2);
}

#[test]
fn a_hand_over_can_be_an_argument() {
    let home = Home::new();
    home.add(&["--prev", "head"], "-rf a\0b\n--help");
    home.add(&["--kind", "a"], "- one\0");
    home.ok(&["title", "@", "--", "-x"]);
    let output = home.ok(&["export", "--format", "handoff"]);
    assert!(!output.contains('\0') && !output.starts_with('-') && output.contains("a\u{FFFD}b"), "{output}");
}

/// What `-o PATH` makes of one conversation, and what `--all` does.
#[test]
fn every_format_goes_to_stdout_a_file_a_folder_or_a_new_name() {
    // What a session of another tool is called says where that tool finds it, so `-o` is always a folder.
    const SESSIONS: &[&str] = &["claude-code", "codex"];
    let mut root = lepo::cli::command();
    root.build();
    let command = root.find_subcommand("export").unwrap();
    let format = command.get_arguments().find(|argument| argument.get_id() == "format").unwrap();
    let formats: Vec<String> =
        format.get_possible_values().iter().map(|value| value.get_name().to_string()).collect();
    assert!(formats.len() > 10, "{formats:?}");
    for format in &formats {
        let home = Home::new();
        home.add(&["--prev", "head"], "Why?");
        home.add(&["--kind", "a"], "Because.");
        home.write("work/old", "old");
        std::fs::create_dir(home.work().join("folder")).unwrap();
        let export = |more: &[&str]| home.lepo(&[&["export", "--format", format], more].concat());
        let stdout = export(&[]);
        assert_eq!(stdout.code, 0, "{format}: {}", stdout.err);
        assert!(stdout.out.contains("Because."), "{format}: {}", stdout.out);
        let is_session = SESSIONS.contains(&format.as_str());
        for (path, is_folder) in [("old", false), ("new.x", is_session), ("folder", true), ("made/", true)] {
            let ran = export(&["-o", path]);
            // An HTML page names its file, as many others may link it; a session cannot go into a file.
            if (is_folder && format == "html") || (path == "old" && is_session) {
                assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{format} {path}: {}", ran.err);
                continue;
            }
            assert_eq!(ran.code, 0, "{format} {path}: {}", ran.err);
            let made = ran.out.trim_end();
            match is_folder {
                false => assert_eq!(made, path, "{format}"),
                true => {
                    assert!(made.starts_with(&format!("{}/", path.trim_end_matches('/'))), "{format}: {made}")
                }
            }
            assert_eq!(home.read(&format!("work/{made}")), stdout.out, "{format} {path}");
        }
        // Many conversations: in one file, in a file for each, or not at all, and then the error says with which.
        home.add(&["--prev", "head"], "And this?");
        home.add(&["--kind", "a"], "That, too.");
        let ran = export(&["--all", "-o", "all.x"]);
        match (ran.code, home.work().join("all.x")) {
            (0, all) if all.is_file() => {
                let text = home.read("work/all.x");
                assert!(text.contains("Because.") && text.contains("That, too."), "{format}: {text}");
            }
            (0, _) => assert_eq!(ran.out.lines().count(), 2, "{format}: {}", ran.out),
            (code, _) => {
                assert_eq!(code, 2, "{format}: {}", ran.err);
                for other in ["html", "messages", "chatgpt", "openwebui"] {
                    assert!(ran.err.contains(other), "{format}: {}", ran.err);
                }
            }
        }
    }
}

#[test]
fn the_ending_of_the_file_names_the_format() {
    let home = Home::new();
    home.add(&["--prev", "head"], "Why?");
    home.add(&["--kind", "a"], "Because.");
    for (path, format) in [
        ("x.html", "html"),
        ("x.HTM", "html"),
        ("x.md", "markdown"),
        ("x.json", "json"),
        ("x.jsonl", "messages"),
        ("x", "markdown"),
        ("./a.b/", "markdown"),
    ] {
        let ran = home.lepo(&["export", "-o", path]);
        assert_eq!(ran.code, 0, "{path}: {}", ran.err);
        let same = home.ok(&["export", "--format", format]);
        assert_eq!(home.read(&format!("work/{}", ran.out.trim_end())), same, "{path}");
    }
    let ran = home.lepo(&["export", "-o", "x.docx"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains(".docx") && ran.err.contains("markdown, json"), "{}", ran.err);
    assert!(!home.work().join("x.docx").exists());
    assert_eq!(home.lepo(&["export", "--format", "markdown", "-o", "x.docx"]).code, 0);
    home.ok(&["export", "--all", "-o", "all.html"]);
    // Sessions need a file each.
    home.add(&["--prev", "head"], "And?");
    home.add(&["--kind", "a"], "So.");
    let ran = home.lepo(&["export", "--format", "pi", "--all", "-o", "all.jsonl"]);
    assert_eq!(ran.code, 2, "{}", ran.out);
    assert!(ran.err.contains("-o DIR/") && ran.err.contains("openwebui"), "{}", ran.err);
}

#[test]
fn a_missing_folder_is_named_with_the_file_and_nothing_is_made() {
    let home = Home::new();
    home.add(&[], "why?");
    for format in ["markdown", "json", "html", "handoff", "messages", "pi", "chatgpt", "openwebui"] {
        let ran = home.lepo(&["export", "--format", format, "-o", "sub/dir/x.out"]);
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{format} {}", ran.err);
        let says = "error: cannot write sub/dir/x.out: there is no folder sub/dir\nhint: mkdir -p sub/dir\n";
        assert!(ran.err.contains(says), "{format} {}", ran.err);
        assert!(!home.work().join("sub").exists(), "{format}");
    }
    std::fs::create_dir(home.work().join("closed")).unwrap();
    let closed = std::os::unix::fs::PermissionsExt::from_mode(0o500);
    std::fs::set_permissions(home.work().join("closed"), closed).unwrap();
    // Root writes anywhere.
    if !rustix::process::geteuid().is_root() {
        let ran = home.lepo(&["export", "-o", "closed/x.md"]);
        assert!(
            ran.code == 2 && ran.err.contains("cannot write closed/x.md: permission denied"),
            "{}",
            ran.err
        );
    }
}
