//! The shell command as one of a model's native tools: a side branch beside the answer, same consent.

use serde_json::{Value, json};

use crate::bots::Bot;
use crate::disk::{bubbs, forest};
use crate::home::{Home, run};
use crate::pty::on_terminal;
use crate::scripted::{Reply, openai_calls, openai_event, openai_sse};

const NATIVE: &str = "planner = 'native'";
/// At `full`, so that no sandbox of the machine decides what is seen of it.
const ECHO: &str = r#"{"access":"full","command":"echo 한글 | tee -a ran"}"#;
const YES: (&str, &str) = ("Run it? [y]es ", "y\n");
const NO: (&str, &str) = ("Run it? [y]es ", "n\n");

fn echo() -> Reply {
    openai_calls("", &[("run_command", ECHO)])
}

fn bot(replies: impl IntoIterator<Item = Reply>) -> Bot {
    let bot = Bot::openai(NATIVE, replies);
    bot.home.write("config/system_prompt.txt", "PROMPT");
    bot.home.write_insts("general = 'GENERAL'");
    bot
}

/// The messages of a request, short: `assistant call_2{"command":"ls"}`, `tool call_2:text`.
fn short(body: &Value) -> Vec<String> {
    let message = |message: &Value| {
        let mut line = message["role"].as_str().unwrap().to_string() + " ";
        if let Some(id) = message["tool_call_id"].as_str() {
            line += &format!("{id}:");
        }
        line += message["content"].as_str().unwrap();
        for call in message["tool_calls"].as_array().into_iter().flatten() {
            line += &format!(
                "{}{}",
                call["id"].as_str().unwrap(),
                call["function"]["arguments"].as_str().unwrap()
            );
        }
        line
    };
    body["messages"].as_array().unwrap().iter().map(message).collect()
}

#[test]
fn a_call_and_its_result_are_a_side_branch_beside_the_answer() {
    let bot = bot([echo(), openai_sse(["Said."]), openai_sse(["Again."])]);
    let ran = on_terminal(bot.home.command(&["do", "say it"]), &[YES]);
    assert_eq!(ran.code, 0, "{}", ran.out);
    assert_eq!(forest(&bot.home), "A s1 head / B u0 A / C a1 B / D t1 C / E a0 B");
    let found = bubbs(&bot.home);
    assert_eq!(found[2].text, ECHO);
    assert_eq!(found[3].text, "$ echo 한글 | tee -a ran\nexit code: 0\nstdout:\n한글");
    assert_eq!(bot.home.read("work/ran"), "한글\n");

    let bodies = bot.bodies();
    assert_eq!(short(&bodies[0]), ["system PROMPT", "user say it", "system GENERAL"]);
    let tool = &bodies[0]["tools"][0]["function"];
    assert_eq!(tool["name"], "run_command");
    assert_eq!(tool["parameters"]["properties"]["access"]["enum"], json!(["read", "write", "net", "full"]));
    assert_eq!(
        short(&bodies[1]),
        [
            "system PROMPT",
            "user say it",
            &format!("assistant x0{ECHO}"),
            "tool x0:$ echo 한글 | tee -a ran\nexit code: 0\nstdout:\n한글",
            "system GENERAL"
        ]
    );
    // A finished turn leaves its tool chatter out of the next one by the forest's shape alone.
    assert_eq!(bot.home.alone(&["do", "and?"]).code, 0);
    assert_eq!(
        short(&bot.bodies()[2]),
        ["system PROMPT", "user say it", "assistant Said.", "user and?", "system GENERAL"]
    );
}

