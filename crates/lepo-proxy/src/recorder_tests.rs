//! Conversations of programs, request by request, and the tree that they become.

use lepo_base::role::Role;
use lepo_store::store::Store;
use serde_json::json;

use crate::recorder_room_tests::{Room, answer, request};
use crate::recording::{ExchangeEnd, ExchangeNote};
use crate::wire::ProxyWire;

#[test]
fn a_program_that_sends_its_whole_history_makes_one_path() {
    let mut room = Room::new();
    for reopens in [false, true] {
        for (line, reply, new) in [
            ("s p / u q1", "a A1", 2),
            ("s p / u q1 / a A1 / u q2", "a A2", 1),
            ("s p / u q1 / a A1 / u q2 / a A2 / u q3", "a A3", 1),
        ] {
            if reopens {
                room.reopen();
            }
            let (found, exchange) = room.exchange(ProxyWire::Chat, &request(line), &answer(reply));
            assert_eq!(
                (found, exchange.input, exchange.output),
                (if reopens { 0 } else { new }, Some(5), Some(2))
            );
            let facts = room.facts(exchange.answer.unwrap());
            assert_eq!((facts.what.as_str(), facts.finish.as_deref()), ("answer", Some("stop")));
            assert_eq!(
                (facts.client.as_deref(), facts.response.as_deref()),
                (Some("test/1"), Some("chatcmpl-1"))
            );
            assert_eq!(room.texts(&[facts.system.unwrap()]), ["p"]);
            if !reopens {
                continue;
            }
        }
        let expected = match reopens {
            false => "s1 p\n u0 q1\n  a0 A1\n   u0 q2\n    a0 A2\n     u0 q3\n      a0 A3",
            // Repeats the requests, which adds a second answer to each.
            true => {
                "s1 p\n u0 q1\n  a0 A1\n   u0 q2\n    a0 A2\n     u0 q3\n      a0 A3\n      a0 A3\n    a0 A2\n  a0 A1"
            }
        };
        assert_eq!(sorted(&room.tree()), sorted(expected));
    }
}

fn sorted(tree: &str) -> Vec<&str> {
    let mut lines: Vec<&str> = tree.lines().collect();
    lines.sort_unstable();
    lines
}

#[test]
fn an_edited_history_is_a_fork_and_the_system_text_may_change() {
    let mut room = Room::new();
    let say = |room: &Room, line: &str, reply: &str| {
        room.exchange(ProxyWire::Chat, &request(line), &answer(reply)).0
    };
    assert_eq!(say(&room, "s p / u q1", "a A1"), 2);
    assert_eq!(say(&room, "s p / u q1 / a A1 / u q2", "a A2"), 1);
    assert_eq!(say(&room, "s p / u q1 / a A1 / u other", "a B2"), 1, "a fork");
    assert_eq!(say(&room, "s p / u new", "a N"), 1, "another question under the same prompt");
    room.reopen();
    assert_eq!(say(&room, "s changed / u q1 / a A1 / u q2 / a A2 / u q3", "a A3"), 2, "the path goes on");
    assert_eq!(say(&room, "s changed / u q1 / a A1 / u q2 / a A2 / u q3 / a A3 / u q4", "a A4"), 1);
    room.reopen();
    assert_eq!(
        say(&room, "s changed / u q1 / a A1 / u q2 / a A2 / u q3 / a A3 / u q4 / a A4 / u q5", "a A5"),
        1
    );
    assert_eq!(
        say(&room, "s third / u q1", "a T"),
        2,
        "without an answer in common it is another conversation"
    );
    assert_eq!(
        room.tree(),
        "s1 p\n u0 q1\n  a0 A1\n   u0 q2\n    a0 A2\n     s1 changed\n      u0 q3\n       a0 A3\n        u0 q4\n         \
         a0 A4\n          u0 q5\n           a0 A5\n   u0 other\n    a0 B2\n u0 new\n  a0 N\ns1 third\n u0 q1\n  a0 T"
    );
}

