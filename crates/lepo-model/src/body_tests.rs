//! Bodies of requests on every wire, to the byte, as in `recorded-bodies.txt`. `LEPO_WRITE_GOLDEN=1 cargo test -p
//! lepo-model bodies` records again.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::PathBuf;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Map, Value, json};

use super::body_context::BodyContext;
use super::media::MediaFile;
use super::message::{ChatMessage, ChatRequest, Schema, ToolCall, ToolSpec};
use super::model_facts::ModelFacts;
use super::provider_spec::HttpSpec;
use super::quirks::Quirks;
use super::replay::ProviderMessage;
use super::{CacheLife, ModelConfig, ModelOptions, Provider, anthropic, ollama, openai, responses};
use lepo_base::media::Media;
use lepo_base::role::Role;

/// Characters that JSON escapes, and others of one to four bytes.
const ODD: &str = "가\u{1}\"\\/\n\r\t\u{8}\u{c}\u{7f}🙂\u{2028}é";

/// Lengths of texts: the longest that is escaped immediately, the next, and more than one chunk.
const LENGTHS: [usize; 3] = [4096, 4097, 70_000];

/// Lengths of files: with each remainder by three, and more than one piece.
const FILES: [(Media, &str, usize); 4] = [
    (Media::Png, "a.png", 1),
    (Media::Jpeg, "b \"c\".jpg", 70),
    (Media::Pdf, "d 가.pdf", 200_000),
    (Media::Webp, "e\n.webp", 0),
];

fn wires() -> [(&'static str, Provider, &'static HttpSpec); 4] {
    [
        ("chat", Provider::Openai, openai::SPEC.http.unwrap()),
        ("responses", Provider::Openai, responses::SPEC.http.unwrap()),
        ("anthropic", Provider::Anthropic, anthropic::SPEC.http.unwrap()),
        ("ollama", Provider::Ollama, ollama::SPEC.http.unwrap()),
    ]
}

/// A text of exactly so many bytes, which no other text of these contains.
fn long(length: usize) -> String {
    let mut text = format!("{length}: ") + &ODD.repeat(length / ODD.len() + 1);
    text.truncate(text.floor_char_boundary(length));
    let missing = length - text.len();
    text + &"z".repeat(missing)
}

fn content(length: usize) -> Vec<u8> {
    (0..length).map(|i| (i * 7 % 251 + length % 5) as u8).collect()
}

fn file(index: usize) -> MediaFile {
    let (media, name, length) = FILES[index];
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(&content(length)).unwrap();
    MediaFile::new(media, name.into(), length as u64, file)
}

/// A mark of a long text or a file in the recording, with its JSON, and with that of an outline and a log.
type Mark = (String, String, [String; 2]);

fn marks() -> Vec<Mark> {
    let inside = |text: &str| {
        let json = serde_json::to_string(text).unwrap();
        json.get(1..json.len() - 1).unwrap().to_owned()
    };
    let texts = LENGTHS.iter().flat_map(|&length| {
        let json = inside(&long(length));
        let outline = if length > 4096 { String::new() } else { json.clone() };
        // Arguments are JSON within a string.
        let argument = inside(&json);
        [
            (format!("«text {length}»"), json.clone(), [outline, json]),
            (format!("«argument {length}»"), argument.clone(), [argument.clone(), argument]),
        ]
    });
    let files = FILES.iter().filter(|(.., length)| *length > 100).map(|&(.., length)| {
        let shown = format!("({length} bytes)");
        (format!("«file {length}»"), BASE64_STANDARD.encode(content(length)), [shown.clone(), shown])
    });
    texts.chain(files).collect()
}

fn message(role: Role, text: &str) -> ChatMessage {
    ChatMessage::new(role, text)
}

fn user(text: &str) -> ChatMessage {
    message(Role::User, text)
}

fn answer(text: &str) -> ChatMessage {
    message(Role::Assistant, text)
}

fn inst(text: &str) -> ChatMessage {
    ChatMessage { instruction: true, ..message(Role::System, text) }
}

