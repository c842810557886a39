//! Breaks lepo's own lines between words, where the terminal would break them inside one.

use super::width;

/// Breaks lines wider than `columns`. Unchanged: a line that shows a command (`$`, `|`) and a line in
/// columns, which has two consecutive spaces.
pub fn fold(text: &str, columns: usize) -> String {
    fold_lines(text, columns, |begun| begun.starts_with(['$', '|']) || begun.contains("  "))
}

/// Breaks lines of foreign text wider than `columns`: a line in it that looks like a command or like columns is prose.
pub fn fold_foreign(text: &str, columns: usize) -> String {
    fold_lines(text, columns, |_| false)
}

/// Breaks lines wider than `columns`, unless `is_unbreakable` accepts the line without its indent.
fn fold_lines(text: &str, columns: usize, is_unbreakable: impl Fn(&str) -> bool) -> String {
    let mut folded = String::with_capacity(text.len() + 8);
    for (i, line) in text.split('\n').enumerate() {
        if i > 0 {
            folded.push('\n');
        }
        let begun = line.trim_start();
        if width(line) <= columns || is_unbreakable(begun) {
            folded.push_str(line);
            continue;
        }
        // Continuation lines get the indent of the first.
        let indent = line.len() - begun.len();
        let indent = if indent * 4 > columns { "" } else { line.get(..indent).unwrap_or_default() };
        folded.push_str(indent);
        let mut taken = indent.len();
        for (j, word) in unbroken(begun, columns).iter().enumerate() {
            let wide = width(word);
            if j > 0 && taken + 1 + wide > columns && taken > indent.len() {
                folded.push('\n');
                folded.push_str(indent);
                taken = indent.len();
            } else if j > 0 {
                folded.push(' ');
                taken += 1;
            }
            folded.push_str(word);
            taken += wide;
        }
    }
    folded
}

/// Folds a question to `columns`; returns the lines before the last, and the last.
pub fn folded_question(question: &str, columns: usize) -> (String, String) {
    let folded = fold(question, columns);
    match folded.rsplit_once('\n') {
        Some((before, last)) => (format!("{before}\n"), last.to_string()),
        None => (String::new(), folded),
    }
}

/// Splits a line into words; a number and the word after it stay together where they fit.
fn unbroken(line: &str, columns: usize) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for word in line.split(' ') {
        match words.last_mut() {
            Some(last) if is_number(last) && width(last) + 1 + width(word) <= columns => {
                last.push(' ');
                last.push_str(word);
            }
            _ => words.push(word.to_string()),
        }
    }
    words
}

fn is_number(word: &str) -> bool {
    let word = word.trim_start_matches('(');
    word.starts_with(|c: char| c.is_ascii_digit())
        && word.chars().all(|c| c.is_ascii_digit() || ".,".contains(c))
}

#[cfg(test)]
mod tests {
    use super::{fold, fold_foreign, folded_question};

    #[test]
    fn a_question_is_broken_before_its_answers() {
        const QUESTION: &str = "No model is configured. Add one now? (Y/n): ";
        assert_eq!(folded_question(QUESTION, 80), (String::new(), QUESTION.to_string()));
        for (columns, before, last) in [
            (40, "No model is configured. Add one now?\n", "(Y/n): "),
            (24, "No model is configured.\n", "Add one now? (Y/n): "),
        ] {
            assert_eq!(
                folded_question(QUESTION, columns),
                (before.to_string(), last.to_string()),
                "{columns}"
            );
        }
    }

    #[test]
    fn lines_break_between_words() {
        for (text, columns, folded) in [
            ("error: no such file", 10, "error: no\nsuch file"),
            ("error: no such file", 19, "error: no such file"),
            ("see http://127.0.0.1:8099/v1 here", 10, "see\nhttp://127.0.0.1:8099/v1\nhere"),
            ("요청이 승인을 기다립니다", 10, "요청이\n승인을\n기다립니다"),
            (
                "one two\n  $ ls -la | head -n 100\n  | a long line",
                7,
                "one two\n  $ ls -la | head -n 100\n  | a long line",
            ),
            ("continuing A (3 questions) 15 min ago", 14, "continuing A\n(3 questions)\n15 min ago"),
            ("about 1,200 tokens", 13, "about\n1,200 tokens"),
            ("in 3 questionnaires", 9, "in 3\nquestionnaires"),
            ("01JB  a name  @", 8, "01JB  a name  @"),
            ("", 5, ""),
            ("  one two three", 9, "  one two\n  three"),
            ("     one two", 8, "one two"),
        ] {
            assert_eq!(fold(text, columns), folded, "{columns}");
        }
    }

    #[test]
    fn foreign_lines_break_even_if_they_look_like_a_command_or_columns() {
        for (text, columns, folded) in [
            ("$HOME is listed", 10, "$HOME is\nlisted"),
            ("| a long line", 7, "| a\nlong\nline"),
            ("a name  with blanks", 12, "a name  with\nblanks"),
            ("$ ls", 10, "$ ls"),
        ] {
            assert_eq!(fold_foreign(text, columns), folded, "{columns}");
        }
    }
}
