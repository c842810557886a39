//! The kinds of bubbs: system, user, assistant, tool.

/// The speaker of a bubb: a letter in file names, a full name in listings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// `s`
    System,
    /// `u`
    User,
    /// `a`
    Assistant,
    /// `t`
    Tool,
}

impl Kind {
    /// All four, in the order in which a help text lists them.
    pub const ALL: [Kind; 4] = [Kind::System, Kind::User, Kind::Assistant, Kind::Tool];

    /// Returns the letter used in file names.
    pub fn letter(self) -> char {
        match self {
            Kind::System => 's',
            Kind::User => 'u',
            Kind::Assistant => 'a',
            Kind::Tool => 't',
        }
    }

    /// Returns the name used in listings, which is also the role sent to a model.
    pub fn as_str(self) -> &'static str {
        match self {
            Kind::System => "system",
            Kind::User => "user",
            Kind::Assistant => "assistant",
            Kind::Tool => "tool",
        }
    }

    pub fn from_letter(letter: u8) -> Option<Kind> {
        Kind::ALL.into_iter().find(|kind| kind.letter() as u8 == letter)
    }
}