#[test]
fn words_around_calls_are_hidden_and_a_pipe_gets_them_as_they_come_unless_the_answer_alone_is_wanted() {
    let calls = [("run_command", ECHO), ("hammer", r#"{"nail":1}"#), ("run_command", ECHO)];
    let bot = bot([openai_calls("I will look. ", &calls), openai_sse(["끝", "났다."])]);
    let ran = on_terminal(bot.home.shell("lepo do 'say it' | sed s/^/piped:/"), &[YES]);
    assert_eq!(ran.code, 0, "{}", ran.out);
    assert!(ran.out.contains("piped:I will look. \r\n"), "{}", ran.out);
    assert!(ran.out.contains("piped:끝났다."), "{}", ran.out);
    for wanted in ["-q", "-o answer"] {
        let bot = self::bot([openai_calls("I will look. ", &calls), openai_sse(["끝", "났다."])]);
        let script = format!("lepo do {wanted} 'say it' | sed s/^/piped:/");
        let ran = on_terminal(bot.home.shell(&script), &[YES]);
        assert!(ran.out.contains("piped:끝났다.") && !ran.out.contains("I will look"), "{}", ran.out);
    }
    assert_eq!(
        forest(&bot.home),
        "A s1 head / B u0 A / C a1 B / D a1 C / E a1 D / F t1 E / G a1 F / H t1 G / I a1 H / J t1 I / K a0 B"
    );
    let found = bubbs(&bot.home);
    assert_eq!(found[2].text, "I will look. ");
    assert!(found[3].text.starts_with("(3 requests in this answer"), "{}", found[3].text);
    assert_eq!(found[6].text, r#"{"arguments":{"nail":1},"name":"hammer"}"#);
    assert!(
        found[7].text.contains("there is no tool \"hammer\"; there are: run_command"),
        "{}",
        found[7].text
    );
    assert!(found[9].text.contains("carried out before"), "{}", found[9].text);
    assert_eq!(bot.home.read("work/ran"), "한글\n");
    let seen = short(&bot.bodies()[1]);
    assert_eq!(seen[2], format!("assistant I will look. x0{ECHO}x1{{\"nail\":1}}x2{ECHO}"));
    assert!(seen[4].starts_with("tool x1:error: there is no tool"), "{}", seen[4]);
}

#[test]
fn names_tell_the_order_in_which_a_turn_was_written_even_ahead_of_the_clock() {
    let calls = [("run_command", ECHO), ("hammer", "{}")];
    let bot = bot([openai_calls("Look. ", &calls), openai_sse(["Said."])]);
    let ahead = "7ZZZZZZZ00CTNWTFJSHY21TCE0";
    let by_hand = format!("umask 077 && printf PROMPT > .lepo/{ahead}-s1-head.md");
    assert!(bot.home.shell(&by_hand).status().unwrap().success());
    let ran = on_terminal(bot.home.command(&["do", "--tail", ahead, "say it"]), &[YES]);
    assert_eq!(ran.code, 0, "{}", ran.out);
    let links = "A s1 head / B u0 A / C a1 B / D a1 C / E a1 D / F t1 E / G a1 F / H t1 G / I a0 B";
    assert_eq!(forest(&bot.home), links);
}

#[test]
fn a_refusal_drops_the_rest_and_ends_tool_use() {
    let bot =
        bot([openai_calls("", &[("run_command", ECHO), ("run_command", ECHO)]), openai_sse(["Then not."])]);
    let ran = on_terminal(bot.home.command(&["do", "say it"]), &[NO]);
    assert_eq!(ran.code, 0, "{}", ran.out);
    assert_eq!(forest(&bot.home), "A s1 head / B u0 A / C a1 B / D a1 C / E t1 D / F s1 E / G a0 B");
    assert_eq!(bubbs(&bot.home)[5].text, "calls of the same answer that were dropped: 1");
    assert_eq!(bot.bodies()[1]["tool_choice"], "none");
    let seen = short(&bot.bodies()[1]);
    assert!(seen[4].starts_with("tool x1:dropped"), "each call has a result: {}", seen[4]);
    assert_eq!(bot.home.read("work/ran"), "");
}

/// Puts a conversation of a question and an answer into the store of a clone named alice.
fn add_alice(home: &Home) {
    let alice = Home::new();
    alice.add(&["--prev", "head"], "hers");
    alice.add(&["--kind", "a"], "her answer");
    let folder = home.work().join(".lepo/_from/alice");
    std::fs::create_dir_all(&folder).unwrap();
    for file in alice.bubbs() {
        std::fs::copy(alice.work().join(".lepo").join(&file), folder.join(&file)).unwrap();
    }
}

#[test]
fn a_call_below_a_colleagues_conversation_is_decided_later_and_that_is_summarised_and_looked_up() {
    for (option, code) in [("--approve", 0), ("--deny", 0)] {
        let bot = bot([echo(), openai_sse(["Said."]), openai_sse(["SUMMARY"]), openai_sse(["Again."])]);
        bot.home.ok(&["init"]);
        add_alice(&bot.home);
        assert_eq!(bot.home.alone(&["do", "--tail", "alice/@", "say it"]).code, 4);
        let id = bubbs(&bot.home).pop().unwrap().id;
        let ran = bot.home.alone(&["do", option, &id]);
        assert_eq!((ran.code, ran.out.as_str()), (code, "Said.\n"), "{}", ran.err);
        assert!(short(&bot.bodies()[1]).join("|").contains("user hers|assistant her answer|user say it"));
        let ran = bot.home.alone(&["do", "--recorded=only", "--tail", "alice/@", "say something else"]);
        assert_eq!(ran.code, 3, "{}", ran.err);
        let ran = bot.home.alone(&["do", "--compact", "--keep", "1"]);
        assert_eq!(ran.code, 0, "{}", ran.err);
        assert!(short(&bot.bodies()[2]).join("|").contains("hers"), "{:?}", short(&bot.bodies()[2]));
    }
}

#[test]
fn a_pending_call_is_approved_later_and_the_answer_hangs_where_it_belongs() {
    let bot = bot([echo(), openai_sse(["Said."])]);
    let ran = bot.home.alone(&["do", "say it"]);
    assert_eq!(ran.code, 4, "{}", ran.err);
    assert_eq!(forest(&bot.home), "A s1 head / B u0 A / C a1 B");
    let id = bubbs(&bot.home).pop().unwrap().id;
    assert!(bot.home.ok(&["ls", "--pending"]).starts_with(&id));
    let ran = bot.home.alone(&["do", "--json", "--approve", &id]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_eq!(forest(&bot.home), "A s1 head / B u0 A / C a1 B / D t1 C / E a0 B");
    let document: Value = serde_json::from_str(&ran.out).unwrap();
    let found = bubbs(&bot.home);
    assert_eq!(document["conv"], json!([found[0].id, found[1].id, found[4].id]));
    assert_eq!(document["tools"][0]["result"], found[3].id.as_str());
    assert_eq!(short(&bot.bodies()[1])[2], format!("assistant x0{ECHO}"));
}

#[test]
fn calls_after_one_that_waits_are_dropped_and_the_model_is_told() {
    let bot = bot([openai_calls("", &[("run_command", ECHO), ("run_command", ECHO)]), openai_sse(["Said."])]);
    assert_eq!(bot.home.alone(&["do", "say it"]).code, 4);
    let id = bubbs(&bot.home).pop().unwrap().id;
    assert_eq!(bot.home.alone(&["do", "--approve", &id]).code, 0);
    assert_eq!(forest(&bot.home), "A s1 head / B u0 A / C a1 B / D a1 C / E t1 D / F a0 B");
    let seen = short(&bot.bodies()[1]);
    assert_eq!(seen[2], format!("assistant x0{ECHO}x1{ECHO}"));
    assert!(seen[4].starts_with("tool x1:dropped"), "{}", seen[4]);
    assert!(seen[4].contains("waited for consent; call again if it is needed"), "{}", seen[4]);
}

#[test]
fn the_branch_a_question_was_asked_on_moves_to_the_answer_after_a_decision() {
    for (decision, by_default) in
        [("--approve", true), ("--approve", false), ("--deny", true), ("--deny", false)]
    {
        let two = [("run_command", ECHO), ("run_command", r#"{"access":"full","command":"ls"}"#)];
        let bot = bot([openai_sse(["First."]), openai_calls("", &two), openai_sse(["Said."])]);
        assert_eq!(bot.home.alone(&["do", "hello"]).code, 0);
        bot.home.ok(&["branch", "main"]);
        bot.home.ok(&["branch", "other"]);
        bot.home.ok(&["branch", "root", "@^"]);
        let ran = bot.home.alone(&["do", "--tail", "main", "say it"]);
        let id = bubbs(&bot.home).pop().unwrap().id;
        assert!(ran.err.contains(&format!("lepo do --tail main {decision} {id}")), "{}", ran.err);
        for wrong in ["root", "nothing", &id] {
            let ran = bot.home.alone(&["do", "--tail", wrong, decision, &id]);
            assert_eq!(ran.code, 2, "{}", ran.err);
            assert!(ran.err.contains("was not asked on branch"), "{}", ran.err);
        }
        let tail = if by_default { &[][..] } else { &["--tail", "main"] };
        let mut command = bot.home.detached(&[&["do", decision, &id], tail].concat());
        if by_default {
            command.env("LEPO_TAIL", "main");
        }
        let ran = run(command, b"");
        assert_eq!((ran.code, ran.out.as_str()), (0, "Said.\n"), "{}", ran.err);
        assert_eq!(bot.home.ok(&["resolve", "main"]), bot.home.ok(&["resolve", "@"]));
        assert_ne!(
            bot.home.ok(&["resolve", "other"]),
            bot.home.ok(&["resolve", "@"]),
            "no other branch moves"
        );
        let actual = short(&bot.bodies()[2]).into_iter().find(|line| line.contains(":dropped")).unwrap();
        assert_eq!(actual.contains("waited for consent"), decision == "--approve", "{actual}");
    }
}

#[test]
fn rounds_are_limited() {
    let bot = Bot::openai(
        "planner = 'native'\nmax_rounds = 1",
        [echo(), openai_calls("", &[("run_command", r#"{"access":"full","command":"ls"}"#)])],
    );
    let ran = on_terminal(bot.home.command(&["do", "say it"]), &[YES]);
    // A call all the same has a result that says so, and is no answer.
    assert_eq!(ran.code, 3, "{}", ran.out);
    assert_eq!(bot.bodies()[1]["tool_choice"], "none");
    assert_eq!(bubbs(&bot.home).len(), 6);
    assert!(bubbs(&bot.home)[5].text.contains("no tool can be called any more"));
}

#[test]
fn cut_short_the_answer_stands_beside_its_calls_and_the_next_question_follows_it() {
    let partial = openai_event(json!({ "content": "Half an" }), None);
    let cut = Reply::new(200, partial).header("content-type", "text/event-stream");
    let bot = bot([echo(), cut, openai_sse(["Done."])]);
    let ran = on_terminal(bot.home.command(&["do", "say it"]), &[YES]);
    assert_eq!(ran.code, 3, "{}", ran.out);
    assert_eq!(forest(&bot.home), "A s1 head / B u0 A / C a1 B / D t1 C / E a1 B");
    assert_eq!(bubbs(&bot.home)[4].text, "Half an");
    assert_eq!(bot.home.alone(&["do", "go on"]).code, 0);
    assert_eq!(
        short(&bot.bodies()[2]),
        ["system PROMPT", "user say it", "assistant Half an", "user go on", "system GENERAL"]
    );
}

#[test]
fn a_call_with_trailing_commas_is_a_call() {
    let arguments = ECHO.replace('}', ", }");
    let bot = bot([openai_calls("", &[("run_command", &arguments)]), openai_sse(["Said."])]);
    let ran = on_terminal(bot.home.command(&["do", "say it"]), &[YES]);
    assert_eq!((ran.code, bot.home.read("work/ran").as_str()), (0, "한글\n"), "{}", ran.out);
    assert_eq!(bubbs(&bot.home)[2].text, ECHO);
}

#[test]
fn by_default_the_planner_is_what_suits_the_model() {
    let bot = Bot::openai("planner = 'auto'", [openai_sse(["Hi."])]);
    assert_eq!(bot.lepo(&["do", "say it"]).out, "Hi.\n");
    let bodies = bot.bodies();
    assert_eq!(bodies.len(), 1, "one request a question");
    assert_eq!(bodies[0]["tools"][0]["function"]["name"], "run_command");
    for bot in [Bot::ollama, Bot::program].map(|bot| bot("planner = 'auto'", &[r#"{"tool":"none"}"#, "Hi."]))
    {
        let ran = bot.home.alone(&["do", "say it"]);
        assert_eq!((ran.code, ran.out.as_str()), (0, "Hi.\n"), "{}", ran.err);
        assert!(!ran.err.contains("native"), "nothing is wrong with it: {}", ran.err);
        assert_eq!(bot.times_asked(), 2, "chooser, answer");
    }
}

#[test]
fn a_model_without_native_tools_is_planned_for() {
    let bot = Bot::ollama(NATIVE, &[r#"{"tool":"none"}"#, "Hi."]);
    let ran = bot.home.alone(&["do", "say it"]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "Hi.\n"), "{}", ran.err);
    assert!(ran.err.contains("does not support native tools"), "{}", ran.err);
    assert_eq!(forest(&bot.home), "A s1 head / B u0 A / C s1 B / D a0 C");
}