#[test]
fn calls_and_results_are_beside_the_path_and_count() {
    let mut room = Room::new();
    for reopens in [false, true] {
        let say = |room: &mut Room, line: &str, reply: &str| {
            if reopens {
                room.reopen();
            }
            let line = if reopens { line.replace("q1", "w1") } else { line.to_string() };
            room.exchange(ProxyWire::Chat, &request(&format!("s p / {line}")), &answer(reply))
        };
        let (new, exchange) = say(&mut room, "u q1", "c id1 get");
        assert_eq!(new, if reopens { 1 } else { 2 });
        let first = room.facts(exchange.answer.unwrap());
        assert_eq!((first.finish.as_deref(), first.after.len()), (Some("tools"), 0));
        assert_eq!(first.made[0].call.as_deref(), Some("id1"));
        let (new, exchange) = say(&mut room, "u q1 / c id1 get / r id1 found", "c id2 put");
        assert_eq!(new, 1);
        let facts = room.facts(exchange.answer.unwrap());
        assert_eq!(room.texts(&facts.after), ["get|{\"a\":1}", "found"]);
        let line = "u q1 / c id1 get / r id1 found / c id2 put / r id2 done";
        let (new, exchange) = say(&mut room, line, "a A1");
        assert_eq!(new, 1);
        let facts = room.facts(exchange.answer.unwrap());
        assert_eq!(room.texts(&facts.after), ["put|{\"a\":1}", "done"]);
        assert_eq!(say(&mut room, &format!("{line} / a A1 / u q2"), "a A2").0, 1);
        // Another result is another path, of which the beginning is known.
        let other = "u q1 / c id1 get / r id1 lost";
        assert_eq!(say(&mut room, other, "a B1").0, 1);
        assert_eq!(say(&mut room, &format!("{other} / a B1 / u b2"), "a B2").0, 1);
    }
    let one = |question: &str| {
        format!(
            " u0 {question}\n  a1 get|{{\"a\":1}}\n   t1 found\n   t1 lost\n  a1 put|{{\"a\":1}}\n   t1 done\n  \
             a0 A1\n   u0 q2\n    a0 A2\n  a0 B1\n   u0 b2\n    a0 B2"
        )
    };
    assert_eq!(room.tree(), format!("s1 p\n{}\n{}", one("q1"), one("w1")));
}

#[test]
fn a_system_text_that_changes_in_a_tool_loop_is_a_leaf_once() {
    let mut room = Room::new();
    let say = |room: &Room, line: &str, reply: &str| {
        room.exchange(ProxyWire::Chat, &request(line), &answer(reply)).0
    };
    assert_eq!(say(&room, "s p / u q1", "c id1 get"), 2);
    assert_eq!(say(&room, "s now / u q1 / c id1 get / r id1 x", "c id2 get"), 2);
    room.reopen();
    assert_eq!(say(&room, "s now / u q1 / c id1 get / r id1 x / c id2 get / r id2 y", "a A"), 1);
    assert_eq!(say(&room, "s now / u q1 / c id1 get / r id1 x / c id2 get / r id2 y / a A / u q2", "a B"), 1);
    assert_eq!(
        room.tree(),
        "s1 p\n u0 q1\n  a1 get|{\"a\":1}\n   t1 x\n  s1 now\n  a1 get|{\"a\":1}\n   t1 y\n  a0 A\n   u0 q2\n    a0 B"
    );
}

#[test]
fn a_prefill_is_not_written_and_begins_the_answer() {
    let room = Room::new();
    let body = json!({"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "q"},
        {"role": "assistant", "content": "{\"a\":"}]});
    let reply = json!({"id": "msg_1", "type": "message", "role": "assistant", "stop_reason": "end_turn",
        "content": [{"type": "text", "text": "1}"}],
        "usage": {"input_tokens": 3, "cache_read_input_tokens": 4, "output_tokens": 1}});
    let (new, exchange) = room.exchange(ProxyWire::Messages, &body, &reply);
    assert_eq!((new, exchange.input), (1, Some(7)));
    assert_eq!(room.facts(exchange.answer.unwrap()).prefill.as_deref(), Some("{\"a\":"));
    let next = json!({"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "q"},
        {"role": "assistant", "content": [{"type": "text", "text": "{\"a\":1}"}]}, {"role": "user", "content": "q2"}]});
    assert_eq!(room.exchange(ProxyWire::Messages, &next, &reply).0, 1);
    assert_eq!(room.tree(), "u0 q\n a0 {\"a\":1}\n  u0 q2\n   a0 1}");
}

#[test]
fn several_answers_are_siblings() {
    let room = Room::new();
    let mut body = request("u q");
    body["n"] = 2.into();
    let choice = |index: u64, text: &str| {
        json!({"index": index, "finish_reason": "stop",
        "message": {"role": "assistant", "content": text}})
    };
    let reply = json!({"choices": [choice(0, "one"), choice(1, "two")], "usage": {"prompt_tokens": 5}});
    let (_, exchange) = room.exchange(ProxyWire::Chat, &body, &reply);
    assert_eq!(room.tree(), "u0 q\n a0 one\n a0 two");
    assert_eq!(room.facts(exchange.answer.unwrap()).input, Some(5));
    assert_eq!(room.exchange(ProxyWire::Chat, &request("u q / a two / u q2"), &answer("a A")).0, 1);
}

