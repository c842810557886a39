//! What a request has in common with the one before it: a server's cache reads nothing twice.

use std::io::Read;
use std::process::{Child, Stdio};
use std::time::Instant;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::bots::{Bot, messages};
use crate::disk::{bubbs, spools};
use crate::home::{DEADLINE, Home, finish};
use crate::screen::Screen;
use crate::scripted::{Piece, Reply, openai_event, openai_sse};

/// The part of lepo's own `general` by which it is found in a request.
const GENERAL: &str = "The conversation may hold results of commands";

fn has_general(body: &Value) -> bool {
    messages(body).iter().any(|(_, text)| text.contains(GENERAL))
}

#[test]
fn general_as_made_is_of_the_turn_with_a_result_alone_and_ones_own_of_every_request() {
    let replies = || (0..5).map(|_| openai_sse(["Yes."]));
    let turns: [&[&str]; 5] =
        [&["one"], &["--run", "echo 1", "two"], &["three"], &["--compact", "--keep", "1"], &["four"]];
    for (own, expected) in [
        (None, [false, true, false, false, false]),
        (
            Some("general = 'MINE: The conversation may hold results of commands'"),
            [true, true, true, false, true],
        ),
    ] {
        let bot = Bot::openai("planner = 'off'", replies());
        own.into_iter().for_each(|text| bot.home.write_insts(text));
        for turn in turns {
            let ran = bot.home.alone(&[&["do"], turn].concat());
            assert_eq!(ran.code, 0, "{turn:?}: {}", ran.err);
        }
        let bodies = bot.bodies();
        assert_eq!(bodies.iter().map(has_general).collect::<Vec<_>>(), expected, "{own:?}");
        for body in bodies.iter().filter(|body| has_general(body)) {
            assert!(messages(body).last().unwrap().1.contains(GENERAL), "it stands last: {body}");
        }
        if own.is_none() {
            // The request after the one with it begins with all that was said.
            let (run, next) = (messages(&bodies[1]), messages(&bodies[2]));
            assert_eq!(next[..run.len() - 1], run[..run.len() - 1]);
        }
    }
}

/// A reply that begins with these words.
fn begun(words: &str, end: Piece) -> Reply {
    Reply::pieces([Piece::Bytes(openai_event(json!({"content": words}), None).into_bytes()), end])
}

/// Starts it with pipes, and waits until it has printed `words`.
fn started(home: &Home, args: &[&str], words: &str) -> Child {
    let lepo = env!("CARGO_BIN_EXE_lepo");
    let mut command = home.program("env", &[&["--default-signal", lepo], args].concat());
    let mut child =
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut seen = vec![0; words.len()];
    child.stdout.as_mut().unwrap().read_exact(&mut seen).unwrap();
    assert_eq!(String::from_utf8_lossy(&seen), words);
    child
}

/// The roles and texts of a request behind the system prompt.
fn talk(body: &Value) -> Vec<(String, String)> {
    messages(body).split_off(1)
}

fn pair(role: &str, text: &str) -> (String, String) {
    (role.to_string(), text.to_string())
}

#[test]
fn the_next_question_follows_a_stopped_answer_however_it_was_stopped() {
    let expected = [pair("user", "q"), pair("assistant", "반쪽 답"), pair("user", "go on")];
    for how in ["INT", "TERM", "HUP", "KILL", "closed", "session"] {
        let end = if how == "closed" { Piece::Close } else { Piece::Wait };
        let bot = Bot::openai(
            "planner = 'off'",
            [begun("반쪽 답", end), openai_sse([" answer."]), openai_sse(["Anew."])],
        );
        let signal = |signal: Signal| {
            let child = started(&bot.home, &["do", "q"], "반쪽 답");
            // What is shown is in the spool a moment later.
            let begun = Instant::now();
            while !spools(&bot.home).iter().any(|(_, text)| text == "반쪽 답") {
                assert!(begun.elapsed() < DEADLINE, "the part is not on disk");
                std::thread::yield_now();
            }
            kill_process(Pid::from_child(&child), signal).unwrap();
            finish(child)
        };
        match how {
            "closed" => assert_eq!(bot.home.alone(&["do", "q"]).code, 3),
            "session" => {
                let Some(screen) = Screen::lepo(&bot.home, 80, &[]) else { continue };
                screen.prompts("> ").enters("q").shows("\n반쪽").keys(&["C-c"]);
                screen.shows("stopped; the next question continues from here").prompts("> ");
                screen.enters("go on").shows("\n answer.").prompts("> ").enters("exit").ends(0);
            }
            name => {
                let signals = [
                    ("INT", Signal::INT),
                    ("TERM", Signal::TERM),
                    ("HUP", Signal::HUP),
                    ("KILL", Signal::KILL),
                ];
                let found = signals.into_iter().find(|(known, _)| *known == name).unwrap();
                let ran = signal(found.1);
                let is_told = ran.err.contains("the next question continues from here");
                assert_eq!(is_told, name != "KILL", "{name}: {}", ran.err);
            }
        }
        if how != "session" {
            let ran = bot.home.alone(&["do", "go on"]);
            assert_eq!(ran.code, 0, "{how}: {}", ran.err);
        }
        assert_eq!(talk(&bot.bodies()[1]), expected, "{how}");
        // Another answer to the question stands beside the part.
        let question = bubbs(&bot.home)[1].id.clone();
        assert_eq!(bot.home.alone(&["do", "--retry", "--tail", &question]).code, 0);
        assert_eq!(talk(&bot.bodies()[2]), [pair("user", "q")], "{how}");
    }
}

