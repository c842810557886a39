//! Typed or pasted paths at the prompt, to attach a file, and their completion.

use std::path::{Path, PathBuf};

use lepo_base::media::Media;
use lepo_turn::attach::{composed, same_name};

/// The most names in a menu.
const OFFERED: usize = 50;

/// Returns the file that a typed or pasted path means: without quotes and `file://`, with `~/` as the home
/// directory, and with `\\ ` as a space if no file has the backslash.
pub fn file_of(typed: &str, home: Option<&Path>) -> PathBuf {
    let typed = typed.trim();
    let typed = typed.strip_prefix("file://").unwrap_or(typed);
    let quoted = |mark: char| typed.strip_prefix(mark).and_then(|rest| rest.strip_suffix(mark));
    // A completed folder is in an open quote.
    let open = || typed.strip_prefix('"').filter(|path| path.ends_with('/'));
    let bare = quoted('\'').or(quoted('"')).or_else(open).unwrap_or(typed);
    let path = |text: &str| match (text.strip_prefix("~/"), home) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => PathBuf::from(text),
    };
    let path = match bare.contains('\\') && !path(bare).exists() {
        true => path(&bare.replace('\\', "")),
        false => path(bare),
    };
    same_name(&path)
}

/// Returns the file if an entry is only the path of an image or a PDF: a terminal pastes it when the user drops a
/// file.
pub fn pasted_file(entry: &str, home: Option<&Path>) -> Option<PathBuf> {
    let entry = entry.trim();
    let ends = entry.trim_end_matches(['\'', '"']).rsplit_once('.')?.1.to_ascii_lowercase();
    let known = ends == "jpeg" || Media::ALL.iter().any(|media| media.extension() == ends);
    if !known || entry.contains('\n') || !entry.contains('/') {
        return None;
    }
    Some(file_of(entry, home)).filter(|path| path.is_file())
}

/// Returns the completions of a partial path: folders, and all files without white space in the path.
pub fn completions(prefix: &str, home: Option<&Path>) -> Vec<String> {
    let found = below(prefix, home).into_iter();
    shorten_list(found.filter(|path| !path.contains(char::is_whitespace)).collect())
}

/// Like [`completions`], for a file to send, as typed on a keyboard. If a name has white space, all are in quotes, so
/// that they begin alike; after a folder, the quote stays open.
pub fn attachment_completions(prefix: &str, home: Option<&Path>) -> Vec<String> {
    let unquoted = prefix.strip_prefix('"');
    let found = below(unquoted.unwrap_or(prefix), home).into_iter().map(|path| composed(&path));
    let found = shorten_list(found.filter(|path| !path.contains('"')).collect());
    if unquoted.is_none() && !found.iter().any(|path| path.contains(char::is_whitespace)) {
        return found;
    }
    let end = |path: &str| if path.ends_with('/') { "" } else { "\"" };
    found.into_iter().map(|path| format!("\"{path}{}", end(&path))).collect()
}

/// Returns the offset of the last word of a line: from `mark` and a quote that is open, else from the last white space.
pub fn last_word(line: &str, mark: &str) -> usize {
    let mark = format!("{mark}\"");
    let is_start = |at: usize| line.get(..at).is_some_and(|before| before.ends_with(char::is_whitespace));
    let is_open = |at: usize| line.get(at + mark.len()..).is_some_and(|after| !after.contains('"'));
    let open = line.rfind(&mark).filter(|&at| (at == 0 || is_start(at)) && is_open(at));
    let blank = line.char_indices().rfind(|(_, letter)| letter.is_whitespace());
    open.unwrap_or_else(|| blank.map_or(0, |(at, letter)| at + letter.len_utf8()))
}

/// Returns the first names of a long list, and its last: the editor completes the common prefix, which these two
/// determine.
fn shorten_list(mut sorted: Vec<String>) -> Vec<String> {
    if sorted.len() > OFFERED {
        let last = sorted.pop();
        sorted.truncate(OFFERED - 1);
        sorted.extend(last);
    }
    sorted
}

