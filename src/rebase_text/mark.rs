//! The line above a message: `%% hidden assistant 7W3QK8Z1 (a note)`.

use lepo_base::error::{Error, Result, quoted};
use lepo_base::role::Role;

/// A mark is at least this many `%`.
const SHORTEST: usize = 2;

/// Returns the number of `%` at the start.
pub fn percents(bytes: &[u8]) -> usize {
    bytes.iter().take_while(|byte| **byte == b'%').count()
}

/// Returns the shortest mark with which no line of these texts begins.
pub fn mark_for<'t>(texts: impl IntoIterator<Item = &'t [u8]>) -> String {
    let mut longest = 0;
    for text in texts {
        let mut from = 0;
        for at in memchr::memchr_iter(b'%', text) {
            if at < from {
                continue;
            }
            let count = percents(&text[at..]);
            if at == 0 || text[at - 1] == b'\n' {
                longest = longest.max(count);
            }
            from = at + count;
        }
    }
    "%".repeat(SHORTEST.max(longest + 1))
}

/// Returns the mark with which a text begins; `None` without a mark.
pub fn mark_of(first: &[u8]) -> Option<&[u8]> {
    first.get(..percents(first)).filter(|mark| mark.len() >= SHORTEST)
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MarkLine {
    pub role: Role,
    pub hidden: bool,
    /// As typed; without one, the message is new.
    pub id: Option<String>,
}

impl MarkLine {
    /// Reads what follows the mark.
    pub fn parse(rest: &[u8], line: usize) -> Result<MarkLine> {
        let unreadable = |why: String| {
            Error::usage(format!("line {line}: {why}"))
                .hint("a mark is `%% user`, assistant or system, with the id of a message or without one")
        };
        let text = std::str::from_utf8(rest).map_err(|_| unreadable("the mark is not UTF-8".into()))?;
        let fields = without_note(text.trim_end());
        if !fields.is_empty() && !fields.starts_with([' ', '\t']) {
            return Err(unreadable(format!("no blank after the mark, before {}", quoted(fields))));
        }
        let mut fields = fields.split_whitespace().peekable();
        let hidden = fields.next_if_eq(&"hidden").is_some();
        let Some(word) = fields.next() else { return Err(unreadable("the mark names no speaker".into())) };
        let Some(role) = Role::ALL.into_iter().find(|role| role.as_str() == word) else {
            return Err(unreadable(format!("unknown speaker {}", quoted(word))));
        };
        let id = fields.next().map(str::to_string);
        match fields.next() {
            Some(more) => Err(unreadable(format!("the mark has {} after the id", quoted(more)))),
            None => Ok(MarkLine { role, hidden, id }),
        }
    }
}

/// Removes a note in parentheses from the end.
fn without_note(fields: &str) -> &str {
    match fields.split_once(" (") {
        Some((before, _)) if fields.ends_with(')') => before,
        _ => fields,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_is_longer_than_any_at_a_line_start() {
        for (text, mark) in [
            ("", "%%"),
            ("plain", "%%"),
            ("% a comment of TeX", "%%"),
            ("a %% b", "%%"),
            ("%% user", "%%%"),
            ("a\n%%%# b\n", "%%%%"),
            ("a\n %%%% b", "%%"),
            ("a\r%%%% b", "%%"),
            ("%%%%%", "%%%%%%"),
        ] {
            assert_eq!(mark_for([text.as_bytes()]), mark, "{text:?}");
        }
        assert_eq!(mark_for([&b"%%"[..], b"%%%"]), "%%%%");
    }

    #[test]
    fn marks_are_read_or_refused() {
        let mark = |role, hidden, id: &str| {
            Some(MarkLine { role, hidden, id: Some(id.to_string()).filter(|id| !id.is_empty()) })
        };
        for (rest, expected) in [
            (" user", mark(Role::User, false, "")),
            (" user \t ", mark(Role::User, false, "")),
            (" user 7W3QK8Z1", mark(Role::User, false, "7W3QK8Z1")),
            ("\tassistant  7w3qk8z1  ", mark(Role::Assistant, false, "7w3qk8z1")),
            (" hidden system 7W3QK8Z1 (AGENTS.md, 1,204 bytes)", mark(Role::System, true, "7W3QK8Z1")),
            (" hidden assistant 7W3QK8Z1 (stopped)", mark(Role::Assistant, true, "7W3QK8Z1")),
            (" hidden system 7W3QK8Z1 (a (b) c)", mark(Role::System, true, "7W3QK8Z1")),
            (" tool 7W3QK8Z1", mark(Role::Tool, false, "7W3QK8Z1")),
            ("", None),
            (" ", None),
            (" hidden", None),
            ("user", None),
            ("% user", None),
            (" User", None),
            (" human", None),
            (" user hidden", mark(Role::User, false, "hidden")),
            (" user 7W3QK8Z1 and more", None),
            (" (user)", None),
        ] {
            let read = MarkLine::parse(rest.as_bytes(), 7);
            assert_eq!(read.as_ref().ok(), expected.as_ref(), "{rest:?}");
            if let Err(error) = read {
                assert!(error.message.starts_with("line 7: "), "{rest:?}: {}", error.message);
            }
        }
        assert!(MarkLine::parse(b" user \xff", 7).is_err());
    }
}