#[test]
fn a_part_that_is_blank_or_thinking_alone_is_no_part_of_the_talk() {
    let thought =
        |text: &str| Piece::Bytes(openai_event(json!({"reasoning_content": text}), None).into_bytes());
    for part in [
        Reply::pieces([
            Piece::Bytes(openai_event(json!({"content": " \n"}), None).into_bytes()),
            Piece::Close,
        ]),
        Reply::pieces([thought("hm"), Piece::Close]),
        Reply::new(200, openai_event(json!({"reasoning_content": "hm"}), Some("stop")) + "data: [DONE]\n\n")
            .header("content-type", "text/event-stream"),
    ] {
        let bot = Bot::openai("planner = 'off'", [part, openai_sse(["Yes."])]);
        assert_eq!(bot.home.alone(&["do", "q"]).code, 3);
        assert_eq!(bot.home.alone(&["do", "go on"]).code, 0);
        let sent = talk(&bot.bodies()[1]);
        assert!(!sent.iter().any(|(role, _)| role == "assistant"), "{sent:?}");
        assert_eq!(sent.last(), Some(&pair("user", "go on")));
    }
}

/// The line `prefix: …` of a dry run.
fn prefix_line(bot: &Bot, args: &[&str]) -> Option<String> {
    let out = bot.home.ok(&[&["do", "--dry-run"], args].concat());
    out.lines().find_map(|line| line.strip_prefix("prefix: ")).map(str::to_string)
}

#[test]
fn a_dry_run_names_the_first_difference_from_the_last_request() {
    let bot = Bot::openai("planner = 'native'", (0..3).map(|_| openai_sse(["Yes."])));
    assert_eq!(prefix_line(&bot, &["one"]), None, "nothing was sent before");
    assert_eq!(bot.home.alone(&["do", "one"]).code, 0);
    let all = "100 % of the last request";
    assert_eq!(prefix_line(&bot, &["two"]).as_deref(), Some(all));
    // It is what the requests then have in common.
    assert_eq!(bot.home.alone(&["do", "two"]).code, 0);
    let bodies = bot.bodies();
    assert_eq!(bodies[0]["tools"], bodies[1]["tools"]);
    let (last, now) = (messages(&bodies[0]), messages(&bodies[1]));
    assert_eq!(now[..last.len()], last[..]);
    let instruction = "differs at the instruction at its end";
    assert_eq!(bot.home.alone(&["do", "--run", "echo 1", "three"]).code, 0);
    assert!(
        prefix_line(&bot, &["four"]).unwrap().ends_with(instruction),
        "{:?}",
        prefix_line(&bot, &["four"])
    );
    assert_eq!(prefix_line(&bot, &["-n", "x"]), None);
    // With tools off they are listed as before, and none may be called.
    assert_eq!(prefix_line(&bot, &["--tools", "off", "four"]), prefix_line(&bot, &["four"]));
    crate::mcp::configure(&bot.home, &[("time", crate::mcp::hostile(&bot.home, "time", "plain"))]);
    assert_eq!(bot.home.lepo(&["do", "--list-tools"]).code, 0);
    let line = prefix_line(&bot, &["four"]).unwrap();
    assert!(line.ends_with("; differs at tools: server time is new"), "{line}");
    bot.home.write_insts("general = 'MINE'");
    assert!(
        bot.home
            .ok(&["do", "--dry-run", "x"])
            .contains("\ngeneral: your own text goes along in every request\n")
    );
}

