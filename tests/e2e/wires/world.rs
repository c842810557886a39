//! What servers really send, end to end: what is shown, kept, sent back and remembered.

use serde_json::{Value, json};

use super::{CHAT, bodies, chat_said, home, sse};
use crate::disk::bubbs;
use crate::scripted::{Reply, Server, openai_sse};

const OFF: &str = "planner = 'off'";

/// An answer whose thinking ends with a mark, and begins without one.
fn thought() -> Reply {
    openai_sse(["I think of ", "4.\n</thi", "nk>\n\n", "Four."])
}

#[test]
fn what_stands_before_a_lone_mark_is_thinking_and_the_model_is_remembered() {
    for (args, out) in [(&["do", "-q", "hi"][..], "Four.\n"), (&["do", "hi"], "")] {
        let server = Server::start([thought(), thought(), chat_said("Plain.")]);
        let home = home(&server, OFF, CHAT);
        let ran = home.lepo(args);
        assert_eq!(ran.code, 0, "{}", ran.err);
        assert!(out.is_empty() || ran.out == out, "{}", ran.out);
        assert!(ran.err.matches("was thinking").count() <= usize::from(out.is_empty()), "{}", ran.err);
        assert_eq!(bubbs(&home).last().unwrap().text, "Four.");
        // Its answers begin as thinking from then on.
        let ran = home.lepo(&["do", "again"]);
        assert_eq!((ran.code, ran.out.as_str()), (0, "Four.\n"), "{}", ran.err);
        assert!(!ran.err.contains("was thinking"), "{}", ran.err);
        let sent = &bodies(&server)[1]["messages"];
        assert!(sent.to_string().contains("Four.") && !sent.to_string().contains("I think"), "{sent}");
        // Without the mark it was the answer.
        let ran = home.lepo(&["do", "plain?"]);
        assert_eq!((ran.code, ran.out.as_str()), (0, "Plain.\n"), "{}", ran.err);
    }
    let server = Server::start([thought()]);
    let home = home(&server, OFF, CHAT);
    let document: Value = serde_json::from_str(&home.ok(&["do", "--json", "hi"])).unwrap();
    assert_eq!(document["answer"]["text"], "Four.", "{document}");
}

#[test]
fn thinking_without_an_answer_is_kept_as_the_part_of_a_failed_one() {
    let thinking = json!({"choices": [{"delta": {"reasoning_content": "four?"}}]});
    let end = json!({"choices": [{"delta": {}, "finish_reason": "stop"}]});
    let server = Server::start([sse([thinking, end]), chat_said("Four.")]);
    let home = home(&server, OFF, CHAT);
    let ran = home.lepo(&["do", "hi"]);
    assert_eq!((ran.code, ran.out.as_str()), (3, ""), "{}", ran.err);
    assert!(ran.err.contains("gave no answer, only thinking") && ran.err.contains("--retry"), "{}", ran.err);
    let part = bubbs(&home).pop().unwrap();
    assert_eq!((part.tag.as_str(), part.text.as_str()), ("a1", "<think>\nfour?\n</think>"));
    assert_eq!(home.ok(&["do", "--retry"]), "Four.\n");
}
