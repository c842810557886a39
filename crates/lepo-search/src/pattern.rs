//! The pattern of a search and its matching lines, by the libraries that ripgrep consists of.

use std::fmt;
use std::io;
use std::ops::Range;
use std::sync::OnceLock;

use grep_matcher::{LineMatchKind, LineTerminator, Matcher};
use grep_regex::{ErrorKind, RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{Searcher, SearcherBuilder, Sink, SinkContext, SinkMatch};

use super::literals::RequiredTrigrams;
use super::pattern_options::PatternOptions;
use super::unicode_forms::in_both_forms;
use lepo_base::error::Error;

/// A compiled pattern.
pub struct Pattern {
    text: String,
    matcher: RegexMatcher,
    options: PatternOptions,
    needed: OnceLock<Option<RequiredTrigrams>>,
}

/// The error of an invalid pattern.
#[derive(Debug)]
pub struct BadPattern {
    /// The pattern contains a newline, although matches are within a line.
    pub has_newline: bool,
    message: String,
}

impl BadPattern {
    /// Creates the error with the library's message, on a single line.
    fn new(text: &str, why: &str, has_newline: bool) -> BadPattern {
        let lines: Vec<&str> = why.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        let first_error = lines.iter().find_map(|line| line.strip_prefix("error: "));
        let why = first_error.map_or_else(|| lines.join("; "), str::to_string);
        BadPattern { has_newline, message: format!("invalid pattern {text:?}: {why}") }
    }
}

impl fmt::Display for BadPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl From<BadPattern> for Error {
    fn from(bad: BadPattern) -> Error {
        Error::usage(bad.message).hint("put \\ before a character to search for the character itself")
    }
}

/// The kind of a reported line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineKind {
    /// The line matches.
    Match,
    /// The line is near a match.
    Context,
    /// A gap between two groups of lines.
    Break,
}

/// A line of a text, or several lines if a match spans them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundLine {
    /// Its kind.
    pub kind: LineKind,
    /// Its number, from 1.
    pub number: u64,
    /// Offset of its first byte in the text.
    pub offset: u64,
    /// Its bytes, without the final newline.
    pub bytes: Vec<u8>,
    /// The matches, as ranges of `bytes`; empty if non-matching lines are reported.
    pub matches: Vec<Range<usize>>,
}

impl Pattern {
    /// Compiles a pattern in the syntax of the crate `regex`.
    ///
    /// # Errors
    /// A usage error with the fault of the pattern.
    pub fn new(text: &str, mut options: PatternOptions) -> Result<Pattern, BadPattern> {
        let mut builder = RegexMatcherBuilder::new();
        builder.case_insensitive(options.ignore_case).word(options.whole_words);
        builder.multi_line(true).crlf(false);
        if !options.multi_line {
            builder.line_terminator(Some(b'\n'));
        }
        // Parsed alone first, because the library wraps it in a group, where `a)|(b` would pass.
        if !options.fixed {
            let mut parser = regex_syntax::ParserBuilder::new().utf8(false).build();
            parser.parse(text).map_err(|error| BadPattern::new(text, &error.to_string(), false))?;
        }
        // A fixed text that has two forms becomes a regular expression.
        let pattern = match (text.is_ascii(), options.fixed) {
            (true, _) => text.to_string(),
            (false, true) => in_both_forms(&regex_syntax::escape(text)),
            (false, false) => in_both_forms(text),
        };
        options.fixed &= text.is_ascii();
        builder.fixed_strings(options.fixed);
        // A comment at the end of the pattern would swallow the end of that group; a newline ends the comment.
        let matcher =
            builder.build(&pattern).or_else(|error| match text.contains("(?") && text.contains('#') {
                true => builder.build(&format!("{pattern}\n")),
                false => Err(error),
            });
        let matcher = matcher.map_err(|error| {
            // Newlines are the only forbidden literals.
            let has_newline = matches!(error.kind(), ErrorKind::NotAllowed(_) | ErrorKind::Banned(_));
            BadPattern::new(text, &error.to_string(), has_newline)
        })?;
        Ok(Pattern { text: pattern, matcher, options, needed: OnceLock::new() })
    }

    /// Returns literals that every text with a reported line contains; `None` if the pattern has no usable literal.
    pub(super) fn needed(&self) -> Option<&RequiredTrigrams> {
        self.needed.get_or_init(|| RequiredTrigrams::from_pattern(&self.text, &self.options)).as_ref()
    }

    /// Whether a text may have a line to report. Fast; false is certain.
    pub fn may_match(&self, text: &[u8]) -> bool {
        self.options.invert || self.has_text_anchors() || self.matcher.is_match(text).unwrap_or(true)
    }

    /// Whether a text has a line to report.
    pub fn has_line(&self, text: &[u8]) -> bool {
        if self.is_by_line() {
            match self.matcher.shortest_match(text).unwrap_or(Some(text.len())) {
                None => return false,
                Some(end) if end < text.len() => return true,
                // An empty match may be after the last newline, which ends the last line.
                Some(_) => {}
            }
        }
        !self.lines_until(text, true).is_empty()
    }

