//! Decides whether text between the delimiters of a formula is meant as one: `\(a\)` of a regular expression, `\[y/N\]`
//! and `$HOME$` are not.

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

/// A formula without its delimiters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DelimitedFormula<'t> {
    open: &'t str,
    /// The text between the delimiters.
    pub inner: &'t str,
}

impl<'t> DelimitedFormula<'t> {
    /// Splits a text that has the delimiters of a formula.
    pub fn parse(text: &'t str) -> Option<DelimitedFormula<'t>> {
        [("$$", "$$"), ("$", "$"), ("\\(", "\\)"), ("\\[", "\\]")].into_iter().find_map(|(open, close)| {
            let inner = text.strip_prefix(open)?.strip_suffix(close)?;
            Some(DelimitedFormula { open: text.split_at(text.len() - inner.len() - close.len()).0, inner })
        })
    }

    /// Whether it is set on lines of its own.
    pub fn is_display(self) -> bool {
        matches!(self.open, "$$" | "\\[")
    }

    /// Whether it is a formula: it has a command, a script, an operator, or is one letter.
    pub fn is_meant(self, context: FormulaContext) -> bool {
        let inner = self.inner.trim();
        has_sign(inner) && (is_certain(inner, self.open) || is_weak_formula(inner, self.open, context))
    }
}

/// Whether the text has a command, or a script that is not the middle of a name.
fn is_certain(inner: &str, open: &str) -> bool {
    let has_command = inner.split('\\').skip(1).any(|after| {
        let is_escape = open.starts_with('$') && after.starts_with(['{', '}', '|']);
        after.starts_with(|c: char| c.is_ascii_alphabetic()) || is_escape
    });
    let is_word = |text: Option<char>| text.is_some_and(|c| c.is_ascii_alphabetic());
    let is_name = |(at, _): (usize, &str)| {
        let (before, after) = inner.split_at(at);
        let (mut before, mut after) = (before.chars().rev(), after.chars().skip(1));
        is_word(before.next()) && is_word(before.next()) && is_word(after.next()) && is_word(after.next())
    };
    let is_escape = |(at, _): (usize, &str)| inner.split_at(at).0.ends_with('\\');
    let is_script = |mark: (usize, &str)| !is_escape(mark);
    has_command
        || inner.match_indices('^').any(is_script)
        || inner.match_indices('_').any(is_script) && !inner.match_indices('_').any(is_name)
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
mod tests {
    use super::*;

    #[test]
    fn a_text_between_delimiters_is_a_formula_by_its_signs_and_its_surroundings() {
        let alone = FormulaContext { indent: Some(0), ..FormulaContext::default() };
        for (text, is_meant) in [
            ("$x$", true),
            ("$abc$", false),
            (r"$\{1\}$", true),
            (r"\(\{\}\)", false),
            (r"\(\alpha\)", true),
            ("$a_1$", true),
            ("$user_id$", false),
            ("$user_id + x_1$", false),
            (r"\[some\_name\]", false),
            (r"\[2\^3\]", false),
            ("$2^3$", true),
            (r"\[y/N\]", false),
            (r"\(n-1\)", true),
            (r"\(y/n\)", false),
            (r"\(.*\)", false),
            ("$$a = b, \\quad c$$", true),
            ("$key=value$", false),
        ] {
            let formula = DelimitedFormula::parse(text);
            assert_eq!(formula.map(|formula| formula.is_meant(alone)), Some(is_meant), "{text}");
        }
        for (before, text, after, is_meant) in [
            (Some('/'), r"\(a\)", Some('/'), false),
            (Some(' '), r"\(a\)", Some(' '), true),
            (Some(' '), r"\[x = 1\]", None, false),
        ] {
            let formula = DelimitedFormula::parse(text);
            let context = FormulaContext { before, indent: None, after };
            assert_eq!(formula.map(|formula| formula.is_meant(context)), Some(is_meant), "{text}");
        }
        assert_eq!(DelimitedFormula::parse("x"), None);
        assert_eq!(DelimitedFormula::parse("$"), None);
    }
}
