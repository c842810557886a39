//! Recorded answers: found by the same request on any wire, not by another one, and as the user edited them.

use serde_json::{Value, json};

use super::table::{CassetteLookup, ProxyCassette};
use crate::recorder_room_tests::{Room, answer, request};
use crate::recording::ExchangeEnd;
use crate::request::ProxyRequest;
use crate::tree::IgnoredText;
use crate::wire::ProxyWire;
use crate::wires_tests::turns;
use lepo_store::store::note_edit;

const WIRES: [ProxyWire; 4] = [ProxyWire::Chat, ProxyWire::Responses, ProxyWire::Messages, ProxyWire::Ollama];

fn cassette(room: &Room, ignored: &[&str]) -> ProxyCassette {
    let ignored: Vec<String> = ignored.iter().map(|value| value.to_string()).collect();
    room.recorder.cassette(IgnoredText::new(&ignored).unwrap())
}

/// The texts and calls of the answer, or why there is none.
fn found(cassette: &ProxyCassette, wire: ProxyWire, body: &Value) -> Result<String, String> {
    let request = ProxyRequest::read(wire, "/v1", body.to_string().as_bytes()).unwrap();
    match cassette.look_up(&request).unwrap() {
        CassetteLookup::Found(reply) => {
            let calls: Vec<String> =
                reply.calls().map(|call| format!("{} {}", call.name, call.input)).collect();
            Ok([vec![reply.joined_text()], calls].concat().join(" | "))
        }
        CassetteLookup::Missed(reason) => Err(reason),
    }
}

fn chat(cassette: &ProxyCassette, body: &Value) -> Result<String, String> {
    found(cassette, ProxyWire::Chat, body)
}

#[test]
fn each_wire_answers_the_same_requests_of_every_wire() {
    for recorded in WIRES {
        let room = Room::new();
        for (body, answer) in turns(recorded) {
            room.exchange_of(recorded, &body, 200, &answer, ExchangeEnd::Whole);
        }
        let cassette = cassette(&room, &[]);
        for asked in WIRES {
            // Anthropic's requests have a limit of tokens, which the others do not.
            let same_options = (recorded == ProxyWire::Messages) == (asked == ProxyWire::Messages);
            let replies: Vec<Result<String, String>> =
                turns(asked).iter().map(|(body, _)| found(&cassette, asked, body)).collect();
            match same_options {
                true => {
                    let replies: Vec<String> = replies.into_iter().map(Result::unwrap).collect();
                    let call = "wait | get {\"b\":1,\"a\":2}";
                    let expected = [call, "it is\n", "bye"];
                    assert_eq!(replies, expected, "{recorded:?} {asked:?}");
                }
                false => {
                    let why = replies[0].clone().unwrap_err();
                    assert!(why.contains("the options differ"), "{why}");
                }
            }
        }
        assert_eq!(cassette.models(), ["m"]);
    }
}

#[test]
fn a_miss_names_the_nearest_message_and_the_difference() {
    let room = Room::new();
    let cassette = cassette(&room, &[]);
    let why = chat(&cassette, &request("u hi")).unwrap_err();
    assert!(why.starts_with("no recorded answer: nothing is recorded in "), "{why}");
    room.exchange(ProxyWire::Chat, &request("s p / u q1"), &answer("a A1"));
    room.exchange(ProxyWire::Chat, &request("s p / u q1 / a A1 / u q2"), &answer("a A2"));
    let with = |line: &str, more: Value| {
        let mut body = request(line);
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        body
    };
    let tool = json!({"tools": [{"type": "function", "function": {"name": "f", "parameters": {}}}]});
    for (body, expected) in [
        (request("s p / u q1"), Ok("A1")),
        (request("s p / u  q1 \n"), Ok("A1")),
        (with("s p / u q1", json!({"stream": true, "user": "x", "metadata": {"a": 1}})), Ok("A1")),
        (request("s p / u q1 / a A1 / u q2"), Ok("A2")),
        (request("s other / u q1"), Err("the system prompt differs")),
        (request("u q1"), Err("the system prompt differs: recorded one, asked none")),
        (request("s p / u q3"), Err("question 1 differs: recorded \"q1\", asked \"q3\"")),
        (request("s p / u q1 / a A1 / u q4"), Err("question 2 differs: recorded \"q2\", asked \"q4\"")),
        (request("s p / u q1 / a B1 / u q2"), Err("answer 1 differs: recorded \"A1\", asked \"B1\"")),
        (request("s p / u q1 / a A1 / u q2 / a A2 / u q5"), Err("question 3 is not recorded")),
        (request("s p / u q1 / c 1 f / r 1 x"), Err("call 1 is not recorded before it")),
        (with("s p / u q1", json!({"model": "n"})), Err("the model differs: recorded m, asked n")),
        (with("s p / u q1", json!({"temperature": 0})), Err("the options differ: recorded none")),
        (with("s p / u q1", tool), Err("the tools differ: recorded none")),
        (with("s p / u q1", json!({"n": 2})), Err("several answers to one request")),
    ] {
        let found = chat(&cassette, &body);
        match expected {
            Ok(text) => assert_eq!(found.as_deref(), Ok(text), "{body}"),
            Err(part) => assert!(found.clone().is_err_and(|why| why.contains(part)), "{body}: {found:?}"),
        }
    }
}