    /// Whether only texts with a match are wanted, not their lines.
    pub fn is_for_texts(&self) -> bool {
        self.options.first
    }

    /// Whether matches do not depend on other lines, so that texts can be searched joined by newlines.
    pub fn is_by_line(&self) -> bool {
        !self.options.multi_line && !self.options.invert && !self.has_text_anchors()
    }

    /// Whether `\A` or `\z` occur in a search by line, where each line is a text of its own.
    fn has_text_anchors(&self) -> bool {
        !self.options.multi_line && self.matcher.line_terminator().is_none()
    }

    /// Returns an offset in the first line that may match, and whether the line certainly does. Only for patterns [by
    /// line](Self::is_by_line).
    pub fn first_candidate(&self, text: &[u8]) -> Option<(usize, bool)> {
        match self.matcher.find_candidate_line(text) {
            Ok(Some(LineMatchKind::Confirmed(at))) => Some((at, true)),
            Ok(Some(LineMatchKind::Candidate(at))) => Some((at, false)),
            Ok(None) => None,
            Err(_) => Some((0, false)),
        }
    }

    /// Returns the lines of a text to report: matches and their context.
    pub fn lines(&self, text: &[u8]) -> Vec<FoundLine> {
        self.lines_until(text, self.options.first)
    }

    /// Returns all lines to report, or only the first.
    fn lines_until(&self, text: &[u8], first: bool) -> Vec<FoundLine> {
        let invert = self.options.invert;
        let mut found = LineCollector { matcher: &self.matcher, invert, first, lines: Vec::new() };
        // Reading a slice cannot fail, and the sink returns no errors.
        let _ = self.searcher().search_slice(&self.matcher, text, &mut found);
        found.lines
    }

    fn searcher(&self) -> Searcher {
        SearcherBuilder::new()
            .line_terminator(LineTerminator::byte(b'\n'))
            .line_number(true)
            .invert_match(self.options.invert)
            .multi_line(self.options.multi_line)
            .before_context(self.options.context)
            .after_context(self.options.context)
            .bom_sniffing(false)
            // The text is searched directly, so the 64 KiB buffer for reading files is not needed.
            .heap_limit(Some(1))
            .build()
    }
}

/// Collects the lines that a searcher reports.
struct LineCollector<'m> {
    matcher: &'m RegexMatcher,
    invert: bool,
    first: bool,
    lines: Vec<FoundLine>,
}

impl LineCollector<'_> {
    fn push(&mut self, kind: LineKind, number: Option<u64>, offset: u64, bytes: &[u8]) {
        let bytes = bytes.strip_suffix(b"\n").unwrap_or(bytes);
        let mut matches = Vec::new();
        if kind == LineKind::Match && !self.invert {
            let _ = self.matcher.find_iter(bytes, |found| {
                matches.push(found.start()..found.end());
                true
            });
        }
        self.lines.push(FoundLine {
            kind,
            number: number.unwrap_or_default(),
            offset,
            bytes: bytes.to_vec(),
            matches,
        });
    }
}

