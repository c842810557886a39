//! Mends the line of a front matter that has a fault: its value is put in quotes, or the line is removed.

pub const RESERVED: &str = "a value begins with a character that YAML reserves: put it in quotes";
pub const COLON: &str = "a value with a colon is not quoted";

/// Characters that begin something other than text.
const SIGNS: [char; 11] = ['[', ']', '{', '}', ',', '&', '*', '!', '%', '@', '`'];

/// The effect of mending.
#[derive(Debug, Default)]
pub struct Mending {
    /// The field whose value was put in quotes.
    pub field: Option<String>,
    /// The line with the fault and its reason, if the text shows them.
    pub reason: Option<(usize, &'static str)>,
}

/// Puts the value that the line at `fault` belongs to in quotes, joined to one line; removes a line that belongs to none.
pub fn mend(lines: &mut [String], fault: usize) -> Mending {
    let field = start_of(lines, fault).and_then(|start| Some((start, key_of(lines.get(start)?)?)));
    let Some((start, (key, value))) = field else {
        clear(lines, fault);
        return Mending::default();
    };
    let indent = lines.get(start).map_or(0, |line| indent_of(line));
    let belongs =
        |line: &String| indent_of(line) > indent || is_empty(line) || indent == 0 && key_of(line).is_none();
    let below = lines.iter().enumerate().skip(start + 1).take_while(|(_, line)| belongs(line));
    let below: Vec<_> = below.filter(|(_, line)| !is_empty(line)).collect();
    // Within quotes and blocks, no character is wrong.
    let reason = match value.starts_with(['"', '\'', '|', '>']) {
        true => None,
        false => below.iter().find_map(|(index, line)| Some((*index, reason_of(line, false)?))),
    };
    let reason = reason_of(value, true).map(|reason| (start, reason)).or(reason);
    let mut texts = vec![text_of(value)];
    texts.extend(below.iter().map(|(_, line)| line.trim().trim_start_matches("- ").trim_matches('"')));
    let text = serde_json::Value::from(texts.join(" ").trim()).to_string();
    let quoted = format!("{}{key}: {text}", " ".repeat(indent));
    let mending = Mending { field: Some(key.trim_matches(['"', '\'']).to_string()), reason };
    let joined: Vec<usize> = below.iter().map(|(index, _)| *index).collect();
    joined.into_iter().for_each(|index| clear(lines, index));
    match lines.get_mut(start) {
        Some(line) if *line != quoted => *line = quoted,
        // Its name has the fault.
        _ => clear(lines, start),
    }
    mending
}

/// Removes the field at a line, with its value.
pub fn remove_field(lines: &mut [String], start: usize) {
    let indent = lines.get(start).map_or(0, |line| indent_of(line));
    let belongs = |line: &String| {
        indent_of(line) > indent || is_empty(line) || indent_of(line) == indent && is_item(line)
    };
    let below = lines.iter().skip(start + 1).take_while(|line| belongs(line)).count();
    (start..=start + below).for_each(|index| clear(lines, index));
}

/// Whether a line begins an item of a list.
fn is_item(line: &str) -> bool {
    line.trim() == "-" || line.trim_start().starts_with("- ")
}

/// Returns the line at which the value with the fault begins: this one, or the field above it.
fn start_of(lines: &[String], fault: usize) -> Option<usize> {
    let line = lines.get(fault)?;
    if key_of(line).is_some_and(|(_, value)| reason_of(value, true).is_some()) {
        return Some(fault);
    }
    let is_field = |line: &String| indent_of(line) == 0 && key_of(line).is_some();
    let start = lines.iter().take(fault + 1).rposition(is_field)?;
    let is_stray =
        !is_empty(line) && indent_of(line) == 0 && key_of(line).is_none() && !line.starts_with("- ");
    let (_, value) = lines.get(start).and_then(|line| key_of(line))?;
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
fn key_of(line: &str) -> Option<(&str, &str)> {
    let (key, value) = line.trim_start_matches(' ').split_once(':')?;
    let ends = value.is_empty() || value.starts_with([' ', '\t']);
    (ends && !key.is_empty() && !key.starts_with('#')).then_some((key, value.trim()))
}

/// Returns why a part of a plain value is not text.
fn reason_of(text: &str, is_first: bool) -> Option<&'static str> {
    let plain = plain(text.trim());
    let is_sign = matches!(plain, "-" | "?") || plain.starts_with("- ") || plain.starts_with("? ");
    if plain.starts_with(['"', '\'', '|', '>']) {
        None
    } else if is_first && (is_sign || plain.starts_with(SIGNS)) {
        Some(RESERVED)
    } else {
        (plain.contains(": ") || plain.ends_with(':')).then_some(COLON)
    }
}

/// Returns a value without its quotes, its block indicator, or a comment.
fn text_of(value: &str) -> &str {
    match value.chars().next() {
        Some(quote @ ('"' | '\'')) => {
            let text = value.strip_prefix(quote).unwrap_or_default();
            text.rsplit_once(quote).map_or(text, |(text, _)| text)
        }
        Some('|' | '>') => "",
        _ => plain(value),
    }
}

/// Returns a plain value without the comment after it.
fn plain(text: &str) -> &str {
    let end = if text.starts_with('#') { Some(0) } else { text.find(" #") };
    text.get(..end.unwrap_or(text.len())).unwrap_or_default().trim_end()
}
