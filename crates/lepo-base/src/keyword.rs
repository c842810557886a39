//! Values written as a keyword, spelled the same in a file, in the environment, in a flag and in messages.

/// A value written as a lower-case keyword.
pub trait Keyword: Copy + 'static {
    /// Returns the keyword.
    fn as_str(self) -> &'static str;
}

/// Returns the value among `allowed` whose keyword is `text`.
pub fn parse_keyword<T: Keyword>(text: &str, allowed: &[T]) -> Option<T> {
    allowed.iter().copied().find(|value| value.as_str() == text)
}

/// Lists the keywords for messages: `manual | auto`.
pub fn list_words<T: Keyword>(allowed: &[T]) -> String {
    allowed.iter().map(|value| value.as_str()).collect::<Vec<_>>().join(" | ")
}