impl Sink for LineCollector<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        self.push(LineKind::Match, found.line_number(), found.absolute_byte_offset(), found.bytes());
        Ok(!self.first)
    }

    fn context(&mut self, _: &Searcher, context: &SinkContext<'_>) -> io::Result<bool> {
        self.push(LineKind::Context, context.line_number(), context.absolute_byte_offset(), context.bytes());
        Ok(true)
    }

    fn context_break(&mut self, _: &Searcher) -> io::Result<bool> {
        self.push(LineKind::Break, None, 0, b"");
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_stands_by_itself() {
        for (pattern, why) in [
            ("(", Some("unclosed group")),
            ("apple)|(two", Some("unopened group")),
            ("(?x) two # a comment", None),
            (r"(?-u)\xff|two", None),
        ] {
            match (Pattern::new(pattern, PatternOptions::default()), why) {
                (Err(bad), Some(why)) => {
                    assert_eq!(bad.message, format!("invalid pattern {pattern:?}: {why}"));
                }
                (Ok(pattern), None) => assert!(pattern.has_line(TEXT.as_bytes())),
                (read, _) => panic!("{pattern}: {:?}", read.err().map(|bad| bad.message)),
            }
        }
        let fixed = PatternOptions { fixed: true, ..PatternOptions::default() };
        assert!(Pattern::new("(", fixed).is_ok());
    }

    const TEXT: &str = "one Apple\ntwo\n코드를 짜라\nthree apples\r\nlast";

    /// Formats each line as `NUMBER:TEXT`, with matches in brackets.
    fn found(pattern: &str, options: PatternOptions, text: &[u8]) -> Vec<String> {
        let pattern = Pattern::new(pattern, options).unwrap();
        let lines = pattern.lines(text);
        assert!(lines.is_empty() || pattern.may_match(text));
        assert_eq!(pattern.has_line(text), !lines.is_empty());
        if pattern.is_by_line() {
            // Joined like the texts of a segment.
            let joined = [text, b"\n"].concat();
            let candidate = pattern.first_candidate(&joined).filter(|(at, _)| *at < joined.len());
            assert!(lines.is_empty() || candidate.is_some());
        }
        let shown = |line: &FoundLine| match line.kind {
            LineKind::Break => "--".to_string(),
            LineKind::Context => format!("{}-{}", line.number, String::from_utf8_lossy(&line.bytes)),
            LineKind::Match => {
                let mut bytes = line.bytes.clone();
                for range in line.matches.iter().rev() {
                    bytes.insert(range.end, b']');
                    bytes.insert(range.start, b'[');
                }
                assert_eq!(&text[line.offset as usize..][..line.bytes.len()], line.bytes);
                format!("{}:{}", line.number, String::from_utf8_lossy(&bytes))
            }
        };
        lines.iter().map(shown).collect()
    }

    #[test]
    fn lines_are_found_in_every_way() {
        let plain = PatternOptions::default();
        for (pattern, options, expected) in [
            ("apple", plain, vec!["4:three [apple]s\r"]),
            (
                "apple",
                PatternOptions { ignore_case: true, ..plain },
                vec!["1:one [Apple]", "4:three [apple]s\r"],
            ),
            (
                "apple",
                PatternOptions { whole_words: true, ignore_case: true, ..plain },
                vec!["1:one [Apple]"],
            ),
            ("드를", plain, vec!["3:코[드를] 짜라"]),
            ("t.", plain, vec!["2:[tw]o", "4:[th]ree apples\r"]),
            ("t.", PatternOptions { fixed: true, ..plain }, vec![]),
            ("^t|o$", plain, vec!["2:[t]w[o]", "4:[t]hree apples\r"]),
            ("[a-z]", PatternOptions { invert: true, ..plain }, vec!["3:코드를 짜라"]),
            ("two", PatternOptions { context: 1, ..plain }, vec!["1-one Apple", "2:[two]", "3-코드를 짜라"]),
            ("Apple\ntwo", PatternOptions { multi_line: true, ..plain }, vec!["1:one [Apple\ntwo]"]),
            (
                "one|last",
                PatternOptions { context: 1, ..plain },
                vec!["1:[one] Apple", "2-two", "--", "4-three apples\r", "5:[last]"],
            ),
            ("absent", plain, vec![]),
            ("t.", PatternOptions { first: true, ..plain }, vec!["2:[tw]o"]),
            ("t", PatternOptions { first: true, invert: true, ..plain }, vec!["1:one Apple"]),
            (r"\Atwo", plain, vec!["2:[two]"]),
            (r"o\z", plain, vec!["2:tw[o]"]),
            (r"\Atwo", PatternOptions { multi_line: true, ..plain }, vec![]),
            ("last$", plain, vec!["5:[last]"]),
            ("[a-z]+ ap+les", plain, vec!["4:[three apples]\r"]),
        ] {
            assert_eq!(found(pattern, options, TEXT.as_bytes()), expected, "{pattern}");
        }
    }

    #[test]
    fn an_empty_match_is_in_a_line_or_none() {
        for (text, lines) in [("", 0), ("\n", 1), ("a\n", 0), ("a\n\n", 1), ("a\n\nb", 1), ("\na", 1)] {
            assert_eq!(found("^$", PatternOptions::default(), text.as_bytes()).len(), lines, "{text:?}");
        }
        for (text, lines) in [("", 0), ("\n", 1), ("a", 1), ("a\nb\n", 2)] {
            assert_eq!(found("x*$", PatternOptions::default(), text.as_bytes()).len(), lines, "{text:?}");
        }
    }

    #[test]
    fn bytes_that_are_no_text_are_searched_as_they_are() {
        assert_eq!(found("b", PatternOptions::default(), b"a\xff\0b\nc").len(), 1);
        assert_eq!(found("x", PatternOptions::default(), b"\xff\xfex\0").len(), 1);
        assert!(found("a", PatternOptions::default(), b"").is_empty());
    }

    #[test]
    fn a_bad_pattern_is_said_on_one_line() {
        for (pattern, has_newline) in [
            ("(", false),
            ("a\\nb", true),
            ("a\nb", true),
            (r"a\x0ab", true),
            (r"[\n]", true),
            (r"\p{n\n}", false),
            ("[z-a]", false),
            ("*", false),
        ] {
            let bad = Pattern::new(pattern, PatternOptions::default()).err().unwrap();
            assert_eq!(bad.has_newline, has_newline, "{pattern:?}: {}", bad.message);
            let error = Error::from(bad);
            assert!(!error.chain().contains('\n'), "{}", error.chain());
            assert_eq!(error.kind.exit_code(), 2);
        }
    }
}
