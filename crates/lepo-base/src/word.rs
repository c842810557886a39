//! Values written as a keyword, spelled the same in a file, in the environment, in a flag and in messages.

/// A value written as a lower-case keyword.
pub trait Keyword: Copy + 'static {
    /// Returns the keyword.
    fn word(self) -> &'static str;
}

/// Returns the value among `allowed` whose keyword is `text`.
pub fn read_word<T: Keyword>(text: &str, allowed: &[T]) -> Option<T> {
    allowed.iter().copied().find(|value| value.word() == text)
}

/// Lists the keywords for messages: `manual | auto`.
pub fn list_words<T: Keyword>(allowed: &[T]) -> String {
    allowed.iter().map(|value| value.word()).collect::<Vec<_>>().join(" | ")
}
