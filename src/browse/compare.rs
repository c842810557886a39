//! Compares two conversations line by line, after the message at which they diverge.

use similar::{Algorithm, DiffOp, capture_diff_slices};

use super::message_pane::{BrowsedStore, PaneLine, Tone};
use crate::term::clean;
use lepo_store::conv::{BubbPair, Ix};

/// Returns the comparison: lines of `a` as removed, lines of `b` as added.
pub fn compare(read: BrowsedStore<'_>, a: Ix, b: Ix) -> Vec<PaneLine> {
    let BrowsedStore { store, forest, stopped, .. } = read;
    let mut lines = Vec::new();
    for pair in forest.pairs(a, b, |name| stopped.is_shown(name)) {
        let (a, b) = match pair {
            BubbPair::Both(a, b) => (Some(a), Some(b)),
            BubbPair::First(a) => (Some(a), None),
            BubbPair::Second(b) => (None, Some(b)),
        };
        let Some(name) = a.or(b).map(|ix| forest.name(ix)) else { continue };
        let text =
            |ix: Option<Ix>| ix.map_or(String::new(), |ix| store.text(&forest.name(ix)).unwrap_or_default());
        lines.push(PaneLine::new(Tone::Head(name.role), name.role.as_str()));
        differences(&text(a), &text(b), &mut lines);
        lines.push(PaneLine::new(Tone::Body, ""));
    }
    if lines.is_empty() {
        lines.push(PaneLine::new(Tone::Dim, "no difference"));
    }
    lines
}

fn differences(old: &str, new: &str, lines: &mut Vec<PaneLine>) {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let mut push = |tone, sign: &str, text: &[&str]| {
        lines.extend(text.iter().map(|line| PaneLine::new(tone, format!("{sign} {}", clean(line)))));
    };
    for op in capture_diff_slices(Algorithm::Myers, &old, &new) {
        match op {
            DiffOp::Equal { .. } => push(Tone::Dim, " ", &old[op.old_range()]),
            _ => {
                push(Tone::Removed, "-", &old[op.old_range()]);
                push(Tone::Added, "+", &new[op.new_range()]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_gone_stands_before_what_came() {
        let mut lines = Vec::new();
        differences("a\nb\nc", "a\nx\x1b\nc", &mut lines);
        let texts: Vec<&str> = lines.iter().map(|line| line.text.as_str()).collect();
        assert_eq!(texts, ["  a", "- b", "+ x␛", "  c"]);
    }
}
