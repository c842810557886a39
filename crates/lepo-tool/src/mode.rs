//! Settings of consent: whether lepo asks about each request, and which ones run without asking.

use lepo_base::keyword::Keyword;

/// How a tool request gets its consent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolMode {
    /// The user is asked each time (the default).
    Manual,
    /// Announced and run, up to [`AutoAccess`].
    Auto,
    /// No tools at all, and no planner. Only `--tools` sets this.
    Off,
}

impl ToolMode {
    /// Values of a file, of the environment and of `/set-tool-mode`.
    pub const LASTING: &[ToolMode] = &[ToolMode::Manual, ToolMode::Auto];
    /// Values of `--tools`.
    pub const ALL: &[ToolMode] = &[ToolMode::Manual, ToolMode::Auto, ToolMode::Off];
}

impl Keyword for ToolMode {
    fn as_str(self) -> &'static str {
        match self {
            ToolMode::Manual => "manual",
            ToolMode::Auto => "auto",
            ToolMode::Off => "off",
        }
    }
}

/// The most access that `auto` grants without asking. `full` is not included: it is always asked about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum AutoAccess {
    /// Reading the working directory (the default).
    Read,
    /// Also writing in it.
    Write,
    /// Also using the network.
    Net,
}

impl AutoAccess {
    /// All values, from the least access to the most.
    pub const ALL: &[AutoAccess] = &[AutoAccess::Read, AutoAccess::Write, AutoAccess::Net];
}

impl Keyword for AutoAccess {
    fn as_str(self) -> &'static str {
        match self {
            AutoAccess::Read => "read",
            AutoAccess::Write => "write",
            AutoAccess::Net => "net",
        }
    }
}
