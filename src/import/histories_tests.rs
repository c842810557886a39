//! Tests of formats since autumn 2026: marks of an ended turn, rewinds, resumed sessions.

use super::tests::{Bubbs, LATER, read, tree};
use super::{ImportRules, ToolDetail, plan};
use lepo_import::{History, SourceFormat, SourceReader};

/// Shortly after the times in the samples, so that no message is a day old.
const NOW: u64 = 1_785_578_500_000;

const LOG: &str = "sessions/rollout-2026-08-01T10-00-00-01a0ae76-2436-7590-9a11-000000000001.jsonl";
const REWOUND: &str = "sessions/rollout-2026-08-01T10-00-00-01a0ae76-2436-7590-9a11-000000000001_01a0ae76-2436-7590-9a11-0000000000b2.jsonl";
const TWICE: &str = "sessions/rollout-2026-08-01T10-00-00-01a0ae76-2436-7590-9a11-000000000001_01a0ae76-2436-7590-9a11-0000000000b3.jsonl";
const THREAD: &str = "01a0ae76-2436-7590-9a11-000000000001";

/// Formats a line of a Codex log; `ordinal` is its number and its second.
fn codex(ordinal: u64, kind: &str, payload: &str) -> String {
    format!(
        "{{\"timestamp\":\"2026-08-01T10:00:{:02}.000Z\",\"ordinal\":{ordinal},\"type\":\"{kind}\",\"payload\":{payload}}}\n",
        ordinal % 60
    )
}

fn message(ordinal: u64, role: &str, text: &str) -> String {
    let content = format!("[{{\"type\":\"input_text\",\"text\":\"{text}\"}}]");
    codex(
        ordinal,
        "response_item",
        &format!("{{\"type\":\"message\",\"role\":\"{role}\",\"content\":{content}}}"),
    )
}

fn first_line(ordinal: u64, more: &str) -> String {
    let time = format!("\"timestamp\":\"2026-08-01T10:00:{:02}.000Z\"", ordinal % 60);
    codex(ordinal, "session_meta", &format!("{{\"id\":\"{THREAD}\",{time},\"cwd\":\"/w\"{more}}}"))
}

fn end(ordinal: u64) -> String {
    codex(ordinal, "event_msg", "{\"type\":\"task_complete\"}")
}

/// Returns the lines of a tree, sorted: siblings have no other stable order.
fn sorted(bubbs: &Bubbs) -> Vec<String> {
    let mut lines: Vec<String> = tree(bubbs).lines().map(str::to_string).collect();
    lines.sort();
    lines
}

