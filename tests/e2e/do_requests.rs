//! The messages to the model: the path from the root and the instruction last, and nothing else.

use crate::bots::{Bot, messages};
use crate::disk::{bubbs, forest};
use crate::pty::on_terminal;

const NONE: &str = r#"{"tool":"none"}"#;
const COMMAND: &str = r#"{"tool":"command"}"#;
const REQUEST: &str = r#"{"command":"echo hi","access":"read","why":"to see"}"#;
const YES: (&str, &str) = ("Run it? [y]es ", "y\n");

/// Instructions that can be told apart.
const INSTS: &str = "general = 'GENERAL'\ntoolChooser = 'CHOOSER'\ncommandWriter = 'WRITER'\n";

fn short(body: &serde_json::Value) -> String {
    let word = |(role, text): (String, String)| format!("{role} {text}");
    messages(body).into_iter().map(word).collect::<Vec<_>>().join(" / ")
}

fn prepared(bot: &Bot) {
    bot.home.write("config/system_prompt.txt", "PROMPT");
    bot.home.write_insts(INSTS);
}

#[test]
fn each_request_is_the_path_with_its_instruction_last() {
    for bot in [
        Bot::saying("", &[COMMAND, REQUEST, NONE, "Hi.", NONE, "Bye."]),
        Bot::ollama("", &[COMMAND, REQUEST, NONE, "Hi.", NONE, "Bye."]),
    ] {
        prepared(&bot);
        let ran = on_terminal(bot.home.command(&["do", "say it"]), &[YES]);
        assert_eq!(ran.code, 0, "{}", ran.out);
        assert_eq!(bot.lepo(&["do", "and?"]).code, 0);
        let request = r#"system {"access":"read","command":"echo hi","why":"to see"}"#;
        let turn = format!(
            "system PROMPT / user say it / system {COMMAND} / {request} / \
             system $ echo hi\nexit code: 0\nstdout:\nhi"
        );
        let bodies = bot.bodies();
        let seen: Vec<String> = bodies.iter().map(short).collect();
        assert_eq!(
            seen,
            [
                "system PROMPT / user say it / system CHOOSER".to_string(),
                format!("system PROMPT / user say it / system {COMMAND} / system WRITER"),
                format!("{turn} / system CHOOSER"),
                format!("{turn} / system GENERAL"),
                format!("{turn} / assistant Hi. / user and? / system CHOOSER"),
                format!("{turn} / assistant Hi. / user and? / system GENERAL"),
            ],
            "{}",
            bot.provider
        );
        for (i, body) in bodies.iter().enumerate() {
            assert_eq!(body["stream"], true);
            let structured = [true, true, true, false, true, false][i];
            let (temperature, form) = match bot.provider {
                "openai" => (&body["temperature"], &body["response_format"]["json_schema"]["schema"]),
                _ => (&body["options"]["temperature"], &body["format"]),
            };
            assert_eq!(*temperature, 0.1, "{} {i}", bot.provider);
            assert_eq!(form["type"] == "object", structured, "{} {i}: {form}", bot.provider);
            assert!(body["tools"].is_null());
        }
    }
}

#[test]
fn a_program_gets_the_question_alone_or_the_path_as_text() {
    let bot = Bot::program("", &[NONE, "Hi.", NONE, "Bye."]);
    prepared(&bot);
    assert_eq!(bot.lepo(&["do", "say it"]).out, "Hi.\n");
    assert_eq!(bot.lepo(&["do", "and?"]).out, "Bye.\n");
    let asked: Vec<String> = (1..=4).map(|n| bot.home.read(&format!("bot/asked.{n}"))).collect();
    assert_eq!(asked[0], "[user]\nsay it\n\n[system]\nCHOOSER");
    // The chooser's word is no part of the question, and nothing visible came before it.
    assert_eq!(asked[1], "say it");
    assert!(asked[3].starts_with("[user]\nsay it\n\n"), "{}", asked[3]);
    assert!(asked[3].contains("[assistant]\nHi.\n\n[user]\nand?"), "{}", asked[3]);
    let plain = Bot::program("planner = \"off\"", &["Hi."]);
    prepared(&plain);
    assert_eq!(plain.lepo(&["do", "say it"]).out, "Hi.\n");
    assert_eq!(plain.home.read("bot/asked.1"), "say it");
}

