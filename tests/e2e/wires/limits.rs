//! A conversation that is longer than its window is told as that, on every wire.

use serde_json::{Value, json};

use super::{ANTHROPIC, CHAT, OLLAMA, RESPONSES, home, sse};
use crate::pty::on_terminal;
use crate::scripted::{Asked, Reply, Server, openai_event};

#[test]
fn an_overflow_is_its_own_error_on_every_wire() {
    let llama = json!({"error": {"code": 400, "type": "exceed_context_size_error", "n_prompt_tokens": 9000, "n_ctx": 8192,
        "message": "the request exceeds the available context size"}});
    let claude = json!({"type": "error", "error": {"type": "invalid_request_error",
        "message": "prompt is too long: 208310 tokens > 200000 maximum"}});
    let failed = json!({"type": "response.failed", "response": {"error": {"code": "context_length_exceeded",
        "message": "Your input exceeds the context window of this model."}}});
    let ollama = json!({"error": "the input length exceeds the context length"});
    for (model, reply) in [
        (CHAT, Reply::new(400, llama.to_string())),
        (ANTHROPIC, Reply::new(400, claude.to_string())),
        (ANTHROPIC, sse([claude])),
        (RESPONSES, sse([failed])),
        (OLLAMA, Reply::new(400, ollama.to_string())),
        (OLLAMA, Reply::new(200, format!("{ollama}\n"))),
    ] {
        let server = Server::judging(move |_, asked: &Asked| match asked.method.as_str() {
            "GET" => Reply::new(404, "{}"),
            _ => reply.clone(),
        });
        let home = home(&server, "planner = 'off'", model);
        let ran = home.lepo(&["do", "--json", "hi"]);
        assert_eq!(ran.code, 3, "{model}: {}", ran.err);
        let document: Value = serde_json::from_str(&ran.out).unwrap();
        assert_eq!(document["error"]["kind"], "overflow", "{model}: {document}");
        assert!(document["error"]["hint"].as_str().unwrap().contains("lepo do --compact"), "{document}");
    }
}

/// An answer that, as the server counts, took so many tokens with its question.
fn counted(tokens: u64) -> Reply {
    let usage = json!({"choices": [], "usage": {"prompt_tokens": tokens - 9, "completion_tokens": 9}});
    let said = openai_event(json!({"content": "Said."}), Some("stop"));
    Reply::new(200, format!("{said}data: {usage}\n\ndata: [DONE]\n\n"))
}

#[test]
fn a_session_says_once_that_four_fifths_of_the_window_are_full() {
    for (tokens, told) in [([3900, 3950, 3990], 0), ([3900, 4000, 4100], 1), ([4300, 4500, 4700], 1)] {
        let server = Server::start(tokens.map(counted));
        let home = home(&server, "planner = 'off'", &format!("{CHAT}\ncontext = 5000"));
        let steps = [
            ("> ", "a\n"),
            ("Said.", ""),
            ("> ", "b\n"),
            ("Said.", ""),
            ("> ", "c\n"),
            ("Said.", ""),
            ("> ", "\n"),
        ];
        let ran = on_terminal(home.command(&["do"]), &steps);
        assert_eq!(ran.code, 0, "{}", ran.out);
        assert_eq!(ran.out.matches("% of the model's window").count(), told, "{tokens:?}: {}", ran.out);
        if told > 0 {
            let first = tokens.iter().find(|tokens| **tokens >= 4000).unwrap() / 50;
            assert!(ran.out.contains(&format!("the conversation fills {first} % of")), "{}", ran.out);
        }
    }
}
