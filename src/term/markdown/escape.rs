//! Decides whether a backslash escapes the character after it: only where that character would have a meaning.

/// The text before a position of a line.
#[derive(Debug, Clone, Copy)]
pub struct TextBefore {
    pub last: Option<char>,
    /// Number of blanks so far, if the line has nothing else.
    pub indent: Option<usize>,
    /// Whether the line has nothing but digits so far.
    is_number: bool,
    /// Whether the current word looks like the beginning of a path.
    is_path: bool,
    /// Whether the current word has a `<`.
    has_angle: bool,
    /// Characters of the current word, at most 2, and whether the first is a letter.
    length: u8,
    is_letter: bool,
}

impl Default for TextBefore {
    fn default() -> TextBefore {
        let (is_path, has_angle) = (false, false);
        let indent = Some(0);
        TextBefore { last: None, indent, is_number: true, is_path, has_angle, length: 0, is_letter: false }
    }
}

impl TextBefore {
    pub fn push(&mut self, text: &str) {
        let Some(last) = text.chars().next_back() else { return };
        let is_blank = text.trim_start().is_empty();
        self.indent = self.indent.filter(|_| is_blank).map(|indent| indent + text.len());
        self.is_number = self.is_number && text.bytes().all(|byte| byte.is_ascii_digit());
        let word = match text.char_indices().rfind(|(_, c)| c.is_whitespace()) {
            Some((at, space)) => {
                (self.is_path, self.has_angle, self.length) = (false, false, 0);
                text.split_at(at + space.len_utf8()).1
            }
            None => text,
        };
        for c in word.chars().take(2 - usize::from(self.length)) {
            match self.length {
                0 => self.is_letter = c.is_ascii_alphabetic(),
                _ => self.is_path |= self.is_letter && c == ':',
            }
            self.length += 1;
        }
        self.is_path |= has_separator(word);
        self.has_angle |= word.contains('<');
        self.last = Some(last);
    }
}

/// Whether a backslash of this word is not an escape.
fn has_separator(word: &str) -> bool {
    let mut chars = word.chars();
    while let Some(c) = chars.next() {
        if c == '\\' && !chars.next().is_some_and(|next| matches!(next, '_' | '*' | '$' | '`')) {
            return true;
        }
    }
    false
}

/// Whether the backslash at the start of `rest` is an escape; `None` if more text decides.
pub fn read(rest: &str, before: TextBefore, has_ended: bool, is_label: bool) -> Option<bool> {
    let mut chars = rest.chars().skip(1);
    let Some(escaped) = chars.next() else { return (has_ended).then_some(false) };
    let next = chars.next();
    let is_start = before.last.is_none();
    Some(match escaped {
        '$' | '`' => true,
        '_' | '*' => !before.is_path,
        '\\' if next.is_none() && !has_ended => return None,
        '\\' => !before.is_path && matches!(next, Some('_' | '*' | '`' | '$')),
        '~' if next.is_none() && !has_ended => return None,
        '~' => before.last == Some('~') || matches!(next, Some('~' | '\\')),
        '[' if is_label => true,
        '[' if !has_ended => return None,
        '[' => {
            rest.contains("](")
                || is_start && ["\\[ ]", "\\[x]", "\\[X]"].iter().any(|task| rest.starts_with(task))
        }
        ']' => is_label,
        '!' if next.is_none() && !has_ended => return None,
        '!' => next == Some('['),
        '<' if next.is_none() && !has_ended => return None,
        '<' => next.is_some_and(|next| next.is_ascii_alphabetic() || matches!(next, '/' | '!')),
        '>' => is_start || before.has_angle,
        '#' | '-' | '+' | '|' => is_start,
        '.' | ')' => !is_start && before.is_number,
        _ => false,
    })
}
