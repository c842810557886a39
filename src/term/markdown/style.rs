//! A styled span of text.

use super::super::Paint;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Style {
    pub bold: bool,
    pub dim: bool,
    pub italic: bool,
    pub underlined: bool,
    pub struck: bool,
    pub code: bool,
}

impl Style {
    pub const BOLD: Style = Style { bold: true, ..Style::PLAIN };
    pub const DIM: Style = Style { dim: true, ..Style::PLAIN };
    const PLAIN: Style =
        Style { bold: false, dim: false, italic: false, underlined: false, struck: false, code: false };

    /// Returns the SGR codes (ECMA-48, 8.3.117).
    fn codes(self) -> String {
        let all = [
            (self.bold, "1"),
            (self.dim, "2"),
            (self.italic, "3"),
            (self.underlined, "4"),
            (self.struck, "9"),
            (self.code, "36"),
        ];
        all.iter().filter(|(on, _)| *on).map(|(_, code)| *code).collect::<Vec<_>>().join(";")
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Span {
    pub text: String,
    pub style: Style,
}

impl Span {
    pub fn new(text: impl Into<String>, style: Style) -> Span {
        Span { text: text.into(), style }
    }

    /// Appends the painted text; each span resets its style, so that the terminal is clean wherever an answer
    /// stops.
    pub fn paint(&self, paint: Paint, out: &mut String) {
        match self.style {
            // Fast path for most text.
            Style::PLAIN => out.push_str(&self.text),
            style => out.push_str(&paint.sgr(&style.codes(), &self.text)),
        }
    }
}
