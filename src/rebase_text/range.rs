//! The first comment of a text: which messages it is about, and where the copies go.

use lepo_store::bubb::BubbId;

/// The word before the range, as in the command that prints the text.
const COMMAND: &str = "lepo rebase ";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RangeBase {
    /// The copies follow what the messages follow.
    Own,
    /// A conversation of their own.
    Root,
    Onto(BubbId),
}

/// The messages that a text is about: those in the conversation of `last` that the conversation of `after` lacks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TextRange {
    pub after: Option<BubbId>,
    pub last: BubbId,
    pub base: RangeBase,
    /// With `-a`: side branches are copied too, and the text has hidden messages.
    pub all: bool,
}

impl TextRange {
    /// Returns the comment without the mark and `# `: the command that prints the text.
    pub fn comment(&self) -> String {
        format!("{COMMAND}{}", self.arguments())
    }

    pub fn arguments(&self) -> String {
        let after = self.after.map(|id| format!("{id}..")).unwrap_or_default();
        let base = match self.base {
            RangeBase::Own => String::new(),
            RangeBase::Root => " --root".into(),
            RangeBase::Onto(id) => format!(" --onto {id}"),
        };
        format!("{after}{}{base}{}", self.last, if self.all { " -a" } else { "" })
    }

    /// Parses such a comment; `None` for any other comment.
    pub fn parse(comment: &str) -> Option<TextRange> {
        let mut fields = comment.trim().strip_prefix(COMMAND)?.split_whitespace();
        let id = |text: &str| BubbId::parse(text.as_bytes());
        let address = fields.next()?;
        let (after, last) = match address.split_once("..") {
            Some((after, last)) => (Some(id(after)?), id(last)?),
            None => (None, id(address)?),
        };
        let mut range = TextRange { after, last, base: RangeBase::Own, all: false };
        while let Some(field) = fields.next() {
            match field {
                "-a" => range.all = true,
                "--root" => range.base = RangeBase::Root,
                "--onto" => range.base = RangeBase::Onto(id(fields.next()?)?),
                _ => return None,
            }
        }
        Some(range)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_is_read_as_it_is_printed() {
        let id = |digit: &str| BubbId::parse(format!("01JB3Z0Q4N8V2K5T7W9X1Y3Z5{digit}").as_bytes()).unwrap();
        for after in [None, Some(id("A"))] {
            for base in [RangeBase::Own, RangeBase::Root, RangeBase::Onto(id("C"))] {
                for all in [false, true] {
                    let range = TextRange { after, last: id("B"), base, all };
                    assert_eq!(TextRange::parse(&range.comment()), Some(range), "{}", range.comment());
                }
            }
        }
    }

    #[test]
    fn any_other_comment_names_no_messages() {
        for comment in [
            "",
            "lepo rebase",
            "lepo rebase @",
            "lepo rebase main..@",
            "lepo rebase 01JB3Z0Q4N8V2K5T7W9X1Y3Z5A --drop @",
            "lepo rebase 01JB3Z0Q4N8V2K5T7W9X1Y3Z5A --onto",
            "lepo rebase 01JB3Z0Q4N8V2K5T7W9X1Y3Z5A --onto main",
            "lepo rm 01JB3Z0Q4N8V2K5T7W9X1Y3Z5A",
        ] {
            assert_eq!(TextRange::parse(comment), None, "{comment}");
        }
    }
}
