//! Converts bytes from a terminal to the text that the user meant: editing keys are applied, and pasted text
//! is marked.

/// Represents a pasted `@`: one byte like it, and in no other text.
pub const PASTED_AT: char = '\u{1a}';

/// Represents a `!` before several pasted lines: never a command, however they are sent.
pub const PASTED_BANG: char = '\u{1d}';

/// Represents an Enter from before the prompt.
pub const TYPED_ENTER: char = '\u{1e}';

const PASTE_BEGIN: &str = "\u{1b}[200~";
const PASTE_END: &str = "\u{1b}[201~";

pub fn has_open_paste(bytes: &[u8]) -> bool {
    let last = |mark: &str| bytes.windows(mark.len()).rposition(|window| window == mark.as_bytes());
    last(PASTE_BEGIN).is_some_and(|begin| last(PASTE_END).is_none_or(|end| end < begin))
}

/// Converts pasted text for the editor: line breaks become newlines; each `@`, and a `!` before several
/// lines, becomes its mark. Marks in the text are removed.
pub fn pasted(text: &str) -> String {
    let text =
        text.replace("\r\n", "\n").replace('\r', "\n").replace([PASTED_AT, PASTED_BANG, TYPED_ENTER], "");
    let text = text.replace('@', PASTED_AT.encode_utf8(&mut [0; 4]));
    match text.strip_prefix('!').filter(|rest| rest.trim_end().contains('\n')) {
        Some(rest) => format!("{PASTED_BANG}{rest}"),
        None => text,
    }
}

/// Replaces the marks by the characters that they represent, which are as long.
pub fn unmarked(text: &str) -> String {
    text.replace(PASTED_AT, "@").replace(PASTED_BANG, "!")
}

/// Returns the text that these keys produce, with a mark for each Enter; empty if there is nothing else.
pub fn key_text(bytes: &[u8]) -> String {
    let bytes = String::from_utf8_lossy(bytes);
    let mut rest: &str = &bytes;
    let mut text = String::new();
    while let Some(next) = rest.chars().next() {
        if let Some(paste) = rest.strip_prefix(PASTE_BEGIN) {
            let (inside, after) = paste.split_once(PASTE_END).unwrap_or((paste, ""));
            text.push_str(&pasted(inside));
            rest = after;
            continue;
        }
        rest = match next {
            '\u{1b}' => after_sequence(rest),
            _ => rest.strip_prefix(next).unwrap_or_default(),
        };
        match next {
            '\r' | '\n' => text.push(TYPED_ENTER),
            '\u{8}' | '\u{7f}' => drop(text.pop()),
            // Ctrl+U deletes the line, Ctrl+W the previous word.
            '\u{15}' => text.truncate(text.rfind(is_line_end).map_or(0, |at| at + 1)),
            '\u{17}' => {
                let kept = text.trim_end_matches([' ', '\t']);
                let is_gap = |letter: char| letter.is_whitespace() || is_line_end(letter);
                text.truncate(kept.rfind(is_gap).map_or(0, |at| at + 1));
            }
            key if key.is_control() => {}
            letter => text.push(letter),
        }
    }
    if text.trim_matches(is_line_end).is_empty() { String::new() } else { text }
}

fn is_line_end(letter: char) -> bool {
    matches!(letter, '\n' | TYPED_ENTER)
}

/// Whether a word is the name of a slash command, and not a path like `/etc/passwd`: only the name of a server's prompt
/// may contain a slash, after the colon.
pub fn is_command_word(word: &str) -> bool {
    word.starts_with('/') && word.split(':').next().is_some_and(|name| name.matches('/').count() == 1)
}

/// Removes and returns the first entry of typed text: a slash command, or all lines before one.
pub fn take_entry(typed: &mut String) -> String {
    let is_command = |line: &str| line.split(char::is_whitespace).next().is_some_and(is_command_word);
    let text = typed.trim_start_matches(TYPED_ENTER);
    let mut lines = text.split(TYPED_ENTER);
    let length = match lines.next() {
        Some(line) if is_command(line) => line.len(),
        Some(line) => {
            let more = lines.take_while(|line| !is_command(line)).map(|line| line.len() + 1);
            line.len() + more.sum::<usize>()
        }
        None => 0,
    };
    let (entry, rest) = text.split_at_checked(length).unwrap_or((text, ""));
    let rest = rest.trim_matches(TYPED_ENTER).to_string();
    let entry = if rest.is_empty() { entry } else { entry.trim_end_matches(TYPED_ENTER) };
    let entry = entry.replace(TYPED_ENTER, "\n");
    *typed = rest;
    entry
}

