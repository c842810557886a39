//! A conversation as one text that can be edited: printed, read back, and compared with the messages. No I/O.
//!
//! ```text
//! %%# lepo rebase 01J…..01J…          a comment; the first one names the messages
//! %% user 7W3QK8Z1                    a mark: speaker and id
//! Why is it slow?                     the text up to the next mark
//! %% hidden tool 0M2T5C1Q (312 bytes) a message whose text is not printed
//! %% user                             a mark without an id: a new message
//! ```

mod compare;
mod mark;
mod parse;
mod print;
mod range;
#[cfg(test)]
mod tests;

pub use compare::{EditedMessage, MessageSource, compare};
pub use parse::{ParsedText, parse, range_in};
pub use print::{PrintedMessage, print};
pub use range::{RangeBase, TextRange};
