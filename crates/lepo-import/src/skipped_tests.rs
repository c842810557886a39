//! Tests for unknown content: it is counted with its reason, and its text is imported.

use super::conversation::NodeContent;
use super::*;
use lepo_base::hint::HintTarget;

/// Reads a text in a format; returns the visible texts, and the counts of skipped parts.
fn read(format: SourceFormat, file: &str, text: &str) -> (Vec<String>, Vec<(String, u64)>) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(file);
    std::fs::write(&path, text).unwrap();
    let (mut texts, mut reading, mut skipped) = (Vec::new(), SourceReader::default(), SkipCounts::default());
    format
        .read(vec![path], &mut reading, &mut |mut conversation, _, _| {
            skipped.skip_parts(&mut conversation);
            texts.extend(conversation.nodes.into_iter().filter_map(|node| match node.what {
                NodeContent::Text(role, text, _) => Some(format!("{} {text}", role.letter())),
                NodeContent::Output { text, .. } => Some(format!("t {text}")),
                _ => None,
            }));
            Ok(())
        })
        .unwrap();
    for (reason, count) in reading.tally.skipped {
        skipped.skip(&reason, count);
    }
    (texts, skipped.skipped.into_iter().collect())
}

const CONTENT: &str = "content of an unknown type";
const ROLE: &str = "message of an unknown role";

