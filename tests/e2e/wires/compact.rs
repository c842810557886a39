//! A conversation goes on from a summary of it, and stays as it is.

use std::process::Stdio;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use super::{CHAT, bodies, chat_said, home, refused};
use crate::acp_client::Client;
use crate::disk::{bubbs, forest};
use crate::home::{Home, finish};
use crate::screen::Screen;
use crate::scripted::{Asked, Piece, Reply, Server, openai_event};

/// Four questions and their answers, then what `replies` say.
fn talked(settings: &str, replies: impl IntoIterator<Item = Reply>) -> (Server, Home) {
    let answers = ["one", "two", "three", "four"].map(chat_said);
    let server = Server::start(answers.into_iter().chain(replies));
    let home = home(&server, &format!("planner = 'off'\n{settings}"), CHAT);
    for question in ["a", "b", "c", "d"] {
        home.ok(&["do", question]);
    }
    (server, home)
}

fn contents(body: &Value) -> Vec<String> {
    let messages = body["messages"].as_array().unwrap().iter();
    messages.map(|message| message["content"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn the_new_line_hangs_under_the_same_root_and_the_old_one_stays() {
    let (server, home) = talked("", [chat_said("What matters."), chat_said("Five.")]);
    home.ok(&["branch", "main"]);
    let before = bubbs(&home);
    let id = home.ok(&["do", "--compact", "heed the figures"]).trim().to_owned();
    let found = bubbs(&home);
    assert_eq!(found.len(), before.len() + 5, "a summary and two turns");
    assert_eq!(found.last().unwrap().id, id);
    assert!(forest(&home).ends_with("J s0 A / K u0 J / L a0 K / M u0 L / N a0 M"), "{}", forest(&home));
    let summary = &found[before.len()].text;
    assert_eq!(summary, &format!("[summary of the conversation up to {}]\n\nWhat matters.", before[4].id));

    // Copies know what the originals cost, and that nothing was asked for them.
    let journal = home.read("work/.lepo/_journal.ndjson");
    let copies: Vec<&str> = journal.lines().filter(|line| line.contains("\"copy_of\"")).collect();
    assert_eq!(copies.len(), 4, "{journal}");
    assert_eq!(copies.iter().filter(|line| line.contains("\"model\"")).count(), 2, "{journal}");

    // The request begins as the ones before it; what is asked comes last.
    let asked = contents(&bodies(&server)[4]);
    assert_eq!(asked[..5], ["PROMPT", "a", "one", "b", "two"]);
    assert!(asked[5].contains("Write a summary") && asked[5].ends_with("heed the figures"), "{}", asked[5]);
    // It is where the next question goes; no branch moved.
    assert_eq!(home.ok(&["do", "e"]), "Five.\n");
    assert_eq!(contents(&bodies(&server)[5])[1..6], [summary, "c", "three", "d", "four"]);
    assert!(home.ok(&["branch"]).contains(&before.last().unwrap().id));
    assert_eq!(home.ok(&["fsck"]), "");
}

#[test]
fn failed_it_has_written_nothing() {
    let overflow = || refused("This model's maximum context length is 8192 tokens");
    let (server, home) = talked("", [overflow(), chat_said(" \n")]);
    let before = bubbs(&home).len();
    let ran = home.lepo(&["do", "--compact"]);
    assert_eq!(ran.code, 3);
    assert!(ran.err.contains("lepo do --compact -m NAME"), "{}", ran.err);
    assert_eq!(home.lepo(&["do", "--compact"]).code, 3, "an empty summary");
    let ran = home.lepo(&["do", "--compact", "--keep", "9"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("nothing to summarise"), "{}", ran.err);
    for option in ["--schema", "--system", "--template", "--prompt", "--attach"] {
        let ran = home.lepo(&["do", "--compact", option, "x"]);
        assert!(ran.code == 2 && ran.err.contains("cannot be used with"), "{option}: {}", ran.err);
    }
    assert_eq!(bubbs(&home).len(), before);
    assert_eq!(server.asked().len(), 6);
}

#[test]
fn a_summary_that_was_cut_is_told() {
    let cut = Reply::new(200, openai_event(json!({"content": "Half of"}), Some("length")));
    let (_server, home) = talked("", [cut]);
    let ran = home.lepo(&["do", "--compact"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.err.contains("note: the answer was cut off at the model's token limit"), "{}", ran.err);
}

#[test]
fn what_to_do_about_a_failure_is_to_compact_again() {
    let half = |end: Piece| {
        Reply::pieces([Piece::Bytes(openai_event(json!({"content": "Wh"}), None).into_bytes()), end])
    };
    let (server, home) = talked("", [half(Piece::Close), half(Piece::Wait)]);
    let before = bubbs(&home).len();
    let ran = home.lepo(&["do", "--compact"]);
    assert_eq!(ran.code, 3, "{}", ran.err);
    assert!(ran.err.contains("nothing was written; ask again: `lepo do --compact`"), "{}", ran.err);
    let args = ["--default-signal", env!("CARGO_BIN_EXE_lepo"), "do", "--compact"];
    let mut command = home.program("env", &args);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    server.await_asked(6);
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    let ran = finish(child);
    assert_eq!(ran.code, 130, "{}", ran.err);
    assert!(ran.err.contains("nothing was written; to retry: `lepo do --compact`"), "{}", ran.err);
    assert_eq!(bubbs(&home).len(), before);
}

#[test]
fn a_branch_that_is_named_moves() {
    let (_server, home) = talked("", [chat_said("What matters.")]);
    home.ok(&["branch", "main"]);
    let id = home.ok(&["do", "--compact", "--tail", "main", "--keep", "1"]);
    assert!(home.ok(&["branch"]).contains(id.trim()));
}

/// A server whose answers, as it counts, take so many tokens of a window of hardly more.
fn crowded(tokens: u64, window: u64) -> (Server, Home) {
    let server = Server::judging(move |_, asked: &Asked| {
        let last = contents(&asked.json()).pop().unwrap();
        let text = if last.contains("Write a summary") { "What matters." } else { "Said." };
        let stream = [
            openai_event(json!({ "content": text }), Some("stop")),
            format!(
                "data: {}\n\ndata: [DONE]\n\n",
                json!({"choices": [], "usage": {"prompt_tokens": tokens, "completion_tokens": 9}})
            ),
        ];
        Reply::new(200, stream.concat())
    });
    let home = home(&server, "planner = 'off'\ncompact = 'auto'", &format!("{CHAT}\ncontext = {window}"));
    (server, home)
}

fn summaries(home: &Home) -> usize {
    bubbs(home).iter().filter(|bubb| bubb.text.contains("[summary")).count()
}

#[test]
fn with_auto_a_question_that_does_not_fit_goes_on_from_a_summary() {
    for (tokens, window) in [(4000, 4096), (1900, 2000)] {
        let (_server, home) = crowded(tokens, window);
        for question in ["a", "b", "c"] {
            home.ok(&["do", question]);
        }
        // The last two questions are kept: there was nothing to summarise yet.
        assert_eq!(summaries(&home), 0);
        let ran = home.lepo(&["do", "d"]);
        assert_eq!((ran.code, ran.out.as_str()), (0, "Said.\n"), "{}", ran.err);
        assert!(ran.err.contains("continuing from a summary"), "{}", ran.err);
        assert_eq!(summaries(&home), 1);
    }
}

#[test]
fn with_auto_a_session_goes_on_from_a_summary_too() {
    let (server, home) = crowded(4000, 4096);
    let Some(screen) = Screen::lepo(&home, 100, &[]) else { return };
    for question in ["a", "b", "c"] {
        screen.prompts("> ").enters(question).shows("Said.");
    }
    screen.prompts("> ");
    assert_eq!(summaries(&home), 0);
    screen.enters("d").shows("continuing from a summary").prompts("> ").enters("exit").ends(0);
    assert_eq!(summaries(&home), 1);
    // The summary takes the place of the first question; the last two stay.
    let asked = contents(bodies(&server).last().unwrap());
    assert!(asked[1].starts_with("[summary"), "{asked:?}");
    assert_eq!(asked[2..7], ["b", "Said.", "c", "Said.", "d"]);
}

/// A full conversation, and a file of instructions with a key that lepo does not know.
fn crowded_with_unknown_key() -> (Server, Home) {
    let (server, home) = crowded(4000, 4096);
    for question in ["a", "b", "c"] {
        home.ok(&["do", question]);
    }
    home.write("work/.lepo/_insts.toml", "mood = 'good'\n");
    (server, home)
}

const UNKNOWN_KEY: &str = "_insts.toml:1: unknown key `mood`, ignored";

#[test]
fn with_auto_a_warning_about_instructions_is_shown_though_a_summary_read_them_first() {
    let (_server, home) = crowded_with_unknown_key();
    let ran = home.lepo(&["do", "d"]);
    assert_eq!((summaries(&home), ran.err.matches(UNKNOWN_KEY).count()), (1, 1), "{}", ran.err);

    let (_server, home) = crowded_with_unknown_key();
    if let Some(screen) = Screen::lepo(&home, 100, &[]) {
        screen
            .prompts("> ")
            .enters("d")
            .shows("Said.")
            .shows(UNKNOWN_KEY)
            .prompts("> ")
            .enters("exit")
            .ends(0);
        assert_eq!(summaries(&home), 1);
    }

    for before in [None, Some("/compact")] {
        let (_server, home) = crowded(4000, 4096);
        let mut client = Client::start(&home, &[]);
        let session = client.session(&home);
        for question in ["a", "b", "c"] {
            client.asks(&session, question);
        }
        home.write("work/.lepo/_insts.toml", "mood = 'good'\n");
        for text in before.into_iter().chain(["d", "e"]) {
            client.asks(&session, text);
        }
        assert!(summaries(&home) > 0);
        let thoughts = client.said(&session, "agent_thought_chunk");
        assert_eq!(thoughts.matches(UNKNOWN_KEY).count(), 1, "{before:?} {thoughts}");
        assert_eq!(client.leave(), 0);
    }
}
