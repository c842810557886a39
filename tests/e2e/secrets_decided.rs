//! What is kept of a request that was masked is forgotten at the decision, before the command runs.

use crate::bots::Bot;
use crate::disk::bubbs;
use crate::scripted::{openai_calls, openai_sse};
use crate::secrets::github_token;

#[test]
fn the_truth_of_a_request_is_gone_while_its_command_runs() {
    let token = github_token(1);
    let command = format!("find .lepo -type f -exec cat {{}} + > seen; echo {token} > ran");
    let call = serde_json::json!({ "access": "full", "command": command }).to_string();
    for decision in ["--approve", "--deny"] {
        let bot = Bot::openai(
            "planner = \"native\"",
            [openai_calls("", &[("run_command", call.as_str())]), openai_sse(["Done."])],
        );
        assert_eq!(bot.home.alone(&["do", "say it"]).code, 4);
        let request = bubbs(&bot.home).into_iter().find(|bubb| bubb.text.contains("[secret: ")).unwrap().id;
        let kept = format!("work/.lepo/_wire/{request}.json");
        assert!(bot.home.read(&kept).contains(&token));
        let ran = bot.home.alone(&["do", decision, &request]);
        assert_eq!((ran.code, ran.out.as_str()), (0, "Done.\n"), "{}", ran.err);
        if decision == "--approve" {
            assert_eq!(bot.home.read("work/ran"), format!("{token}\n"));
            let seen = bot.home.read("work/seen");
            assert!(!seen.contains(&token), "{seen}");
        }
        assert!(!bot.home.path().join(kept).exists());
    }
    // Where the answer fails, the request is decided all the same.
    let bot = Bot::openai("planner = \"native\"", [openai_calls("", &[("run_command", call.as_str())])]);
    assert_eq!(bot.home.alone(&["do", "say it"]).code, 4);
    let request = bubbs(&bot.home).into_iter().find(|bubb| bubb.text.contains("[secret: ")).unwrap().id;
    assert_ne!(bot.home.alone(&["do", "--deny", &request]).code, 0);
    let kept = bot.home.path().join(format!("work/.lepo/_wire/{request}.json"));
    assert!(!std::fs::read_to_string(kept).unwrap_or_default().contains(&token));
}
