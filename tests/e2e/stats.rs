//! `stats`: what was spent, from the journal.

use serde_json::{Value, json};

use crate::home::{Home, Ran, run};
use crate::screen::Screen;

const CONFIG: &str = "\
planner = 'off'
[[models]]
name = 'gpt'
provider = 'cli'
command = ['cat']
active = true
price = { in = 2.5, out = 10, cached = 0.25 }
[[models]]
name = 'nobody'
provider = 'openai'
model = 'm'
base_url = 'http://127.0.0.1:1/v1'
";

/// In Seoul, so that days are known.
fn stats(home: &Home, args: &[&str]) -> Ran {
    let mut command = home.command(&[&["stats"], args].concat());
    command.env("TZ", "Asia/Seoul");
    run(command, b"")
}

/// A store with two convs and a journal of two days: 16 and 17 October 2025 in Seoul.
fn spent() -> (Home, [String; 2]) {
    let home = Home::with_config(CONFIG).trusting();
    home.ok(&["init"]);
    let bubb = |text: &str| format!("01K7NY8{text}");
    let (q1, a1) = (bubb("GJ80000000000000001"), bubb("HHG0000000000000002"));
    let (q2, a2) = ("01K7PVZS000000000000000003".to_string(), "01K7PVZSZ80000000000000004".to_string());
    for (name, text) in [
        (format!("{q1}-u0-head"), "How many words?"),
        (format!("{a1}-a0-{q1}"), "Two."),
        (format!("{q2}-u0-head"), "왜 세는가?"),
        (format!("{a2}-a0-{q2}"), "알고 싶어서."),
    ] {
        home.write(&format!("work/.lepo/{name}.md"), text);
    }
    let day = 1_760_630_000_000u64; // 17 October, 00:53 in Seoul; still the 16th in UTC
    let lines = [
        json!({ "time": 1, "bubb": a1, "what": "answer", "model": "gpt", "input": 1_000_000, "cached": 200_000, "output": 100_000, "ms": 2_000, "first_ms": 300 }),
        json!({ "time": 1, "bubb": a2, "what": "answer", "model": "qwen", "input": 50, "output": 7, "ms": 900, "first_ms": 90 }),
        json!({ "time": day, "bubb": null, "under": q2, "what": "failed", "model": "qwen", "ms": 5, "failed": true }),
        json!({ "time": day, "bubb": a1, "what": "command", "ms": 5, "exit": 0 }),
    ];
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    home.write("work/.lepo/_journal.ndjson", text + "{\"time\":1,\"bubb\":\"01K7N\u{fffd}");
    (home, [q1, q2])
}

#[test]
fn rows_are_counted_by_day_week_model_and_conv() {
    let (home, [q1, q2]) = spent();
    let ran = stats(&home, &["--json"]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    let found: Value = serde_json::from_str(&ran.out).unwrap();
    // 0.8 M at 2.5, 0.2 M at 0.25, 0.1 M at 10
    let first = json!({ "key": "2025-10-16", "questions": 1, "answers": 1, "failures": 0, "in": 1_000_000,
        "cached": 200_000, "out": 100_000, "first_ms": 300, "ms": 2_000, "cost": 3.05 });
    let second = json!({ "key": "2025-10-17", "questions": 1, "answers": 1, "failures": 1, "in": 50,
        "cached": 0, "out": 7, "first_ms": 90, "ms": 900, "cost": null });
    assert_eq!(found["rows"], json!([first, second]));
    assert_eq!(found["total"]["in"], 1_000_050);
    assert_eq!(found["total"]["questions"], 2);
    for (by, keys) in [
        ("week", vec!["2025-10-13"]),
        ("model", vec!["gpt", "qwen"]),
        ("conv", vec![q1.as_str(), q2.as_str()]),
    ] {
        let found: Value = serde_json::from_str(&stats(&home, &["--json", "--by", by]).out).unwrap();
        let texts: Vec<&str> =
            found["rows"].as_array().unwrap().iter().map(|row| row["key"].as_str().unwrap()).collect();
        assert_eq!(texts, keys, "{by}");
    }
    let csv = stats(&home, &["--csv", "--since", "2025-10-17"]).out;
    assert_eq!(
        csv,
        "key,questions,answers,failures,in,cached,out,first_ms,ms,cost\n2025-10-17,1,1,1,50,0,7,90,900,\n"
    );
    let table = stats(&home, &["--by", "conv"]).out;
    assert!(table.contains("How many words?") && table.contains("왜 세는가?"), "{table}");
    assert!(table.lines().last().unwrap().starts_with("total "), "{table}");
    for args in [&["--since", "soon"][..], &["--by", "year"], &["--json", "--csv"]] {
        assert_eq!(stats(&home, args).code, 2, "{args:?}");
    }
}

#[test]
fn what_fails_is_journalled_and_what_was_asked_is_counted() {
    let home = Home::with_config(CONFIG).trusting();
    home.ok(&["do", "hello"]);
    let ran = home.lepo(&["do", "-m", "nobody", "again"]);
    assert_eq!(ran.code, 3, "{}", ran.err);
    let found: Value = serde_json::from_str(&home.ok(&["stats", "--json", "--by", "model"])).unwrap();
    let rows = found["rows"].as_array().unwrap();
    let row = |key: &str| rows.iter().find(|row| row["key"] == key).unwrap();
    assert_eq!((&row("gpt")["answers"], &row("gpt")["failures"]), (&json!(1), &json!(0)), "{found}");
    assert_eq!((&row("nobody")["answers"], &row("nobody")["failures"]), (&json!(0), &json!(1)), "{found}");
    assert_eq!(found["total"]["questions"], 2, "{found}");
}

/// The request of a planner that breaks off within its answer.
#[test]
fn a_planner_that_fails_within_its_answer_is_journalled() {
    let model = "name = 'm'\nprovider = 'cli'\ncommand = ['sh', '-c', 'echo {; exit 3']\nactive = true\n";
    let home = Home::with_config(&format!("planner = 'chooser'\n[[models]]\n{model}")).trusting();
    assert_eq!(home.lepo(&["do", "hello"]).code, 3);
    let found: Value = serde_json::from_str(&home.ok(&["stats", "--json", "--by", "model"])).unwrap();
    let row = &found["rows"][0];
    assert_eq!(
        (&row["key"], &row["answers"], &row["failures"]),
        (&json!("m"), &json!(0), &json!(1)),
        "{found}"
    );
}

#[test]
fn a_price_is_checked() {
    for (price, code) in [
        ("{ in = 1, out = 2 }", 0),
        ("{ in = 0.15, out = 0.6, cached = 0 }", 0),
        ("{ in = 1 }", 2),
        ("{ in = 1, out = 2, write = 3 }", 2),
        ("{ in = -1, out = 2 }", 2),
        ("{ in = 'a', out = 2 }", 2),
        ("3", 2),
    ] {
        let home = Home::with_config(&CONFIG.replace("{ in = 2.5, out = 10, cached = 0.25 }", price));
        home.ok(&["init"]);
        assert_eq!(home.lepo(&["stats"]).code, code, "{price}");
    }
}

#[test]
fn a_terminal_shows_bars() {
    let (home, _) = spent();
    let Some(screen) = Screen::lepo(&home, 80, &["stats", "--by", "model"]) else { return };
    screen.ends(0);
    let text = screen.whole();
    assert!(text.contains("gpt") && text.contains("██"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
}
