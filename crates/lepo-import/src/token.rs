//! A part of a JSON text.

/// A value, a key, or a container with all that is in it.
#[derive(Debug, Clone, Copy)]
pub struct Token {
    pub start: u32,
    pub end: u32,
    /// The token after it and all that is in it.
    pub next: u32,
}
