//! The author of a message: in file names, in requests to models, in imports and in lists.

/// The author of a message. Names on disk with equal ids are sorted in this order.
///
/// ```
/// # use lepo_base::role::Role;
/// assert_eq!(Role::from_letter(b'a').map(Role::as_str), Some("assistant"));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// `s`: a system prompt, instructions, the output of a command that the user ran.
    System,
    /// `u`: the user.
    User,
    /// `a`: the model.
    Assistant,
    /// `t`: the result of a tool.
    Tool,
}

impl Role {
    /// All four, in the order in which a help text lists them.
    pub const ALL: [Role; 4] = [Role::System, Role::User, Role::Assistant, Role::Tool];

    /// Returns the letter in file names, in exports, and in the output of `lepo-import-db`.
    pub fn letter(self) -> char {
        match self {
            Role::System => 's',
            Role::User => 'u',
            Role::Assistant => 'a',
            Role::Tool => 't',
        }
    }

    /// Returns the name in listings and in the API of every provider.
    ///
    /// ```
    /// # use lepo_base::role::Role;
    /// assert_eq!(Role::Tool.as_str(), "tool");
    /// ```
    pub fn as_str(self) -> &'static str {
        match self {
            Role::System => "system",
            Role::User => "user",
            Role::Assistant => "assistant",
            Role::Tool => "tool",
        }
    }

    /// Parses the letter of a role.
    pub fn from_letter(letter: u8) -> Option<Role> {
        Role::ALL.into_iter().find(|role| role.letter() as u8 == letter)
    }
}
