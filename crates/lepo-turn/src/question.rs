//! Builds a question from its parts: text, a file, stdin, and files as context.

use std::ops::Range;

use super::attach::{FileContent, NewFile};
use lepo_base::error::{Error, Result};
use lepo_base::hint::{Hint, HintCommand};
use lepo_store::bubb::thousands;

/// A question: its text, and its files.
#[derive(Debug, Clone, Default)]
pub struct Question {
    /// The text.
    pub text: String,
    /// The files, not stored yet.
    pub files: Vec<NewFile>,
    /// The ranges in the text that the user typed.
    pub typed_ranges: Vec<Range<usize>>,
    /// Approximate tokens of the files from folders in it.
    pub of_folders: u64,
    /// Approximate tokens of all text files in it.
    pub of_files: u64,
}

/// Maximum tokens of files to send without asking to a model whose window is not known.
const UNASKED: u64 = 50_000;

impl Question {
    /// Returns the text, if the user typed all of it and attached nothing.
    pub fn text_alone(&self) -> Option<&str> {
        let is_typed = matches!(self.typed_ranges.as_slice(), [all] if *all == (0..self.text.len()));
        Some(self.text.as_str()).filter(|_| is_typed && self.files.is_empty())
    }

    /// Returns the reason to ask before its files are sent to a model with this window: folders fill more
    /// than half of it or files all of it, or it is not known and the files have many tokens. `None` without a reason.
    pub fn size_to_confirm(&self, window: Option<u64>) -> Option<String> {
        let (tokens, window) = match window {
            Some(window) if self.of_folders.saturating_mul(2) > window => {
                (self.of_folders, thousands(window))
            }
            Some(window) if self.of_files > window => (self.of_files, thousands(window)),
            None if self.of_files > UNASKED => (self.of_files, "is not known".to_string()),
            _ => return None,
        };
        let tokens = thousands(tokens);
        Some(format!("the files have about {tokens} tokens, and the model's window {window}"))
    }
}

/// A part of a question: its source, for errors, and its content.
#[derive(Debug)]
pub struct QuestionPart {
    /// `PROMPT`, `question.md`, `stdin`.
    pub from: String,
    /// Text, or a file.
    pub content: FileContent,
    /// Whether the part is in a fence below its name.
    pub is_fenced: bool,
    /// Whether the user typed it: then it is stored unmasked.
    pub is_typed: bool,
}

/// The beginning of the error for a question without text.
pub const BLANK_QUESTION: &str = "the question is blank";

/// Replaces the content of a URL, or of a server, if nothing is fetched.
pub const NOT_FETCHED: &str = "(not fetched)";

/// A file of the question.
#[derive(Debug)]
pub struct ContextFile {
    /// Path of the file, as the user gave it.
    pub path: String,
    /// Bytes of the file.
    pub content: FileContent,
}

impl From<String> for Question {
    fn from(text: String) -> Question {
        let typed_ranges = std::iter::once(0..text.len()).collect();
        Question { text, typed_ranges, ..Question::default() }
    }
}

/// Joins the parts with blank lines, without their trailing newlines, and appends the context, each text file
/// fenced below its path. Files that can be attached are appended to `files`. Exit 2 if the text is blank, or
/// not UTF-8.
pub fn join_parts(
    parts: Vec<QuestionPart>,
    context: Vec<ContextFile>,
    mut files: Vec<NewFile>,
) -> Result<Question> {
    let (mut texts, mut typed_ranges, mut len) = (Vec::new(), Vec::new(), 0);
    let is_piped_alone = !parts.is_empty() && parts.iter().all(|part| part.from == "stdin");
    for part in parts {
        let before = texts.len();
        let bytes = match part.content {
            FileContent::Media(file) => {
                files.push(file);
                continue;
            }
            FileContent::Other(bytes) => bytes,
        };
        let text = utf8(&part.from, bytes)?;
        let text = text.trim_end_matches(['\n', '\r']);
        match part.is_fenced {
            true => texts.push(fenced(&part.from, text)),
            false if text.trim().is_empty() => {}
            false => texts.push(text.to_string()),
        }
        if let Some(text) = texts.get(before) {
            if part.is_typed {
                typed_ranges.push(len..len + text.len());
            }
            // A blank line follows.
            len += text.len() + 2;
        }
    }
    if texts.is_empty() {
        return Err(match files.first() {
            None if is_piped_alone => Error::usage(format!("{BLANK_QUESTION}: stdin was empty"))
                .hint(Hint::default().bare(HintCommand::Ask).either(", or text from the command before", "")),
            None => Error::usage(BLANK_QUESTION)
                .hint(Hint::default().bare(HintCommand::Ask).either(", or a question on stdin", "")),
            Some(file) => Error::usage(format!("no question about {}", file.name))
                .hint("say what to do with it: lepo do … 'What is wrong here?'"),
        });
    }
    for file in context {
        let bytes = match file.content {
            FileContent::Media(file) => {
                files.push(file);
                continue;
            }
            FileContent::Other(bytes) => bytes,
        };
        let text = utf8(&file.path, bytes)?;
        texts.push(fenced(&file.path, text.trim_end_matches(['\n', '\r'])));
    }
    Ok(Question { text: texts.join("\n\n"), files, typed_ranges, of_folders: 0, of_files: 0 })
}

