//! Logs and the journal: what they hold, and that a key is nowhere.

use std::path::{Path, PathBuf};

use crate::bots::Bot;
use crate::disk::{bubbs, journal};
use crate::home::{Home, away_from_midnight, run};
use crate::scripted::{Reply, openai_sse};

const KEY: &str = "sk-canary-4711";
const NONE: &str = r#"{"tool":"none"}"#;

fn logs(home: &Home) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(home.path().join("state/lepo/logs")) else { return Vec::new() };
    entries.map(|entry| entry.unwrap().path()).collect()
}

fn today() -> String {
    let output = std::process::Command::new("date").env_clear().args(["+%Y-%m-%d"]).output().unwrap();
    String::from_utf8(output.stdout).unwrap().trim().to_string()
}

#[test]
fn there_is_one_log_a_day_and_at_debug_it_holds_all_that_was_said() {
    away_from_midnight();
    let day = today();
    for (level, holds) in [("debug", true), ("info", false)] {
        Bot::each(&format!("log_level = \"{level}\""), &[NONE, "파리다\nFORGED", NONE, "둘"], |bot| {
            assert_eq!(bot.lepo(&["do", "수도는 어디\nFORGED"]).code, 0);
            assert_eq!(bot.lepo(&["do", "또"]).code, 0);
            let found = logs(&bot.home);
            let [log] = &found[..] else { panic!("{found:?}") };
            let name = log.file_name().unwrap().to_str().unwrap();
            assert_eq!(name, format!("application-lepo-{day}.log"));
            let text = std::fs::read_to_string(log).unwrap();
            for said in ["수도는 어디", "파리다"] {
                assert_eq!(text.contains(said), holds, "{} {level} {said}: {text}", bot.provider);
            }
            assert_lepos_own(&text);
        });
    }
}

#[test]
fn the_day_of_a_log_is_local() {
    // Twenty-five hours apart: the days always differ. The last is the zone of the machine.
    let named: Vec<String> = [Some("<+14>-14"), Some("<-11>11"), None]
        .into_iter()
        .map(|zone| {
            let bot = Bot::saying("planner = \"off\"", &["Paris."]);
            let mut command = bot.home.command(&["do", "Capital?"]);
            let mut date = std::process::Command::new("date");
            match zone {
                Some(zone) => command.env("TZ", zone),
                None => command.env_remove("TZ"),
            };
            assert_eq!(run(command, b"").code, 0);
            let output = date.env_clear().envs(zone.map(|zone| ("TZ", zone))).arg("+%F").output();
            let day = String::from_utf8(output.unwrap().stdout).unwrap();
            let name = logs(&bot.home)[0].file_name().unwrap().to_string_lossy().into_owned();
            // Midnight may have passed between the two.
            let near = name == format!("application-lepo-{}.log", day.trim());
            assert!(near || day.trim() > name.as_str().get(17..27).unwrap(), "{name} {day}");
            name
        })
        .collect();
    assert_ne!(named[0], named[1]);
}

/// The log of a question to a model that gives these replies, at `level`: without the times.
fn logged(level: &str, settings: &str, replies: Vec<Reply>, args: &[&str]) -> Vec<String> {
    let bot = Bot::openai(&format!("log_level = \"{level}\"\n{settings}"), replies);
    bot.lepo(args);
    let text = logs(&bot.home).first().map(|log| std::fs::read_to_string(log).unwrap()).unwrap_or_default();
    text.lines().map(|line| line.split_whitespace().skip(1).collect::<Vec<_>>().join(" ")).collect()
}