#[test]
fn an_unreadable_choice_is_asked_for_again_and_then_left() {
    Bot::each("", &["hm", "well", "Hi."], |bot| {
        let ran = bot.lepo(&["do", "say it"]);
        assert_eq!((ran.code, ran.out.as_str()), (0, "Hi.\n"), "{}", bot.provider);
        assert_eq!(
            ran.err,
            "warning: cannot read the tool chooser's answer; `planner = \"off\"` skips this step\n"
        );
        assert_eq!(forest(&bot.home), "A s1 head / B u0 A / C a0 B");
        if bot.provider == "openai" {
            let bodies = bot.bodies();
            assert!(bodies[0]["response_format"].is_object());
            assert!(bodies[1]["response_format"].is_null());
            assert_eq!(bodies[0]["messages"], bodies[1]["messages"]);
        }
        if bot.provider == "cli" {
            let [first, second] = [1, 2].map(|n| bot.home.read(&format!("bot/asked.{n}")));
            assert!(second.starts_with(&first) && second != first, "{second}");
        }
    });
}

#[test]
fn a_choice_that_is_readable_at_the_second_try_counts() {
    let thinking = "<think>{\"tool\":\"command\"}</think>Sure:\n```json\n{\"tool\": \"none\"}\n```";
    Bot::each("", &["hm", thinking, "Hi."], |bot| {
        let ran = bot.lepo(&["do", "say it"]);
        assert_eq!((ran.out.as_str(), ran.err.as_str()), ("Hi.\n", ""), "{}", bot.provider);
        assert_eq!(forest(&bot.home), "A s1 head / B u0 A / C s1 B / D a0 C");
        assert_eq!(bubbs(&bot.home)[2].text, NONE);
    });
}

#[test]
fn an_unreadable_request_goes_to_general() {
    Bot::each("", &[COMMAND, "ls?", "rm -rf /", "Hi."], |bot| {
        let ran = bot.lepo(&["do", "say it"]);
        assert_eq!((ran.code, ran.out.as_str()), (0, "Hi.\n"), "{}", bot.provider);
        assert_eq!(ran.err, "warning: cannot read the command writer's answer\n");
        assert_eq!(forest(&bot.home), "A s1 head / B u0 A / C s1 B / D a0 C");
    });
}

#[test]
fn words_around_a_request_are_a_hidden_bubb_before_it() {
    let wordy = "I will look.\n```json\n{\"command\":\"echo hi\"}\n```\nThat is all.";
    Bot::each("", &[COMMAND, wordy, NONE, "Hi."], |bot| {
        let ran = on_terminal(bot.home.command(&["do", "say it"]), &[YES]);
        assert_eq!(ran.code, 0, "{}", ran.out);
        assert_eq!(
            forest(&bot.home),
            "A s1 head / B u0 A / C s1 B / D a1 C / E s1 D / F s1 E / G s1 F / H a0 G"
        );
        let found = bubbs(&bot.home);
        assert_eq!(found[3].text, "I will look.\n\nThat is all.");
        assert_eq!(found[4].text, r#"{"access":"read","command":"echo hi"}"#);
    });
}

#[test]
fn the_same_request_is_not_run_twice() {
    let request = r#"{"command":"echo x >> ran; cat ran","access":"write","why":"first"}"#;
    let again = r#"{"command":"echo x >> ran; cat ran","access":"write","why":"second"}"#;
    let answers = [COMMAND, request, COMMAND, again, NONE, "Hi."];
    Bot::each("", &answers, |bot| {
        let ran = on_terminal(bot.home.command(&["do", "say it"]), &[YES]);
        assert_eq!(ran.code, 0, "{}", ran.out);
        assert_eq!(bot.home.read("work/ran"), "x\n");
        let found = bubbs(&bot.home);
        let texts: Vec<&str> = found.iter().map(|bubb| bubb.text.as_str()).collect();
        assert!(texts[7].contains("carried out before"), "{texts:#?}");
        assert_eq!(found.len(), 10);
    });
}

#[test]
fn rounds_are_limited() {
    let requests = [1, 2, 3].map(|n| format!(r#"{{"command":"echo {n}"}}"#));
    let answers = [COMMAND, &requests[0], COMMAND, &requests[1], "Enough."];
    Bot::each("max_rounds = 2", &answers, |bot| {
        let ran = on_terminal(bot.home.command(&["do", "say it"]), &[YES, YES]);
        assert_eq!(ran.code, 0, "{}", ran.out);
        assert!(
            ran.out.contains("note: no more commands in this turn: max_rounds (2) is reached"),
            "{}",
            ran.out
        );
        assert!(ran.out.contains("Enough.\r\n"), "{:?}", ran.out);
        assert_eq!(bot.times_asked(), 5);
    });
}

#[test]
fn tools_off_skips_the_planner() {
    Bot::each("", &["Hi."], |bot| {
        assert_eq!(bot.lepo(&["do", "--tools", "off", "say it"]).out, "Hi.\n");
        assert_eq!(bot.times_asked(), 1);
        assert_eq!(forest(&bot.home), "A s1 head / B u0 A / C a0 B");
    });
}
