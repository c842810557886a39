//! The file that makes a folder a skill.

/// File names, in order of preference.
pub const FILES: [&str; 2] = ["SKILL.md", "skill.md"];

/// Maximum bytes of a `SKILL.md`.
pub const MOST_FILE: usize = 256 << 10;
