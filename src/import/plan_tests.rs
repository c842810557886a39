//! Tests of the mapping that the table of sources does not cover.

use std::fmt::Write;

use super::tests::{LATER, read, sample, tree};
use super::{ImportRules, ToolDetail, finish, plan};
use lepo_base::role::Role;
use lepo_import::{History, NodeContent, SourceFormat, SourceReader};
use lepo_store::bubb::BubbName;

#[test]
fn a_call_that_waits_is_whole_below_each_beginning() {
    let text = |text: &str| NodeContent::Text(Role::User, text.into(), Vec::new());
    let mut conversation = History::default();
    let call = NodeContent::Call { id: "c".into(), name: "f".into(), input: "{}".into() };
    let call = conversation.add(None, Some(1), call);
    let output = NodeContent::Output { call: "c".into(), text: "done".into(), files: Vec::new() };
    let output = conversation.add(Some(call), Some(2), output);
    for beginning in ["one", "two", "three"] {
        conversation.add(Some(output), Some(3), text(beginning));
    }
    for is_ready in [false, true] {
        let mut conversation = conversation.clone();
        if is_ready {
            conversation.nodes.iter_mut().for_each(finish(false));
        }
        let bubbs =
            plan(conversation, &ImportRules { tools: ToolDetail::Brief, date: None, now: 9, written: None })
                .bubbs;
        let texts: Vec<&str> = bubbs.iter().map(|bubb| bubb.text.as_str()).collect();
        let expected = ["one", "f\n{}", "done", "two", "f\n{}", "done", "three", "f\n{}", "done"];
        assert_eq!(texts, expected, "{is_ready}");
        for beginning in bubbs.chunks(3) {
            assert_eq!(beginning[1].name.prev, Some(beginning[0].name.id));
            assert_eq!(beginning[2].name.prev, Some(beginning[1].name.id));
        }
    }
}

/// A Claude Code log whose answers arrive in several lines, each longer than the previous one, or repeated.
fn snapshots() -> String {
    let mut log = String::new();
    let long = r#"a \"word\"\n"#.repeat(600);
    let mut line = |id: &str, parent: &str, kind: &str, message: &str, content: &str| {
        writeln!(
            log,
            r#"{{"type":"{kind}","uuid":"{id}","parentUuid":"{parent}","timestamp":"2026-08-01T10:00:00Z","message":{{"id":"{message}","role":"{kind}","content":{content}}}}}"#
        )
        .unwrap();
    };
    let text = |text: &str| format!(r#"[{{"type":"text","text":"{text}"}}]"#);
    let output = |text: &str| format!(r#"[{{"type":"tool_result","tool_use_id":"t","content":"{text}"}}]"#);
    line("1", "", "user", "", r#""the question""#);
    line("2", "1", "assistant", "m", &text("the"));
    line("3", "2", "assistant", "m", &text("the answer"));
    line("4", "3", "user", "", &output(&long));
    line("5", "4", "assistant", "m", &text("the answer, whole"));
    line("6", "5", "user", "", &output(&format!("{long}[8 bytes: _blobs/x]")));
    line("7", "6", "assistant", "n", &text("the question again"));
    line("8", "7", "user", "", r#""and""#);
    line("9", "8", "assistant", "n", &text("and so on"));
    line("a", "9", "assistant", "o", &text("the question again, and so on"));
    log
}

#[test]
fn what_the_threads_that_read_do_changes_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let names = |name: &str, bytes: &[u8], is_brief: Option<bool>| -> Vec<(BubbName, String)> {
        let path = dir.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        let format =
            SourceFormat::parse(if name.ends_with('l') { "claude-code" } else { "chatgpt" }).unwrap();
        let mut reading = SourceReader { finish: is_brief.map(finish), ..SourceReader::default() };
        let mut names = Vec::new();
        format
            .read(vec![path], &mut reading, &mut |conversation, _, _| {
                let rules =
                    ImportRules { tools: ToolDetail::Brief, date: None, now: u64::MAX, written: None };
                names.extend(plan(conversation, &rules).bubbs.into_iter().map(|bubb| (bubb.name, bubb.text)));
                Ok(())
            })
            .unwrap();
        names
    };
    let sample = |file: &str| {
        std::fs::read(std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/interop").join(file))
            .unwrap()
    };
    for (name, bytes) in [
        ("a.jsonl", snapshots().into_bytes()),
        ("b.jsonl", sample("claude-code.jsonl")),
        ("c.json", sample("chatgpt-conversations-000.json")),
    ] {
        let whole = names(name, &bytes, None);
        assert!(whole.len() > 6, "{whole:?}");
        for is_brief in [true, false] {
            assert_eq!(names(name, &bytes, Some(is_brief)), whole);
        }
    }
}

#[test]
fn hidden_parts_before_many_beginnings_are_not_squared() {
    for prompt in [false, true] {
        let mut conversation = History::default();
        let mut at = prompt.then(|| conversation.add(None, Some(1), NodeContent::System("be good".into())));
        const COUNT: usize = 3000;
        for number in 0..COUNT {
            let hidden = NodeContent::Aside(Role::User, format!("hidden {number}"));
            at = Some(conversation.add(at, Some(1), hidden));
            conversation.add(
                at,
                Some(1),
                NodeContent::Text(Role::User, format!("said {number}"), Vec::new()),
            );
        }
        let bubbs =
            plan(conversation, &ImportRules { tools: ToolDetail::Brief, date: None, now: 9, written: None })
                .bubbs;
        assert!(bubbs.len() < 300_000, "{}", bubbs.len());
        let prompts = bubbs.iter().filter(|bubb| bubb.name.role == Role::System).count();
        assert_eq!(prompts, usize::from(prompt));
        let texts: std::collections::HashSet<&str> = bubbs.iter().map(|bubb| bubb.text.as_str()).collect();
        assert_eq!(texts.len(), 2 * COUNT + usize::from(prompt), "each is there");
    }
}

#[test]
fn an_export_of_llama_servers_interface_keeps_its_forks_and_files() {
    let file = "llama-ui.jsonl";
    let bubbs = read(SourceFormat::LlamaUi, &[(file, &sample(file))], LATER);
    let mut lines: Vec<String> = tree(&bubbs).lines().map(str::to_string).collect();
    lines.sort();
    let expected = [
        "   u0 sure?",
        "  a0 A dot.",
        "  a0 A pixel.",
        "  a1 small",
        " u0 what is this?||n.txt:||pasted||[image/pn",
        "s1 be brief",
    ];
    assert_eq!(lines, expected);
}
