//! Finds secrets in text and writes masks in their place. Pure: no file, no network, no environment is read here.
//!
//! | file | holds |
//! |---|---|
//! | `table.rs` | every kind: anchor, shape, check, where the shape is documented |
//! | `shape.rs` | how a shape is matched at an anchor, and whether more text could complete it |
//! | `check.rs` | checksums and other tests that make a match certain |
//! | `pem.rs` | private keys in armour, which have no length limit |
//! | `beside.rs` | secrets without a shape of their own, known by an id within three lines |
//! | `colours.rs` | a text without colours, and the places in it |
//! | `values.rs` | secrets known by value: variables and configured keys |
//! | `finder.rs` | all of these over one text; overlaps |
//! | `mask.rs` | masks, keyed digits, counts |
//! | `what_is_text.rs` | the rule by which a file is searched |
//! | `stream.rs` | the same over a text that arrives in pieces |
//! | `spool.rs` | the same for what is written as it arrives |
//! | `kept.rs` | what may be written: texts that were looked at, and the user's own words |
//!
//! A table of our own and no crate of rules: the ones that are kept up (ports of gitleaks and trufflehog, nosey parker's
//! and kingfisher's scanners) guess by entropy, need a C++ regex engine or a newer compiler, and none can say of a text
//! that arrives in pieces whether its end may be the beginning of a secret.

mod beside;
mod check;
mod colours;
#[cfg(test)]
mod examples;
mod finder;
#[cfg(test)]
mod form_tests;
mod kept;
mod mask;
mod pem;
mod shape;
mod spool;
mod stream;
mod table;
#[cfg(test)]
mod tests;
mod values;
mod what_is_text;

pub use finder::{Finder, Found};
pub use kept::{Kept, Treatment};
pub use mask::{Key, Masked, Masker, Tally, has_mask, keyed_hash, restore, without_digits};
pub use spool::Spool;
pub use stream::{LONGEST_HELD, Stream};
pub use table::kinds;
pub use values::{Value, is_named_secret, is_worth};
pub use what_is_text::{LOOKED_AT, is_binary};
