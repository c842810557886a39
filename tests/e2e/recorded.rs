//! `lepo do --recorded`: answers from the store, without a model.

use serde_json::Value;

use crate::bots::Bot;
use crate::home::{Home, Ran};
use crate::scripted::{Reply, openai_sse};

fn json(ran: &Ran) -> Value {
    serde_json::from_str(&ran.out).unwrap_or_else(|error| panic!("{error}: {} {}", ran.out, ran.err))
}

/// A home without a configuration, with the store of another.
fn elsewhere(from: &Home) -> Home {
    let home = Home::new();
    let to = home.path().join("work/.lepo");
    let copied = std::process::Command::new("cp").arg("-r").arg(from.work().join(".lepo")).arg(&to).status();
    assert!(copied.unwrap().success());
    home
}

#[test]
fn a_question_asked_before_is_answered_without_a_model() {
    let bot = Bot::saying("planner = \"off\"", &["하나.", "Two."]);
    let first = json(&bot.lepo(&["do", "-n", "--json", "--no-stdin", "세 낱말로?"]));
    assert_eq!(first.get("recorded"), None);
    let id = first["answer"]["id"].as_str().unwrap().to_string();
    bot.home.ok(&["do", "--no-stdin", "and then?"]);
    let before = bot.home.bubbs();
    let ran = bot.lepo(&["do", "-n", "--recorded", "--no-stdin", "세 낱말로?"]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "하나.\n"), "{}", ran.err);
    let document = json(&bot.lepo(&["do", "-n", "--recorded=only", "--json", "--no-stdin", "세 낱말로?"]));
    assert_eq!(document["recorded"], id.as_str());
    for field in ["conv", "user", "answer", "tools", "error"] {
        assert_eq!(document[field], first[field], "{field}");
    }
    // The next turn names the recorded one; its past is compared too.
    let ran = bot.lepo(&["do", "--recorded=only", "--tail", &id, "--no-stdin", "and then?"]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "Two.\n"), "{}", ran.err);
    let ran = bot.lepo(&["do", "--recorded=only", "-n", "--no-stdin", "and then?"]);
    assert_eq!(ran.code, 3);
    assert_eq!(bot.home.bubbs(), before);
    assert_eq!(bot.times_asked(), 2);
    // Events end with the same document.
    let events = bot.home.ok(&["do", "-n", "--recorded", "--events", "--no-stdin", "세 낱말로?"]);
    let last: Value = serde_json::from_str(events.lines().last().unwrap()).unwrap();
    assert_eq!((last["event"].as_str(), last["recorded"].as_str()), (Some("end"), Some(id.as_str())));
}

#[test]
fn what_is_not_recorded_is_asked_and_kept_or_fails() {
    let bot = Bot::saying("planner = \"off\"", &["One.", "Other."]);
    let asked = |question: &str, option: &str| bot.lepo(&["do", "-n", option, "--no-stdin", question]);
    assert_eq!(asked("What is one?", "--recorded").out, "One.\n");
    assert_eq!(asked("What is one?", "--recorded").out, "One.\n");
    assert_eq!(bot.times_asked(), 1);
    let before = bot.home.bubbs();
    let missed = bot.lepo(&["do", "-n", "--recorded=only", "--json", "--no-stdin", "What is other?"]);
    assert_eq!(missed.code, 3);
    let error = &json(&missed)["error"];
    assert_eq!(error["kind"], "not-recorded");
    let message = error["message"].as_str().unwrap();
    assert!(
        message.contains("question 1 differs: recorded \"What is one?\", asked \"What is other?\""),
        "{message}"
    );
    assert_eq!((bot.home.bubbs(), bot.times_asked()), (before, 1));
    assert_eq!(asked("What is other?", "--recorded").out, "Other.\n");
    assert_eq!(asked("What is other?", "--recorded=only").out, "Other.\n");
    assert_eq!(bot.times_asked(), 2);
}

