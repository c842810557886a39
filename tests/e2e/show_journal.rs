//! `show --json` joins what the journal knows.

use serde_json::{Value, json};

use crate::bots::Bot;

fn shown(bot: &Bot) -> Vec<Value> {
    let document: Value = serde_json::from_str(&bot.home.ok(&["show", "--json", "-a"])).unwrap();
    document["bubbs"].as_array().unwrap().clone()
}

#[test]
fn model_tokens_times_and_exit_codes_are_joined() {
    let bot = Bot::saying("planner = \"off\"", &["Paris."]);
    assert_eq!(bot.lepo(&["do", "Capital?", "--run", "exit 3"]).code, 0);
    let none = json!({"input": null, "output": null});
    let [root, run, user, answer] = &shown(&bot)[..] else { panic!() };
    for bubb in [root, user] {
        assert_eq!(
            (&bubb["model"], &bubb["usage"], &bubb["ms"], &bubb["exit"]),
            (&Value::Null, &none, &Value::Null, &Value::Null)
        );
    }
    assert_eq!((&run["exit"], run["ms"].is_u64()), (&json!(3), true));
    assert_eq!(answer["model"], "test");
    assert_eq!(answer["usage"], json!({"input": 12, "output": 34}));
    assert!(answer["ms"].is_u64());
}

#[test]
fn a_torn_line_is_skipped_and_a_missing_journal_is_no_trouble() {
    let bot = Bot::saying("planner = \"off\"", &["Paris."]);
    assert_eq!(bot.lepo(&["do", "Capital?"]).code, 0);
    let journal = bot.home.read("work/.lepo/_journal.ndjson");
    bot.home.write("work/.lepo/_journal.ndjson", format!("{{\"time\":1,\"bu\n\n\u{0}\n{journal}{{\"ti"));
    assert_eq!(shown(&bot)[2]["model"], "test");
    std::fs::remove_file(bot.home.work().join(".lepo/_journal.ndjson")).unwrap();
    assert_eq!(shown(&bot)[2]["model"], Value::Null);
}
