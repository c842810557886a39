//! The settings of consent: whether each request is asked about, and what runs without asking.

use lepo_base::word::Word;

/// The way a tool request gets its consent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolMode {
    /// The person is asked each time (the default).
    Manual,
    /// Announced and run, up to [`AutoAccess`].
    Auto,
    /// No tools at all, and no planner. Only `--tools` says this.
    Off,
}

impl ToolMode {
    /// The words of a file, of the environment and of `/set-tool-mode`.
    pub const LASTING: &[ToolMode] = &[ToolMode::Manual, ToolMode::Auto];
    /// The words of `--tools`.
    pub const ALL: &[ToolMode] = &[ToolMode::Manual, ToolMode::Auto, ToolMode::Off];
}

impl Word for ToolMode {
    fn word(self) -> &'static str {
        match self {
            ToolMode::Manual => "manual",
            ToolMode::Auto => "auto",
            ToolMode::Off => "off",
        }
    }
}

/// The most that `auto` runs without asking. `full` is not here: it is always asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum AutoAccess {
    /// Read the working directory (the default).
    Read,
    /// And write in it.
    Write,
    /// And use the network.
    Net,
}

impl AutoAccess {
    /// All of them, least first.
    pub const ALL: &[AutoAccess] = &[AutoAccess::Read, AutoAccess::Write, AutoAccess::Net];
}

impl Word for AutoAccess {
    fn word(self) -> &'static str {
        match self {
            AutoAccess::Read => "read",
            AutoAccess::Write => "write",
            AutoAccess::Net => "net",
        }
    }
}
