//! A session as a file.

/// A session as a file.
pub struct Written {
    /// Its id in the other tool.
    pub id: String,
    /// The name of its file.
    pub name: String,
    /// The folder that the tool looks for it in, below its own.
    pub folder: String,
    /// Its text.
    pub text: String,
}
