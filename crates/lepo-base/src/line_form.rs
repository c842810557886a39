//! Recognises the form of a line by its first characters.

/// The form of a line of Markdown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LineForm<'l> {
    /// Text, from its first character on.
    Text,
    /// `## …`; the mark is `taken` bytes long.
    Heading {
        /// Number of its marks.
        level: usize,
        /// Bytes.
        taken: usize,
    },
    /// `- …`, `1. …`, `- [x] …`: the indent, and the text that replaces the mark.
    Item {
        /// The blanks before it.
        mark: &'l str,
        /// Shown for the mark.
        text: String,
        /// Bytes.
        taken: usize,
    },
    /// `> …`; the rest of the line has its own form.
    Quote {
        /// Bytes.
        taken: usize,
    },
    /// `---`
    Rule,
    /// Opens a block of code.
    Fence(FenceMark),
    /// `| … |`: possibly a row of a table.
    Row,
}

/// The mark that opens a block of code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FenceMark {
    mark: char,
    length: usize,
}

impl FenceMark {
    /// Returns the text after the mark.
    pub fn info<'l>(&self, line: &'l str) -> &'l str {
        line.trim_start().trim_start_matches(self.mark).trim()
    }

    /// Whether a line of the block is its last.
    pub fn is_closed_by(&self, line: &str) -> bool {
        let line = line.trim();
        line.len() >= self.length && line.chars().all(|c| c == self.mark)
    }
}

/// Recognises the form of `line`, which is complete if `has_ended`; `None` if more characters are needed.
pub fn form(line: &str, has_ended: bool) -> Option<LineForm<'_>> {
    let text = line.trim_start_matches([' ', '\t']);
    let (indent, _) = line.split_at(line.len() - text.len());
    let Some(first) = text.chars().next() else { return has_ended.then_some(LineForm::Text) };
    match first {
        '#' => heading(text, indent, has_ended),
        '`' | '~' => fence(text, first, has_ended),
        '>' => quote(text, indent, has_ended),
        '|' => has_ended.then_some(LineForm::Row),
        '-' | '*' | '+' | '_' => bullet(text, first, indent, has_ended),
        _ if first.is_ascii_digit() => number(text, indent, has_ended),
        _ => Some(LineForm::Text),
    }
}

fn heading(text: &str, indent: &str, has_ended: bool) -> Option<LineForm<'static>> {
    let after = text.trim_start_matches('#');
    let level = text.len() - after.len();
    match after.chars().next() {
        None if !has_ended => None,
        Some(' ') if level <= 6 => {
            let words = after.trim_start_matches(' ');
            Some(LineForm::Heading { level, taken: indent.len() + text.len() - words.len() })
        }
        _ => Some(LineForm::Text),
    }
}

fn fence(text: &str, mark: char, has_ended: bool) -> Option<LineForm<'static>> {
    let after = text.trim_start_matches(mark);
    let length = text.len() - after.len();
    match (length < 3, after.is_empty()) {
        (true, true) if !has_ended => None,
        (true, _) => Some(LineForm::Text),
        // With another backquote it is a code span in a line of text.
        (false, _) if mark == '`' && after.contains('`') => Some(LineForm::Text),
        (false, _) => has_ended.then_some(LineForm::Fence(FenceMark { mark, length })),
    }
}

fn quote(text: &str, indent: &str, has_ended: bool) -> Option<LineForm<'static>> {
    let after = text.split_at(1).1;
    match after.chars().next() {
        None if !has_ended => None,
        Some(' ') => Some(LineForm::Quote { taken: indent.len() + 2 }),
        _ => Some(LineForm::Quote { taken: indent.len() + 1 }),
    }
}

fn bullet<'l>(text: &str, mark: char, indent: &'l str, has_ended: bool) -> Option<LineForm<'l>> {
    let marks = text.chars().filter(|c| *c == mark).count();
    if mark != '+' && text.chars().all(|c| c == mark || c == ' ') {
        // `- ` may become `- - -`, and `**` may become bold text.
        return match (has_ended, marks >= 3) {
            (false, _) => None,
            (true, true) => Some(LineForm::Rule),
            (true, false) => Some(item(text, indent)),
        };
    }
    match text.chars().nth(1) {
        None if !has_ended => None,
        Some(' ') if mark != '_' => task(text, indent, has_ended),
        _ => Some(LineForm::Text),
    }
}

fn item<'l>(text: &str, indent: &'l str) -> LineForm<'l> {
    match text.split_once(' ') {
        Some((mark, _)) if mark.len() == 1 => {
            LineForm::Item { mark: indent, text: "•".into(), taken: indent.len() + 2 }
        }
        _ => LineForm::Text,
    }
}

/// Parses a list item, possibly a task.
fn task<'l>(text: &str, indent: &'l str, has_ended: bool) -> Option<LineForm<'l>> {
    let after = text.split_at(2).1;
    for (bracket, sign) in [("[ ] ", "☐"), ("[x] ", "☑"), ("[X] ", "☑")] {
        if after.starts_with(bracket) {
            let taken = indent.len() + 2 + bracket.len();
            return Some(LineForm::Item { mark: indent, text: sign.into(), taken });
        }
        if !has_ended && bracket.starts_with(after) {
            return None;
        }
    }
    Some(item(text, indent))
}

fn number<'l>(text: &str, indent: &'l str, has_ended: bool) -> Option<LineForm<'l>> {
    let after = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let digits = text.len() - after.len();
    let mut behind = after.chars();
    match (behind.next(), behind.next()) {
        (None, _) | (Some('.' | ')'), None) if !has_ended && digits < 10 => None,
        (Some('.' | ')'), Some(' ')) if digits < 10 => {
            let number = text.split_at(digits + 1).0;
            Some(LineForm::Item { mark: indent, text: number.into(), taken: indent.len() + digits + 2 })
        }
        _ => Some(LineForm::Text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_characters_tell_or_wait() {
        let text = || Some(LineForm::Text);
        for (line, so_far, has_ended) in [
            ("", None, text()),
            ("  ", None, text()),
            ("T", text(), text()),
            ("한", text(), text()),
            ("##", None, text()),
            (
                "## ",
                Some(LineForm::Heading { level: 2, taken: 3 }),
                Some(LineForm::Heading { level: 2, taken: 3 }),
            ),
            ("#x", text(), text()),
            ("-", None, text()),
            ("--", None, text()),
            ("-x", text(), text()),
            ("---", None, Some(LineForm::Rule)),
            ("**", None, text()),
            ("**b", text(), text()),
            ("_x", text(), text()),
            ("12", None, text()),
            ("12.", None, text()),
            ("12 x", text(), text()),
            ("1234567890", text(), text()),
            (">", None, Some(LineForm::Quote { taken: 1 })),
            ("``", None, text()),
            ("```", None, Some(LineForm::Fence(FenceMark { mark: '`', length: 3 }))),
            ("|a", None, Some(LineForm::Row)),
        ] {
            assert_eq!((form(line, false), form(line, true)), (so_far, has_ended), "{line:?}");
        }
    }
}
