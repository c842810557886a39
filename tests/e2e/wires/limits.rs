//! A conversation that is longer than its window is told as that, on every wire.

use serde_json::{Value, json};

use super::{ANTHROPIC, CHAT, OLLAMA, RESPONSES, home, messages_api, sse};
use crate::home::run;
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
    for (model, reply, is_refused) in [
        (CHAT, Reply::new(400, llama.to_string()), true),
        (ANTHROPIC, Reply::new(400, claude.to_string()), true),
        (ANTHROPIC, sse([claude]), false),
        (RESPONSES, sse([failed]), false),
        (OLLAMA, Reply::new(400, ollama.to_string()), true),
        (OLLAMA, Reply::new(200, format!("{ollama}\n")), false),
    ] {
        let server = Server::judging(move |_, asked: &Asked| match asked.method.as_str() {
            "GET" => Reply::new(404, "{}"),
            _ => reply.clone(),
        });
        let home = home(&server, "planner = 'off'", model);
        // A summary leaves out the last two questions.
        for (answered, remedy) in [(0, "send less"), (1, "send less"), (2, "`lepo do --compact`")] {
            home.add(&["--prev", "head"], "a");
            for _ in 1..answered {
                home.add(&["--kind", "a"], "b");
                home.add(&[], "a");
            }
            home.add(&["--kind", "a"], "b");
            let ran = home.lepo(&["do", "--json", if answered > 0 { "--tail=@" } else { "--new" }, "hi"]);
            assert_eq!(ran.code, 3, "{model}: {}", ran.err);
            let document: Value = serde_json::from_str(&ran.out).unwrap();
            assert_eq!(document["error"]["kind"], "overflow", "{model}: {document}");
            // Only where there was a status, the message has it.
            let has_status = document["error"]["message"].as_str().unwrap().contains("400 Bad Request");
            assert_eq!(has_status, is_refused, "{document}");
            assert!(document["error"]["hint"].as_str().unwrap().starts_with(remedy), "{document}");
        }
    }
}

#[test]
fn an_answer_that_fills_the_window_is_cut_and_that_is_said() {
    for (stop, told) in [
        ("model_context_window_exceeded", "cut off because the model's window is full"),
        ("max_tokens", "cut off at the model's token limit (max_tokens)"),
    ] {
        let reply = messages_api(&[json!({"type": "text", "text": "So"})], stop);
        let server = Server::judging(move |_, asked: &Asked| match asked.method.as_str() {
            "GET" => Reply::new(404, "{}"),
            _ => reply.clone(),
        });
        let ran = home(&server, "planner = 'off'", ANTHROPIC).lepo(&["do", "hi"]);
        assert_eq!((ran.code, ran.out.as_str()), (0, "So\n"), "{}", ran.err);
        assert!(ran.err.contains(told), "{}", ran.err);
    }
}

#[test]
fn a_note_begins_a_line_where_stderr_goes_where_stdout_goes() {
    let reply = messages_api(&[json!({"type": "text", "text": "So"})], "max_tokens");
    let server = Server::judging(move |_, asked: &Asked| match asked.method.as_str() {
        "GET" => Reply::new(404, "{}"),
        _ => reply.clone(),
    });
    for script in ["lepo do hi 2>&1 | cat", "lepo do hi >both 2>&1; cat both"] {
        let home = home(&server, "planner = 'off'", ANTHROPIC);
        let ran = run(home.shell(script), b"");
        assert_eq!(
            ran.out, "So\nnote: the answer was cut off at the model's token limit (max_tokens)\n",
            "{script}"
        );
    }
}

/// An answer that, as the server counts, took so many tokens with its question.
fn counted(tokens: u64) -> Reply {
    let usage = json!({"choices": [], "usage": {"prompt_tokens": tokens - 9, "completion_tokens": 9}});
    let event = openai_event(json!({"content": "Said."}), Some("stop"));
    Reply::new(200, format!("{event}data: {usage}\n\ndata: [DONE]\n\n"))
}

#[test]
fn a_session_says_once_that_four_fifths_of_the_window_are_full() {
    for (window, tokens, told) in [
        (5000, [3900, 3950, 3990], 0),
        (5000, [3900, 4000, 4100], 1),
        (5000, [4300, 4500, 4700], 1),
        // A window that is known is known of short conversations, too.
        (1000, [700, 790, 799], 0),
        (1000, [700, 850, 860], 1),
    ] {
        let server = Server::start(tokens.map(counted));
        let home = home(&server, "planner = 'off'", &format!("{CHAT}\ncontext = {window}"));
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
            let full = |tokens: &&u64| **tokens * 100 / window >= 80;
            let first = tokens.iter().find(full).unwrap() * 100 / window;
            assert!(ran.out.contains(&format!("the conversation fills {first} % of")), "{}", ran.out);
        }
    }
}
