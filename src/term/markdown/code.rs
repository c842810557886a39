//! Light syntax colours, one line at a time: comments, strings, numbers, keywords.
//!
//! Knows families of languages, not languages: enough to read by, and no list to maintain.

use super::super::Paint;

const COMMENT: &str = "2";
const STRING: &str = "32";
const NUMBER: &str = "33";
const WORD: &str = "35";
const ADDED: &str = "32";
const REMOVED: &str = "31";

#[derive(Debug, Clone, Copy)]
struct Family {
    /// Names on a fence, separated by spaces.
    names: &'static str,
    line_comment: &'static str,
    block_comment: Option<(&'static str, &'static str)>,
    strings: &'static [char],
    /// Separated by spaces.
    keywords: &'static str,
}

/// For languages with the braces of C.
const C_WORDS: &str = "abstract as async await bool break case catch char class const continue default defer do else \
    enum export extends extern false final float fn for from func function go if impl implements \
    import in int interface let long loop match mod move mut namespace new nil null package private \
    protected pub public range ref return select self static string struct super switch this throw \
    trait true try type typeof undefined union unsafe use using val var void where while yield";

const FAMILIES: &[Family] = &[
    // Without `'`, which starts lifetimes more often than characters.
    Family {
        names: "rust rs",
        line_comment: "//",
        block_comment: Some(("/*", "*/")),
        strings: &['"'],
        keywords: C_WORDS,
    },
    Family {
        names: "c h cpp c++ cc cs csharp java js javascript jsx ts typescript tsx go swift kotlin kt \
            scala dart php zig json5 css",
        line_comment: "//",
        block_comment: Some(("/*", "*/")),
        strings: &['"', '\'', '`'],
        keywords: C_WORDS,
    },
    Family {
        names: "python py ruby rb sh bash zsh shell console fish perl r yaml yml toml ini make makefile \
            dockerfile elixir nix julia",
        line_comment: "#",
        block_comment: None,
        strings: &['"', '\''],
        keywords: "and as async await begin break case class continue def del do done echo elif else end \
            ensure esac except exit export false False fi finally for from function global if import \
            in is lambda local module next nil None not or pass raise require rescue return self \
            then true True try unless until when while with yield",
    },
    Family {
        names: "sql lua haskell hs ada elm",
        line_comment: "--",
        block_comment: None,
        strings: &['"', '\''],
        keywords: "and as by case create data delete do else end false for from function group if import in \
            insert into is join left let limit local module nil not null of on or order return \
            select set table then true type update values where while with",
    },
    Family {
        names: "json jsonl",
        line_comment: "",
        block_comment: None,
        strings: &['"'],
        keywords: "true false null",
    },
];

#[derive(Debug, Clone, Copy)]
pub enum Language {
    Plain,
    Diff,
    /// Index of a family, and whether the line starts inside a comment.
    Known(usize, bool),
}

impl Language {
    /// Finds the language by the info string of a fence.
    pub fn parse(info: &str) -> Language {
        let end = |c: char| c.is_whitespace() || c == ',' || c == '{' || c == ':';
        let name = info.trim().split(end).next().unwrap_or_default().to_lowercase();
        match FAMILIES.iter().position(|family| is_among(&name, family.names)) {
            Some(family) => Language::Known(family, false),
            None if name == "diff" || name == "patch" => Language::Diff,
            None => Language::Plain,
        }
    }

    pub fn paint(&mut self, line: &str, paint: Paint, out: &mut String) {
        match self {
            Language::Plain => out.push_str(line),
            Language::Diff if line.starts_with('+') => out.push_str(&paint.sgr(ADDED, line)),
            Language::Diff if line.starts_with('-') => out.push_str(&paint.sgr(REMOVED, line)),
            Language::Diff => out.push_str(line),
            Language::Known(family, in_comment) => {
                let (mut rest, mut open) = (line, String::new());
                while !rest.is_empty() {
                    let (taken, colour) = FAMILIES[*family].token(rest, in_comment, &mut open);
                    let (token, after) = rest.split_at(taken);
                    out.push_str(&paint.sgr(colour, token));
                    rest = after;
                }
            }
        }
    }
}

