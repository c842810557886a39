//! A day of turns of all kinds: each request begins with all of the one before it in its line, but where a user's own
//! change says otherwise, which the table names.

use serde_json::{Value, json};

use crate::bots::{Bot, messages};
use crate::mcp::{configure, hostile};
use crate::screen::Screen;
use crate::scripted::{Piece, Reply, openai_calls, openai_event, openai_sse};

/// A turn: its arguments, the step whose request is the last of its line, and what the line may lose.
#[derive(Clone, Copy)]
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

/// What `tool_history = "keep"` leaves in the line.
const CALLS: &str = "calls and results, which leave the line after their turn";

/// `TAIL` is the answer of the second step, `AGENTS` changes AGENTS.md first, `LATE` adds a server, `FAILING` breaks the
/// first one; `CUT` is an answer that breaks off, `CALL` and `SKILL` are calls before it, `CALL` one that is approved
/// later.
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
    step(&["--attach", "dot.png", "what is it?"], Some(16)),
    step(&["and the other one?"], Some(17)),
    step(&["--attach", "dot.png", "this one"], Some(18)),
    step(&["-m", "other", "which model is this?"], Some(19)),
    step(&["and this?"], Some(20)),
    step(&["--file", "notes.txt", "count"], Some(21)),
    step(&["-T", "day", "greet"], Some(22)),
    step(&["again"], Some(23)),
    Step { reply: "CUT", ..step(&["a story"], Some(24)) },
    step(&["--retry"], Some(24)),
    step(&["--compact", "--keep", "1"], Some(26)),
    losing(&["after"], 27, "what the summary replaces"),
    step(&["again"], Some(28)),
    step(&["-n", "a new one"], None),
    step(&["and?"], Some(30)),
];

/// What needs servers and native tools, after it.
const SERVED: &[Step] = &[
    Step { reply: "CALL", ..step(&["call it"], Some(31)) },
    losing(&["and?"], 32, CALLS),
    Step { reply: "SKILL", ..step(&["use the skill"], Some(33)) },
    losing(&["and then?"], 34, CALLS),
    step(&["--tools", "off", "without tools"], Some(35)),
    step(&["with them"], Some(36)),
    step(&["FAILING", "still there?"], Some(37)),
    step(&["and now?"], Some(38)),
    losing(&["LATE", "a new server"], 39, "the user's own change: a server is new"),
    step(&["and?"], Some(40)),
];

fn cut() -> Reply {
    let part = openai_event(json!({"content": "Half an"}), None).into_bytes();
    Reply::pieces([Piece::Bytes(part), Piece::Close])
}

