//! Faults of other proxies and cassettes, by public reports.

use std::io::Read;

use serde_json::{Value, json};

use super::http::{Answer, Proxy, read_answer, request, send};
use super::kept::gzipped;
use super::replayed::NOWHERE;
use crate::home::{Home, run, until};
use crate::scripted::{Piece, Reply, Server, end, openai_json, openai_sse, said};

const CHAT: &str = "/v1/chat/completions";

fn chat(text: &str) -> Value {
    json!({ "model": "m", "messages": [{ "role": "user", "content": text }] })
}

/// The beginning of a stream, held before its rest.
fn held_stream(first: &str) -> Reply {
    Reply::pieces([Piece::Bytes(first.into()), Piece::Wait, end()])
        .header("content-type", "text/event-stream")
}

/// The report, the path of the request, and the first bytes of the answer: the client has them before anything follows.
const FIRST_BYTES: &[(&str, &str, &str)] = &[
    ("https://github.com/BerriAI/litellm/pull/29557", "/v1/messages", "event: message_start\ndata: {}\n\n"),
    (
        "https://github.com/databricks/unity-gateway/pull/361",
        "/v1/messages?beta=true",
        "event: ping\ndata: {}\n\n",
    ),
    ("https://github.com/ArcReel/ArcReel/pull/2445", "/v1/messages", ": x\n\n"),
    ("https://github.com/janeapp/riffer/pull/220", "/v1/messages", "e"),
    ("https://github.com/crmne/ruby_llm/pull/771", "/v1/responses", "event: response.created\ndata: {}\n\n"),
    ("https://github.com/ggml-org/llama.cpp/pull/20872", CHAT, ": keep-alive\n\n"),
    ("https://github.com/ayunis-core/ayunis-core/pull/656", CHAT, "data: {\"choices\":[]}\n\n"),
    ("https://github.com/ls1intum/Artemis/pull/13149", "/api/chat", "{\"message\":{\"content\":\"a\"}}\n"),
];

#[test]
fn no_piece_waits_for_the_next() {
    for (report, path, first) in FIRST_BYTES {
        let server = Server::start([held_stream(first)]);
        let home = Home::new();
        let proxy = Proxy::start(&home, &server.url(), &[], &[]);
        let mut stream = proxy.begin_post(path, &chat("hi"));
        let mut seen = Vec::new();
        while !String::from_utf8_lossy(&seen).contains(first) {
            let mut piece = [0; 1024];
            let count = stream.read(&mut piece).unwrap();
            assert!(count > 0, "{report}: {}", String::from_utf8_lossy(&seen));
            seen.extend_from_slice(&piece[..count]);
        }
        server.release();
        let asked = &server.asked()[0];
        assert_eq!(asked.path, *path, "{report}");
        // A server that packs a stream sends it in few large blocks.
        assert!(asked.header("accept-encoding").is_none_or(|value| value == "identity"), "{report}");
    }
}

/// The report, the path, whether the answer is streamed, and whether the client leaves before its first byte.
const LEAVING: &[(&str, &str, bool, bool)] = &[
    ("https://github.com/BerriAI/litellm/issues/17364", CHAT, true, false),
    ("https://github.com/BerriAI/litellm/pull/30245", "/v1/responses", true, false),
    ("https://github.com/BerriAI/litellm/pull/31499", "/v1/messages", true, true),
    ("https://github.com/BerriAI/litellm/issues/37140", CHAT, false, true),
    ("https://github.com/BerriAI/litellm/pull/30223", "/v1/messages", false, true),
    ("https://github.com/BerriAI/litellm/issues/13774", "/api/chat", true, true),
    ("https://github.com/Nayjest/lm-proxy/issues/88", CHAT, true, true),
    ("https://github.com/cardstack/boxel/pull/6102", "/v1/responses", false, true),
];

