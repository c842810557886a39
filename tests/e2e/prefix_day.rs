//! A day of turns of all kinds: each request begins with all of the one before it in its line, but where a user's own
//! change says otherwise, which the table names.

use serde_json::{Value, json};

use crate::bots::{Bot, messages};
use crate::scripted::{Piece, Reply, openai_event, openai_sse};

/// A turn: its arguments, the step whose request is the last of its line, and what the line may lose.
struct Step {
    args: &'static [&'static str],
    last: Option<usize>,
    loses: Option<&'static str>,
    reply: &'static str,
}

const fn step(args: &'static [&'static str], last: Option<usize>) -> Step {
    Step { args, last, loses: None, reply: "Yes." }
}

const fn losing(args: &'static [&'static str], last: usize, loses: &'static str) -> Step {
    Step { args, last: Some(last), loses: Some(loses), reply: "Yes." }
}

const SCHEMA: &str = r#"{"type":"object"}"#;

/// `TAIL` is the answer of the second step, `AGENTS` changes AGENTS.md first, `CUT` is an answer that breaks off.
const DAY: &[Step] = &[
    step(&["one"], None),
    step(&["two"], Some(0)),
    Step { reply: "```\nx\n```", ..step(&["-x", "three"], Some(1)) },
    step(&["four"], Some(2)),
    Step { reply: "{}", ..step(&["--schema", SCHEMA, "five"], Some(3)) },
    step(&["six"], Some(4)),
    step(&["--context", "notes.txt", "seven"], Some(5)),
    step(&["eight"], Some(6)),
    step(&["--run", "cat notes.txt", "nine"], Some(7)),
    losing(&["ten"], 8, "the instruction about results, at its end"),
    step(&["AGENTS", "eleven"], Some(9)),
    step(&["twelve"], Some(10)),
    step(&["--retry"], Some(11)),
    step(&["--tail", "TAIL", "fork"], Some(1)),
    step(&["and?"], Some(13)),
    Step { reply: "CUT", ..step(&["long"], Some(14)) },
    step(&["go on"], Some(15)),
    step(&["--compact", "--keep", "1"], Some(16)),
    losing(&["after"], 17, "what the summary replaces"),
    step(&["again"], Some(18)),
];

fn reply(text: &str) -> Reply {
    match text {
        "CUT" => {
            let part = openai_event(json!({"content": "Half an"}), None).into_bytes();
            Reply::pieces([Piece::Bytes(part), Piece::Close])
        }
        text => openai_sse([text]),
    }
}

/// Bytes of these messages, and of those at the beginning of both.
fn shared(last: &Value, now: &Value) -> (usize, usize) {
    let (last, now) = (messages(last), messages(now));
    let bytes = |messages: &[(String, String)]| messages.iter().map(|(_, text)| text.len()).sum::<usize>();
    let equal = last.iter().zip(&now).take_while(|(a, b)| a == b).count();
    (bytes(&last), bytes(&last[..equal]))
}

#[test]
fn each_request_of_a_day_begins_with_the_last_one_of_its_line() {
    let token = crate::secrets::github_token(7);
    for planner in ["off", "native"] {
        let settings = format!("planner = '{planner}'");
        let bot = Bot::openai(&settings, DAY.iter().map(|step| reply(step.reply)));
        let ran = crate::home::run(bot.home.program("git", &["init", "-q"]), b"");
        assert_eq!(ran.code, 0, "{}", ran.err);
        bot.home.trust_work();
        bot.home.write("work/AGENTS.md", "Be kind.");
        bot.home.write("work/notes.txt", format!("A note, and a token: {token}\n"));
        let mut ends: Vec<String> = Vec::new();
        for (at, step) in DAY.iter().enumerate() {
            let fork = ends.get(1).cloned().unwrap_or_default();
            let mut args: Vec<&str> = vec!["do"];
            for arg in step.args {
                match *arg {
                    "AGENTS" => bot.home.write("work/AGENTS.md", "Be kind, and brief."),
                    "TAIL" => args.push(&fork),
                    arg => args.push(arg),
                }
            }
            let ran = bot.home.alone(&args);
            assert_eq!(ran.code, if step.reply == "CUT" { 3 } else { 0 }, "{planner} {args:?}: {}", ran.err);
            ends.push(bot.home.ok(&["resolve", "@"]).trim().to_string());
            let bodies = bot.bodies();
            assert_eq!(bodies.len(), at + 1, "one request a turn");
            let Some(last) = step.last else { continue };
            assert_eq!(bodies[at]["tools"], bodies[last]["tools"], "{planner} {args:?}");
            let (whole, same) = shared(&bodies[last], &bodies[at]);
            let share = same * 100 / whole;
            match step.loses {
                None => assert!(share >= 99, "{planner} {args:?}: {share} % of the last request"),
                Some(what) => assert!(share < 99, "{planner} {args:?} does not lose {what} any more"),
            }
        }
    }
}
