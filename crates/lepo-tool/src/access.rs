//! The access of a command.

use std::fmt;

/// The access of a command; the sandbox holds it to that.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Access {
    /// Read the working directory.
    #[default]
    Read,
    /// And write in it.
    Write,
    /// And use the network.
    Net,
    /// Everything the user may.
    Full,
}

impl Access {
    const ALL: [Access; 4] = [Access::Read, Access::Write, Access::Net, Access::Full];

    /// The word in a request.
    pub fn word(self) -> &'static str {
        match self {
            Access::Read => "read",
            Access::Write => "write",
            Access::Net => "net",
            Access::Full => "full",
        }
    }

    /// The words of all, least first.
    pub fn words() -> Vec<&'static str> {
        Access::ALL.iter().map(|access| access.word()).collect()
    }

    /// The access of this word.
    pub(crate) fn of(word: &str) -> Option<Access> {
        Access::ALL.into_iter().find(|access| access.word() == word)
    }
}

impl fmt::Display for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}
