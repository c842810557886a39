//! The findings of a check: what is wrong with a file of a store.

/// The kind of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum What {
    /// A bubb's text does not give its id.
    Edited,
    /// A bubb's prev, or what a branch names, is not there.
    Dangling,
    /// A bubb's or a blob's line ends were changed, as git does where it takes a file for text; its name proves how
    /// they were.
    LineEnds,
    /// Prevs that lead in a circle.
    Cycle,
    /// One id stands twice, or one name with other bytes.
    Duplicate,
    /// A bubb below `_old/` where it does not count.
    Misplaced,
    /// A file or a folder that could not be read, or a branch that holds no id.
    Unreadable,
    /// A directory, link, fifo or socket under the name of a file of lepo's.
    NotAFile,
    /// A blob that is not what its name says, or that is missing.
    Blob,
    /// A file that is not lepo's.
    Foreign,
    /// A bubb that is dated more than a day ahead.
    Future,
    /// A file that a process left in `_tmp/`.
    Stray,
}

/// Something found.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    /// The file, relative to the store; what is not UTF-8 as U+FFFD.
    pub name: String,
    /// Kind of the problem.
    pub what: What,
    /// In words.
    pub why: String,
}

impl What {
    /// The word for it in a listing.
    pub fn word(self) -> &'static str {
        match self {
            What::Edited => "edited",
            What::LineEnds => "line ends",
            What::Dangling => "dangling",
            What::Cycle => "cycle",
            What::Duplicate => "duplicate",
            What::Misplaced => "misplaced",
            What::Unreadable => "unreadable",
            What::NotAFile => "not a file",
            What::Blob => "blob",
            What::Foreign => "foreign",
            What::Future => "future",
            What::Stray => "stray",
        }
    }

    /// Worth a word, and no failure.
    pub fn is_warning(self) -> bool {
        matches!(self, What::Foreign | What::Future | What::Stray)
    }
}

/// A file name on one line, whatever is in it.
pub(super) fn lossy(name: &[u8]) -> String {
    let name = String::from_utf8_lossy(name);
    let visible = |c: char| if c.is_control() { c.escape_default().to_string() } else { c.to_string() };
    name.chars().map(visible).collect()
}
