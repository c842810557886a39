//! Changes that a command with write access caused: values for the user, and lines for the model.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use lepo_tool::{AutorunTrigger, CleanupReport};

/// Maximum number of values of each kind.
const MOST: usize = 20;

/// Maximum number of files to name in a value.
const NAMED: usize = 3;

/// A change that a command or an agent caused. Paths are escaped for a single line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CleanupItem {
    /// The first (a command or an agent) created a git repository at the second, which was moved aside to the
    /// third.
    RepositoryMoved(String, String, String),
    /// The first (a command or an agent) created a git repository at the second, which cannot be moved aside
    /// for this reason.
    Repository(String, String, String),
    /// This file ran with its owner's rights, which were removed.
    OwnersRightsRemoved(String),
    /// This file runs with its owner's rights, which cannot be removed, for this reason.
    OwnersRights(String, String),
    /// This many further files that run, or ran, with their owner's rights.
    MoreOwnersRights(usize),
    /// Files that will run on some occasion.
    WillRun(AutorunFiles),
    /// This many further files that tools run automatically.
    MoreWillRun(usize),
    /// This many new directories could not be searched.
    Unread(usize),
}

/// Files that will run on some occasion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AutorunFiles {
    /// Number of files.
    pub files: usize,
    /// Paths of the first files.
    pub named: Vec<String>,
    /// The occasion, to be printed after `when`.
    pub when: &'static str,
}

/// Returns values for the user about a command or an agent.
pub fn items(maker: &str, report: &CleanupReport) -> Vec<CleanupItem> {
    let maker = || maker.to_string();
    let mut items: Vec<CleanupItem> = report
        .moved
        .iter()
        .map(|(path, moved)| match moved {
            Ok(to) => CleanupItem::RepositoryMoved(maker(), display_path(path), display_path(to)),
            Err(why) => CleanupItem::Repository(maker(), display_path(path), why.clone()),
        })
        .collect();
    items.extend(report.set_ids.iter().take(MOST).map(|(path, cleared)| match cleared {
        Ok(()) => CleanupItem::OwnersRightsRemoved(display_path(path)),
        Err(why) => CleanupItem::OwnersRights(display_path(path), why.clone()),
    }));
    let more = report.set_ids.len().saturating_sub(MOST);
    if more > 0 {
        items.push(CleanupItem::MoreOwnersRights(more));
    }
    items.extend(by_occasion(&report.runs));
    if report.unread > 0 {
        items.push(CleanupItem::Unread(report.unread));
    }
    items
}

/// Groups the files by occasion: returns all occasions that need no command first, and the first of the
/// others.
fn by_occasion(runs: &[(PathBuf, AutorunTrigger)]) -> Vec<CleanupItem> {
    let mut grouped: BTreeMap<AutorunTrigger, Vec<&Path>> = BTreeMap::new();
    for (path, occasion) in runs {
        grouped.entry(*occasion).or_default().push(path);
    }
    let mut items = Vec::new();
    let (mut others, mut more) = (0, 0);
    for (AutorunTrigger { needs_command, when }, paths) in grouped {
        others += usize::from(needs_command);
        if others > MOST {
            more += paths.len();
            continue;
        }
        let named = paths.iter().take(NAMED).map(|path| display_path(path)).collect();
        items.push(CleanupItem::WillRun(AutorunFiles { files: paths.len(), named, when }));
    }
    if more > 0 {
        items.push(CleanupItem::MoreWillRun(more));
    }
    items
}

/// Formats a path for a single line. A path with control characters, or marks that change the direction of
/// text, is quoted and escaped.
fn display_path(path: &Path) -> String {
    let text = path.to_string_lossy();
    let is_plain = |c: char| matches!(c, '"' | '\'' | '\\') || c.escape_debug().count() == 1;
    if text.chars().all(is_plain) { text.into_owned() } else { format!("{text:?}") }
}

/// Returns lines for the model about repositories moved away from their path.
pub fn for_model(report: &CleanupReport) -> String {
    let line = |(path, moved): &(PathBuf, Result<PathBuf, String>)| match moved {
        Ok(to) => format!(
            "moved aside: {} is now {}, because a git repository is only made with access full\n",
            display_path(path),
            display_path(to)
        ),
        Err(_) => {
            format!("not allowed: {} is a git repository, made without access full\n", display_path(path))
        }
    };
    report.moved.iter().map(line).collect()
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
            assert_eq!(display_path(Path::new(path)), expected);
        }
    }

    #[test]
    fn the_person_is_told_all_and_the_model_what_was_moved() {
        let report = CleanupReport {
            moved: vec![("src/.git".into(), Ok("src/git.aside".into())), ("x/HEAD".into(), Err("no".into()))],
            set_ids: vec![("x".into(), Ok(())), ("y".into(), Err("no".into()))],
            runs: (0..22)
                .map(|i| {
                    (
                        format!("{i}/Makefile").into(),
                        AutorunTrigger { needs_command: true, when: "you run make" },
                    )
                })
                .chain([(".envrc".into(), AutorunTrigger { needs_command: false, when: "you enter" })])
                .collect(),
            unread: 1,
        };
        let runs = |files, named: &[&str], when| {
            let named = named.iter().map(ToString::to_string).collect();
            CleanupItem::WillRun(AutorunFiles { files, named, when })
        };
        let (command, no) = (|| "the command".to_string(), || "no".to_string());
        assert_eq!(
            items(&command(), &report),
            [
                CleanupItem::RepositoryMoved(command(), "src/.git".into(), "src/git.aside".into()),
                CleanupItem::Repository(command(), "x/HEAD".into(), no()),
                CleanupItem::OwnersRightsRemoved("x".into()),
                CleanupItem::OwnersRights("y".into(), no()),
                runs(1, &[".envrc"], "you enter"),
                runs(22, &["0/Makefile", "1/Makefile", "2/Makefile"], "you run make"),
                CleanupItem::Unread(1),
            ]
        );
        let occasions = ["a", "b", "c"].iter().cycle().take(3 * MOST);
        let leaked = |i: usize| -> &'static str { Box::leak(format!("you run {i:02}").into_boxed_str()) };
        let many: Vec<(PathBuf, AutorunTrigger)> = occasions
            .enumerate()
            .map(|(i, name)| (name.into(), AutorunTrigger { needs_command: i >= MOST + 5, when: leaked(i) }))
            .collect();
        let items = by_occasion(&many);
        assert_eq!(items.len(), MOST + 5 + MOST + 1, "{items:#?}");
        assert_eq!(items.last().unwrap(), &CleanupItem::MoreWillRun(15));
        assert_eq!(for_model(&report).lines().count(), 2);
        assert_eq!(for_model(&CleanupReport::default()), "");
    }
}
