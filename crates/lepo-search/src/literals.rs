//! Derives from a pattern literals that every matching text contains.

use regex_syntax::ParserBuilder;
use regex_syntax::hir::literal::{ExtractKind, Extractor, Seq};
use regex_syntax::hir::{Hir, HirKind};

use super::pattern_options::PatternOptions;
use super::trigrams::{Trigram, trigrams};

/// Number of positions, spread over a pattern, from which literals are extracted.
const PLACES: usize = 16;

/// Number of parts of a pattern to examine after such a position.
const PARTS: usize = 64;

/// Alternatives: every match contains at least one of these texts.
type Literals = Vec<Vec<u8>>;

/// The condition for a match: a text contains a literal from each of these sets.
#[derive(Debug)]
pub struct RequiredTrigrams(Vec<Vec<Vec<Trigram>>>);

impl RequiredTrigrams {
    /// Derives the condition of a pattern; `None` if the pattern has no usable literal.
    pub fn from_pattern(pattern: &str, options: &PatternOptions) -> Option<RequiredTrigrams> {
        if options.invert {
            return None;
        }
        let sets = needed(&parsed(pattern, options)?);
        let hashed = |set: &Literals| set.iter().map(|literal| trigrams(literal).collect()).collect();
        (!sets.is_empty()).then(|| RequiredTrigrams(sets.iter().map(hashed).collect()))
    }

    /// False only if the text of a filter has no match.
    pub fn may_be_in(&self, filter: &[u8]) -> bool {
        let has = |literal: &Vec<Trigram>| literal.iter().all(|trigram| trigram.is_in(filter));
        self.0.iter().all(|set| set.iter().any(has))
    }
}

/// Parses the pattern as `grep-regex` does, with the flags that [`Pattern::new`](super::Pattern::new) sets. Word
/// boundaries are ignored, because they only reduce the matches.
fn parsed(pattern: &str, options: &PatternOptions) -> Option<Hir> {
    let pattern = match options.fixed {
        true => regex_syntax::escape(pattern),
        false => pattern.to_string(),
    };
    let mut parser = ParserBuilder::new();
    parser.utf8(false).multi_line(true).case_insensitive(options.ignore_case);
    parser.build().parse(&format!("(?:{pattern})")).ok()
}

/// Returns sets of literals such that each match contains a literal from each.
fn needed(mut hir: &Hir) -> Vec<Literals> {
    while let HirKind::Capture(capture) = hir.kind() {
        hir = &capture.sub;
    }
    let mut sets: Vec<Literals> = Vec::new();
    let mut add = |found: Seq| {
        let literals = found.literals().unwrap_or_default();
        let is_usable = !literals.is_empty() && literals.iter().all(|literal| literal.len() >= 3);
        let mut set: Literals = literals.iter().map(|literal| literal.as_bytes().to_vec()).collect();
        set.sort_unstable();
        set.dedup();
        if is_usable && !sets.contains(&set) {
            sets.push(set);
        }
    };
    if let HirKind::Concat(parts) = hir.kind() {
        // A match contains a match of each sequence of parts.
        for from in (0..parts.len()).step_by(parts.len().div_ceil(PLACES)) {
            let run = parts.iter().skip(from).take(PARTS).cloned().collect();
            add(Extractor::new().extract(&Hir::concat(run)));
        }
    } else {
        add(Extractor::new().extract(hir));
    }
    add(Extractor::new().kind(ExtractKind::Suffix).extract(hir));
    sets
}

#[cfg(test)]
mod tests {
    use super::super::Pattern;
    use super::super::trigrams::filter_of;
    use super::*;

    const PLAIN: PatternOptions = PatternOptions {
        ignore_case: false,
        whole_words: false,
        fixed: false,
        invert: false,
        multi_line: false,
        context: 0,
        first: false,
    };

