//! The lines of a front matter, as a reader goes through them.

/// One line: its number in the file, its indent, and what stands behind that.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FrontMatterLine<'t> {
    /// From 1 on.
    pub number: usize,
    /// Blanks at the beginning, beyond those of the first line.
    pub indent: usize,
    /// There are fewer of them than before the first line.
    pub is_outdented: bool,
    /// The text behind them, without white space at the end.
    pub text: &'t str,
}

impl FrontMatterLine<'_> {
    /// True for nothing at all, and for a comment.
    pub fn is_empty(&self) -> bool {
        self.text.is_empty() || self.text.starts_with('#')
    }
}

/// The lines of a front matter.
pub struct Lines<'t> {
    lines: Vec<FrontMatterLine<'t>>,
    at: usize,
}

impl<'t> Lines<'t> {
    /// The lines of a text that begins behind the first one of its file.
    pub fn of(text: &'t str) -> Lines<'t> {
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
        Lines { lines: text.lines().enumerate().map(line).collect(), at: 0 }
    }

    /// The next line.
    pub fn next(&mut self) -> Option<FrontMatterLine<'t>> {
        let line = self.lines.get(self.at).copied();
        self.at += 1;
        line
    }

    /// The next line, if it is such a one.
    pub fn next_if(&mut self, is: impl Fn(&FrontMatterLine<'t>) -> bool) -> Option<FrontMatterLine<'t>> {
        let line = self.lines.get(self.at).copied().filter(is)?;
        self.at += 1;
        Some(line)
    }

    /// The lines that were not taken yet, without taking them.
    pub fn rest(&self) -> impl Iterator<Item = FrontMatterLine<'t>> {
        self.lines.get(self.at..).unwrap_or_default().iter().copied()
    }

    /// Takes so many lines.
    pub fn pass(&mut self, count: usize) {
        self.at += count;
    }

    /// The next line that is not empty, without taking it.
    pub fn ahead(&self) -> Option<FrontMatterLine<'t>> {
        self.rest().find(|line| !line.is_empty())
    }
}
