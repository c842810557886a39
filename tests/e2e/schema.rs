//! `do --schema`: JSON that fits, or exit 3 with nothing on stdout.

use serde_json::{Value, json};

use crate::common::bots::Bot;
use crate::common::disk::bubbs;
use crate::common::scripted::{Reply, openai_sse};
use crate::mcp::{configure, hostile};

const OFF: &str = "planner = \"off\"\n";
const NATIVE: &str = "planner = \"native\"\n";
const PERSON: &str = r#"{"type":"object","properties":{"name":{"type":"string"}},"required":["name"],"additionalProperties":false}"#;

fn schema() -> Value {
    serde_json::from_str(PERSON).unwrap()
}

#[test]
fn an_answer_that_fits_is_printed_compact_and_kept_so() {
    for (answer, expected) in [
        (r#"{"name":"Ada"}"#, r#"{"name":"Ada"}"#),
        ("{\n  \"name\": \"A  da\"\n}\n", r#"{"name":"A  da"}"#),
        ("```json\n{\"name\": \"에이다\"}\n```", r#"{"name":"에이다"}"#),
    ] {
        Bot::each(OFF, &[answer], |bot| {
            bot.home.write("work/person.json", PERSON);
            let ran = bot.lepo(&["do", "--schema", "person.json", "who?"]);
            assert_eq!((ran.code, ran.out.as_str()), (0, format!("{expected}\n").as_str()), "{}", ran.err);
            assert_eq!(bot.home.ok(&["show", "--one", "@"]), expected);
            let tags: Vec<String> = bubbs(&bot.home).into_iter().map(|bubb| bubb.tag).collect();
            assert_eq!(tags, ["s1", "s1", "u0", "a0"]);
            assert_eq!(bot.home.ok(&["fsck"]), "");
        });
    }
}

#[test]
fn each_wire_is_held_to_it_in_its_own_way() {
    let bot = Bot::saying(OFF, &[r#"{"name":"a"}"#]);
    bot.lepo(&["do", "--schema", PERSON, "who?"]);
    let form =
        json!({"type": "json_schema", "json_schema": {"name": "answer", "strict": true, "schema": schema()}});
    assert_eq!(bot.bodies()[0]["response_format"], form);
    let bot = Bot::ollama(OFF, &[r#"{"name":"a"}"#]);
    bot.lepo(&["do", "--schema", PERSON, "who?"]);
    assert_eq!(bot.bodies()[0]["format"], schema());
    let bot = Bot::program(OFF, &[r#"{"name":"a"}"#]);
    bot.lepo(&["do", "--schema", PERSON, "who?"]);
    let asked = bot.home.read("bot/asked.1");
    assert!(asked.starts_with("who?\n\n") && asked.contains("\"additionalProperties\":false"), "{asked}");
}

#[test]
fn one_that_does_not_fit_is_asked_for_once_more_with_its_fault() {
    Bot::each(OFF, &[r#"{"name":1}"#, r#"{"name":"Ada"}"#], |bot| {
        let ran = bot.lepo(&["do", "--schema", PERSON, "who?"]);
        assert_eq!((ran.code, ran.out.as_str()), (0, "{\"name\":\"Ada\"}\n"), "{}", ran.err);
        assert!(ran.err.contains("does not match the schema (/name: 1 is not of type"), "{}", ran.err);
        let text = match &bot.server {
            Some(_) => bot.bodies()[1].to_string(),
            None => bot.home.read("bot/asked.2"),
        };
        assert!(
            text.contains("/name: 1 is not of type")
                && text.contains("name\\\":1") | text.contains("name\":1"),
            "{text}"
        );
        // An answer that did not fit is on a side branch, out of the way of all that follows.
        let shown = bot.home.ok(&["show"]);
        assert!(!shown.contains("not of type") && shown.contains("{\"name\":\"Ada\"}"), "{shown}");
        assert_eq!(bot.home.ok(&["ls"]).lines().count(), 1);
    });
}

#[test]
fn twice_wrong_is_exit_3_and_stdout_is_empty() {
    Bot::each(OFF, &["I think it is Ada.", r#"{"nom":"Ada"}"#, "unasked"], |bot| {
        let ran = bot.lepo(&["do", "--schema", PERSON, "who?"]);
        assert_eq!((ran.code, ran.out.as_str()), (3, ""), "{}", ran.err);
        assert!(ran.err.contains("test gave no answer that matches the schema: "), "{}", ran.err);
        assert_eq!(bot.times_asked(), 2);
        let kept: Vec<String> =
            bubbs(&bot.home).into_iter().filter(|b| b.tag == "a1").map(|b| b.text).collect();
        assert_eq!(kept, ["I think it is Ada.", r#"{"nom":"Ada"}"#]);
        assert_eq!(bot.home.ok(&["fsck"]), "");
    });
}

#[test]
fn a_bad_schema_sends_and_writes_nothing() {
    let bot = Bot::saying(OFF, &[]);
    bot.home.write("work/bad.json", r#"{"type":"nonsense"}"#);
    bot.home.write("work/no.json", "{");
    for (given, message) in [
        ("bad.json", "bad.json is not a JSON Schema"),
        ("-", "--schema needs a file"),
        ("", "--schema needs a file"),
        ("no.json", "no.json is not JSON"),
        ("none.json", "cannot read none.json"),
        ("{\"type\":3}", "--schema is not a JSON Schema"),
        ("{\"$ref\":\"https://example.com/x.json\"}", "--schema is not a JSON Schema"),
    ] {
        let ran = bot.lepo(&["do", "--schema", given, "who?"]);
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{given}");
        assert!(ran.err.contains(message), "{}", ran.err);
    }
    assert!(!bot.home.work().join(".lepo").exists());
    assert_eq!(bot.times_asked(), 0);
}

#[test]
fn the_document_has_the_value_and_each_of_many_is_judged() {
    let bot = Bot::saying(OFF, &[r#"{"name":"Ada"}"#]);
    let ran = bot.lepo(&["do", "--json", "--schema", PERSON, "who?"]);
    let document: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(document["answer"]["value"], json!({"name": "Ada"}));
    assert_eq!(document["answer"]["text"], r#"{"name":"Ada"}"#);

    let bot = Bot::saying(OFF, &["{}", r#"{"name": "Eve"}"#]);
    let ran = bot.lepo(&["do", "--parallel", "-m", "test", "--json", "--schema", PERSON, "who?"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let document: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(document[0]["answer"]["value"], json!({"name": "Eve"}));
    assert_eq!(bot.times_asked(), 2);

    let bot = Bot::saying(OFF, &["{}", "{}"]);
    let ran = bot.lepo(&["do", "--parallel", "-m", "test", "--schema", PERSON, "who?"]);
    assert_eq!((ran.code, ran.out.as_str()), (3, ""), "{}", ran.err);
    let ran = bot.lepo(&[
        "do",
        "--debate",
        "--orchestrator",
        "test",
        "--participants",
        "test",
        "--schema",
        PERSON,
        "?",
    ]);
    assert_eq!(ran.code, 2);
}

#[test]
fn with_tools_of_servers_the_constraint_is_on_the_last_request_only() {
    // The first answer is words: the tool loop is over, and the last request has the constraint.
    let bot = Bot::saying("planner = \"native\"\n", &["It is Ada.", r#"{"name":"Ada"}"#]);
    configure(&bot.home, &[("h", hostile(&bot.home, "h", "plain"))]);
    let ran = bot.lepo(&["do", "--schema", PERSON, "who?"]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "{\"name\":\"Ada\"}\n"), "{}", ran.err);
    let bodies = bot.bodies();
    assert!(bodies[0].get("response_format").is_none() && bodies[0].get("tools").is_some());
    assert!(bodies[1].get("response_format").is_some());
}

#[test]
fn the_first_request_has_the_constraint_beside_lepos_own_tools() {
    let bot = Bot::saying(NATIVE, &[r#"{"name":"Ada"}"#, "Hi."]);
    assert_eq!(bot.lepo(&["do", "--schema", PERSON, "who?"]).out, "{\"name\":\"Ada\"}\n");
    bot.lepo(&["do", "hi"]);
    let has = |body: &Value| (body["response_format"].is_object(), body["tools"].is_array());
    assert_eq!(bot.bodies().iter().map(has).collect::<Vec<_>>(), [(true, true), (false, true)]);
}

#[test]
fn a_server_that_takes_a_schema_or_tools_is_asked_without_tools_and_that_is_remembered() {
    for refusal in [
        "Cannot use custom grammar constraints with tools.",
        "json mode cannot be combined with tool/function calling",
    ] {
        let refuse = Reply::new(400, json!({"error": {"message": refusal}}).to_string());
        let fits = || openai_sse([r#"{"name":"Ada"}"#]);
        let bot = Bot::openai(NATIVE, [refuse, fits(), fits(), openai_sse(["Hi."])]);
        let ran = bot.lepo(&["do", "--schema", PERSON, "who?"]);
        assert_eq!((ran.code, ran.out.as_str()), (0, "{\"name\":\"Ada\"}\n"), "{}", ran.err);
        assert_eq!(ran.err.matches("retrying without the tools").count(), 1, "{}", ran.err);
        assert!(!bot.lepo(&["do", "--schema", PERSON, "who else?"]).err.contains("retrying"));
        bot.lepo(&["do", "hi"]);
        let has = |body: &Value| (body["response_format"].is_object(), body["tools"].is_array());
        let sent: Vec<(bool, bool)> = bot.bodies().iter().map(has).collect();
        assert_eq!(sent, [(true, true), (true, false), (true, false), (false, true)], "{refusal}");
    }
}

#[test]
fn with_tools_it_is_asked_for_once_more_and_no_oftener() {
    let bot = Bot::saying("", &["bad", "bad", r#"{"name":"Ada"}"#]);
    bot.home.write(
        "config/config.toml",
        bot.home.read("config/config.toml").replace("planner = \"chooser\"", ""),
    );
    let ran = bot.lepo(&["do", "--schema", PERSON, "who?"]);
    assert_eq!((ran.code, ran.out.as_str()), (3, ""), "{}", ran.err);
    assert_eq!(bot.times_asked(), 2);
}

#[test]
fn a_server_that_refuses_strict_is_asked_without() {
    let refusal = "Invalid schema for response_format 'answer': In context=(), 'additionalProperties' is required to be supplied and to be false.";
    let refuse = || Reply::new(400, json!({"error": {"message": refusal}}).to_string());
    let bot = Bot::openai(OFF, [refuse(), openai_sse([r#"{"name":"Ada"}"#])]);
    let ran = bot.lepo(&["do", "--schema", PERSON, "who?"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let strict: Vec<Value> =
        bot.bodies().iter().map(|body| body["response_format"]["json_schema"]["strict"].clone()).collect();
    assert_eq!(strict, [json!(true), json!(false)]);
}
