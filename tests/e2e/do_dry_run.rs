//! `lepo do --dry-run`: the first request that would leave, and nothing else.

use serde_json::Value;

use crate::bots::{Bot, messages};
use crate::home::{Home, run};
use crate::mcp::{configure, hostile, left, texts_below};
use crate::scripted::openai_sse;
use crate::secrets::github_token;

const OFF: &str = "planner = 'off'";

/// A copy of all files below the home, with their texts.
fn files(home: &Home) -> Vec<(String, String)> {
    let mut files = texts_below(home.path());
    files.sort();
    files
}

/// A dry run that must go well, and changes and asks nothing.
fn dry(bot: &Bot, args: &[&str]) -> String {
    let (before, asked) = (files(&bot.home), bot.times_asked());
    let ran = bot.home.alone(&[&["do", "--dry-run"], args].concat());
    assert_eq!(ran.code, 0, "{args:?}: {}", ran.err);
    assert!(files(&bot.home) == before, "{args:?}: something was written");
    assert_eq!(bot.times_asked(), asked, "{args:?}");
    assert_eq!(ran.made, "", "{args:?}");
    ran.out
}

fn document(bot: &Bot, args: &[&str]) -> Value {
    serde_json::from_str(&dry(bot, &[&["--json"], args].concat())).unwrap()
}

/// The roles and texts of a document's messages.
fn listed_messages(document: &Value) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap().to_string();
    let messages = document["messages"].as_array().unwrap().iter();
    messages.map(|message| (text(&message["role"]), text(&message["text"]))).collect()
}

#[test]
fn what_is_told_is_what_then_leaves() {
    for settings in [OFF, "planner = 'native'", "planner = 'chooser'"] {
        let reply = || openai_sse(["{\"tool\":\"none\"}"]);
        let bot = Bot::openai(settings, (0..9).map(|_| reply()));
        bot.home.write("work/AGENTS.md", "Be kind.");
        for (args, asks) in [
            (vec!["안녕?"], vec!["안녕?"]),
            (vec!["--temperature", "0.7", "and then?"], vec!["--temperature", "0.7", "and then?"]),
            (vec!["-n", "-S", "Short.", "x"], vec!["-n", "-S", "Short.", "x"]),
            (vec!["--retry"], vec!["--retry"]),
        ] {
            let told_of = document(&bot, &args);
            let before = bot.times_asked();
            let ran = bot.home.alone(&[&["do"], asks.as_slice()].concat());
            assert_eq!(ran.code, 0, "{args:?}: {}", ran.err);
            let body = &bot.bodies()[before];
            assert_eq!(listed_messages(&told_of), messages(body), "{settings} {args:?}");
            for field in ["temperature", "stream", "stream_options"] {
                assert_eq!(told_of["fields"][field], body[field], "{settings} {args:?} {field}");
            }
            let names = |tools: &Value, at: &str| -> Vec<Value> {
                tools.as_array().into_iter().flatten().map(|tool| tool.pointer(at).unwrap().clone()).collect()
            };
            assert_eq!(names(&told_of["tools"], "/name"), names(&body["tools"], "/function/name"));
        }
    }
}

#[test]
fn a_text_that_leaves_with_masks_is_told_so() {
    let bot = Bot::openai(OFF, (0..3).map(|_| openai_sse(["Yes."])));
    let token = github_token(7);
    assert_eq!(run(bot.home.program("git", &["init", "-q"]), b"").code, 0);
    bot.home.write("work/AGENTS.md", format!("The token is {token}.\n"));
    // The key of the masks is made by the first question.
    assert_eq!(bot.home.alone(&["do", "first"]).code, 0);
    for args in [&["-n", "q"][..], &["-n", "--unmasked", "q"]] {
        let told_of = listed_messages(&document(&bot, args));
        assert_eq!(bot.home.alone(&[&["do"], args].concat()).code, 0);
        let left = messages(bot.bodies().last().unwrap());
        assert_eq!(told_of, left, "{args:?}");
        assert_eq!(left.iter().any(|(_, text)| text.contains(&token)), args.len() > 2, "{args:?}");
    }
}