#[test]
fn an_answer_that_says_that_its_turn_ended_is_taken_at_once() {
    let claude = |stop: &str| {
        format!(
            "{{\"type\":\"user\",\"uuid\":\"a\",\"sessionId\":\"s\",\"timestamp\":\"2026-08-01T10:00:01Z\",\"message\":{{\"role\":\"user\",\"content\":\"q\"}}}}\n\
             {{\"type\":\"assistant\",\"uuid\":\"b\",\"parentUuid\":\"a\",\"timestamp\":\"2026-08-01T10:00:02Z\",\"message\":{{\"id\":\"m\",\"role\":\"assistant\",\"stop_reason\":{stop},\"content\":[{{\"type\":\"text\",\"text\":\"r\"}}]}}}}\n"
        )
    };
    let codex_log = |more: &str| {
        [first_line(0, ""), message(1, "user", "q"), message(2, "assistant", "r"), more.into()].concat()
    };
    let pi = |stop: &str| {
        format!(
            "{{\"type\":\"session\",\"id\":\"s\"}}\n\
             {{\"type\":\"message\",\"id\":\"a\",\"parentId\":null,\"timestamp\":\"2026-08-01T10:00:01Z\",\"message\":{{\"role\":\"user\",\"content\":\"q\"}}}}\n\
             {{\"type\":\"message\",\"id\":\"b\",\"parentId\":\"a\",\"timestamp\":\"2026-08-01T10:00:02Z\",\"message\":{{\"role\":\"assistant\",\"content\":\"r\"{stop}}}}}\n"
        )
    };
    let gemini = |more: &str| {
        format!(
            "{{\"sessionId\":\"s\",\"projectHash\":\"p\",\"startTime\":\"2026-08-01T10:00:00Z\"}}\n\
             {{\"id\":\"a\",\"timestamp\":\"2026-08-01T10:00:01Z\",\"type\":\"user\",\"content\":[{{\"text\":\"q\"}}]}}\n\
             {{\"id\":\"b\",\"timestamp\":\"2026-08-01T10:00:02Z\",\"type\":\"gemini\",\"content\":\"r\"{more}}}\n"
        )
    };
    let opencode = |info: &str, parts: &str| {
        format!(
            "{{\"info\":{{\"id\":\"ses_1\",\"time\":{{\"created\":1785578400000}}}},\"messages\":[\
             {{\"info\":{{\"id\":\"msg_1\",\"role\":\"user\",\"time\":{{\"created\":1785578401000}}}},\"parts\":[{{\"type\":\"text\",\"text\":\"q\"}}]}},\
             {{\"info\":{{\"id\":\"msg_2\",\"role\":\"assistant\",\"time\":{{\"created\":1785578402000}}{info}}},\"parts\":[{{\"type\":\"text\",\"text\":\"r\"}}{parts}]}}]}}"
        )
    };
    let (whole, held) = ("u0 q\n a0 r", "u0 q");
    for (format, file, text, expected) in [
        (SourceFormat::ClaudeCode, "s.jsonl", claude("\"end_turn\""), whole),
        (SourceFormat::ClaudeCode, "s.jsonl", claude("\"max_tokens\""), whole),
        (SourceFormat::ClaudeCode, "s.jsonl", claude("\"tool_use\""), held),
        (SourceFormat::ClaudeCode, "s.jsonl", claude("null"), held),
        (SourceFormat::Codex, LOG, codex_log(&end(3)), whole),
        (SourceFormat::Codex, LOG, codex_log(&codex(3, "event_msg", "{\"type\":\"turn_aborted\"}")), whole),
        (SourceFormat::Codex, LOG, codex_log(""), held),
        (SourceFormat::Pi, "s.jsonl", pi(",\"stopReason\":\"stop\""), whole),
        (SourceFormat::Pi, "s.jsonl", pi(",\"stopReason\":\"toolUse\""), held),
        (SourceFormat::Pi, "s.jsonl", pi(""), held),
        (SourceFormat::GeminiCli, "s.jsonl", gemini(",\"tokens\":{\"input\":1}"), whole),
        (SourceFormat::GeminiCli, "s.jsonl", gemini(""), held),
        (SourceFormat::OpenCode, "s.json", opencode(",\"finish\":\"stop\"", ""), whole),
        (
            SourceFormat::OpenCode,
            "s.json",
            opencode("", ",{\"type\":\"step-finish\",\"reason\":\"stop\"}"),
            whole,
        ),
        (
            SourceFormat::OpenCode,
            "s.json",
            opencode("", ",{\"type\":\"step-finish\",\"reason\":\"tool-calls\"}"),
            held,
        ),
        (SourceFormat::OpenCode, "s.json", opencode("", ""), held),
    ] {
        assert_eq!(tree(&read(format, &[(file, text.as_bytes())], NOW)), expected, "{text}");
        assert_eq!(tree(&read(format, &[(file, text.as_bytes())], LATER)), whole, "{text}");
    }
}

#[test]
fn a_thread_of_codex_that_was_rewound_goes_on_from_what_it_kept() {
    let base = |end: u64| {
        format!(",\"history_base\":{{\"thread_id\":\"{THREAD}\",\"end_ordinal_exclusive\":{end}}}")
    };
    let turn = |at: u64, word: &str| {
        [message(at, "user", word), message(at + 1, "assistant", &format!("{word}!")), end(at + 2)].concat()
    };
    let first = [first_line(0, ""), turn(1, "one"), turn(4, "two")].concat();
    // Rewound to before its second turn, and then again.
    let second = [first_line(4, &base(4)), turn(5, "three"), turn(8, "four")].concat();
    // A later log refers to its base by that log's own id.
    let third = base(8).replace(THREAD, "01a0ae76-2436-7590-9a11-0000000000b2");
    let third = [first_line(8, &third), turn(9, "five")].concat();
    let files = [(LOG, first.as_bytes()), (REWOUND, second.as_bytes()), (TWICE, third.as_bytes())];
    let bubbs = read(SourceFormat::Codex, &files, NOW);
    let expected = "u0 one\n a0 one!\n  u0 two\n   a0 two!\n  u0 three\n   a0 three!\n    u0 four\n     a0 four!\n    u0 five\n     a0 five!";
    assert_eq!(tree(&bubbs), expected);
    let turned: Vec<_> = files.into_iter().rev().collect();
    assert_eq!(read(SourceFormat::Codex, &turned, NOW), bubbs);
    // If the first line is torn, the file name still refers to the base.
    let torn = second.split_once('\n').unwrap().1;
    let torn = [(LOG, first.as_bytes()), (REWOUND, torn.as_bytes())];
    let found = read(SourceFormat::Codex, &torn, NOW);
    assert!(found.keys().all(|name| bubbs.contains_key(name)) && found.len() == 8, "{}", tree(&found));
}

