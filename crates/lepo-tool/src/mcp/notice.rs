//! Notices about servers: values that a person is told; a view has the words for them.

use std::path::PathBuf;

/// Something about a server that a person should know. The first text is the server's name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Notice {
    /// It cannot be used, and why.
    CannotBeUsed(String, String),
    /// It started in an empty folder, as this work tree is not trusted.
    KeptOut(String, PathBuf),
    /// A fault of its list of tools.
    Tools(String, ToolsFault),
    /// Lines on its stdout that are no messages were skipped.
    Junk(String),
    /// Its tools changed and cannot be listed, and why.
    ToolsUnlisted(String, String),
    /// Its resources and prompts cannot be listed, and why.
    OffersUnlisted(String, String),
    /// A key of its entry has no effect.
    Key(String, KeyFault),
    /// Its configuration cannot be used, and why.
    LeftOut(String, String),
    /// A time limit in the entries of these servers is so small that it is taken as seconds.
    InSeconds(Vec<String>),
    /// Another server has its name, so that this one of the editor is ignored.
    NameTaken(String),
}

/// A fault of a list of tools.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToolsFault {
    /// It could not be read.
    Unread,
    /// Its pages go in circles.
    Circular,
    /// It has more pages than this.
    ManyPages(usize),
    /// The tool of this name, which is configured, is not in it.
    Missing(String),
    /// A tool without a name was left out.
    Nameless,
    /// The name of this tool has control characters: left out.
    BadName(String),
    /// The schema of this tool is not an object: left out.
    BadSchema(String),
    /// It has more tools than `most`, of which `used` are used.
    ManyTools {
        /// The most tools.
        most: usize,
        /// The number of tools that are used.
        used: usize,
    },
    /// It is longer than `mib` MiB, and `used` tools of it are used.
    Long {
        /// The most of it, in MiB.
        mib: usize,
        /// The number of tools that are used.
        used: usize,
    },
}

/// A key of a server's entry that has no effect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeyFault {
    /// `cwd` without `command`.
    CwdAlone,
    /// This key is not supported, and what to do instead.
    NotSupported(String, &'static str),
    /// This key is not known.
    Unknown(String),
    /// This key, or the whole entry, appears twice: the last counts.
    Twice(Option<String>),
    /// This header belongs to the protocol, and is ignored.
    Header(String),
}