#[test]
fn a_response_is_continued_by_its_id() {
    let mut room = Room::new();
    let reply = |id: &str, text: &str| {
        json!({"id": id, "object": "response", "status": "completed", "output": [
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]}]})
    };
    let call = json!({"id": "resp_2", "status": "completed", "output": [{"type": "function_call", "call_id": "c1",
        "name": "get", "arguments": "{}"}]});
    let first = json!({"model": "m", "instructions": "p", "input": "q1"});
    let (new, one) = room.exchange(ProxyWire::Responses, &first, &reply("resp_1", "A1"));
    assert_eq!(new, 2);
    let second = json!({"model": "m", "previous_response_id": "resp_1", "input": "q2"});
    assert_eq!(room.exchange(ProxyWire::Responses, &second, &call).0, 1);
    room.reopen();
    let third = json!({"model": "m", "previous_response_id": "resp_2", "input": [
        {"type": "function_call_output", "call_id": "c1", "output": "x"}]});
    let (new, two) = room.exchange(ProxyWire::Responses, &third, &reply("resp_3", "A3"));
    assert_eq!(new, 1);
    let facts = room.facts(two.answer.unwrap());
    assert_eq!((room.texts(&facts.after), facts.system.is_some()), (vec!["get|{}".into(), "x".into()], true));
    // The id of an answer that was made again from the store.
    let own =
        json!({"model": "m", "previous_response_id": format!("resp_{}", one.answer.unwrap()), "input": "q2"});
    assert_eq!(room.exchange(ProxyWire::Responses, &own, &reply("resp_4", "B2")).0, 0);
    let unknown = json!({"model": "m", "previous_response_id": "resp_x", "input": "q9"});
    let (new, exchange) = room.exchange(ProxyWire::Responses, &unknown, &reply("resp_5", "A9"));
    assert_eq!((new, exchange.notes), (1, vec![ExchangeNote::UnknownResponse]));
    assert_eq!(
        room.tree(),
        "s1 p\n u0 q1\n  a0 A1\n   u0 q2\n    a1 get|{}\n     t1 x\n    a0 A3\n    a0 B2\nu0 q9\n a0 A9"
    );
}

#[test]
fn failures_are_kept_as_do_keeps_them() {
    let half = "data: {\"choices\":[{\"delta\":{\"content\":\"Hel\"}}]}\n\ndata: {\"choices\":[{\"delta\":{\"content\":\"lo\"}}]}\n\n";
    let thinking = "data: {\"choices\":[{\"delta\":{\"reasoning_content\":\"hm\"}}]}\n\n";
    let error = "data: {\"error\":{\"message\":\"overloaded\"}}\n\n";
    for (status, answer, end, tree, what, failed) in [
        (200, half, ExchangeEnd::Cut, "u0 q\n a1 Hello", "partial", false),
        (200, half, ExchangeEnd::Failed, "u0 q\n a1 Hello", "partial", true),
        (200, half, ExchangeEnd::Whole, "u0 q\n a1 Hello", "partial", true),
        (200, thinking, ExchangeEnd::Failed, "u0 q\n a1 <think>|hm|</think>", "partial", true),
        (200, thinking, ExchangeEnd::Cut, "u0 q", "unanswered", false),
        (200, error, ExchangeEnd::Whole, "u0 q", "failed", true),
        (429, "{\"error\":{\"message\":\"slow down\"}}", ExchangeEnd::Whole, "u0 q", "failed", true),
        (200, "no json", ExchangeEnd::Whole, "u0 q", "failed", true),
        (200, "", ExchangeEnd::Cut, "u0 q", "unanswered", false),
        (
            200,
            "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n",
            ExchangeEnd::Whole,
            "u0 q",
            "empty",
            false,
        ),
        (200, &[half, "data: [DONE]\n\n"].concat(), ExchangeEnd::Failed, "u0 q\n a0 Hello", "answer", false),
    ] {
        let room = Room::new();
        let mut body = request("u q");
        body["stream"] = true.into();
        room.exchange_of(ProxyWire::Chat, &body, status, answer, end);
        assert_eq!(room.tree(), tree, "{status} {answer} {end:?}");
        let record = room.store().journal().records().last().unwrap();
        assert_eq!((record.what.as_str(), record.failed), (what, failed), "{status} {answer} {end:?}");
        assert_eq!(record.bubb.is_none() && what != "partial", record.under.is_some(), "{answer}");
    }
}