#[test]
fn a_subagent_of_a_rewound_thread_stands_where_it_was_begun() {
    let call = |at: u64, id: &str| {
        codex(
            at,
            "response_item",
            &format!(
                "{{\"type\":\"function_call\",\"call_id\":\"{id}\",\"name\":\"spawn\",\"arguments\":\"{id}\"}}"
            ),
        )
    };
    let base = format!(",\"history_base\":{{\"thread_id\":\"{THREAD}\",\"end_ordinal_exclusive\":3}}");
    let first = [
        first_line(0, ""),
        message(1, "user", "one"),
        message(2, "assistant", "one!"),
        message(3, "user", "two"),
        call(4, "c1"),
        end(6),
    ]
    .concat();
    let second = [
        first_line(10, &base).replacen("\"ordinal\":10", "\"ordinal\":3", 1),
        message(11, "user", "three"),
        call(12, "c2"),
        end(14),
    ]
    .concat();
    let agent = |n: u64, at: u64| {
        let id = format!("01a0ae76-2436-7590-9a11-0000000000a{n}");
        let text = [
            first_line(at, &format!(",\"parent_thread_id\":\"{THREAD}\"")).replacen(THREAD, &id, 1),
            message(at, "user", &format!("agent {n}")),
        ]
        .concat();
        (format!("sessions/rollout-2026-08-01T10-00-00-{id}.jsonl"), text)
    };
    let (one, two) = (agent(1, 5), agent(2, 13));
    let files = [
        (LOG, first.as_bytes()),
        (REWOUND, second.as_bytes()),
        (one.0.as_str(), one.1.as_bytes()),
        (two.0.as_str(), two.1.as_bytes()),
    ];
    let tree = tree(&read(SourceFormat::Codex, &files, LATER));
    assert_eq!(
        tree,
        "u0 one\n a0 one!\n  u0 two\n   a1 spawn|c1\n    u1 agent 1\n  u0 three\n   a1 spawn|c2\n    u1 agent 2"
    );
}

#[test]
fn a_codex_log_without_its_first_record_keeps_its_good_part() {
    let rest = [message(1, "user", "one"), message(2, "assistant", "two")].concat();
    let whole =
        read(SourceFormat::Codex, &[(LOG, [first_line(0, ""), rest.clone()].concat().as_bytes())], LATER);
    assert_eq!(tree(&whole), "u0 one\n a0 two");
    let torn = format!("{{\"timestamp\":\"2026-08-01T10:00:00.000Z\",\"type\":\"session_me\n{rest}");
    let other = first_line(0, "").replacen("\"id\"", "\"session_id\"", 1) + &rest;
    for (file, text) in [(LOG, &rest), (LOG, &torn), (LOG, &other), ("any.jsonl", &rest)] {
        assert_eq!(read(SourceFormat::Codex, &[(file, text.as_bytes())], LATER), whole, "{text}");
    }
}

#[test]
fn an_image_of_codex_stands_apart_from_its_question() {
    let image = "{\"type\":\"input_image\",\"image_url\":\"data:image/png;base64,iVBORw0KGgo=\"}";
    let mark = |text: &str| format!("{{\"type\":\"input_text\",\"text\":\"{text}\"}}");
    let question = |before: &str, after: &str| {
        let (begins, ends) = (mark("<image name=[Image #1] path=\\\"/w/a b.png\\\">"), mark("</image>"));
        let content = format!("[{before}{begins},{image},{ends}{after}]");
        let payload = format!("{{\"type\":\"message\",\"role\":\"user\",\"content\":{content}}}");
        [first_line(0, ""), codex(1, "response_item", &payload)].concat()
    };
    let text = mark("look");
    for log in [question(&format!("{text},"), ""), question("", &format!(",{text}"))] {
        let bubbs = read(SourceFormat::Codex, &[(LOG, log.as_bytes())], LATER);
        let found = tree(&bubbs);
        assert!(bubbs.len() == 1 && found.starts_with("u0 look||[image/png 8 bytes a b.png: _"), "{found}");
    }
    // Text that only resembles a tag is text.
    for said in ["<image> is a tag", "<image name=x> and y", "what is <image>"] {
        let log = [first_line(0, ""), message(1, "user", said)].concat();
        assert_eq!(tree(&read(SourceFormat::Codex, &[(LOG, log.as_bytes())], LATER)), format!("u0 {said}"));
    }
}