fn with(text: &str, calls: &[(&str, Value)]) -> ChatMessage {
    let call = |(id, arguments): &(&str, Value)| ToolCall {
        id: (*id).into(),
        name: format!("tool_{id}"),
        arguments: arguments.clone(),
    };
    ChatMessage { calls: calls.iter().map(call).collect(), ..answer(text) }
}

fn result(id: &str, text: &str, files: &[usize]) -> ChatMessage {
    let files = files.iter().map(|&index| file(index)).collect();
    ChatMessage { call_id: Some(id.into()), files, ..message(Role::Tool, text) }
}

fn attached(role: Role, text: &str, files: &[usize]) -> ChatMessage {
    ChatMessage { files: files.iter().map(|&index| file(index)).collect(), ..message(role, text) }
}

fn replayed(received: Value) -> ChatMessage {
    ChatMessage { replay: Some(ProviderMessage::new(received)), ..with("unsent", &[("r1", json!({}))]) }
}

fn value(json: &str) -> Value {
    serde_json::from_str(json).unwrap()
}

/// Conversations by name.
fn conversations() -> Vec<(&'static str, Vec<ChatMessage>)> {
    let system = |text: &str| message(Role::System, text);
    let tool = |text: &str| message(Role::Tool, text);
    let [small, large, larger] = LENGTHS.map(long);
    let numbers = value(r#"{"b":1e400,"a":[0.10000000000000001,18446744073709551616,-0.0,null,true],"":{}}"#);
    let calls = [
        ("c1", json!({"z": 1, "a": ODD})),
        ("c2", json!(ODD)),
        ("c3", numbers.clone()),
        ("c4", Value::Null),
        ("c5", json!({ "long": large })),
    ];
    vec![
        ("none", vec![]),
        ("one", vec![user("hi")]),
        (
            "systems",
            vec![system("P"), system(" \n"), system(ODD), user("a"), answer("b"), user("c"), inst("I")],
        ),
        ("only systems", vec![system("P"), inst("I")]),
        ("blank systems", vec![system(""), user(" "), answer(""), user("a")]),
        ("odd", vec![system(ODD), user(ODD), answer(ODD), tool(ODD), system(ODD), user(ODD), inst(ODD)]),
        (
            "long",
            vec![
                system(&small),
                system(&large),
                system(&larger),
                user(&larger),
                user(&small),
                answer(&large),
                tool(&large),
                system(&larger),
                tool(&small),
                answer(""),
                user(&large),
                inst(&large),
            ],
        ),
        ("an instruction after an answer", vec![user("a"), answer("b"), inst("SUM")]),
        (
            "a pause",
            vec![user("a"), inst("I"), replayed(json!({"role": "assistant", "content": [{"t": 1}]}))],
        ),
        (
            "files",
            vec![
                attached(Role::User, "see", &[0, 1, 2, 3]),
                answer("seen"),
                attached(Role::User, "", &[2]),
                attached(Role::User, &large, &[0, 2]),
                inst("I"),
            ],
        ),
        (
            "calls",
            vec![
                user("a"),
                with("", &calls),
                result("c1", "r", &[]),
                result("c2", "", &[]),
                result("c3", &large, &[]),
                with("again", &calls[..1]),
                result(ODD, ODD, &[]),
                inst("I"),
            ],
        ),
        (
            "files of results",
            vec![
                user("a"),
                with("", &calls[..3]),
                result("c1", "r", &[0]),
                result("c2", " ", &[1, 2]),
                result("c3", &larger, &[3]),
                user("b"),
                with(&large, &calls[..1]),
                result("c1", "", &[2]),
            ],
        ),
        (
            "received",
            vec![
                user("a"),
                replayed(json!({"role": "assistant", "content": [
                    {"type": "thinking", "thinking": ODD, "signature": "s=="},
                    {"type": "text", "text": large},
                    {"type": "tool_use", "id": "r1", "name": "f", "input": numbers},
                ]})),
                result("r1", "r", &[]),
                replayed(
                    json!([{"type": "reasoning", "summary": [], "encrypted_content": larger}, ODD, null]),
                ),
                result("r1", "r", &[]),
                replayed(
                    json!({"role": "assistant", "content": null, "tool_calls": [{"id": "r1"}], "x": null}),
                ),
                result("r1", "r", &[]),
                replayed(json!([])),
                with("mine", &calls[..1]),
                user("b"),
                inst("I"),
            ],
        ),
    ]
}

fn object(value: Value) -> Map<String, Value> {
    value.as_object().cloned().unwrap()
}

fn all_options() -> ModelOptions {
    ModelOptions {
        temperature: Some(serde_json::from_str("0.70").unwrap()),
        max_tokens: Some(5000),
        effort: Some("high".into()),
        top_p: Some(serde_json::from_str("1e-1").unwrap()),
        seed: Some(-3),
        stop: vec!["END".into(), ODD.into()],
        web: true,
    }
}

/// Fields that the user configured: for every name that a wire uses, once of another kind and once of the same.
fn extras() -> [(&'static str, Value); 3] {
    let both = r#"{"model":"own","stream":false,"temperature":null,"messages":[],"input":"i","system":"s","new":{"deep":[1.50,"«0»"]},
        "tools":[],"tool_choice":"auto","max_tokens":1,"max_completion_tokens":2,"max_output_tokens":3,"seed":9,"stop":"S"}"#;
    let merged = r#"{"stream_options":{"include_usage":null,"own":1},"response_format":{"own":1},"options":{"temperature":2.0,"own":1},
        "format":{"type":"own","own":1},"reasoning":{"own":1},"text":{"own":1},"thinking":{"own":1},"output_config":{"own":1},
        "tool_choice":{"own":1},"think":{"own":1}}"#;
    let other = r#"{"stream_options":1,"response_format":[],"options":null,"format":"json","reasoning":"r","text":"t","thinking":false,
        "output_config":0,"include":[],"truncate":true,"keep_alive":"5m"}"#;
    [("extra", value(both)), ("merged extra", value(merged)), ("other extra", value(other))]
}

