//! Compares an edited text with the messages.

use std::collections::HashMap;

use lepo_base::error::{Error, Result, quoted};
use lepo_base::role::Role;
use lepo_store::bubb::BubbId;

use super::parse::{ParsedText, TextBlock, without_cr};
use super::print::PrintedMessage;

/// Length of a short id.
const SHORT: usize = 8;

/// The messages of a range, by index.
pub trait MessageSource {
    /// The id of each message, with its speaker and whether it is hidden.
    fn marks(&self) -> Vec<(BubbId, Role, bool)>;

    /// Returns the message as the text has it.
    fn printed(&self, index: usize) -> Result<PrintedMessage>;

    fn bytes(&self, index: usize) -> Result<Vec<u8>>;
}

/// A message of the edited line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EditedMessage {
    /// The line of its mark, counted from 1.
    pub line: usize,
    /// Index of the message that it is, with or without other text; `None` if it is new.
    pub original: Option<usize>,
    pub role: Role,
    pub hidden: bool,
    /// Its text if that is new.
    pub text: Option<Vec<u8>>,
}

/// Compares a text with the messages. An error is one of usage and names its line.
pub fn compare(parsed: ParsedText, source: &dyn MessageSource) -> Result<Vec<EditedMessage>> {
    let marks = source.marks();
    let whole: HashMap<String, usize> =
        marks.iter().enumerate().map(|(index, (id, ..))| (id.to_string(), index)).collect();
    let mut short: HashMap<&str, Option<usize>> = HashMap::new();
    for (id, index) in &whole {
        let Some(ending) = id.get(BubbId::LEN - SHORT..) else { continue };
        short.entry(ending).and_modify(|found| *found = None).or_insert(Some(*index));
    }
    let find = |id: &str| {
        let id = id.to_ascii_uppercase();
        whole.get(&id).copied().or_else(|| short.get(id.as_str()).copied().flatten())
    };
    let had_crlf = parsed.had_crlf;
    let mut edited = Vec::with_capacity(parsed.blocks.len());
    for block in parsed.blocks {
        let line = block.line;
        let Some(id) = &block.mark.id else {
            edited.push(new_message(block)?);
            continue;
        };
        let Some(index) = find(id) else {
            return Err(Error::usage(format!("line {line}: no message {} is in this range", quoted(id)))
                .hint("without the id it is a new message"));
        };
        let (_, role, hidden) = marks[index];
        if (block.mark.role, block.mark.hidden) != (role, hidden) {
            let is = format!("{}{}", if hidden { "hidden " } else { "" }, role.as_str());
            return Err(Error::usage(format!("line {line}: {} is the id of a message of {is}", quoted(id)))
                .hint("without the id it is a new message"));
        }
        let text = changed_text(block, had_crlf, source, index)?;
        edited.push(EditedMessage { line, original: Some(index), role, hidden, text });
    }
    Ok(edited)
}

fn new_message(block: TextBlock) -> Result<EditedMessage> {
    let TextBlock { line, mark, mut text } = block;
    if mark.role == Role::Tool {
        return Err(Error::usage(format!("line {line}: a new message cannot have the kind tool"))
            .hint("`%% user`, assistant and system can begin one"));
    }
    while text.ends_with(b"\n") {
        text.pop();
    }
    match text.is_empty() {
        true => Err(Error::usage(format!("line {line}: the new message has no text"))),
        false => {
            Ok(EditedMessage { line, original: None, role: mark.role, hidden: mark.hidden, text: Some(text) })
        }
    }
}

/// Returns the text of a block if it is not the message's own.
fn changed_text(
    block: TextBlock,
    had_crlf: bool,
    source: &dyn MessageSource,
    index: usize,
) -> Result<Option<Vec<u8>>> {
    let TextBlock { line, mut text, .. } = block;
    let printed = source.printed(index)?.text;
    let own = match printed {
        None if text.iter().all(|byte| *byte == b'\n') => return Ok(None),
        None => source.bytes(index)?,
        Some(own) => own,
    };
    let is_own = |text: &[u8]| text == own || had_crlf && text == without_cr(&own);
    if is_own(&text) {
        return Ok(None);
    }
    if text.ends_with(b"\n") && !own.ends_with(b"\n") {
        text.pop();
    }
    match () {
        () if is_own(&text) => Ok(None),
        () if text.is_empty() => Err(Error::usage(format!("line {line}: the message has no text any more"))
            .hint("to leave it out, cut its mark line too")),
        () => Ok(Some(text)),
    }
}
