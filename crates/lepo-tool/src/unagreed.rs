//! Texts by others that a consent question names.

/// A text by others that a model follows and to which nobody has agreed; a consent question names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unagreed {
    /// Instructions of the repository: the path of the file.
    File(String),
    /// A message that this user's lepo did not write: its id, and its kind as in its file name.
    Message(String, String),
    /// Instructions for models in the store: the path of the file.
    Insts(String),
    /// Any other variant, which the user was asked about and refused: its label.
    Refused(String),
}

impl Unagreed {
    /// Returns the name for programs: the path of a file, or `message ID`.
    pub fn label(&self) -> String {
        match self {
            Unagreed::File(path) | Unagreed::Insts(path) | Unagreed::Refused(path) => path.clone(),
            Unagreed::Message(id, _) => format!("message {id}"),
        }
    }
}