/// Records one body, with all that depends on it checked.
fn record(out: &mut String, name: &str, marks: &[Mark], spec: &HttpSpec, asking: &mut BodyContext<'_>) {
    let payload = (spec.body)(asking);
    let bytes = payload.to_vec();
    assert_eq!(payload.length(), bytes.len(), "{name}");
    let chunks: Vec<u8> = payload.clone().chunks().flat_map(|chunk| chunk.unwrap().to_vec()).collect();
    assert_eq!(chunks, bytes, "{name}");
    let body = String::from_utf8(bytes).unwrap();
    serde_json::from_str::<Value>(&body).unwrap();
    let mut short = body.clone();
    for (mark, json, _) in marks {
        assert!(!body.contains(mark), "{name}");
        short = short.replace(json, mark);
    }
    let expanded = |of: &dyn Fn(usize) -> String| {
        marks.iter().enumerate().fold(short.clone(), |text, (i, (mark, ..))| text.replace(mark, &of(i)))
    };
    assert_eq!(expanded(&|i| marks[i].1.clone()), body, "{name}");
    let [outline, log] = [0, 1].map(|form| expanded(&|i| marks[i].2[form].clone()));
    // Long texts in tools, calls and received messages are in an outline, and small files have no mark.
    assert!(!name.ends_with("long") || payload.outline() == outline, "{name}: {}", payload.outline());
    assert!(name.contains("files") || payload.log_text() == log, "{name}");
    let open: Vec<&str> = asking.open.iter().map(|quirk| quirk.word).collect();
    writeln!(out, "{name}\n  {short}\n  open: {}", open.join(" ")).unwrap();
}

