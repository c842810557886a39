//! A program with files that changed since the user agreed to them, for the question about it.

use lepo_base::hash::hash_of;

use crate::config::ChangedFile;

/// The purpose of a configured program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProgramRole {
    /// The MCP server of this name.
    Server(String),
    /// The model of this name.
    Model(String),
    /// Prints the key of the model of this name.
    Key(String),
}

/// A program with files that changed since the user agreed to them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedProgram {
    /// Its purpose.
    pub role: ProgramRole,
    /// The changed files; never empty.
    pub files: Vec<ChangedFile>,
}

impl ChangedProgram {
    /// Identifies the question about these bytes.
    pub fn identity(&self) -> String {
        let hashes: Vec<&[u8]> = self.files.iter().map(|file| file.hash().as_bytes()).collect();
        hash_of(&hashes).chars().take(16).collect()
    }
}