impl Family {
    /// Returns the length and the colour of the first token; most have no colour. `open` collects the quotes
    /// that start an unterminated string on this line, so that each is searched for once.
    fn token(&self, rest: &str, in_comment: &mut bool, open: &mut String) -> (usize, &'static str) {
        if let Some((open, close)) = self.block_comment
            && (*in_comment || rest.starts_with(open))
        {
            let from = if *in_comment { 0 } else { open.len() };
            let end = rest.get(from..).and_then(|text| text.find(close)).map(|at| from + at + close.len());
            *in_comment = end.is_none();
            return (end.unwrap_or(rest.len()), COMMENT);
        }
        if !self.line_comment.is_empty() && rest.starts_with(self.line_comment) {
            return (rest.len(), COMMENT);
        }
        let Some(first) = rest.chars().next() else { return (0, "") };
        if self.strings.contains(&first) {
            if open.contains(first) {
                return (first.len_utf8(), "");
            }
            if let Some(end) = string(rest, first) {
                return (end, STRING);
            }
            open.push(first);
            return (first.len_utf8(), "");
        }
        let in_word = |c: char| c.is_alphanumeric() || c == '_';
        if !in_word(first) {
            // `$#` and `a#b` are not comments: a `#` needs white space before it.
            let space = rest.find(|c: char| !c.is_whitespace()).unwrap_or(rest.len());
            let begins_comment = |text: &str| {
                let mut marks = self.block_comment.iter().map(|(open, _)| *open).chain([self.line_comment]);
                marks.any(|mark| !mark.is_empty() && mark != "#" && text.starts_with(mark))
            };
            let ends = |(at, c): &(usize, char)| {
                let is_other = c.is_whitespace() || in_word(*c) || self.strings.contains(c);
                is_other || begins_comment(rest.split_at(*at).1)
            };
            let other = rest.char_indices().find(ends).map_or(rest.len(), |(at, _)| at);
            return (space.max(other).max(first.len_utf8()), "");
        }
        let end = rest.find(|c: char| !in_word(c)).unwrap_or(rest.len());
        let word = rest.split_at(end).0;
        if first.is_ascii_digit() {
            return (end, NUMBER);
        }
        // SQL is often written in upper case.
        let shouted = word.chars().all(char::is_uppercase);
        let known =
            is_among(word, self.keywords) || (shouted && is_among(&word.to_lowercase(), self.keywords));
        // A directly following `#` belongs to the word.
        let end = end + rest.get(end..).map_or(0, |after| after.len() - after.trim_start_matches('#').len());
        (end, if known { WORD } else { "" })
    }
}

/// Whether the space-separated list contains `word`.
fn is_among(word: &str, text: &str) -> bool {
    text.split(' ').any(|known| known == word)
}

/// Returns the end of the string at the start of `rest`, quotes included; `None` if it is not closed on this
/// line.
fn string(rest: &str, quote: char) -> Option<usize> {
    let mut escaped = false;
    for (at, c) in rest.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            _ if c == quote => return Some(at + c.len_utf8()),
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::term::Color;

    #[test]
    fn a_line_of_code() {
        let paint = Paint::new(Color::Always, true, |_| None);
        for (name, line, shown) in [
            ("rust", "let x = 5; // five", "‹35:let› x = ‹33:5›; ‹2:// five›"),
            ("rs", "a /* b */ \"c // d\"", "a ‹2:/* b */› ‹32:\"c // d\"›"),
            ("rust", "fn f<'a>(x: &'a str)", "‹35:fn› f<'a>(x: &'a str)"),
            ("c", "a=b;//c", "a=b;‹2://c›"),
            ("python", "def 가(): return \"나\" # 다", "‹35:def› 가(): ‹35:return› ‹32:\"나\"› ‹2:# 다›"),
            ("sh", "echo $# a#b 'it'", "‹35:echo› $# a#b ‹32:'it'›"),
            ("SQL", "SELECT a -- b", "‹35:SELECT› a ‹2:-- b›"),
            ("json", r#"{"a": [1, true]}"#, r#"{‹32:"a"›: [‹33:1›, ‹35:true›]}"#),
            ("text", "let x = 5;", "let x = 5;"),
            ("", "let x = 5;", "let x = 5;"),
            ("diff", "+ added", "‹32:+ added›"),
        ] {
            let mut out = String::new();
            Language::parse(name).paint(line, paint, &mut out);
            let out = out.replace("\u{1b}[0m", "›").replace("\u{1b}[", "‹");
            let shown = shown.split('‹').enumerate().fold(String::new(), |all, (i, part)| match i {
                0 => part.to_string(),
                _ => format!("{all}‹{}", part.replacen(':', "m", 1)),
            });
            assert_eq!(out, shown, "{line}");
        }
    }

    #[test]
    fn a_long_line_is_looked_through_once() {
        let paint = Paint::new(Color::Always, true, |_| None);
        for (name, piece) in [("js", "a=b;"), ("js", "\"\\"), ("rust", "/*"), ("c", "'\\\"\\")] {
            let line = piece.repeat(50_000);
            let mut out = String::new();
            Language::parse(name).paint(&line, paint, &mut out);
            assert!(out.len() >= line.len(), "{name} {piece}");
        }
    }

    #[test]
    fn a_comment_goes_on_over_lines() {
        let paint = Paint::new(Color::Always, true, |_| None);
        let mut language = Language::parse("c");
        let mut out = String::new();
        for line in ["a /* b", "c", "d */ e"] {
            language.paint(line, paint, &mut out);
            out.push('\n');
        }
        assert_eq!(out, "a \u{1b}[2m/* b\u{1b}[0m\n\u{1b}[2mc\u{1b}[0m\n\u{1b}[2md */\u{1b}[0m e\n");
    }
}
