//! Splits a help text into blocks: prose, lists and verbatim lines. Help is laid out from them at every
//! width, and the manual is generated from them.

use crate::term::width;

/// Widest term with its text on the same line, in columns.
const MOST_TERM: usize = 24;

/// On fewer columns, the text of a list starts below its term.
const NARROW: usize = 60;

/// A block of a help text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HelpBlock {
    /// A paragraph, joined to one line.
    Prose(String),
    /// An entry of a list.
    Item {
        /// Columns before the term.
        indent: usize,
        /// The term.
        term: String,
        /// The text about the term.
        text: String,
    },
    /// A command with a trailing comment.
    Example {
        /// The command, without its indent.
        command: String,
        /// The comment, including its `#`.
        comment: String,
    },
    /// A verbatim line.
    Line(String),
    /// An empty line.
    Blank,
}

/// Splits a text into blocks, each with its source lines.
pub fn blocks(text: &str) -> Vec<(HelpBlock, Vec<&str>)> {
    let mut blocks: Vec<(HelpBlock, Vec<&str>)> = Vec::new();
    for line in text.lines() {
        let last = blocks.last_mut();
        match last.and_then(|(block, _)| continued(block, line)).zip(blocks.last_mut()) {
            Some((joined, (block, lines))) => {
                *block = joined;
                lines.push(line);
            }
            None => blocks.push((begun(line), vec![line])),
        }
    }
    drawn(blocks)
}

/// Starts a block with this line.
fn begun(line: &str) -> HelpBlock {
    let begun = line.trim();
    let indent = indent(line);
    match begun.split_once("  ") {
        _ if begun.is_empty() => HelpBlock::Blank,
        _ if indent == 0 => HelpBlock::Prose(begun.to_string()),
        Some((command, comment)) if comment.trim_start().starts_with('#') => {
            HelpBlock::Example { command: command.to_string(), comment: comment.trim_start().to_string() }
        }
        Some((term, text)) => {
            HelpBlock::Item { indent, term: term.to_string(), text: text.trim_start().to_string() }
        }
        None => HelpBlock::Line(line.trim_end().to_string()),
    }
}

/// Returns the block extended by `line`; `None` if the line does not continue it.
fn continued(block: &HelpBlock, line: &str) -> Option<HelpBlock> {
    let (more, deep) = (line.trim(), indent(line));
    if more.is_empty() || more.contains("  ") {
        return None;
    }
    match block {
        HelpBlock::Prose(text) if deep == 0 && !text.ends_with(':') => {
            Some(HelpBlock::Prose(format!("{text} {more}")))
        }
        HelpBlock::Item { indent, term, text } if deep > *indent => {
            Some(HelpBlock::Item { indent: *indent, term: term.clone(), text: format!("{text} {more}") })
        }
        // The text of a wide term is on the line after it.
        HelpBlock::Line(term) if deep > indent(term) => Some(HelpBlock::Item {
            indent: indent(term),
            term: term.trim().to_string(),
            text: more.to_string(),
        }),
        HelpBlock::Line(term) if deep == indent(term) && term.ends_with(',') => {
            Some(HelpBlock::Line(format!("{term} {more}")))
        }
        _ => None,
    }
}

/// Turns lists that are really drawings into verbatim lines: the entries of a list share one indent.
fn drawn(blocks: Vec<(HelpBlock, Vec<&str>)>) -> Vec<(HelpBlock, Vec<&str>)> {
    let mut all = Vec::with_capacity(blocks.len());
    for run in blocks.chunk_by(|(one, _), (other, _)| is_item(one) && is_item(other)) {
        let mut indents = run.iter().filter_map(|(block, _)| match block {
            HelpBlock::Item { indent, .. } => Some(indent),
            _ => None,
        });
        let first = indents.next();
        let has_sign = |lines: &[&str]| lines.iter().skip(1).any(|line| begins_with_sign(line));
        let is_drawing = run.iter().any(|(block, lines)| is_item(block) && has_sign(lines));
        match indents.all(|indent| Some(indent) == first) && !is_drawing {
            true => all.extend_from_slice(run),
            false => {
                let lines = run.iter().flat_map(|(_, lines)| lines);
                all.extend(lines.map(|line| (HelpBlock::Line(line.to_string()), vec![*line])));
            }
        }
    }
    all
}

/// Whether a line begins with a sign like `↖`, which continues a drawing and not a text.
fn begins_with_sign(line: &str) -> bool {
    line.trim_start().starts_with(|first: char| !first.is_ascii() && !first.is_alphanumeric())
}

