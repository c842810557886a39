//! Compares two texts as bytes; invalid UTF-8 is preserved.

use std::borrow::Cow;
use std::time::{Duration, Instant};

use similar::{Algorithm, DiffOp, capture_diff_slices_deadline, group_diff_ops};
use unicode_segmentation::UnicodeSegmentation;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangeKind {
    Same,
    Removed,
    Added,
}

pub struct Hunk {
    /// `@@ -1,3 +1,4 @@`
    pub header: String,
    /// Each with its newline, if it has one.
    pub lines: Vec<(ChangeKind, Vec<u8>)>,
}

const AROUND: usize = 3;

/// Time limit, after which the comparison becomes coarser.
const PATIENCE: Duration = Duration::from_secs(5);

pub fn hunks(old: &[u8], new: &[u8]) -> Vec<Hunk> {
    let (old, new) = with_final_newline(old, new);
    let (old, new) = (lines(&old), lines(&new));
    let hunk = |ops: Vec<DiffOp>| {
        let (from, to) = (ops.first()?, ops.last()?);
        let span = |start: usize, end: usize| match end - start {
            1 => format!("{end}"),
            // For an empty range diff prints the line before it.
            0 => format!("{start},0"),
            count => format!("{},{count}", start + 1),
        };
        let old_span = span(from.old_range().start, to.old_range().end);
        let new_span = span(from.new_range().start, to.new_range().end);
        let pieces = ops.iter().flat_map(|op| pieces(op, &old, &new));
        let lines = pieces.flat_map(|(tag, lines)| lines.iter().map(move |line| (tag, line.to_vec())));
        Some(Hunk { header: format!("@@ -{old_span} +{new_span} @@"), lines: lines.collect() })
    };
    group_diff_ops(ops(&old, &new), AROUND).into_iter().filter_map(hunk).collect()
}

pub fn counts(old: &[u8], new: &[u8]) -> (usize, usize) {
    let (old, new) = with_final_newline(old, new);
    let count = |(added, removed), op: DiffOp| match op {
        DiffOp::Equal { .. } => (added, removed),
        _ => (added + op.new_range().len(), removed + op.old_range().len()),
    };
    ops(&lines(&old), &lines(&new)).into_iter().fold((0, 0), count)
}

/// Compares the whole texts word by word, with word boundaries as in Unicode.
pub fn words(old: &[u8], new: &[u8]) -> Vec<(ChangeKind, Vec<u8>)> {
    let (old, new) = (split_words(old), split_words(new));
    let ops = ops(&old, &new);
    ops.iter().flat_map(|op| pieces(op, &old, &new)).map(|(tag, words)| (tag, words.concat())).collect()
}

/// Adds a final newline to both texts, unless that is their only difference: most bubbs have none, and its
/// absence must not mark the last line as changed.
fn with_final_newline<'t>(old: &'t [u8], new: &'t [u8]) -> (Cow<'t, [u8]>, Cow<'t, [u8]>) {
    let end = |text: &'t [u8]| match text {
        [] | [.., b'\n'] => Cow::Borrowed(text),
        text => Cow::Owned([text, b"\n"].concat()),
    };
    let (old_end, new_end) = (end(old), end(new));
    if old_end == new_end { (old.into(), new.into()) } else { (old_end, new_end) }
}

fn lines(text: &[u8]) -> Vec<&[u8]> {
    text.split_inclusive(|&byte| byte == b'\n').collect()
}

fn split_words(text: &[u8]) -> Vec<&[u8]> {
    let chunks = text.utf8_chunks();
    let words = chunks.flat_map(|chunk| {
        chunk.valid().split_word_bounds().map(str::as_bytes).chain(std::iter::once(chunk.invalid()))
    });
    words.filter(|word| !word.is_empty()).collect()
}

fn ops(old: &[&[u8]], new: &[&[u8]]) -> Vec<DiffOp> {
    capture_diff_slices_deadline(Algorithm::Myers, old, new, Some(Instant::now() + PATIENCE))
}

fn pieces<'t>(op: &DiffOp, old: &'t [&'t [u8]], new: &'t [&'t [u8]]) -> Vec<(ChangeKind, &'t [&'t [u8]])> {
    let (old, new) = (&old[op.old_range()], &new[op.new_range()]);
    match op {
        DiffOp::Equal { .. } => vec![(ChangeKind::Same, old)],
        DiffOp::Delete { .. } => vec![(ChangeKind::Removed, old)],
        DiffOp::Insert { .. } => vec![(ChangeKind::Added, new)],
        DiffOp::Replace { .. } => vec![(ChangeKind::Removed, old), (ChangeKind::Added, new)],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unified(old: &str, new: &str) -> String {
        let mut text = String::new();
        for hunk in hunks(old.as_bytes(), new.as_bytes()) {
            text += &hunk.header;
            for (tag, line) in hunk.lines {
                let line = String::from_utf8(line).unwrap().replace('\n', "$");
                text += match tag {
                    ChangeKind::Same => "| ",
                    ChangeKind::Removed => "|-",
                    ChangeKind::Added => "|+",
                };
                text += &line;
            }
        }
        text
    }

    #[test]
    fn lines_are_compared_as_diff_does() {
        for (old, new, diff, (added, removed)) in [
            ("a", "a", "", (0, 0)),
            ("a", "b", "@@ -1 +1 @@|-a$|+b$", (1, 1)),
            ("", "a\nb", "@@ -0,0 +1,2 @@|+a$|+b$", (2, 0)),
            ("a\nb", "", "@@ -1,2 +0,0 @@|-a$|-b$", (0, 2)),
            // A missing final newline is not a difference …
            ("a\nb", "a\nb\nc", "@@ -1,2 +1,3 @@| a$| b$|+c$", (1, 0)),
            // … unless it is the only one.
            ("a", "a\n", "@@ -1 +1 @@|-a|+a$", (1, 1)),
            ("1\n2\n3\n4\n5\n6", "1\n2\n3\n4\n5\n7", "@@ -3,4 +3,4 @@| 3$| 4$| 5$|-6$|+7$", (1, 1)),
            ("가\n나", "가\n다", "@@ -1,2 +1,2 @@| 가$|-나$|+다$", (1, 1)),
        ] {
            assert_eq!(unified(old, new), diff, "{old:?} {new:?}");
            assert_eq!(counts(old.as_bytes(), new.as_bytes()), (added, removed), "{old:?} {new:?}");
        }
    }

    #[test]
    fn words_are_those_of_unicode() {
        for (old, new, marked) in [
            (
                &b"the capital is Paris."[..],
                &b"the capital is London."[..],
                "the capital is [-Paris-]{+London+}.",
            ),
            (
                "수도는 파리입니다.".as_bytes(),
                "수도는 런던입니다.".as_bytes(),
                "수도는 [-파리입니다-]{+런던입니다+}.",
            ),
            (b"a b", b"a b c", "a b{+ c+}"),
            (b"", b"new", "{+new+}"),
            (b"old", b"", "[-old-]"),
            (b"x\xff y", b"x\xfe y", "x[-\u{fffd}-]{+\u{fffd}+} y"),
        ] {
            let mut text = String::new();
            for (tag, words) in words(old, new) {
                let words = String::from_utf8_lossy(&words).into_owned();
                text += &match tag {
                    ChangeKind::Same => words,
                    ChangeKind::Removed => format!("[-{words}-]"),
                    ChangeKind::Added => format!("{{+{words}+}}"),
                };
            }
            assert_eq!(text, marked);
        }
    }
}
