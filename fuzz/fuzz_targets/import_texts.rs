//! A question and its answer in each format, whatever they say: no word of them is lost.
#![no_main]

use std::io::Write;

use lepo_import::{SourceFormat, SourceReader, NodeContent};
use libfuzzer_sys::fuzz_target;
use serde_json::{Value, json};

/// A document or the lines of a conversation, and the ending of its file.
fn written(format: SourceFormat, question: &str, answer: &str) -> (Vec<Value>, &'static str) {
    let (q, a) = (question, answer);
    let text = |kind: &str, text: &str| json!([{ "type": kind, "text": text }]);
    match format {
        SourceFormat::ClaudeCode => (
            vec![
                json!({ "type": "user", "uuid": "1", "parentUuid": null, "message": { "role": "user", "content": q } }),
                json!({ "type": "assistant", "uuid": "2", "parentUuid": "1",
                    "message": { "role": "assistant", "content": text("text", a) } }),
            ],
            ".jsonl",
        ),
        SourceFormat::Codex => (
            vec![
                json!({ "type": "session_meta", "payload": { "id": "s" } }),
                json!({ "type": "event_msg", "payload": { "type": "user_message", "message": q } }),
                json!({ "type": "response_item",
                    "payload": { "type": "message", "role": "assistant", "content": text("output_text", a) } }),
            ],
            ".jsonl",
        ),
        SourceFormat::ChatGpt => {
            let message = |role: &str, text: &str| json!({ "author": { "role": role }, "content": { "content_type": "text", "parts": [text] } });
            let mapping = json!({ "1": { "parent": null, "message": message("user", q) },
                "2": { "parent": "1", "message": message("assistant", a) } });
            (vec![json!([{ "id": "c", "mapping": mapping }])], ".json")
        }
        SourceFormat::ClaudeAi => {
            let messages = json!([{ "uuid": "1", "sender": "human", "content": text("text", q) },
                { "uuid": "2", "sender": "assistant", "content": text("text", a) }]);
            (vec![json!([{ "uuid": "c", "chat_messages": messages }])], ".json")
        }
        SourceFormat::GeminiCli => (
            vec![
                json!({ "sessionId": "s", "projectHash": "p" }),
                json!({ "id": "1", "type": "user", "content": [{ "text": q }] }),
                json!({ "id": "2", "type": "gemini", "content": a }),
            ],
            ".jsonl",
        ),
        SourceFormat::Pi => (
            vec![
                json!({ "type": "session", "id": "s" }),
                json!({ "type": "message", "id": "1", "parentId": null, "message": { "role": "user", "content": q } }),
                json!({ "type": "message", "id": "2", "parentId": "1",
                    "message": { "role": "assistant", "content": text("text", a) } }),
            ],
            ".jsonl",
        ),
        SourceFormat::OpenWebUi => {
            let messages = json!({ "1": { "role": "user", "content": q }, "2": { "parentId": "1", "role": "assistant",
                "output": [{ "type": "message", "content": a }] } });
            (vec![json!([{ "chat": { "history": { "messages": messages } } }])], ".json")
        }
        SourceFormat::LibreChat => {
            let messages = json!([{ "messageId": "1", "isCreatedByUser": true, "text": q },
                { "messageId": "2", "parentMessageId": "1", "text": a }]);
            (vec![json!({ "conversationId": "c", "messages": messages })], ".json")
        }
        SourceFormat::LlamaUi => (
            vec![
                json!({ "type": "session", "harness": "llama.app", "id": "c" }),
                json!({ "type": "message", "message": { "id": "1", "role": "user", "content": q, "parent": null } }),
                json!({ "type": "message", "message": { "id": "2", "role": "assistant", "content": a, "parent": "1" } }),
            ],
            ".jsonl",
        ),
        SourceFormat::LmStudio => {
            let version = |role: &str, words: &str| json!({ "versions": [{ "role": role, "content": text("text", words) }] });
            (vec![json!({ "messages": [version("user", q), version("assistant", a)] })], ".json")
        }
        SourceFormat::Jan => {
            let line = |role: &str, words: &str| {
                json!({ "object": "thread.message", "role": role, "content": [{ "type": "text", "text": { "value": words } }] })
            };
            (vec![line("user", q), line("assistant", a)], ".jsonl")
        }
        _ => (vec![json!({ "role": "user", "content": q }), json!({ "role": "assistant", "content": a })], ".jsonl"),
    }
}

const FORMATS: [SourceFormat; 12] = [
    SourceFormat::ClaudeCode,
    SourceFormat::Codex,
    SourceFormat::ChatGpt,
    SourceFormat::ClaudeAi,
    SourceFormat::GeminiCli,
    SourceFormat::Pi,
    SourceFormat::OpenWebUi,
    SourceFormat::LibreChat,
    SourceFormat::LlamaUi,
    SourceFormat::LmStudio,
    SourceFormat::Jan,
    SourceFormat::Messages,
];

fuzz_target!(|input: (&str, &str)| {
    for format in FORMATS {
        let (values, ending) = written(format, input.0, input.1);
        let mut file = tempfile::Builder::new().prefix("conversations").suffix(ending).tempfile().unwrap();
        values.iter().for_each(|value| writeln!(file, "{value}").unwrap());
        let mut imported = String::new();
        let read = format.read(vec![file.path().to_path_buf()], &mut SourceReader::default(), &mut |read, _, _| {
            for node in read.nodes {
                if let NodeContent::Text(_, text, _) | NodeContent::Aside(_, text) | NodeContent::System(text) = node.what {
                    imported += &text;
                    imported.push('\n');
                }
            }
            Ok(())
        });
        assert!(read.is_ok(), "{format:?}");
        // A tag or heading with what a program inserted is taken out of a word of the user's.
        let parted = format!("{} {}", input.0, input.1).replace('<', " <").replace('>', "> ");
        let parted = parted.replace("for Codex:", "for Codex: ");
        for word in parted.split_whitespace() {
            // The mark of thinking that an older version put into an answer goes.
            let is_mark = format == SourceFormat::LlamaUi && word.contains("think>");
            assert!(is_mark || imported.contains(word), "{format:?} lost {word:?}");
        }
    }
});
