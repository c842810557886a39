//! Findings of a check: faults of files in a store.

/// The kind of a fault.
///
/// ```
/// assert_eq!(lepo_store::FindingKind::NotAFile.as_str(), "not a file");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum FindingKind {
    /// The text of a bubb does not match its id.
    Edited,
    /// The prev of a bubb, or the bubb of a branch, is missing.
    Dangling,
    /// The line ends of a bubb or a blob were changed, as git changes them in text files; the name proves the
    /// original ones.
    LineEnds,
    /// Prevs form a circle.
    Cycle,
    /// Two files have the same id, or the same name with different bytes.
    Duplicate,
    /// A bubb below `_old/`, in a folder where it does not count.
    Misplaced,
    /// A file or a folder cannot be read, or a branch contains no id.
    Unreadable,
    /// A directory, link, fifo or socket has the name of a file of lepo's.
    NotAFile,
    /// A blob is missing or does not match its name.
    Blob,
    /// A file is not lepo's.
    Foreign,
    /// A bubb is dated more than a day in the future.
    Future,
    /// A process left a file in `_tmp/`.
    Stray,
}

/// A fault of a file in a store.
///
/// ```
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = lepo_store::Store::create(&dir.path().join(".lepo")).unwrap();
/// for finding in store.verify().unwrap() {
///     println!("{} {}: {}", finding.what.as_str(), finding.name, finding.why);
/// }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct Finding {
    /// The file, relative to the store, with U+FFFD for bytes that are not UTF-8.
    pub name: String,
    /// The kind of the fault.
    pub what: FindingKind,
    /// An explanation for the user.
    pub why: String,
}

impl FindingKind {
    /// Returns the name of `docs/format.md`, section 15, which `fsck` prints.
    ///
    /// ```
    /// assert_eq!(lepo_store::FindingKind::Dangling.as_str(), "dangling");
    /// ```
    pub fn as_str(self) -> &'static str {
        match self {
            FindingKind::Edited => "edited",
            FindingKind::LineEnds => "line ends",
            FindingKind::Dangling => "dangling",
            FindingKind::Cycle => "cycle",
            FindingKind::Duplicate => "duplicate",
            FindingKind::Misplaced => "misplaced",
            FindingKind::Unreadable => "unreadable",
            FindingKind::NotAFile => "not a file",
            FindingKind::Blob => "blob",
            FindingKind::Foreign => "foreign",
            FindingKind::Future => "future",
            FindingKind::Stray => "stray",
        }
    }

    /// Whether the fault is only a warning, which does not make a check fail.
    ///
    /// ```
    /// assert!(lepo_store::FindingKind::Stray.is_warning());
    /// ```
    pub fn is_warning(self) -> bool {
        matches!(self, FindingKind::Foreign | FindingKind::Future | FindingKind::Stray)
    }
}

/// Returns a file name on a single line, with control characters escaped.
pub(super) fn lossy(name: &[u8]) -> String {
    let name = String::from_utf8_lossy(name);
    let visible = |c: char| if c.is_control() { c.escape_default().to_string() } else { c.to_string() };
    name.chars().map(visible).collect()
}
