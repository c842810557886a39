//! Words about what a writing command left behind: for the person, and for the model.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use lepo_tool::{Aftermath, Occasion};

/// The most lines of a kind.
const MOST: usize = 20;

/// The most files that a line names.
const NAMED: usize = 3;

/// Lines for the person, about a command or an agent.
pub fn for_person(maker: &str, found: &Aftermath) -> Vec<String> {
    let mut lines: Vec<String> = found
        .moved
        .iter()
        .map(|(path, moved)| match moved {
            Ok(to) => format!(
                "warning: {maker} made a git repository at {}, moved aside to {}: git would run what its settings say",
                shown(path),
                shown(to)
            ),
            Err(why) => format!(
                "warning: {maker} made a git repository at {} that cannot be moved aside ({why}): \
                 git would run what its settings say",
                shown(path)
            ),
        })
        .collect();
    lines.extend(found.set_ids.iter().take(MOST).map(|(path, cleared)| match cleared {
        Ok(()) => format!("warning: {} ran with its owner's rights (set-user-id or set-group-id): removed", shown(path)),
        Err(why) => format!(
            "warning: {} runs with its owner's rights (set-user-id or set-group-id), which cannot be removed ({why})",
            shown(path)
        ),
    }));
    let more = found.set_ids.len().saturating_sub(MOST);
    if more > 0 {
        lines.push(format!("warning: and {more} other files that ran, or run, with their owner's rights"));
    }
    lines.extend(by_occasion(&found.runs));
    if found.unread > 0 {
        lines.push(format!("warning: {} new directories could not be looked into", found.unread));
    }
    lines
}

/// A line for each occasion: those that need no command first, all of them, and of the others the first.
fn by_occasion(runs: &[(PathBuf, Occasion)]) -> Vec<String> {
    let mut grouped: BTreeMap<Occasion, Vec<&Path>> = BTreeMap::new();
    for (path, occasion) in runs {
        grouped.entry(*occasion).or_default().push(path);
    }
    let mut lines = Vec::new();
    let (mut others, mut more) = (0, 0);
    for (Occasion { needs_command, when }, paths) in grouped {
        others += usize::from(needs_command);
        if others > MOST {
            more += paths.len();
            continue;
        }
        let names: Vec<String> = paths.iter().take(NAMED).map(|path| shown(path)).collect();
        lines.push(match (paths.len(), paths.len().saturating_sub(NAMED)) {
            (1, _) => format!("note: {} will run when {when}", names.concat()),
            (all, 0) => format!("note: {all} files will run when {when}: {}", names.join(", ")),
            (all, rest) => {
                format!("note: {all} files will run when {when}: {} and {rest} more", names.join(", "))
            }
        });
    }
    if more > 0 {
        lines.push(format!("note: and {more} other files that tools run by themselves"));
    }
    lines
}

/// A path in one row: one with control characters, or marks that change the direction of text, stands in
/// quotes, with escapes.
fn shown(path: &Path) -> String {
    let text = path.to_string_lossy();
    let is_plain = |c: char| matches!(c, '"' | '\'' | '\\') || c.escape_debug().count() == 1;
    if text.chars().all(is_plain) { text.into_owned() } else { format!("{text:?}") }
}

/// Lines for the model: what it made and does not find where it was.
pub fn for_model(found: &Aftermath) -> String {
    let line = |(path, moved): &(PathBuf, Result<PathBuf, String>)| match moved {
        Ok(to) => format!(
            "moved aside: {} is now {}, because a git repository is only made with access full\n",
            shown(path),
            shown(to)
        ),
        Err(_) => format!("not allowed: {} is a git repository, made without access full\n", shown(path)),
    };
    found.moved.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_cannot_look_like_words_of_lepo() {
        for (path, expected) in [
            ("한글 it's/Makefile", "한글 it's/Makefile"),
            ("x\n\x1b[2JRun it?/Makefile", r#""x\n\u{1b}[2JRun it?/Makefile""#),
            ("a\u{202e}b", r#""a\u{202e}b""#),
        ] {
            assert_eq!(shown(Path::new(path)), expected);
        }
    }

    #[test]
    fn the_person_is_told_all_and_the_model_what_was_moved() {
        let found = Aftermath {
            moved: vec![("src/.git".into(), Ok("src/git.aside".into())), ("x/HEAD".into(), Err("no".into()))],
            set_ids: vec![("x".into(), Ok(())), ("y".into(), Err("no".into()))],
            runs: (0..22)
                .map(|i| {
                    (format!("{i}/Makefile").into(), Occasion { needs_command: true, when: "you run make" })
                })
                .chain([(".envrc".into(), Occasion { needs_command: false, when: "you enter" })])
                .collect(),
            unread: 1,
        };
        let lines = for_person("the command", &found);
        assert_eq!(lines.len(), 2 + 2 + 2 + 1, "{lines:#?}");
        assert!(lines[2].starts_with("warning: x ran with its owner's rights"), "{lines:#?}");
        assert!(lines[3].starts_with("warning: y runs with") && lines[3].ends_with("(no)"), "{lines:#?}");
        assert_eq!(lines[4], "note: .envrc will run when you enter");
        let make =
            "note: 22 files will run when you run make: 0/Makefile, 1/Makefile, 2/Makefile and 19 more";
        assert_eq!(lines[5], make);
        let occasions = ["a", "b", "c"].iter().cycle().take(3 * MOST);
        let leaked = |i: usize| -> &'static str { Box::leak(format!("you run {i:02}").into_boxed_str()) };
        let many: Vec<(PathBuf, Occasion)> = occasions
            .enumerate()
            .map(|(i, name)| (name.into(), Occasion { needs_command: i >= MOST + 5, when: leaked(i) }))
            .collect();
        let lines = by_occasion(&many);
        assert_eq!(lines.len(), MOST + 5 + MOST + 1, "{lines:#?}");
        assert_eq!(lines.last().unwrap(), "note: and 15 other files that tools run by themselves");
        assert_eq!(for_model(&found).lines().count(), 2);
        assert_eq!(for_model(&Aftermath::default()), "");
    }
}
