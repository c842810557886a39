//! Prompts of an editor: answers as they come, tool calls and permission, files, and what goes wrong.

use std::time::Instant;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::acp_client::Client;
use crate::bots::Bot;
use crate::disk::{bubbs, forest};
use crate::home::DEADLINE;
use crate::scripted::{Piece, Reply, Server, end, openai_calls, openai_sse, said, thought};

const OFF: &str = "planner = \"off\"";
const NATIVE: &str = "planner = \"native\"";
/// At `full`, so that no sandbox of the machine decides what is seen of it.
const ECHO: &str = r#"{"access":"full","command":"echo 한글 | tee -a ran"}"#;

fn echo() -> Reply {
    openai_calls("", &[("run_command", ECHO)])
}

#[test]
fn a_question_is_answered_as_it_comes_and_kept_as_files() {
    let reply = Reply::pieces([thought("생각"), said("Hel"), Piece::Wait, said("lo."), end()]);
    let bot = Bot::openai(OFF, [reply.header("content-type", "text/event-stream")]);
    let mut client = Client::start(&bot.home, &[]);
    let session = client.session(&bot.home);
    let id = client.ask(&session, "안녕?");
    client.until("a part of the answer", |client| {
        (client.said(&session, "agent_message_chunk") == "Hel").then_some(())
    });
    bot.server.as_ref().unwrap().release();
    let answer = client.end(id).unwrap();
    assert_eq!(answer["stopReason"], "end_turn");
    assert_eq!(client.said(&session, "agent_message_chunk"), "Hello.");
    assert_eq!(client.said(&session, "agent_thought_chunk"), "생각");
    let found = bubbs(&bot.home);
    assert_eq!(forest(&bot.home), "A s1 head / B u0 A / C a0 B");
    assert_eq!([&found[1].text, &found[2].text], ["안녕?", "Hello."]);
    assert_eq!(answer["_meta"]["lepo"]["answer"]["id"], found[2].id);
    // Chunks have no message, and what was written is told of.
    let chunk = client.of_kind("agent_message_chunk");
    assert!(chunk.iter().all(|chunk| chunk.get("messageId").is_none()));
    let written = client.of_kind("session_info_update");
    let ids: Vec<&Value> = written.iter().map(|info| &info["_meta"]["lepo"]["message"]["id"]).collect();
    assert!(ids.contains(&&json!(found[1].id)) && ids.contains(&&json!(found[2].id)), "{written:?}");
    assert!(written.iter().any(|info| info["title"] == "안녕?"), "{written:?}");
    assert_eq!(client.leave(), 0);
}

#[test]
fn a_prompt_while_another_is_answered_is_refused_and_a_cancelled_one_keeps_its_part() {
    let reply = Reply::pieces([said("A part"), Piece::Wait]).header("content-type", "text/event-stream");
    let bot = Bot::openai(OFF, [reply, openai_sse(["Whole."])]);
    let mut client = Client::start(&bot.home, &[]);
    let session = client.session(&bot.home);
    let first = client.ask(&session, "one");
    client.until("a part", |client| (!client.said(&session, "agent_message_chunk").is_empty()).then_some(()));
    let second = client.ask(&session, "two");
    let refused = client.end(second).unwrap_err();
    assert_eq!((refused["code"].as_i64(), &refused["data"]["kind"]), (Some(-32600), &json!("usage")));
    client.notify("session/cancel", json!({ "sessionId": session }));
    assert_eq!(client.end(first).unwrap()["stopReason"], "cancelled");
    assert_eq!(forest(&bot.home), "A s1 head / B u0 A / C a1 B");
    assert_eq!(client.asks(&session, "/retry"), "end_turn");
    assert_eq!(forest(&bot.home), "A s1 head / B u0 A / C a1 B / D a0 B");
}

