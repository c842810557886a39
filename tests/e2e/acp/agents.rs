//! `provider = "acp"`: an agent answers as a model does, what it does by itself is recorded, and it asks first.

use serde_json::Value;

use crate::acp_client::{Client, valid};
use crate::disk::{bubbs, forest, journal};
use crate::home::{Home, run, until};
use crate::pty::on_terminal;

/// A home whose model is the scripted agent.
pub fn home(mode: &str) -> Home {
    let mode = if mode.is_empty() { "plain" } else { mode };
    let agent = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/acp/agent.py");
    Home::with_config(&format!(
        "[[models]]\nname = \"robot\"\nprovider = \"acp\"\ncommand = [\"python3\", \"-S\", {agent:?}, {mode:?}]\nactive = true\n"
    ))
    .trusting()
}

/// Messages that the agent was sent, each of a type of the protocol.
pub fn sent(home: &Home) -> Vec<Value> {
    let log = home.read("agent.log");
    let messages: Vec<Value> = log.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    for message in &messages {
        let params = &message["params"];
        match message["method"].as_str() {
            Some("initialize") => valid("InitializeRequest", params),
            Some("session/new") => valid("NewSessionRequest", params),
            Some("session/load") => valid("LoadSessionRequest", params),
            // Not in the stable schema yet: the form is that of `session/load`.
            Some("session/fork") => valid("LoadSessionRequest", params),
            Some("session/prompt") => valid("PromptRequest", params),
            Some("session/cancel") => valid("CancelNotification", params),
            Some(other) => panic!("lepo sends {other}"),
            None if message.get("error").is_some() => valid("Error", &message["error"]),
            None => valid("RequestPermissionResponse", &message["result"]),
        }
    }
    messages
}

pub fn methods(home: &Home) -> Vec<String> {
    sent(home).iter().filter_map(|message| message["method"].as_str().map(str::to_string)).collect()
}

#[test]
fn an_agent_answers_and_its_session_goes_on_where_the_question_follows() {
    let home = home("");
    assert_eq!(home.ok(&["do", "one"]), "Heard: one\n");
    // Another process: the session is loaded, and hears the new question alone.
    assert_eq!(home.ok(&["do", "두 번째"]), "Heard: 두 번째\n");
    assert_eq!(
        methods(&home),
        ["initialize", "session/new", "session/prompt", "initialize", "session/load", "session/prompt"]
    );
    assert_eq!(forest(&home), "A s1 head / B u0 A / C a0 B / D u0 C / E a0 D");
    // From an earlier message, it is told the conversation as text, in a session of its own.
    let first = bubbs(&home)[2].id.clone();
    let ran = home.lepo(&["do", "--tail", &first, "elsewhere"]);
    assert_eq!(
        ran.out, "Heard: [user]\none\n\n[assistant]\nHeard: one\n\n[user]\nelsewhere\n",
        "{}",
        ran.err
    );
    assert!(ran.err.contains("robot gets the conversation so far as text"), "{}", ran.err);
    let sessions: Vec<String> =
        journal(&home).iter().filter_map(|line| line["agent_session"].as_str().map(str::to_string)).collect();
    assert_eq!(sessions, ["agent-session-0", "agent-session-0", "agent-session-1"]);
}

#[test]
fn a_session_that_the_user_did_not_have_is_not_resumed() {
    let home = home("");
    assert_eq!(home.ok(&["do", "one"]), "Heard: one\n");
    let own = home.read("work/.lepo/_journal.ndjson");
    assert!(own.contains("\"agent_session\":\"agent-session-0\"") && own.contains("\"proof\""), "{own}");
    // As a clone might name it, with the proof of the other one.
    home.write("work/.lepo/_journal.ndjson", own.replace("agent-session-0", "agent-session-7"));
    let ran = home.lepo(&["do", "two"]);
    assert!(ran.out.contains("[user]\none"), "it is given the conversation as text: {} {}", ran.out, ran.err);
    assert!(!methods(&home).contains(&"session/load".to_string()));
}

