//! One line about a bubb or a conv, the same in every list that has it.

use crate::bubb::Name;
use crate::conv::{Forest, Ix};
use crate::store::Store;
use crate::term::{excerpt, say};

/// `ID kind excerpt`: a bubb in `log` and `watch`.
pub fn bubb_line(store: &Store, name: &Name) -> String {
    let line = format!("{} {} {}", name.id, name.tag(), excerpt_of(store, name).unwrap_or_default());
    line.trim_end().to_string()
}

/// The excerpt of a conv's last visible question: what `ls` and `branch` tell it by.
pub fn question(store: &Store, forest: &Forest, tail: Ix) -> Option<String> {
    excerpt_of(store, &forest.name(forest.last_question(tail)?))
}

/// A bubb's excerpt. One that cannot be read is said and left out.
pub fn excerpt_of(store: &Store, name: &Name) -> Option<String> {
    match store.text(name) {
        Ok(text) => Some(excerpt(&text)),
        Err(error) => {
            say(&format!("warning: {}", error.chain()));
            None
        }
    }
}
