//! `grep`: what was said is found, with its day, speaker and conversation.

use std::process::Command;

use crate::home::Home;

/// prompt → question → answer → question, and another conversation.
fn store(home: &Home) -> Vec<String> {
    let prompt = home.add(&["--kind", "s", "--hidden", "--prev", "head"], "secret prompt about parsers");
    let question = home.add(&[], "how do I parse a date\nin Rust?");
    let answer = home.add(&["--kind", "a"], "Use a parser.\nA Parser is a function.\nThat is all.");
    let more = home.add(&[], "코드를 보여 줘: parse()");
    let other = home.add(&["--prev", "head"], "an unrelated question");
    vec![prompt, question, answer, more, other]
}

fn today(home: &Home) -> String {
    let ran = home.shell("date +%F").output().unwrap();
    String::from_utf8(ran.stdout).unwrap().trim().to_string()
}

#[test]
fn a_match_is_a_line_with_its_place() {
    let home = Home::new();
    let ids = store(&home);
    let day = today(&home);
    let first = "\"how do I parse a date...\"";
    assert_eq!(
        home.ok(&["grep", "pars(e|er)\\b"]),
        format!(
            "{} {day} user {first} (4): 코드를 보여 줘: parse()\n\
             {} {day} assistant {first} (3): Use a parser.\n\
             {} {day} user {first} (2): how do I parse a date\n",
            ids[3], ids[2], ids[1]
        )
    );
    assert_eq!(
        home.ok(&["grep", "unrelated"]),
        format!("{} {day} user \"an unrelated question\" (1): an unrelated question\n", ids[4])
    );
    assert!(home.ok(&["grep", "-C", "1", "Parser is"]).contains("(3)- Use a parser.\n"));
    assert_eq!(home.ok(&["grep", "-U", "date\\nin"]).lines().count(), 2);
    assert_eq!(home.ok(&["grep", "-iv", "parse", &ids[2]]).lines().count(), 2);
}

#[test]
fn filters_narrow_what_is_searched() {
    let home = Home::new();
    let ids = store(&home);
    for (args, found) in [
        (vec!["pars"], vec![3, 2, 1]),
        (vec!["--hidden", "pars"], vec![3, 2, 1, 0]),
        (vec!["--kind", "a", "pars"], vec![2]),
        (vec!["--kind", "u,assistant", "pars"], vec![3, 2, 1]),
        (vec!["-i", "PARSER"], vec![2]),
        (vec!["-w", "parse"], vec![3, 1]),
        (vec!["-F", "parse()"], vec![3]),
        (vec!["코드"], vec![3]),
        (vec!["--since", "1h", "pars"], vec![3, 2, 1]),
        (vec!["--until", "1h", "pars"], vec![]),
        (vec!["pars", &ids[1]], vec![1]),
        (vec!["question|parse", &format!("{}..{}", ids[1], ids[3])], vec![3, 2]),
        (vec!["question", "@"], vec![4]),
        (vec!["-n", "1", "pars"], vec![3]),
    ] {
        let ran = home.lepo(&[&["grep", "-l", "--ids"], args.as_slice()].concat());
        let expected: String = found.iter().map(|&at: &usize| format!("{}\n", ids[at])).collect();
        assert_eq!((ran.out, ran.code), (expected, i32::from(found.is_empty())), "{args:?} {}", ran.err);
    }
}

#[test]
fn paths_ids_counts_and_objects_feed_other_commands() {
    let home = Home::new();
    let ids = store(&home);
    let ran = crate::addresses::shell(
        &home,
        "lepo grep -l unrelated | lepo ls -; lepo grep -l --ids Parser | lepo ls - | cut -d' ' -f1",
    );
    assert_eq!(ran.out, format!("{} (1): an unrelated question\n{}\n", ids[4], ids[3]), "{}", ran.err);
    assert_eq!(
        home.ok(&["grep", "-c", "pars|Pars"]),
        format!("4 {} how do I par ... ate in Rust?\n", ids[3])
    );
    let object: serde_json::Value = serde_json::from_str(&home.ok(&["grep", "--json", "is a f"])).unwrap();
    assert_eq!(object["id"], ids[2].as_str());
    assert_eq!((&object["kind"], &object["hidden"]), (&"assistant".into(), &false.into()));
    assert_eq!(object["conv"]["first"], "how do I parse a date\nin Rust?");
    assert_eq!((&object["conv"]["height"], &object["line"]), (&3.into(), &2.into()));
    assert_eq!((&object["start"], &object["end"]), (&23.into(), &29.into()));
    assert_eq!(object["text"], "A Parser is a function.");
}

#[test]
fn exit_codes_tell_what_happened() {
    let home = Home::new();
    let ids = store(&home);
    assert_eq!(home.lepo(&["grep", "absent"]).code, 1);
    let ran = home.lepo(&["grep", "("]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.starts_with("error: bad pattern \"(\""), "{}", ran.err);
    assert_eq!(home.lepo(&["grep", "--since", "yesterday", "x"]).code, 2);
    assert_eq!(home.lepo(&["grep", "--kind", "x", "x"]).code, 2);
    assert_eq!(home.lepo(&["grep", "x", "nobody"]).code, 2);
    // What is no regular file is no bubb, and holds nothing up.
    let path = home.work().join(home.ok(&["resolve", "--path", &ids[2]]).trim());
    std::fs::remove_file(&path).unwrap();
    assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
    assert_eq!(home.lepo(&["grep", "Parser is"]).code, 1);
}

#[test]
fn a_terminal_gets_no_control_characters_of_a_match() {
    let home = Home::new();
    home.add(&["--prev", "head"], "clear \u{1b}[2J the screen");
    let ran = home.terminal("lepo grep --color never clear").output().unwrap();
    let shown = String::from_utf8_lossy(&ran.stdout);
    assert!(shown.contains("clear ␛[2J the screen"), "{shown}");
    assert!(home.ok(&["grep", "clear"]).contains("clear \u{1b}[2J"));
}

#[test]
fn version_and_help_are_where_they_are_everywhere() {
    let home = Home::new();
    assert!(home.ok(&["grep", "--version"]).starts_with("lepo "));
    assert!(home.ok(&["-v", "grep", "x"]).starts_with("lepo "));
    assert!(home.ok(&["grep", "x", "-h"]).contains("lepo grep"));
}
