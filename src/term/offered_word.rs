//! Completions that are safe to offer: none has an invisible character, and none for a shell needs quotes.

use super::clean::clean;
use super::excerpt::width;

/// A completion without control, bidi or invisible characters.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OfferedWord(String);

/// A completion that every shell reads literally without quotes.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BareWord(String);

impl OfferedWord {
    /// Returns `None` if `word` is empty or has a character that the user would not see.
    pub fn parse(word: &str) -> Option<OfferedWord> {
        let mut before = None;
        let is_seen = |c: char| {
            // A combining mark belongs after a letter; elsewhere it changes a character of the line before
            // the completion. The other characters of zero width are emoji joiners.
            let is_joined = |before: char| before.is_alphanumeric() || is_mark(before);
            let is_seen = !c.is_control() && (!is_mark(c) || !is_joiner(c) && before.is_some_and(is_joined));
            before = Some(c);
            is_seen
        };
        let is_whole = !word.is_empty() && clean(word) == word && word.chars().all(is_seen);
        is_whole.then(|| OfferedWord(word.to_string()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl BareWord {
    /// Accepts letters and digits of every script and `-_./:@,+=%`, not beginning with `-`, `=`, `%` or `+`;
    /// `None` for any other. A `~/` at the start of `typed` comes from the user and is not checked.
    pub fn parse(word: &str, typed: &str) -> Option<BareWord> {
        let offered = OfferedWord::parse(word)?;
        let own = if typed.starts_with("~/") { "~/" } else { "" };
        let name = word.strip_prefix(own).unwrap_or(word);
        (!name.starts_with(['-', '=', '%', '+']) && is_bare(name)).then_some(BareWord(offered.0))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<BareWord> for OfferedWord {
    fn from(word: BareWord) -> OfferedWord {
        OfferedWord(word.0)
    }
}

fn is_bare(word: &str) -> bool {
    word.chars().all(|c| match c.is_ascii() {
        true => c.is_ascii_alphanumeric() || "-_./:@,+=%".contains(c),
        false => c.is_alphanumeric() || is_mark(c),
    })
}

/// Whether a character has zero width.
fn is_mark(c: char) -> bool {
    width(c.encode_utf8(&mut [0; 4])) == 0
}

/// Characters that combine emoji: invisible in a name.
fn is_joiner(c: char) -> bool {
    matches!(c, '\u{200d}' | '\u{fe00}'..='\u{fe0f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Names that a repository may contain; whether each is offered at all, and on a shell's command line.
    const NAMES: &[(&str, bool, bool)] = &[
        ("plain.md", true, true),
        ("src/main.rs", true, true),
        ("a-b_c.d,e:f@g+h=i%j", true, true),
        ("한글.md", true, true),
        ("日本語", true, true),
        ("कि्.md", true, true),
        ("e\u{301}te\u{301}.txt", true, true),
        ("naïve.txt", true, true),
        ("v;curl${IFS}x|sh;x", true, false),
        ("$(id)", true, false),
        ("`id`", true, false),
        ("a b", true, false),
        ("a'b", true, false),
        ("a\"b", true, false),
        ("a\\b", true, false),
        ("a*b?[c]", true, false),
        ("a{b,c}", true, false),
        ("a&b|c>d<e", true, false),
        ("a!b", true, false),
        ("a#b^c", true, false),
        ("~/x", true, false),
        ("a~", true, false),
        ("-rf", true, false),
        ("=cmd", true, false),
        ("%1", true, false),
        ("+x", true, false),
        ("a；b", true, false),
        ("a\u{a0}b", true, false),
        ("a’b", true, false),
        ("ab👩💻", true, false),
        ("", false, false),
        ("a\nb", false, false),
        ("a\tb", false, false),
        ("a\u{1b}[31m", false, false),
        ("a\u{7f}", false, false),
        ("a\u{9b}b", false, false),
        ("x\u{202e}gpj.exe", false, false),
        ("x\u{2066}y", false, false),
        ("x\u{200b}y", false, false),
        ("x\u{200d}y", false, false),
        ("👩\u{200d}💻", false, false),
        ("1\u{fe0f}", false, false),
        ("x\u{e0041}", false, false),
        ("x\u{ad}y", false, false),
        ("x\u{3164}y", false, false),
        ("\u{301}x", false, false),
        ("/\u{301}x", false, false),
        ("x\u{feff}", false, false),
    ];

    #[test]
    fn no_name_hides_and_none_is_code() {
        for &(name, is_offered, is_bare) in NAMES {
            assert_eq!(OfferedWord::parse(name).is_some(), is_offered, "{name:?}");
            assert_eq!(BareWord::parse(name, "").is_some(), is_bare, "{name:?}");
            assert_eq!(BareWord::parse(&format!("dir/{name}"), "dir").is_some(), {
                is_bare || ["-rf", "=cmd", "%1", "+x", ""].contains(&name)
            });
        }
    }

    #[test]
    fn the_home_directory_is_the_users_own() {
        for (word, typed, is_bare) in [
            ("~/notes.txt", "~/no", true),
            ("~/notes.txt", "", false),
            ("~/a;b", "~/", false),
            ("~/~/x", "~/", false),
            ("~x", "~/", false),
            ("notes", "no", true),
        ] {
            assert_eq!(BareWord::parse(word, typed).is_some(), is_bare, "{word} {typed}");
        }
    }

    #[test]
    fn a_real_shell_takes_each_bare_word_for_itself() {
        for &(name, ..) in NAMES.iter().filter(|(.., is_bare)| *is_bare) {
            let ran =
                std::process::Command::new("sh").args(["-c", &format!("printf %s {name}")]).output().unwrap();
            assert_eq!(String::from_utf8_lossy(&ran.stdout), name);
        }
    }
}
