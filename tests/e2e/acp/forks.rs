//! Conversations that fork, with an agent: `session/fork` where the agent's session ends at that message and can be
//! forked, else the conversation as text.

use super::agents::{home, methods, sent};
use crate::disk::{bubbs, forest, journal};

const AS_TEXT: &str = "gets the conversation so far as text";

#[test]
fn a_fork_at_the_end_of_a_session_is_one_of_the_session() {
    let home = home("forks");
    assert_eq!(home.ok(&["do", "one"]), "Heard: one\n");
    let first = bubbs(&home)[2].id.clone();
    // Words of another than the agent follow the answer.
    home.add(&["--prev", &first], "a note of mine");
    let ran = home.lepo(&["do", "--tail", &first, "elsewhere"]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "Heard: elsewhere\n"), "{}", ran.err);
    assert!(!ran.err.contains(AS_TEXT), "{}", ran.err);
    // The session itself stays where it was: it forks once more.
    let ran = home.lepo(&["do", "--tail", &first, "again"]);
    assert_eq!(ran.out, "Heard: again\n", "{}", ran.err);
    let start = ["initialize", "session/new", "session/prompt"];
    let fork = ["initialize", "session/fork", "session/prompt"];
    assert_eq!(methods(&home), [start, fork, fork].concat());
    let forks = sent(&home).into_iter().filter(|message| message["method"] == "session/fork");
    assert!(forks.into_iter().all(|fork| fork["params"]["sessionId"] == "agent-session-0"));
    let sessions: Vec<String> =
        journal(&home).iter().filter_map(|line| line["agent_session"].as_str().map(str::to_string)).collect();
    assert_eq!(sessions, ["agent-session-0", "agent-session-1", "agent-session-2"]);
    // A fork goes on as a session of its own.
    let last = bubbs(&home).last().unwrap().id.clone();
    assert_eq!(home.ok(&["do", "--tail", &last, "and on"]), "Heard: and on\n");
    assert_eq!(methods(&home)[9..], ["initialize", "session/load", "session/prompt"]);
}

#[test]
fn a_fork_elsewhere_or_of_an_agent_without_forks_is_told_as_text() {
    for mode in ["forks", "plain"] {
        let home = home(mode);
        home.ok(&["do", "one"]);
        let first = bubbs(&home)[2].id.clone();
        match mode {
            // The session went on.
            "forks" => drop(home.ok(&["do", "two"])),
            _ => drop(home.add(&["--prev", &first], "a note of mine")),
        }
        let ran = home.lepo(&["do", "--tail", &first, "elsewhere"]);
        assert!(
            ran.out.ends_with("[user]\nelsewhere\n") && ran.err.contains(AS_TEXT),
            "{}{}",
            ran.out,
            ran.err
        );
        assert!(!methods(&home).contains(&"session/fork".to_string()), "{}", forest(&home));
    }
}