fn below(prefix: &str, home: Option<&Path>) -> Vec<String> {
    let (folder, start) = prefix.rfind('/').map_or(("", prefix), |at| prefix.split_at(at + 1));
    let folder_path = match folder {
        "" => PathBuf::from("."),
        folder => file_of(folder, home),
    };
    let start = composed(start);
    let mut found: Vec<String> = std::fs::read_dir(folder_path)
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            let shown =
                composed(&name).starts_with(&start) && (!name.starts_with('.') || start.starts_with('.'));
            let end = if entry.path().is_dir() { "/" } else { "" };
            (shown && !name.contains(char::is_control)).then(|| format!("{folder}{name}{end}"))
        })
        .collect();
    found.sort();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_typed_path_is_a_file() {
        let home = Some(Path::new("/home/me"));
        for (typed, path) in [
            ("a.png", "a.png"),
            (" 'my file.png' ", "my file.png"),
            ("\"my file.png\"", "my file.png"),
            ("\"my files/", "my files/"),
            ("\"my file", "\"my file"),
            ("my\\ file.png", "my file.png"),
            ("~/a.png", "/home/me/a.png"),
            ("file:///tmp/a.png", "/tmp/a.png"),
        ] {
            assert_eq!(file_of(typed, home), Path::new(path), "{typed}");
        }
    }

    #[test]
    fn only_the_path_of_a_file_is_a_pasted_file() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a b.png");
        std::fs::write(&file, "x").unwrap();
        let shown = file.display().to_string();
        for (entry, is) in [
            (shown.clone(), true),
            (format!("'{shown}'"), true),
            (shown.replace(' ', "\\ "), true),
            (format!("what is {shown}"), false),
            (folder.path().join("none.png").display().to_string(), false),
            ("a.png".into(), false),
        ] {
            assert_eq!(pasted_file(&entry, None).is_some(), is, "{entry}");
        }
        let prefix = format!("{}/a", folder.path().display());
        assert!(completions(&prefix, None).is_empty(), "a name with a space is not offered");
        assert_eq!(
            attachment_completions(&prefix, None),
            [format!("\"{}/a b.png\"", folder.path().display())]
        );
        std::fs::write(folder.path().join("abc"), "x").unwrap();
        assert_eq!(completions(&prefix, None), [format!("{prefix}bc")]);
    }

    #[test]
    fn names_with_blanks_are_quoted_with_those_that_begin_alike_and_a_folder_stays_open() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| format!("{}/{name}", folder.path().display());
        for name in ["my notes.txt", "myself.txt", "other.txt", "our docs/a b.txt", "our docs/c.txt"] {
            std::fs::create_dir_all(Path::new(&path(name)).parent().unwrap()).unwrap();
            std::fs::write(path(name), "x").unwrap();
        }
        for (typed, offered) in [
            ("my", vec!["\"my notes.txt\"", "\"myself.txt\""]),
            ("mys", vec!["myself.txt"]),
            ("ot", vec!["other.txt"]),
            ("ou", vec!["\"our docs/"]),
            ("\"ou", vec!["\"our docs/"]),
            ("\"our docs/", vec!["\"our docs/a b.txt\"", "\"our docs/c.txt\""]),
            ("\"our docs/c", vec!["\"our docs/c.txt\""]),
        ] {
            let within = |name: &str| match name.strip_prefix('"') {
                Some(name) => format!("\"{}", path(name)),
                None => path(name),
            };
            let offered: Vec<String> = offered.into_iter().map(within).collect();
            assert_eq!(attachment_completions(&within(typed), None), offered, "{typed}");
        }
    }

    #[test]
    fn a_word_with_blanks_begins_at_its_open_quote() {
        for (line, mark, word) in [
            ("see @my", "@", "@my"),
            ("see @\"my no", "@", "@\"my no"),
            ("@\"my no", "@", "@\"my no"),
            ("see @\"my notes.txt\" an", "@", "an"),
            ("see @\"my notes.txt\" @\"o d", "@", "@\"o d"),
            ("me@\"my no", "@", "no"),
            ("요약 @\"내 글", "@", "@\"내 글"),
            ("/file \"my no", "", "\"my no"),
            ("/file my", "", "my"),
            ("", "@", ""),
        ] {
            assert_eq!(line.split_at(last_word(line, mark)).1, word, "{line}");
        }
    }

    #[test]
    fn of_many_names_the_last_is_offered_too() {
        let many = |count: usize| (0..count).map(|i| format!("f{i:05}")).collect::<Vec<_>>();
        assert_eq!(shorten_list(many(50)), many(50));
        let shown = shorten_list(many(10_000));
        assert_eq!((shown.len(), shown[0].as_str(), shown[49].as_str()), (50, "f00000", "f09999"));
    }

    #[test]
    fn a_name_that_the_disk_keeps_decomposed_is_found_as_it_is_typed() {
        let folder = tempfile::tempdir().unwrap();
        let (typed, kept) = ("\u{d68c}\u{c758}", "\u{1112}\u{116c}\u{110b}\u{1174}");
        let file = folder.path().join(kept);
        std::fs::write(&file, "x").unwrap();
        let prefix = format!("{}/\u{d68c}", folder.path().display());
        let whole = format!("{}/{typed}", folder.path().display());
        assert_eq!(attachment_completions(&prefix, None), [whole.as_str()]);
        assert_eq!(
            completions(&prefix, None),
            [file.display().to_string()],
            "a command takes the name as it is"
        );
        assert_eq!(file_of(&whole, None), file);
    }
}
