//! Who is let in, where keys go, and what hostile clients can do.

use std::io::{Read, Write};

use serde_json::json;

use super::http::{Proxy, read_answer, request, send};
use crate::home::{Home, run};
use crate::scripted::{Reply, Server, openai_json};

const CHAT: &str = "/v1/chat/completions";
const KEY: &str = "sk-lepos-own-key-8f2Kx91QzT";

fn question() -> String {
    json!({ "model": "m", "messages": [{ "role": "user", "content": "hi" }] }).to_string()
}

#[test]
fn pages_other_names_and_upgrades_stay_outside() {
    let server = Server::start([]);
    let home = Home::new();
    let proxy = Proxy::start(&home, &server.url(), &[], &[]);
    let own = format!("127.0.0.1:{}", proxy.port);
    for (host, headers, status) in [
        (own.as_str(), "Origin: http://127.0.0.1:1\r\n", 403),
        (&own, "Origin: null\r\n", 403),
        ("evil.example", "", 403),
        ("127.0.0.1", "", 403),
        (&own, "Connection: Upgrade\r\nUpgrade: websocket\r\n", 426),
    ] {
        let answer = read_answer(&mut send(proxy.port, &request("POST", CHAT, host, headers, &question())));
        assert_eq!(answer.status, status, "{host} {headers}");
        assert!(answer.json()["error"]["message"].is_string());
    }
    // Nothing went on, and nothing was kept.
    assert_eq!((server.asked().len(), home.bubbs().len()), (0, 0));
}

#[test]
fn the_token_stands_for_the_key_and_neither_is_in_any_file() {
    let server = Server::judging(|_, _| openai_json("yes"));
    let home = Home::new();
    let variables =
        [("OPENAI_API_KEY", KEY), ("ANTHROPIC_AUTH_TOKEN", "own-auth-token-77"), ("LEPO_LOG", "debug")];
    let proxy = Proxy::start(&home, &server.url(), &[], &variables);
    let printed = |name: &str| proxy.variables.iter().find(|(other, _)| other == name).unwrap().1.clone();
    assert_eq!(printed("ANTHROPIC_AUTH_TOKEN"), proxy.token);
    assert_eq!(printed("OPENAI_BASE_URL"), format!("http://127.0.0.1:{}/v1", proxy.port));
    let body = json!({ "model": "m", "messages": [{ "role": "user", "content": "hi" }] });
    assert_eq!(proxy.post(CHAT, &body).status, 200);
    assert_eq!(proxy.post("/v1/messages", &body).status, 200);
    // A key of the client's own goes on as it came, and so does a request without one.
    let host = format!("127.0.0.1:{}", proxy.port);
    for headers in ["Authorization: Bearer clients-own\r\n", ""] {
        read_answer(&mut send(proxy.port, &request("POST", CHAT, &host, headers, &question())));
    }
    let keys: Vec<Option<String>> =
        server.asked().iter().map(|asked| asked.header("authorization").map(str::to_string)).collect();
    let bearer = |key: &str| Some(format!("Bearer {key}"));
    assert_eq!(keys, [bearer(KEY), bearer("own-auth-token-77"), bearer("clients-own"), None]);
    let command_line = std::fs::read(format!("/proc/{}/cmdline", proxy.pid())).unwrap();
    assert!(!String::from_utf8_lossy(&command_line).contains(&proxy.token));
    let token = proxy.token.clone();
    let ran = proxy.end("-INT");
    for secret in [KEY, "own-auth-token-77", "clients-own", token.as_str()] {
        assert!(!ran.err.contains(secret), "{}", ran.err);
        let found = run(home.program("grep", &["-rlF", secret, home.path().to_str().unwrap()]), b"");
        assert_eq!(found.out, "", "{secret}");
    }
}

#[test]
fn a_configured_model_has_its_own_address_key_and_name() {
    let server = Server::judging(|_, _| openai_json("yes"));
    let other = Server::start([]);
    let home = Home::with_config(&format!(
        "[[models]]\nname = 'mine'\nprovider = 'openai'\nmodel = 'real-1'\nbase_url = '{}/v1'\napi_key = '{KEY}'\n",
        server.url()
    ));
    let proxy = Proxy::start(&home, &other.url(), &[], &[]);
    let body =
        json!({ "temperature": 0.50, "model": "mine", "messages": [{ "role": "user", "content": "hi" }] });
    assert_eq!(proxy.post("/chat/completions", &body).status, 200);
    let asked = &server.asked()[0];
    assert_eq!(asked.path, CHAT);
    assert_eq!(asked.header("authorization"), Some(format!("Bearer {KEY}").as_str()));
    assert_eq!(String::from_utf8_lossy(&asked.body), body.to_string().replace("mine", "real-1"));
    // Without the token nobody spends the user's money, and another wire is not translated.
    let host = format!("127.0.0.1:{}", proxy.port);
    let bare = request("POST", CHAT, &host, "", &body.to_string());
    assert_eq!(read_answer(&mut send(proxy.port, &bare)).status, 401);
    let wrong = proxy.post("/v1/messages", &body);
    assert_eq!((wrong.status, wrong.json()["type"].as_str()), (400, Some("error")));
    assert_eq!((server.asked().len(), other.connections()), (1, 0));
}

