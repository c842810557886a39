//! Marks around thinking within an answer, and the rules that distinguish a mark from text about it.

/// A mark before thinking, and the mark after it.
#[derive(Debug, Clone, Copy)]
pub(super) struct ThinkMark {
    pub open: &'static str,
    pub close: &'static str,
    /// For a mark that could be a word: the condition for the character after it.
    may_precede: Option<fn(char) -> bool>,
    /// Whether the content is text after all if the end mark is missing.
    pub is_unsure: bool,
}

const fn mark(open: &'static str, close: &'static str) -> ThinkMark {
    ThinkMark { open, close, may_precede: None, is_unsure: false }
}

/// The marks of models and of the templates of their training.
pub(super) const MARKS: &[ThinkMark] = &[
    mark("<think>", "</think>"),
    mark("<thinking>", "</thinking>"),
    mark("<thought>", "</thought>"),
    mark("[THINK]", "[/THINK]"),
    mark("<seed:think>", "</seed:think>"),
    mark("<|START_THINKING|>", "<|END_THINKING|>"),
    mark("<|channel>thought", "<channel|>"),
    mark("◁think▷", "◁/think▷"),
    // Harmony's channels if a server removed the marks.
    ThinkMark {
        open: "analysis",
        close: "assistantfinal",
        may_precede: Some(|c| c.is_ascii_uppercase()),
        is_unsure: true,
    },
];

/// The end of thinking that a template has opened.
pub(super) const OPENED_BEFORE: ThinkMark = ThinkMark { is_unsure: true, ..mark("", "</think>") };

/// Marks that end thinking even without a start mark.
pub(super) const LONE: &[&str] = &["</think>", "[/THINK]"];

impl ThinkMark {
    /// Returns the mark for content that is text after all if the end mark is missing.
    pub fn as_unsure(self) -> ThinkMark {
        ThinkMark { is_unsure: true, ..self }
    }

    /// Whether a text starts with the mark; `None` if more text is needed.
    pub fn begins(&self, text: &str) -> Option<bool> {
        match (text.strip_prefix(self.open), self.may_precede) {
            (Some(_), None) => Some(true),
            (Some(rest), Some(may_follow)) => rest.chars().next().map(may_follow),
            (None, _) if self.open.starts_with(text) => None,
            (None, _) => Some(false),
        }
    }
}

/// Returns the length of the longest proper prefix of a mark at the end of a text.
pub(super) fn open_end(text: &str, marks: &[&str]) -> usize {
    let longest = |mark: &&str| {
        let ends = mark.char_indices().map(|(at, _)| at).filter(|&at| at > 0);
        ends.rev().find(|&length| text.ends_with(mark.split_at(length).0)).unwrap_or_default()
    };
    marks.iter().map(longest).max().unwrap_or_default()
}

/// Whether a mark between these texts is mentioned, and does not end thinking.
pub(super) fn is_mention(before: &str, after: &str) -> bool {
    let line = before.rsplit_once('\n').map_or(before, |(_, line)| line);
    let is_in_code = before.matches("```").count() % 2 == 1 || line.matches('`').count() % 2 == 1;
    let last = before.chars().next_back();
    let is_quoted = last.is_some_and(|c| "\"'`“‘«(".contains(c));
    let mut may_precede = after.chars();
    let goes_on = may_precede.next() == Some(' ') && may_precede.next().is_some_and(char::is_lowercase);
    let is_within = last == Some(' ') && !line.trim().is_empty() && goes_on;
    is_in_code || is_quoted || is_within || before.contains("<think>")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_that_is_spoken_of_ends_nothing() {
        for (before, after, expected) in [
            ("I think.\n", "\n\nFour.", false),
            ("I think.", "Four.", false),
            ("so it is ", " Four", false),
            ("", "Four", false),
            ("use `", "` at the end", true),
            ("the ", " tag closes it", true),
            ("```html\n", "\n```", true),
            ("say \"", "\"", true),
            ("<think> and ", "", true),
        ] {
            assert_eq!(is_mention(before, after), expected, "{before:?} {after:?}");
        }
    }

    #[test]
    fn the_beginning_of_a_mark_is_waited_for() {
        for (text, expected) in [("a</thi", 5), ("a<", 1), ("a[/", 2), ("a", 0), ("</think", 7)] {
            assert_eq!(open_end(text, LONE), expected, "{text}");
        }
        let analysis = MARKS.iter().find(|mark| mark.is_unsure).unwrap();
        for (text, expected) in [
            ("analysisWe", Some(true)),
            ("analysis of", Some(false)),
            ("analysis", None),
            ("ana", None),
            ("b", Some(false)),
        ] {
            assert_eq!(analysis.begins(text), expected, "{text}");
        }
    }
}
