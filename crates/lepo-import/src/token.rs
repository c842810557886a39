//! A token of a JSON text.

/// A value, a key, or a container with its content.
#[derive(Debug, Clone, Copy)]
pub struct Token {
    pub start: u32,
    pub end: u32,
    /// Index of the token after this one and its content.
    pub next: u32,
}
