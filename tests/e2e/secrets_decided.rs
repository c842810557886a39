//! Secrets that were masked: sent so until they are asked for, and forgotten at the decision, before a command runs.

use crate::bots::Bot;
use crate::disk::bubbs;
use crate::many::Panel;
use crate::screen::Screen;
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

#[test]
fn a_group_names_the_option_that_sends_the_text_of_a_masked_secret() {
    let token = github_token(3);
    for (way, models) in [
        ("--parallel", &[("a", &["one", "two"][..]), ("b", &["one", "two"])][..]),
        (
            "--debate",
            &[
                ("chief", &["SELECT: a", "END: done", "SELECT: a", "END: done"]),
                ("a", &["REQUEST", "one", "PASS", "REQUEST", "two", "PASS"]),
                ("b", &["PASS", "PASS", "PASS", "PASS"]),
            ],
        ),
    ] {
        let panel = Panel::saying(models);
        panel.home.write("work/secret.txt", format!("token: {token}\n"));
        let ask = |more: &[&str]| {
            let ran =
                panel.home.alone(&[&["do", "-n", way, "--file", "secret.txt"], more, &["valid?"]].concat());
            assert_eq!(ran.code, 0, "{way}: {}", ran.err);
            ran.err
        };
        let sent = || panel.server("a").asked().last().unwrap().json()["messages"].to_string();
        let note = ask(&[]);
        assert!(note.contains(", and sent so: --unmasked sends the text"), "{way}: {note}");
        assert!(sent().contains("[secret: github-token"), "{way}");
        let note = ask(&["--unmasked"]);
        assert!(!note.contains("--unmasked") && sent().contains(&token), "{way}: {note}");
    }
}

#[test]
fn in_a_session_the_output_of_an_own_command_is_sent_unmasked_once() {
    let token = github_token(4);
    let bot = Bot::openai("planner = 'off'", (0..3).map(|_| openai_sse(["Yes."])));
    bot.home.write("work/secret.txt", format!("token: {token}\n"));
    let Some(screen) = Screen::lepo(&bot.home, 100, &[]) else { return };
    screen
        .prompts("> ")
        .enters("!cat secret.txt")
        .shows("sent so: /unmasked before a\nquestion sends the text");
    screen.prompts("> ").enters("/unmasked").prompts("> ").enters("valid?").shows("\nYes.");
    screen.prompts("> ").enters("and?").shows("Yes.\n").prompts("> ").enters("exit").ends(0);
    let sent: Vec<bool> = bot.bodies().iter().map(|body| body.to_string().contains(&token)).collect();
    assert_eq!(sent, [true, false]);
}
