//! The lines of a front matter, for a parser.

/// A line: its number in the file, its indent, and its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FrontMatterLine<'t> {
    /// Counted from 1.
    pub number: usize,
    /// Leading blanks, relative to the first line.
    pub indent: usize,
    /// Whether the line has fewer leading blanks than the first line.
    pub is_outdented: bool,
    /// The text after the indent, without trailing white space.
    pub text: &'t str,
}

impl FrontMatterLine<'_> {
    pub fn is_empty(&self) -> bool {
        self.text.is_empty() || self.text.starts_with('#')
    }
}

pub struct FrontMatterLines<'t> {
    lines: Vec<FrontMatterLine<'t>>,
    index: usize,
}

impl<'t> FrontMatterLines<'t> {
    /// Splits a text that starts after the first line of its file.
    pub fn new(text: &'t str) -> FrontMatterLines<'t> {
        let indent = |line: &str| line.len() - line.trim_start_matches(' ').len();
        let first = text.lines().find(|line| !line.trim().is_empty()).map(indent).unwrap_or_default();
        let line = |(i, line): (usize, &'t str)| {
            let (text, indent) = (line.trim(), indent(line));
            let text = if line.trim_start_matches(' ').starts_with('\t') {
                line.trim_start_matches(' ')
            } else {
                text
            };
            let is_outdented = indent < first && !text.is_empty();
            FrontMatterLine {
                number: i + 2,
                indent: indent.saturating_sub(first),
                is_outdented,
                text: text.trim_end(),
            }
        };
        FrontMatterLines { lines: text.lines().enumerate().map(line).collect(), index: 0 }
    }

    pub fn next(&mut self) -> Option<FrontMatterLine<'t>> {
        let line = self.lines.get(self.index).copied();
        self.index += 1;
        line
    }

    /// Consumes and returns the next line, if `is` accepts it.
    pub fn next_if(&mut self, is: impl Fn(&FrontMatterLine<'t>) -> bool) -> Option<FrontMatterLine<'t>> {
        let line = self.lines.get(self.index).copied().filter(is)?;
        self.index += 1;
        Some(line)
    }

    /// Returns the remaining lines without consuming them.
    pub fn rest(&self) -> impl Iterator<Item = FrontMatterLine<'t>> {
        self.lines.get(self.index..).unwrap_or_default().iter().copied()
    }

    pub fn pass(&mut self, count: usize) {
        self.index += count;
    }

    /// Returns the next non-empty line without consuming it.
    pub fn ahead(&self) -> Option<FrontMatterLine<'t>> {
        self.rest().find(|line| !line.is_empty())
    }
}