#[test]
fn a_session_lives_as_long_as_lepo_does() {
    let home = home("forgets");
    let keys = [("> ", "one\r"), ("Heard: one", ""), ("> ", "two\r"), ("Heard: two", ""), ("> ", "\x04")];
    let ran = on_terminal(home.command(&["do"]), &keys);
    assert_eq!(ran.code, 0, "{}", ran.out);
    assert_eq!(methods(&home), ["initialize", "session/new", "session/prompt", "session/prompt"]);
    // A new process cannot take it up: the conversation is given as text.
    let ran = home.lepo(&["do", "three"]);
    assert!(ran.out.contains("[user]\none") && ran.out.ends_with("[user]\nthree\n"), "{}", ran.out);
}

#[test]
fn its_tool_calls_are_recorded_beside_the_answer_and_are_none_of_lepos_requests() {
    let home = home("");
    assert_eq!(home.ok(&["do", "tool ls -l"]), "I will run it.\n\nIt ran.\n");
    assert_eq!(forest(&home), "A s1 head / B u0 A / C a1 B / D t1 C / E a0 B");
    let found = bubbs(&home);
    assert_eq!(found[2].text, r#"{"arguments":{"command":"ls -l"},"name":"ls -l"}"#);
    assert_eq!(found[3].text, "ran ls -l");
    let ran = home.lepo(&["do", "--approve", &found[2].id]);
    assert_eq!(ran.code, 2, "{}", ran.err);
    assert!(home.ok(&["fsck"]).is_empty());
}

#[test]
fn a_yes_and_a_no_reach_the_agent_and_nobody_is_a_no() {
    let home = home("");
    let ran = on_terminal(home.command(&["do", "ask make"]), &[("Allow it? [y]es", "y\n")]);
    assert_eq!(ran.code, 0, "{}", ran.out);
    assert!(ran.out.contains("robot") && ran.out.contains("lepo does not sandbox"), "{}", ran.out);
    assert!(ran.out.contains("Allowed."), "{}", ran.out);
    let ran = on_terminal(home.command(&["do", "-n", "ask make"]), &[("Allow it? [y]es", "n\n")]);
    assert!(ran.out.contains("Refused."), "{}", ran.out);
    assert_eq!(bubbs(&home).iter().filter(|bubb| bubb.text == "refused: the user said no").count(), 1);
    // Unasked even where lepo's own commands run unasked, and refused where nobody can be asked.
    let ran = home.alone(&["do", "-n", "--tools", "auto", "ask make"]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "Refused.\n"), "{}", ran.err);
    assert!(ran.err.contains("nobody can be asked here"), "{}", ran.err);
    assert!(bubbs(&home).iter().any(|bubb| bubb.text == "refused: nobody could be asked"));
    let ran = on_terminal(home.command(&["do", "-n", "--tools", "off", "ask make"]), &[]);
    assert!(ran.out.contains("Refused."), "{}", ran.out);
    assert_eq!(home.lepo(&["ls", "--pending"]).out, "");
    sent(&home);
}

#[test]
fn the_document_lists_what_an_agent_did() {
    let home = home("");
    let document: Value = serde_json::from_str(&home.ok(&["do", "--json", "tool ls -l"])).unwrap();
    let [used] = &document["tools"].as_array().unwrap()[..] else { panic!("{document}") };
    let found = bubbs(&home);
    assert_eq!(
        (&used["bubb"], &used["result"]),
        (&found[2].id.as_str().into(), &found[3].id.as_str().into())
    );
    assert_eq!((&used["kind"], &used["request"]["name"]), (&"agent".into(), &"ls -l".into()));
}

