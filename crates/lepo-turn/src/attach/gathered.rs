//! The outcome of taking a folder, for the person: what goes along, and what was left out and why.

/// Files of a folder that go along, and those that do not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gathered {
    /// The folder.
    pub folder: String,
    /// The number of files that go along.
    pub files: usize,
    /// Tokens of their texts, about.
    pub tokens: u64,
    /// Those that do not, by reason; a reason without any is not among them.
    pub skipped: Vec<Skipped>,
}

/// Entries of a folder that were left out for one reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skipped {
    /// The number of entries.
    pub count: usize,
    /// The reason.
    pub why: SkippedWhy,
    /// The first of them, where they are named.
    pub named: Vec<String>,
}

/// A reason why an entry of a folder is left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SkippedWhy {
    /// It is a link.
    Link,
    /// It is no regular file.
    NotFile,
    /// It is no text.
    NotText,
    /// All would be more than so many bytes.
    ManyBytes(u64),
    /// All would be more than so many files.
    ManyFiles(usize),
    /// It cannot be read.
    Unreadable,
    /// Its name begins with a dot.
    Hidden,
    /// Git ignores it.
    Ignored,
}
