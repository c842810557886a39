//! A session as a file.

/// A file to install in the folder of another tool.
pub struct SessionFile {
    /// The session's id in that tool.
    pub id: String,
    pub name: String,
    /// Folder where the tool searches for it, relative to the tool's own.
    pub folder: String,
    pub text: String,
}
