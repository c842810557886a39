//! The store as the cassette of any program: answers without a server, the exit code of a miss, edited fixtures.

use serde_json::{Value, json};

use super::http::{Proxy, read_answer, request, send};
use crate::home::{Home, run};
use crate::scripted::{Server, openai_json, openai_sse};
use crate::secrets::github_token;

const CHAT: &str = "/v1/chat/completions";

/// An address without a server.
pub const NOWHERE: &str = "http://127.0.0.1:9";

fn chat(text: &str, is_streamed: bool) -> Value {
    json!({ "model": "m", "stream": is_streamed, "messages": [{ "role": "user", "content": text }] })
}

/// A home whose store has one answer to `hi`.
fn recorded_home(answer: &str) -> Home {
    let server = Server::judging({
        let answer = answer.to_string();
        move |_, _| openai_json(&answer)
    });
    let home = Home::new();
    let proxy = Proxy::start(&home, &server.url(), &[], &[]);
    assert_eq!(proxy.post(CHAT, &chat("hi", false)).status, 200);
    assert_eq!(proxy.end("-INT").code, 0);
    home
}

#[test]
fn a_recorded_request_is_answered_without_a_server_on_every_wire() {
    let home = recorded_home("It is.");
    let before = home.bubbs();
    let journal = home.read("work/.lepo/_journal.ndjson");
    let proxy = Proxy::start(&home, NOWHERE, &["--recorded=only"], &[]);
    let text = |path: &str, body: &Value, pointer: &str| {
        let answer = proxy.post(path, body);
        assert_eq!(answer.status, 200, "{path}: {}", String::from_utf8_lossy(&answer.body));
        answer.json().pointer(pointer).and_then(Value::as_str).map(str::to_string)
    };
    let hi = json!([{ "role": "user", "content": "hi" }]);
    for (path, body, pointer) in [
        (CHAT, chat("hi", false), "/choices/0/message/content"),
        ("/v1/responses", json!({ "model": "m", "input": "hi" }), "/output/0/content/0/text"),
        ("/v1/messages", json!({ "model": "m", "messages": hi }), "/content/0/text"),
        ("/api/chat", json!({ "model": "m", "messages": hi, "stream": false }), "/message/content"),
    ] {
        assert_eq!(text(path, &body, pointer).as_deref(), Some("It is."), "{path}");
    }
    let streamed = || proxy.post(CHAT, &chat("hi", true));
    let first = streamed();
    assert!(first.header("content-type").unwrap().starts_with("text/event-stream"));
    assert!(first.body.ends_with(b"data: [DONE]\n\n"));
    assert_eq!(first.body, streamed().body);
    let ran = proxy.end("-INT");
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.err.contains(" (recorded) · "), "{}", ran.err);
    assert_eq!((home.bubbs(), home.read("work/.lepo/_journal.ndjson")), (before, journal));
}

/// As in a clone of a repository whose store has the `.gitignore` of a private one.
#[test]
fn without_the_journal_the_refusal_names_it() {
    let home = recorded_home("It is.");
    std::fs::remove_file(home.work().join(".lepo/_journal.ndjson")).unwrap();
    let proxy = Proxy::start(&home, NOWHERE, &["--recorded=only"], &[]);
    let missed = proxy.post(CHAT, &chat("hi", false));
    let message = missed.json()["error"]["message"].as_str().unwrap().to_string();
    assert_eq!(missed.status, 404);
    assert!(
        message.contains("has no line in _journal.ndjson") && message.contains("init --committed"),
        "{message}"
    );
    proxy.end("-INT");
}

#[test]
fn what_is_not_recorded_is_refused_or_sent() {
    let home = recorded_home("It is.");
    let proxy = Proxy::start(&home, NOWHERE, &["--recorded=only"], &[]);
    let missed = proxy.post(CHAT, &chat("ho", false));
    let message = missed.json()["error"]["message"].as_str().unwrap().to_string();
    assert_eq!(missed.status, 404);
    assert!(message.starts_with("no recorded answer: nearest is 01"), "{message}");
    assert!(message.ends_with("question 1 differs: recorded \"hi\", asked \"ho\""), "{message}");
    let unreadable = proxy.post("/v1/messages", &json!({ "model": "m" }));
    assert_eq!((unreadable.status, unreadable.json()["type"].as_str()), (404, Some("error")));
    let get = |path: &str, headers: &str| {
        let host = format!("127.0.0.1:{}", proxy.port);
        read_answer(&mut send(proxy.port, &request("GET", path, &host, headers, "")))
    };
    assert_eq!(get("/v1/models", "").json()["data"][0]["id"], "m");
    assert_eq!(get("/v1/models", "anthropic-version: 1\r\n").json()["data"][0]["display_name"], "m");
    for _ in 0..2 {
        assert_eq!(get("/v1/files", "").status, 404);
    }
    let ran = proxy.end("-INT");
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_eq!(ran.err.matches("/v1/files is not recorded").count(), 1, "{}", ran.err);
    // Without =only a miss is sent and recorded, and the second time it is found.
    let server = Server::start([openai_sse(["Sent", "."])]);
    let proxy = Proxy::start(&home, &server.url(), &["--recorded"], &[]);
    for _ in 0..2 {
        let answer = proxy.post(CHAT, &chat("ho", true));
        assert_eq!(answer.status, 200, "{}", String::from_utf8_lossy(&answer.body));
    }
    assert_eq!(server.asked().len(), 1);
    assert_eq!(home.bubbs().len(), 4);
}