#[test]
fn what_comes_through_is_masked() {
    let room = Room::new();
    let token = format!("sk-{}-api03-{}", "ant", "aZ7Or0xhGfxTEUQXbx6Ppv9AVlolLA1z");
    let line = format!("s p {token} / u q {token}");
    let mut first = answer("c id1 get");
    first["choices"][0]["message"]["tool_calls"][0]["function"]["arguments"] =
        format!("{{\"k\":\"{token}\"}}").into();
    room.exchange(ProxyWire::Chat, &request(&line), &first);
    let call = first["choices"][0]["message"].clone();
    let mut body = request(&format!("{line} / r id1 {token}"));
    body["messages"].as_array_mut().unwrap().insert(2, call);
    let stream = format!(
        "data: {{\"choices\":[{{\"delta\":{{\"content\":\"it is {}\"}}}}]}}\n\n\
         data: {{\"choices\":[{{\"delta\":{{\"content\":\"{} end\"}}}}]}}\n\ndata: [DONE]\n\n",
        token.split_at(9).0,
        token.split_at(9).1
    );
    assert_eq!(room.exchange_of(ProxyWire::Chat, &body, 200, &stream, ExchangeEnd::Whole).0, 1);
    let mask = "[secret: anthropic-key]";
    assert_eq!(
        room.tree(),
        format!(
            "s1 p {mask}\n u0 q {mask}\n  a1 get|{{\"k\":\"{mask}\"}}\n   t1 {mask}\n  a0 it is {mask} end"
        )
    );
    for entry in walk(room.dir.path()) {
        assert!(!String::from_utf8_lossy(&std::fs::read(&entry).unwrap()).contains(&token), "{entry:?}");
    }
}

fn walk(dir: &std::path::Path) -> Vec<std::path::PathBuf> {
    let (mut files, mut dirs) = (Vec::new(), vec![dir.to_path_buf()]);
    while let Some(dir) = dirs.pop() {
        for entry in std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()) {
            if entry.is_dir() { dirs.push(entry) } else { files.push(entry) }
        }
    }
    files
}

#[test]
fn two_requests_at_once_write_their_beginning_once() {
    let room = Room::new();
    std::thread::scope(|scope| {
        for number in 0..8 {
            let room = &room;
            scope.spawn(move || {
                let line = format!("s p / u q1 / a A1 / u q{number}");
                room.exchange(ProxyWire::Chat, &request(&line), &answer("a A"));
            });
        }
    });
    let names = room.names();
    assert_eq!(names.len(), 3 + 2 * 8);
    assert_eq!(names.iter().filter(|name| name.role == Role::System).count(), 1);
}

#[test]
fn messages_of_other_processes_and_deleted_ones_are_noticed() {
    let room = Room::new();
    room.exchange(ProxyWire::Chat, &request("u q1"), &answer("a A1"));
    let tip = room.names().into_iter().find(|name| name.role == Role::Assistant).unwrap();
    // Another process continues the conversation, later than the time that a folder's change has.
    let other = Store::at(room.dir.path(), std::path::Path::new(".lepo")).unwrap().unwrap();
    let question = other.create_bubb(Role::User, false, Some(tip.id), 0, b"q2").unwrap();
    other.create_bubb(Role::Assistant, false, Some(question.id), 0, b"A2").unwrap();
    let folder = std::fs::File::open(room.dir.path().join(".lepo")).unwrap();
    folder.set_times(std::fs::FileTimes::new().set_modified(std::time::SystemTime::UNIX_EPOCH)).unwrap();
    assert_eq!(
        room.exchange(ProxyWire::Chat, &request("u q1 / a A1 / u q2 / a A2 / u q3"), &answer("a A3")).0,
        1
    );
    for name in room.names().into_iter().filter(|name| name.id > tip.id) {
        std::fs::remove_file(room.dir.path().join(".lepo").join(name.to_string())).unwrap();
    }
    assert_eq!(
        room.exchange(ProxyWire::Chat, &request("u q1 / a A1 / u q2 / a A2 / u q3"), &answer("a A3")).0,
        3
    );
    assert_eq!(room.tree(), "u0 q1\n a0 A1\n  u0 q2\n   a0 A2\n    u0 q3\n     a0 A3");
}

#[test]
fn a_system_text_of_a_program_is_not_proven_as_the_users_own() {
    let room = Room::proving();
    room.exchange(ProxyWire::Chat, &request("s p / u q"), &answer("a A"));
    let journal = std::fs::read_to_string(room.dir.path().join(".lepo/_journal.ndjson")).unwrap();
    assert!(
        journal.contains("\"made\"") && !journal.contains("proven") && !journal.contains("proof"),
        "{journal}"
    );
}
