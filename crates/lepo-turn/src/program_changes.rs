//! A program of which files changed since a person agreed to them, as it is asked about.

use lepo_base::hash::hash_of;

use crate::config::ChangedFile;

/// The work of a program that the configuration names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProgramRole {
    /// It is the MCP server of this name.
    Server(String),
    /// It is the model of this name.
    Model(String),
    /// It prints the key of the model of this name.
    Key(String),
}

/// A program of which files changed since a person agreed to them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedProgram {
    /// Its work.
    pub role: ProgramRole,
    /// The files; never none.
    pub files: Vec<ChangedFile>,
}

impl ChangedProgram {
    /// What tells the question about these bytes from others.
    pub fn identity(&self) -> String {
        let hashes: Vec<&[u8]> = self.files.iter().map(|file| file.hash().as_bytes()).collect();
        hash_of(&hashes).chars().take(16).collect()
    }
}
