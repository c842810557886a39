//! The line that attaches a file to a question: `[image/png 48,213 bytes chart.png: _blobs/SHA256]`.
//!
//! Such lines count only at the end of a user bubb, and only in exactly the form that lepo writes. The id of the bubb
//! covers the line, and the line contains the hash of the file.

use std::borrow::Cow;

use super::content_hash::ContentHash;
use super::thousands;
use lepo_base::media::Media;

/// Maximum length of a name in characters.
const MAX_NAME: usize = 120;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attachment {
    pub media: Media,
    /// Length of the file in bytes.
    pub len: u64,
    /// Name of the file, cleaned by [`clean_name`].
    pub name: String,
    /// SHA-256 of the bytes, which is also the name of the blob.
    pub hash: ContentHash,
}

impl Attachment {
    /// Returns the line that goes at the end of the bubb.
    pub fn line(&self) -> String {
        let Attachment { media, len, name, hash } = self;
        format!("[{} {} bytes {name}: _blobs/{hash}]", media.mime(), thousands(*len))
    }

    /// Returns the line without size and hash: `[image/png chart.png]`.
    pub fn label(&self) -> String {
        format!("[{} {}]", self.media.mime(), self.name)
    }

    /// Parses a line; `None` unless it is exactly what [`Attachment::line`] returns.
    pub fn parse(line: &str) -> Option<Attachment> {
        let (facts, hash) = line.strip_prefix('[')?.strip_suffix(']')?.rsplit_once(": _blobs/")?;
        let (mime, rest) = facts.split_once(' ')?;
        let (len, name) = rest.split_once(" bytes ")?;
        let attachment = Attachment {
            media: Media::from_mime(mime)?,
            len: len.replace(',', "").parse().ok()?,
            name: clean_name(name)?,
            hash: ContentHash::parse(hash)?,
        };
        (attachment.line() == line).then_some(attachment)
    }
}

/// Whether the last line looks like an attachment line, valid or not.
pub fn seems_to_name_a_blob(text: &str) -> bool {
    text.ends_with(']') && text.rsplit('\n').next().is_some_and(|last| last.contains(": _blobs/"))
}

/// Splits the attachment lines off the end of a user bubb's text; returns the text and the attachments in order.
pub fn split_attachments(text: &str) -> (&str, Vec<Attachment>) {
    let mut rest = text;
    let mut found = Vec::new();
    loop {
        let (before, line) = rest.rsplit_once('\n').unwrap_or(("", rest));
        let Some(attachment) = Attachment::parse(line) else { break };
        found.push(attachment);
        rest = before;
    }
    found.reverse();
    let body = if found.is_empty() { text } else { rest.trim_end_matches('\n') };
    (body, found)
}

/// Returns a question followed by the lines of its files. If a question without files ends like an attachment line, a
/// newline is appended so that the line is not parsed as one.
pub fn with_attachments(question: &str, files: &[Attachment]) -> String {
    let mut text = question.to_string();
    match files {
        [] if split_attachments(question).1.is_empty() => {}
        [] => text.push('\n'),
        _ => {
            text.push_str("\n\n");
            text.push_str(&files.iter().map(Attachment::line).collect::<Vec<_>>().join("\n"));
        }
    }
    text
}

/// Replaces each attachment line of a user bubb by its label, for listings.
pub fn with_labels(text: &str) -> Cow<'_, str> {
    match split_attachments(text) {
        (_, files) if files.is_empty() => Cow::Borrowed(text),
        (body, files) => {
            let labels: Vec<String> = files.iter().map(Attachment::label).collect();
            Cow::Owned(format!("{body}\n\n{}", labels.join("\n")))
        }
    }
}

/// Returns the text to take an excerpt from: the question without its attachment lines, or the labels of its files if it
/// has no other text.
pub fn excerpt_text(text: &str) -> Cow<'_, str> {
    match split_attachments(text) {
        (body, files) if !files.is_empty() && !body.trim().is_empty() => Cow::Borrowed(body),
        _ => with_labels(text),
    }
}

