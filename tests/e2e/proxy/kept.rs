//! What the proxy keeps: one path for a history that grows, a fork where it was edited, parts of what was cut.

use serde_json::{Value, json};

use super::http::{Answer, Proxy, read_answer, request, send};
use crate::home::{Home, until};
use crate::scripted::{Piece, Reply, Server, end, ollama_ndjson, openai_json, openai_sse, said};
use crate::secrets::github_token;

const CHAT: &str = "/v1/chat/completions";

fn user(text: &str) -> Value {
    json!({ "role": "user", "content": text })
}

fn assistant(text: &str) -> Value {
    json!({ "role": "assistant", "content": text })
}

fn chat(messages: &[Value], is_streamed: bool) -> Value {
    json!({ "model": "m", "stream": is_streamed, "messages": messages })
}

/// The texts of the newest conversation, hidden ones too.
fn texts(home: &Home) -> Vec<String> {
    let shown: Value = serde_json::from_str(&home.ok(&["show", "--json", "-a"])).unwrap();
    let messages = shown["bubbs"].as_array().unwrap_or_else(|| panic!("{shown}"));
    messages.iter().map(|message| message["text"].as_str().unwrap().to_string()).collect()
}

#[test]
fn a_history_that_grows_is_one_path_and_an_edited_one_a_fork() {
    let server = Server::judging(|_, asked| {
        let body = asked.json();
        let last =
            body["messages"].as_array().unwrap().last().unwrap()["content"].as_str().unwrap().to_string();
        let text = format!("To {last}: yes.");
        match body["stream"].as_bool().unwrap() {
            true => openai_sse(text.split_inclusive(' ')),
            false => openai_json(&text),
        }
    });
    let home = Home::new();
    let proxy = Proxy::start(&home, &server.url(), &[], &[]);
    let mut history = vec![json!({ "role": "system", "content": "Be brief." })];
    for turn in 0..6 {
        history.push(user(&format!("question {turn}")));
        assert_eq!(proxy.post(CHAT, &chat(&history, turn % 2 == 1)).status, 200);
        history.push(assistant(&format!("To question {turn}: yes.")));
    }
    let path = texts(&home);
    assert_eq!(path.len(), 13, "{path:?}");
    assert_eq!(path[0], "Be brief.");
    assert_eq!(home.bubbs().len(), 13);
    // The second answer is changed, and the history goes on from there.
    history.truncate(6);
    history[4] = assistant("It depends.");
    history[5] = user("another question");
    assert_eq!(proxy.post(CHAT, &chat(&history, false)).status, 200);
    assert_eq!(home.bubbs().len(), 16);
    // The same request again is a second answer beside the first.
    assert_eq!(proxy.post(CHAT, &chat(&history, true)).status, 200);
    assert_eq!(home.bubbs().len(), 17);
    let ran = proxy.end("-INT");
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_eq!(ran.err.lines().filter(|line| line.starts_with("m · ")).count(), 8, "{}", ran.err);
    assert!(ran.err.contains("m · 12 messages, 1 new · 01"), "{}", ran.err);
    assert!(ran.err.contains("\n8 requests · "), "{}", ran.err);
    assert!(home.ok(&["fsck"]).is_empty());
    // What was kept goes on as a conversation of lepo.
    assert!(home.ok(&["log", "--graph", "--all"]).contains("|/"));
}

#[test]
fn answers_come_back_byte_for_byte_on_every_wire() {
    let gzip = crate::proxy::kept::gzipped(b"{\"id\":\"c\",\"choices\":[{\"index\":0,\"message\":{\"role\":\"assistant\",\"content\":\"packed\"},\"finish_reason\":\"stop\"}]}");
    let messages = "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"msg_1\",\"role\":\"assistant\",\"content\":[],\"usage\":{\"input_tokens\":3}}}\n\nevent: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\nevent: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"from claude\"}}\n\nevent: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":2}}\n\nevent: message_stop\ndata: {\"type\":\"message_stop\"}\n\n";
    let responses = json!({
        "id": "resp_1", "object": "response", "status": "completed", "model": "m",
        "output": [{ "type": "message", "id": "i", "role": "assistant", "status": "completed",
            "content": [{ "type": "output_text", "text": "from responses", "annotations": [] }] }],
        "usage": { "input_tokens": 3, "output_tokens": 2 },
    });
    let one = json!([{ "role": "user", "content": "hi" }]);
    for (path, body, reply, kept) in [
        (CHAT, json!({ "model": "m", "messages": one }), openai_json("plain"), "plain"),
        (
            CHAT,
            json!({ "model": "m", "stream": true, "messages": one }),
            openai_sse(["stre", "amed"]),
            "streamed",
        ),
        (
            CHAT,
            json!({ "model": "m", "messages": one }),
            Reply::new(200, gzip)
                .header("content-type", "application/json")
                .header("content-encoding", "gzip"),
            "packed",
        ),
        (
            "/v1/messages",
            json!({ "model": "m", "stream": true, "max_tokens": 9, "messages": one }),
            Reply::new(200, messages).header("content-type", "text/event-stream"),
            "from claude",
        ),
        (
            "/v1/responses",
            json!({ "model": "m", "input": "hi" }),
            Reply::new(200, responses.to_string()).header("content-type", "application/json"),
            "from responses",
        ),
        (
            "/api/chat",
            json!({ "model": "m", "messages": one }),
            ollama_ndjson(["from ", "ollama"]),
            "from ollama",
        ),
    ] {
        let server = Server::start([reply.clone(), reply]);
        let port: u16 = server.url().rsplit(':').next().unwrap().parse().unwrap();
        let text = body.to_string();
        let direct =
            read_answer(&mut send(port, &request("POST", path, &format!("127.0.0.1:{port}"), "", &text)));
        let home = Home::new();
        let proxy = Proxy::start(&home, &server.url(), &[], &[]);
        let passed = proxy.post(path, &body);
        let content = |answer: &Answer| {
            (
                answer.status,
                answer.body.clone(),
                answer.header("content-type").map(str::to_string),
                answer.header("content-encoding").map(str::to_string),
            )
        };
        assert_eq!(content(&passed), content(&direct), "{path}");
        // What went on is what came.
        let asked = server.asked();
        assert_eq!((asked[1].path.as_str(), &asked[1].body), (path, &text.into_bytes()));
        assert_eq!(texts(&home).last().map(String::as_str), Some(kept), "{path}");
    }
}

