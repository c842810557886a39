//! Right before a configured program is started: are its files as a person agreed to them.

use lepo_base::error::{Error, Result};
use lepo_base::hash::hash_of;
use lepo_tool::NamedProgram;

use crate::config::{ChangedFile, ProgramTrust};

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
    /// Compares the files of a program; `None` if all are agreed to.
    pub fn read(trust: &ProgramTrust, role: ProgramRole, program: &NamedProgram) -> Result<Option<Self>> {
        let files = trust.changes(program)?;
        Ok((!files.is_empty()).then_some(ChangedProgram { role, files }))
    }

    /// Why it is not started.
    pub fn refusal(&self) -> String {
        let first = self.files.first().map(|file| file.name.display().to_string()).unwrap_or_default();
        let is_new = self.files.first().is_some_and(|file| file.is_new);
        match (self.files.len(), is_new) {
            (0 | 1, true) => format!("{first:?} is new since its files were agreed to"),
            (0 | 1, false) => format!("{first:?} changed since it was agreed to"),
            (count, _) => format!("{first:?} and {} more files changed since they were agreed to", count - 1),
        }
    }

    /// What tells the question about these bytes from others.
    pub fn identity(&self) -> String {
        let hashes: Vec<&[u8]> = self.files.iter().map(|file| file.hash().as_bytes()).collect();
        hash_of(&hashes).chars().take(16).collect()
    }

    /// The error in place of its start.
    pub fn error(&self) -> Error {
        let what = match &self.role {
            ProgramRole::Server(name) => format!("MCP server {name}"),
            ProgramRole::Model(name) => format!("model {name}"),
            ProgramRole::Key(name) => format!("the program that prints the key of model {name}"),
        };
        Error::usage(format!("{what} is not started: {}", self.refusal())).hint(HINT)
    }
}

/// How to agree to changed files.
pub const HINT: &str = "`lepo trust` shows what changed, and asks";