#[test]
fn a_content_of_an_unknown_type_is_counted_and_its_text_is_kept() {
    for (format, message, expected_texts, skipped) in [
        (SourceFormat::Messages, r#"{"role":"user","content":{"text":"alone"}}"#, &["u alone"][..], 0),
        (SourceFormat::Messages, r#"{"role":"user","content":{"note":"x"}}"#, &[], 1),
        (SourceFormat::Messages, r#"{"role":"user","content":7}"#, &[], 1),
        (SourceFormat::Messages, r#"{"role":"assistant","content":null}"#, &[], 0),
        (
            SourceFormat::Messages,
            r#"{"role":"user","content":[{"type":"hologram","text":"kept"},{"type":"input_audio","input_audio":{}},"bare"]}"#,
            &["u kept\n\nbare"],
            2,
        ),
        (
            SourceFormat::Messages,
            r#"{"role":"user","content":[{"type":"text","text":""},{"type":"text"}]}"#,
            &[],
            1,
        ),
        (
            SourceFormat::Messages,
            r#"{"role":"model","parts":[{"text":"one"},{"inlineData":{}}]}"#,
            &["a one"],
            1,
        ),
        (
            SourceFormat::Messages,
            r#"{"role":"tool","content":[{"type":"image"},{"type":"text","text":"r"}]}"#,
            &["t {\"type\":\"image\"}\n\nr"],
            0,
        ),
        (SourceFormat::Messages, r#"{"from":"GPT","value":"hi"}"#, &["a hi"], 0),
        (
            SourceFormat::ChatGpt,
            r#"{"author":{"role":"assistant"},"content":{"content_type":"hologram","parts":["kept"]}}"#,
            &["a kept"],
            1,
        ),
        (
            SourceFormat::ChatGpt,
            r#"{"author":{"role":"assistant"},"content":{"content_type":"hologram","shape":1}}"#,
            &[],
            1,
        ),
        (
            SourceFormat::ChatGpt,
            r#"{"author":{"role":"user"},"content":{"content_type":"text","parts":["q"]}}"#,
            &["u q"],
            0,
        ),
        (
            SourceFormat::ClaudeAi,
            r#"{"sender":"human","content":[{"type":"hologram","text":"kept"}]}"#,
            &["u kept"],
            1,
        ),
        (
            SourceFormat::OpenWebUi,
            r#"{"role":"assistant","output":[{"type":"message","content":"m"},{"type":"hologram"}]}"#,
            &["a m"],
            1,
        ),
        (
            SourceFormat::LibreChat,
            r#"{"isCreatedByUser":true,"content":[{"type":"text","text":"q"},{"type":"hologram"}]}"#,
            &["u q"],
            1,
        ),
        (
            SourceFormat::Jan,
            r#"{"role":"user","content":[{"type":"hologram","text":{"value":"kept"}}]}"#,
            &["u kept"],
            1,
        ),
        (
            SourceFormat::Pi,
            r#"{"role":"user","content":[{"type":"hologram","text":"kept"}]}"#,
            &["u kept"],
            1,
        ),
        (
            SourceFormat::ClaudeCode,
            r#"{"role":"user","content":[{"type":"hologram","text":"kept"},{"type":"hologram"}]}"#,
            &["u kept"],
            2,
        ),
        (SourceFormat::ClaudeCode, r#"{"role":"user","content":{"note":"x"}}"#, &[], 1),
        (
            SourceFormat::ClaudeCode,
            r#"{"id":"m","role":"assistant","content":[{"type":"text","text":"a"},{"type":"hologram","text":"kept"}]}"#,
            &["a a\n\nkept"],
            1,
        ),
        (
            SourceFormat::ClaudeCode,
            r#"{"id":"m","role":"assistant","content":[{"type":"redacted_thinking","data":"x"},{"type":"text","text":"a"}]}"#,
            &["a a"],
            0,
        ),
        (SourceFormat::Codex, r#"{"type":"hologram"}"#, &[], 1),
        (SourceFormat::Codex, r#"{"id":"x"}"#, &[], 1),
        (
            SourceFormat::Codex,
            r#"{"role":"user","content":[{"type":"input_text","text":"kept"}]}"#,
            &["u kept"],
            1,
        ),
        (SourceFormat::GeminiCli, r#"{"type":"user","content":[{"text":"q"},{"hologram":1}]}"#, &["u q"], 1),
    ] {
        let expected: Vec<(String, u64)> =
            (skipped > 0).then(|| (CONTENT.to_string(), skipped)).into_iter().collect();
        assert_eq!(
            wrapped(format, message),
            (expected_texts.iter().map(|text| text.to_string()).collect(), expected),
            "{message}"
        );
    }
}

#[test]
fn a_prompt_that_waited_in_claude_code_is_counted_too() {
    let line = r#"{"type":"attachment","uuid":"1","attachment":{"type":"queued_command","prompt":[{"type":"hologram","text":"kept"}]}}"#;
    let expected = (vec!["u kept".to_string()], vec![(CONTENT.to_string(), 1)]);
    assert_eq!(read(SourceFormat::ClaudeCode, "c.jsonl", line), expected);
}

#[test]
fn a_message_of_an_unknown_role_is_no_answer() {
    for (format, message) in [
        (SourceFormat::Messages, r#"{"role":"bogus","content":"x"}"#),
        (SourceFormat::Messages, r#"{"role":null,"content":"x"}"#),
        (SourceFormat::Messages, r#"{"content":"x"}"#),
        (
            SourceFormat::ChatGpt,
            r#"{"author":{"role":"bogus"},"content":{"content_type":"text","parts":["x"]}}"#,
        ),
        (
            SourceFormat::ChatGpt,
            r#"{"author":{"role":null},"content":{"content_type":"text","parts":["x"]}}"#,
        ),
        (SourceFormat::ChatGpt, r#"{"content":{"content_type":"text","parts":["x"]}}"#),
        (SourceFormat::ClaudeAi, r#"{"sender":"bogus","text":"x"}"#),
        (SourceFormat::OpenWebUi, r#"{"role":"bogus","content":"x"}"#),
        (SourceFormat::LmStudio, r#"{"versions":[{"role":"bogus","content":[{"type":"text","text":"x"}]}]}"#),
        (SourceFormat::Jan, r#"{"role":"bogus","content":[{"type":"text","text":{"value":"x"}}]}"#),
    ] {
        assert_eq!(wrapped(format, message), (vec![], vec![(ROLE.to_string(), 1)]), "{message}");
    }
}

/// Reads a message, wrapped in the envelope of its format.
fn wrapped(format: SourceFormat, message: &str) -> (Vec<String>, Vec<(String, u64)>) {
    let (file, text) = match format {
        SourceFormat::Messages => {
            ("m.json", format!(r#"{{"messages":[{message},{{"role":"user","content":"z"}}]}}"#))
        }
        SourceFormat::ChatGpt => ("c.json", format!(r#"[{{"mapping":{{"a":{{"message":{message}}}}}}}]"#)),
        SourceFormat::ClaudeAi => ("c.json", format!(r#"[{{"chat_messages":[{message}]}}]"#)),
        SourceFormat::OpenWebUi => ("o.json", format!(r#"[{{"history":{{"messages":{{"a":{message}}}}}}}]"#)),
        SourceFormat::LibreChat => ("l.json", format!(r#"{{"conversationId":"c","messages":[{message}]}}"#)),
        SourceFormat::LmStudio => ("l.json", format!(r#"{{"messages":[{message}]}}"#)),
        SourceFormat::Jan => ("j.jsonl", format!("{message}\n")),
        SourceFormat::Pi => (
            "p.jsonl",
            format!(
                "{{\"type\":\"session\",\"id\":\"s\"}}\n{{\"type\":\"message\",\"id\":\"1\",\"message\":{message}}}\n"
            ),
        ),
        SourceFormat::Codex => (
            "r.jsonl",
            format!(
                "{{\"type\":\"session_meta\",\"payload\":{{\"id\":\"s\"}}}}\n{{\"type\":\"response_item\",\"payload\":{message}}}\n"
            ),
        ),
        SourceFormat::ClaudeCode => {
            let role = if message.contains("assistant") { "assistant" } else { "user" };
            // Written twice, because an answer's repeated block must be counted once.
            let line = format!(r#"{{"type":"{role}","uuid":"1","message":{message}}}"#);
            ("c.jsonl", if role == "user" { line } else { format!("{line}\n{line}\n") })
        }
        _ => ("s.json", format!(r#"{{"sessionId":"s","projectHash":"p","messages":[{message}]}}"#)),
    };
    let (mut texts, skipped) = read(format, file, &text);
    if format == SourceFormat::Messages {
        assert_eq!(texts.pop().as_deref(), Some("u z"), "the message after it is lost");
    }
    (texts, skipped)
}

#[test]
fn data_behind_the_end_of_a_document_is_counted() {
    let export = r#"[{"mapping":{"a":{"message":{"author":{"role":"user"},"content":{"content_type":"text","parts":["q"]}}}}}]"#;
    let behind = vec![("data after the end of the document".to_string(), 1)];
    for (more, skipped) in [("\n\n", vec![]), (export, behind.clone()), (" garbage", behind)] {
        let (texts, found) = read(SourceFormat::ChatGpt, "c.json", &format!("{export}{more}"));
        assert_eq!((texts, found), (vec!["u q".to_string()], skipped), "{more}");
    }
}

#[test]
fn a_text_that_only_holds_json_is_no_source() {
    let dir = tempfile::tempdir().unwrap();
    let hint = |name: &str, bytes: &[u8]| {
        let path = dir.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        let error = recognise(&path, &mut SourceReader::default()).unwrap_err();
        assert!(error.message.ends_with("unknown format"), "{}", error.message);
        error.hint_for(HintTarget::SHELL).unwrap()
    };
    let message = r#"{"role":"user","content":"x"}"#;
    let sql = format!("CREATE TABLE message (data TEXT);\nINSERT INTO message VALUES ('{message}');\n");
    assert!(hint("a.sql", sql.as_bytes()).contains("sqlite3"));
    assert!(hint("a.json.gz", &[0x1f, 0x8b, 8, 0]).contains("gunzip"));
    let wide: Vec<u8> = message.encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert!(hint("a.json", &[&[0xff, 0xfe], &wide[..]].concat()).contains("UTF-16"));
    assert!(hint("b.json", &wide).contains("UTF-16"));
    assert!(hint("c.json", b"{}").contains("jq"));
    let zip = |names: &[&str]| {
        let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
        for name in names {
            zip.start_file(*name, zip::write::SimpleFileOptions::default()).unwrap();
        }
        zip.finish().unwrap().into_inner()
    };
    let long = "x".repeat(200);
    for (names, expected) in [
        (&["chats.json"][..], "Claude.ai, but chats.json: unpack it"),
        (&["e/b", "e/a", "c", "e/d", "f"], "Claude.ai, but a, b, c and 2 more: unpack it"),
        (&[&long], &format!("Claude.ai, but {}: unpack it", "x".repeat(60))),
    ] {
        let hint = hint("z.zip", &zip(names));
        assert!(hint.contains(expected), "{hint}");
    }
}
