//! The bubb of instructions: an introduction, then each file below its path and length, so that it can be
//! parsed exactly.

use crate::body::INSTRUCTIONS;

/// The rest of the first line.
const ABOUT: &str = "The people who work in it wrote them for every task. Of two that differ the later one, which is \
    of a deeper folder, wins for what lies there; the user's own words win over both.";

/// The bubb to write after all files were removed.
pub const GONE: &str =
    "[instructions of this repository] None are there any more: the earlier ones no longer apply.";

/// Returns the text of the bubb for these files, each a path and a text.
pub fn written<'f>(files: impl IntoIterator<Item = (&'f str, &'f str)>) -> String {
    let mut bubb_text = format!("{INSTRUCTIONS} {ABOUT}\n");
    for (path, text) in files {
        bubb_text.push_str(&format!("\n== {path}, {} bytes ==\n{text}", text.len()));
        if !text.ends_with('\n') {
            bubb_text.push('\n');
        }
    }
    bubb_text
}

/// Parses the files of such a bubb; `None` if it does not have the format of [`written`].
pub fn read(text: &str) -> Option<Vec<(&str, &str)>> {
    if text == GONE {
        return Some(Vec::new());
    }
    let (first, mut rest) = text.split_once('\n')?;
    let mut files = Vec::new();
    if first.strip_prefix(INSTRUCTIONS)?.trim_start() != ABOUT {
        return None;
    }
    while !rest.is_empty() {
        let (header, after) = rest.strip_prefix("\n== ")?.split_once('\n')?;
        let (path, length) = header.strip_suffix(" bytes ==")?.rsplit_once(", ")?;
        let (text, after) = after.split_at_checked(length.parse().ok()?)?;
        rest = if text.ends_with('\n') { after } else { after.strip_prefix('\n')? };
        files.push((path, text));
    }
    Some(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_reads_back_whatever_is_in_it() {
        for files in [
            vec![("AGENTS.md", "Use tabs.\n")],
            vec![("AGENTS.md", "no line end"), ("a/b, 7 bytes ==/CLAUDE.md", "각각\n\n")],
            vec![("AGENTS.md", "\n== sub/AGENTS.md, 3 bytes ==\nabc\n"), ("x/AGENTS.md", "")],
        ] {
            let text = written(files.iter().copied());
            assert_eq!(read(&text), Some(files), "{text}");
            assert!(text.starts_with(INSTRUCTIONS));
        }
        assert_eq!(read(GONE), Some(Vec::new()));
        assert!(GONE.starts_with(INSTRUCTIONS));
    }

    #[test]
    fn what_was_edited_does_not_read() {
        let text = written([("AGENTS.md", "각각")]);
        for edited in [
            text.replace("6 bytes", "5 bytes"),
            text.replace("6 bytes", "600 bytes"),
            text.replace("6 bytes", "18446744073709551616 bytes"),
            text.replace("The people", "The owners"),
            format!("{text}more"),
            format!("{INSTRUCTIONS}\n"),
        ] {
            assert_eq!(read(&edited), None, "{edited}");
            assert!(edited.starts_with(INSTRUCTIONS));
        }
    }
}
