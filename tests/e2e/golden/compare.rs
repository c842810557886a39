//! A recording beside the committed one; a difference is shown as few lines as tell it.

use std::path::PathBuf;

/// Lines of a difference that are shown.
const SHOWN: usize = 60;

/// Lines that are compared each with each, beyond what the beginnings and the ends have in common.
const MOST: usize = 3000;

/// The folder of the recordings.
pub fn folder() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden"))
}

/// Compares a scene with its recording, or with `LEPO_WRITE_GOLDEN` writes it.
pub fn compare(scene: &str, found: &str) {
    let file = folder().join(format!("{scene}.txt"));
    if std::env::var_os("LEPO_WRITE_GOLDEN").is_some() {
        std::fs::write(&file, found).unwrap();
        return;
    }
    let recorded = std::fs::read_to_string(&file).unwrap_or_default();
    let difference = difference(&recorded, found);
    assert!(
        recorded == found,
        "{scene} is not as recorded ({}); LEPO_WRITE_GOLDEN=1 cargo test --test e2e golden records it anew:\n{difference}",
        file.display()
    );
}

/// The lines that differ, each group with the section and the step before it.
fn difference(old: &str, new: &str) -> String {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let start = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let (rest_old, rest_new) = (&old[start..], &new[start..]);
    let end = rest_old.iter().rev().zip(rest_new.iter().rev()).take_while(|(a, b)| a == b).count();
    let a = &rest_old[..(rest_old.len() - end).min(MOST)];
    let b = &rest_new[..(rest_new.len() - end).min(MOST)];
    // The length of what is common from each pair of places on.
    let mut common = vec![vec![0u16; b.len() + 1]; a.len() + 1];
    for i in (0..a.len()).rev() {
        for j in (0..b.len()).rev() {
            common[i][j] = match a[i] == b[j] {
                true => common[i + 1][j + 1] + 1,
                false => common[i + 1][j].max(common[i][j + 1]),
            };
        }
    }
    let mut lines = Vec::new();
    let (mut i, mut j, mut is_open) = (0, 0, false);
    while i < a.len() || j < b.len() {
        if i < a.len() && j < b.len() && a[i] == b[j] {
            (i, j, is_open) = (i + 1, j + 1, false);
            continue;
        }
        if !is_open {
            lines.extend(headings(&new[..start + j]));
            is_open = true;
        }
        if j == b.len() || i < a.len() && common[i + 1][j] >= common[i][j + 1] {
            lines.push(format!("- {}", a[i]));
            i += 1;
        } else {
            lines.push(format!("+ {}", b[j]));
            j += 1;
        }
    }
    let more = lines.len().saturating_sub(SHOWN);
    lines.truncate(SHOWN);
    if more > 0 {
        lines.push(format!("(and {more} lines more)"));
    }
    lines.join("\n")
}

/// The last section, step and block that begin in these lines.
fn headings(before: &[&str]) -> Vec<String> {
    let is_section = |line: &&&str| line.starts_with("########");
    let is_step = |line: &&&str| line.starts_with("$ ");
    let is_block = |line: &&&str| !line.starts_with(' ') && !line.is_empty();
    let last = |is: &dyn Fn(&&&str) -> bool| {
        before.iter().rev().find(|line| is(line)).map(|line| format!("@ {line}"))
    };
    let mut found: Vec<String> =
        [last(&is_section), last(&is_step), last(&is_block)].into_iter().flatten().collect();
    found.dedup();
    found
}

#[test]
fn a_difference_is_the_lines_that_differ_with_what_they_belong_to() {
    let old = "######## do, chat\n$ lepo do q\nstdout:\n  |a\n  |b\n-> POST:\n  |x\n";
    let new = "######## do, chat\n$ lepo do q\nstdout:\n  |a\n  |c\n-> POST:\n  |x\n  |y\n";
    let expected = "@ ######## do, chat\n@ $ lepo do q\n@ stdout:\n-   |b\n+   |c\n\
                    @ ######## do, chat\n@ $ lepo do q\n@ -> POST:\n+   |y";
    assert_eq!(difference(old, new), expected);
    assert_eq!(difference(new, new), "");
    let many = "x\n".repeat(SHOWN + 5);
    assert!(difference("", &many).ends_with("+ x\n(and 5 lines more)"));
}
