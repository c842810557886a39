//! Patterns with characters that have two forms: composed as keyboards type them (`é`, `한`), and decomposed as some
//! systems store them (NFC and NFD of Unicode's annex 15). Texts are not normalised, so a pattern has to match both.

use std::borrow::Cow;
use std::iter::Peekable;
use std::str::Chars;

use icu_normalizer::{ComposingNormalizerBorrowed, DecomposingNormalizerBorrowed};

/// Returns a regular expression, in the syntax of the crate `regex`, that matches literals in either form. In classes
/// characters are composed.
pub fn in_both_forms(pattern: &str) -> String {
    let composed = composed(pattern);
    let mut both = String::with_capacity(pattern.len() * 3);
    let mut run = String::new();
    let mut rest = composed.chars().peekable();
    while let Some(next) = rest.next() {
        if !next.is_ascii() {
            run.push(next);
            continue;
        }
        // A repetition applies only to the last character.
        if matches!(next, '*' | '+' | '?' | '{')
            && let Some(last) = run.pop()
        {
            push_run(&mut both, &mut run);
            run.push(last);
        }
        push_run(&mut both, &mut run);
        both.push(next);
        match next {
            '\\' => both.extend(rest.next()),
            '[' => push_class(&mut both, &mut rest),
            '(' => push_name(&mut both, &mut rest),
            _ => {}
        }
    }
    push_run(&mut both, &mut run);
    both
}

fn composed(text: &str) -> Cow<'_, str> {
    ComposingNormalizerBorrowed::new_nfc().normalize(text)
}

/// Appends literals in both forms.
fn push_run(both: &mut String, run: &mut String) {
    let decomposed = DecomposingNormalizerBorrowed::new_nfd().normalize(run);
    if decomposed == *run {
        both.push_str(run);
    } else {
        both.push_str(&format!("(?:{run}|{decomposed})"));
    }
    run.clear();
}

/// Appends the remainder of a class, to its end.
fn push_class(both: &mut String, rest: &mut Peekable<Chars<'_>>) {
    let mut depth = 1;
    // A bracket at the start of a class is a literal.
    let mut is_first = true;
    while let Some(next) = rest.next() {
        both.push(next);
        match next {
            '\\' => both.extend(rest.next()),
            '^' if is_first => continue,
            '[' => depth += 1,
            ']' if !is_first => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return;
        }
        is_first = next == '[';
    }
}

/// Appends the name of a group, if it has one.
fn push_name(both: &mut String, rest: &mut Peekable<Chars<'_>>) {
    if rest.peek() != Some(&'?') {
        return;
    }
    both.extend(rest.next());
    both.extend(rest.next_if_eq(&'P'));
    if rest.peek() == Some(&'<') {
        for next in rest.by_ref() {
            both.push(next);
            if next == '>' {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Pattern, PatternOptions};

    fn decomposed(text: &str) -> String {
        DecomposingNormalizerBorrowed::new_nfd().normalize(text).into_owned()
    }

    #[test]
    fn literals_have_two_forms_and_all_else_stays() {
        let two = |text: &str| format!("(?:{text}|{})", decomposed(text));
        for (pattern, both) in [
            ("plain [a-z]+", "plain [a-z]+".to_string()),
            ("日本", "日本".to_string()),
            ("한글", two("한글")),
            (&decomposed("한글"), two("한글")),
            ("x한글y", format!("x{}y", two("한글"))),
            ("한글+", format!("{}{}+", two("한"), two("글"))),
            ("é{2}", format!("{}{{2}}", two("é"))),
            ("[가-힣]é", format!("[가-힣]{}", two("é"))),
            ("[]é]é", format!("[]é]{}", two("é"))),
            ("[^]é[é]]é", format!("[^]é[é]]{}", two("é"))),
            (r"\[é", format!(r"\[{}", two("é"))),
            (r"[\]é]", r"[\]é]".to_string()),
            ("(?<이름>é)", format!("(?<이름>{})", two("é"))),
            ("(?P<이름>é)", format!("(?P<이름>{})", two("é"))),
            ("(?i)é", format!("(?i){}", two("é"))),
        ] {
            assert_eq!(in_both_forms(pattern), both, "{pattern}");
        }
    }

    #[test]
    fn a_pattern_in_either_form_finds_texts_in_both() {
        for (pattern, text) in [
            ("중 무엇을", "둘 중 무엇을 쓸까"),
            ("caf[eé]|é+t", "un été"),
            ("한.글", "한 글"),
            ("2+2 é", "2+2 é"),
        ] {
            for fixed in [false, true] {
                let options = PatternOptions { fixed, ..PatternOptions::default() };
                let is_text = fixed && pattern.contains(['.', '|']);
                for pattern in [pattern.to_string(), decomposed(pattern)] {
                    let read = Pattern::new(&pattern, options).unwrap();
                    for text in [text.to_string(), decomposed(text)] {
                        let found = !read.lines(text.as_bytes()).is_empty();
                        let quoted = pattern.contains('+') && !fixed && text.contains("2+2");
                        assert_eq!(found, !is_text && !quoted, "{pattern:?} in {text:?}, fixed: {fixed}");
                        assert!(!found || read.may_match(text.as_bytes()));
                    }
                }
            }
        }
    }
}