#[test]
fn the_summary_of_a_compaction_of_codex_is_hidden() {
    let tokens = |at: u64, input: u64| {
        codex(
            at,
            "event_msg",
            &format!(
                "{{\"type\":\"token_count\",\"info\":{{\"last_token_usage\":{{\"input_tokens\":{input},\"output_tokens\":1}}}}}}"
            ),
        )
    };
    let log = [
        first_line(0, ""),
        message(1, "user", "one"),
        message(2, "assistant", "two"),
        tokens(3, 10),
        end(4),
        message(5, "assistant", "We counted."),
        tokens(6, 99),
        codex(7, "compacted", "{\"message\":\"Another model says:\\nWe counted.\"}"),
        tokens(8, 99),
        end(9),
        message(10, "user", "three"),
    ];
    let bubbs = read(SourceFormat::Codex, &[(LOG, log.concat().as_bytes())], LATER);
    assert_eq!(sorted(&bubbs), ["  s1 Another model says:|We counted.", "  u0 three", " a0 two", "u0 one"]);
    // Read at any earlier moment, the summary is not mistaken for an answer.
    for count in 1..log.len() {
        let part = read(SourceFormat::Codex, &[(LOG, log[..count].concat().as_bytes())], NOW);
        assert!(part.keys().all(|name| bubbs.contains_key(name)), "{count}: {}", tree(&part));
    }
    let mut facts = Vec::new();
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("rollout.jsonl");
    std::fs::write(&path, log.concat()).unwrap();
    let take = &mut |conversation: History, _: &std::path::Path, _| {
        facts.extend(conversation.nodes.iter().filter(|node| node.is_answer()).map(|node| node.input));
        Ok(())
    };
    SourceFormat::Codex.read(vec![path], &mut SourceReader::default(), take).unwrap();
    assert_eq!(facts, [Some(10)]);
}

#[test]
fn a_resumed_session_of_gemini_says_nothing_anew() {
    let head = "{\"sessionId\":\"s\",\"projectHash\":\"p\",\"startTime\":\"2026-08-01T10:00:00Z\"}\n";
    let record = |id: &str, second: u64, kind: &str, content: &str, more: &str| {
        format!(
            "{{\"id\":\"{id}\",\"timestamp\":\"2026-08-01T10:00:{second:02}Z\",\"type\":\"{kind}\",\"content\":{content}{more}}}"
        )
    };
    let thoughts = ",\"thoughts\":[{\"subject\":\"S\",\"description\":\"D\",\"timestamp\":\"2026-08-01T10:00:02Z\"}],\"tokens\":{\"input\":9,\"output\":3},\"model\":\"g\"";
    let calls = ",\"toolCalls\":[{\"id\":\"t\",\"name\":\"ls\",\"args\":{},\"timestamp\":\"2026-08-01T10:00:04Z\",\"result\":[{\"functionResponse\":{\"id\":\"t\",\"name\":\"ls\",\"response\":{\"output\":\"a b\"}}}]}]";
    let response =
        "[{\"functionResponse\":{\"id\":\"t\",\"name\":\"ls\",\"response\":{\"output\":\"a b\"}}}]";
    let first = [
        record("q", 1, "user", "[{\"text\":\"list\"}]", ""),
        record("r", 3, "gemini", "\"I look.\"", thoughts),
        record("r", 3, "gemini", "\"I look.\"", &format!("{thoughts}{calls}")),
        record("x", 5, "user", response, ""),
        record("e", 6, "gemini", "\"a and b\"", ",\"tokens\":{\"input\":9,\"output\":3}"),
    ]
    .map(|line| line + "\n");
    let again = |second: u64| {
        let model = "[{\"text\":\"S D\",\"thought\":true},{\"text\":\"I look.\"},{\"functionCall\":{\"id\":\"t\",\"name\":\"ls\",\"args\":{}}}]";
        [
            record("q", second, "user", "[{\"text\":\"list\"}]", ""),
            record("r", second, "gemini", model, ""),
            record("r_response", second, "user", response, ""),
            record("x", second, "user", response, ""),
            record("e", second, "gemini", "[{\"text\":\"a and b\"}]", ""),
        ]
        .join(",")
    };
    let whole = [head.to_string(), first.concat()].concat();
    let resumed = format!("{whole}{head}{{\"$set\":{{\"messages\":[{}]}}}}\n", again(20));
    let before = read(SourceFormat::GeminiCli, &[("s.jsonl", whole.as_bytes())], NOW);
    let lines = [" a0 I look.", " a1 S||D", "  a0 a and b", "  a1 ls|{}", "   t1 a b", "u0 list"];
    let mut expected = lines.map(str::to_string);
    expected.sort();
    assert_eq!(sorted(&before), expected);
    assert_eq!(read(SourceFormat::GeminiCli, &[("s.jsonl", resumed.as_bytes())], NOW), before);
    let asked = record("n", 30, "user", "[{\"text\":\"more\"}]", "");
    let longer = format!("{resumed}{asked}\n");
    let after = read(SourceFormat::GeminiCli, &[("s.jsonl", longer.as_bytes())], LATER);
    assert!(after.len() == before.len() + 1 && tree(&after).contains("\n   u0 more"), "{}", tree(&after));
    // A log that starts with such a snapshot has thinking and tools as parts.
    let only = format!("{head}{{\"$set\":{{\"messages\":[{}]}}}}\n", again(20));
    let bubbs = read(SourceFormat::GeminiCli, &[("s.jsonl", only.as_bytes())], LATER);
    let mut expected = lines.map(|line| line.replace("S||D", "S D"));
    expected.sort();
    assert_eq!(sorted(&bubbs), expected);
}