#[test]
fn redirects_are_not_followed_and_lead_to_the_proxy() {
    let elsewhere = Server::start([]);
    let server = Server::judging(|number, asked| match number {
        0 => Reply::new(307, "").header("location", "/v1/next?a=1"),
        _ => {
            let host = asked.header("host").unwrap();
            Reply::new(302, "").header("location", &format!("http://{host}/v1/then"))
        }
    });
    let home = Home::new();
    let proxy = Proxy::start(&home, &server.url(), &[], &[]);
    let own = format!("http://127.0.0.1:{}", proxy.port);
    let body = json!({ "model": "m", "messages": [{ "role": "user", "content": "hi" }] });
    let first = proxy.post(CHAT, &body);
    assert_eq!((first.status, first.header("location")), (307, Some(format!("{own}/v1/next?a=1").as_str())));
    let second = proxy.post("/v1/files", &json!({}));
    assert_eq!((second.status, second.header("location")), (302, Some(format!("{own}/v1/then").as_str())));
    assert_eq!((server.asked().len(), elsewhere.connections()), (2, 0));
    let err = proxy.end("-INT").err;
    assert!(err.contains("note: POST /v1/files is passed on and not kept"), "{err}");
}

#[test]
fn a_request_that_cannot_be_read_is_passed_on_and_said() {
    let server = Server::judging(|_, _| Reply::new(400, "what?"));
    let home = Home::new();
    let proxy = Proxy::start(&home, &server.url(), &[], &[]);
    let host = format!("127.0.0.1:{}", proxy.port);
    for body in ["no json", "[]", "{}", r#"{"model":"m","messages":[]}"#] {
        let answer = read_answer(&mut send(proxy.port, &request("POST", CHAT, &host, "", body)));
        assert_eq!((answer.status, answer.body.as_slice()), (400, &b"what?"[..]), "{body}");
    }
    let bodies: Vec<Vec<u8>> = server.asked().into_iter().map(|asked| asked.body).collect();
    assert_eq!(bodies[0], b"no json");
    assert_eq!((bodies.len(), home.bubbs().len()), (4, 0));
    assert!(proxy.end("-INT").err.contains("is passed on and not kept: its body is not a JSON object"));
}

#[test]
fn hostile_clients_end_alone() {
    let server = Server::judging(|_, _| openai_json("yes"));
    let home = Home::new();
    let proxy = Proxy::start(&home, &server.url(), &[], &[]);
    let host = format!("Host: 127.0.0.1:{}", proxy.port);
    let long = "x".repeat(70 << 10);
    for (bytes, statuses) in [
        (format!("POST {CHAT} HTTP/1.1\r\n{host}\r\nX-Long: {long}\r\n\r\n"), &[431][..]),
        (format!("POST {CHAT} HTTP/1.1\r\n{host}\r\nContent-Length: 104857601\r\n\r\n"), &[413]),
        (
            format!("POST {CHAT} HTTP/1.1\r\n{host}\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{{}}"),
            &[400],
        ),
        (format!("POST {CHAT} HTTP/1.1\r\n{host}\r\nTransfer-Encoding: identity, x\r\n\r\n{{}}"), &[400]),
        ("GET / HTTP/9\r\n\r\n".to_string(), &[0, 400]),
        ("\u{1}\u{2}\r\n\r\n".to_string(), &[0, 400]),
    ] {
        let answer = read_answer(&mut send(proxy.port, bytes.as_bytes()));
        assert!(statuses.contains(&answer.status), "{} {:?}", answer.status, &bytes[..40.min(bytes.len())]);
    }
    // Both lengths: what follows the chunks is no request that passes unseen.
    let smuggled = format!(
        "POST {CHAT} HTTP/1.1\r\n{host}\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\n\r\n"
    );
    read_answer(&mut send(proxy.port, smuggled.as_bytes()));
    assert!(server.asked().iter().all(|asked| !asked.path.contains("smuggled")), "{:?}", server.asked());
    // Half a request, and many connections that say nothing, keep nobody else waiting.
    let _half = send(
        proxy.port,
        format!("POST {CHAT} HTTP/1.1\r\n{host}\r\nContent-Length: 10\r\n\r\n{{").as_bytes(),
    );
    let idle: Vec<_> = (0..80).map(|_| send(proxy.port, b"")).collect();
    let body = json!({ "model": "m", "messages": [{ "role": "user", "content": "hi" }] });
    assert_eq!(proxy.post(CHAT, &body).status, 200);
    drop(idle);
}

#[test]
fn a_connection_is_kept_for_the_next_request() {
    let server = Server::judging(|_, _| openai_json("yes"));
    let home = Home::new();
    let proxy = Proxy::start(&home, &server.url(), &[], &[]);
    let bytes = request("POST", CHAT, &format!("localhost:{}", proxy.port), "", &question());
    let mut stream = send(proxy.port, &bytes);
    let first = read_answer(&mut stream);
    stream.write_all(&bytes).unwrap();
    assert_eq!(read_answer(&mut stream).body, first.body);
    stream.write_all(b"GET /v1/models HTTP/1.0\r\n\r\n").unwrap();
    let mut rest = Vec::new();
    let _ = stream.read_to_end(&mut rest);
    assert!(String::from_utf8_lossy(&rest).contains(" 403 "), "{}", String::from_utf8_lossy(&rest));
}