#[test]
fn a_command_that_asked_what_is_not_recorded_ends_with_3() {
    let home = recorded_home("It is.");
    let client = r#"
import json, os, sys, urllib.request
body = {"model": "m", "messages": [{"role": "user", "content": sys.argv[1]}]}
request = urllib.request.Request(os.environ["OPENAI_BASE_URL"] + "/chat/completions", json.dumps(body).encode(),
    {"Content-Type": "application/json", "Authorization": "Bearer " + os.environ["OPENAI_API_KEY"]})
try:
    print(json.load(urllib.request.urlopen(request))["choices"][0]["message"]["content"])
except urllib.error.HTTPError:
    sys.exit(int(sys.argv[2]))
"#;
    home.write("work/client.py", client);
    for (question, code, ends) in [("hi", "0", 0), ("ho", "0", 3), ("ho", "7", 7)] {
        let ran = home.lepo(&[
            "do",
            "--proxy",
            "--recorded=only",
            "--upstream",
            NOWHERE,
            "--",
            "python3",
            "client.py",
            question,
            code,
        ]);
        assert_eq!(ran.code, ends, "{question} {code}: {}", ran.err);
        assert_eq!(ran.err.contains("1 request has no recorded answer"), ends == 3, "{}", ran.err);
        assert_eq!(ran.out, if question == "hi" { "It is.\n" } else { "" });
    }
    let mut command = home.command(&["do", "--proxy", "--json", "--", "python3", "client.py", "ho", "0"]);
    command.env("LEPO_RECORDED", "only");
    let ran = run(command, b"");
    let line: Value = serde_json::from_str(ran.err.lines().next().unwrap()).unwrap();
    assert_eq!((line["status"].as_u64(), line["recorded"].as_bool(), ran.code), (Some(404), Some(false), 3));
    let nothing = Home::new();
    let ran = nothing.lepo(&["do", "--proxy", "--recorded=only", "--", "true"]);
    assert_eq!(ran.code, 3, "{}", ran.err);
    assert!(!nothing.work().join(".lepo").exists());
}

#[test]
fn a_fixture_that_was_edited_answers_and_its_store_says_what_does_not_count() {
    let home = recorded_home("It is.");
    home.write("new.txt", "It was.");
    let path = home.path().join("new.txt");
    home.ok(&["rebase", "@", "--replace", &format!("@={}", path.display())]);
    home.write("work/.lepo/_config.toml", "[recorded]\nignore = ['\\d+ ms']\n");
    let elsewhere = Home::new();
    let store = home.work().join(".lepo");
    let options = ["--recorded=only", "--recorded-from", store.to_str().unwrap()];
    let proxy = Proxy::start(&elsewhere, NOWHERE, &options, &[]);
    for question in ["hi", "hi12 ms"] {
        let answer = proxy.post(CHAT, &chat(question, false));
        assert_eq!(answer.status, 200, "{}", String::from_utf8_lossy(&answer.body));
        assert_eq!(answer.json()["choices"][0]["message"]["content"], "It was.", "{question}");
    }
    let ran = proxy.end("-TERM");
    assert!(!ran.err.contains("not trusted"), "{}", ran.err);
    home.write("work/.lepo/_config.toml", "[recorded]\nignore = ['(']\n");
    let ran = home.lepo(&["do", "--proxy", "--recorded=only", "--", "true"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("recorded.ignore has \"(\""), "{}", ran.err);
}

#[test]
fn masks_of_an_answer_are_said_once() {
    let home = recorded_home(&format!("use {}", github_token(1)));
    for (more, count) in [(&["--recorded=only"][..], 1), (&["--recorded=only", "-q"], 0)] {
        let proxy = Proxy::start(&home, NOWHERE, more, &[]);
        for _ in 0..2 {
            assert_eq!(proxy.post(CHAT, &chat("hi", false)).status, 200);
        }
        let ran = proxy.end("-INT");
        assert_eq!(ran.err.matches("masks in place of secrets").count(), count, "{}", ran.err);
    }
}
