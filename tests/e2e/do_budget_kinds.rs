//! Budgets hold for every kind of request: debates, compaction, replay, sessions; and count what other processes write.

use std::io::Write;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use crate::bots::Bot;
use crate::home::{Home, away_from_midnight};
use crate::many::Panel;
use crate::mcp::{configure, hostile};
use crate::screen::Screen;
use crate::scripted::{Server, openai_calls, openai_sse};

/// An answer of the scripted server takes 12 and 34 tokens: with these prices it costs 34.
const PRICES: &str = "[[prices]]\nmodel = '*'\ninput = 0\noutput = 1000000\n";

fn bot(head: &str, answers: usize) -> Bot {
    away_from_midnight();
    Bot::openai(&format!("planner = 'off'\n{head}\n{PRICES}"), (0..answers).map(|_| openai_sse(["yes"])))
}

#[test]
fn compaction_and_replay_count() {
    for args in [&["do", "--compact", "--keep", "1"][..], &["do", "--replay", "@", "-m", "test"]] {
        for (day, code, asked) in [("68", 3, 2), ("69", 0, 3)] {
            let bot = bot(&format!("budget = {{ day = {day} }}"), 4);
            assert_eq!(bot.lepo(&["do", "one"]).code, 0);
            assert_eq!(bot.lepo(&["do", "two"]).code, 0);
            let ran = bot.lepo(args);
            // A replay asks both questions: the second one does not fit.
            let code = if args.contains(&"--replay") { 3 } else { code };
            assert_eq!(
                (ran.code, bot.times_asked()),
                (code, asked),
                "{args:?} {day}: {}{}",
                ran.out,
                ran.err
            );
            assert_eq!(
                code == 3,
                ran.err.contains(&format!("budget.day is {day}.00")),
                "{args:?}: {}",
                ran.err
            );
        }
    }
}

#[test]
fn every_request_of_a_debate_counts() {
    let models: &[(&str, &[&str])] = &[
        ("chief", &["SELECT: a", "END: so be it", "x"]),
        ("a", &["REQUEST", "my words", "PASS", "PASS"]),
        ("b", &["PASS", "PASS", "PASS"]),
    ];
    let debate = |limit: &str| {
        let panel = Panel::saying(models);
        panel
            .home
            .write("config/config.toml", format!("{}\n{PRICES}", panel.home.read("config/config.toml")));
        let ran = panel.lepo(&["do", "--debate", "--max-cost", limit, "q"]);
        let asked: usize = ["chief", "a", "b"].iter().map(|name| panel.server(name).asked().len()).sum();
        (ran.code, asked, ran.err)
    };
    let (code, all, told) = debate("100000");
    assert_eq!(code, 0, "{told}");
    assert!(all >= 6, "{all}");
    // The requests that fit, and not one more; met exactly, nothing is left for another.
    for (limit, most) in [("0.5", 2), ("34", 2), ("68", 2), ("69", 3), ("102", 3)] {
        let (code, asked, told) = debate(limit);
        assert_eq!((code, asked), (3, most), "{limit}: {told}");
        assert!(told.contains("--max-cost is "), "{limit}: {told}");
    }
    let spends_all = (all * 34).to_string();
    assert_eq!(debate(&spends_all).1, all);
}

#[test]
fn a_session_counts_the_day_and_begins_each_turn_anew() {
    for (head, answered) in [("budget = { day = 34 }", 1), ("budget = { turn = 34 }", 2)] {
        let bot = bot(&format!("{head}\n[term]\nusage = false"), 3);
        let Some(screen) = Screen::lepo(&bot.home, 100, &[]) else { return };
        screen.prompts("> ");
        screen.enters("one").shows("yes").prompts("> ");
        match answered {
            1 => screen.enters("two").shows("budget.day is 34.00"),
            _ => screen.enters("two").shows("two\nyes"),
        };
        screen.prompts("> ");
        assert_eq!(bot.times_asked(), answered, "{head}");
    }
}

/// A model that calls a tool twice and then answers; each time it is asked, another process writes a line of its own.
fn beside(line: Value, day: &str) -> (i32, usize, String) {
    let journal: Arc<Mutex<Option<PathBuf>>> = Arc::default();
    let path = Arc::clone(&journal);
    let server = Server::judging(move |number, _| {
        let path = path.lock().unwrap().clone().unwrap();
        let mut file = std::fs::File::options().append(true).create(true).open(path).unwrap();
        writeln!(file, "{line}").unwrap();
        match number {
            0 | 1 => openai_calls("", &[("s__echo", "{}")]),
            _ => openai_sse(["done"]),
        }
    });
    let home = Home::with_config(&format!(
        "planner = 'off'\ntool_call_mode = 'auto'\nbudget = {{ day = {day} }}\n{PRICES}[[models]]\nname = 'test'\n\
         active = true\nprovider = 'openai'\nmodel = 'm'\nbase_url = '{}/v1'\n",
        server.url()
    ));
    configure(&home, &[("s", hostile(&home, "s", "plain"))]);
    home.ok(&["init"]);
    *journal.lock().unwrap() = Some(home.work().join(".lepo/_journal.ndjson"));
    let ran = home.alone(&["do", "x"]);
    (ran.code, server.asked().len(), ran.err)
}

#[test]
fn lines_of_another_process_count_once_and_from_the_next_request_on() {
    away_from_midnight();
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis() as u64;
    let line = |time: u64, output: u64| json!({ "time": time, "what": "answer", "model": "other", "output": output });
    for (line, day, code, asked) in [
        (line(now, 1000), "900", 3, 1),
        // Twice 300, and not what was counted before once more.
        (line(now, 300), "890", 0, 3),
        (line(now, 300), "500", 3, 2),
        // Of another day, or of a copy: nothing.
        (line(now - 3 * 24 * 3_600_000, 1000), "900", 0, 3),
        (
            json!({ "time": now, "what": "answer", "model": "other", "output": 1000, "copy_of": "01JB3Z0Q4N8V2K5T7W9X1Y3Z5A" }),
            "900",
            0,
            3,
        ),
    ] {
        let (is, times, told) = beside(line.clone(), day);
        assert_eq!((is, times), (code, asked), "{line} {day}: {told}");
    }
}

#[test]
fn a_long_journal_of_other_days_is_no_part_of_today() {
    let bot = bot("budget = { day = 68 }", 3);
    bot.home.ok(&["init"]);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis() as u64;
    let (old, month) = (json!({ "what": "answer", "model": "test", "output": 34 }), 30 * 24 * 3_600_000);
    let mut journal = String::new();
    for i in 0..20_000u64 {
        let mut line = old.clone();
        line["time"] = (now - month + i).into();
        journal += &format!("{line}\n");
    }
    let mut today = old;
    today["time"] = now.into();
    bot.home.write("work/.lepo/_journal.ndjson", format!("{journal}{today}\n"));
    assert_eq!(bot.lepo(&["do", "one"]).code, 0);
    let ran = bot.lepo(&["do", "two"]);
    assert_eq!((ran.code, bot.times_asked()), (3, 1), "{}", ran.err);
    assert!(ran.err.contains("of which 68.00 is spent"), "{}", ran.err);
}