#[test]
fn each_level_has_its_lines() {
    let off = "planner = \"off\"";
    let busy = || Reply::new(503, "{}").header("retry-after", "0");
    let refused = || Reply::new(400, r#"{"error":{"message":"temperature is not supported"}}"#);
    let wrong = || Reply::new(404, r#"{"error":{"message":"no such model"}}"#);
    let has = |lines: &[String], level: &str, words: &[&str]| {
        let found = lines.iter().any(|l| l.starts_with(level) && words.iter().all(|word| l.contains(word)));
        assert!(found, "{level} {words:?}: {lines:#?}");
    };
    // A line a request: model, status, tokens, milliseconds; and one a retry.
    let lines = logged("info", off, vec![busy(), openai_sse(["Paris."])], &["do", "Capital?"]);
    has(
        &lines,
        "INFO",
        &["request answered", "model=\"test\"", "status=200", "input=12", "output=34", "ms="],
    );
    has(&lines, "WARN", &["Retries", "Status(503)"]);
    assert_eq!(lines.len(), 2, "{lines:#?}");
    // A command that was run; its text only at debug.
    let args = ["do", "--run", "echo canary; exit 3", "Capital?"];
    let lines = logged("info", off, vec![openai_sse(["Paris."])], &args);
    has(&lines, "INFO", &["command ran", "exit=3", "ms="]);
    assert!(!lines.iter().any(|line| line.contains("canary")), "{lines:#?}");
    has(&logged("debug", off, vec![openai_sse(["Paris."])], &args), "DEBUG", &["echo canary"]);
    // A quirk, and a model that fails.
    let lines = logged("warn", off, vec![refused(), openai_sse(["Paris."])], &["do", "Capital?"]);
    has(&lines, "WARN", &["does not accept `temperature`"]);
    assert_eq!(lines.len(), 1, "{lines:#?}");
    let lines = logged("warn", off, vec![wrong()], &["do", "Capital?"]);
    has(&lines, "WARN", &["request failed", "no such model"]);
    // A turn that fails, and nothing else.
    let lines = logged("error", off, vec![wrong()], &["do", "Capital?"]);
    has(&lines, "ERROR", &["turn failed", "model=\"test\"", "no such model"]);
    assert_eq!(lines.len(), 1, "{lines:#?}");
    let lines = logged("error", off, vec![wrong(), wrong()], &["do", "--parallel", "-m", "test", "Capital?"]);
    has(&lines, "ERROR", &["turn failed"]);
    assert!(logged("error", off, vec![openai_sse(["Paris."])], &["do", "Capital?"]).is_empty());
}

/// Every line is lepo's: nothing that was said looks like one, and no library tells what it was given.
pub fn assert_lepos_own(log: &str) {
    for line in log.lines() {
        let words: Vec<&str> = line.split_whitespace().take(3).collect();
        let [time, level, target] = words[..] else { panic!("{line}") };
        assert!(time.starts_with("20") && time.ends_with('Z') && target.starts_with("lepo"), "{line}");
        assert!(["DEBUG", "INFO", "WARN", "ERROR"].contains(&level), "{line}");
    }
}

#[test]
fn offline_commands_log_nothing() {
    let home = Home::with_config("log_level = \"debug\"");
    home.ok(&["init"]);
    home.add(&[], "hello");
    home.ok(&["ls"]);
    assert!(logs(&home).is_empty());
}

#[test]
fn the_journal_tells_model_tokens_and_times() {
    let bot = Bot::saying("", &["hm", NONE, "Paris."]);
    assert_eq!(bot.lepo(&["do", "Capital?"]).code, 0);
    let lines = journal(&bot.home);
    let found = bubbs(&bot.home);
    let items: Vec<(&str, Option<&str>)> =
        lines.iter().map(|line| (line["what"].as_str().unwrap(), line["bubb"].as_str())).collect();
    let id = |at: usize| Some(found[at].id.as_str());
    assert_eq!(items, [("unreadable", None), ("chooser", id(2)), ("answer", id(3))]);
    for line in &lines {
        assert_eq!(line["model"], "test");
        assert_eq!((&line["input"], &line["output"]), (&12.into(), &34.into()));
        assert!(line["time"].as_u64().unwrap() > 1_600_000_000_000 && line["ms"].is_u64());
    }
    assert!(lines[2]["first_ms"].is_u64());
}

#[test]
fn an_empty_answer_has_its_price_too() {
    let bot = Bot::saying("planner = \"off\"", &[""]);
    assert_eq!(bot.lepo(&["do", "Capital?"]).code, 3);
    let lines = journal(&bot.home);
    assert_eq!((&lines[0]["what"], &lines[0]["bubb"]), (&"empty".into(), &serde_json::Value::Null));
    assert_eq!(lines[0]["input"], 12);
}

#[test]
fn a_key_is_nowhere() {
    let echo = |status| Reply::new(status, format!("<p>{KEY} is not welcome</p>"));
    let replies =
        [openai_sse([NONE]), openai_sse(["ok"]), echo(401), echo(500).header("retry-after", "99"), echo(200)];
    let replies = replies.into_iter().chain([openai_sse([NONE]), openai_sse(["ok"])]);
    let bot = Bot::openai("log_level = \"debug\"", replies);
    let config = bot.home.read("config/config.toml") + "api_key_env = \"MY_KEY\"\n";
    bot.home.write("config/config.toml", &config);
    let mut text = String::new();
    for args in [
        &["do", "q", "--run", "env; cat; cat /proc/[0-9]*/cmdline"][..],
        &["do", "q"],
        &["do", "q", "--json"],
        &["do", "q", "-o", "out"],
        &["do", "q", "-m", "nobody"],
        &["show", "-a"],
    ] {
        let mut command = bot.home.command(args);
        command.env("MY_KEY", KEY).env("OPENAI_API_KEY", KEY);
        let ran = run(command, b"");
        text += &(ran.out + &ran.err);
    }
    assert_eq!(bot.times_asked(), 5);
    assert_eq!(bot.server().asked()[0].header("authorization"), Some(format!("Bearer {KEY}").as_str()));
    // The same with the key in the file.
    let literal = config.replace("api_key_env = \"MY_KEY\"", &format!("api_key = \"{KEY}\""));
    bot.home.write("config/config.toml", &literal);
    let ran = bot.lepo(&["do", "q", "--run", "cat /proc/[0-9]*/cmdline"]);
    assert_eq!((ran.code, bot.times_asked()), (0, 7), "{}", ran.err);
    assert_eq!(bot.server().asked()[6].header("authorization"), Some(format!("Bearer {KEY}").as_str()));
    text += &(ran.out + &ran.err);
    bot.home.write("config/config.toml", literal + "wrong = 1\n");
    text += &bot.lepo(&["do", "q"]).err;
    std::fs::remove_file(bot.home.path().join("config/config.toml")).unwrap();
    assert!(text.contains("not welcome") && text.contains("wrong"), "{text}");
    assert!(!text.contains(KEY), "{text}");
    let mut seen = 0;
    walk(bot.home.path(), &mut |path| {
        seen += 1;
        let bytes = std::fs::read(path).unwrap();
        assert!(!String::from_utf8_lossy(&bytes).contains(KEY), "the key is in {}", path.display());
    });
    assert!(seen > 10, "{seen}");
}

fn walk(dir: &Path, look: &mut impl FnMut(&Path)) {
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { walk(&path, look) } else { look(&path) }
    }
}

#[test]
fn a_key_that_is_said_is_in_no_log_and_a_shortened_one_in_no_error() {
    const LONG: &str = "sk-canary-abcdefghijklmnopqrstuvwxyz";
    for level in ["debug", "info"] {
        let refused = Reply::new(400, format!("{}{LONG}", "a".repeat(163)));
        let bot = Bot::openai(
            &format!("planner = \"off\"\nlog_level = \"{level}\""),
            [openai_sse([format!("your key is {LONG}").as_str()]), refused],
        );
        let config = bot.home.read("config/config.toml") + &format!("api_key = \"{LONG}\"\n");
        bot.home.write("config/config.toml", config);
        assert_eq!(bot.lepo(&["do", &format!("is it {LONG}?")]).code, 0);
        let ran = bot.lepo(&["do", "again"]);
        assert!(ran.code == 3 && !ran.err.contains("sk-canary-abcdef"), "{}", ran.err);
        let text = std::fs::read_to_string(&logs(&bot.home)[0]).unwrap();
        assert!(!text.contains("sk-canary-abcdef"), "{level}: {text}");
    }
}

#[test]
fn logs_and_tool_lists_that_nobody_used_for_a_month_go_after_a_write() {
    let old = ["logs/application-lepo-2001-02-03.log", "mcp-tools/0123.json"];
    let stays = ["logs/application-lepo-2001-02-03.log.bak", "logs/mine.log", "mcp-tools/4567.json"];
    for args in [&["do", "q"][..], &["add"]] {
        let bot = Bot::saying("planner = \"off\"", &["one"]);
        let state = |file: &str| bot.home.path().join("state/lepo").join(file);
        let is_there = |file: &&str| state(file).exists();
        for file in old.iter().chain(&stays) {
            bot.home.write(&format!("state/lepo/{file}"), "x");
        }
        let touched = bot.home.program("touch", &["-d", "2001-02-03", state(old[1]).to_str().unwrap()]);
        assert_eq!(run(touched, b"").code, 0);
        // What only reads sweeps nothing.
        bot.home.lepo(&["ls"]);
        assert!(old.iter().chain(&stays).all(&is_there));
        let ran = bot.home.lepo_with(args, b"a message");
        assert_eq!(ran.code, 0, "{}", ran.err);
        assert!(!old.iter().any(&is_there), "{args:?}");
        assert!(stays.iter().all(is_there), "{args:?}");
    }
}
