//! Paths of files in a question, compared relative to the repository's root, so that a test finds its
//! recorded question from any folder and on another machine.

use std::borrow::Cow;
use std::path::{Component, Path, PathBuf};

/// Returns the path, if a line names the file in the fence below it.
fn header<'l>(line: &'l str, next: Option<&str>) -> Option<&'l str> {
    let path = line.strip_suffix(':').filter(|path| !path.is_empty());
    path.filter(|_| next.is_some_and(|next| next.starts_with("```")))
}

/// Whether a text names files.
pub fn names_files(text: &str) -> bool {
    let mut lines = text.split('\n').peekable();
    std::iter::from_fn(|| lines.next().map(|line| header(line, lines.peek().copied()).is_some())).any(|is| is)
}

/// Makes the paths of a question's files relative to `root`; paths outside of it are unchanged.
pub fn relative<'t>(text: &'t str, cwd: &Path, root: &Path) -> Cow<'t, str> {
    if !names_files(text) {
        return Cow::Borrowed(text);
    }
    let mut lines = text.split('\n').peekable();
    let mut rewritten: Vec<Cow<'_, str>> = Vec::new();
    while let Some(line) = lines.next() {
        let within = header(line, lines.peek().copied()).and_then(|path| {
            let whole = clean(&cwd.join(path));
            Some(format!("{}:", whole.strip_prefix(root).ok()?.to_str()?))
        });
        rewritten.push(within.map_or(Cow::Borrowed(line), Cow::Owned));
    }
    Cow::Owned(rewritten.join("\n"))
}

/// Returns a path without `.` and `..`.
fn clean(path: &Path) -> PathBuf {
    let mut cleaned = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                cleaned.pop();
            }
            part => cleaned.push(part),
        }
    }
    cleaned
}

/// Whether a recorded question is equal to this one. If a path was recorded in another folder or clone,
/// either path may be a suffix of the other.
pub fn is_same(recorded: &str, requested: &str) -> bool {
    if recorded == requested {
        return true;
    }
    let (mut one, mut other) = (recorded.split('\n').peekable(), requested.split('\n').peekable());
    loop {
        match (one.next(), other.next()) {
            (None, None) => return true,
            (Some(a), Some(b)) if a == b => {}
            (Some(a), Some(b)) => {
                let files = header(a, one.peek().copied()).zip(header(b, other.peek().copied()));
                let end = |path: &str| clean(Path::new(path));
                let is_end = files.is_some_and(|(a, b)| {
                    let (a, b) = (end(a), end(b));
                    a.ends_with(&b) || b.ends_with(&a)
                });
                if !is_end {
                    return false;
                }
            }
            _ => return false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_count_from_the_root() {
        let fence = |path: &str| format!("what?\n\n{path}:\n```\na:\nb\n```");
        for (path, cwd, expected) in [
            ("src/a.rs", "/r", "src/a.rs"),
            ("a.rs", "/r/src", "src/a.rs"),
            ("../src/./a.rs", "/r/tests", "src/a.rs"),
            ("/r/src/a.rs", "/r", "src/a.rs"),
            ("/etc/hosts", "/r", "/etc/hosts"),
            ("../../x", "/r/src", "../../x"),
        ] {
            let text = fence(path);
            assert_eq!(relative(&text, Path::new(cwd), Path::new("/r")), fence(expected), "{path}");
        }
        assert_eq!(relative("a.rs:\nno fence", Path::new("/r/src"), Path::new("/r")), "a.rs:\nno fence");
    }

    #[test]
    fn a_recorded_path_may_be_of_another_folder_or_clone() {
        let fence = |path: &str, text: &str| format!("what?\n\n{path}:\n```\n{text}\n```");
        for (recorded, asked, same) in [
            ("src/a.rs", "src/a.rs", true),
            ("a.rs", "src/a.rs", true),
            ("../src/a.rs", "src/a.rs", true),
            ("/home/min/r/src/a.rs", "src/a.rs", true),
            ("b.rs", "src/a.rs", false),
            ("xa.rs", "src/a.rs", false),
            ("lib/a.rs", "src/a.rs", false),
        ] {
            assert_eq!(is_same(&fence(recorded, "x"), &fence(asked, "x")), same, "{recorded}");
        }
        assert!(!is_same(&fence("src/a.rs", "x"), &fence("src/a.rs", "y")));
        assert!(!is_same("a", "a\nb") && !is_same("a:", "b:"));
    }
}