/// Skips a key that begins with an escape (arrow, function key, Alt with a letter).
fn after_sequence(text: &str) -> &str {
    let mut letters = text.char_indices().skip(1);
    let end = match letters.next() {
        Some((_, '[')) => letters.find(|(_, letter)| ('@'..='~').contains(letter)),
        Some((_, 'O')) => letters.next(),
        // A reply of the terminal, such as its colours, up to its terminator.
        Some((_, ']' | 'P' | 'X' | '^' | '_')) => {
            let is_end = |rest: &str| rest.starts_with('\u{7}') || rest.starts_with("\u{1b}\\");
            let at =
                text.char_indices().map(|(at, _)| at).skip(2).find(|&at| text.get(at..).is_some_and(is_end));
            let rest = at.and_then(|at| text.get(at..)).unwrap_or_default();
            return rest.strip_prefix("\u{1b}\\").or(rest.strip_prefix('\u{7}')).unwrap_or_default();
        }
        other => other,
    };
    end.and_then(|(at, letter)| text.get(at + letter.len_utf8()..)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_edit_and_pastes_are_whole() {
        for (bytes, text) in [
            ("next one", "next one"),
            ("질문 하나\r둘", "질문 하나\u{1e}둘"),
            ("one\rtwo\r", "one\u{1e}two\u{1e}"),
            ("\r\r", ""),
            ("", ""),
            ("abd\u{7f}c", "abc"),
            ("각\u{7f}나", "나"),
            ("one\rtwo\u{15}three", "one\u{1e}three"),
            ("one two \u{17}three", "one three"),
            ("a\u{1b}[Db\u{1b}OAc\u{1b}[1;5Cd\u{1b}[3~", "abcd"),
            ("\u{1b}", ""),
            ("a\u{1b}]11;rgb:1e1e/1e1e/1e1e\u{1b}\\b", "ab"),
            ("a\u{1b}]11;rgb:1e1e/1e1e/1e1e\u{7}b", "ab"),
            ("a\u{1b}[12;40Rb\u{1b}[?62;4cc", "abc"),
            ("a\u{1b}P>|term 1.0\u{1b}\\b", "ab"),
            ("a\u{1b}]11;never ends", "a"),
            ("a\u{4}\u{3}\tb", "ab"),
            ("x \u{1b}[200~a\r\n\tb\rc\u{1b}[201~ y", "x a\n\tb\nc y"),
            ("\u{1b}[200~see @a\u{1a}\u{1b}[201~ @b", "see \u{1a}a @b"),
            ("\u{1b}[200~open", "open"),
            ("\u{1b}[200~!a\nb\u{1b}[201~", "\u{1d}a\nb"),
            ("\u{1b}[200~!a\n\u{1b}[201~", "!a\n"),
            ("!\u{1b}[200~a\u{1d}\n!b\u{1b}[201~", "!a\n!b"),
        ] {
            assert_eq!(key_text(bytes.as_bytes()), text, "{bytes:?}");
        }
    }

    #[test]
    fn a_command_is_an_entry_of_its_own() {
        for (bytes, entries) in [
            ("one\rtwo\r", &["one\ntwo\n"][..]),
            ("/ls\r", &["/ls"]),
            ("/ls\rwhy?\rand how?", &["/ls", "why?\nand how?"]),
            ("why?\r/ls\r/help\r\rso", &["why?", "/ls", "/help", "so"]),
            ("why?\r/etc/passwd\r/files:a/b c", &["why?\n/etc/passwd", "/files:a/b c"]),
            ("\r/ls\r\r", &["/ls"]),
            ("\u{1b}[200~a\n/b\u{1b}[201~\r/c", &["a\n/b", "/c"]),
        ] {
            let mut text = key_text(bytes.as_bytes());
            for entry in entries {
                assert_eq!(take_entry(&mut text), *entry, "{bytes:?}");
            }
            assert_eq!(text, "", "{bytes:?}");
        }
    }

    #[test]
    fn a_paste_is_open_until_its_end() {
        for (bytes, open) in [
            ("", false),
            ("\u{1b}[200~a", true),
            ("\u{1b}[200~a\u{1b}[201~", false),
            ("\u{1b}[200~a\u{1b}[201~b\u{1b}[200~", true),
        ] {
            assert_eq!(has_open_paste(bytes.as_bytes()), open, "{bytes:?}");
        }
    }
}
