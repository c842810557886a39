//! The kinds of bubbs: system, user, assistant, tool.

/// The speaker. In a file name one letter, in a listing one word.
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
    /// All four, in the order of a help text.
    pub const ALL: [Kind; 4] = [Kind::System, Kind::User, Kind::Assistant, Kind::Tool];

    /// The letter in a file name.
    pub fn letter(self) -> char {
        match self {
            Kind::System => 's',
            Kind::User => 'u',
            Kind::Assistant => 'a',
            Kind::Tool => 't',
        }
    }

    /// The word in a listing, which is also the role a model is told.
    pub fn word(self) -> &'static str {
        match self {
            Kind::System => "system",
            Kind::User => "user",
            Kind::Assistant => "assistant",
            Kind::Tool => "tool",
        }
    }

    /// The kind of a letter.
    pub fn of_letter(letter: u8) -> Option<Kind> {
        Kind::ALL.into_iter().find(|kind| kind.letter() as u8 == letter)
    }
}
