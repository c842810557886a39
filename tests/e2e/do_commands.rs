//! Commands: what they get, what they may take, and what of them becomes a bubb.

use sha2::{Digest, Sha256};

use crate::bots::{Bot, messages};
use crate::disk::{bubbs, forest, journal};
use crate::pty::on_terminal;

const OFF: &str = "planner = \"off\"";

/// `--run` of one command; the text of its bubb.
fn ran(settings: &str, command: &str, env: &[(&str, &str)]) -> (Bot, String) {
    let bot = Bot::saying(&format!("{OFF}\n{settings}"), &["ok"]);
    let mut lepo = bot.home.command(&["do", "--run", command]);
    lepo.envs(env.iter().copied());
    let ran = crate::home::run(lepo, b"the question");
    assert_eq!((ran.code, ran.out.as_str()), (0, "ok\n"), "{}", ran.err);
    assert_eq!(forest(&bot.home), "A s1 head / B s0 A / C u0 B / D a0 C");
    assert_eq!(bubbs(&bot.home)[2].text, "the question");
    let text = bubbs(&bot.home)[1].text.clone();
    (bot, text)
}

#[test]
fn exit_code_and_both_streams_are_told() {
    for (command, text) in [
        ("echo 한글", "$ echo 한글\nexit code: 0\nstdout:\n한글"),
        ("true", "$ true\nexit code: 0"),
        (
            "echo out; echo err >&2; exit 3",
            "$ echo out; echo err >&2; exit 3\nexit code: 3\nstdout:\nout\nstderr:\nerr",
        ),
        ("kill -9 $$", "$ kill -9 $$\nended by signal 9"),
        ("printf 'no newline'", "$ printf 'no newline'\nexit code: 0\nstdout:\nno newline"),
        // Nothing is on its stdin: the question is not eaten.
        ("cat; echo end", "$ cat; echo end\nexit code: 0\nstdout:\nend"),
    ] {
        let (bot, told) = ran("", command, &[]);
        assert_eq!(told, text);
        let seen: Vec<String> = messages(&bot.bodies()[0]).into_iter().map(|(role, _)| role).collect();
        assert_eq!(seen, ["system", "system", "user", "system"]);
        assert_eq!(messages(&bot.bodies()[0])[1].1, text);
    }
}

#[test]
fn a_command_runs_where_the_store_is() {
    let bot = Bot::saying(OFF, &["one", "two"]);
    bot.home.ok(&["init"]);
    std::fs::create_dir(bot.home.work().join("sub")).unwrap();
    assert_eq!(bot.lepo(&["-c", "sub", "do", "--run", "pwd", "q"]).code, 0);
    let work = std::fs::canonicalize(bot.home.work()).unwrap();
    let message = format!("$ pwd\nexit code: 0\nstdout:\n{}", work.display());
    assert_eq!(bubbs(&bot.home)[1].text, message);
    assert_eq!(bot.lepo(&["-c", "sub", "-s", "store", "do", "--run", "pwd", "q"]).code, 0);
    let below = crate::disk::bubbs_in(&bot.home.work().join("sub/store"));
    assert_eq!(below[1].text, format!("{message}/sub"));
}

#[test]
fn two_commands_stand_in_their_order() {
    let bot = Bot::saying(OFF, &["ok", "again"]);
    let ran = bot.lepo(&["do", "--run", "echo 1", "q", "--run", "echo 2; false"]);
    // A failure is said, as after a session's `!COMMAND`; success is not.
    assert_eq!((ran.code, ran.err.matches("exit code: ").count()), (0, 1), "{}", ran.err);
    assert!(ran.err.contains("exit code: 1\n"), "{}", ran.err);
    assert_eq!(forest(&bot.home), "A s1 head / B s0 A / C s0 B / D u0 C / E a0 D");
    assert!(bubbs(&bot.home)[1].text.ends_with("\n1"));
    assert!(bubbs(&bot.home)[2].text.starts_with("$ echo 2; false\nexit code: 1\n"));
    assert_eq!(bot.lepo(&["do", "--run", "echo 3", "and?"]).code, 0);
    assert!(forest(&bot.home).ends_with(" / F s0 E / G u0 F / H a0 G"));
}

#[test]
fn a_time_limit_ends_it() {
    // Seconds enough for its first line on a machine with much else to do.
    let (_, told) = ran("command_timeout = 3", "echo begun; sleep 600", &[]);
    assert_eq!(told, "$ echo begun; sleep 600\nended after its time limit of 3 s\nstdout:\nbegun");
}

