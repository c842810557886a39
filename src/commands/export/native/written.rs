//! A session as a file.

/// A file to install in the folder of another tool.
pub struct Written {
    /// The session's id in that tool.
    pub id: String,
    /// The name of the file.
    pub name: String,
    /// The folder that the tool looks for it in, below its own.
    pub folder: String,
    /// Its content.
    pub text: String,
}
