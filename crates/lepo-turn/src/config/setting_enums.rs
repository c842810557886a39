//! Settings with a fixed list of values: closed enums, spelled alike in a file, the environment, a flag and
//! `lepo config`.

use lepo_base::keyword::Keyword;

/// Defines enums whose values are spelled as a word.
macro_rules! setting_enums {
    ($($(#[$about:meta])* pub enum $name:ident { $($(#[$value_about:meta])* $value:ident = $word:literal,)* })*) => {$(
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum $name {
            $($(#[$value_about])* $value,)*
        }

        impl $name {
            /// All values.
            pub const ALL: &[$name] = &[$($name::$value,)*];
        }

        impl Keyword for $name {
            fn as_str(self) -> &'static str {
                match self {
                    $($name::$value => $word,)*
                }
            }
        }
    )*};
}

setting_enums! {
    /// Minimum level of records in the log of `do`.
    pub enum LogLevel {
        /// Every request and response too, without keys.
        Debug = "debug",
        /// The default.
        Info = "info",
        /// Failures from which lepo recovered.
        Warn = "warn",
        /// Failures.
        Error = "error",
    }

    /// Automatic compaction of a conversation that exceeds its window.
    pub enum AutoCompact {
        /// Only on request (the default).
        Off = "off",
        /// Before a question that would not fit.
        Auto = "auto",
    }

    /// Where the calls and results of a turn are once it has its answer.
    pub enum CallHistory {
        /// On a side branch, so that later turns do not send them (the default).
        Turn = "turn",
        /// On its path, hidden; later turns send them.
        Keep = "keep",
    }

    /// Treatment of secrets in writes to a store.
    pub enum SecretsMode {
        /// Replaces each secret by a mask (the default).
        Mask = "mask",
        /// Writes secrets unmasked, and warns.
        Warn = "warn",
        /// Does not look for secrets.
        Off = "off",
    }

    /// Questions that start a new conversation automatically.
    pub enum NewConversation {
        /// No question (the default).
        Never = "never",
        /// Questions from scripts: without a terminal on stdin and stdout.
        Pipe = "pipe",
        /// Every question.
        Always = "always",
    }

    /// The effect of an empty line at the prompt.
    pub enum EmptyLine {
        /// Leaves the session (the default).
        Leave = "leave",
        /// Does nothing.
        Stay = "stay",
    }

    /// Key bindings of the prompt.
    #[derive(Default)]
    pub enum EditKeys {
        /// Emacs (the default).
        #[default]
        Emacs = "emacs",
        /// vi.
        Vi = "vi",
    }

    /// The part of a model's thinking that a terminal shows.
    #[derive(Default)]
    pub enum ThinkingShown {
        /// The whole text (the default).
        #[default]
        Show = "show",
        /// Only its duration.
        Brief = "brief",
        /// Nothing.
        Hide = "hide",
    }

    /// How formulas of an answer are shown on a terminal.
    #[derive(Default)]
    pub enum MathNotation {
        /// In Unicode, where that loses nothing (the default).
        #[default]
        Unicode = "unicode",
        /// As the model wrote them.
        Source = "source",
    }

    /// How the terminal calls the user after a long wait.
    pub enum AttentionSignal {
        /// A bell (the default of a session).
        Bell = "bell",
        /// A notification by the control sequence OSC 9.
        Osc9 = "osc9",
        /// Nothing (the default of `do`).
        Off = "off",
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