#[test]
fn a_models_command_that_takes_too_long_ends_tool_use() {
    let request = r#"{"command":"sleep 600"}"#;
    Bot::each("command_timeout = 1", &[r#"{"tool":"command"}"#, request, "Too slow."], |bot| {
        let ran = on_terminal(bot.home.command(&["do", "q"]), &[("Run it? [y]es ", "y\n")]);
        assert_eq!(ran.code, 0, "{}", ran.out);
        assert_eq!(forest(&bot.home), "A s1 head / B u0 A / C s1 B / D s1 C / E s1 D / F a0 E");
        assert_eq!(bubbs(&bot.home)[4].text, "$ sleep 600\nended after its time limit of 1 s");
        assert_eq!(bot.times_asked(), 3);
    });
}

#[test]
fn a_models_command_that_fails_is_a_result_like_any_other() {
    let request = r#"{"command":"exit 3"}"#;
    let bot = Bot::saying("", &[r#"{"tool":"command"}"#, request, r#"{"tool":"none"}"#, "It failed."]);
    let ran = on_terminal(bot.home.command(&["do", "--json", "q"]), &[("Run it? [y]es ", "y\n")]);
    assert_eq!(ran.code, 0, "{}", ran.out);
    assert!(forest(&bot.home).ends_with("E s1 D / F s1 E / G a0 F"));
    assert_eq!(bubbs(&bot.home)[4].text, "$ exit 3\nexit code: 3");
    assert!(ran.out.contains("exit code: 3\r\n"), "it is shown: {}", ran.out);
    let line = ran.out.lines().find_map(|line| line.find("{\"conv\"").map(|at| &line[at..])).unwrap();
    let document: serde_json::Value = serde_json::from_str(line).unwrap();
    assert_eq!(document["tools"][0]["exit"], 3);
    let lines = journal(&bot.home);
    let command = lines.iter().find(|line| line["what"] == "command").unwrap();
    assert_eq!((&command["exit"], &command["bubb"]), (&3.into(), &bubbs(&bot.home)[4].id.as_str().into()));
}

#[test]
fn long_output_is_cut_and_whole_in_a_blob() {
    let (bot, told) = ran("output_limit = 1000", "seq 1 100000; seq 1 1000 >&2", &[]);
    for (last, whole) in [(100_000, "588,895"), (1000, "3,893")] {
        let output: String = (1..=last).map(|n| format!("{n}\n")).collect();
        let hash: String = Sha256::digest(&output).iter().map(|byte| format!("{byte:02x}")).collect();
        assert!(told.contains(&format!("\n[{whole} bytes: _blobs/{hash}]")), "{told}");
        assert_eq!(bot.home.read(&format!("work/.lepo/_blobs/{hash}")), output);
        assert!(told.contains(&format!("\n{last}\n")), "the tail is there");
    }
    assert!(told.ends_with(']'), "a blob's line is the last");
    assert!(told.len() < 2500 && told.contains("stdout:\n1\n2\n") && told.contains(" bytes left out …]\n"));
}

#[test]
fn what_is_no_text_is_in_a_blob_and_nowhere_else() {
    let bot = Bot::saying(OFF, &["ok"]);
    assert_eq!(bot.lepo(&["do", "q", "--run", r"printf 'a\377\000b'"]).code, 0);
    let run = &bubbs(&bot.home)[1];
    let name = format!("{}-s0-{}.md", run.id, run.prev);
    let bytes = std::fs::read(bot.home.work().join(".lepo").join(name)).unwrap();
    let hash: String = Sha256::digest(b"a\xff\0b").iter().map(|byte| format!("{byte:02x}")).collect();
    let line = format!("\n[4 bytes: _blobs/{hash}]");
    let message = format!("stdout:\n[4 bytes that are not text]{line}");
    assert!(bytes.ends_with(message.as_bytes()), "{}", run.text);
    assert_eq!(std::fs::read(bot.home.work().join(".lepo/_blobs").join(hash)).unwrap(), b"a\xff\0b");
    assert!(messages(&bot.bodies()[0])[1].1.ends_with(&message));
}

#[test]
fn keys_are_not_in_its_environment() {
    let other =
        "[[models]]\nname = \"other\"\nprovider = \"openai\"\nmodel = \"m\"\napi_key_env = \"OTHER_KEY\"\n";
    let env = [("OPENAI_API_KEY", "sk-canary-1"), ("OTHER_KEY", "sk-canary-2"), ("HARMLESS", "yes")];
    let (_, told) = ran(other, "env", &env);
    assert!(told.contains("HARMLESS=yes"), "{told}");
    assert!(!told.contains("sk-canary") && !told.contains("OTHER_KEY"), "{told}");
}
