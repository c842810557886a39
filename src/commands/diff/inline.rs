//! Prints the differences within one text, word by word.

use super::compare::{ChangeKind, words};
use crate::term::{Cleaner, Out, Paint, Wrap, columns};

/// Prints both texts merged, with removed and added parts marked; on a terminal, wrapped.
pub fn print_words(old: &[u8], new: &[u8], out: &mut Out, paint: Paint) {
    let mut wrapped = out.columns().map(|_| (Cleaner::default(), Wrap::new(columns)));
    for (tag, text) in words(old, new) {
        let (begin, end) = match tag {
            ChangeKind::Same => ("", ""),
            ChangeKind::Removed if paint.is_on() => paint.red_ends(),
            ChangeKind::Added if paint.is_on() => paint.green_ends(),
            ChangeKind::Removed => ("[-", "-]"),
            ChangeKind::Added => ("{+", "+}"),
        };
        match &mut wrapped {
            Some((cleaner, wrap)) => {
                let (mut clean, mut shown) = (String::new(), String::new());
                cleaner.push(&text, &mut clean);
                push_lines(&format!("{begin}{clean}{end}"), wrap, &mut shown);
                out.trusted(&shown);
            }
            None => {
                out.trusted(begin);
                out.untrusted(&text);
                out.trusted(end);
            }
        }
    }
    if let Some((mut cleaner, mut wrap)) = wrapped {
        let (mut clean, mut shown) = (String::new(), String::new());
        cleaner.finish(&mut clean);
        wrap.push(&clean, &mut shown);
        wrap.finish(&mut shown);
        out.trusted(&shown);
    }
    if !out.at_line_start() {
        out.trusted("\n");
    }
}

/// Appends text that contains newlines.
pub fn push_lines(text: &str, wrap: &mut Wrap, shown: &mut String) {
    for (i, line) in text.split('\n').enumerate() {
        if i > 0 {
            wrap.newline(shown);
        }
        wrap.push(line, shown);
    }
}