#[test]
fn a_client_that_leaves_ends_the_request_of_its_answer() {
    for (report, path, is_streamed, is_early) in LEAVING {
        let reply = held_stream("data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\"}}]}\n\n");
        let server = Server::start([if *is_early { reply.held() } else { reply }]);
        let home = Home::new();
        let proxy = Proxy::start(&home, &server.url(), &[], &[]);
        let mut body = chat("hi");
        body["stream"] = (*is_streamed).into();
        body["input"] = "hi".into();
        let mut stream = proxy.begin_post(path, &body);
        server.await_asked(1);
        if !is_early {
            stream.read_exact(&mut [0; 1]).unwrap();
        }
        drop(stream);
        // The proxy notices the closed connection first, then writes the partial answer or the failure.
        until(report, || {
            let journal = std::fs::read_to_string(home.work().join(".lepo/_journal.ndjson"));
            home.bubbs().len() == 2 || journal.is_ok_and(|lines| lines.contains("unanswered"))
        });
        server.release();
        server.release();
        server.await_closed(1);
        assert_eq!(proxy.end("-INT").code, 0, "{report}");
    }
}

/// The report, `Host` and `Origin` of a request from a web page or a name that was bound to this machine.
const PAGES: &[(&str, &str, Option<&str>)] = &[
    ("https://github.com/smithersai/smithers/issues/751", "rebound.example:PORT", None),
    (
        "https://github.com/hasamba/DFIR-Companion/pull/280",
        "evil.example:PORT",
        Some("http://evil.example:PORT"),
    ),
    (
        "https://github.com/modelcontextprotocol/conformance/issues/103",
        "localhost:PORT",
        Some("https://evil.example"),
    ),
    ("https://github.com/modelcontextprotocol/go-sdk/pull/760", "evil.example", None),
    ("https://github.com/agentgateway/agentgateway/issues/1855", "127.0.0.1.evil.example:PORT", None),
    ("https://github.com/agentgateway/agentgateway/pull/3022", "localhost.evil.example:PORT", None),
    (
        "https://github.com/felixhageloh/uebersicht/pull/488",
        "malicious.example:PORT",
        Some("http://127.0.0.1:PORT"),
    ),
    ("https://github.com/btrask/stronglink/issues/69", "127.0.0.1:1", None),
    ("https://github.com/Snowflake-Labs/sansshell/pull/283", "0.0.0.0:PORT", None),
    ("https://github.com/socketsupply/fake-api-gateway-lambda/pull/8", "dev.example:PORT", Some("null")),
];

#[test]
fn pages_and_rebound_names_reach_nothing() {
    let server = Server::start([]);
    let home = Home::new();
    let proxy = Proxy::start(&home, &server.url(), &[], &[]);
    for (report, host, origin) in PAGES {
        let port = |text: &str| text.replace("PORT", &proxy.port.to_string());
        let origin = origin.map_or(String::new(), |origin| format!("Origin: {}\r\n", port(origin)));
        let key = format!("{origin}Authorization: Bearer {}\r\n", proxy.token);
        for (method, path) in
            [("POST", CHAT), ("GET", "/v1/models"), ("OPTIONS", CHAT), ("POST", "/v1/files")]
        {
            let bytes = request(method, path, &port(host), &key, &chat("hi").to_string());
            let answer = read_answer(&mut send(proxy.port, &bytes));
            assert_eq!(answer.status, 403, "{report}: {method} {path}");
            assert_eq!(answer.header("access-control-allow-origin"), None, "{report}");
        }
    }
    assert_eq!((server.connections(), home.bubbs().len()), (0, 0));
}

/// The report, and the header that stood in a recording.
const HEADERS: &[(&str, &str)] = &[
    ("https://github.com/elifesciences/elife-xpub/issues/1058", "Authorization: Bearer canary-of-a-header"),
    ("https://github.com/canonical/ubuntu.com/pull/16555", "Api-Key: canary-of-a-header"),
    ("https://github.com/mcowger/plexus/pull/298", "x-api-key: canary-of-a-header"),
    ("https://github.com/google/adk-go/pull/1236", "x-goog-api-key: canary-of-a-header"),
    ("https://github.com/CopilotKit/aimock/pull/345", "xi-api-key: canary-of-a-header"),
    ("https://github.com/NVIDIA-NeMo/Guardrails/pull/1797", "Cookie: session=canary-of-a-header"),
];

