//! `--json`, `--output`, `--quiet`, and a stdout that fails.

use serde_json::{Value, json};

use crate::bots::Bot;
use crate::disk::{bubbs, forest};
use crate::scripted::{Reply, end, openai_sse, said, thought};

const OFF: &str = "planner = \"off\"";

fn document(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

#[test]
fn the_document_tells_the_turn() {
    for (provider, usage) in
        [("openai", json!({"input": 12, "output": 34})), ("cli", json!({"input": null, "output": null}))]
    {
        let bot = match provider {
            "openai" => Bot::saying(OFF, &["Paris."]),
            _ => Bot::program(OFF, &["Paris."]),
        };
        let ran = bot.lepo(&["do", "--json", "Capital?", "--run", "echo hi; exit 3"]);
        assert_eq!((ran.code, ran.err.as_str()), (0, "exit code: 3\n"));
        let [root, run, user, answer] = bubbs(&bot.home).try_into().unwrap();
        let mut parsed = document(&ran.out);
        let ms = parsed["answer"]["ms"].take();
        assert!(ms.as_u64().is_some_and(|ms| ms < 10_000), "{ms}");
        let expected = json!({
            "conv": [root.id, run.id, user.id, answer.id],
            "user": user.id,
            "answer": {"id": answer.id, "text": "Paris.", "model": "test", "usage": usage, "ms": null},
            "tools": [{
                "bubb": run.id, "kind": "run", "request": {"command": "echo hi; exit 3"},
                "result": run.id, "exit": 3,
            }],
            "pending": null,
            "error": null,
        });
        assert_eq!(parsed, expected);
    }
}

#[test]
fn failures_are_told_in_the_document_too() {
    let down = "[[models]]\nname = \"down\"\nprovider = \"openai\"\nmodel = \"m\"\n\
                base_url = \"http://127.0.0.1:9/v1\"\n";
    let keyless = "[[models]]\nname = \"keyless\"\nprovider = \"openai\"\nmodel = \"m\"\n\
                   base_url = \"http://127.0.0.1:9/v1\"\napi_key_env = \"NO_SUCH_KEY\"\n";
    let settings = format!("{OFF}\n{down}{keyless}");
    for (args, code, kind, says, kept) in [
        (&["do", "--json", "-m", "down", "q"][..], 3, "remote", "cannot reach", true),
        (&["do", "--json", "q"], 3, "remote", "refused the key", true),
        (&["do", "--json", "-m", "keyless", "q"], 2, "usage", "NO_SUCH_KEY", false),
        (&["do", "--json", "-m", "nobody", "q"], 2, "usage", "unknown model", false),
        (&["do", "--json", "-t", "zzzz", "q"], 2, "usage", "zzzz", false),
        (&["do", "--json", "  "], 2, "usage", "blank", false),
        (&["--json", "--retry"], 2, "usage", "no question", false),
    ] {
        let bot = Bot::openai(&settings, [Reply::new(401, "no")]);
        let ran = bot.lepo(args);
        assert_eq!(ran.code, code, "{args:?} {}", ran.err);
        let parsed = document(&ran.out);
        assert_eq!(parsed["error"]["kind"], kind, "{args:?}");
        assert!(parsed["error"]["message"].as_str().unwrap().contains(says), "{args:?}: {parsed}");
        assert!(ran.err.starts_with("error: ") && ran.err.contains(says), "{args:?}: {}", ran.err);
        assert_eq!(parsed["answer"], Value::Null);
        if kept {
            let [root, user] = bubbs(&bot.home).try_into().unwrap();
            assert_eq!((&parsed["user"], &parsed["conv"]), (&json!(user.id), &json!([root.id, user.id])));
        } else {
            assert_eq!(parsed["user"], Value::Null);
        }
    }
}

#[test]
fn a_request_that_waits_is_told_in_the_document() {
    let request = r#"{"access":"net","command":"curl x","why":"to see"}"#;
    let bot = Bot::saying("", &[r#"{"tool":"command"}"#, request]);
    let ran = bot.home.alone(&["do", "--json", "q"]);
    assert_eq!(ran.code, 4, "{}", ran.err);
    let parsed = document(&ran.out);
    let waiting = bubbs(&bot.home).pop().unwrap();
    assert_eq!(parsed["pending"], waiting.id);
    assert_eq!(parsed["error"]["kind"], "pending");
    let request: Value = serde_json::from_str(request).unwrap();
    assert_eq!(
        parsed["tools"],
        json!([{"bubb": waiting.id, "kind": "command", "request": request, "result": null, "exit": null}])
    );
}

#[test]
fn the_result_goes_to_a_file_as_well() {
    let bot = Bot::saying(OFF, &["파리.\n\n", "two", "three", "four"]);
    bot.home.write("work/out.md", "what was there before, and longer than the answer");
    assert_eq!(bot.lepo(&["do", "-o", "out.md", "1."]).out, "파리.\n\n");
    assert_eq!(bot.home.read("work/out.md"), "파리.\n\n");
    assert_eq!(bot.lepo(&["do", "--output", "new.md", "2."]).out, "two\n");
    assert_eq!(bot.home.read("work/new.md"), "two\n");
    let ran = bot.lepo(&["do", "--json", "-o", "out.json", "3."]);
    assert_eq!(bot.home.read("work/out.json"), ran.out);
    assert_eq!(document(&ran.out)["answer"]["text"], "three");
    // A pipe takes it as well as a file.
    assert_eq!(bot.lepo(&["do", "-o", "/dev/stderr", "4."]).err, "four\n");
}

#[test]
fn an_output_through_a_link_that_was_planted_is_refused_before_anything_is_asked() {
    for (name, to) in [("link", "../outside"), ("lost", "../nowhere"), ("round", "round")] {
        let bot = Bot::saying(OFF, &["one"]);
        bot.home.write("outside", "before");
        std::os::unix::fs::symlink(to, bot.home.work().join(name)).unwrap();
        let ran = bot.lepo(&["do", "-o", name, "1."]);
        assert_eq!(ran.code, 2, "{name}: {}", ran.err);
        assert!(ran.err.contains(&format!("cannot write {name}: it is a link")), "{}", ran.err);
        assert_eq!((bot.times_asked(), bot.home.read("outside").as_str()), (0, "before"));
        assert!(!bot.home.path().join("nowhere").exists());
    }
    let bot = Bot::saying(OFF, &["one", "two"]);
    bot.home.write("elsewhere/x", "");
    std::os::unix::fs::symlink("../elsewhere", bot.home.work().join("folder")).unwrap();
    assert_eq!(bot.lepo(&["do", "-o", "folder/out.md", "1."]).code, 0);
    assert_eq!(bot.home.read("elsewhere/out.md"), "one\n");
    assert_eq!(bot.lepo(&["do", "-q", "-o", "/dev/null", "2."]).code, 0);
}

#[test]
fn an_output_that_cannot_be_written_fails_before_anything_is_asked() {
    for path in ["no/such/dir.md", ".", "/proc/nothing"] {
        let bot = Bot::saying(OFF, &["one"]);
        let ran = bot.lepo(&["do", "-o", path, "1."]);
        assert_eq!(ran.code, 2, "{path}: {}", ran.err);
        assert!(ran.err.contains("cannot write --output"), "{}", ran.err);
        assert_eq!(bot.times_asked(), 0);
        assert!(!bot.home.work().join(".lepo").exists());
    }
}

#[test]
fn an_output_keeps_what_it_has_when_no_answer_comes() {
    let bot = Bot::openai(OFF, [Reply::new(404, "no")]);
    bot.home.write("work/out.md", "before");
    assert_eq!(bot.lepo(&["do", "-o", "out.md", "1."]).code, 3);
    assert_eq!(bot.home.read("work/out.md"), "before");
}

#[test]
fn quiet_leaves_out_notes() {
    for (quiet, note) in [(false, true), (true, false)] {
        let busy = Reply::new(429, "busy").header("retry-after", "0");
        let bot = Bot::openai(OFF, [busy, openai_sse(["one"])]);
        let ran = bot.lepo(if quiet { &["do", "-q", "1."] } else { &["do", "1."] });
        assert_eq!((ran.code, ran.out.as_str()), (0, "one\n"));
        assert_eq!(!ran.err.is_empty(), note, "{}", ran.err);
    }
}

#[test]
fn an_answer_nobody_reads_is_kept() {
    for (stdout, code) in [("| head -c0", 0), ("> /dev/full", 5)] {
        let long = "word ".repeat(50_000);
        let bot = Bot::saying(OFF, &[&long]);
        let script = format!("set -o pipefail; lepo do q {stdout}");
        let ran = crate::home::run(bot.home.shell(&script), b"");
        assert_eq!(ran.code, code, "{stdout}: {}", ran.err);
        assert_eq!(forest(&bot.home), "A s1 head / B u0 A / C a0 B");
        assert_eq!(bubbs(&bot.home)[2].text, long);
    }
}

#[test]
fn a_command_line_that_cannot_be_read_is_told_in_the_document_too() {
    let bot = Bot::saying(OFF, &[]);
    for (args, is_do) in [
        (&["do", "--json", "--no-such", "q"][..], true),
        (&["--json", "--new", "--retry"], true),
        (&["-c", ".", "do", "--json", "--tools", "sometimes", "q"], true),
        (&["ls", "--json", "--no-such"], false),
        (&["show", "--json", "-n"], false),
    ] {
        let ran = bot.lepo(args);
        assert_eq!(ran.code, 2, "{args:?}");
        let parsed = document(&ran.out);
        assert_eq!(parsed["error"]["kind"], "usage", "{args:?}");
        assert!(
            ran.err.contains(parsed["error"]["message"].as_str().unwrap()),
            "{args:?}: {parsed} {}",
            ran.err
        );
        assert_eq!(parsed.get("conv").is_some(), is_do, "{args:?}: {parsed}");
    }
    let ran = bot.lepo(&["ls", "--no-such", "--", "--json"]);
    assert_eq!((ran.code, ran.out.as_str()), (2, ""));
}

#[test]
fn quiet_says_nothing_beside_the_answer() {
    let bot = Bot::saying(OFF, &["One.", "Two."]);
    bot.home.write("work/.lepo/_config.toml", "max_rounds = 3\n");
    let ran = bot.lepo(&["do", "q"]);
    assert!(ran.err.contains("is ignored"), "{}", ran.err);
    let ran = bot.lepo(&["do", "-q", "q"]);
    assert_eq!((ran.code, ran.out.as_str(), ran.err.as_str()), (0, "Two.\n", ""));
}

#[test]
fn an_answer_in_a_pipe_has_no_line_end_that_the_model_did_not_say() {
    let pieces = || [said("one "), thought("hm"), said("two"), thought("hm"), end()];
    let bot = Bot::openai(OFF, [Reply::pieces(pieces())]);
    let ran = bot.lepo(&["do", "q"]);
    assert_eq!((ran.code, ran.out.as_str(), ran.err.as_str()), (0, "one two\n", ""));
    assert_eq!(bubbs(&bot.home).last().unwrap().text, "one two");
}

#[test]
fn what_points_at_nothing_makes_no_store() {
    let bot = Bot::saying(OFF, &[]);
    for args in [&["do", "-t", "zzzz", "q"][..], &["--retry"], &["do", "-s", ".lepo/x", "--retry"]] {
        let ran = bot.lepo(args);
        assert_eq!(ran.code, 2, "{args:?}: {}", ran.err);
        assert!(ran.err.contains("no store"), "{args:?}: {}", ran.err);
        assert!(!bot.home.work().join(".lepo").exists(), "{args:?}");
    }
}
