//! Help texts as sections of a manual page: paragraphs are filled, lists are lists, commands stand as they are.

use super::help_blocks::{HelpBlock, blocks};

/// The columns of a line that stands as it is, in a terminal of 80: the margin, and the indent of a section.
const COLUMNS: usize = 70;

/// The most columns of a term that has its text beside it.
const MOST_TERM: usize = 20;

/// Entries of a list stand close together if their texts are no longer than this.
const SHORT: usize = 60;

/// A section of this text.
pub fn section(heading: &str, text: &str) -> String {
    let mut section = format!(".SH {heading}\n");
    let blocks = blocks(text);
    let is_shown = |block: &HelpBlock| matches!(block, HelpBlock::Line(_) | HelpBlock::Example { .. });
    let is_item = |block: &HelpBlock| matches!(block, HelpBlock::Item { .. });
    let is_run = |one: &HelpBlock, other: &HelpBlock| {
        (is_shown(one) && is_shown(other)) || (is_item(one) && is_item(other))
    };
    let mut is_first = true;
    for run in blocks.chunk_by(is_run) {
        match &run[0] {
            HelpBlock::Blank => continue,
            HelpBlock::Prose(text) if !is_first => section += &format!(".PP\n{}\n", inline(text)),
            HelpBlock::Prose(text) => section += &format!("{}\n", inline(text)),
            HelpBlock::Item { .. } => section += &list(run),
            HelpBlock::Line(_) | HelpBlock::Example { .. } => {
                if !is_first {
                    section += ".sp\n";
                }
                let indents = run.iter().filter_map(|block| match block {
                    HelpBlock::Line(line) => Some(line.len() - line.trim_start().len()),
                    _ => None,
                });
                let indent = indents.min().unwrap_or_default();
                let lines: Vec<String> = run.iter().flat_map(|block| shown(block, indent)).collect();
                section += &format!(".nf\n{}\n.fi\n", escaped(&lines.join("\n")));
            }
        }
        is_first = false;
    }
    section
}

/// A list, its texts beside the terms.
fn list(run: &[HelpBlock]) -> String {
    let items: Vec<(&String, &String)> = run
        .iter()
        .filter_map(|block| match block {
            HelpBlock::Item { term, text, .. } => Some((term, text)),
            _ => None,
        })
        .collect();
    let terms = items.iter().map(|(term, _)| term.chars().count()).filter(|term| *term <= MOST_TERM);
    let beside = terms.max().unwrap_or_default() + 2;
    let is_close = items.len() > 1 && items.iter().all(|(_, text)| text.chars().count() <= SHORT);
    let mut list = String::new();
    for (i, (term, text)) in items.iter().enumerate() {
        // The space before the list stays.
        if is_close && i == 1 {
            list += ".PD 0\n";
        }
        list += &format!(".TP {beside}\n\\fB{}\\fR\n{}\n", escaped(term), inline(text));
    }
    if is_close {
        list += ".PD\n";
    }
    list
}

/// The lines of a command in as many columns as there are, or a line of a drawing; without this indent.
fn shown(block: &HelpBlock, indent: usize) -> Vec<String> {
    match block {
        HelpBlock::Example { command, comment } => {
            match command.chars().count() + 2 + comment.chars().count() {
                0..=COLUMNS => vec![format!("{command}  {comment}")],
                _ => [vec![comment.clone()], broken(command)].concat(),
            }
        }
        HelpBlock::Line(line) if line.trim_start().contains("  ") => vec![line[indent..].to_string()],
        HelpBlock::Line(line) => broken(&line[indent..]),
        _ => Vec::new(),
    }
}

/// A command in lines that a shell reads as one; what is quoted is not broken, and its indent stays.
fn broken(command: &str) -> Vec<String> {
    let bare = command.trim_start();
    let (mut lines, mut is_quoted) = (Vec::new(), false);
    let mut line = " ".repeat(command.len() - bare.len());
    let indent = line.len();
    for word in bare.split(' ') {
        let is_full = line.chars().count() + word.chars().count() + 3 > COLUMNS;
        if is_full && !is_quoted && !line.trim().is_empty() {
            lines.push(format!("{line} \\"));
            line = "   ".to_string();
        }
        if !lines.is_empty() || line.len() > indent {
            line.push(' ');
        }
        line += word;
        is_quoted ^= word.matches('\'').count() % 2 == 1;
    }
    lines.push(line);
    lines
}

/// Prose, in which code is bold and the rest is as it stands.
fn inline(text: &str) -> String {
    marked(&escaped(text))
}

/// A text of requests and prose whose code in backquotes is bold instead.
pub fn marked(text: &str) -> String {
    let line = |line: &str| {
        if line.matches('`').count() % 2 == 1 {
            return line.to_string();
        }
        let mut parts = line.split('`');
        let mut marked = parts.next().unwrap_or_default().to_string();
        while let (Some(code), Some(text)) = (parts.next(), parts.next()) {
            marked += &format!("\\fB{code}\\fR{text}");
        }
        marked
    };
    text.split('\n').map(line).collect::<Vec<_>>().join("\n")
}

/// Text as it stands: a hyphen that can be copied, no escapes, no request.
pub fn escaped(text: &str) -> String {
    let text = text.replace('\\', "\\e").replace('-', "\\-");
    let safe =
        |line: &str| if line.starts_with(['.', '\'']) { format!("\\&{line}") } else { line.to_string() };
    text.lines().map(safe).collect::<Vec<_>>().join("\n")
}

#[test]
fn help_becomes_paragraphs_lists_and_commands() {
    let text =
        "One `lepo ls` and more.\n\n  a    about `a-b`\n  bb   bb\n\n  lepo ls      # all\n  lepo ls -l";
    assert_eq!(
        section("NOTES", text),
        ".SH NOTES\nOne \\fBlepo ls\\fR and more.\n.TP 4\n\\fBa\\fR\nabout \\fBa\\-b\\fR\n\
         .PD 0\n.TP 4\n\\fBbb\\fR\nbb\n.PD\n.sp\n.nf\nlepo ls  # all\nlepo ls \\-l\n.fi\n"
    );
    assert_eq!(broken("   ^--- a0"), ["   ^--- a0"]);
    let long = format!("lepo do --participants {} 'a b' 'c d'", "x".repeat(44));
    assert_eq!(broken(&long), [&format!("{} \\", &long[..67]), "    'a b' 'c d'"]);
}