fn replies(text: &str) -> Vec<Reply> {
    match text {
        "CUT" => vec![cut()],
        "CALL" => vec![openai_calls("", &[("s__echo", "{}")]), openai_sse(["Done."])],
        "SKILL" => vec![openai_calls("", &[("skill", r#"{"name":"day"}"#)]), openai_sse(["Done."])],
        text => vec![openai_sse([text])],
    }
}

/// What a server's cache sees of a request, in order: the tools, and each message.
fn parts(body: &Value) -> Vec<String> {
    let tools = body["tools"].as_array().into_iter().flatten();
    tools.chain(body["messages"].as_array().unwrap()).map(Value::to_string).collect()
}

/// The share of these messages, in bytes, that is at the beginning of both.
pub fn share(last: &Value, now: &Value) -> usize {
    let (last, now) = (parts(last), parts(now));
    let bytes = |parts: &[String]| parts.iter().map(String::len).sum::<usize>();
    let equal = last.iter().zip(&now).take_while(|(a, b)| a == b).count();
    bytes(&last[..equal]) * 100 / bytes(&last)
}

fn serve(home: &crate::home::Home, names: &[&str]) {
    for name in names {
        home.write(&format!("left/{name}/tools"), json!({ "echo": "Says a word." }).to_string());
    }
    let servers: Vec<(&str, Value)> =
        names.iter().map(|name| (*name, hostile(home, name, "from-file"))).collect();
    configure(home, &servers);
}

/// A second model, a repository with AGENTS.md and an image, a long system prompt, and a skill.
pub fn prepare_day(home: &crate::home::Home) {
    let own = home.read("config/config.toml");
    let other =
        own.split("[[models]]").nth(1).unwrap().replace("active = true\n", "").replace("test", "other");
    home.write("config/config.toml", format!("{own}\n[[models]]{other}"));
    let ran = crate::home::run(home.program("git", &["init", "-q"]), b"");
    assert_eq!(ran.code, 0, "{}", ran.err);
    home.write("config/system_prompt.txt", "You answer in few words, and kindly. ".repeat(40));
    home.write("work/AGENTS.md", "Be kind.");
    home.write("work/dot.png", crate::attached::PNG);
    home.write("config/skills/day/SKILL.md", "---\nname: day\ndescription: Greets.\n---\nSay good day.\n");
}

/// The next turn asks the servers for their tools again.
pub fn make_lists_old(home: &crate::home::Home) {
    for list in std::fs::read_dir(home.path().join("state/lepo/mcp-tools")).unwrap().flatten() {
        let mut list_file: Value = serde_json::from_slice(&std::fs::read(list.path()).unwrap()).unwrap();
        list_file["asked"] = json!(1_000_000_000);
        std::fs::write(list.path(), list_file.to_string()).unwrap();
    }
}

/// The next turn gets no list of this server.
pub fn break_server(home: &crate::home::Home) {
    make_lists_old(home);
    home.write("left/s/tools", "{");
}

#[test]
fn each_request_of_a_day_begins_with_the_last_one_of_its_line() {
    let token = crate::secrets::github_token(7);
    for (settings, is_served) in [
        ("planner = 'off'", false),
        ("planner = 'native'", false),
        ("planner = 'native'", true),
        ("planner = 'native'\ntool_history = 'keep'", true),
    ] {
        let day: Vec<Step> = DAY.iter().chain(SERVED.iter().filter(|_| is_served)).copied().collect();
        let bot = Bot::openai(settings, day.iter().flat_map(|step| replies(step.reply)));
        let home = &bot.home;
        prepare_day(home);
        home.write("work/notes.txt", format!("A note, and a token: {token}\n"));
        home.trust_work();
        serve(home, if is_served { &["s"] } else { &[] });
        let (mut ends, mut spans): (Vec<String>, Vec<(usize, usize)>) = (Vec::new(), Vec::new());
        for step in &day {
            let fork = ends.get(1).cloned().unwrap_or_default();
            let mut args: Vec<&str> = vec!["do"];
            for arg in step.args {
                match *arg {
                    "AGENTS" => home.write("work/AGENTS.md", "Be kind, and brief."),
                    "LATE" => serve(home, &["s", "late"]),
                    "FAILING" => break_server(home),
                    "TAIL" => args.push(&fork),
                    arg => args.push(arg),
                }
            }
            let first = bot.times_asked();
            let ran = home.alone(&args);
            let code = if let "CUT" = step.reply { 3 } else { 0 };
            let request = ran.err.split("--approve ").nth(1).filter(|_| step.reply == "CALL");
            let ran = match request.and_then(|rest| rest.split_whitespace().next()) {
                Some(request) => home.alone(&["do", "--approve", request]),
                None => ran,
            };
            assert_eq!(ran.code, code, "{settings} {args:?}: {}", ran.err);
            ends.push(home.ok(&["resolve", "@"]).trim().to_string());
            let bodies = bot.bodies();
            let count = replies(step.reply).len();
            assert_eq!(bodies.len(), first + count, "{settings} {args:?}");
            let end = bodies.len() - 1;
            spans.push((first, end));
            let loses = step.loses.filter(|loses| *loses != CALLS || !settings.contains("keep"));
            let before = step.last.map(|last| (spans[last].1, first, loses));
            for (a, b, loses) in before.into_iter().chain((first..end).map(|at| (at, at + 1, None))) {
                let share = share(&bodies[a], &bodies[b]);
                match loses {
                    None => assert!(share >= 99, "{settings} {args:?}: {share} % of the last request"),
                    Some(what) => assert!(share < 99, "{settings} {args:?} does not lose {what} any more"),
                }
            }
        }
        assert!(
            bot.bodies()[13].to_string().contains("Be kind.")
                && bot.bodies()[11].to_string().contains("brief")
        );
    }
}

#[test]
fn a_chooser_and_the_answer_after_it_share_all_but_the_line_that_names_the_plan() {
    let none = r#"{"tool":"none"}"#;
    let answers = [none, "One.", none, "Two.", "A summary.", none, "Three."];
    let bot = Bot::ollama("", &answers);
    for args in [&["one"][..], &["two"], &["--compact", "--keep", "1"], &["three"]] {
        let ran = bot.home.alone(&[&["do"], args].concat());
        assert_eq!(ran.code, 0, "{args:?}: {}", ran.err);
    }
    let asked: Vec<Vec<(String, String)>> = bot
        .server()
        .asked()
        .iter()
        .filter(|asked| asked.path == "/api/chat")
        .map(|asked| messages(&asked.json()))
        .collect();
    assert_eq!(asked.len(), answers.len());
    let plan = ("system".to_string(), "plan: choose".to_string());
    for at in [0, 2, 5] {
        let (last, before) = asked[at].split_last().unwrap();
        assert_eq!((last, before), (&plan, &asked[at + 1][..]));
    }
    assert_eq!(asked[2][..asked[1].len()], asked[1][..]);
    assert_eq!(asked[4][..3], asked[3][..3], "the summary, without the turn that stays");
    let prompt = &asked[0][0].1;
    assert_eq!(prompt.matches("plan: choose").count(), 1, "{prompt}");
    assert!(prompt.find("plan: choose").unwrap() < prompt.find("plan: write").unwrap());
}

#[test]
fn requests_of_a_session_begin_with_the_last_one_too() {
    let bot = Bot::openai("planner = 'native'", (0..5).map(|_| openai_sse(["Yes."])));
    let Some(screen) = Screen::lepo(&bot.home, 80, &[]) else { return };
    for (count, entry) in ["one", "two", "/retry", "three", "four"].into_iter().enumerate() {
        screen.prompts("> ").enters(entry).becomes("an answer", || bot.times_asked() == count + 1);
    }
    screen.prompts("> ").enters("exit").ends(0);
    let bodies = bot.bodies();
    for (last, now) in [(0, 1), (1, 2), (2, 3), (3, 4)] {
        assert!(share(&bodies[last], &bodies[now]) >= 99, "{last} {now}");
    }
}