    /// Formats the sets of a pattern, each as `a|b`; empty if the pattern needs no literal.
    fn sets(pattern: &str, options: PatternOptions) -> Vec<String> {
        assert!(Pattern::new(pattern, options).is_ok(), "{pattern}");
        let sets = needed(&parsed(pattern, &options).unwrap());
        assert_eq!(
            RequiredTrigrams::from_pattern(pattern, &options).is_none(),
            sets.is_empty() || options.invert
        );
        let shown = |literal: &Vec<u8>| String::from_utf8(literal.clone()).unwrap_or(format!("{literal:x?}"));
        sets.iter().map(|set| set.iter().map(shown).collect::<Vec<_>>().join("|")).collect()
    }

    #[test]
    fn what_a_match_must_have_is_read_from_the_pattern() {
        let mut wrong = Vec::new();
        for (pattern, expected) in [
            // No sets: too short, optional, or too many alternatives.
            ("", [].as_slice()),
            ("ab", &[]),
            ("x*", &[]),
            ("(abc)?", &[]),
            ("a.*b", &[]),
            ("[a-z]+", &[]),
            ("^$", &[]),
            ("[0-9]{4}", &[]),
            ("abc|de", &[]),
            ("abc|", &[]),
            ("[a&&b]", &[]),
            (r"\bab\b", &[]),
            (r"(?-u)\xff\xfe", &[]),
            // At least one set.
            ("abc", &["abc"]),
            ("(abc)", &["abc"]),
            ("코", &["코"]),
            ("코드", &["코드"]),
            ("[코드]", &["드|코"]),
            (r"\Aabc\z", &["abc"]),
            (r"\babc\b", &["abc"]),
            (r"^abc$", &["abc"]),
            ("a?bcd", &["abcd|bcd", "bcd"]),
            ("abc|def", &["abc|def"]),
            ("ab(c|d)e", &["abce|abde"]),
            ("abc.*def", &["abc", "def"]),
            ("(abc.*def)", &["abc", "def"]),
            (".*abc[a-z]+defg.", &["abc", "defg"]),
            ("[a-z]+abc|def", &["abc|def"]),
            ("(abc[a-z]){2,}", &["abc"]),
            ("(abc){2,}", &["abcabc"]),
            ("a{2,}", &[]),
            ("a{3,5}", &["aaa"]),
            ("panicked at .*[0-9]", &["panicked at "]),
            (r"main\(\)", &["main()"]),
            (r"(?-u)abc\xff", &["[61, 62, 63, ff]"]),
            ("(?x)a b c # d\n", &["abc"]),
            ("(?i)ab1", &["AB1|Ab1|aB1|ab1"]),
            ("x(?i)a(?-i)bc", &["xAbc|xabc", "Abc|abc"]),
            ("(?i-u)k12", &["K12|k12"]),
            ("(?i)k12", &["K12|k12|\u{212a}12"]),
            ("(?i)ſ12", &["S12|s12|ſ12"]),
            ("(?i)İ12", &["İ12"]),
        ] {
            let sets = sets(pattern, PLAIN);
            wrong.extend((sets != expected).then_some((pattern, sets)));
        }
        assert!(wrong.is_empty(), "{wrong:?}");
    }

    #[test]
    fn options_change_what_is_needed() {
        let fixed = PatternOptions { fixed: true, ..PLAIN };
        let no_case = PatternOptions { ignore_case: true, ..PLAIN };
        for (pattern, options, expected) in [
            ("a.*b", fixed, ["a.*b"].as_slice()),
            ("a|b", fixed, &["a|b"]),
            ("(?i)", fixed, &["(?i)"]),
            ("k[", PatternOptions { ignore_case: true, fixed: true, ..PLAIN }, &[]),
            ("k[[", PatternOptions { ignore_case: true, fixed: true, ..PLAIN }, &["K[[|k[[|\u{212a}[["]),
            ("s12", no_case, &["S12|s12|ſ12"]),
            ("(?-i)s12", no_case, &["s12"]),
            ("코드", no_case, &["코드"]),
            ("abc", PatternOptions { whole_words: true, ..PLAIN }, &["abc"]),
            ("abc|-", PatternOptions { whole_words: true, ..PLAIN }, &[]),
            ("abc\nd", PatternOptions { multi_line: true, ..PLAIN }, &["abc\nd"]),
            ("abc", PatternOptions { context: 2, first: true, ..PLAIN }, &["abc"]),
        ] {
            assert_eq!(sets(pattern, options), expected, "{pattern}");
        }
        assert!(RequiredTrigrams::from_pattern("abc", &PatternOptions { invert: true, ..PLAIN }).is_none());
    }

