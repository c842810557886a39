//! The events of one stream differ in their text alone, mostly. So an event that was parsed leaves a
//! pattern, what stood before and after its text, and the next one that fits it needs no parsing.
//!
//! This is exact, not a guess: the same bytes around another string without quotes and escapes are the
//! same JSON with another string. It makes a token cost a tenth.

use super::event::{Event, Events};

/// From this length on, a text is not made longer by the one after it.
const JOINED: usize = 4 << 10;

/// The kind of an event's text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TextKind {
    Thinking,
    Text,
}

impl TextKind {
    /// Adds a text of this kind. Texts that arrived at once, in however many events, become one event.
    pub fn say(self, text: &str, events: &mut Events) {
        match (self, events.back_mut()) {
            _ if text.is_empty() => {}
            (TextKind::Thinking, Some(Event::Thinking(last))) | (TextKind::Text, Some(Event::Text(last)))
                if last.len() < JOINED =>
            {
                last.push_str(text);
            }
            (TextKind::Thinking, _) => events.push_back(Event::Thinking(text.to_owned())),
            (TextKind::Text, _) => events.push_back(Event::Text(text.to_owned())),
        }
    }
}

/// The JSON around the text of events that hold nothing else of interest.
pub(super) struct Pattern {
    before: Vec<u8>,
    after: Vec<u8>,
    kind: TextKind,
}

impl Pattern {
    /// The pattern of `json`, of which `text` is a part, borrowed from it.
    ///
    /// `None` if it is not: a string with escapes has been copied.
    pub fn of(json: &[u8], text: &str, kind: TextKind) -> Option<Self> {
        let start = (text.as_ptr() as usize).checked_sub(json.as_ptr() as usize)?;
        let end = start.checked_add(text.len())?;
        // Only what a string borrowed from here can have on both sides.
        let quoted = json.get(start.checked_sub(1)?..end.checked_add(1)?)?;
        if !(quoted.starts_with(b"\"") && quoted.ends_with(b"\"")) {
            return None;
        }
        Some(Pattern { before: json.get(..start)?.to_vec(), after: json.get(end..)?.to_vec(), kind })
    }

    /// The text of `json`, if it fits, and its kind.
    pub fn read<'j>(&self, json: &'j [u8]) -> Option<(TextKind, &'j str)> {
        let text = json.strip_prefix(self.before.as_slice())?.strip_suffix(self.after.as_slice())?;
        // Without an early exit, so that it is done sixteen bytes at a time.
        let special = text.iter().fold(false, |found, &b| found | (b < b' ') | (b == b'"') | (b == b'\\'));
        if text.is_empty() || special {
            return None;
        }
        Some((self.kind, std::str::from_utf8(text).ok()?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_another_text_in_the_same_place_fits() {
        let json = r#"{"a":"x","t":"one","z":1}"#;
        let text = json.split('"').nth(7).unwrap();
        let pattern = Pattern::of(json.as_bytes(), text, TextKind::Text).unwrap();
        for (json, expected) in [
            (r#"{"a":"x","t":"two 둘","z":1}"#, Some("two 둘")),
            (r#"{"a":"x","t":"one","z":1}"#, Some("one")),
            (r#"{"a":"x","t":"","z":1}"#, None),
            (r#"{"a":"y","t":"two","z":1}"#, None),
            (r#"{"a":"x","t":"two","z":2}"#, None),
            (r#"{"a":"x","t":"t\n","z":1}"#, None),
            (r#"{"a":"x","t":"t","t":"u","z":1}"#, None),
            (r#"{"a":"x","t":"","z":1"#, None),
            (r#"{"a":"x","t":"#, None),
        ] {
            assert_eq!(pattern.read(json.as_bytes()), expected.map(|text| (TextKind::Text, text)), "{json}");
        }
        assert!(pattern.read(b"{\"a\":\"x\",\"t\":\"\xff\",\"z\":1}").is_none());
    }

    #[test]
    fn texts_of_one_voice_are_joined_up_to_a_length() {
        let mut events = Events::new();
        let long = "x".repeat(JOINED);
        for (kind, text) in [
            (TextKind::Thinking, "a"),
            (TextKind::Thinking, "b"),
            (TextKind::Text, ""),
            (TextKind::Text, "c"),
            (TextKind::Text, &long),
            (TextKind::Text, "d"),
            (TextKind::Thinking, "e"),
        ] {
            kind.say(text, &mut events);
        }
        let text = |text: &str| Event::Text(text.into());
        let thinking = |text: &str| Event::Thinking(text.into());
        assert_eq!(events, [thinking("ab"), text(&format!("c{long}")), text("d"), thinking("e")]);
    }

    #[test]
    fn a_text_from_elsewhere_leaves_no_pattern() {
        let elsewhere = String::from("one");
        assert!(Pattern::of(br#"{"t":"one"}"#, &elsewhere, TextKind::Text).is_none());
    }
}
