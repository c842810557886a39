//! The file that makes a folder a skill.

/// The names of the file that makes a folder a skill.
pub const FILES: [&str; 2] = ["SKILL.md", "skill.md"];

/// The most bytes of a `SKILL.md`.
pub const MOST_FILE: usize = 256 << 10;
