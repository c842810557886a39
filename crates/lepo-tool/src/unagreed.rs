//! Words of others that a question of consent names.

/// Words of others that a model follows and that nobody has agreed to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unagreed {
    /// Instructions of the repository: the path of the file.
    File(String),
    /// A message that this user's lepo did not write: its id, and its kind as in its name.
    Message(String, String),
    /// Instructions for models in the store: the path of the file.
    Insts(String),
    /// Any of these, which the person was asked about and did not agree to: its label.
    Refused(String),
}

impl Unagreed {
    /// The name, for programs: the path of a file, or `message ID`.
    pub fn label(&self) -> String {
        match self {
            Unagreed::File(path) | Unagreed::Insts(path) | Unagreed::Refused(path) => path.clone(),
            Unagreed::Message(id, _) => format!("message {id}"),
        }
    }
}
