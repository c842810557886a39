//! Words about what a writing command left behind: for the person, and for the model.

use std::path::{Path, PathBuf};

use lepo_tool::Aftermath;

/// The most files that are listed.
const MOST: usize = 20;

/// Lines for the person.
pub fn for_person(found: &Aftermath) -> Vec<String> {
    let mut lines: Vec<String> = found
        .moved
        .iter()
        .map(|(path, moved)| match moved {
            Ok(to) => format!(
                "warning: the command made a git repository at {}, moved aside to {}: git would run what its settings say",
                shown(path),
                shown(to)
            ),
            Err(why) => format!(
                "warning: the command made a git repository at {} that cannot be moved aside ({why}): \
                 git would run what its settings say",
                shown(path)
            ),
        })
        .collect();
    lines.extend(
        found
            .runs
            .iter()
            .take(MOST)
            .map(|(path, when)| format!("note: {} will run when {when}", shown(path))),
    );
    let more = found.runs.len().saturating_sub(MOST);
    if more > 0 {
        lines.push(format!("note: and {more} other files that tools run by themselves"));
    }
    if found.unread > 0 {
        lines.push(format!("warning: {} new directories could not be looked into", found.unread));
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
            runs: (0..22).map(|i| (format!("{i}/Makefile").into(), "you run make")).collect(),
            unread: 1,
        };
        let lines = for_person(&found);
        assert_eq!(lines.len(), 2 + MOST + 2, "{lines:#?}");
        assert_eq!(lines[2], "note: 0/Makefile will run when you run make");
        assert_eq!(for_model(&found).lines().count(), 2);
        assert_eq!(for_model(&Aftermath::default()), "");
    }
}