#[test]
fn a_request_that_goes_on_from_a_response_is_found_by_its_id() {
    let room = Room::new();
    let first = json!({"model": "m", "input": "q1", "instructions": "p"});
    let reply = |id: &str, text: &str| {
        json!({"id": id, "status": "completed", "output": [{"type": "message", "role": "assistant",
            "content": [{"type": "output_text", "text": text}]}]})
    };
    let (_, kept) = room.exchange(ProxyWire::Responses, &first, &reply("resp_a", "A1"));
    let next = |previous: &str| json!({"model": "m", "input": "q2", "previous_response_id": previous});
    room.exchange(ProxyWire::Responses, &next("resp_a"), &reply("resp_b", "A2"));
    let cassette = cassette(&room, &[]);
    let own = format!("resp_{}", kept.answer.unwrap());
    for (previous, expected) in [("resp_a", Some("A2")), (own.as_str(), Some("A2")), ("resp_x", None)] {
        let found = found(&cassette, ProxyWire::Responses, &next(previous));
        assert_eq!(found.as_deref().ok(), expected, "{found:?}");
    }
}

#[test]
fn an_edited_answer_wins_and_a_later_one_over_an_earlier() {
    let room = Room::new();
    let body = request("u q1");
    let (_, first) = room.exchange(ProxyWire::Chat, &body, &answer("a A1"));
    room.exchange(ProxyWire::Chat, &body, &answer("a later"));
    let replay = || chat(&cassette(&room, &[]), &body).unwrap();
    assert_eq!(replay(), "later");
    for text in ["edited", "edited again"] {
        let original = room.names().into_iter().find(|name| Some(name.id) == first.answer).unwrap();
        let (store, bytes) = (room.store(), text.as_bytes());
        let copy = store.create_bubb(original.role, false, original.prev, 0, bytes).unwrap();
        note_edit(store, original, copy, bytes);
        assert_eq!(replay(), text);
    }
}

#[test]
fn ignored_texts_do_not_count_on_either_side() {
    let room = Room::new();
    room.exchange(ProxyWire::Chat, &request("s on 2026-01-01 / u took 5 ms"), &answer("a A1"));
    for (ignored, line, is_found) in [
        (&[][..], "s on 2026-01-01 / u took 5 ms", true),
        (&[], "s on 2026-01-01 / u took 7 ms", false),
        (&[r"\d+ ms"], "s on 2026-01-01 / u took 7 ms", true),
        (&[r"\d+ ms"], "s on 2026-01-02 / u took 7 ms", false),
        (&[r"\d+ ms", r"\d{4}-\d\d-\d\d"], "s on 2026-01-02 / u took 7 ms", true),
        (&["system"], "s something else / u took 5 ms", true),
        (&["system"], "u took 5 ms", true),
        (&["(?:system)"], "u took 5 ms", false),
    ] {
        let found = chat(&cassette(&room, ignored), &request(line));
        assert_eq!(found.is_ok(), is_found, "{ignored:?} {line}: {found:?}");
    }
}

#[test]
fn a_deleted_answer_is_a_miss_and_one_of_another_process_is_found() {
    let room = Room::new();
    let cassette = cassette(&room, &[]);
    assert!(chat(&cassette, &request("u q1")).is_err());
    let (_, kept) = room.exchange(ProxyWire::Chat, &request("u q1"), &answer("a A1"));
    assert_eq!(chat(&cassette, &request("u q1")).as_deref(), Ok("A1"));
    let name = room.names().into_iter().find(|name| Some(name.id) == kept.answer).unwrap();
    std::fs::remove_file(room.dir.path().join(".lepo").join(name.to_string())).unwrap();
    assert!(chat(&cassette, &request("u q1")).is_err());
}
