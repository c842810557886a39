//! Budgets: what is spent is counted, and no request leaves that does not fit.

use serde_json::{Value, json};

use crate::bots::Bot;
use crate::disk::bubbs;
use crate::home::{Home, away_from_midnight, run};
use crate::mcp::{configure, hostile};
use crate::pty::on_terminal;
use crate::scripted::{Reply, Server, end, openai_calls, openai_sse, said};

/// An answer of the scripted server takes 12 and 34 tokens: with these prices it costs 34.
const PRICES: &str = "[[prices]]\nmodel = 'te*'\ninput = 0\noutput = 1000000\n";

fn bot(head: &str, answers: usize) -> Bot {
    away_from_midnight();
    Bot::openai(&format!("planner = 'off'\n{head}\n{PRICES}"), (0..answers).map(|_| openai_sse(["yes"])))
}

/// Says yes to what the repository brings.
fn trust(home: &Home) {
    on_terminal(home.command(&["trust"]), &[("Trust this, as it is? (y/N): ", "y\n")]);
}

fn journal(home: &Home) -> Vec<Value> {
    home.read("work/.lepo/_journal.ndjson").lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn a_day_that_is_spent_to_the_last_lets_no_request_leave_and_the_question_is_kept() {
    let bot = bot("budget = { day = 68 }", 9);
    assert_eq!(bot.lepo(&["do", "one"]).code, 0);
    assert_eq!(bot.lepo(&["do", "two"]).code, 0);
    let ran = bot.lepo(&["do", "three"]);
    assert_eq!((ran.code, bot.times_asked()), (3, 2), "{}", ran.err);
    assert!(ran.err.contains("error: budget.day is 68.00, of which 68.00 is spent"), "{}", ran.err);
    assert_eq!(bubbs(&bot.home).last().unwrap().text, "three");
    let document: Value = serde_json::from_str(&bot.lepo(&["do", "--json", "--retry"]).out).unwrap();
    assert_eq!(document["error"]["kind"], "budget", "{document}");
    bot.home.write("config/config.toml", bot.home.read("config/config.toml").replace("day = 68", "day = 69"));
    assert_eq!(bot.lepo(&["do", "--retry"]).code, 0);
    assert_eq!(bot.times_asked(), 3);
}

#[test]
fn the_longest_answer_counts_before_it_is_given() {
    for (budget, code) in [("67.99", 3), ("68", 0)] {
        let bot = bot("", 2);
        let options = ["do", "--max-tokens", "68", "--max-cost", budget, "x"];
        assert_eq!(bot.lepo(&options).code, code, "{budget}");
        assert_eq!(bot.times_asked(), usize::from(code == 0), "{budget}");
    }
}

#[test]
fn the_smallest_budget_is_not_nothing() {
    let bot = bot("", 1);
    let ran = bot.lepo(&["do", "--max-cost", "0.0000004", "x"]);
    assert_eq!((ran.code, bot.times_asked()), (0, 1), "nothing is spent yet: {}", ran.err);
    let ran = bot.lepo(&["do", "--max-cost", "0.0000004", "--max-tokens", "1", "x"]);
    assert_eq!((ran.code, bot.times_asked()), (3, 1), "{}", ran.err);
    let says = "--max-cost is 0.0000004, of which 0.00 is spent, and this request needs about 1.00";
    assert!(ran.err.contains(says), "{}", ran.err);
}

#[test]
fn a_budget_in_money_needs_the_price_of_the_model() {
    for head in ["budget = { day = 1 }", "budget = { turn = 1 }", ""] {
        let bot = Bot::openai(&format!("planner = 'off'\n{head}"), [openai_sse(["yes"])]);
        let more: &[&str] = if head.is_empty() { &["--max-cost", "1"] } else { &[] };
        let ran = bot.lepo(&[&["do"], more, &["x"]].concat());
        assert_eq!((ran.code, bot.times_asked()), (2, 0), "{}", ran.err);
        assert!(ran.err.contains("a budget needs the price of model \"test\""), "{}", ran.err);
        let ran = bot.lepo(&[&["do", "--parallel", "-m", "test"], more, &["x"]].concat());
        assert_eq!((ran.code, bot.times_asked()), (2, 0), "{}", ran.err);
        // Tokens need none.
        if head.is_empty() {
            assert_eq!(bot.lepo(&["do", "--max-tokens-total", "1000", "x"]).code, 0);
        }
    }
    // Its provider's name fits too; its own price wins; both spellings are taken.
    for price in [
        "[[prices]]\nmodel = 'm'\nin = 0\nout = 1000000",
        "[[prices]]\nmodel = 'other'\ninput = 1\noutput = 1\n[[prices]]\nmodel = '*'\ninput = 0\noutput = 1000000",
    ] {
        let bot = Bot::openai(&format!("planner = 'off'\n{price}"), (0..3).map(|_| openai_sse(["yes"])));
        assert_eq!(bot.lepo(&["do", "--max-cost", "1", "x"]).code, 0, "{price}");
        let stats: Value = serde_json::from_str(&bot.home.ok(&["stats", "--json"])).unwrap();
        assert_eq!(stats["total"]["cost"], 34.0, "{price}");
    }
}

#[test]
fn every_request_of_a_turn_counts() {
    let call = || openai_calls("", &[("s__echo", "{}")]);
    let asked = |options: &[&str], head: &str| {
        let head = format!("planner = 'off'\ntool_call_mode = 'auto'\n{head}\n{PRICES}");
        let bot = Bot::openai(&head, [call(), call(), openai_sse(["Done."])]);
        configure(&bot.home, &[("s", hostile(&bot.home, "s", "plain"))]);
        let ran = bot.home.alone(&[&["do"], options, &["x"]].concat());
        (ran.code, bot.times_asked())
    };
    assert_eq!(asked(&[], "").1, 3);
    // A call has no usage: its bytes count.
    let (code, times) = asked(&["--max-cost", "0.5"], "");
    assert_eq!((code, times), (3, 1));
    assert_eq!(asked(&[], "budget = { turn = 0.5 }"), (3, 1));
    let (code, times) = asked(&["--max-tokens-total", "1"], "");
    assert_eq!((code, times), (3, 0));
}

#[test]
fn an_answer_without_usage_counts_by_its_bytes_also_for_other_processes() {
    let long = "x".repeat(4000);
    away_from_midnight();
    let replies =
        (0..3).map(|_| Reply::pieces([said(&long), end()]).header("content-type", "text/event-stream"));
    let bot = Bot::openai(&format!("planner = 'off'\nbudget = {{ day = 1500 }}\n{PRICES}"), replies);
    assert_eq!(bot.lepo(&["do", "one"]).code, 0);
    let lines = journal(&bot.home);
    assert!(lines.iter().any(|line| line["what"] == "estimate" && line["output"] == 1000), "{lines:#?}");
    assert_eq!(bot.lepo(&["do", "two"]).code, 0, "1000 of 1500 is spent");
    let ran = bot.lepo(&["do", "three"]);
    assert_eq!((ran.code, bot.times_asked()), (3, 2), "{}", ran.err);
}

#[test]
fn a_request_that_does_not_fit_tells_its_cost() {
    let bot = bot("", 1);
    let ran = bot.lepo(&["do", "--max-tokens", "50", "--max-cost", "10", "x"]);
    assert_eq!((ran.code, bot.times_asked()), (3, 0), "{}", ran.err);
    assert!(ran.err.contains("this request needs about 50.00 ("), "{}", ran.err);
}

/// Runs the commands that a hint has in its line.
fn follow_hint(bot: &Bot, err: &str) {
    let hint = err.lines().find_map(|line| line.strip_prefix("hint: ")).unwrap();
    let marked: Vec<&str> = hint.split('`').skip(1).step_by(2).collect();
    let commands = match marked.is_empty() {
        true => vec![hint.split_once(": ").unwrap().1],
        false => marked,
    };
    for command in commands {
        let ran = run(bot.home.shell(command), b"");
        assert_eq!(ran.code, 0, "{command}: {}", ran.err);
    }
}

#[test]
fn the_hint_of_a_budget_works() {
    for (option, head) in [
        (&["--max-cost", "10", "--max-tokens", "50"][..], ""),
        (&["--max-tokens-total", "1"], ""),
        (&["--max-tokens", "50"], "budget = { turn = 3 }"),
        (&["--max-tokens", "50"], "budget = { day = 3 }"),
        (&["--max-tokens", "50"], "budget.day = 3"),
    ] {
        let bot = bot(head, 2);
        let ran = bot.lepo(&[&["do"], option, &["x"]].concat());
        assert_eq!((ran.code, bot.times_asked()), (3, 0), "{}", ran.err);
        follow_hint(&bot, &ran.err);
        assert_eq!(bot.times_asked(), 1, "{option:?} {head}: {}", ran.err);
    }
}

#[test]
fn numbers_are_finite_and_not_negative() {
    let bot = bot("", 1);
    for number in ["-1", "NaN", "inf", "x", ""] {
        let ran = bot.lepo(&["do", &format!("--max-cost={number}"), "x"]);
        assert_eq!((ran.code, bot.times_asked()), (2, 0), "{number}: {}", ran.err);
        let ran = bot.lepo(&["do", &format!("--max-tokens-total={number}"), "x"]);
        assert_eq!(ran.code, 2, "{number}");
    }
    for value in ["-0.5", "nan", "inf", "-inf", "'5'", "true"] {
        for line in [format!("budget = {{ day = {value} }}"), format!("budget = {{ turn = {value} }}")] {
            let home = Home::with_config(&line);
            assert_eq!(home.lepo(&["do", "x"]).code, 2, "{line}");
        }
    }
    for lines in [
        "budget = { week = 1 }",
        "[[prices]]\nmodel = 'x'",
        "[[prices]]\nmodel = 'x'\ninput = -1\noutput = 1",
        "[[prices]]\ninput = 1\noutput = 1",
        "[[prices]]\nmodel = 'x'\ninput = 1",
    ] {
        assert_eq!(Home::with_config(lines).lepo(&["do", "x"]).code, 2, "{lines}");
    }
}

#[test]
fn a_repository_lowers_a_budget_and_sets_no_price() {
    for (own, theirs, holds) in [("68", "34", 1), ("34", "68", 1)] {
        let bot = bot(&format!("budget = {{ day = {own} }}"), 3);
        bot.home.write("work/.lepo/_config.toml", format!("budget = {{ day = {theirs} }}\n"));
        trust(&bot.home);
        assert_eq!(bot.lepo(&["do", "one"]).code, 0);
        assert_eq!(bot.lepo(&["do", "two"]).code, 3);
        assert_eq!(bot.times_asked(), holds, "{own} {theirs}");
    }
    let bot = bot("budget = { day = 68 }", 3);
    bot.home.write("work/.lepo/_config.toml", "[[prices]]\nmodel = 'test'\ninput = 0\noutput = 0\n");
    let ran = run(bot.home.detached(&["trust"]), b"y\n");
    assert!(ran.err.contains("prices are not allowed in a repository's file"), "{}", ran.err);
    let codes = ["one", "two", "three"].map(|question| bot.lepo(&["do", question]).code);
    assert_eq!(codes, [0, 0, 3]);
}

#[test]
fn several_at_once_count_what_is_under_way() {
    let server = Server::judging(|_, _| openai_sse(["yes"]));
    let model = |name: &str| {
        format!(
            "[[models]]\nname = '{name}'\nprovider = 'openai'\nmodel = 'm'\nbase_url = '{}/v1'\noptions = {{ max_tokens = 34 }}\n",
            server.url()
        )
    };
    let models: String = ["a", "b", "c", "d"].map(model).concat();
    let prices = "[[prices]]\nmodel = 'm'\ninput = 0\noutput = 1000000\n";
    let home = Home::with_config(&format!("planner = 'off'\nbudget = {{ turn = 70 }}\n{prices}{models}"));
    let ran = home.lepo(&["do", "--parallel", "-m", "a", "-m", "b", "-m", "c", "-m", "d", "--json", "x"]);
    let replies: Value = serde_json::from_str(&ran.out).unwrap();
    let kinds: Vec<&Value> =
        replies.as_array().unwrap().iter().map(|reply| &reply["error"]["kind"]).collect();
    assert_eq!(kinds.iter().filter(|kind| ***kind == json!("budget")).count(), 2, "{replies:#}");
    assert_eq!(server.asked().len(), 2);
}

#[test]
fn processes_at_once_spend_no_more_than_one_request_each_beyond_the_day() {
    let bot = bot("budget = { day = 102 }", 40);
    let ran: Vec<i32> = std::thread::scope(|scope| {
        let ask = || (0..6).map(|_| bot.lepo(&["do", "-n", "x"]).code).collect::<Vec<i32>>();
        let two = [scope.spawn(ask), scope.spawn(ask)];
        two.into_iter().flat_map(|one| one.join().unwrap()).collect()
    });
    let answered = ran.iter().filter(|code| **code == 0).count();
    assert!((3..=4).contains(&answered) && bot.times_asked() == answered, "{ran:?}");
    assert!(ran.iter().all(|code| matches!(code, 0 | 3)), "{ran:?}");
}

#[test]
fn what_is_not_kept_counts_all_the_same_by_a_line_without_words() {
    let bot = bot("budget = { day = 34 }", 3);
    bot.home.ok(&["init"]);
    assert_eq!(bot.lepo(&["do", "--no-keep", "a secret question"]).code, 0);
    let mut actual = journal(&bot.home);
    // The line that proves that the journal can be written.
    assert_eq!(actual.remove(0)["what"], "budget");
    assert_eq!(actual.len(), 1, "{actual:#?}");
    assert_eq!(
        (&actual[0]["what"], &actual[0]["bubb"], &actual[0]["output"]),
        (&json!("unkept"), &Value::Null, &json!(34))
    );
    assert_eq!(bot.lepo(&["do", "one"]).code, 3);
    // Without a budget of the day there is none.
    bot.home.write(
        "config/config.toml",
        bot.home.read("config/config.toml").replace("budget = { day = 34 }", ""),
    );
    assert_eq!(bot.lepo(&["do", "--no-keep", "x"]).code, 0);
    assert_eq!(journal(&bot.home).iter().filter(|line| line["what"] == "unkept").count(), 1);
}

#[test]
fn costs_are_told_by_day_and_model() {
    let bot = bot("", 3);
    bot.lepo(&["do", "one"]);
    for by in ["day,model", "model,day"] {
        let stats: Value = serde_json::from_str(&bot.home.ok(&["stats", "--by", by, "--json"])).unwrap();
        let row = &stats["rows"][0];
        assert_eq!((&row["model"], &row["cost"]), (&json!("test"), &json!(34.0)), "{stats:#}");
        assert_eq!(row["day"].as_str().unwrap().len(), 10);
    }
    assert_eq!(bot.lepo(&["stats", "--by", "day,conv"]).code, 2);
    let table = bot.home.ok(&["stats", "--by", "day,model"]);
    assert!(table.contains(" test ") && table.contains("34.00"), "{table}");
}

#[test]
fn where_the_journal_cannot_be_written_a_budget_lets_nothing_leave() {
    let path = ".lepo/_journal.ndjson";
    for put in [
        format!("mkdir {path}"),
        format!("ln -s ../elsewhere {path}"),
        format!("touch elsewhere; ln -s ../elsewhere {path}"),
        format!("mkfifo {path}"),
    ] {
        for budget in ["budget = { day = 1000 }", "budget = { turn = 1000 }", ""] {
            let bot = bot(budget, 1);
            bot.home.ok(&["init"]);
            assert_eq!(run(bot.home.shell(&put), b"").code, 0, "{put}");
            let more: &[&str] = if budget.is_empty() { &["--max-tokens-total", "9999"] } else { &[] };
            let ran = bot.lepo(&[&["do"], more, &["q"]].concat());
            assert_eq!((ran.code, bot.times_asked()), (3, 0), "{put} {budget}: {}", ran.err);
            assert!(ran.err.contains("the budget cannot be counted, and nothing was sent"), "{}", ran.err);
            assert!(ran.err.contains("_journal.ndjson"), "{}", ran.err);
            assert_eq!(bubbs(&bot.home).last().unwrap().text, "q", "the question is kept");
            // Without a budget nothing needs the journal.
            let bot = Bot::saying("planner = 'off'", &["yes"]);
            bot.home.ok(&["init"]);
            assert_eq!(run(bot.home.shell(&put), b"").code, 0, "{put}");
            assert_eq!(bot.lepo(&["do", "q"]).out, "yes\n", "{put}");
        }
    }
}