#[test]
fn a_cancel_right_behind_a_prompt_ends_it_and_a_prompt_right_behind_a_cancel_waits() {
    for by_request in [false, true] {
        let bot = Bot::openai(OFF, [openai_sse(["Whole."])]);
        let mut client = Client::start(&bot.home, &[]);
        let session = client.session(&bot.home);
        let prompt = |id: u64, text: &str| {
            let prompt = json!([{ "type": "text", "text": text }]);
            let params = json!({ "sessionId": session, "prompt": prompt });
            json!({ "jsonrpc": "2.0", "id": id, "method": "session/prompt", "params": params }).to_string()
                + "\n"
        };
        let cancel = |id: u64| {
            let (method, params) = match by_request {
                true => ("$/cancel_request", json!({ "requestId": id })),
                false => ("session/cancel", json!({ "sessionId": session })),
            };
            json!({ "jsonrpc": "2.0", "method": method, "params": params }).to_string() + "\n"
        };
        // All in one write: none is read before the others are there.
        let lines = [prompt(101, "one"), cancel(101), prompt(102, "two"), cancel(102), prompt(103, "three")];
        for id in [101, 102, 103] {
            client.known(id, "session/prompt");
        }
        client.raw(lines.concat().as_bytes());
        assert_eq!(client.end(101).unwrap()["stopReason"], "cancelled", "by request: {by_request}");
        assert_eq!(client.end(102).unwrap()["stopReason"], "cancelled", "by request: {by_request}");
        assert_eq!(client.end(103).unwrap()["stopReason"], "end_turn", "by request: {by_request}");
        assert!(bubbs(&bot.home).iter().any(|bubb| bubb.text == "one"), "a cancelled question is kept");
        assert_eq!(client.leave(), 0);
    }
}

#[test]
fn a_tool_call_runs_after_permission_and_its_result_is_told() {
    let bot = Bot::openai(NATIVE, [echo(), openai_sse(["Said."])]);
    let mut client = Client::start(&bot.home, &[]);
    let session = client.session(&bot.home);
    let id = client.ask(&session, "say it");
    let asked = client.question();
    let params = &asked["params"];
    let options: Vec<&str> =
        params["options"].as_array().unwrap().iter().map(|option| option["kind"].as_str().unwrap()).collect();
    // Full access is asked about each time.
    assert_eq!(options, ["allow_once", "reject_once"]);
    let words = params["toolCall"]["content"][0]["content"]["text"].as_str().unwrap();
    assert!(
        words.contains("$ echo 한글 | tee -a ran") && words.contains("Not sandboxed: can do anything"),
        "{words}"
    );
    assert_eq!(bot.home.read("work/ran"), "");
    client.choose(&asked, "allow_once");
    assert_eq!(client.end(id).unwrap()["stopReason"], "end_turn");
    assert_eq!(bot.home.read("work/ran"), "한글\n");
    assert_eq!(forest(&bot.home), "A s1 head / B u0 A / C a1 B / D t1 C / E a0 B");
    let found = bubbs(&bot.home);
    let call = &client.of_kind("tool_call")[0];
    assert_eq!((&call["toolCallId"], &call["kind"]), (&json!(found[2].id), &json!("execute")));
    assert_eq!(call["rawInput"]["command"], "echo 한글 | tee -a ran");
    let updates = client.of_kind("tool_call_update");
    assert_eq!(updates.first().unwrap()["status"], "in_progress");
    let last = updates.last().unwrap();
    assert_eq!((&last["status"], &last["rawOutput"]["exit"]), (&json!("completed"), &json!(0)));
    assert!(last["content"][0]["content"]["text"].as_str().unwrap().contains("stdout:\n한글"), "{last}");
}

#[test]
fn a_refused_call_is_told_to_the_model() {
    let bot = Bot::openai(NATIVE, [echo(), openai_sse(["Then not."])]);
    let mut client = Client::start(&bot.home, &[]);
    let session = client.session(&bot.home);
    let id = client.ask(&session, "say it");
    let asked = client.question();
    client.choose(&asked, "reject_once");
    assert_eq!(client.end(id).unwrap()["stopReason"], "end_turn");
    assert_eq!(bubbs(&bot.home)[3].text, "refused: the user said no");
    assert_eq!(client.of_kind("tool_call_update").last().unwrap()["status"], "failed");
    assert_eq!(bot.home.read("work/ran"), "");
}