fn utf8(from: &str, bytes: Vec<u8>) -> Result<String> {
    text_of_bytes(from, &bytes).map(str::to_string)
}

/// Decodes the bytes of `from`, without a byte order mark. Exit 2 if they are not text.
pub fn text_of_bytes<'b>(from: &str, bytes: &'b [u8]) -> Result<&'b str> {
    let text = std::str::from_utf8(bytes).map_err(|error| not_utf8(from, bytes, error.valid_up_to()))?;
    match bytes.iter().position(|&byte| byte == 0) {
        Some(at) => Err(not_text(from, bytes, at)),
        None => Ok(text.strip_prefix('\u{feff}').unwrap_or(text)),
    }
}

/// Returns the error for a NUL character at this offset: in an archive, or in another encoding.
fn not_text(from: &str, bytes: &[u8], offset: usize) -> Error {
    let error = Error::usage(format!("{from} is not text: byte {offset} is NUL"));
    match utf16_without_mark(bytes) {
        Some(encoding) => {
            error.hint(format!("it looks like UTF-16 without a mark: iconv -f {encoding} -t UTF-8"))
        }
        None => error.hint("only text, PNG, JPEG, GIF, WebP and PDF can be sent"),
    }
}

/// Guesses the UTF-16 encoding of bytes: every second byte at their start is NUL.
fn utf16_without_mark(bytes: &[u8]) -> Option<&'static str> {
    const LOOKED_AT: usize = 1000;
    let pairs = bytes.as_chunks::<2>().0.iter().take(LOOKED_AT);
    let (mut high, mut low, mut all) = (0, 0, 0);
    for [first, second] in pairs {
        all += 1;
        high += usize::from(*first == 0 && *second != 0);
        low += usize::from(*second == 0 && *first != 0);
    }
    match (all, low * 2 > all, high * 2 > all) {
        (2.., true, _) => Some("UTF-16LE"),
        (2.., _, true) => Some("UTF-16BE"),
        _ => None,
    }
}

/// Returns the error for bytes that are not UTF-8 at this offset.
pub fn not_utf8(from: &str, bytes: &[u8], offset: usize) -> Error {
    let error = Error::usage(format!("{from} is not UTF-8: byte {offset} begins no character"));
    if bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff") {
        return error.hint("it begins as UTF-16 does: iconv -f UTF-16 -t UTF-8");
    }
    match bytes.contains(&0) {
        // An unsupported image, an archive or a program: not an encoding of text.
        true => error.hint("it is not text; only PNG, JPEG, GIF, WebP and PDF can be attached"),
        false => error.hint("iconv changes other encodings to UTF-8"),
    }
}

