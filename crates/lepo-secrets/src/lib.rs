//! Finds secrets in text and replaces them with masks. Pure: nothing here reads a file, the network or the environment.
//!
//! | file | contents |
//! |---|---|
//! | `table.rs` | every kind: anchor, shape, check, source of the format |
//! | `shape.rs` | how a shape is matched at an anchor, and whether more text could complete it |
//! | `check.rs` | checksums and other tests that make a match certain |
//! | `pem.rs` | private keys in armour, which have no length limit |
//! | `beside.rs` | secrets without a format of their own, recognised by an id within three lines |
//! | `colours.rs` | a text without control sequences, and the offsets in it |
//! | `values.rs` | secrets known by value: variables and configured keys |
//! | `finder.rs` | all of these over a text; overlaps |
//! | `mask.rs` | masks, keyed digits, counts |
//! | `what_is_text.rs` | the rule by which a file is searched |
//! | `stream.rs` | masks a text that arrives in pieces |
//! | `spool.rs` | masks a text while it arrives and is written |
//! | `kept.rs` | bytes that may be written: screened text, and text that the user typed |
//!
//! The table is our own because the maintained crates of rules (ports of gitleaks and trufflehog, the scanners of nosey
//! parker and kingfisher) guess by entropy, need a C++ regex engine or a newer compiler, and cannot decide for a text
//! in pieces whether its end may be the start of a secret.

mod ansi;
mod check;
mod credential_pairs;
#[cfg(test)]
mod examples;
mod finder;
#[cfg(test)]
mod form_tests;
mod is_text;
mod known_values;
mod mask;
mod pem;
mod screened;
mod shape;
mod spool;
mod stream;
mod table;
#[cfg(test)]
mod tests;

pub use finder::{FoundSecret, SecretFinder};
pub use is_text::{LOOKED_AT, is_binary};
pub use known_values::{KnownValue, is_named_secret, is_worth};
pub use mask::{MaskKey, MaskedText, Masker, SecretCounts, has_mask, keyed_hash, restore, without_digits};
pub use screened::{ScreenedBytes, Treatment};
pub use spool::Spool;
pub use stream::{LONGEST_HELD, MaskStream};
pub use table::kinds;
