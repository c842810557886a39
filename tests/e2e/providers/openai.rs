//! OpenAI's wire: everything that servers make of it.

use serde_json::{Value, json};

use super::super::scripted::{Piece, Reply, Server, openai_event, openai_json, openai_sse, openai_stream};
use super::{KEY, ask, openai};
use lepo_model::{ChatEvent, FinishReason, ToolCall, Usage};

#[test]
fn an_answer_streams_and_says_what_it_cost() {
    let server = Server::start([openai_sse(["Hel", "lo ", "세상"])]);
    let heard = ask(&openai(&server));
    let usage = Usage { input: Some(12), output: Some(34), ..Usage::default() };
    assert_eq!(heard.text(), "Hello 세상");
    // Texts that arrive at once are one event.
    let others = heard.whole().into_iter().filter(|event| !matches!(event, ChatEvent::Text(_)));
    assert_eq!(others.collect::<Vec<_>>(), [ChatEvent::Usage(usage), ChatEvent::Done(FinishReason::Stop)]);

    let asked = &server.asked()[0];
    assert_eq!((asked.method.as_str(), asked.path.as_str()), ("POST", "/v1/chat/completions"));
    assert_eq!(asked.header("authorization"), Some(format!("Bearer {KEY}").as_str()));
    assert_eq!(asked.header("content-type"), Some("application/json"));
    let expected = json!({"model": "test-1", "messages": [{"role": "user", "content": "why?"}],
        "stream": true, "stream_options": {"include_usage": true}, "temperature": 0.1});
    assert_eq!(asked.json(), expected);
}

#[test]
fn a_query_of_the_base_url_stays_where_it_belongs() {
    let server = Server::start([openai_sse(["a"])]);
    let mut config = openai(&server);
    config.base_url += "/?api-version=3";
    assert_eq!(ask(&config).text(), "a");
    assert_eq!(server.asked()[0].path, "/v1/chat/completions?api-version=3");
}

