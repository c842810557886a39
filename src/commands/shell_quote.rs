//! Words of a command line as shells quote them: read back to their text, and quoted to be put there.

/// The quotation that a place on a command line is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quote {
    None,
    Single,
    Double,
    /// `$'…'`, in which escapes are those of C.
    Dollar,
}

/// The quoting rules of a shell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rules {
    /// Of bash and zsh.
    Posix,
    Fish,
}

/// The text of a word, or of the begin of one, which starts within `quote`.
pub fn unquoted(word: &str, mut quote: Quote, rules: Rules) -> String {
    let mut text = String::with_capacity(word.len());
    let mut chars = word.chars().peekable();
    while let Some(c) = chars.next() {
        let escapes = |next: char| match (quote, rules) {
            (Quote::None | Quote::Dollar, _) => true,
            (Quote::Double, _) => matches!(next, '$' | '`' | '"' | '\\'),
            (Quote::Single, Rules::Fish) => matches!(next, '\'' | '\\'),
            (Quote::Single, Rules::Posix) => false,
        };
        match c {
            '\\' => match chars.peek() {
                Some(&next) if escapes(next) => text.extend(chars.next()),
                // One at the end is about to escape what is typed next.
                None if quote != Quote::Single => {}
                _ => text.push(c),
            },
            '$' if quote == Quote::None && rules == Rules::Posix && chars.peek() == Some(&'\'') => {
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

/// The quotation at the end of a line of a POSIX shell.
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

/// The quotation that a character begins or ends.
fn turned(c: char, quote: Quote) -> Option<Quote> {
    match (c, quote) {
        ('\'', Quote::None) => Some(Quote::Single),
        ('"', Quote::None) => Some(Quote::Double),
        ('\'', Quote::Single | Quote::Dollar) | ('"', Quote::Double) => Some(Quote::None),
        _ => None,
    }
}

/// A text as bash must find it on its line, at a place within `quote`; nothing if it cannot be written there.
/// A tilde at its begin stays one for the home directory only if it was typed as one.
pub fn for_bash(text: &str, quote: Quote, tilde: bool) -> Option<String> {
    // Within quotes, no sign keeps an exclamation mark from being one of the history.
    let history = text.contains('!');
    match quote {
        Quote::None => {
            // These part words in readline, and an option's value from its name.
            let parts = if text.starts_with('-') { "" } else { "=:" };
            let mut quoted = String::with_capacity(text.len());
            for (at, c) in text.char_indices() {
                let bare = is_bare(c) || (c == '~' && at == 0 && tilde) || (c == '~' && at > 0);
                if !bare || parts.contains(c) {
                    quoted.push('\\');
                }
                quoted.push(c);
            }
            Some(quoted)
        }
        Quote::Single if history && text.contains('\'') => None,
        Quote::Single => Some(text.replace('\'', r"'\''")),
        Quote::Double if history => None,
        Quote::Double => {
            let mut quoted = String::with_capacity(text.len());
            for c in text.chars() {
                if matches!(c, '$' | '`' | '"' | '\\') {
                    quoted.push('\\');
                }
                quoted.push(c);
            }
            Some(quoted)
        }
        Quote::Dollar => text.chars().all(is_bare).then(|| text.to_string()),
    }
}

/// Means itself to every shell, anywhere in a word.
pub fn is_bare(c: char) -> bool {
    c.is_ascii_alphanumeric() || "-_.,@%+=:/".contains(c) || (!c.is_ascii() && !c.is_whitespace())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_read_as_its_shell_reads_it() {
        for (word, quote, rules, text) in [
            ("plain", Quote::None, Rules::Posix, "plain"),
            (r"a\ b\$\(x\)", Quote::None, Rules::Posix, "a b$(x)"),
            (r#""a $b \"c\" \x"#, Quote::None, Rules::Posix, r#"a $b "c" \x"#),
            (r"'it'\''s", Quote::None, Rules::Posix, "it's"),
            (r"it'\''s", Quote::Single, Rules::Posix, "it's"),
            (r"a\'b", Quote::Double, Rules::Posix, r"a\'b"),
            (r"$'it\'s", Quote::None, Rules::Posix, "it's"),
            (r"a\", Quote::None, Rules::Posix, "a"),
            (r"a\", Quote::Single, Rules::Posix, r"a\"),
            (r"'it\'s", Quote::None, Rules::Fish, "it's"),
            (r"'a\b", Quote::None, Rules::Fish, r"a\b"),
            ("한'글", Quote::None, Rules::Fish, "한글"),
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
    fn what_bash_is_given_means_the_text() {
        for (text, bare, single, double) in [
            ("a b", Some(r"a\ b"), Some("a b"), Some("a b")),
            ("$(x)", Some(r"\$\(x\)"), Some("$(x)"), Some(r"\$(x)")),
            ("`x`", Some(r"\`x\`"), Some("`x`"), Some(r"\`x\`")),
            ("it's", Some(r"it\'s"), Some(r"it'\''s"), Some("it's")),
            (r#"a"\b"#, Some(r#"a\"\\b"#), Some(r#"a"\b"#), Some(r#"a\"\\b"#)),
            ("a!b", Some(r"a\!b"), Some("a!b"), None),
            ("a!'b", Some(r"a\!\'b"), None, None),
            ("~root", Some(r"\~root"), Some("~root"), Some("~root")),
            ("a~", Some("a~"), Some("a~"), Some("a~")),
            ("a:b=c", Some(r"a\:b\=c"), Some("a:b=c"), Some("a:b=c")),
            ("--file=a;b", Some(r"--file=a\;b"), Some("--file=a;b"), Some("--file=a;b")),
            ("@..한글", Some("@..한글"), Some("@..한글"), Some("@..한글")),
        ] {
            for (quote, expected) in [(Quote::None, bare), (Quote::Single, single), (Quote::Double, double)] {
                assert_eq!(for_bash(text, quote, false).as_deref(), expected, "{text} in {quote:?}");
            }
            for quoted in [for_bash(text, Quote::None, false), for_bash(text, Quote::Double, false)] {
                let quote = if quoted.as_deref() == double { Quote::Double } else { Quote::None };
                let back = quoted.map(|quoted| unquoted(&quoted, quote, Rules::Posix));
                assert!(back.is_none_or(|back| back == text), "{text}");
            }
        }
        assert_eq!(for_bash("~/a b", Quote::None, true).as_deref(), Some(r"~/a\ b"));
        assert_eq!(for_bash("plain", Quote::Dollar, false).as_deref(), Some("plain"));
        assert_eq!(for_bash("a b", Quote::Dollar, false), None);
    }
}