/// Returns the last component of `path` as a name: without control and invisible characters, white space folded, at
/// most 120 characters. `None` if nothing remains.
pub fn clean_name(path: &str) -> Option<String> {
    let last = path.rsplit('/').next().unwrap_or_default();
    let spaced: String = last.chars().map(|c| if c.is_whitespace() { ' ' } else { c }).collect();
    let visible: String = spaced.chars().filter(|&c| !c.is_control() && !is_invisible(c)).collect();
    let folded = visible.split(' ').filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
    let cut: String = folded.chars().take(MAX_NAME).collect();
    let name = cut.trim_end().to_string();
    (!name.is_empty()).then_some(name)
}

/// Bidirectional controls, zero-width characters and tags, with which a name could imitate another.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(name: &str) -> Attachment {
        Attachment { media: Media::Png, len: 48_213, name: name.into(), hash: [0xa1; 32].into() }
    }

    #[test]
    fn a_line_reads_back() {
        assert_eq!(
            file("chart.png").line(),
            format!("[image/png 48,213 bytes chart.png: _blobs/{}]", "a1".repeat(32))
        );
        for name in ["chart.png", "a b.png", "x]: _blobs y", "10 bytes z", "그림.webp"] {
            assert_eq!(Attachment::parse(&file(name).line()), Some(file(name)), "{name}");
        }
        let good = file("x").line();
        for wrong in [
            good.replace("48,213", "48213"),
            good.replace("image/png", "image/tiff"),
            good.replace("a1a1", "A1A1"),
            good.replace(" x:", ":"),
            good.replace(" x:", " a/x:"),
            good.replace(" x:", " \u{202e}x:"),
            good.replace("_blobs/", "../"),
            format!(" {good}"),
            format!("{good}\r"),
            String::new(),
        ] {
            assert_eq!(Attachment::parse(&wrong), None, "{wrong}");
        }
    }

    #[test]
    fn only_the_lines_at_the_end_count() {
        let (a, b) = (file("a").line(), file("b").line());
        for (text, body, files) in [
            (format!("why?\n\n{a}\n{b}"), "why?", vec!["a", "b"]),
            (a.clone(), "", vec!["a"]),
            (format!("{a}\n\n{b}"), a.as_str(), vec!["b"]),
            (format!("why?\n{a}\n"), "", vec![]),
            (format!("why?\n{a}\nand"), "", vec![]),
            (format!("see {a}"), "", vec![]),
        ] {
            let (found, attached) = split_attachments(&text);
            let names: Vec<&str> = attached.iter().map(|file| file.name.as_str()).collect();
            assert_eq!(names, files, "{text}");
            assert_eq!(found, if files.is_empty() { text.as_str() } else { body });
        }
    }

    #[test]
    fn a_question_keeps_its_own_words() {
        let line = file("a").line();
        for (question, files, names) in [
            ("why?".to_string(), vec![], vec![]),
            ("why?".to_string(), vec![file("b")], vec!["b"]),
            (format!("quoted:\n{line}"), vec![], vec![]),
            (format!("quoted:\n{line}"), vec![file("b")], vec!["b"]),
        ] {
            let text = with_attachments(&question, &files);
            let (body, found) = split_attachments(&text);
            assert_eq!(found.iter().map(|file| file.name.as_str()).collect::<Vec<_>>(), names, "{text}");
            assert_eq!(body.trim_end_matches('\n'), question);
        }
    }

    #[test]
    fn names_are_cleaned() {
        for (path, name) in [
            ("/home/me/chart.png", Some("chart.png")),
            ("a\nb\tc.png", Some("a b c.png")),
            ("\u{1b}[31mred\u{202e}gnp.exe", Some("[31mredgnp.exe")),
            ("  x  y ", Some("x y")),
            ("dir/", None),
            ("\u{200b}", None),
            ("..", Some("..")),
        ] {
            assert_eq!(clean_name(path).as_deref(), name, "{path:?}");
        }
        assert_eq!(clean_name(&"é".repeat(500)).map(|name| name.chars().count()), Some(MAX_NAME));
    }

    #[test]
    fn lengths_are_written_in_thousands() {
        for (n, text) in [(0, "0"), (999, "999"), (1_000, "1,000"), (1_234_567, "1,234,567")] {
            assert_eq!(thousands(n), text);
        }
    }
}
