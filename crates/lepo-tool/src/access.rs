//! The access of a command.

use std::fmt;

/// The access of a command, which the sandbox enforces.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Access {
    /// Reading the working directory.
    #[default]
    Read,
    /// Also writing in it.
    Write,
    /// Also using the network.
    Net,
    /// Everything that the user may do.
    Full,
}

impl Access {
    const ALL: [Access; 4] = [Access::Read, Access::Write, Access::Net, Access::Full];

    /// Returns the name in a request.
    pub fn as_str(self) -> &'static str {
        match self {
            Access::Read => "read",
            Access::Write => "write",
            Access::Net => "net",
            Access::Full => "full",
        }
    }

    /// Returns all names, from the least access to the most.
    pub fn names() -> Vec<&'static str> {
        Access::ALL.iter().map(|access| access.as_str()).collect()
    }

    pub(crate) fn parse(word: &str) -> Option<Access> {
        Access::ALL.into_iter().find(|access| access.as_str() == word)
    }
}

impl fmt::Display for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