#[test]
fn after_a_summary_the_instructions_of_the_repository_are_behind_the_root_and_do_not_come_again() {
    let bot = Bot::openai("planner = 'off'", (0..6).map(|_| openai_sse(["Yes."])));
    let ran = crate::home::run(bot.home.program("git", &["init", "-q"]), b"");
    assert_eq!(ran.code, 0, "{}", ran.err);
    bot.home.trust_work();
    bot.home.write("work/AGENTS.md", "Be kind.");
    for args in [&["one"][..], &["two"], &["three"], &["--compact", "--keep", "1"], &["four"], &["five"]] {
        let ran = bot.home.alone(&[&["do"], args].concat());
        assert_eq!(ran.code, 0, "{args:?}: {}", ran.err);
    }
    let bodies = bot.bodies();
    let roles = |body: &Value| -> Vec<&str> {
        let told = |text: &str| match text {
            text if text.contains("== AGENTS.md") => "agents",
            text if text.starts_with("[summary") => "summary",
            _ => "other",
        };
        messages(body).iter().skip(1).map(|(_, text)| told(text)).collect()
    };
    assert_eq!(roles(&bodies[4]), ["agents", "summary", "other", "other", "other"]);
    let (last, now) = (messages(&bodies[4]), messages(&bodies[5]));
    assert_eq!(now[..last.len()], last[..]);
}

#[test]
fn the_form_of_an_answer_stays_where_it_was_sent_and_is_for_its_question_alone() {
    let schema = r#"{"type":"object"}"#;
    let code = "```\nx\n```";
    for (args, reply) in [(&["-x"][..], code), (&["--schema", schema], "{}")] {
        let replies = [reply, "Yes.", "Yes.", reply, "Yes."].map(|text| openai_sse([text]));
        let bot = Bot::openai("planner = 'off'", replies);
        let first = [&["do"], args, &["one"]].concat();
        assert!(bot.home.alone(&first).code < 2, "{args:?}");
        assert_eq!(bot.home.alone(&["do", "two"]).code, 0);
        let bodies = bot.bodies();
        let form = &messages(&bodies[0])[1];
        assert!(form.1.starts_with("[for the next question only]\n"), "{form:?}");
        assert_eq!(messages(&bodies[1])[..3], messages(&bodies[0])[..]);
        // It is hidden, and a retry of an old question has its own behind it.
        assert!(!bot.home.ok(&["show"]).contains("question only"));
        let question = bubbs(&bot.home)[2].id.clone();
        let tail = ["--tail", question.as_str()];
        assert_eq!(bot.home.alone(&[&["do", "--retry"], &tail[..]].concat()).code, 0);
        assert_eq!(messages(&bot.bodies()[2]), messages(&bodies[0]));
        assert!(bot.home.alone(&[&["do", "--retry"], args, &tail].concat()).code < 2);
        let again = messages(&bot.bodies()[3]);
        assert_eq!(again[..3], messages(&bodies[0])[..]);
        assert_eq!(again[3].1, form.1, "{again:?}");
        // A replay takes it along.
        assert_eq!(bot.home.alone(&["do", "--replay", &question, "--no-stdin"]).code, 0);
        assert_eq!(messages(&bot.bodies()[4]), messages(&bodies[0]));
    }
}

#[test]
fn a_question_without_an_answer_takes_its_form_with_it() {
    let refused = Reply::new(400, r#"{"error":{"message":"no"}}"#);
    let bot = Bot::openai("planner = 'off'", [openai_sse(["One."]), refused, openai_sse(["Two."])]);
    assert_eq!(bot.home.alone(&["do", "one"]).code, 0);
    assert_eq!(bot.home.alone(&["do", "-x", "code"]).code, 3);
    assert_eq!(bot.home.alone(&["do", "two"]).code, 0);
    let sent: Vec<String> = talk(&bot.bodies()[2]).into_iter().map(|(_, text)| text).collect();
    assert_eq!(sent, ["one", "One.", "two"]);
}
