//! Instruction texts: the defaults, what a file changes, and how they are filled in.

use std::path::Path;

use crate::config::{Insts, fill, is_general_as_made};
use lepo_base::error::Result;

fn parse(text: &str) -> Result<(Insts, Vec<String>)> {
    Insts::parse(Path::new(".lepo/_insts.toml"), text.as_bytes())
}

#[test]
fn the_default_file_has_every_default_and_nothing_else() {
    let file = Insts::default_file_text();
    let (insts, ignored) = parse(file).unwrap();
    assert_eq!((&insts, ignored.len()), (&Insts::default(), 0));
    // The default file is recognised; an edited one is parsed.
    assert_eq!(parse(&format!("{file}\n# mine")).unwrap(), (Insts::default(), Vec::new()));
    let texts = [
        (insts.general, "results of commands"),
        (insts.tool_chooser, r#"{"tool":"none"}"#),
        (insts.command_writer, "`git commit`"),
        (insts.orchestrator, "SELECT: "),
        (insts.floor, "REQUEST"),
        (insts.speech, "{conversation_history}"),
        (insts.judge, "{answers}"),
    ];
    for (text, part) in texts {
        let text = text.unwrap();
        assert!(text.contains(part), "{part}");
        assert!(!text.starts_with('\n') && !text.ends_with('\n'));
    }
}

#[test]
fn missing_means_default_and_empty_means_none() {
    let (insts, ignored) = parse("general = 'Be kind.'\nfloor = ''\nspeech = '''\n'''\nmood = 1").unwrap();
    assert_eq!(insts.general.as_deref(), Some("Be kind."));
    assert_eq!((insts.floor, insts.speech), (None, None));
    assert_eq!(insts.tool_chooser, Insts::default().tool_chooser);
    assert_eq!(ignored, [".lepo/_insts.toml:5: unknown key `mood`, ignored"]);
}

#[test]
fn the_default_of_earlier_stores_is_as_made() {
    let general = Insts::default().general.unwrap();
    let earlier = general.replacen("user.", "user, in the language it is written in.", 1);
    assert_ne!(general, earlier);
    assert_eq!(parse(&format!("general = '''\n{earlier}\n'''")).unwrap().0, Insts::default());
    for (text, as_made) in [(general.as_str(), true), (&earlier, true), ("Be kind.", false), ("", false)] {
        assert_eq!(is_general_as_made(text), as_made, "{text}");
    }
}

#[test]
fn mistakes_have_a_line() {
    for (text, line) in [("\ngeneral = 3", 2), ("general = 'a\n", 1), ("a = 1\n=", 2)] {
        let error = parse(text).unwrap_err();
        assert_eq!(error.kind.exit_code(), 2);
        assert!(error.message.starts_with(&format!(".lepo/_insts.toml:{line}: ")), "{}", error.message);
    }
}

#[test]
fn filling_is_one_pass() {
    let values = [("topic", "a {topic} and {history}"), ("history", "h")];
    let table = [
        ("{topic}|{history}", "a {topic} and {history}|h"),
        ("{ topic } {other} {{topic}} {", "{ topic } {other} {a {topic} and {history}} {"),
        ("말 {history}", "말 h"),
        ("", ""),
    ];
    for (text, filled) in table {
        assert_eq!(fill(text, &values), filled);
    }
}