#[test]
fn a_person_reads_sizes_and_tokens() {
    let bot = Bot::openai(OFF, []);
    let out = dry(&bot, &["-S", "Be brief.", "12345678"]);
    let lines: Vec<&str> = out.lines().collect();
    assert!(lines[0].starts_with("model: test (openai m, http://127.0.0.1:"), "{out}");
    assert!(lines[1].starts_with("fields: ") && lines[1].contains("temperature 0.1"), "{out}");
    assert!(out.contains("\ntotal: "), "{out}");
    assert!(out.contains("\n# system, 9 bytes, about 3 tokens\nBe brief.\n"), "{out}");
    assert!(out.contains("\n# user, 8 bytes, about 2 tokens\n12345678\n"), "{out}");
    assert!(!bot.home.work().join(".lepo").exists());
}

#[test]
fn commands_addresses_and_resources_stand_there_undone() {
    let bot = Bot::openai(OFF, []);
    configure(&bot.home, &[("s", hostile(&bot.home, "s", "plain"))]);
    let args = [
        "--run",
        "touch ran",
        "--context",
        "https://127.0.0.1:9/page",
        "--attach",
        "https://127.0.0.1:9/a.png",
        "--context",
        "mcp:s/guide://start",
        "-f",
        "https://127.0.0.1:9/f",
        "q",
    ];
    let texts: Vec<String> =
        listed_messages(&document(&bot, &args)).into_iter().map(|(_, text)| text).collect();
    assert!(texts.contains(&"$ touch ran\n(not run)".to_string()), "{texts:?}");
    assert!(texts.contains(&"mcp:s/guide://start:\n(not fetched)".to_string()), "{texts:?}");
    let question = texts.iter().find(|text| text.starts_with('q') || text.contains("\n\nq\n")).unwrap();
    assert_eq!(question.matches("(not fetched)").count(), 3, "{question}");
    assert!(!bot.home.work().join("ran").exists());
    assert!(left(&bot.home, "s", "starts").is_empty());
    let listed = listed_messages(&document(&bot, &["--prompt", "s/explain", "--arg", "topic=x"]));
    let prompt = ("user".to_string(), "prompt s/explain:\n(not fetched)".to_string());
    assert!(listed.contains(&prompt), "{listed:?}");
}

#[test]
fn tools_that_are_not_known_are_not_asked_for() {
    let bot = Bot::saying(OFF, &["So."]);
    configure(&bot.home, &[("s", hostile(&bot.home, "s", "plain"))]);
    assert!(dry(&bot, &["q"]).contains("\ntools: s (not asked)\n"));
    assert!(left(&bot.home, "s", "starts").is_empty());
    // A turn asks, and from then on they are known.
    assert_eq!(bot.home.alone(&["do", "x"]).code, 0);
    let document = document(&bot, &["q"]);
    assert_eq!(
        (&document["tools"][0]["name"], &document["not_asked"]),
        (&"s__echo".into(), &Value::Array(vec![]))
    );
    assert_eq!(left(&bot.home, "s", "starts").len(), 1);
    let off = dry(&bot, &["--tools", "off", "q"]);
    assert!(
        off.contains("\ntools: s__echo, not to be called\n") && off.contains("tool_choice \"none\""),
        "{off}"
    );
    assert!(dry(&bot, &["-n", "--tools", "off", "q"]).lines().all(|line| !line.starts_with("tools:")));
}

#[test]
fn a_program_for_a_key_is_not_run_and_no_secret_is_printed() {
    let bot = Bot::openai(OFF, []);
    let config = bot.home.read("config/config.toml");
    let key = "api_key_command = ['sh', '-c', 'touch key-was-asked; echo sk-1234567890']\n";
    bot.home.write("config/config.toml", format!("{config}\n{key}extra = {{ hidden = 'sk-0987654321' }}\n"));
    let out = dry(&bot, &["q"]);
    assert!(!bot.home.work().join("key-was-asked").exists());
    assert!(!out.contains("sk-") && out.contains("hidden \"(as configured)\""), "{out}");
}

#[test]
fn it_needs_a_question_and_no_other_thing_to_do() {
    let bot = Bot::openai(OFF, []);
    let ran = bot.home.lepo(&["do", "--dry-run", ""]);
    assert_eq!(ran.code, 2, "{}", ran.err);
    for args in
        [&["--events", "x"][..], &["-o", "f", "x"], &["--list-tools"], &["--parallel", "x"], &["-x", "x"]]
    {
        let ran = bot.home.lepo(&[&["do", "--dry-run"], args].concat());
        assert_eq!(ran.code, 2, "{args:?}: {}", ran.err);
    }
    let mut piped = bot.home.command(&["do", "--dry-run"]);
    piped.env("LEPO_RECORDED", "only");
    let ran = run(piped, b"from stdin");
    assert!(ran.code == 0 && ran.out.contains("from stdin"), "{}", ran.err);
}
