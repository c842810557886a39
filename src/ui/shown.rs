//! The options that say which parts of a turn are shown.

use crate::term::{Markdown, Out, Paint, columns};
use lepo_turn::config::ThinkingShown;

/// The parts of a turn that are shown, and their form.
#[derive(Debug, Clone, Copy, Default)]
pub struct Shown {
    /// The answer is in a document that comes at the end.
    pub json: bool,
    /// The answer and nothing else.
    pub quiet: bool,
    /// Hidden bubbs too.
    pub all: bool,
    /// The answer's bytes, not the form that its Markdown asks for.
    pub plain: bool,
    /// No line about what an answer took, whatever the settings say.
    pub no_usage: bool,
    /// In a pipe the final answer only, once it is whole.
    pub whole: bool,
    /// The part of the thinking that a terminal shows.
    pub thinking: ThinkingShown,
}

impl Shown {
    /// The renderer of an answer's Markdown: only on a terminal that has paint.
    pub fn markdown(self, out: &Out, paint: Paint) -> Option<Markdown> {
        let formed = out.is_terminal() && paint.is_on() && !self.plain;
        formed.then(|| Markdown::new(paint, columns))
    }
}
