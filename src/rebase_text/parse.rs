//! Reads an edited text: marks, comments, and the text of each message.

use std::borrow::Cow;

use lepo_base::error::{Error, Result};

use super::mark::{MarkLine, mark_of};
use super::range::TextRange;

const BOM: &[u8] = b"\xef\xbb\xbf";

/// The beginnings of a text in UTF-16.
const UTF16: [&[u8]; 2] = [b"\xff\xfe", b"\xfe\xff"];

#[derive(Debug, Default, PartialEq, Eq)]
pub struct ParsedText {
    pub range: Option<TextRange>,
    pub blocks: Vec<TextBlock>,
    /// An editor ended all lines with CRLF; here they end with LF.
    pub had_crlf: bool,
}

/// A mark line and the text below it.
#[derive(Debug, PartialEq, Eq)]
pub struct TextBlock {
    /// Counted from 1.
    pub line: usize,
    pub mark: MarkLine,
    /// Without the newline before the next mark.
    pub text: Vec<u8>,
}

/// Reads a text. An error is one of usage and names its line.
pub fn parse(text: &[u8]) -> Result<ParsedText> {
    let text = text.strip_prefix(BOM).unwrap_or(text);
    let (text, had_crlf) = with_lf(text);
    let mut parsed = ParsedText { had_crlf, ..ParsedText::default() };
    if text.iter().all(u8::is_ascii_whitespace) {
        return Ok(parsed);
    }
    let Some(mark) = mark_of(&text) else {
        let hint = match UTF16.iter().any(|bom| text.starts_with(bom)) {
            true => "it is UTF-16: save it as UTF-8",
            false => "it begins with `%%`, as `lepo rebase --print` prints it",
        };
        return Err(Error::usage("line 1: the text does not begin with a mark").hint(hint));
    };
    for (at, line) in text.split_inclusive(|byte| *byte == b'\n').enumerate() {
        let number = at + 1;
        let Some(rest) = line.strip_prefix(mark) else {
            match parsed.blocks.last_mut() {
                Some(block) => block.text.extend_from_slice(line),
                None if line.iter().all(u8::is_ascii_whitespace) => {}
                None => return Err(Error::usage(format!("line {number}: text above the first mark"))),
            }
            continue;
        };
        if let Some(comment) = rest.strip_prefix(b"#") {
            let comment = String::from_utf8_lossy(comment);
            parsed.range = parsed.range.take().or_else(|| TextRange::parse(&comment));
            continue;
        }
        parsed.blocks.push(TextBlock {
            line: number,
            mark: MarkLine::parse(rest, number)?,
            text: Vec::new(),
        });
    }
    for block in &mut parsed.blocks {
        if block.text.ends_with(b"\n") {
            block.text.pop();
        }
    }
    Ok(parsed)
}

/// Returns the range that the comments name, also of a text that cannot be read.
pub fn range_in(text: &[u8]) -> Option<TextRange> {
    let text = text.strip_prefix(BOM).unwrap_or(text);
    let mark = mark_of(text)?;
    let comments =
        text.split(|byte| *byte == b'\n').filter_map(|line| line.strip_prefix(mark)?.strip_prefix(b"#"));
    comments.map(String::from_utf8_lossy).find_map(|comment| TextRange::parse(&comment))
}

/// Replaces CRLF with LF if every line ends so.
fn with_lf(text: &[u8]) -> (Cow<'_, [u8]>, bool) {
    let mut ends = memchr::memchr_iter(b'\n', text).peekable();
    let is_crlf = ends.peek().is_some() && ends.all(|at| at > 0 && text[at - 1] == b'\r');
    if is_crlf { (Cow::Owned(without_cr(text)), true) } else { (Cow::Borrowed(text), false) }
}

/// Replaces each CRLF with LF.
pub fn without_cr(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = memchr::memmem::find(rest, b"\r\n") {
        out.extend_from_slice(&rest[..at]);
        rest = &rest[at + 1..];
    }
    out.extend_from_slice(rest);
    out
}