#[test]
fn what_gemini_puts_into_a_question_is_hidden() {
    let log = "{\"sessionId\":\"s\",\"projectHash\":\"p\",\"startTime\":\"2026-08-01T10:00:00Z\"}\n\
        {\"id\":\"q\",\"timestamp\":\"2026-08-01T10:00:01Z\",\"type\":\"user\",\"content\":[{\"text\":\"look @a.png\"},{\"text\":\"\\n--- Content from referenced files ---\"},\
        {\"inlineData\":{\"data\":\"iVBORw0KGgo=\",\"mimeType\":\"image/png\"}},{\"text\":\"\\n--- End of content ---\"}],\"displayContent\":[{\"text\":\"look @a.png\"}]}\n";
    let found = tree(&read(SourceFormat::GeminiCli, &[("s.jsonl", log.as_bytes())], LATER));
    assert!(found.starts_with("u0 look @a.png||[image/png 8 bytes"), "{found}");
    assert!(found.ends_with("\n u1 --- Content from referenced files ---|--"), "{found}");
}

#[test]
fn what_claude_code_says_in_the_models_name_is_hidden() {
    let line = |uuid: &str, parent: &str, model: &str, text: &str| {
        format!(
            "{{\"type\":\"assistant\",\"uuid\":\"{uuid}\",\"parentUuid\":\"{parent}\",\"timestamp\":\"2026-08-01T10:00:02Z\",\"message\":{{\"id\":\"{uuid}\",\"model\":\"{model}\",\"role\":\"assistant\",\"stop_reason\":\"stop_sequence\",\"content\":[{{\"type\":\"text\",\"text\":\"{text}\"}}]}}}}\n"
        )
    };
    let log = "{\"type\":\"user\",\"uuid\":\"a\",\"sessionId\":\"s\",\"timestamp\":\"2026-08-01T10:00:01Z\",\"message\":{\"role\":\"user\",\"content\":\"q\"}}\n".to_string()
        + &line("b", "a", "<synthetic>", "No response requested.")
        + &line("c", "b", "claude", "r");
    let bubbs = read(SourceFormat::ClaudeCode, &[("s.jsonl", log.as_bytes())], LATER);
    assert_eq!(sorted(&bubbs), [" a0 r", " a1 No response requested.", "u0 q"]);
}

#[test]
fn a_thread_of_jan_without_times_has_that_of_its_beginning() {
    let messages = "{\"object\":\"thread.message\",\"thread_id\":\"t\",\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":{\"value\":\"q\"}}]}\n";
    for created in ["1785578400", "1785578400000"] {
        let about = format!("{{\"title\":\"T\",\"created\":{created}}}");
        let files = [("t/thread.json", about.as_bytes()), ("t/messages.jsonl", messages.as_bytes())];
        let dir = tempfile::tempdir().unwrap();
        for (name, bytes) in files {
            std::fs::create_dir_all(dir.path().join("t")).unwrap();
            std::fs::write(dir.path().join(name), bytes).unwrap();
        }
        let rules = ImportRules { tools: ToolDetail::Brief, date: None, now: LATER, written: None };
        let mut times = Vec::new();
        let take = &mut |conversation: History, _: &std::path::Path, _| {
            times.extend(plan(conversation, &rules).bubbs.iter().map(|bubb| bubb.name.id.time()));
            Ok(())
        };
        SourceFormat::Jan
            .read(vec![dir.path().join("t/messages.jsonl")], &mut SourceReader::default(), take)
            .unwrap();
        assert_eq!(times, [1_785_578_400_000]);
    }
}
