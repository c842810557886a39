//! Formats a bubb or a conv on one line, equally in every list.

use super::Context;
use crate::term::{clean, cut, excerpt, excerpt_within, in_colour, width};
use crate::ui::{ShortIds, labelled_or_warn, text_or_warn};
use lepo_store::bubb::BubbName;
use lepo_store::conv::{Forest, Ix};
use lepo_store::store::Store;

/// Prints `ID kind excerpt` after a `drawing`, for `log` and `watch`. In a pipe the excerpt is as in `ls`; on
/// a terminal it fills the line, with the bubb's branches after it. The texts `about` the bubb precede the
/// excerpt, on a terminal only while a few characters of it still fit; the label of an answer that ended
/// `early` is part of the excerpt there.
pub fn bubb_line(
    (store, shorts): (&Store, &ShortIds),
    name: &BubbName,
    drawing: &str,
    about: &[String],
    early: Option<&str>,
    branches: &[String],
    context: &mut Context<'_>,
) {
    const LEAST: usize = 12;
    let (out, paint) = (&mut *context.out, context.paint);
    let (id, tag) = (shorts.show(name.id), name.tag());
    // The name of another user's store is part of the address.
    let drawing = match drawing {
        "" => String::new(),
        whose if whose.ends_with('/') => whose.to_string(),
        drawing => format!("{drawing} "),
    };
    let mut brackets = if out.is_terminal() { in_brackets(branches) } else { String::new() };
    let mut details = String::new();
    let excerpt = match out.columns() {
        Some(columns) => {
            let mut text = labelled_or_warn(store, name).unwrap_or_default();
            if let Some(word) = early {
                text.insert_str(0, &format!("({word}) "));
            }
            let taken = width(&format!("{drawing}{id} {tag}"));
            brackets = brackets_within(brackets, columns.saturating_sub(taken + LEAST + 1));
            let mut room = columns.saturating_sub(taken + 1 + width(&brackets));
            for text in about.iter().filter(|text| !text.is_empty()) {
                let text = format!(" {}", clean(text));
                if width(&text) + LEAST <= room {
                    room -= width(&text);
                    details.push_str(&text);
                }
            }
            excerpt_within(&text, room)
        }
        None => {
            about.iter().for_each(|text| details.push_str(&format!(" {text}")));
            match out.is_terminal() {
                true => excerpt(&labelled_or_warn(store, name).unwrap_or_default()),
                false => excerpt_of(store, name).unwrap_or_default(),
            }
        }
    };
    let id = paint.file_link(|| store.bubb_path(name), &paint.yellow(&id));
    out.trusted(&format!("{drawing}{id} {}", in_colour(name, paint, &tag)));
    let details = if out.is_terminal() { paint.dim(&details) } else { details };
    out.trusted(&details);
    if !excerpt.is_empty() {
        out.untrusted(format!(" {excerpt}").as_bytes());
    }
    out.trusted(&paint.cyan(&brackets));
    out.trusted("\n");
}

/// Formats ` [main, try]` for a list on a terminal; empty without branches.
pub fn in_brackets(branches: &[String]) -> String {
    match branches {
        [] => String::new(),
        names => clean(&format!(" [{}]", names.join(", "))).into_owned(),
    }
}

/// Shortens the names to fit, and closes the bracket.
fn brackets_within(brackets: String, columns: usize) -> String {
    match brackets.strip_suffix(']').filter(|_| width(&brackets) > columns) {
        Some(names) => match cut(names, columns.saturating_sub(1)) {
            names if names.trim_end_matches("...").ends_with(['[', ']']) || names.is_empty() => String::new(),
            names => format!("{names}]"),
        },
        None => brackets,
    }
}

/// Returns the excerpt of a conv's last visible question, which identifies it in `ls` and `branch`.
pub fn question(store: &Store, forest: &Forest, tail: Ix) -> Option<String> {
    excerpt_of(store, &forest.name(forest.last_question(tail)?))
}

/// Returns a bubb's excerpt for a pipe, without control characters; for a question also without its files.
pub fn excerpt_of(store: &Store, name: &BubbName) -> Option<String> {
    let mut text = text_or_warn(store, name)?;
    text.retain(|c| !c.is_control() || c.is_whitespace());
    Some(excerpt(&text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_branches_are_cut_within_their_brackets() {
        for (names, columns, shown) in [
            (&["main"][..], 7, " [main]"),
            (&["main"], 6, ""),
            (&["서울-부산-인구", "main"], 16, " [서울-부산-...]"),
            (&["maintenance"], 9, " [mai...]"),
            (&["main"], 3, ""),
            (&[], 20, ""),
        ] {
            let names: Vec<String> = names.iter().map(|name| name.to_string()).collect();
            let made = brackets_within(in_brackets(&names), columns);
            assert_eq!(made, shown, "{columns}");
            assert!(width(&made) <= columns);
        }
    }
}
