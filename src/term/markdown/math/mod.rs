//! Writes a formula in Unicode where that loses nothing.

mod atoms;
mod parser;
mod scripts;
mod symbols;

use unicode_width::UnicodeWidthChar;

use lepo_base::formula_sense::{DelimitedFormula, FormulaContext};

/// Returns the formula, which has its delimiters, in Unicode and without them; `None` if its source must be shown.
pub fn to_unicode(formula: &str, context: FormulaContext) -> Option<String> {
    let delimited = DelimitedFormula::parse(formula).filter(|formula| formula.is_meant(context))?;
    let inner = delimited.inner;
    let lead = inner.len() - inner.trim_start().len();
    let indent = context.indent.unwrap_or_default();
    // Columns of its first line that has more than the delimiter.
    let begin = inner.split_at(lead).0.rsplit_once('\n').map_or(indent, |(_, blanks)| blanks.len());
    let text = parser::parse(inner.trim())?;
    let text = text.trim();
    // A combining character would join the text before it.
    let is_visible = text.chars().next().is_some_and(|first| first.width() != Some(0));
    is_visible.then(|| align(text, begin, indent))
}

/// Moves the later lines of a text, the first of which was at column `begin` and is now at `indent`.
fn align(text: &str, begin: usize, indent: usize) -> String {
    let mut lines = text.split('\n');
    let mut aligned = lines.next().unwrap_or_default().to_string();
    for line in lines {
        let blanks = line.len() - line.trim_start().len();
        aligned.push('\n');
        aligned.push_str(&" ".repeat(indent + blanks.saturating_sub(begin)));
        aligned.push_str(line.trim_start());
    }
    aligned
}

#[cfg(test)]
mod tests;