fn is_item(block: &HelpBlock) -> bool {
    matches!(block, HelpBlock::Item { .. })
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// Lays out a text for this width. Lists and lines that fit are unchanged.
pub fn laid_out(text: &str, columns: usize) -> String {
    let mut lines: Vec<String> = Vec::new();
    let blocks = blocks(text);
    for run in blocks.chunk_by(|(one, _), (other, _)| is_item(one) && is_item(other)) {
        let written = run.iter().flat_map(|(_, lines)| lines);
        let fits = written.clone().all(|line| width(line) <= columns);
        match run {
            [(HelpBlock::Prose(text), _)] => lines.extend(filled("", text, columns)),
            [(HelpBlock::Example { command, comment }, _)] if !fits => {
                lines.push(format!("  {command}"));
                lines.push(format!("      {comment}"));
            }
            [(HelpBlock::Item { .. }, _), ..] if !fits => lines.extend(list(run, columns)),
            _ => lines.extend(written.map(|line| line.to_string())),
        }
    }
    lines.join("\n")
}

/// Formats a list with its texts next to their terms, or below them.
fn list(run: &[(HelpBlock, Vec<&str>)], columns: usize) -> Vec<String> {
    let items = || {
        run.iter().filter_map(|(block, _)| match block {
            HelpBlock::Item { indent, term, text } => Some((*indent, term, text)),
            _ => None,
        })
    };
    let terms = items().map(|(_, term, _)| width(term)).filter(|term| *term <= MOST_TERM);
    let beside = if columns < NARROW { 2 } else { terms.max().unwrap_or(2) + 2 };
    let item = |(indent, term, text): (usize, &String, &String)| {
        let column = " ".repeat(indent + beside);
        match width(term) + 2 <= beside {
            true => filled(&format!("{}{term:<beside$}", " ".repeat(indent)), text, columns),
            false => {
                let mut lines = filled(&" ".repeat(indent), term, columns);
                lines.extend(filled(&column, text, columns));
                lines
            }
        }
    };
    items().flat_map(item).collect()
}

fn filled(head: &str, words: &str, columns: usize) -> Vec<String> {
    wrapped(head, words.split(' ').map(str::to_string), " ", columns)
}

/// Joins items with `between`, wrapped to `columns`; continuation lines are indented to the width of `head`.
pub(super) fn wrapped(
    head: &str,
    words: impl Iterator<Item = String>,
    between: &str,
    columns: usize,
) -> Vec<String> {
    let mut lines = vec![head.to_string()];
    let mut is_first = true;
    for word in words {
        let Some(line) = lines.last_mut() else { break };
        let (word, comma) = (word.trim(), between.trim_end());
        if std::mem::take(&mut is_first) {
            line.push_str(word);
        } else if width(line) + between.len() + width(word) + comma.len() <= columns {
            line.push_str(&format!("{between}{word}"));
        } else {
            line.push_str(comma);
            lines.push(format!("{}{word}", " ".repeat(width(head))));
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prose_is_broken_anew_and_lists_beside_their_terms() {
        let list =
            "Findings:\n\n  edited      its content does\n              not match\n  not a file  a folder\n";
        for (text, columns, laid) in [
            ("a b\nc d\n\ne", 4, "a b\nc d\n\ne"),
            ("a b\nc d\n\ne", 7, "a b c d\n\ne"),
            (list, 80, list.trim_end()),
            (
                list,
                26,
                "Findings:\n\n  edited\n    its content does not\n    match\n  not a file\n    a folder",
            ),
            ("  a  b c d e\n  bb  c", 70, "  a  b c d e\n  bb  c"),
            (
                "  LONG, LONGER,\n  LONGEST_OF_ALL_OF_THEM\n          about\n  S  s s",
                12,
                "  LONG,\n  LONGER,\n  LONGEST_OF_ALL_OF_THEM\n    about\n  S\n    s s",
            ),
            ("  lepo ls   # all of them", 20, "  lepo ls\n      # all of them"),
            ("  lepo ls | wc", 4, "  lepo ls | wc"),
        ] {
            assert_eq!(laid_out(text, columns), laid, "{columns}");
        }
        let text = format!("  term  {}\n  other  b", "word ".repeat(16).trim());
        let laid = laid_out(&text, 62);
        let lines: Vec<&str> = laid.lines().collect();
        assert!(lines[1].starts_with("         word") && lines[2] == "  other  b", "{laid}");
    }

    #[test]
    fn a_drawing_stays_as_it_is() {
        let drawing = "    s1 ← u0 ← a0    main: this one\n           ↖ a0     other: that one";
        assert_eq!(laid_out(drawing, 10), drawing);
        assert!(blocks(drawing).iter().all(|(block, _)| matches!(block, HelpBlock::Line(_))));
    }
}