/// Packs bytes with the program `gzip`.
pub fn gzipped(bytes: &[u8]) -> Vec<u8> {
    let mut command = std::process::Command::new("gzip");
    let mut child =
        command.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped()).spawn().unwrap();
    std::io::Write::write_all(child.stdin.as_mut().unwrap(), bytes).unwrap();
    child.wait_with_output().unwrap().stdout
}

#[test]
fn pieces_come_as_they_are_sent_and_what_came_is_kept_when_the_proxy_ends() {
    let server = Server::start([Reply::pieces([said("The first "), Piece::Wait, said("half."), end()])
        .header("content-type", "text/event-stream")]);
    let home = Home::new();
    let proxy = Proxy::start(&home, &server.url(), &[], &[]);
    let mut stream = proxy.begin_post(CHAT, &chat(&[user("tell me")], true));
    let mut seen = Vec::new();
    while !String::from_utf8_lossy(&seen).contains("The first ") {
        let mut piece = [0; 1024];
        let count = std::io::Read::read(&mut stream, &mut piece).unwrap();
        assert!(count > 0, "{}", String::from_utf8_lossy(&seen));
        seen.extend_from_slice(&piece[..count]);
    }
    let ran = proxy.end("-TERM");
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.err.contains("m · 1 message, 1 new · "), "{}", ran.err);
    let shown = home.ok(&["show", "-a"]);
    assert!(shown.contains("The first") && shown.contains("stopped"), "{shown}");
    server.release();
    server.await_closed(1);
}

#[test]
fn a_client_that_goes_away_cuts_its_request() {
    let server = Server::start([
        Reply::pieces([said("Some words"), Piece::Wait, end()]).header("content-type", "text/event-stream"),
        openai_json("held").held(),
    ]);
    let home = Home::new();
    let proxy = Proxy::start(&home, &server.url(), &[], &[]);
    let mut stream = proxy.begin_post(CHAT, &chat(&[user("one")], true));
    let mut read = Vec::new();
    while !String::from_utf8_lossy(&read).contains("Some words") {
        let mut byte = [0; 1];
        std::io::Read::read_exact(&mut stream, &mut byte).unwrap();
        read.extend(byte);
    }
    drop(stream);
    until("the part is kept", || home.bubbs().len() == 2);
    // Nobody reads any more.
    server.release();
    server.await_closed(1);
    let stream = proxy.begin_post(CHAT, &chat(&[user("two")], false));
    server.await_asked(2);
    drop(stream);
    until("the end is noted", || home.read("work/.lepo/_journal.ndjson").contains("unanswered"));
    server.release();
    server.await_closed(2);
    let ran = proxy.end("-INT");
    assert_eq!(ran.err.lines().filter(|line| line.starts_with("m · ")).count(), 2, "{}", ran.err);
}

#[test]
fn a_server_that_fails_is_passed_on_and_its_question_kept() {
    let refusal = r#"{"error":{"message":"no such model"}}"#;
    let server = Server::start([Reply::new(404, refusal), Reply::none()]);
    let home = Home::new();
    let proxy = Proxy::start(&home, &server.url(), &[], &[]);
    let refused = proxy.post(CHAT, &chat(&[user("one")], false));
    assert_eq!((refused.status, refused.body), (404, refusal.as_bytes().to_vec()));
    let gone = proxy.post(CHAT, &chat(&[user("two")], false));
    assert_eq!(gone.status, 502);
    assert!(gone.json()["error"]["message"].as_str().unwrap().starts_with("cannot reach http://127.0.0.1"));
    assert_eq!(home.bubbs().len(), 2);
    let err = proxy.end("-INT").err;
    assert!(err.contains("status 404") && err.contains("status 502"), "{err}");
}

#[test]
fn what_comes_through_is_masked_in_the_files_alone() {
    let key = github_token(1);
    let key_sent = key.clone();
    let server = Server::judging(move |_, _| openai_sse(["The key is ", &key_sent, "."]));
    let home = Home::new();
    let proxy = Proxy::start(&home, &server.url(), &[], &[]);
    let question = format!("Is {key} valid?");
    let answer = proxy.post(CHAT, &chat(&[user(&question)], true));
    assert!(String::from_utf8_lossy(&answer.body).contains(&key));
    assert!(String::from_utf8_lossy(&server.asked()[0].body).contains(&key));
    // The history that the client sends goes on where it was.
    let history = [user(&question), assistant(&format!("The key is {key}.")), user("Sure?")];
    assert_eq!(proxy.post(CHAT, &chat(&history, true)).status, 200);
    let texts = texts(&home);
    assert_eq!((texts.len(), home.bubbs().len()), (4, 4), "{texts:?}");
    assert!(texts.iter().all(|text| !text.contains(&key)), "{texts:?}");
    assert!(texts[0].contains("[secret: github-token "), "{texts:?}");
}
