//! Settings with a fixed list of values: closed enums, spelled alike in a file, the environment, a flag and
//! `lepo config`.

use lepo_base::keyword::Keyword;

/// Minimum level of records in the log of `do`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogLevel {
    /// Every request and response too, without keys.
    Debug,
    /// The default.
    Info,
    /// Failures from which lepo recovered.
    Warn,
    /// Failures.
    Error,
}

impl LogLevel {
    /// All levels.
    pub const ALL: &[LogLevel] = &[LogLevel::Debug, LogLevel::Info, LogLevel::Warn, LogLevel::Error];
}

impl Keyword for LogLevel {
    fn as_str(self) -> &'static str {
        match self {
            LogLevel::Debug => "debug",
            LogLevel::Info => "info",
            LogLevel::Warn => "warn",
            LogLevel::Error => "error",
        }
    }
}

/// Automatic compaction of a conversation that exceeds its window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AutoCompact {
    /// Only on request (the default).
    Off,
    /// Before a question that would not fit.
    Auto,
}

impl AutoCompact {
    /// Both values.
    pub const ALL: &[AutoCompact] = &[AutoCompact::Off, AutoCompact::Auto];
}

impl Keyword for AutoCompact {
    fn as_str(self) -> &'static str {
        match self {
            AutoCompact::Off => "off",
            AutoCompact::Auto => "auto",
        }
    }
}

/// Where the calls and results of a turn are once it has its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallHistory {
    /// On a side branch, so that later turns do not send them (the default).
    Turn,
    /// On its path, hidden; later turns send them.
    Keep,
}

impl CallHistory {
    /// Both values.
    pub const ALL: &[CallHistory] = &[CallHistory::Turn, CallHistory::Keep];
}

impl Keyword for CallHistory {
    fn as_str(self) -> &'static str {
        match self {
            CallHistory::Turn => "turn",
            CallHistory::Keep => "keep",
        }
    }
}

/// Treatment of secrets in writes to a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SecretsMode {
    /// Replaces each secret by a mask (the default).
    Mask,
    /// Writes secrets unmasked, and warns.
    Warn,
    /// Does not look for secrets.
    Off,
}

impl SecretsMode {
    /// All treatments.
    pub const ALL: &[SecretsMode] = &[SecretsMode::Mask, SecretsMode::Warn, SecretsMode::Off];
}

impl Keyword for SecretsMode {
    fn as_str(self) -> &'static str {
        match self {
            SecretsMode::Mask => "mask",
            SecretsMode::Warn => "warn",
            SecretsMode::Off => "off",
        }
    }
}

/// Questions that start a new conversation automatically.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NewConversation {
    /// No question (the default).
    Never,
    /// Questions from scripts: without a terminal on stdin and stdout.
    Pipe,
    /// Every question.
    Always,
}

impl NewConversation {
    /// All values.
    pub const ALL: &[NewConversation] =
        &[NewConversation::Never, NewConversation::Pipe, NewConversation::Always];
}

impl Keyword for NewConversation {
    fn as_str(self) -> &'static str {
        match self {
            NewConversation::Never => "never",
            NewConversation::Pipe => "pipe",
            NewConversation::Always => "always",
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
    /// Both values.
    pub const ALL: &[EmptyLine] = &[EmptyLine::Leave, EmptyLine::Stay];
}

impl Keyword for EmptyLine {
    fn as_str(self) -> &'static str {
        match self {
            EmptyLine::Leave => "leave",
            EmptyLine::Stay => "stay",
        }
    }
}

/// Key bindings of the prompt.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum EditKeys {
    /// Emacs (the default).
    #[default]
    Emacs,
    /// vi.
    Vi,
}

impl EditKeys {
    /// Both values.
    pub const ALL: &[EditKeys] = &[EditKeys::Emacs, EditKeys::Vi];
}

impl Keyword for EditKeys {
    fn as_str(self) -> &'static str {
        match self {
            EditKeys::Emacs => "emacs",
            EditKeys::Vi => "vi",
        }
    }
}

/// The part of a model's thinking that a terminal shows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ThinkingShown {
    /// The whole text (the default).
    #[default]
    Show,
    /// Only its duration.
    Brief,
    /// Nothing.
    Hide,
}

impl ThinkingShown {
    /// All values.
    pub const ALL: &[ThinkingShown] = &[ThinkingShown::Show, ThinkingShown::Brief, ThinkingShown::Hide];
}

impl Keyword for ThinkingShown {
    fn as_str(self) -> &'static str {
        match self {
            ThinkingShown::Show => "show",
            ThinkingShown::Brief => "brief",
            ThinkingShown::Hide => "hide",
        }
    }
}

/// How formulas of an answer are shown on a terminal.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum MathNotation {
    /// In Unicode, where that loses nothing (the default).
    #[default]
    Unicode,
    /// As the model wrote them.
    Source,
}

impl MathNotation {
    /// Both values.
    pub const ALL: &[MathNotation] = &[MathNotation::Unicode, MathNotation::Source];
}

impl Keyword for MathNotation {
    fn as_str(self) -> &'static str {
        match self {
            MathNotation::Unicode => "unicode",
            MathNotation::Source => "source",
        }
    }
}

/// How the terminal calls the user after a long wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AttentionSignal {
    /// A bell (the default of a session).
    Bell,
    /// A notification by the control sequence OSC 9.
    Osc9,
    /// Nothing (the default of `do`).
    Off,
}

impl AttentionSignal {
    /// All values.
    pub const ALL: &[AttentionSignal] = &[AttentionSignal::Bell, AttentionSignal::Osc9, AttentionSignal::Off];
}

impl Keyword for AttentionSignal {
    fn as_str(self) -> &'static str {
        match self {
            AttentionSignal::Bell => "bell",
            AttentionSignal::Osc9 => "osc9",
            AttentionSignal::Off => "off",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lepo_base::keyword::{list_words, parse_keyword};
    use lepo_model::{Planner, Provider, Wire};
    use lepo_tool::{AutoAccess, ToolMode};

    fn check<T: Keyword + PartialEq + std::fmt::Debug>(all: &[T], listed: &str) {
        assert_eq!(list_words(all), listed);
        for value in all {
            assert_eq!(parse_keyword(value.as_str(), all), Some(*value));
        }
        assert_eq!(parse_keyword("Loud", all), None);
    }

    #[test]
    fn every_word_reads_back() {
        check(LogLevel::ALL, "debug | info | warn | error");
        check(ToolMode::ALL, "manual | auto | off");
        check(ToolMode::LASTING, "manual | auto");
        check(AutoAccess::ALL, "read | write | net");
        check(AttentionSignal::ALL, "bell | osc9 | off");
        check(AutoCompact::ALL, "off | auto");
        check(Planner::ALL, "auto | chooser | native | off");
        check(EmptyLine::ALL, "leave | stay");
        check(EditKeys::ALL, "emacs | vi");
        check(ThinkingShown::ALL, "show | brief | hide");
        check(MathNotation::ALL, "unicode | source");
        check(NewConversation::ALL, "never | pipe | always");
        check(CallHistory::ALL, "turn | keep");
        check(Provider::ALL, "openai | anthropic | ollama | cli | acp | embedded");
        check(Wire::ALL, "responses | chat");
        assert!(AutoAccess::Read < AutoAccess::Net);
    }
}
