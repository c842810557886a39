//! Words that differ, in one text.

use super::compare::{Tag, words};
use crate::term::{Out, Paint};

/// Prints both texts as one, with what was removed and what was added marked.
pub fn print_words(old: &[u8], new: &[u8], out: &mut Out, paint: Paint) {
    for (tag, text) in words(old, new) {
        let (begin, end) = match tag {
            Tag::Same => ("", ""),
            Tag::Removed if paint.is_on() => paint.red_ends(),
            Tag::Added if paint.is_on() => paint.green_ends(),
            Tag::Removed => ("[-", "-]"),
            Tag::Added => ("{+", "+}"),
        };
        out.trusted(begin);
        out.untrusted(&text);
        out.trusted(end);
    }
    if !out.at_line_start() {
        out.trusted("\n");
    }
}
