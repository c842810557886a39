//! What a command that could write left behind, in words: for the person, and for the model.

use crate::tool::Aftermath;

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
                path.display(),
                to.display()
            ),
            Err(why) => format!(
                "warning: the command made a git repository at {} that cannot be moved aside ({why}): \
                 git would run what its settings say",
                path.display()
            ),
        })
        .collect();
    lines.extend(
        found
            .runs
            .iter()
            .take(MOST)
            .map(|(path, when)| format!("note: {} will run when {when}", path.display())),
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

/// Lines for the model: what it made and does not find where it was.
pub fn for_model(found: &Aftermath) -> String {
    let line = |(path, moved): &(std::path::PathBuf, Result<std::path::PathBuf, String>)| match moved {
        Ok(to) => format!(
            "moved aside: {} is now {}, because a git repository is only made with access full\n",
            path.display(),
            to.display()
        ),
        Err(_) => format!("not allowed: {} is a git repository, made without access full\n", path.display()),
    };
    found.moved.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

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
