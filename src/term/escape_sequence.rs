//! Finds the escape sequences in lepo's own output: colours, which end with `m`, and operating system commands, such as
//! links, which end with BEL.

/// Recognises sequences character by character.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum EscapeState {
    #[default]
    Outside,
    /// After the escape character.
    Begun,
    /// Until this character.
    Until(char),
}

impl EscapeState {
    /// Advances; returns whether `c` belongs to a sequence.
    pub fn push(&mut self, c: char) -> bool {
        let before = *self;
        *self = match before {
            EscapeState::Outside if c == '\u{1b}' => EscapeState::Begun,
            EscapeState::Begun if c == ']' => EscapeState::Until('\u{7}'),
            EscapeState::Until(end) if c == end => EscapeState::Outside,
            EscapeState::Begun if c == 'm' => EscapeState::Outside,
            EscapeState::Begun => EscapeState::Until('m'),
            _ => before,
        };
        before != EscapeState::Outside || *self != EscapeState::Outside
    }
}

/// Splits a text into sequences and the texts between them.
pub fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let end = match rest.starts_with('\u{1b}') {
            true => {
                let mut state = EscapeState::default();
                let after = rest.char_indices().find(|(at, c)| {
                    state.push(*c);
                    *at > 0 && state == EscapeState::Outside
                });
                after.map_or(rest.len(), |(at, c)| at + c.len_utf8())
            }
            false => rest.find('\u{1b}').unwrap_or(rest.len()),
        };
        let (piece, after) = rest.split_at(end);
        rest = after;
        (!piece.is_empty()).then_some(piece)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sequences_are_apart_from_text() {
        for (text, parts) in [
            ("", &[][..]),
            ("a m\u{7}", &["a m\u{7}"]),
            ("a\u{1b}[1;4mb\u{1b}[0m", &["a", "\u{1b}[1;4m", "b", "\u{1b}[0m"]),
            ("\u{1b}]8;;a:m\u{7}me\u{1b}]8;;\u{7}m", &["\u{1b}]8;;a:m\u{7}", "me", "\u{1b}]8;;\u{7}", "m"]),
            ("\u{1b}[0m\u{1b}]8;;open m", &["\u{1b}[0m", "\u{1b}]8;;open m"]),
        ] {
            assert_eq!(pieces(text).collect::<Vec<_>>(), parts, "{text:?}");
            let mut state = EscapeState::default();
            let outside: String = text.chars().filter(|c| !state.push(*c)).collect();
            let texts: String = parts.iter().filter(|part| !part.starts_with('\u{1b}')).copied().collect();
            assert_eq!(outside, texts, "{text:?}");
        }
    }
}
