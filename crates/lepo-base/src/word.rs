//! Values that are one word out of a few: spelled the same in a file, in the environment, in a flag and in messages.

/// A value that is written as one lower-case word.
pub trait Word: Copy + 'static {
    /// The word.
    fn word(self) -> &'static str;
}

/// The one of `allowed` that is written `text`.
pub fn read_word<T: Word>(text: &str, allowed: &[T]) -> Option<T> {
    allowed.iter().copied().find(|value| value.word() == text)
}

/// `manual | auto`, for messages.
pub fn list_words<T: Word>(allowed: &[T]) -> String {
    allowed.iter().map(|value| value.word()).collect::<Vec<_>>().join(" | ")
}
