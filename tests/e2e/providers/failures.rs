//! Everything that goes wrong on the way to a server, and what a person is told.

use std::time::{Duration, Instant};

use serde_json::json;

use super::super::scripted::{Piece, Reply, Server, openai_event, openai_sse};
use super::{KEY, TIMEOUTS, ask, ask_request, config, openai, opened, run};
use lepo_base::error::ExitKind;
use lepo_base::hint::HintTarget;
use lepo_base::role::Role;
use lepo_model::Provider;
use lepo_model::{ChatMessage, ChatRequest, Model, ModelNotice, Retry, Timeouts, TransientFailure};

#[test]
fn a_stream_that_is_no_answer_fails_after_what_came() {
    let begun = openai_event(json!({"content": "a"}), None);
    let error = |body: &str| format!("{begun}data: {body}\n\n");
    for (what, body, text, words) in [
        ("cut off", begun.clone(), "a", "the answer was cut off"),
        ("half an event", format!("{begun}data: {{\"choi"), "a", "the answer was cut off"),
        (
            "an error",
            error(r#"{"error":{"message":"overloaded","code":529}}"#),
            "a",
            "the model failed: overloaded",
        ),
        ("an error in words", error(r#"{"error":"boom"}"#), "a", "the model failed: boom"),
        (
            "a bare error",
            format!("{begun}{{\"error\":{{\"message\":\"bare\"}}}}\n"),
            "a",
            "the model failed: bare",
        ),
        ("an error repeating the key", error(&format!(r#"{{"error":"bad {KEY}"}}"#)), "a", "bad [secret]"),
        ("no JSON", format!("{begun}data: what\u{7}ever\n\n"), "a", "the answer was cut off"),
        ("nothing but no JSON", "data: what\u{7}ever\n\n".to_owned(), "", "not an event stream: what ever"),
        ("nothing", String::new(), "", "the answer was empty"),
        ("a page", "<!doctype html>\n<p>log in".to_owned(), "", "not a chat completion: log in"),
        ("text", "hello\nthere\n".to_owned(), "", "not an event stream: hello"),
        ("another JSON", r#"{"status":"ok"}"#.to_owned(), "", "not a chat completion: {\"status\":\"ok\"}"),
        ("half a document", r#"{"choices":[{"mess"#.to_owned(), "", "the answer was cut off"),
        ("an error document", r#"{"error":{"message":"no"}}"#.to_owned(), "", "the model failed: no"),
    ] {
        let server = Server::start([Reply::new(200, body)]);
        let heard = ask(&openai(&server));
        assert_eq!(heard.text(), text, "{what}: what came before is heard first");
        assert!(heard.failure().contains(words), "{what}: {}", heard.failure());
        assert_eq!(heard.error.unwrap().kind, ExitKind::Remote);
    }
}

#[test]
fn a_connection_that_breaks_cuts_the_answer_off() {
    let begun = openai_event(json!({"content": "a"}), None);
    let server = Server::start([Reply::chunks([begun.as_bytes()]).then(Piece::Close)]);
    let heard = ask(&openai(&server));
    assert_eq!(heard.text(), "a");
    assert!(heard.failure().contains("the answer was cut off"), "{}", heard.failure());
}

#[test]
fn an_endless_line_is_given_up() {
    let piece = Piece::Bytes(vec![b'x'; 1 << 20]);
    let pieces = std::iter::once(Piece::Bytes(b"data: ".to_vec())).chain(std::iter::repeat_n(piece, 20));
    let server = Server::start([Reply::pieces(pieces)]);
    let failure = ask(&openai(&server)).failure();
    assert!(failure.contains("longer than 16 MiB"), "{failure}");
}

#[test]
fn a_refused_key_is_named_by_its_place_and_never_repeated() {
    for status in [401, 403] {
        let body = format!(r#"{{"error":{{"message":"Incorrect API key provided: {KEY}"}}}}"#);
        let server = Server::start([Reply::new(status, body.clone()), Reply::new(status, body)]);
        let mut config = openai(&server);
        let failure = ask(&config).failure();
        assert!(failure.contains("refused the key: 40"), "{failure}");
        assert!(failure.contains("the key was TEST_KEY in the environment"), "{failure}");
        config.key.value = None;
        let without = ask(&config).error.unwrap().hint_for(HintTarget::SHELL).unwrap();
        assert_eq!(without, "looked for TEST_KEY in the environment, and found none");
        assert_eq!(server.asked()[1].header("authorization"), None);
    }
}

#[test]
fn a_missing_model_is_named_without_the_querys_secrets() {
    let body = json!({"error": {"message": "the model is not here"}}).to_string();
    let server = Server::start([Reply::new(404, body)]);
    let mut config = openai(&server);
    config.base_url += "?token=hush";
    let failure = ask(&config).failure();
    assert!(failure.contains(&format!("no model \"test-1\" at {}/v1: 404", server.url())), "{failure}");
    assert!(!failure.contains("hush"), "{failure}");
}

#[test]
fn a_path_that_is_not_there_is_not_blamed_on_the_model() {
    for (path, right) in [("", "/v1"), ("/v1/chat/completions", "/v1")] {
        let server = Server::judging(|_, asked| match asked.path.as_str() {
            "/v1/chat/completions" => openai_sse(["Four."]),
            _ => Reply::new(404, r#"{"detail":"Not Found"}"#),
        });
        let mut config = openai(&server);
        config.base_url = format!("{}{path}", server.url());
        let heard = ask(&config);
        assert_eq!(heard.text(), "Four.", "{path}: {:?}", heard.error);
        assert_eq!(server.asked().last().unwrap().path, format!("{right}/chat/completions"));
    }
    let server = Server::judging(|_, _| Reply::new(405, ""));
    let failure = ask(&openai(&server)).failure();
    assert!(failure.contains("nothing answers /chat/completions at"), "{failure}");
    assert!(failure.contains("ends in /v1") && !failure.contains("no model"), "{failure}");
}

#[test]
fn what_may_pass_is_asked_again() {
    let busy = |status| Reply::new(status, "{}").header("retry-after", "0");
    let server = Server::start([busy(429), busy(503), busy(500), openai_sse(["at last"])]);
    let heard = ask(&openai(&server));
    assert_eq!(heard.text(), "at last");
    let retry = |status, attempt| {
        let (model, wait) = ("mine".to_string(), Duration::ZERO);
        ModelNotice::Retries(Retry {
            model,
            after: TransientFailure::Status(status),
            wait,
            attempt,
            tries: 3,
        })
    };
    assert_eq!(heard.notices, [retry(429, 1), retry(503, 2), retry(500, 3)]);
    assert_eq!(server.connections(), 1, "refusals are read to their end, so the connection lives on");
}

#[test]
fn asking_again_has_an_end() {
    let server = Server::start((0..9).map(|_| Reply::new(500, "oh no").header("retry-after", "0")));
    let failure = ask(&openai(&server)).failure();
    assert!(failure.contains("failed: 500 Internal Server Error: oh no"), "{failure}");
    assert_eq!(server.asked().len(), 4);
}

#[test]
fn a_long_wait_is_said_and_not_waited() {
    let server = Server::start([Reply::new(429, "{}").header("retry-after", "3600")]);
    let failure = ask(&openai(&server)).failure();
    assert!(failure.contains("to wait 3600 s"), "{failure}");
    assert_eq!(server.asked().len(), 1);
}

#[test]
fn other_refusals_are_final_and_in_the_servers_words() {
    let server = Server::start([Reply::new(400, r#"{"error":{"message":"no such field"}}"#)]);
    let failure = ask(&openai(&server)).failure();
    assert!(failure.contains("refused the request: 400 Bad Request: no such field"), "{failure}");
    assert_eq!(server.asked().len(), 1);
}

#[test]
fn another_origin_gets_nothing() {
    let thief = Server::start([openai_sse(["gotcha"])]);
    let to = format!("{}/v1/chat/completions?stolen=1", thief.url());
    for status in [301, 302, 307, 308] {
        let server = Server::start([Reply::new(status, "").header("location", &to)]);
        let failure = ask(&openai(&server)).failure();
        assert!(failure.contains("which is not followed"), "{failure}");
        assert!(!failure.contains("stolen"), "{failure}");
    }
    assert_eq!(thief.connections(), 0);
}

#[test]
fn within_its_origin_a_redirect_is_followed_with_the_request() {
    let server = Server::start([
        Reply::new(307, "").header("location", "/v2/chat/completions"),
        openai_sse(["there"]),
    ]);
    assert_eq!(ask(&openai(&server)).text(), "there");
    let asked = server.asked();
    assert_eq!((asked[1].method.as_str(), asked[1].path.as_str()), ("POST", "/v2/chat/completions"));
    assert_eq!(asked[1].body, asked[0].body);

    let server = Server::start((0..9).map(|_| Reply::new(308, "").header("location", "/v1/x")));
    assert!(ask(&openai(&server)).failure().contains("redirects in a loop"));
}

#[test]
fn a_server_that_is_down_is_not_asked_again() {
    let address = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let heard = ask(&config(Provider::Openai, &format!("http://{address}/v1?k=hush")));
    let failure = heard.failure();
    assert!(
        failure.starts_with(&format!("cannot reach http://{address}/v1: connection refused |")),
        "{failure}"
    );
    assert_eq!(heard.notices, []);
}

#[test]
fn silence_has_a_limit_before_and_within_an_answer() {
    let timeouts = Timeouts { idle: Duration::from_millis(500), ..TIMEOUTS };
    let messages = [ChatMessage::new(Role::User, "why?")];
    let request = ChatRequest { messages: &messages, ..ChatRequest::default() };

    let begun = openai_event(json!({"content": "a"}), None);
    let server = Server::start([Reply::chunks([begun.as_bytes()]).then(Piece::Wait)]);
    let heard = ask_request(&openai(&server), timeouts, request);
    assert_eq!(heard.text(), "a");
    assert!(heard.failure().contains("for 0.5 s"), "{}", heard.failure());

    let mute = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", mute.local_addr().unwrap());
    let heard = ask_request(&config(Provider::Openai, &url), timeouts, request);
    assert!(heard.failure().contains("for 0.5 s"), "{}", heard.failure());
}

#[test]
fn a_dropped_answer_closes_its_connection() {
    let begun = openai_event(json!({"content": "a"}), None);
    let server = Server::start([Reply::chunks([begun.as_bytes()])
        .then(Piece::Wait)
        .then(Piece::Bytes(vec![b'x'; 1 << 20]))
        .then(Piece::Bytes(vec![b'x'; 1 << 24]))]);
    let state = tempfile::tempdir().unwrap();
    let messages = [ChatMessage::new(Role::User, "why?")];
    run(async {
        let mut model = Model::new(&openai(&server), TIMEOUTS, state.path(), opened(), None).unwrap();
        let request = ChatRequest { messages: &messages, ..ChatRequest::default() };
        let mut answer = model.ask(request, &mut |_| ()).await.unwrap();
        assert!(answer.next().await.unwrap().is_some());
        drop(answer);
        let started = Instant::now();
        // The runtime has to turn for the connection to be closed.
        tokio::task::yield_now().await;
        tokio::task::yield_now().await;
        server.release();
        server.await_closed(1);
        assert!(started.elapsed() < TIMEOUTS.idle);
    });
}

#[test]
fn a_base_url_that_is_none_is_a_matter_of_configuration() {
    let state = tempfile::tempdir().unwrap();
    let config = config(Provider::Openai, "localhost:1234");
    let error = Model::new(&config, TIMEOUTS, state.path(), opened(), None).err().unwrap();
    assert_eq!(error.kind, ExitKind::Usage);
}
