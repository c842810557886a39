//! A styled span of text, which may be a link.

use std::borrow::Cow;

use super::super::Paint;
use super::super::links::web_uri;

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
    /// The URI of a link.
    pub link: Option<String>,
}

impl Span {
    pub fn new(text: impl Into<String>, style: Style) -> Span {
        Span { text: text.into(), style, link: None }
    }

    /// Appends the painted text.
    pub fn paint(&self, paint: Paint, out: &mut String) {
        paint_spans(std::slice::from_ref(self), paint, out);
    }
}

/// Returns an address, which is a link if it is one of the web or of mail, in brackets after a blank.
pub fn address_in_brackets(address: &str, style: Style) -> [Span; 3] {
    let address = Span { link: web_uri(address), ..Span::new(address, style) };
    [Span::new(" (", style), address, Span::new(")", style)]
}

/// Appends the painted texts; neighbours with one style are painted as one. Each style is reset, so that the terminal is clean
/// wherever an answer stops.
pub fn paint_spans(spans: &[Span], paint: Paint, out: &mut String) {
    for same in spans.chunk_by(|one, other| one.style == other.style) {
        match same {
            // Fast path for most text.
            [Span { text, style: Style::PLAIN, link: None }] => out.push_str(text),
            [span, ..] => {
                let shown = same.iter().map(|span| match &span.link {
                    Some(uri) => Cow::Owned(paint.link(uri, &span.text)),
                    None => Cow::Borrowed(span.text.as_str()),
                });
                out.push_str(&paint.sgr(&span.style.codes(), &shown.collect::<String>()));
            }
            [] => {}
        }
    }
}
