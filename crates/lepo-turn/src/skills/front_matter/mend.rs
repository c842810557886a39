//! Mends a front matter at the line where a YAML parser stopped: writes the value of the field around that line as one
//! quoted line, or clears the line. Lines are never removed, so that later faults have the numbers of the file.

pub const RESERVED: &str = "a value begins with a character that YAML reserves: put it in quotes";
pub const COLON: &str = "a value with a colon is not quoted";

/// Characters at the start of a value that YAML does not read as text.
const SIGNS: [char; 11] = ['[', ']', '{', '}', ',', '&', '*', '!', '%', '@', '`'];

/// The result of mending a line.
#[derive(Debug, Default)]
pub struct Mending {
    /// Name of the field whose value was quoted; `None` if the line belongs to no field.
    pub field: Option<String>,
    /// The line of the value that explains the fault, and why; `None` if no line does: then the parser's message counts.
    pub reason: Option<(usize, &'static str)>,
}

/// Quotes the value of the field around the line at `fault`, after joining its lines to one; clears the line if it is
/// in no field.
pub fn mend(lines: &mut [String], fault: usize) -> Mending {
    let field = start_of_field(lines, fault).and_then(|start| Some((start, split_field(lines.get(start)?)?)));
    let Some((start, (key, value))) = field else {
        clear(lines, fault);
        return Mending::default();
    };
    let indent = lines.get(start).map_or(0, |line| indent_of(line));
    let is_within = |line: &String| {
        indent_of(line) > indent || is_empty(line) || indent == 0 && split_field(line).is_none()
    };
    let below = lines.iter().enumerate().skip(start + 1).take_while(|(_, line)| is_within(line));
    let below: Vec<_> = below.filter(|(_, line)| !is_empty(line)).collect();
    // In quotes and in blocks, YAML allows any character.
    let reason = match value.starts_with(['"', '\'', '|', '>']) {
        true => None,
        false => below.iter().find_map(|(index, line)| Some((*index, plain_fault(line, false)?))),
    };
    let reason = plain_fault(value, true).map(|reason| (start, reason)).or(reason);
    let mut texts = vec![bare_text(value)];
    texts.extend(below.iter().map(|(_, line)| line.trim().trim_start_matches("- ").trim_matches('"')));
    let text = serde_json::Value::from(texts.join(" ").trim()).to_string();
    let quoted = format!("{}{key}: {text}", " ".repeat(indent));
    let mending = Mending { field: Some(key.trim_matches(['"', '\'']).to_string()), reason };
    let joined: Vec<usize> = below.iter().map(|(index, _)| *index).collect();
    joined.into_iter().for_each(|index| clear(lines, index));
    match lines.get_mut(start) {
        Some(line) if *line != quoted => *line = quoted,
        // The value was quoted already, so that the fault is in the name.
        _ => clear(lines, start),
    }
    mending
}

/// Clears the field at a line, with its value.
pub fn clear_field(lines: &mut [String], start: usize) {
    let indent = lines.get(start).map_or(0, |line| indent_of(line));
    let is_within = |line: &String| {
        indent_of(line) > indent || is_empty(line) || indent_of(line) == indent && is_item(line)
    };
    let below = lines.iter().skip(start + 1).take_while(|line| is_within(line)).count();
    (start..=start + below).for_each(|index| clear(lines, index));
}

/// Whether a line starts an item of a list.
fn is_item(line: &str) -> bool {
    line.trim() == "-" || line.trim_start().starts_with("- ")
}

/// Returns the line of the field with the fault: this line if its own value explains the fault, or else the nearest
/// unindented field at or above it. `None` without such a field, and for unindented text after a value.
fn start_of_field(lines: &[String], fault: usize) -> Option<usize> {
    let line = lines.get(fault)?;
    if split_field(line).is_some_and(|(_, value)| plain_fault(value, true).is_some()) {
        return Some(fault);
    }
    let is_field = |line: &String| indent_of(line) == 0 && split_field(line).is_some();
    let start = lines.iter().take(fault + 1).rposition(is_field)?;
    let is_stray =
        !is_empty(line) && indent_of(line) == 0 && split_field(line).is_none() && !line.starts_with("- ");
    let (_, value) = lines.get(start).and_then(|line| split_field(line))?;
    (!is_stray || value.is_empty()).then_some(start)
}

fn clear(lines: &mut [String], index: usize) {
    if let Some(line) = lines.get_mut(index) {
        line.clear();
    }
}

/// Returns the number of blanks before a line.
pub fn indent_of(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}

/// Whether a line has neither a field nor text.
pub fn is_empty(line: &str) -> bool {
    line.trim().is_empty() || line.trim_start().starts_with('#')
}

/// Splits a line into the name of a field, verbatim, and the text after its colon.
fn split_field(line: &str) -> Option<(&str, &str)> {
    let (key, value) = line.trim_start_matches(' ').split_once(':')?;
    let ends = value.is_empty() || value.starts_with([' ', '\t']);
    (ends && !key.is_empty() && !key.starts_with('#')).then_some((key, value.trim()))
}

/// Returns why YAML does not read a line of an unquoted value as text; `None` if it does. Some characters count only at
/// the start of the value.
fn plain_fault(text: &str, is_first: bool) -> Option<&'static str> {
    let bare = without_comment(text.trim());
    let is_sign = matches!(bare, "-" | "?") || bare.starts_with("- ") || bare.starts_with("? ");
    if bare.starts_with(['"', '\'', '|', '>']) {
        None
    } else if is_first && (is_sign || bare.starts_with(SIGNS)) {
        Some(RESERVED)
    } else {
        (bare.contains(": ") || bare.ends_with(':')).then_some(COLON)
    }
}

/// Returns the text of a value: without quotes, block indicator or comment.
fn bare_text(value: &str) -> &str {
    match value.chars().next() {
        Some(quote @ ('"' | '\'')) => {
            let text = value.strip_prefix(quote).unwrap_or_default();
            text.rsplit_once(quote).map_or(text, |(text, _)| text)
        }
        Some('|' | '>') => "",
        _ => without_comment(value),
    }
}

/// Removes the comment at the end of an unquoted value.
fn without_comment(text: &str) -> &str {
    let end = if text.starts_with('#') { Some(0) } else { text.find(" #") };
    text.get(..end.unwrap_or(text.len())).unwrap_or_default().trim_end()
}