/// Puts a file into a fence that is longer than any fence in it.
pub(super) fn fenced(path: &str, text: &str) -> String {
    let longest = text
        .lines()
        .map(|line| line.trim_start().chars().take_while(|&c| c == '`').count())
        .max()
        .unwrap_or_default();
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{path}:\n{fence}\n{text}\n{fence}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use lepo_base::hint::HintTarget;

    fn part(text: &str) -> QuestionPart {
        QuestionPart {
            from: "stdin".into(),
            content: FileContent::Other(text.into()),
            is_fenced: false,
            is_typed: false,
        }
    }

    fn in_fence(path: &str, text: &str) -> QuestionPart {
        QuestionPart { from: path.into(), is_fenced: true, ..part(text) }
    }

    fn file(path: &str, text: &str) -> ContextFile {
        ContextFile { path: path.into(), content: FileContent::Other(text.into()) }
    }

    #[test]
    fn parts_are_joined_by_a_blank_line() {
        for (parts, context, expected) in [
            (vec![part("a")], vec![], "a"),
            (vec![part("a\n\n"), part("b\r\n")], vec![], "a\n\nb"),
            (vec![part("a"), part(" \n"), part("b")], vec![], "a\n\nb"),
            (vec![part("  indented\nlines ")], vec![], "  indented\nlines "),
            (vec![part("q")], vec![file("x.rs", "fn x() {}\n")], "q\n\nx.rs:\n```\nfn x() {}\n```"),
            (
                vec![part("q"), in_fence("x.rs", "a\n"), in_fence("y", "")],
                vec![],
                "q\n\nx.rs:\n```\na\n```\n\ny:\n```\n\n```",
            ),
            (vec![part("q")], vec![file("x.md", "```\na\n```\n")], "q\n\nx.md:\n````\n```\na\n```\n````"),
        ] {
            assert_eq!(join_parts(parts, context, vec![]).unwrap().text, expected);
        }
    }

    #[test]
    fn a_blank_question_is_none() {
        for parts in [vec![], vec![part("")], vec![part(" \n\t"), part("\u{3000}")]] {
            let error = join_parts(parts, vec![file("x", "context")], vec![]).unwrap_err();
            assert_eq!(error.kind.exit_code(), 2);
        }
    }

    #[test]
    fn what_can_be_attached_is() {
        let gif = |name: &str| NewFile::of_bytes(name, b"GIF89a\x01\0\x01\0\0\0\0\0\0\0".to_vec()).unwrap();
        let image = |name: &str| QuestionPart {
            from: name.into(),
            content: gif(name),
            is_fenced: false,
            is_typed: false,
        };
        let parts = vec![part("what is this?"), image("in.gif")];
        let context = vec![ContextFile { path: "c.gif".into(), content: gif("c.gif") }, file("x", "y")];
        let FileContent::Media(first) = gif("first.gif") else { panic!("a GIF") };
        let asked = join_parts(parts, context, vec![first]).unwrap();
        assert_eq!(asked.text, "what is this?\n\nx:\n```\ny\n```");
        let names: Vec<&str> = asked.files.iter().map(|file| file.name.as_str()).collect();
        assert_eq!(names, ["first.gif", "in.gif", "c.gif"]);
        let error = join_parts(vec![image("in.gif")], vec![], vec![]);
        assert_eq!(error.unwrap_err().message, "no question about in.gif");
    }

    #[test]
    fn text_has_no_nul_characters_and_no_byte_order_mark() {
        let utf16 = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
        let be = "hello there".encode_utf16().flat_map(u16::to_be_bytes).collect::<Vec<u8>>();
        for (bytes, hint) in [
            (utf16("hello there"), "UTF-16LE"),
            (be, "UTF-16BE"),
            ([b"name".as_slice(), &[0; 96], b"000644 \0"].concat(), "only text"),
            (b"a\0b".to_vec(), "only text"),
        ] {
            let error = text_of_bytes("stdin", &bytes).unwrap_err();
            assert!(error.message.contains("stdin is not text"), "{}", error.message);
            assert!(error.hint_for(HintTarget::SHELL).unwrap().contains(hint), "{bytes:?}");
        }
        assert_eq!(text_of_bytes("x", b"\xEF\xBB\xBFhi").unwrap(), "hi");
        assert_eq!(text_of_bytes("x", "안\u{feff}".as_bytes()).unwrap(), "안\u{feff}");
    }

    #[test]
    fn what_is_not_utf8_is_told_with_its_place() {
        let error = join_parts(
            vec![QuestionPart {
                from: "stdin".into(),
                content: FileContent::Other(b"ab\xff".to_vec()),
                is_fenced: false,
                is_typed: false,
            }],
            vec![],
            vec![],
        );
        let error = error.unwrap_err();
        assert_eq!(error.message, "stdin is not UTF-8: byte 2 begins no character");
        assert!(error.hint_for(HintTarget::SHELL).unwrap().contains("iconv"));
        // TIFF, which is never sent to a model.
        let hint = not_utf8("x.tiff", b"II*\0\x08\0\xff", 6).hint_for(HintTarget::SHELL).unwrap();
        assert!(hint.contains("PNG") && !hint.contains("iconv"), "{hint}");
        let hint = not_utf8("x.txt", b"\xff\xfeh\0i\0", 0).hint_for(HintTarget::SHELL).unwrap();
        assert!(hint.contains("UTF-16"), "{hint}");
    }
}
