//! Help texts as blocks: paragraphs, lists and lines that stand as they are.

/// A block of a help text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HelpBlock {
    /// A paragraph, which is one line.
    Prose(String),
    /// An entry of a list, with its text after the term or on the next line.
    Item {
        term: String,
        text: String,
    },
    /// A command with a comment at its end.
    Example {
        command: String,
        /// With its `#`.
        comment: String,
    },
    /// A line that stands as it is.
    Line(String),
    Blank,
}

/// The blocks of a text, in order.
pub fn blocks(text: &str) -> Vec<HelpBlock> {
    let mut blocks: Vec<HelpBlock> = Vec::new();
    for paragraph in text.split("\n\n") {
        if !blocks.is_empty() {
            blocks.push(HelpBlock::Blank);
        }
        // The lines of a drawing are no list.
        let is_drawing = paragraph.contains('↖');
        for line in paragraph.lines().filter(|line| !line.is_empty()) {
            let term = match blocks.last() {
                Some(HelpBlock::Line(before)) if !is_drawing && indent(line) > indent(before) => {
                    Some(before.trim().to_string())
                }
                _ => None,
            };
            match term {
                Some(term) => {
                    blocks.pop();
                    blocks.push(HelpBlock::Item { term, text: line.trim().to_string() });
                }
                None if is_drawing && indent(line) > 0 => blocks.push(HelpBlock::Line(line.to_string())),
                None => blocks.push(block(line)),
            }
        }
    }
    blocks
}

fn block(line: &str) -> HelpBlock {
    match line.trim().split_once("  ") {
        _ if indent(line) == 0 => HelpBlock::Prose(line.to_string()),
        Some((command, comment)) if comment.trim_start().starts_with('#') => {
            HelpBlock::Example { command: command.to_string(), comment: comment.trim_start().to_string() }
        }
        Some((term, text)) => HelpBlock::Item { term: term.to_string(), text: text.trim_start().to_string() },
        None => HelpBlock::Line(line.to_string()),
    }
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}
