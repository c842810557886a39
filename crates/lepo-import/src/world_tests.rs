//! Tests from public reports of importers and viewers about files: each row has the address of its report, and an input
//! written for it.

use super::conversation::NodeContent;
use super::*;

/// Formats the conversations of a text, each node as a line: a dot for each visible ancestor, the letter of its role,
/// and brackets around hidden text; after the nodes, the counts of skipped parts.
pub(super) fn imported_texts(format: SourceFormat, file: &str, text: &str) -> Vec<String> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(file);
    std::fs::write(&path, text).unwrap();
    let (mut lines, mut reading, mut skipped) = (Vec::new(), SourceReader::default(), SkipCounts::default());
    let each: &mut dyn FnMut(History, &std::path::Path, u64) -> lepo_base::error::Result<()> =
        &mut |mut conversation, _, _| {
            skipped.skip_parts(&mut conversation);
            lines.extend(nodes(&conversation));
            Ok(())
        };
    format.read(vec![path], &mut reading, each).unwrap();
    for (reason, count) in reading.tally.skipped {
        skipped.skip(&reason, count);
    }
    lines.extend(skipped.skipped.iter().map(|(reason, count)| format!("! {count} {reason}")));
    lines
}

fn nodes(conversation: &History) -> Vec<String> {
    let above = |mut at: Option<usize>| {
        let mut dots = String::new();
        while let Some(index) = at {
            let node = &conversation.nodes[index];
            if matches!(node.what, NodeContent::Text(..)) {
                dots.push('.');
            }
            at = node.parent;
        }
        dots
    };
    let mut lines = Vec::new();
    for node in &conversation.nodes {
        let dots = above(node.parent);
        let files =
            |files: &[ImportedFile]| files.iter().map(|file| format!(" [{}]", file.name)).collect::<String>();
        lines.push(match &node.what {
            NodeContent::Nothing => continue,
            NodeContent::Text(role, text, with) => format!("{dots}{} {text}{}", role.letter(), files(with)),
            NodeContent::System(text) => format!("{dots}(s {text})"),
            NodeContent::Aside(role, text) => format!("{dots}({} {text})", role.letter()),
            NodeContent::Side(role, text) => format!("{dots}({}' {text})", role.letter()),
            NodeContent::Exact(role, _, text) => format!("{dots}{} {text}", role.letter()),
            NodeContent::Call { name, input, .. } => format!("{dots}(call {name} {input})"),
            NodeContent::Output { text, files: with, .. } => format!("{dots}(t {text}{})", files(with)),
        });
    }
    lines
}