#[test]
fn no_header_is_recorded() {
    for (report, header) in HEADERS {
        let server = Server::start([openai_json("yes").header("set-cookie", "s=canary-of-a-header")]);
        let home = Home::new();
        let proxy = Proxy::start(&home, &server.url(), &[], &[("LEPO_LOG", "debug")]);
        let host = format!("127.0.0.1:{}", proxy.port);
        let bytes = request("POST", CHAT, &host, &format!("{header}\r\n"), &chat("hi").to_string());
        assert_eq!(read_answer(&mut send(proxy.port, &bytes)).status, 200, "{report}");
        let (name, value) = header.split_once(": ").unwrap();
        assert_eq!(server.asked()[0].header(&name.to_lowercase()), Some(value), "{report}");
        let message = proxy.end("-INT").err;
        assert!(!message.contains("canary"), "{report}: {message}");
        let found = run(home.program("grep", &["-rl", "canary-of-a", home.path().to_str().unwrap()]), b"");
        assert_eq!(found.out, "", "{report}");
    }
}

/// Records these requests with these answers, and starts the proxy again without a server.
fn cassette(requests: &[(Value, Reply)], ignored: &str) -> (Home, Proxy) {
    let server = Server::start(requests.iter().map(|(_, reply)| reply.clone()));
    let home = Home::new();
    let proxy = Proxy::start(&home, &server.url(), &[], &[]);
    for (body, _) in requests {
        assert_eq!(proxy.post(CHAT, body).status, 200);
    }
    assert_eq!(proxy.end("-INT").code, 0);
    if !ignored.is_empty() {
        home.write("work/.lepo/_config.toml", format!("[recorded]\nignore = [{ignored}]\n"));
    }
    let proxy = Proxy::start(&home, NOWHERE, &["--recorded=only"], &[]);
    (home, proxy)
}

fn answer_text(answer: &Answer) -> String {
    let body = answer.json();
    let text = body.pointer("/choices/0/message/content").or(body.pointer("/error/message"));
    text.and_then(Value::as_str).unwrap_or_default().to_string()
}

/// A turn with a call whose result tells the time.
fn with_result(id: &str, result: &str) -> Value {
    json!({ "model": "m", "messages": [
        { "role": "user", "content": "when?" },
        { "role": "assistant", "content": null, "tool_calls": [
            { "id": id, "type": "function", "function": { "name": "now", "arguments": "{}" } }] },
        { "role": "tool", "tool_call_id": id, "content": result },
    ] })
}