#[test]
fn model_options_schema_and_tools_must_be_the_same() {
    let bot = Bot::openai("planner = \"native\"", (0..4).map(|_| openai_sse(["{\"n\":1}"])));
    let ask = |args: &[&str]| bot.lepo(&[&["do", "-n", "--no-stdin", "What?"], args].concat());
    let schema = r#"{"type":"object","properties":{"n":{"type":"number"}}}"#;
    assert_eq!(ask(&["--temperature", "0"]).code, 0);
    for (args, what) in [
        (&["--temperature", "0"][..], ""),
        (&["--temperature", "0", "-m", "openai:other"], "the model differs"),
        (&[], "the options differ"),
        (&["--temperature", "1"], "the options differ"),
        (&["--temperature", "0", "--schema", schema], "the schema differs"),
        (&["--temperature", "0", "--tools", "off"], "the tools differ"),
        (&["--temperature", "0", "--system", "Be brief."], "the system prompt differs"),
    ] {
        let ran = ask(&[&["--recorded=only"], args].concat());
        assert_eq!(ran.code, if what.is_empty() { 0 } else { 3 }, "{args:?}: {}", ran.err);
        assert!(ran.err.contains(what), "{args:?}: {}", ran.err);
    }
    assert_eq!(bot.times_asked(), 1);
    // The keys of a schema have no order.
    assert_eq!(ask(&["--tools", "off", "--schema", schema]).code, 0);
    let other = r#"{ "properties": {"n": {"type": "number"}}, "type": "object" }"#;
    let document = json(&ask(&["--tools", "off", "--schema", other, "--recorded=only", "--json"]));
    assert_eq!(document["answer"]["value"]["n"], 1);
    let line = bot.home.read("work/.lepo/_journal.ndjson");
    assert!(line.contains(r#""options":{"temperature":0.0}"#), "{line}");
    assert_eq!(bot.times_asked(), 2);
}

#[test]
fn no_configuration_key_or_server_is_needed() {
    let bot = Bot::saying("planner = \"off\"", &["Yes."]);
    let config = bot.home.read("config/config.toml");
    bot.home.write("config/config.toml", config + "options = { temperature = 0.5 }\n");
    bot.home.ok(&["do", "-n", "--system", "S", "--no-stdin", "Well?"]);
    let home = elsewhere(&bot.home);
    home.write("config/mcp.json", r#"{"mcpServers":{"x":{"command":"/no/such/program"}}}"#);
    for args in [&["--recorded=only"][..], &["--recorded=only", "-m", "test"]] {
        let ran = home.lepo(&[&["do", "-n", "--system", "S", "--no-stdin", "Well?"], args].concat());
        assert_eq!((ran.code, ran.out.as_str()), (0, "Yes.\n"), "{args:?} {}", ran.err);
    }
    let ran = home.lepo(&["do", "-n", "--system", "S", "--no-stdin", "--recorded=only", "-m", "no", "Well?"]);
    assert!(ran.code == 3 && ran.err.contains("the model differs: recorded test, asked no"), "{}", ran.err);
    // For a whole test run the environment says it; no session begins then, and no summary is asked for.
    let mut command = home.command(&["do", "-n", "--system", "S", "--no-stdin", "Well?"]);
    command.env("LEPO_RECORDED", "only");
    assert_eq!(crate::home::run(command, b"").out, "Yes.\n");
    let mut command = home.command(&["do", "--compact", "-m", "openai:m"]);
    command.env("LEPO_RECORDED", "only").env("OPENAI_API_KEY", "k");
    let ran = crate::home::run(command, b"");
    assert_eq!(ran.code, 3, "{}", ran.err);
    assert_eq!(bot.times_asked(), 1);
}

#[test]
fn another_store_is_looked_into_and_not_written() {
    let bot = Bot::saying("planner = \"off\"", &["First.", "Second."]);
    let first = json(&bot.lepo(&["do", "-n", "--system", "S", "--json", "--no-stdin", "1?"]));
    bot.home.ok(&["do", "--no-stdin", "2?"]);
    let home = Home::new();
    let from = bot.home.work();
    for from in [from.clone(), from.join(".lepo")] {
        let from = from.to_str().unwrap();
        let ran = home.lepo(&[
            "do",
            "-n",
            "--system",
            "S",
            "--recorded=only",
            "--recorded-from",
            from,
            "--no-stdin",
            "1?",
        ]);
        assert_eq!((ran.code, ran.out.as_str()), (0, "First.\n"), "{}", ran.err);
        let tail = first["answer"]["id"].as_str().unwrap();
        let ran = home.lepo(&[
            "do",
            "--tail",
            tail,
            "--recorded=only",
            "--recorded-from",
            from,
            "--no-stdin",
            "2?",
        ]);
        assert_eq!((ran.code, ran.out.as_str()), (0, "Second.\n"), "{}", ran.err);
    }
    assert!(!home.work().join(".lepo").exists());
    assert_eq!(home.lepo(&["do", "--recorded-from", "x", "--no-stdin", "1?"]).code, 2);
    assert_eq!(home.lepo(&["do", "--recorded=only", "--recorded-from", "x", "--no-stdin", "1?"]).code, 2);
    assert_eq!(home.lepo(&["do", "--recorded=only", "--no-stdin", "1?"]).code, 3);
}

#[test]
fn a_tool_loop_is_given_as_it_was_and_runs_nothing() {
    for planner in ["chooser", "native"] {
        let replies: Vec<Reply> = match planner {
            "chooser" => [
                r#"{"tool":"command"}"#,
                r#"{"command":"cat code.txt","access":"read"}"#,
                r#"{"tool":"none"}"#,
                "It says here.",
            ]
            .map(|text| openai_sse([text]))
            .into(),
            _ => vec![
                crate::scripted::openai_calls(
                    "",
                    &[("run_command", r#"{"command":"cat code.txt","access":"read"}"#)],
                ),
                openai_sse(["It says here."]),
            ],
        };
        let bot = Bot::openai(&format!("planner = \"{planner}\""), replies);
        bot.home.write("work/code.txt", "here");
        let args = ["do", "-n", "--tools", "auto", "--json", "--no-stdin", "What does it say?"];
        let first = bot.lepo(&args);
        assert_eq!(first.code, 0, "{planner}: {} {}", first.out, first.err);
        let first = json(&first);
        bot.home.write("work/code.txt", "there");
        let (asked, before) = (bot.times_asked(), bot.home.bubbs());
        let again = json(&bot.lepo(&[&args[..], &["--recorded=only"]].concat()));
        assert_eq!(again["tools"], first["tools"], "{planner}");
        assert_eq!(again["tools"].as_array().unwrap().len(), 1, "{planner}: {again}");
        assert_eq!(again["answer"], first["answer"], "{planner}");
        assert_eq!((bot.times_asked(), bot.home.bubbs()), (asked, before));
    }
}

#[test]
fn many_are_looked_up_each_by_itself() {
    let bot = Bot::saying("", &["Aha.", "Beh.", "Ceh."]);
    let url = format!("{}/v1", bot.server().url());
    let model = |name: &str| {
        format!("[[models]]\nname = \"{name}\"\nprovider = \"openai\"\nmodel = \"m\"\nbase_url = \"{url}\"\n")
    };
    bot.home.write("config/config.toml", ["a", "b", "c"].map(model).concat());
    let ask = |models: &[&str], more: &[&str]| {
        let models: Vec<&str> = models.iter().flat_map(|name| ["-m", *name]).collect();
        bot.lepo(&[&["do", "--parallel", "--json", "--no-stdin", "Who?"], &models[..], more].concat())
    };
    let first = json(&ask(&["a", "b"], &[]));
    let before = bot.home.bubbs();
    let again = json(&ask(&["b", "a"], &["--recorded=only"]));
    assert_eq!((&again[0]["answer"], &again[1]["answer"]), (&first[1]["answer"], &first[0]["answer"]));
    assert_eq!((bot.home.bubbs(), bot.times_asked()), (before.clone(), 2));
    let missed = ask(&["a", "c"], &["--recorded=only"]);
    assert!(missed.code == 3 && json(&missed)[0]["error"]["kind"] == "not-recorded", "{}", missed.out);
    assert_eq!((bot.home.bubbs(), bot.times_asked()), (before, 2));
    // Without =only the one that is missing is asked.
    let both = json(&ask(&["a", "c"], &["--recorded"]));
    assert_eq!(both[0]["answer"], first[0]["answer"]);
    assert_eq!((both[0]["recorded"].is_string(), both[1].get("recorded")), (true, None));
    assert_eq!((both[1]["answer"]["text"].as_str(), bot.times_asked()), (Some("Ceh."), 3));
    let ran = bot.lepo(&["do", "--parallel", "--recorded=only", "--no-stdin", "-m", "a", "-m", "b", "Who?"]);
    assert!(ran.out.contains("## a\n\n") && ran.out.contains("## b\n\n"), "{}", ran.out);
}

#[test]
fn files_count_by_their_path_in_the_repository() {
    let bot = Bot::saying("planner = \"off\"", &["Fine.", "A dot."]);
    bot.home.write("work/src/a.txt", "text\n");
    bot.home.write("work/dot.gif", b"GIF89a\x01\0\x01\0\0\0\0\0\0\0");
    bot.home.ok(&["do", "-n", "--no-stdin", "--context", "src/a.txt", "Look?"]);
    let ran = bot.lepo(&[
        "--cd",
        "src",
        "do",
        "-n",
        "--no-stdin",
        "--recorded=only",
        "--context",
        "a.txt",
        "Look?",
    ]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "Fine.\n"), "{}", ran.err);
    bot.home.write("work/src/a.txt", "text2\n");
    let ran = bot.lepo(&[
        "--cd",
        "src",
        "do",
        "-n",
        "--no-stdin",
        "--recorded=only",
        "--context",
        "a.txt",
        "Look?",
    ]);
    assert_eq!(ran.code, 3, "{}", ran.out);
    bot.home.ok(&["do", "-n", "--no-stdin", "--attach", "dot.gif", "What?"]);
    let ran = bot.lepo(&["do", "-n", "--no-stdin", "--recorded=only", "--attach", "dot.gif", "What?"]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "A dot.\n"), "{}", ran.err);
    assert_eq!(bot.times_asked(), 2);
}

#[test]
fn an_own_command_runs_once_and_its_output_counts() {
    let bot = Bot::saying("planner = \"off\"", &["One.", "Two."]);
    let ask = |more: &[&str]| {
        bot.lepo(&[&["do", "-n", "--no-stdin", "--run", "echo x >> n; cat n", "How many?"], more].concat())
    };
    assert_eq!(ask(&[]).code, 0);
    bot.home.write("work/n", "");
    let document = json(&ask(&["--recorded=only", "--json"]));
    assert_eq!(document["tools"][0]["kind"], "run");
    let missed = ask(&["--recorded=only"]);
    assert!(missed.code == 3 && missed.err.contains("output 1 of a command differs"), "{}", missed.err);
    assert_eq!(ask(&["--recorded"]).out, "Two.\n");
    assert_eq!(bot.home.read("work/n"), "x\nx\nx\n");
}

#[test]
fn masks_of_one_kind_are_equal() {
    let bot = Bot::saying("planner = \"off\"", &["Kept."]);
    let token = crate::secrets::github_token(1);
    bot.home.write("work/env.txt", format!("token: {token}\n"));
    bot.home.ok(&["do", "-n", "--system", "S", "--no-stdin", "--context", "env.txt", "What is it?"]);
    let home = elsewhere(&bot.home);
    home.write("work/env.txt", format!("token: {token}\n"));
    // Another user's masks have other digits.
    let ran = home.lepo(&[
        "do",
        "-n",
        "--system",
        "S",
        "--no-stdin",
        "--recorded=only",
        "--context",
        "env.txt",
        "What is it?",
    ]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "Kept.\n"), "{}", ran.err);
}

#[test]
fn the_newest_of_several_answers_counts() {
    let bot = Bot::saying("planner = \"off\"", &["Old.", "New."]);
    bot.home.ok(&["do", "-n", "--no-stdin", "Which?"]);
    bot.home.ok(&["do", "--retry", "--no-stdin"]);
    assert_eq!(bot.home.ok(&["do", "-n", "--recorded=only", "--no-stdin", "Which?"]), "New.\n");
    assert_eq!(bot.home.ok(&["do", "--retry", "--recorded=only", "--no-stdin"]), "New.\n");
    assert_eq!(bot.times_asked(), 2);
}

#[test]
fn a_debate_is_given_as_it_was() {
    let bot = Bot::saying(
        "",
        &["REQUEST", "PASS", "SELECT: a", "I say so.", "PASS", "PASS", "END: It is so.", "Another answer."],
    );
    let url = format!("{}/v1", bot.server().url());
    let model = |name: &str| {
        format!("[[models]]\nname = \"{name}\"\nprovider = \"openai\"\nmodel = \"m\"\nbase_url = \"{url}\"\n")
    };
    bot.home.write("config/config.toml", ["a", "b", "c"].map(model).concat());
    let ask = |participants: &str, more: &[&str]| {
        let args =
            ["do", "--debate", "--orchestrator", "c", "--participants", participants, "--no-stdin", "So?"];
        bot.lepo(&[&args[..], more].concat())
    };
    let first = ask("a,b", &["--json"]);
    assert_eq!(first.code, 0, "{} {}", first.out, first.err);
    let (first, before, asked) = (json(&first), bot.home.bubbs(), bot.times_asked());
    let again = json(&ask("a,b", &["--json", "--recorded=only"]));
    for field in ["conv", "user", "speeches", "rounds"] {
        assert_eq!(again[field], first[field], "{field}");
    }
    assert_eq!(again["recorded"], first["answer"]["id"]);
    let shown = ask("a,b", &["--recorded=only"]);
    assert!(shown.out.contains("## a\n\nI say so.") && shown.out.contains("It is so."), "{}", shown.out);
    // Others would debate in another way, and a speech answers no question by itself.
    assert_eq!(ask("a", &["--recorded=only"]).code, 3);
    let alone = bot.lepo(&["do", "-n", "--tools", "off", "-m", "a", "--recorded=only", "--no-stdin", "So?"]);
    assert_eq!(alone.code, 3, "{}", alone.out);
    assert_eq!((bot.home.bubbs(), bot.times_asked()), (before, asked));
}

#[test]
fn what_a_repository_says_does_not_count() {
    let bot = Bot::saying("planner = \"native\"", &["Fine.", "Well."]);
    let git = bot.home.program("git", &["init", "-q"]);
    assert_eq!(crate::home::run(git, b"").code, 0);
    bot.home.write("work/AGENTS.md", "Use tabs.\n");
    let first = json(&bot.lepo(&["do", "-n", "--json", "--no-stdin", "How?"]));
    let output = bot.home.ok(&["show", "-a", first["answer"]["id"].as_str().unwrap()]);
    assert!(output.contains("Use tabs."), "{output}");
    bot.home.write("work/AGENTS.md", "Use blanks.\n");
    assert_eq!(bot.home.ok(&["do", "-n", "--recorded=only", "--no-stdin", "How?"]), "Fine.\n");
    bot.home.ok(&["do", "-n", "--recorded", "--no-stdin", "And else?"]);
    let printed = bot.home.ok(&["show", "-a"]);
    assert!(printed.contains("And else?") && !printed.contains("Use blanks"), "{printed}");
    assert_eq!(bot.times_asked(), 2);
}