    #[test]
    fn a_long_pattern_needs_a_little_of_each_part() {
        let word = "abcdefghij".repeat(100);
        let no_case = PatternOptions { ignore_case: true, ..PLAIN };
        for pattern in [word.clone(), format!("({word})|xyz"), vec![word.as_str(); 100].join(".*")] {
            let sets = needed(&parsed(&pattern, &no_case).unwrap());
            assert!((1..=PLACES + 1).contains(&sets.len()), "{}", sets.len());
            assert!(sets.iter().all(|set| set.len() <= 250), "{pattern}");
        }
    }

    #[test]
    fn a_text_without_a_match_is_passed_over() {
        let words = "how do I parse this code when the server sends one chunk of 코드 and the store keeps every word \
                     왜 이 저장소는 모든 말을 그대로 두는가 fn main let mut error panic unwrap borrow lifetime ";
        let words: Vec<&str> = words.split(' ').collect();
        let text: Vec<&str> = (0..40_000).map(|i| words[i * i % 7919 * i % words.len()]).collect();
        let filter = filter_of(text.join(" ").as_bytes());
        let no_case = PatternOptions { ignore_case: true, ..PLAIN };
        for (pattern, options, expected) in [
            ("xylophone", PLAIN, false),
            ("zebra", PLAIN, false),
            ("XYLOPHONE", no_case, false),
            ("xylo[a-z]+ st", PLAIN, false),
            ("저장소의", PLAIN, false),
            ("LIFETIME", PLAIN, false),
            ("LIFETIME", no_case, true),
            ("the", PLAIN, true),
            ("저장소는", PLAIN, true),
            ("xylo[a-z]+|the", PLAIN, true),
            ("[a-z]+", PLAIN, true),
        ] {
            let needed = RequiredTrigrams::from_pattern(pattern, &options);
            assert_eq!(needed.is_none_or(|needed| needed.may_be_in(&filter)), expected, "{pattern}");
        }
    }

    #[test]
    fn a_text_with_a_match_is_never_passed_over() {
        let texts = [
            "",
            "abc",
            "xABCx",
            "a.*b",
            "Kelvin \u{212a}elvin",
            "ſtraße STRASSE",
            "İstanbul istanbul",
            "코드를 짜라",
            "one two\ntwo three",
            "abcabcdef",
            "fn main() {}",
            "\u{feff}abc",
            "abc\r\n",
            "aaaa bbbb",
        ];
        let patterns = [
            "abc",
            "kelvin",
            "strasse",
            "straße",
            "istanbul",
            "i̇stanbul",
            "코드",
            "two\\s+three",
            "(abc)+",
            "a.*b",
            "a{3}",
            "b{2,}",
            "main\\(\\)",
            "ab[cd]|def",
            "(?i)ABC",
            "(?-u)abc",
            "\\babc\\b",
            "[ㄱ-힣]{2}",
            "(?i)ſTRA",
            "two\\ntwo",
            ".*",
            "elvin$",
            "^abc",
            "\\Aabc",
            "abc\\r",
        ];
        for (pattern, number) in
            patterns.iter().flat_map(|pattern| (0..16).map(move |number| (pattern, number)))
        {
            let options = PatternOptions {
                ignore_case: number & 1 != 0,
                whole_words: number & 2 != 0,
                fixed: number & 4 != 0,
                multi_line: number & 8 != 0,
                ..PLAIN
            };
            let (Ok(known), needed) =
                (Pattern::new(pattern, options), RequiredTrigrams::from_pattern(pattern, &options))
            else {
                continue;
            };
            for text in texts {
                let may = needed.as_ref().is_none_or(|needed| needed.may_be_in(&filter_of(text.as_bytes())));
                assert!(may || !known.has_line(text.as_bytes()), "{pattern} {options:?} {text:?}");
            }
        }
    }
}