type Case = (&'static str, fn());

const CASSETTES: &[Case] = &[
    // A changed request was answered with what was recorded for another.
    ("https://github.com/mampfes/hacs_waste_collection_schedule/issues/7102", || {
        let (_home, proxy) = cassette(&[(chat("one"), openai_json("first"))], "");
        for (name, value) in [
            ("temperature", json!(1)),
            ("model", json!("n")),
            (
                "tools",
                json!([{
            "type": "function", "function": { "name": "f", "parameters": { "type": "object" } } }]),
            ),
        ] {
            let mut body = chat("one");
            body[name] = value;
            let missed = proxy.post(CHAT, &body);
            assert_eq!(missed.status, 404, "{name}: {}", answer_text(&missed));
            assert!(
                answer_text(&missed).contains(name.trim_end_matches('s')),
                "{name}: {}",
                answer_text(&missed)
            );
        }
    }),
    // Calls that do not depend on each other come in another order.
    ("https://github.com/BerriAI/litellm/pull/37525", || {
        let (_home, proxy) = cassette(&[(chat("a"), openai_json("A")), (chat("b"), openai_json("B"))], "");
        for (question, answer) in [("b", "B"), ("a", "A"), ("b", "B")] {
            assert_eq!(answer_text(&proxy.post(CHAT, &chat(question))), answer);
        }
    }),
    // Content that cannot be read as text is not all the same.
    ("https://github.com/BerriAI/litellm/pull/28110", || {
        let of = |data: &str| {
            json!({ "model": "m", "messages": [{ "role": "user", "content": [
            { "type": "text", "text": "hear" }, { "type": "input_audio", "input_audio": { "data": data, "format": "wav" } }] }] })
        };
        let (_home, proxy) = cassette(&[(of("YWFh"), openai_json("a")), (of("YmJi"), openai_json("b"))], "");
        assert_eq!(answer_text(&proxy.post(CHAT, &of("YmJi"))), "b");
        assert_eq!(answer_text(&proxy.post(CHAT, &of("YWFh"))), "a");
        assert_eq!(proxy.post(CHAT, &of("Y2Nj")).status, 404);
    }),
    // A packed answer was played back unpacked, with the header of the packed one.
    ("https://github.com/lmnr-ai/lmnr-python/pull/326", || {
        let packed = gzipped(b"{\"id\":\"c\",\"choices\":[{\"index\":0,\"message\":{\"role\":\"assistant\",\"content\":\"packed\"},\"finish_reason\":\"stop\"}]}");
        let reply = Reply::new(200, packed)
            .header("content-type", "application/json")
            .header("content-encoding", "gzip");
        let (_home, proxy) = cassette(&[(chat("one"), reply)], "");
        let answer = proxy.post(CHAT, &chat("one"));
        assert_eq!((answer_text(&answer).as_str(), answer.header("content-encoding")), ("packed", None));
    }),
    ("https://github.com/teng-lin/notebooklm-py/issues/773", || {
        let (_home, proxy) = cassette(&[(chat("one"), openai_json("whole"))], "");
        let host = format!("127.0.0.1:{}", proxy.port);
        let bytes = request("POST", CHAT, &host, "Accept-Encoding: gzip, br\r\n", &chat("one").to_string());
        let answer = read_answer(&mut send(proxy.port, &bytes));
        assert_eq!((answer_text(&answer).as_str(), answer.header("content-encoding")), ("whole", None));
    }),
    // Streams were recorded empty, and every test that played one back passed.
    ("https://github.com/arcships/aimux/pull/102", || {
        let mut body = chat("one");
        body["stream"] = true.into();
        let (_home, proxy) = cassette(&[(body.clone(), openai_sse(["stre", "amed"]))], "");
        let answer = proxy.post(CHAT, &body);
        assert!(String::from_utf8_lossy(&answer.body).contains("streamed"), "{answer:?}");
        assert_eq!(answer_text(&proxy.post(CHAT, &chat("one"))), "streamed");
    }),
    // The second turn has a result with the time in it.
    ("https://github.com/lacs-project/sysknife/issues/182", || {
        let recorded = [(with_result("call_1", "at 10:00:01"), openai_json("late"))];
        let (_home, proxy) = cassette(&recorded, "");
        assert_eq!(proxy.post(CHAT, &with_result("call_1", "at 11:30:59")).status, 404);
        let (_home, proxy) = cassette(&recorded, "'\\d\\d:\\d\\d:\\d\\d'");
        assert_eq!(answer_text(&proxy.post(CHAT, &with_result("call_1", "at 11:30:59"))), "late");
    }),
    // Ids that a provider makes anew are not what was asked.
    ("https://github.com/mishrasanjeev/agentic-org/pull/1290", || {
        let (_home, proxy) = cassette(&[(with_result("call_1", "ten"), openai_json("late"))], "");
        assert_eq!(answer_text(&proxy.post(CHAT, &with_result("toolu_other", "ten"))), "late");
    }),
    // Why an answer ended is part of it.
    ("https://github.com/mergewatch/mergewatch.ai/issues/491", || {
        let reply = json!({ "id": "c", "choices": [{ "index": 0, "finish_reason": "length",
            "message": { "role": "assistant", "content": "cut" } }], "usage": { "prompt_tokens": 7, "completion_tokens": 1 } });
        let reply = Reply::new(200, reply.to_string()).header("content-type", "application/json");
        let (_home, proxy) = cassette(&[(chat("one"), reply)], "");
        let body = proxy.post(CHAT, &chat("one")).json();
        assert_eq!(
            (&body["choices"][0]["finish_reason"], &body["usage"]["prompt_tokens"]),
            (&json!("length"), &json!(7))
        );
    }),
    // A miss is loud, and goes nowhere.
    ("https://github.com/cognizant-ai-lab/neuro-san/pull/1248", || {
        let server = Server::start([openai_json("never")]);
        let home = Home::new();
        home.ok(&["init"]);
        let proxy = Proxy::start(&home, &server.url(), &["--recorded=only"], &[]);
        assert_eq!(proxy.post(CHAT, &chat("one")).status, 404);
        assert_eq!((server.connections(), home.bubbs().len()), (0, 0));
    }),
    // A repeated request gets the same answer each time.
    ("https://github.com/lacs-project/sysknife/pull/171", || {
        let (_home, proxy) =
            cassette(&[(chat("one"), openai_json("first")), (chat("one"), openai_json("second"))], "");
        let first = proxy.post(CHAT, &chat("one")).body;
        for _ in 0..3 {
            assert_eq!(proxy.post(CHAT, &chat("one")).body, first);
        }
    }),
    // What counts tokens is passed on with its query, and kept out.
    ("https://github.com/ericc-ch/copilot-api/issues/124", || {
        let server = Server::start([Reply::new(200, "{\"input_tokens\":3}")]);
        let home = Home::new();
        let proxy = Proxy::start(&home, &server.url(), &[], &[]);
        let answer = proxy.post("/v1/messages/count_tokens?beta=true", &chat("hi"));
        assert_eq!((answer.status, &answer.json()["input_tokens"]), (200, &json!(3)));
        assert_eq!(server.asked()[0].path, "/v1/messages/count_tokens?beta=true");
        assert_eq!(home.bubbs().len(), 0);
    }),
    // A packed stream is no text, and comes through byte for byte.
    ("https://github.com/Wei-Shaw/claude-relay-service/issues/1030", || {
        let packed = gzipped(
            b"data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"packed\"}}]}\n\ndata: [DONE]\n\n",
        );
        let reply = Reply::new(200, packed.clone())
            .header("content-type", "text/event-stream")
            .header("content-encoding", "gzip");
        let server = Server::start([reply]);
        let home = Home::new();
        let proxy = Proxy::start(&home, &server.url(), &[], &[]);
        let answer = proxy.post(CHAT, &chat("hi"));
        assert_eq!((answer.body, home.ok(&["show", "-1"]).as_str()), (packed, "packed"));
    }),
    // A length that belongs to another body is not handed on with a stream.
    ("https://github.com/braintrustdata/braintrust-proxy/pull/1124", || {
        let reply =
            Reply::pieces([said("Some "), said("words."), end()]).header("content-type", "text/event-stream");
        let server = Server::start([reply]);
        let home = Home::new();
        let proxy = Proxy::start(&home, &server.url(), &[], &[]);
        let answer = proxy.post(CHAT, &chat("hi"));
        assert!(answer.body.ends_with(b"data: [DONE]\n\n"), "{answer:?}");
        let length = answer.header("content-length").map(|length| length.parse::<usize>().unwrap());
        assert!(length.is_none_or(|length| length == answer.body.len()), "{answer:?}");
    }),
];

#[test]
fn cassettes_and_streams_of_others() {
    for (report, happens) in CASSETTES {
        let result = std::panic::catch_unwind(happens);
        assert!(result.is_ok(), "{report}");
    }
}
