//! The report about an added folder: the number of added files, and the skipped ones with the reasons.

/// Added and skipped files of a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FolderSummary {
    /// Path of the folder.
    pub folder: String,
    /// Number of added files.
    pub files: usize,
    /// Approximate tokens of their texts.
    pub tokens: u64,
    /// Skipped entries by reason; each reason has at least one.
    pub skipped: Vec<SkippedGroup>,
}

/// Skipped entries of a folder with the same reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkippedGroup {
    /// Number of entries.
    pub count: usize,
    /// The reason.
    pub why: SkipReason,
    /// The first entries, if the report names them.
    pub named: Vec<String>,
}

/// The reason for skipping an entry of a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SkipReason {
    /// A symbolic link.
    Link,
    /// Not a regular file.
    NotFile,
    /// Not text.
    NotText,
    /// All files together exceed this many bytes.
    ManyBytes(u64),
    /// There are more than this many files.
    ManyFiles(usize),
    /// Cannot be read.
    Unreadable,
    /// Its name starts with a dot.
    Hidden,
    /// Git ignores it.
    Ignored,
}
