//! The settings that are one word out of a few: closed enums, spelled the same in a file, in the
//! environment, in a flag and in `lepo config`.

/// A value that is written as one lower-case word.
pub trait Word: Copy + 'static {
    /// The word.
    fn word(self) -> &'static str;
}

/// The one of `allowed` that is written `text`.
pub fn read_word<T: Word>(text: &str, allowed: &[T]) -> Option<T> {
    allowed.iter().copied().find(|value| value.word() == text)
}

/// `manual | auto`, for messages.
pub fn list_words<T: Word>(allowed: &[T]) -> String {
    allowed.iter().map(|value| value.word()).collect::<Vec<_>>().join(" | ")
}

/// The least level of what the log of `do` holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogLevel {
    /// Every request and response too, without keys.
    Debug,
    /// The default.
    Info,
    /// Failures that were survived.
    Warn,
    /// Failures.
    Error,
}

impl LogLevel {
    /// All of them.
    pub const ALL: &[LogLevel] = &[LogLevel::Debug, LogLevel::Info, LogLevel::Warn, LogLevel::Error];
}

impl Word for LogLevel {
    fn word(self) -> &'static str {
        match self {
            LogLevel::Debug => "debug",
            LogLevel::Info => "info",
            LogLevel::Warn => "warn",
            LogLevel::Error => "error",
        }
    }
}

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

/// Automatic compaction of a conversation that outgrows its window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AutoCompact {
    /// Only when it is asked for (the default).
    Off,
    /// Before a question that would not fit.
    Auto,
}

impl AutoCompact {
    /// All of them.
    pub const ALL: &[AutoCompact] = &[AutoCompact::Off, AutoCompact::Auto];
}

impl Word for AutoCompact {
    fn word(self) -> &'static str {
        match self {
            AutoCompact::Off => "off",
            AutoCompact::Auto => "auto",
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

/// The way it is decided that a command is needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Planner {
    /// The planner that suits the model (the default): native where its API carries tools, the chooser
    /// where not, off for the embedded model.
    Auto,
    /// A tool chooser, then a command writer.
    Chooser,
    /// The model itself: the command is one of its native tools.
    Native,
    /// Not at all: the answer comes at once.
    Off,
}

impl Planner {
    /// All of them.
    pub const ALL: &[Planner] = &[Planner::Auto, Planner::Chooser, Planner::Native, Planner::Off];
}

impl Word for Planner {
    fn word(self) -> &'static str {
        match self {
            Planner::Auto => "auto",
            Planner::Chooser => "chooser",
            Planner::Native => "native",
            Planner::Off => "off",
        }
    }
}

/// The effect of an empty line at the prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EmptyLine {
    /// Leaves the session (the default).
    Leave,
    /// Does nothing.
    Stay,
}

impl EmptyLine {
    /// All of them.
    pub const ALL: &[EmptyLine] = &[EmptyLine::Leave, EmptyLine::Stay];
}

impl Word for EmptyLine {
    fn word(self) -> &'static str {
        match self {
            EmptyLine::Leave => "leave",
            EmptyLine::Stay => "stay",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Provider, Wire};

    fn check<T: Word + PartialEq + std::fmt::Debug>(all: &[T], listed: &str) {
        assert_eq!(list_words(all), listed);
        for value in all {
            assert_eq!(read_word(value.word(), all), Some(*value));
        }
        assert_eq!(read_word("Loud", all), None);
    }

    #[test]
    fn every_word_reads_back() {
        check(LogLevel::ALL, "debug | info | warn | error");
        check(ToolMode::ALL, "manual | auto | off");
        check(ToolMode::LASTING, "manual | auto");
        check(AutoAccess::ALL, "read | write | net");
        check(AutoCompact::ALL, "off | auto");
        check(Planner::ALL, "auto | chooser | native | off");
        check(EmptyLine::ALL, "leave | stay");
        check(Provider::ALL, "openai | anthropic | ollama | cli | embedded");
        check(Wire::ALL, "responses | chat");
        assert!(AutoAccess::Read < AutoAccess::Net);
    }
}