#[test]
fn exports_keep_their_trees_names_and_results() {
    for (report, format, file, text, expected) in [
        (
            "https://github.com/ggml-org/llama.cpp/pull/24688",
            SourceFormat::LlamaUi,
            "a.jsonl",
            "{\"type\":\"session\",\"harness\":\"llama.app\",\"id\":\"c\",\"name\":\"n\",\"lastModified\":1}\n\
             {\"type\":\"message\",\"message\":{\"id\":\"0\",\"type\":\"root\",\"role\":\"system\",\"content\":\"\",\"parent\":null}}\n\
             {\"type\":\"message\",\"message\":{\"id\":\"1\",\"type\":\"system\",\"role\":\"system\",\"content\":\"be brief\",\"parent\":\"0\"}}\n\
             {\"type\":\"message\",\"message\":{\"id\":\"2\",\"type\":\"text\",\"role\":\"user\",\"content\":\"q\",\"parent\":\"1\",\"extra\":[{\"type\":\"TEXT\",\"name\":\"n.txt\",\"content\":\"pasted\"}]}}\n\
             {\"type\":\"message\",\"message\":{\"id\":\"3\",\"type\":\"text\",\"role\":\"assistant\",\"content\":\"one\",\"reasoningContent\":\"hm\",\"parent\":\"2\"}}\n\
             {\"type\":\"message\",\"message\":{\"id\":\"4\",\"type\":\"text\",\"role\":\"assistant\",\"content\":\"\",\"parent\":\"2\",\"toolCalls\":[{\"id\":\"t\",\"function\":{\"name\":\"f\",\"arguments\":\"{}\"}}]}}\n\
             {\"type\":\"message\",\"message\":{\"id\":\"5\",\"type\":\"text\",\"role\":\"tool\",\"content\":\"ok\",\"parent\":\"4\",\"toolCallId\":\"t\"}}\n\
             {\"type\":\"message\",\"message\":{\"id\":\"6\",\"type\":\"text\",\"role\":\"assistant\",\"content\":\"two\",\"parent\":\"5\"}}\n",
            &[
                "(s be brief)",
                "u q\n\nn.txt:\n\npasted",
                ".(a hm)",
                ".a one",
                ".(call f {})",
                ".(t ok)",
                ".a two",
            ][..],
        ),
        (
            "https://github.com/ggml-org/llama.cpp/issues/11718",
            SourceFormat::LlamaUi,
            "a.json",
            r#"[{"conv":{"id":"c","name":"n","lastModified":1,"currNode":3},"messages":[{"id":1,"type":"root","role":"system","content":"","parent":-1},{"id":2,"type":"text","role":"user","content":"q","parent":1},{"id":3,"type":"text","role":"assistant","content":"<think>hm</think>\n\nr","parent":2},{"id":4,"type":"text","role":"user","content":"other","parent":1,"toolCalls":""}]}]"#,
            &["u q", ".(a hm)", ".a r", "u other"],
        ),
        (
            "https://github.com/Superkikim/nexus-ai-chat-importer/issues/62 (names, of Claude.ai)",
            SourceFormat::ClaudeAi,
            "conversations.json",
            r#"[{"uuid":"c","chat_messages":[{"uuid":"1","sender":"human","text":"read","content":[],"attachments":[{"file_name":"notes.txt","extracted_content":"pasted"}],"files":[{"file_name":"a.png"}]},{"uuid":"2","sender":"assistant","content":[{"type":"tool_result","content":[{"type":"knowledge","title":"t"}]},{"type":"text","text":"r"}]}]}]"#,
            &[
                "u read\n\nnotes.txt:\n\npasted [a.png]",
                ".(t {\"type\":\"knowledge\",\"title\":\"t\"})",
                ".a r",
            ],
        ),
        (
            "https://github.com/XortexAI/XMem/pull/160",
            SourceFormat::Messages,
            "checkpoint.json",
            r#"[{"role":"user","parts":[{"text":"This is the Gemini CLI. We are setting up the context for our chat."}]},{"role":"user","parts":[{"text":"q"}]},{"role":"model","parts":[{"text":"hm","thought":true},{"functionCall":{"name":"f","args":{"a":1}}}]},{"role":"user","parts":[{"functionResponse":{"name":"f","response":{"n":1}}}]},{"role":"model","parts":[{"text":"r"}]}]"#,
            &[
                "(u This is the Gemini CLI. We are setting up the context for our chat.)",
                "u q",
                ".(a hm)",
                ".(call f {\"a\":1})",
                ".(t {\"n\":1})",
                ".a r",
            ],
        ),
        (
            "https://github.com/kenn-io/agentsview/pull/694",
            SourceFormat::Messages,
            "2026-04-19.jsonl",
            "{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"q\"}]}\n\
             {\"role\":\"assistant\",\"content\":[{\"type\":\"tool_use\",\"id\":\"1\",\"name\":\"f\",\"input\":{}}]}\n\
             {\"role\":\"system\",\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":\"1\",\"content\":\"ok\"}]}\n",
            &["u q", ".(call f {})", ".(t ok)"],
        ),
        (
            "an older function call, and a refusal",
            SourceFormat::Messages,
            "m.json",
            r#"[{"role":"user","content":"q"},{"role":"assistant","content":null,"function_call":{"name":"f","arguments":"{}"}},{"role":"function","name":"f","content":"ok"},{"role":"assistant","content":null,"refusal":"no"}]"#,
            &["u q", ".(call f {})", ".(t ok)", ".a no"],
        ),
        (
            "items of a request to the Responses API",
            SourceFormat::Messages,
            "items.json",
            r#"[{"role":"user","content":"q"},{"type":"reasoning","id":"r","summary":[{"type":"summary_text","text":"hm"}]},{"type":"function_call","call_id":"1","name":"f","arguments":"{}"},{"type":"function_call_output","call_id":"1","output":"ok"},{"type":"message","role":"assistant","content":[{"type":"output_text","text":"r"}]}]"#,
            &["u q", ".(a hm)", ".(call f {})", ".(t ok)", ".a r"],
        ),
        (
            "messages of an interface of Vercel's AI SDK",
            SourceFormat::Messages,
            "ui.json",
            r#"[{"id":"1","role":"user","parts":[{"type":"text","text":"q"}]},{"id":"2","role":"assistant","parts":[{"type":"step-start"},{"type":"reasoning","text":"hm"},{"type":"tool-weather","toolCallId":"t","input":{"a":1},"output":{"c":20}},{"type":"text","text":"r"}]}]"#,
            &["u q", ".(a hm)", ".(call weather {\"a\":1})", ".(t {\"c\":20})", ".a r"],
        ),
        (
            "https://github.com/danny-avila/LibreChat/pull/2355",
            SourceFormat::LibreChat,
            "l.json",
            r#"{"conversationId":"c","createdAt":"2026-01-01T00:00:00Z","messages":[{"messageId":"1","isCreatedByUser":true,"text":"q"},{"messageId":"2","text":"r"}]}"#,
            &["u q", ".a r"],
        ),
        (
            "https://github.com/danny-avila/LibreChat/issues/15229",
            SourceFormat::ChatGpt,
            "conversations-000.json",
            r#"[{"id":"c","update_time":1700000000,"mapping":{"1":{"id":"1","parent":null,"message":{"author":{"role":"user"},"content":{"content_type":"text","parts":["q"]}}},"2":{"id":"2","parent":"1","message":{"author":{"role":"tool","name":"file_search"},"content":{"content_type":"tether_browsing_display","result":"","tether_id":7}}}}}]"#,
            &["u q", ".(t {\"content_type\":\"tether_browsing_display\",\"result\":\"\",\"tether_id\":7})"],
        ),
        (
            "https://github.com/Piebald-AI/splitrail/pull/143",
            SourceFormat::GeminiCli,
            "session-1.json",
            r#"{"sessionId":"s","projectHash":"p","messages":[{"id":"1","type":"user","content":{"text":"q"}},{"id":"2","type":"gemini","content":[{"text":"r"}]}]}"#,
            &["u q", ".a r"],
        ),
        (
            "https://github.com/danny-avila/LibreChat/pull/13802",
            SourceFormat::OpenWebUi,
            "chat.json",
            r#"[{"id":"c","chat":{"history":{"messages":{"1":{"id":"1","parentId":null,"role":"user","content":[{"type":"text","text":"what is it?"},{"type":"image_url","image_url":{"url":"data:image/png;base64,aGk="}}]},"2":{"id":"2","parentId":"1","role":"assistant","content":[{"type":"text","text":"r"}]}}}}}]"#,
            &["u what is it? []", ".a r"],
        ),
        (
            "https://github.com/gke-labs/gemini-for-kubernetes-development/issues/740",
            SourceFormat::Messages,
            "out.jsonl",
            "{\"type\":\"message\",\"role\":\"user\",\"content\":\"q\"}\n\
             {\"type\":\"tool_use\",\"tool_name\":\"ls\",\"tool_id\":\"1\",\"parameters\":{\"a\":1}}\n\
             {\"type\":\"tool_result\",\"tool_id\":\"1\",\"status\":\"success\",\"output\":\"x\"}\n\
             {\"type\":\"message\",\"role\":\"assistant\",\"content\":\"Here\",\"delta\":true}\n\
             {\"type\":\"message\",\"role\":\"assistant\",\"content\":\" are\",\"delta\":true}\n\
             {\"type\":\"message\",\"role\":\"user\",\"content\":\"more\"}\n",
            &["u q", ".(call ls {\"a\":1})", ".(t x)", ".a Here are", "..u more"],
        ),
        (
            "https://github.com/vshulcz/deja-vu/pull/341",
            SourceFormat::Messages,
            "20260801_1.jsonl",
            "{\"working_dir\":\"/w\",\"description\":\"d\",\"message_count\":4}\n\
             {\"role\":\"user\",\"created\":1785578400,\"content\":[{\"type\":\"text\",\"text\":\"q\"}]}\n\
             {\"role\":\"assistant\",\"created\":1785578401,\"content\":[{\"type\":\"toolRequest\",\"id\":\"1\",\"toolCall\":{\"status\":\"success\",\"value\":{\"name\":\"shell\",\"arguments\":{\"a\":1}}}}]}\n\
             {\"role\":\"user\",\"created\":1785578402,\"content\":[{\"type\":\"toolResponse\",\"id\":\"1\",\"toolResult\":{\"status\":\"success\",\"value\":[{\"type\":\"text\",\"text\":\"x\"}]}}]}\n\
             {\"role\":\"assistant\",\"created\":1785578403,\"content\":[{\"type\":\"text\",\"text\":\"r\"}]}\n",
            &["u q", ".(call shell {\"a\":1})", ".(t x)", ".a r"],
        ),
        (
            "a session with the fields of Goose's first line",
            SourceFormat::Messages,
            "s.json",
            r#"{"id":"s1","working_dir":"/w","message_count":2,"messages":[{"role":"user","content":"q"},{"role":"assistant","content":"r"}]}"#,
            &["u q", ".a r"],
        ),
        (
            "an export of Goose",
            SourceFormat::Messages,
            "s.json",
            r#"{"id":"20260801_1","working_dir":"/w","description":"d","created_at":"2026-08-01T10:00:00Z","message_count":2,"conversation":[{"role":"user","created":1785578400,"content":[{"type":"text","text":"q"}]},{"role":"assistant","created":1785578401,"content":[{"type":"text","text":"r"}]}]}"#,
            &["u q", ".a r"],
        ),
        (
            "https://github.com/anomalyco/opencode/issues/12130",
            SourceFormat::OpenCode,
            "session.json",
            "Exporting session: ses_1{\n  \"info\": {\"id\": \"ses_1\", \"time\": {\"created\": 1}}, \"messages\": [{\"info\": {\"role\": \"user\"}, \"parts\": [{\"type\": \"text\", \"text\": \"q\"}]}]}\n",
            &["u q"],
        ),
        (
            "https://github.com/anomalyco/opencode/issues/21941",
            SourceFormat::OpenCode,
            "session.json",
            r#"{"info":{"id":"ses_1","time":{"created":1},"summary":{"diffs":[{"before":"a","after":"b"}]}},"messages":[{"info":{"role":"user","variant":"x"},"parts":[{"type":"text","text":"q"}]}]}"#,
            &["u q"],
        ),
        (
            "https://github.com/Superkikim/nexus-ai-chat-importer/pull/76",
            SourceFormat::ClaudeAi,
            "conversations.json",
            r#"[{"uuid":"c","chat_messages":[{"uuid":"1","sender":"human","text":"","content":[],"attachments":[],"files":[{"file_name":"a.pdf"}]},{"uuid":"2","sender":"assistant","text":"r","content":[]}]}]"#,
            &["u  [a.pdf]", ".a r"],
        ),
        (
            "https://github.com/open-webui/open-webui/pull/23455",
            SourceFormat::OpenWebUi,
            "chat.json",
            r#"[{"id":"c","chat":{"history":{"currentId":"3","messages":{"1":{"id":"1","parentId":null,"role":"user","content":"q","childrenIds":["2"]},"2":{"id":"2","parentId":"1","role":"assistant","content":"r"},"3":{"content":"orphan"}}}}}]"#,
            &["u q", ".a r", "! 1 message of an unknown role"],
        ),
        (
            "an answer under a key of its own (tests of Dicklesworthstone/coding_agent_session_search)",
            SourceFormat::Messages,
            "h.json",
            r#"{"history":[{"role":"human","content":"q"},{"role":"assistant","result":"r"}]}"#,
            &["u q", "! 1 content of an unknown type"],
        ),
        (
            "a content without a type (tests of Dicklesworthstone/coding_agent_session_search)",
            SourceFormat::ChatGpt,
            "conv.json",
            r#"[{"id":"c","mapping":{"1":{"id":"1","message":{"author":{"role":"user"},"content":{"parts":["q"]}}}}}]"#,
            &["u q"],
        ),
        (
            "a message of an unknown role (tests of Dicklesworthstone/coding_agent_session_search)",
            SourceFormat::Codex,
            "rollout.jsonl",
            "{\"type\":\"response_item\",\"payload\":{\"type\":\"message\",\"role\":\"user\",\"content\":[{\"type\":\"input_text\",\"text\":\"q\"}]}}\n\
             {\"type\":\"response_item\",\"payload\":{\"type\":\"message\",\"role\":\"function\",\"content\":\"x\"}}\n",
            &["u q", "! 1 content of an unknown type"],
        ),
        (
            "a message of Jan that is written again",
            SourceFormat::Jan,
            "messages.jsonl",
            "{\"id\":\"1\",\"object\":\"thread.message\",\"thread_id\":\"t\",\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":{\"value\":\"q\"}}]}\n\
             {\"id\":\"1\",\"object\":\"thread.message\",\"thread_id\":\"t\",\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":{\"value\":\"q\"}}]}\n",
            &["u q"],
        ),
    ] {
        assert_eq!(imported_texts(format, file, text), expected, "{report}");
    }
}

/// A document of each format with a user's message, whose content stands at `CONTENT`.
const USERS: &[(SourceFormat, &str, &str)] = &[
    (
        SourceFormat::ClaudeCode,
        "s.jsonl",
        r#"{"type":"user","uuid":"1","parentUuid":null,"sessionId":"s","message":{"role":"user","content":CONTENT}}"#,
    ),
    (
        SourceFormat::Codex,
        "rollout.jsonl",
        r#"{"type":"response_item","payload":{"type":"message","role":"user","content":CONTENT}}"#,
    ),
    (
        SourceFormat::GeminiCli,
        "session-1.json",
        r#"{"sessionId":"s","projectHash":"p","messages":[{"id":"1","type":"user","content":CONTENT}]}"#,
    ),
    (
        SourceFormat::Pi,
        "p.jsonl",
        r#"{"type":"message","id":"1","message":{"role":"user","content":CONTENT}}"#,
    ),
    (
        SourceFormat::OpenWebUi,
        "o.json",
        r#"[{"id":"c","chat":{"history":{"messages":{"1":{"id":"1","role":"user","content":CONTENT}}}}}]"#,
    ),
    (
        SourceFormat::LibreChat,
        "l.json",
        r#"{"conversationId":"c","messages":[{"messageId":"1","isCreatedByUser":true,"content":CONTENT}]}"#,
    ),
    (
        SourceFormat::ClaudeAi,
        "conversations.json",
        r#"[{"uuid":"c","chat_messages":[{"uuid":"1","sender":"human","content":CONTENT}]}]"#,
    ),
    (
        SourceFormat::LmStudio,
        "1.conversation.json",
        r#"{"messages":[{"versions":[{"role":"user","content":CONTENT}],"currentlySelected":0}]}"#,
    ),
    (SourceFormat::Jan, "messages.jsonl", r#"{"object":"thread.message","role":"user","content":CONTENT}"#),
    (
        SourceFormat::LlamaUi,
        "a.json",
        r#"[{"conv":{"id":"c","currNode":1},"messages":[{"id":1,"role":"user","content":CONTENT,"parent":-1}]}]"#,
    ),
    (SourceFormat::Messages, "m.json", r#"{"messages":[{"role":"user","content":CONTENT}]}"#),
    (
        SourceFormat::ChatGpt,
        "conversations.json",
        r#"[{"id":"c","mapping":{"1":{"id":"1","message":{"author":{"role":"user"},"content":{"content_type":"text","parts":CONTENT}}}}}]"#,
    ),
];

/// <https://github.com/Nwflower/dsh-chat-import/issues/21>, <https://github.com/odysseus-dev/odysseus/issues/1983>,
/// <https://github.com/Piebald-AI/splitrail/pull/143>: tools change the form of a content, and readers lose the text.
#[test]
fn a_text_is_read_in_each_form_of_a_content() {
    for (format, file, document) in USERS {
        for content in [r#""q""#, r#"[{"type":"text","text":"q"}]"#, r#"{"type":"text","text":"q"}"#] {
            let text = document.replace("CONTENT", content);
            assert_eq!(imported_texts(*format, file, &text), ["u q"], "{format:?} {content}");
        }
    }
}
