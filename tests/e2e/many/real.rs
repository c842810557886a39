//! A debate of real models (three and an orchestrator, SmolLM2 behind llama.cpp's server, each answer at
//! most 100 tokens), kept as lepo left it: an ordinary forest that every command reads.

use super::json;
use crate::home::Home;

/// A home with a copy of it.
fn home() -> Home {
    let home = Home::new();
    home.copy("tests/data/debate/.lepo", ".lepo");
    home
}

#[test]
fn what_real_models_said_is_a_whole_and_ordinary_conv() {
    let home = home();
    assert_eq!(home.ok(&["fsck"]), "");
    assert_eq!(home.ok(&["ls"]).lines().count(), 1);
    let shown = home.ok(&["show"]);
    let speakers =
        shown.lines().filter(|line| line.starts_with("# ")).map(|line| line.split(' ').nth(1).unwrap());
    assert_eq!(speakers.collect::<Vec<_>>(), ["user", "assistant", "assistant", "assistant", "assistant"]);
    let whole = home.ok(&["show", "-a"]);
    for name in ["ada", "bo", "다온"] {
        assert!(whole.contains(&format!("\nSELECT: {name}\n")), "{whole}");
    }
    let log = home.ok(&["log", "-a"]);
    assert_eq!(log.lines().count(), home.bubbs().len(), "one conv");
    let exported = json(&home.ok(&["export", "--format", "session"]));
    assert_eq!(exported["messages"].as_array().unwrap().len(), 5, "{exported}");
}