#[test]
fn a_withdrawn_question_waits_on_disk_and_is_asked_again_when_the_session_is_loaded() {
    let bot = Bot::openai(NATIVE, [echo(), openai_sse(["Said."]), openai_sse(["More."])]);
    let mut client = Client::start(&bot.home, &[]);
    let session = client.session(&bot.home);
    let id = client.ask(&session, "say it");
    let asked = client.question();
    client.reply(&asked, json!({ "outcome": { "outcome": "cancelled" } }));
    assert_eq!(client.end(id).unwrap()["stopReason"], "cancelled");
    assert_eq!(client.leave(), 0);
    assert!(bot.home.ok(&["ls", "--pending"]).contains("echo 한글"));

    let mut client = Client::start(&bot.home, &[]);
    let load = json!({ "sessionId": session, "cwd": bot.home.work(), "mcpServers": [] });
    client.call("session/load", load);
    assert_eq!(client.said(&session, "user_message_chunk"), "say it");
    assert_eq!(client.of_kind("tool_call")[0]["status"], "pending");
    let asked = client.question();
    client.choose(&asked, "allow_once");
    client.until("the answer", |client| {
        (client.said(&session, "agent_message_chunk") == "Said.").then_some(())
    });
    assert_eq!(bot.home.read("work/ran"), "한글\n");
    // No request of the client's ends with a turn that was asked again.
    let begun = Instant::now();
    let ended = loop {
        let id = client.ask(&session, "and more");
        match client.end(id) {
            Err(error) if error.to_string().contains("is answering") && begun.elapsed() < DEADLINE => {}
            ended => break ended.unwrap(),
        }
    };
    assert_eq!(ended["stopReason"], "end_turn");
    assert_eq!(forest(&bot.home), "A s1 head / B u0 A / C a1 B / D t1 C / E a0 B / F u0 E / G a0 F");
}

#[test]
fn a_new_question_takes_the_place_of_one_that_is_asked_again() {
    let bot = Bot::openai(NATIVE, [echo(), openai_sse(["Other."])]);
    let mut client = Client::start(&bot.home, &[]);
    let session = client.session(&bot.home);
    let id = client.ask(&session, "say it");
    client.question();
    client.notify("session/cancel", json!({ "sessionId": session }));
    assert_eq!(client.end(id).unwrap()["stopReason"], "cancelled");
    let load = json!({ "sessionId": session, "cwd": bot.home.work(), "mcpServers": [] });
    client.call("session/load", load);
    client.question();
    assert_eq!(client.asks(&session, "something else"), "end_turn");
    assert_eq!(client.said(&session, "agent_message_chunk"), "Other.");
    assert_eq!(bot.home.read("work/ran"), "");
}

#[test]
fn an_editor_that_cannot_ask_is_told_how_to_approve() {
    let bot = Bot::openai(NATIVE, [echo(), openai_sse(["Said."])]);
    let mut client = Client::start(&bot.home, &[]);
    let session = client.session(&bot.home);
    let id = client.ask(&session, "say it");
    let asked = client.question();
    let error = json!({ "jsonrpc": "2.0", "id": asked["id"], "error": { "code": -32601, "message": "unknown method" } });
    client.raw(format!("{error}\n").as_bytes());
    assert_eq!(client.end(id).unwrap()["stopReason"], "end_turn");
    let words = client.said(&session, "agent_message_chunk");
    let request = &bubbs(&bot.home)[2].id;
    assert!(
        words.contains("needs approval: echo 한글")
            && words.contains(&format!("lepo do --approve {request}")),
        "{words}"
    );
    let ran = bot.home.lepo(&["do", "--approve", request]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "Said.\n"), "{}", ran.err);
}

