//! The cost of a conversation: `show` and `ls -l` on a terminal, `ls --json`.

use serde_json::{Value, json};

use crate::home::Home;
use crate::pty::on_terminal;

/// A price in the table and one of a model's own.
const PRICES: &str = "[[prices]]\nmodel = 'gpt*'\ninput = 1\ncached = 0.5\noutput = 10\n\
    [[models]]\nname = 'own'\nprovider = 'cli'\ncommand = ['cat']\nprice = { in = 100, out = 100 }\n";

/// The text that a terminal of 200 columns shows.
fn shown(home: &Home, script: &str) -> String {
    on_terminal(home.terminal(&format!("stty cols 200 rows 24; {script}")), &[]).out.replace('\r', "")
}

/// An answer after `prev`, and its line in the journal.
fn answer(home: &Home, prev: &str, mut line: Value) -> String {
    let question = home.add(&["--prev", prev], "why?");
    let answer = home.add(&["--kind", "a", "--prev", &question], &format!("Because of {line}."));
    line["bubb"] = json!(answer);
    let before = std::fs::read_to_string(home.path().join("work/.lepo/_journal.ndjson")).unwrap_or_default();
    home.write("work/.lepo/_journal.ndjson", format!("{before}{line}\n"));
    answer
}

fn used(model: &str, input: u64, output: u64) -> Value {
    json!({"what": "answer", "model": model, "input": input, "output": output, "ms": 1})
}

/// The cost of a tail, in JSON and at a terminal's `ls -l` and `show`; both of these are the same.
fn costs(home: &Home, tail: &str) -> (Value, bool, Option<String>) {
    let document: Value = serde_json::from_str(&home.ok(&["ls", "--json"])).unwrap();
    let found = document["tails"].as_array().unwrap().iter().find(|row| row["id"] == tail).unwrap();
    let shown_by_show = shown(home, &format!("lepo show --no-pager --color never {tail}"));
    let words = shown_by_show.lines().next().unwrap().strip_prefix("cost ").map(str::to_string);
    let long = shown(home, "lepo ls -l --color never");
    let line = long.lines().find(|line| line.starts_with(tail)).unwrap();
    match &words {
        // There is no branch.
        Some(cost) => assert!(line.contains(&format!(" {cost} - why?")), "{cost}: {line}"),
        None => assert!(!line.contains('.'), "{line}"),
    }
    (found["cost"].clone(), found["cost_partial"].as_bool().unwrap(), words)
}

#[test]
fn a_conversation_costs_what_the_answers_of_its_own_path_cost() {
    let home = Home::with_config(PRICES);
    // 0.2 of a trunk: 0.1 M at 1, 0.01 M at 10.
    let trunk = answer(&home, "head", used("gpt-5", 100_000, 10_000));
    let mut cached = used("gpt-5-mini", 100_000, 0);
    cached["cached"] = json!(80_000);
    let first = answer(&home, &trunk, cached);
    let second = answer(&home, &trunk, used("own", 10_000, 10_000));
    assert_eq!(costs(&home, &first), (json!(0.26), false, Some("0.26".into())));
    assert_eq!(costs(&home, &second), (json!(2.2), false, Some("2.20".into())));
    // More lines about a message add up: a request, and what is known of it later.
    let before = home.read("work/.lepo/_journal.ndjson");
    let later = format!("{}\n", json!({"bubb": first, "what": "command", "ms": 3, "exit": 0}));
    home.write("work/.lepo/_journal.ndjson", before + &later);
    assert_eq!(costs(&home, &first).0, json!(0.26));
}

#[test]
fn a_copy_costs_nothing_and_hides_nothing() {
    let home = Home::with_config(PRICES);
    let original = answer(&home, "head", used("gpt-5", 100_000, 10_000));
    let mut copied = used("gpt-5", 100_000, 10_000);
    copied["copy_of"] = json!(original);
    let copy = answer(&home, "head", copied);
    assert_eq!(costs(&home, &copy), (json!(null), false, None));
    let after = answer(&home, &copy, used("gpt-5", 1_000, 1_000));
    assert_eq!(costs(&home, &after), (json!(0.01), false, Some("0.01".into())));
}

#[test]
fn what_is_not_known_is_a_plus_and_nothing_known_is_no_cost() {
    let home = Home::with_config(PRICES);
    let known = answer(&home, "head", used("gpt-5", 100_000, 10_000));
    let unpriced = answer(&home, &known, used("qwen", 5, 5));
    assert_eq!(costs(&home, &unpriced), (json!(0.2), true, Some("0.20+".into())));
    let uncounted = answer(&home, &known, json!({"what": "answer", "model": "own", "ms": 1}));
    assert_eq!(costs(&home, &uncounted), (json!(0.2), true, Some("0.20+".into())));
    let alone = answer(&home, "head", used("qwen", 5, 5));
    assert_eq!(costs(&home, &alone), (json!(null), false, None));
    // In a pipe, text has no cost, and the columns of `-l` are as ever.
    assert!(!home.ok(&["show", &unpriced]).contains("cost"));
    let long = home.ok(&["ls", "-l"]);
    let line = long.lines().find(|line| line.starts_with(&unpriced)).unwrap();
    assert_eq!(line.split(' ').collect::<Vec<_>>()[3..6], ["qwen", "10", "-"], "{line}");
    // It is that of a conversation, not of a message or of a part.
    for script in [
        format!("--one {unpriced}"),
        format!("--paths {unpriced}"),
        format!("--no-pager {known}..{unpriced}"),
    ] {
        let shown = shown(&home, &format!("lepo show --color never {script}"));
        assert!(!shown.contains("cost "), "{script}: {shown}");
    }
    // Without prices nothing is said, and settings that cannot be read hide no conversation.
    for config in ["", "colour = 1\n"] {
        home.write("config/config.toml", config);
        assert_eq!(costs(&home, &unpriced), (json!(null), false, None));
    }
}

#[test]
fn what_costs_something_is_nowhere_shown_as_nothing() {
    let home = Home::new();
    home.write("config/config.toml", PRICES);
    let tail = answer(&home, "head", used("gpt-4o", 42, 0));
    assert_eq!(costs(&home, &tail), (json!(0.000_042), false, Some("0.000042".into())));
    for (args, shown) in [
        (&["stats"][..], " 0.000042\n"),
        (&["stats", "--csv"], ",0.000042\n"),
        (&["config", "budget.day", "0.0000004"], ""),
        (&["config", "budget.day"], "0.0000004"),
    ] {
        let out = home.ok(args);
        assert!(out.contains(shown) && !out.contains("0.00\n"), "{args:?}: {out}");
    }
}
