//! Writes a formula in Unicode where that loses nothing. Decides too whether a text between delimiters is meant as
//! one: `\(a\)` of a regular expression and `\[y/N\]` are not.

mod atoms;
mod parser;
mod scripts;
mod symbols;

use unicode_width::UnicodeWidthChar;

/// The text around a formula.
#[derive(Debug, Clone, Copy, Default)]
pub struct FormulaContext {
    /// The character before it on its line.
    pub before: Option<char>,
    /// Number of blanks before it on its line, if nothing else is.
    pub indent: Option<usize>,
    /// The character after it; `None` at the end of the text.
    pub after: Option<char>,
}

/// Returns the formula, which has its delimiters, in Unicode and without them; `None` if its source must be shown.
pub fn to_unicode(formula: &str, context: FormulaContext) -> Option<String> {
    let (open, inner) = ["$$", "$", "\\(", "\\["].iter().find_map(|open| {
        let inner = formula.strip_prefix(open)?.strip_suffix(&open.replace('(', ")").replace('[', "]"))?;
        Some((*open, inner))
    })?;
    let lead = inner.len() - inner.trim_start().len();
    let indent = context.indent.unwrap_or_default();
    // Columns of its first line that has more than the delimiter.
    let begin = inner.split_at(lead).0.rsplit_once('\n').map_or(indent, |(_, blanks)| blanks.len());
    let inner = inner.trim();
    let is_dollar = open.starts_with('$');
    if !has_sign(inner) {
        return None;
    }
    let (text, signs) = parser::parse(inner)?;
    let is_certain = signs.has_command || signs.has_script || is_dollar && signs.has_escape;
    let is_meant = is_certain || is_weak_formula(inner, open, context);
    let text = text.trim();
    // Nothing may be left of blanks alone, and a combining character would join the text before it.
    let is_visible = text.chars().next().is_some_and(|first| first.width() != Some(0));
    (is_meant && is_visible).then(|| align(text, begin, indent))
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

/// Whether the text has anything that only formulas have: most text between dollar signs has not.
fn has_sign(inner: &str) -> bool {
    let is_letter = inner.chars().count() == 1;
    is_letter || inner.contains(|c| matches!(c, '\\' | '^' | '_') || is_operator(c, true))
}

/// Whether a character relates or joins operands. After a backslash and a bracket, `y/N` and `a-z` are text.
fn is_operator(c: char, is_dollar: bool) -> bool {
    match c {
        '=' | '<' | '>' | '+' | '*' | '−' | '×' | '÷' | '±' | '·' => true,
        '-' | '/' => is_dollar,
        _ => matches!(c, '\u{2190}'..='\u{21ff}' | '\u{2200}'..='\u{22ff}'),
    }
}

/// Whether a text without commands and scripts is a formula: one letter, or operands and operators without names.
fn is_weak_formula(inner: &str, open: &str, context: FormulaContext) -> bool {
    let is_dollar = open.starts_with('$');
    let is_one = inner.chars().count() == 1 && inner.starts_with(char::is_alphabetic);
    let has_operator = inner.contains(|c| is_operator(c, is_dollar))
        || open == "\\(" && inner.contains(['-', '/']) && !inner.eq_ignore_ascii_case("y/n")
        || inner.contains(" - ")
        || inner.contains(" / ");
    let has_name = has_name(inner);
    let is_regex = [".*", ".+", ".?", "[^"].iter().any(|sign| inner.contains(sign));
    let is_sum = has_operator && !has_name && !is_regex;
    if !is_one && !is_sum {
        return false;
    }
    match open {
        "\\(" => {
            let opens = |c: char| c.is_whitespace() || "([{—–-:,;=".contains(c) || is_wide_letter(c);
            let closes = |c: char| c.is_whitespace() || c.is_alphabetic() || ".,;:!?)]}—–-=".contains(c);
            context.before.is_none_or(opens) && context.after.is_none_or(closes)
        }
        // Square brackets that Markdown would take for a link are escaped so; a formula has its own line.
        "\\[" => context.indent.is_some() && context.after.is_none_or(|after| after == '\n'),
        _ => true,
    }
}

/// Whether a run of letters is longer than a product of two: commands of blanks have names too.
fn has_name(inner: &str) -> bool {
    let is_long = |text: &str| text.chars().take_while(|c| c.is_alphabetic()).count() > 2;
    let mut before = ' ';
    inner.char_indices().any(|(at, c)| {
        let starts = c.is_alphabetic() && !before.is_alphabetic() && before != '\\';
        before = c;
        starts && inner.get(at..).is_some_and(is_long)
    })
}

/// Whether a letter may directly precede a formula: Chinese and Korean need no space there.
fn is_wide_letter(c: char) -> bool {
    c.is_alphabetic() && !c.is_ascii()
}

#[cfg(test)]
mod tests;