#[test]
fn what_is_allowed_for_the_session_is_not_asked_again() {
    if !has_sandbox() {
        return;
    }
    let list = || openai_calls("", &[("run_command", r#"{"access":"read","command":"echo a"}"#)]);
    let bot = Bot::openai(NATIVE, [list(), openai_sse(["One."]), list(), openai_sse(["Two."])]);
    let mut client = Client::start(&bot.home, &[]);
    let session = client.session(&bot.home);
    let id = client.ask(&session, "one");
    let asked = client.question();
    assert_eq!(asked["params"]["options"][1]["kind"], "allow_always");
    client.choose(&asked, "allow_always");
    client.end(id).unwrap();
    assert_eq!(client.asks(&session, "two"), "end_turn");
    assert_eq!(client.said(&session, "agent_message_chunk"), "One.Two.");
}

fn has_sandbox() -> bool {
    let version = crate::home::Home::new().ok(&["--version", "--verbose"]);
    let has = version.contains("bubblewrap") || version.contains("Landlock") || version.contains("landlock");
    if !has {
        crate::skip::skipped("sandbox", "no sandbox holds a command here");
    }
    has
}

#[test]
fn modes_say_what_runs_unasked_and_whether_there_are_tools() {
    let bot = Bot::openai(NATIVE, [openai_sse(["One."]), echo(), openai_sse(["Two."])]);
    let mut client = Client::start(&bot.home, &[]);
    let reply = client.call("session/new", json!({ "cwd": bot.home.work(), "mcpServers": [] }));
    let session = reply["sessionId"].as_str().unwrap().to_string();
    assert_eq!(reply["modes"]["currentModeId"], "manual");
    assert_eq!(reply["configOptions"][0]["currentValue"], "test");
    client.call("session/set_mode", json!({ "sessionId": session, "modeId": "off" }));
    client.asks(&session, "one");
    let server = bot.server.as_ref().unwrap();
    assert!(server.asked()[0].json().get("tools").is_none());
    client.call("session/set_mode", json!({ "sessionId": session, "modeId": "manual" }));
    let id = client.ask(&session, "two");
    let asked = client.question();
    client.choose(&asked, "allow_once");
    client.end(id).unwrap();
    let wrong = client.fail("session/set_mode", json!({ "sessionId": session, "modeId": "all" }));
    assert_eq!(wrong["data"]["kind"], "usage");
    // A mode is the session's: the configuration stays.
    assert!(!bot.home.read("config/config.toml").contains("tool_call_mode"));
    let wrong = client.fail(
        "session/set_config_option",
        json!({ "sessionId": session, "configId": "model", "value": "none" }),
    );
    assert_eq!(wrong["code"], -32602);
}

#[test]
fn another_model_answers_once_it_is_chosen() {
    let bot = Bot::saying(OFF, &["One."]);
    let other = Server::start([openai_sse(["Two."])]);
    let config = bot.home.read("config/config.toml");
    let more = format!(
        "\n[[models]]\nname = \"other\"\nprovider = \"openai\"\nmodel = \"n\"\nbase_url = \"{}/v1\"\n",
        other.url()
    );
    bot.home.write("config/config.toml", config + &more);
    let mut client = Client::start(&bot.home, &[]);
    let session = client.session(&bot.home);
    client.asks(&session, "one");
    let reply = client.call(
        "session/set_config_option",
        json!({ "sessionId": session, "configId": "model", "value": "other" }),
    );
    assert_eq!(reply["configOptions"][0]["currentValue"], "other");
    client.asks(&session, "two");
    assert_eq!(client.said(&session, "agent_message_chunk"), "One.Two.");
    assert_eq!(other.asked()[0].json()["model"], "n");
}

/// A PNG of one pixel.
const PIXEL: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

#[test]
fn images_are_attached_files_are_context_and_wrong_ones_leave_the_question() {
    let bot = Bot::saying(OFF, &["A pixel.", "Two."]);
    bot.home.write("work/notes.txt", "inner text\n");
    let mut client = Client::start(&bot.home, &[]);
    let session = client.session(&bot.home);
    let ask = |client: &mut Client, blocks: Value| {
        let id = client.begin("session/prompt", json!({ "sessionId": session, "prompt": blocks }));
        client.end(id)
    };
    let uri = format!("file://{}/notes.txt", bot.home.work().display());
    let actual = ask(
        &mut client,
        json!([
            { "type": "text", "text": "what is in " },
            { "type": "resource_link", "uri": uri, "name": "notes.txt" },
            { "type": "resource_link", "uri": "file:///etc/passwd", "name": "passwd" },
            { "type": "image", "mimeType": "image/png", "data": PIXEL },
        ]),
    );
    assert_eq!(actual.unwrap()["stopReason"], "end_turn");
    let question = &bubbs(&bot.home)[1].text;
    assert!(
        question.starts_with("what is in @notes.txt@passwd\n\nnotes.txt:\n```\ninner text\n```"),
        "{question}"
    );
    assert!(question.contains("image/png") && !question.contains("root:"), "{question}");
    assert!(client.said(&session, "agent_thought_chunk").contains("file:///etc/passwd is not sent"));
    let sent = bot.server.as_ref().unwrap().asked()[0].json().to_string();
    assert!(sent.contains(PIXEL));

    for (block, kind) in [
        (json!({ "type": "image", "mimeType": "image/png", "data": "%%" }), "usage"),
        (json!({ "type": "image", "mimeType": "image/png", "data": STANDARD.encode("no image") }), "usage"),
        (json!({ "type": "audio", "mimeType": "audio/wav", "data": "" }), "usage"),
    ] {
        let error = ask(&mut client, json!([{ "type": "text", "text": "and this?" }, block])).unwrap_err();
        assert_eq!(error["data"]["kind"], kind, "{error}");
        let kept = error["data"]["question"].as_str().unwrap();
        assert!(bubbs(&bot.home).iter().any(|bubb| bubb.id == kept && bubb.text == "and this?"));
    }
    let before = bubbs(&bot.home).len();
    let error = ask(&mut client, json!([{ "type": "text", "text": " \n" }])).unwrap_err();
    assert_eq!((&error["code"], &error["data"]["kind"]), (&json!(-32602), &json!("usage")));
    assert_eq!(bubbs(&bot.home).len(), before);
}

#[test]
fn a_models_failure_is_an_error_with_its_kind_and_the_question_is_kept() {
    let bot = Bot::openai(OFF, [Reply::new(401, r#"{"error":{"message":"no key"}}"#), openai_sse(["Now."])]);
    let mut client = Client::start(&bot.home, &[]);
    let session = client.session(&bot.home);
    let id = client.ask(&session, "well?");
    let error = client.end(id).unwrap_err();
    assert_eq!((&error["code"], &error["data"]["kind"]), (&json!(-32603), &json!("remote")));
    assert!(error["message"].as_str().unwrap().contains("no key"), "{error}");
    assert_eq!(error["data"]["question"], bubbs(&bot.home)[1].id);
    assert_eq!(client.asks(&session, "/retry"), "end_turn");
    assert_eq!(forest(&bot.home), "A s1 head / B u0 A / C a0 B");
}

#[test]
fn slash_commands_and_prompts_are_told_and_carried_out() {
    let bot = Bot::saying(OFF, &["One.", "Two.", "Three."]);
    bot.home.write("config/_prompts/explain.md", "Explain briefly:");
    let mut client = Client::start(&bot.home, &[]);
    let session = client.session(&bot.home);
    let update = client.until("the commands", |client| client.of_kind("available_commands_update").pop());
    let names: Vec<&str> = update["availableCommands"]
        .as_array()
        .unwrap()
        .iter()
        .map(|command| command["name"].as_str().unwrap())
        .collect();
    assert!(names.contains(&"retry") && names.contains(&"explain"), "{names:?}");
    client.asks(&session, "one");
    client.asks(&session, "/branch topic/a");
    client.asks(&session, "two");
    assert!(bot.home.ok(&["branch"]).contains("topic/a"));
    client.asks(&session, "/undo");
    client.asks(&session, "/explain monads");
    assert_eq!(forest(&bot.home), "A s1 head / B u0 A / C a0 B / D u0 C / E a0 D / F u0 C / G a0 F");
    assert_eq!(bubbs(&bot.home)[5].text, "Explain briefly:\n\nmonads");
    let id = client.ask(&session, "/nothing");
    assert_eq!(client.end(id).unwrap_err()["data"]["kind"], "usage");
}

#[test]
fn skills_are_offered_by_their_names_and_a_question_is_asked_with_one() {
    let bot = Bot::saying(OFF, &["One.", "Two."]);
    let skill = "---\nname: pdf\ndescription: Reads PDF files.\n---\nRun scripts/read.py.\n";
    bot.home.write(".agents/skills/pdf/SKILL.md", skill);
    let mut client = Client::start(&bot.home, &[]);
    let session = client.session(&bot.home);
    let update = client.until("the commands", |client| client.of_kind("available_commands_update").pop());
    let commands = update["availableCommands"].as_array().unwrap();
    let offered = commands.iter().find(|command| command["name"] == "pdf").unwrap();
    assert_eq!(offered["description"], "Reads PDF files.");
    client.asks(&session, "/pdf what does it say?");
    let found = bubbs(&bot.home);
    let given = found.iter().find(|bubb| bubb.text.contains("Run scripts/read.py.")).unwrap();
    let asked = found.iter().find(|bubb| bubb.text == "what does it say?").unwrap();
    assert_eq!((given.tag.as_str(), &asked.prev), ("s1", &given.id));
}