#[test]
fn a_call_that_is_cut_short_is_on_disk_with_what_was_known_of_it() {
    for (question, signal, code) in [
        ("hang make", Some(rustix::process::Signal::INT), 130),
        ("hang make", Some(rustix::process::Signal::TERM), 143),
        ("fall make", None, 3),
    ] {
        let home = home("");
        let mut child = home.command(&["do", question]);
        let child = child.stdin(std::process::Stdio::null()).stdout(std::process::Stdio::piped());
        let mut child = child.stderr(std::process::Stdio::piped()).spawn().unwrap();
        let request = r#"{"arguments":{"command":"make"},"name":"make"}"#;
        let is_written =
            || home.work().join(".lepo").is_dir() && home.bubbs().iter().any(|name| name.contains("-a1-"));
        until("the call", is_written);
        if let Some(signal) = signal {
            rustix::process::kill_process(rustix::process::Pid::from_child(&child), signal).unwrap();
        }
        until("the end", || child.try_wait().unwrap().is_some());
        assert_eq!(crate::home::finish(child).code, code, "{question}");
        let texts: Vec<(String, String)> =
            bubbs(&home).into_iter().map(|bubb| (bubb.tag, bubb.text)).collect();
        assert!(texts.contains(&("a1".into(), request.into())), "{texts:?}");
        let stopped = texts.iter().filter(|(tag, text)| tag == "t1" && text.starts_with("no result came"));
        // Both calls were open.
        assert_eq!(stopped.count(), 2, "{question} {signal:?}: {texts:?}");
        assert!(texts.contains(&("a1".into(), r#"{"arguments":{},"name":"look"}"#.into())), "{texts:?}");
        assert_eq!(home.ok(&["fsck"]), "");
    }
}

#[test]
fn a_replay_asks_on_a_terminal_what_the_agent_may_do() {
    let home = home("");
    home.alone(&["do", "-n", "ask make"]);
    let ran = on_terminal(home.command(&["do", "--replay", "@"]), &[("Allow it? [y]es", "y\n")]);
    assert_eq!(ran.code, 0, "{}", ran.out);
    assert!(home.ok(&["show", "-1"]).contains("Allowed."), "{}", ran.out);
    let ran = on_terminal(home.command(&["do", "--replay", "@", "--tools", "off"]), &[]);
    assert!(home.ok(&["show", "-1"]).contains("Refused."), "{}", ran.out);
}

#[test]
fn a_summary_for_an_agent_starts_no_server() {
    let home = home("");
    let server = serde_json::json!({ "command": "sh", "args": ["-c", "touch ../started; exit 1"] });
    home.write("config/mcp.json", serde_json::json!({ "mcpServers": { "s": server } }).to_string());
    for question in ["one", "two", "three"] {
        home.ok(&["do", question]);
    }
    let ran = home.lepo(&["do", "--compact"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(!home.path().join("started").exists(), "{}", ran.err);
}

#[test]
fn an_agent_in_lepo_asks_in_the_editor() {
    let home = home("");
    let mut client = Client::start(&home, &[]);
    let session = client.session(&home);
    let id = client.ask(&session, "ask make");
    let asked = client.question();
    let words = asked["params"]["toolCall"]["content"][0]["content"]["text"].as_str().unwrap();
    assert!(words.contains("Asked by robot") && words.contains("make"), "{words}");
    client.choose(&asked, "allow_once");
    assert_eq!(client.end(id).unwrap()["stopReason"], "end_turn");
    assert_eq!(client.said(&session, "agent_message_chunk"), "Allowed.");
    assert_eq!(client.of_kind("tool_call").last().unwrap()["title"], "make");
}

#[test]
fn stopped_it_is_told_and_ended_and_what_came_is_kept() {
    let home = home("");
    let mut child = home.command(&["do", "wait"]);
    let child = child.stdin(std::process::Stdio::null()).stdout(std::process::Stdio::piped());
    let mut child = child.stderr(std::process::Stdio::piped()).spawn().unwrap();
    let mut seen = [0; 6];
    std::io::Read::read_exact(child.stdout.as_mut().unwrap(), &mut seen).unwrap();
    rustix::process::kill_process(rustix::process::Pid::from_child(&child), rustix::process::Signal::INT)
        .unwrap();
    until("the end", || child.try_wait().unwrap().is_some());
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert_eq!(forest(&home), "A s1 head / B u0 A / C a1 B");
    assert_eq!(methods(&home).last().unwrap(), "session/cancel");
    // Its session has more than the conversation: it is not gone on with.
    let ran = home.lepo(&["do", "and now"]);
    assert!(ran.out.ends_with("and now\n"), "{}", ran.out);
    assert_eq!(methods(&home).iter().filter(|method| *method == "session/new").count(), 2);
}

#[test]
fn an_agent_that_fails_is_exit_3_with_its_own_words() {
    for (question, mode, words) in [
        ("fail", "", "the quota is used up"),
        ("die", "", "it broke"),
        ("long", "", "sent more than lepo accepts"),
        ("hi", "new", "speaks version 7"),
    ] {
        let home = home(mode);
        let ran = home.lepo(&["do", question]);
        assert_eq!(ran.code, 3, "{question}: {}{}", ran.out, ran.err);
        assert!(ran.err.contains(words), "{question}: {}", ran.err);
    }
}

#[test]
fn a_hostile_agent_says_nothing_for_others_and_plants_no_request() {
    let home = home("");
    let ran = home.lepo(&["do", "hostile"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_eq!(ran.out, "Still here.\n");
    assert_eq!(home.lepo(&["ls", "--pending"]).out, "");
    let planted = bubbs(&home).into_iter().find(|bubb| bubb.tag == "a1").unwrap();
    assert!(planted.text.starts_with(r#"{"arguments":"#), "{}", planted.text);
    let ran = home.lepo(&["do", "--approve", &planted.id]);
    assert_eq!(ran.code, 2, "{}", ran.err);
    sent(&home);
}

#[test]
fn images_go_to_an_agent_that_takes_them_and_its_models_are_listed() {
    let pixel =
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
    let bytes = base64::Engine::decode(&base64::engine::general_purpose::STANDARD, pixel).unwrap();
    let home = home("");
    home.write("work/a.png", &bytes);
    assert_eq!(
        home.ok(&["do", "--attach", "a.png", "what is it?"]),
        "Heard: what is it?\n\n[image/png a.png]<image>\n"
    );
    assert_eq!(home.ok(&["model", "ls", "--remote", "robot"]), "small\nlarge\n");
    let blind = self::home("blind");
    blind.write("work/a.png", &bytes);
    let ran = blind.lepo(&["do", "--attach", "a.png", "what is it?"]);
    assert_eq!(ran.code, 2, "{}", ran.err);
    assert!(ran.err.contains("robot does not accept images"), "{}", ran.err);
}

#[test]
fn agents_take_part_in_questions_to_many() {
    let home = home("");
    let config = home.read("config/config.toml");
    home.write(
        "config/config.toml",
        config.clone() + &config.replace("robot", "other").replace("active = true", ""),
    );
    let ran = home.lepo(&["do", "--parallel", "-m", "robot", "-m", "other", "ask make"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_eq!(ran.out.matches("Refused.").count(), 2, "{}", ran.out);
}

#[test]
fn agents_debate_and_wait_for_nobody() {
    let home = home("debates");
    let config = home.read("config/config.toml");
    let other = |name: &str| config.replace("robot", name).replace("active = true", "");
    home.write("config/config.toml", config.clone() + &other("other") + &other("chair"));
    let ran =
        home.lepo(&["do", "--debate", "--orchestrator", "chair", "--participants", "robot,other", "a topic"]);
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("So I say.") && ran.out.contains("It is settled."), "{}", ran.out);
    // All of them asked to look at something, and all were refused.
    let refused = |message: &&Value| message["result"]["outcome"]["optionId"] == "no";
    let asked = methods(&home).iter().filter(|method| *method == "session/prompt").count();
    let log = sent(&home);
    assert_eq!(log.iter().filter(refused).count(), asked, "{log:?}");
    assert!(asked >= 4, "{log:?}");
}

#[test]
fn a_preset_names_its_program_and_an_unknown_one_is_refused() {
    let home = Home::with_config("[[models]]\nname = \"x\"\nprovider = \"acp\"\npreset = \"nothing\"\n");
    let ran = home.lepo(&["model"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("claude | codex | gemini | opencode"), "{}", ran.err);
    let home = Home::with_config(
        "[[models]]\nname = \"x\"\nprovider = \"acp\"\npreset = \"opencode\"\nactive = true\n",
    );
    let ran = run(home.command(&["model"]), b"");
    assert_eq!(ran.code, 0, "{}", ran.err);
}
