//! `ls` while it reads; `tests/cases/ls.md` has the rest.

use std::io::{BufRead, BufReader, Read};
use std::process::Stdio;

use crate::home::Home;

/// A pipe holds 64 kB; these lines are four times that, so `ls` stands still with most of them before it.
#[test]
fn ls_prints_before_it_has_read_the_last() {
    let home = Home::new();
    home.ok(&["init"]);
    let name = |i: usize| format!("work/.lepo/01JB3Z{i:020}-u0-head.md");
    for i in 0..4000 {
        home.write(&name(i), format!("a question of so many words that its line is long: {i:05}"));
    }
    let mut child = home.command(&["ls"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let first = lines.next().unwrap().unwrap();
    assert!(first.starts_with("01JB3Z00000000000000003999 (1): "), "{first}");
    for i in 0..10 {
        std::fs::remove_file(home.path().join(name(i))).unwrap();
    }
    assert_eq!(lines.count(), 3999, "one that cannot be read still has its line");
    let mut text = String::new();
    child.stderr.take().unwrap().read_to_string(&mut text).unwrap();
    assert_eq!(text.lines().filter(|line| line.starts_with("warning: cannot read")).count(), 10, "{text}");
    assert_eq!(child.wait().unwrap().code(), Some(0));
}
