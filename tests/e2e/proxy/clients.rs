//! A command behind the proxy: its variables, its exit code, the signals that it gets.

use std::process::Stdio;

use crate::home::{Home, finish, run, until};
use crate::scripted::{Server, openai_json};

/// A client in a few lines of Python, without a library of any provider's.
const CLIENT: &str = r#"
import json, os, urllib.request
body = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}
request = urllib.request.Request(os.environ["OPENAI_BASE_URL"] + "/chat/completions", json.dumps(body).encode(),
    {"Content-Type": "application/json", "Authorization": "Bearer " + os.environ["OPENAI_API_KEY"], "User-Agent": "Tiny/2 x"})
print(json.load(urllib.request.urlopen(request))["choices"][0]["message"]["content"])
"#;

#[test]
fn a_command_finds_the_proxy_by_its_environment() {
    let server = Server::judging(|_, _| openai_json("It is."));
    let home = Home::new();
    home.write("work/client.py", CLIENT);
    let mut command =
        home.command(&["do", "--proxy", "--upstream", &server.url(), "--", "python3", "client.py"]);
    command.env("OPENAI_API_KEY", "the-real-key");
    let ran = run(command, b"");
    assert_eq!((ran.code, ran.out.as_str()), (0, "It is.\n"), "{}", ran.err);
    assert_eq!(server.asked()[0].header("authorization"), Some("Bearer the-real-key"));
    assert_eq!(home.ok(&["show", "-1"]), "It is.");
    let journal = home.read("work/.lepo/_journal.ndjson");
    assert!(journal.contains(r#""client":"Tiny/2""#), "{journal}");
    // A line for each request and the sums; a JSON object each; or nothing.
    assert!(ran.err.contains("m · 1 message, 1 new · ") && ran.err.contains("1 request · "), "{}", ran.err);
    for (option, lines) in [("-q", 0), ("--json", 1)] {
        let ran =
            home.lepo(&["do", "--proxy", option, "--upstream", &server.url(), "--", "python3", "client.py"]);
        assert_eq!((ran.code, ran.err.lines().count()), (0, lines), "{option}: {}", ran.err);
        for line in ran.err.lines() {
            let document: serde_json::Value = serde_json::from_str(line).unwrap();
            assert_eq!(
                (document["model"].as_str(), document["status"].as_u64()),
                (Some("m"), Some(200)),
                "{line}"
            );
        }
    }
}

#[test]
fn a_json_line_is_whole_on_a_narrow_terminal() {
    let server = Server::judging(|_, _| openai_json("It is."));
    let home = Home::new();
    let model = "a name of many short words, longer than the terminal is wide";
    home.write("work/client.py", CLIENT.replace("\"m\"", &format!("{model:?}")));
    let line = format!(
        "stty rows 24 cols 40; lepo do --proxy --json --upstream {} -- python3 client.py >/dev/null",
        server.url()
    );
    let ran = run(home.terminal(&line), b"");
    let documents = ran.out.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    assert_eq!(documents.filter(|document| document["model"] == model).count(), 1, "{}", ran.out);
}

#[test]
fn the_exit_code_is_that_of_the_command() {
    let home = Home::new();
    for (script, code) in [("exit 0", 0), ("exit 7", 7), ("kill -9 $$", 137)] {
        let ran = home.lepo(&["do", "--proxy", "--", "sh", "-c", script]);
        assert_eq!(ran.code, code, "{script}: {}", ran.err);
    }
    let ran = home.lepo(&["do", "--proxy", "--", "no-such-program", "--option"]);
    assert_eq!(ran.code, 127, "{}", ran.err);
    assert!(ran.err.contains("cannot start no-such-program"), "{}", ran.err);
    home.write("work/plain", "no program");
    assert_eq!(home.lepo(&["do", "--proxy", "--", "./plain"]).code, 126);
}

#[test]
fn signals_reach_the_command() {
    let home = Home::new();
    for (signal, code) in [("INT", 3), ("TERM", 4), ("HUP", 5)] {
        let script = format!(
            "trap 'exit 3' INT; trap 'exit 4' TERM; trap 'exit 5' HUP; touch ready-{signal}; while :; do sleep 0.05; done"
        );
        let mut command = home.command(&["do", "--proxy", "--", "bash", "-c", &script]);
        let child =
            command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        until("the command runs", || home.work().join(format!("ready-{signal}")).exists());
        let kill = run(home.program("kill", &[&format!("-{signal}"), &child.id().to_string()]), b"");
        assert_eq!(kill.code, 0);
        let ran = finish(child);
        assert_eq!(ran.code, code, "{signal}: {}", ran.err);
    }
}

#[test]
fn options_that_mean_nothing_here_are_refused() {
    let home = Home::new();
    for args in [
        &["do", "--port", "80", "x"][..],
        &["do", "--upstream", "http://a", "x"],
        &["do", "--proxy", "--tail", "@"],
        &["do", "--proxy", "-m", "x"],
        &["do", "--proxy", "--recorded-from", "x", "--", "true"],
        &["do", "--proxy", "--upstream", "localhost:1"],
        &["do", "--proxy", "--port", "0"],
    ] {
        assert_eq!(home.lepo(args).code, 2, "{args:?}");
    }
}
