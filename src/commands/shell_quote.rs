//! Removes shell quoting from the arguments of a command line.

/// Quoting state at a position of a command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quote {
    None,
    Single,
    Double,
    /// `$'…'`, with the escapes of C.
    Dollar,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QuotingRules {
    /// For bash and zsh.
    Posix,
    Fish,
}

/// Unquotes an argument, or the beginning of one, that starts within `quote`.
pub fn unquoted(word: &str, mut quote: Quote, rules: QuotingRules) -> String {
    let mut text = String::with_capacity(word.len());
    let mut chars = word.chars().peekable();
    while let Some(c) = chars.next() {
        let escapes = |next: char| match (quote, rules) {
            (Quote::None | Quote::Dollar, _) => true,
            (Quote::Double, _) => matches!(next, '$' | '`' | '"' | '\\'),
            (Quote::Single, QuotingRules::Fish) => matches!(next, '\'' | '\\'),
            (Quote::Single, QuotingRules::Posix) => false,
        };
        match c {
            '\\' => match chars.peek() {
                Some(&next) if escapes(next) => text.extend(chars.next()),
                // A backslash at the end would escape the next character to be typed.
                None if quote != Quote::Single => {}
                _ => text.push(c),
            },
            '$' if quote == Quote::None && rules == QuotingRules::Posix && chars.peek() == Some(&'\'') => {
                chars.next();
                quote = Quote::Dollar;
            }
            _ => match turned(c, quote) {
                Some(next) => quote = next,
                None => text.push(c),
            },
        }
    }
    text
}

/// Returns the quoting state at the end of a POSIX command line.
pub fn quote_after(line: &str) -> Quote {
    let mut quote = Quote::None;
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\\' if quote != Quote::Single => drop(chars.next()),
            '$' if quote == Quote::None && chars.peek() == Some(&'\'') => {
                chars.next();
                quote = Quote::Dollar;
            }
            _ => quote = turned(c, quote).unwrap_or(quote),
        }
    }
    quote
}

/// Returns the quoting state after a quote character; `None` if `c` does not change it.
fn turned(c: char, quote: Quote) -> Option<Quote> {
    match (c, quote) {
        ('\'', Quote::None) => Some(Quote::Single),
        ('"', Quote::None) => Some(Quote::Double),
        ('\'', Quote::Single | Quote::Dollar) | ('"', Quote::Double) => Some(Quote::None),
        _ => None,
    }
}

/// Escapes a value for bash's line within `quote`: readline splits at `=` and `:`, except after a backslash;
/// it also splits an option from its value.
pub fn unsplit(word: &str, quote: Quote) -> String {
    match quote == Quote::None && !word.starts_with('-') {
        true => word.replace('=', r"\=").replace(':', r"\:"),
        false => word.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_read_as_its_shell_reads_it() {
        for (word, quote, rules, text) in [
            ("plain", Quote::None, QuotingRules::Posix, "plain"),
            (r"a\ b\$\(x\)", Quote::None, QuotingRules::Posix, "a b$(x)"),
            (r#""a $b \"c\" \x"#, Quote::None, QuotingRules::Posix, r#"a $b "c" \x"#),
            (r"'it'\''s", Quote::None, QuotingRules::Posix, "it's"),
            (r"it'\''s", Quote::Single, QuotingRules::Posix, "it's"),
            (r"a\'b", Quote::Double, QuotingRules::Posix, r"a\'b"),
            (r"$'it\'s", Quote::None, QuotingRules::Posix, "it's"),
            (r"a\", Quote::None, QuotingRules::Posix, "a"),
            (r"a\", Quote::Single, QuotingRules::Posix, r"a\"),
            (r"'it\'s", Quote::None, QuotingRules::Fish, "it's"),
            (r"'a\b", Quote::None, QuotingRules::Fish, r"a\b"),
            ("한'글", Quote::None, QuotingRules::Fish, "한글"),
        ] {
            assert_eq!(unquoted(word, quote, rules), text, "{word}");
        }
    }

    #[test]
    fn the_quotation_at_the_end_of_a_line_is_known() {
        for (line, quote) in [
            ("lepo do ", Quote::None),
            ("lepo do '", Quote::Single),
            ("lepo do 'a' \"", Quote::Double),
            (r"lepo do \'", Quote::None),
            (r"lepo do 'a\' ", Quote::None),
            (r#"lepo do "a\" '"#, Quote::Double),
            (r"lepo do $'a\'", Quote::Dollar),
            ("", Quote::None),
        ] {
            assert_eq!(quote_after(line), quote, "{line}");
        }
    }

    #[test]
    fn readline_is_kept_from_parting_a_word() {
        for (word, quote, given) in [
            ("a:b=c", Quote::None, r"a\:b\=c"),
            ("a:b=c", Quote::Single, "a:b=c"),
            ("a:b=c", Quote::Double, "a:b=c"),
            ("--file=a:b", Quote::None, "--file=a:b"),
            ("한글.md", Quote::None, "한글.md"),
        ] {
            assert_eq!(unsplit(word, quote), given, "{word} in {quote:?}");
            assert_eq!(unquoted(given, quote, QuotingRules::Posix), word);
        }
    }
}
