//! Notices about servers, as values; a view provides the text.

use std::path::PathBuf;

/// A fact about a server that the user should know. The first string is the server's name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ServerNotice {
    /// The server cannot be used, and why.
    CannotBeUsed(String, String),
    /// The server started in an empty folder, because the worktree is not trusted.
    KeptOut(String, PathBuf),
    /// These servers failed in an empty folder, because the user does not trust this worktree.
    LacksFolder(Vec<String>, PathBuf),
    /// The list of tools has a fault.
    Tools(String, ToolsFault),
    /// Lines on stdout that are not messages were skipped.
    Junk(String),
    /// The tools have changed and cannot be listed, and why.
    ToolsUnlisted(String, String),
    /// The resources and prompts cannot be listed, and why.
    OffersUnlisted(String, String),
    /// A key of the entry has no effect.
    Key(String, KeyFault),
    /// The configuration cannot be used, and why.
    LeftOut(String, String),
    /// The time limits of these servers are so small that they are read as seconds.
    InSeconds(Vec<String>),
    /// Another server has this name, so the editor's server is ignored.
    NameTaken(String),
}

/// A fault in a list of tools.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToolsFault {
    /// The list could not be read.
    Unread,
    /// The pages form a cycle.
    Circular,
    /// The list has more pages than this.
    ManyPages(usize),
    /// A configured tool is not in the list.
    Missing(String),
    /// A tool without a name was skipped.
    Nameless,
    /// A tool whose name has control characters was skipped.
    BadName(String),
    /// A tool whose schema is not an object was skipped.
    BadSchema(String),
    /// The list has more than `most` tools, of which `used` are used.
    ManyTools {
        /// The limit.
        most: usize,
        /// Number of tools in use.
        used: usize,
    },
    /// The list is longer than `mib` MiB; `used` of its tools are used.
    Long {
        /// The limit, in MiB.
        mib: usize,
        /// Number of tools in use.
        used: usize,
    },
}

/// A key of a server's entry that has no effect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeyFault {
    /// `cwd` has no effect without `command`.
    CwdAlone,
    /// This key is not supported; the second text says what to do instead.
    NotSupported(String, &'static str),
    /// This key is unknown.
    Unknown(String),
    /// This key, or the whole entry if `None`, appears twice; the last counts.
    Twice(Option<String>),
    /// This header is reserved for the protocol, and ignored.
    Header(String),
}
