//! The options for which parts of a turn are shown.

use crate::term::{Markdown, Out, Paint, columns};
use lepo_turn::config::{MathNotation, Settings, ThinkingShown};

#[derive(Debug, Clone, Copy, Default)]
pub struct DisplayOptions {
    /// Whether the answer is part of a document at the end.
    pub json: bool,
    /// Whether only the answer is printed.
    pub quiet: bool,
    /// Whether hidden bubbs are shown, too.
    pub all: bool,
    /// Whether Markdown is printed without rendering.
    pub plain: bool,
    /// Whether usage lines are off, whatever the settings say.
    pub no_usage: bool,
    /// Whether a pipe receives only the final answer, once it is complete.
    pub waits_for_end: bool,
    /// The part of the thinking that a terminal shows.
    pub thinking: ThinkingShown,
    pub math: MathNotation,
}

impl DisplayOptions {
    /// Returns these options with what the settings say of the terminal.
    pub fn with_settings(self, settings: &Settings) -> DisplayOptions {
        DisplayOptions { thinking: settings.term_thinking, math: settings.term_math, ..self }
    }

    /// Returns the renderer of an answer's Markdown; `None` without a terminal or with paint off.
    pub fn markdown(self, out: &Out, paint: Paint) -> Option<Markdown> {
        let formed = out.is_terminal() && paint.is_on() && !self.plain;
        formed.then(|| Markdown::new(paint, self.math, columns))
    }
}