fn all_bodies() -> String {
    let (mut out, conversations, marks) = (String::new(), conversations(), marks());
    let conversation = |name: &str| conversations.iter().find(|(own, _)| *own == name).unwrap().1.as_slice();
    let schema = Schema { name: "n".into(), schema: json!({"type": "object", "default": null, "enum": []}) };
    let tools = [
        ToolSpec { name: "t".into(), description: ODD.into(), schema: json!({"type": "object"}) },
        ToolSpec {
            name: "u".into(),
            description: String::new(),
            schema: json!({"properties": {}, "x": null}),
        },
        ToolSpec { name: "v".into(), description: long(LENGTHS[1]), schema: json!(true) },
    ];
    let plain = ChatRequest { messages: conversation("one"), ..ChatRequest::default() };
    let rich = ChatRequest {
        messages: conversation("calls"),
        schema: Some(&schema),
        tools: &tools,
        web: true,
        cache_key: Some("k\"ey"),
        ..plain
    };
    let asked = ChatRequest { messages: conversation("one"), ..rich };
    let ended = ChatRequest { tools_ended: true, ..asked };
    let thinks = |capability: &str| ModelFacts {
        capabilities: vec![capability.into()],
        max_tokens: Some(30_000),
        ..ModelFacts::default()
    };
    for (wire, provider, spec) in wires() {
        let base = ModelConfig { model: "mod\"el".into(), ..ModelConfig::new("m", provider) };
        let full = ModelConfig {
            options: all_options(),
            context: Some(32_768),
            cache: CacheLife::Hour,
            ..base.clone()
        };
        let mut add = |name: &str, config: &ModelConfig, request, facts: &ModelFacts, quirks: &Quirks| {
            let mut asking = BodyContext::new(config, request, facts, quirks);
            record(&mut out, &format!("{wire}: {name}"), &marks, spec, &mut asking);
        };
        let (facts, quirks) = (ModelFacts::default(), Quirks::default());
        for (name, messages) in &conversations {
            add(name, &base, ChatRequest { messages, ..plain }, &facts, &quirks);
        }
        add("hour", &full, ChatRequest { messages: conversation("systems"), ..plain }, &facts, &quirks);
        for (name, request) in [("all, calls", rich), ("all", asked), ("all, ended", ended)] {
            add(name, &full, request, &facts, &quirks);
        }
        for (name, request) in [
            ("tools", ChatRequest { tools: &tools, ..plain }),
            ("schema", ChatRequest { schema: Some(&schema), ..plain }),
            ("ended without tools", ChatRequest { tools_ended: true, ..plain }),
            ("web", ChatRequest { web: true, ..plain }),
            ("prefilled", ChatRequest { messages: &conversation("systems")[..5], ..plain }),
        ] {
            add(name, &base, request, &facts, &quirks);
            add(&format!("{name}, adaptive"), &full, request, &thinks("thinking.adaptive"), &quirks);
        }
        for effort in ["none", "low", "max", "own"] {
            let options = ModelOptions { effort: Some(effort.into()), ..ModelOptions::default() };
            let config = ModelConfig { options, ..base.clone() };
            add(&format!("effort {effort}"), &config, plain, &thinks("thinking.enabled"), &quirks);
            add(&format!("effort {effort}, tools"), &config, rich, &thinks("thinking.adaptive"), &quirks);
        }
        for (name, extra) in extras() {
            for (options, config) in [("", &base), (", all", &full)] {
                let config = ModelConfig { extra: object(extra.clone()), ..config.clone() };
                let messages = conversation("systems");
                let request = if options.is_empty() { plain } else { ChatRequest { messages, ..ended } };
                add(&format!("{name}{options}"), &config, request, &thinks("thinking.adaptive"), &quirks);
            }
        }
        for quirk in spec.quirks {
            let quirks = [*quirk].into_iter().collect();
            add(&format!("calls, quirk {}", quirk.word), &full, rich, &thinks("thinking.adaptive"), &quirks);
        }
        let all: Quirks = spec.quirks.iter().copied().collect();
        add("all quirks, calls", &full, rich, &thinks("thinking.adaptive"), &all);
        for name in ["systems", "files of results", "received", "long"] {
            let request = ChatRequest { messages: conversation(name), ..plain };
            add(&format!("all quirks, {name}"), &base, request, &facts, &all);
        }
    }
    out
}

#[test]
fn bodies_are_as_recorded() {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("recorded-bodies.txt");
    let bodies = all_bodies();
    if lepo_base::env::var("LEPO_WRITE_GOLDEN").is_some() {
        return std::fs::write(path, bodies).unwrap();
    }
    let recorded = std::fs::read_to_string(path).unwrap();
    let mut name = "";
    for (was, is) in recorded.lines().zip(bodies.lines()) {
        name = if is.starts_with(' ') { name } else { is };
        assert_eq!(was, is, "{name}");
    }
    assert_eq!(recorded.lines().count(), bodies.lines().count());
}