#[test]
fn frames_may_be_split_and_dressed_anyhow() {
    let stream = openai_stream(["가나", "🙂"]);
    let dressed = stream.replace("data: ", ": keep-alive\n\nevent: message\nid: 7\nretry: 10\ndata:");
    for (what, stream) in [
        ("plain", stream.clone()),
        ("CRLF", stream.replace('\n', "\r\n")),
        ("comments and other fields", dressed),
        ("a byte order mark", format!("\u{feff}{stream}")),
        ("empty lines first", format!("\n\r\n\n{stream}")),
        ("no last empty line", stream.trim_end().to_owned()),
        ("junk after the end", format!("{stream}data: {{oops\n\n")),
        ("no usage, no [DONE]", stream.split_inclusive("\n\n").take(3).collect()),
        ("[DONE] alone", openai_event(json!({"content": "가나🙂"}), None) + "data: [DONE]\n\n"),
        ("data over two lines", stream.replace(r#"{"choices""#, "{\ndata: \"choices\"")),
    ] {
        let bytes = stream.as_bytes();
        let cut = stream.find('나').unwrap_or(bytes.len() / 2) + 1;
        let (head, tail) = bytes.split_at(cut.min(bytes.len()));
        for (how, reply) in [
            ("whole", Reply::chunks([bytes])),
            ("inside a character", Reply::chunks([head, tail])),
            ("byte by byte", Reply::chunks(bytes.chunks(1))),
        ] {
            let server = Server::start([reply]);
            let heard = ask(&openai(&server));
            assert_eq!(heard.text(), "가나🙂", "{what}, {how}");
            let events = heard.whole();
            assert_eq!(events.last(), Some(&ChatEvent::Done(FinishReason::Stop)), "{what}, {how}");
        }
    }
}

#[test]
fn a_reason_to_end_is_enough_even_if_the_stream_stays_open() {
    let server =
        Server::start([Reply::chunks([openai_event(json!({"content": "a"}), Some("length")).as_bytes()])
            .then(Piece::Wait)]);
    let heard = ask(&openai(&server));
    assert_eq!(heard.whole(), [ChatEvent::Text("a".into()), ChatEvent::Done(FinishReason::Length)]);
}

#[test]
fn thinking_is_heard_under_each_of_its_names() {
    for (what, delta) in [
        ("DeepSeek", json!({"reasoning_content": "hm", "content": null})),
        ("OpenRouter", json!({"reasoning": "hm", "content": ""})),
        ("both names", json!({"reasoning": "hm", "reasoning_content": "hm"})),
        ("an object", json!({"reasoning": {"type": "text", "text": "hm"}})),
        ("a list", json!({"reasoning": [{"text": "h"}, {"summary": "m"}]})),
        ("Mistral", json!({"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}]})),
    ] {
        let stream = openai_event(delta, None) + &openai_stream(["so"]);
        let server = Server::start([Reply::new(200, stream)]);
        let heard = ask(&openai(&server));
        assert_eq!((heard.thinking().as_str(), heard.text().as_str()), ("hm", "so"), "{what}");
    }
}

#[test]
fn an_answer_that_does_not_stream_is_understood() {
    let server = Server::start([openai_json("all at once")]);
    let heard = ask(&openai(&server));
    assert_eq!(heard.text(), "all at once");
    assert_eq!(heard.whole().last(), Some(&ChatEvent::Done(FinishReason::Stop)));
}

#[test]
fn of_a_delta_and_a_message_in_one_choice_only_one_counts() {
    let event = |delta: Value, message: Value, finish: Value| json!({"choices": [{"delta": delta, "message": message, "finish_reason": finish}]});
    let said = |text: &str| json!({"role": "assistant", "content": text});
    // Perplexity repeats in each event what came so far.
    let stream: String = [
        event(said("Hel"), said("Hel"), Value::Null),
        event(said("lo"), said("Hello"), Value::Null),
        event(said(""), said("Hello"), json!("stop")),
    ]
    .iter()
    .map(|event| format!("data: {event}\n\n"))
    .collect();
    let null = format!("data: {}\n\n", event(said("Hello"), Value::Null, json!("stop")));
    let whole = event(said(""), said("Hello"), json!("stop")).to_string();
    for body in [stream, null, whole] {
        let server = Server::start([Reply::new(200, body.clone())]);
        let heard = ask(&openai(&server));
        assert_eq!(heard.text(), "Hello", "{body}");
        assert_eq!(heard.whole().last(), Some(&ChatEvent::Done(FinishReason::Stop)), "{body}");
    }
}

#[test]
fn an_answer_is_not_lost_for_a_character_or_a_count() {
    let event = |text: &str| format!(r#"data: {{"choices":[{{"delta":{{"content":"{text}"}}}}]}}"#) + "\n\n";
    let end = openai_event(json!({}), Some("stop"));
    for (what, stream, text) in [
        ("half a pair", event(r"a\ud83d") + &event(r"\ude00b") + &end, "a\u{fffd}\u{fffd}b"),
        ("a float", event("a") + &end + "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":3.0}}\n\n", "a"),
        (
            "no count",
            event("a") + &end + "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":\"x\"}}\n\n",
            "a",
        ),
        ("a usage of another form", event("a") + &end + "data: {\"choices\":[],\"usage\":[]}\n\n", "a"),
        ("white space", event("a") + "data: [DONE] \n\n", "a"),
    ] {
        let server = Server::start([Reply::new(200, stream)]);
        let heard = ask(&openai(&server));
        assert_eq!(heard.text(), text, "{what}");
        assert_eq!(heard.whole().last(), Some(&ChatEvent::Done(FinishReason::Stop)), "{what}");
    }
    let mut bytes = event("a?b").into_bytes();
    bytes.iter_mut().filter(|byte| **byte == b'?').for_each(|byte| *byte = 0xff);
    let server = Server::start([Reply::new(200, [bytes, end.into_bytes()].concat())]);
    assert_eq!(ask(&openai(&server)).text(), "a\u{fffd}b");
}

/// The stream of these pieces of tool calls.
fn calling(pieces: &[Value]) -> Reply {
    let mut stream: String =
        pieces.iter().map(|piece| openai_event(json!({"tool_calls": [piece]}), None)).collect();
    stream += &openai_event(json!({}), Some("tool_calls"));
    Reply::new(200, stream + "data: [DONE]\n\n")
}

#[test]
fn tool_calls_are_put_together_from_their_pieces() {
    let piece = |index: Value, id: Value, name: Value, arguments: Value| json!({"index": index, "id": id, "function": {"name": name, "arguments": arguments}});
    let null = || Value::Null;
    let two = [("c1", "read", json!({"path": "a"})), ("c2", "list", json!({}))];
    for (what, pieces, expected) in [
        (
            "in turns, by index",
            vec![
                piece(json!(0), json!("c1"), json!("read"), json!("")),
                piece(json!(1), json!("c2"), json!("list"), json!("{")),
                piece(json!(0), null(), null(), json!("{\"path\"")),
                piece(json!(1), null(), null(), json!("}")),
                piece(json!(0), null(), null(), json!(":\"a\"}")),
            ],
            two.to_vec(),
        ),
        (
            "every one with index 0",
            vec![
                piece(json!(0), json!("c1"), json!("read"), json!("{\"path\":\"a\"}")),
                piece(json!(0), json!("c2"), json!("list"), json!("{}")),
            ],
            two.to_vec(),
        ),
        (
            "no index, id and name repeated, arguments as an object",
            vec![
                piece(null(), json!("c1"), json!("read"), json!("{\"pa")),
                piece(null(), json!("c1"), json!("read"), json!("th\":\"a\"}")),
                piece(null(), json!("c2"), json!("list"), json!({})),
            ],
            two.to_vec(),
        ),
        (
            "no id, and arguments that are no JSON",
            vec![piece(json!(0), null(), json!("run"), json!("ls -l"))],
            vec![("call_1", "run", json!("ls -l"))],
        ),
    ] {
        let server = Server::start([calling(&pieces)]);
        let mut expected: Vec<ChatEvent> = expected
            .into_iter()
            .map(|(id, name, arguments)| {
                ChatEvent::ToolCall(ToolCall { id: id.into(), name: name.into(), arguments })
            })
            .collect();
        expected.push(ChatEvent::Done(FinishReason::ToolCalls));
        assert_eq!(ask(&openai(&server)).whole(), expected, "{what}");
    }
}
