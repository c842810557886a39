//! Recognises the form of a line by its first characters.

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Form<'l> {
    /// Text, from its first character on.
    Text,
    /// `## …`; the mark is `taken` bytes long.
    Heading { level: usize, taken: usize },
    /// `- …`, `1. …`, `- [x] …`: the indent, and the text that replaces the mark.
    Item { mark: &'l str, text: String, taken: usize },
    /// `> …`; the rest of the line has its own form.
    Quote { taken: usize },
    /// `---`
    Rule,
    /// Opens a block of code.
    Fence(Fence),
    /// `| … |`: possibly a row of a table.
    Row,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fence {
    mark: char,
    length: usize,
}

impl Fence {
    pub fn info<'l>(&self, line: &'l str) -> &'l str {
        line.trim_start().trim_start_matches(self.mark).trim()
    }

    pub fn is_closed_by(&self, line: &str) -> bool {
        let line = line.trim();
        line.len() >= self.length && line.chars().all(|c| c == self.mark)
    }
}

/// Recognises the form of `line`, which is complete if `ended`; `None` if more characters are needed.
pub fn form(line: &str, ended: bool) -> Option<Form<'_>> {
    let text = line.trim_start_matches([' ', '\t']);
    let (indent, _) = line.split_at(line.len() - text.len());
    let Some(first) = text.chars().next() else { return ended.then_some(Form::Text) };
    match first {
        '#' => heading(text, indent, ended),
        '`' | '~' => fence(text, first, ended),
        '>' => quote(text, indent, ended),
        '|' => ended.then_some(Form::Row),
        '-' | '*' | '+' | '_' => bullet(text, first, indent, ended),
        _ if first.is_ascii_digit() => number(text, indent, ended),
        _ => Some(Form::Text),
    }
}

fn heading(text: &str, indent: &str, ended: bool) -> Option<Form<'static>> {
    let after = text.trim_start_matches('#');
    let level = text.len() - after.len();
    match after.chars().next() {
        None if !ended => None,
        Some(' ') if level <= 6 => {
            let words = after.trim_start_matches(' ');
            Some(Form::Heading { level, taken: indent.len() + text.len() - words.len() })
        }
        _ => Some(Form::Text),
    }
}

fn fence(text: &str, mark: char, ended: bool) -> Option<Form<'static>> {
    let after = text.trim_start_matches(mark);
    let length = text.len() - after.len();
    match (length < 3, after.is_empty()) {
        (true, true) if !ended => None,
        (true, _) => Some(Form::Text),
        // With another backquote it is a code span in a line of text.
        (false, _) if mark == '`' && after.contains('`') => Some(Form::Text),
        (false, _) => ended.then_some(Form::Fence(Fence { mark, length })),
    }
}

fn quote(text: &str, indent: &str, ended: bool) -> Option<Form<'static>> {
    let after = text.split_at(1).1;
    match after.chars().next() {
        None if !ended => None,
        Some(' ') => Some(Form::Quote { taken: indent.len() + 2 }),
        _ => Some(Form::Quote { taken: indent.len() + 1 }),
    }
}

fn bullet<'l>(text: &str, mark: char, indent: &'l str, ended: bool) -> Option<Form<'l>> {
    let marks = text.chars().filter(|c| *c == mark).count();
    if mark != '+' && text.chars().all(|c| c == mark || c == ' ') {
        // `- ` may become `- - -`, and `**` may become bold text.
        return match (ended, marks >= 3) {
            (false, _) => None,
            (true, true) => Some(Form::Rule),
            (true, false) => Some(item(text, indent)),
        };
    }
    match text.chars().nth(1) {
        None if !ended => None,
        Some(' ') if mark != '_' => task(text, indent, ended),
        _ => Some(Form::Text),
    }
}

fn item<'l>(text: &str, indent: &'l str) -> Form<'l> {
    match text.split_once(' ') {
        Some((mark, _)) if mark.len() == 1 => {
            Form::Item { mark: indent, text: "•".into(), taken: indent.len() + 2 }
        }
        _ => Form::Text,
    }
}

/// Parses a list item, possibly a task.
fn task<'l>(text: &str, indent: &'l str, ended: bool) -> Option<Form<'l>> {
    let after = text.split_at(2).1;
    for (bracket, sign) in [("[ ] ", "☐"), ("[x] ", "☑"), ("[X] ", "☑")] {
        if after.starts_with(bracket) {
            let taken = indent.len() + 2 + bracket.len();
            return Some(Form::Item { mark: indent, text: sign.into(), taken });
        }
        if !ended && bracket.starts_with(after) {
            return None;
        }
    }
    Some(item(text, indent))
}

fn number<'l>(text: &str, indent: &'l str, ended: bool) -> Option<Form<'l>> {
    let after = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let digits = text.len() - after.len();
    let mut behind = after.chars();
    match (behind.next(), behind.next()) {
        (None, _) | (Some('.' | ')'), None) if !ended && digits < 10 => None,
        (Some('.' | ')'), Some(' ')) if digits < 10 => {
            let number = text.split_at(digits + 1).0;
            Some(Form::Item { mark: indent, text: number.into(), taken: indent.len() + digits + 2 })
        }
        _ => Some(Form::Text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_characters_tell_or_wait() {
        let text = || Some(Form::Text);
        for (line, so_far, ended) in [
            ("", None, text()),
            ("  ", None, text()),
            ("T", text(), text()),
            ("한", text(), text()),
            ("##", None, text()),
            ("## ", Some(Form::Heading { level: 2, taken: 3 }), Some(Form::Heading { level: 2, taken: 3 })),
            ("#x", text(), text()),
            ("-", None, text()),
            ("--", None, text()),
            ("-x", text(), text()),
            ("---", None, Some(Form::Rule)),
            ("**", None, text()),
            ("**b", text(), text()),
            ("_x", text(), text()),
            ("12", None, text()),
            ("12.", None, text()),
            ("12 x", text(), text()),
            ("1234567890", text(), text()),
            (">", None, Some(Form::Quote { taken: 1 })),
            ("``", None, text()),
            ("```", None, Some(Form::Fence(Fence { mark: '`', length: 3 }))),
            ("|a", None, Some(Form::Row)),
        ] {
            assert_eq!((form(line, false), form(line, true)), (so_far, ended), "{line:?}");
        }
    }
}
