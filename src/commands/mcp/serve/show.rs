//! The tool `show`, and resources: a conversation or a message in parts, each of which continues the previous
//! one.

use serde_json::json;

use super::arguments::{MOST_BYTES, ShowArguments};
use super::context::ServeContext;
use super::quote::{PREFACE, QuoteBuilder, inline};
use super::stores::ServedStores;
use lepo_base::error::{Error, ExitKind, Result};
use lepo_base::time;
use lepo_secrets::Masker;
use lepo_store::bubb::{BubbId, BubbName, model_label};
use lepo_store::conv::{Forest, Ix};
use lepo_store::store::Store;
use lepo_tool::mcp::serve::ToolOutput;
use lepo_turn::StoppedAnswers;

/// Largest message whose text is returned, in bytes.
const LONGEST: u64 = 64 << 20;

/// Start of a part: a byte offset in a message of a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Cursor {
    tail: BubbId,
    at: BubbId,
    byte: usize,
}

impl Cursor {
    fn read(text: &str) -> Option<Cursor> {
        let mut parts = text.split('.');
        let mut id = || BubbId::parse(parts.next()?.as_bytes());
        let (tail, at) = (id()?, id()?);
        let byte = parts.next()?.parse().ok()?;
        parts.next().is_none().then_some(Cursor { tail, at, byte })
    }

    fn encode(self) -> String {
        format!("{}.{}.{}", self.tail, self.at, self.byte)
    }
}

struct FoundBubb {
    store: Store,
    number: usize,
    forest: Forest,
    ix: Ix,
}

pub fn show(context: &ServeContext, arguments: &ShowArguments) -> Result<ToolOutput> {
    let ShowArguments { address, cursor, one, size } = arguments;
    let cursor = match cursor {
        None => None,
        Some(text) => Some(Cursor::read(text).ok_or_else(|| {
            Error::usage(format!("address {address:?}: cursor {text:?} is not from `show`"))
        })?),
    };
    let found = find(context, address, cursor)?;
    let (text, next) = part(context, &found, *one, cursor, size.bytes())?;
    let id = found.forest.name(found.ix).id.to_string();
    let next = next.map(Cursor::encode);
    // Clients pass either of these to the model.
    let structured = json!({
        "address": id,
        "uri": context.stores.uri(found.number, &id),
        "text": text,
        "nextCursor": next,
    });
    Ok(ToolOutput { text, structured, is_error: false })
}

/// Returns the text of a resource: its first part, which names the rest.
pub fn resource(context: &ServeContext, uri: &str) -> Result<String> {
    let found = find(context, uri, None)?;
    Ok(part(context, &found, false, None, MOST_BYTES)?.0)
}

/// Resolves an address in the first store that has it; with a cursor, the same conversation as before.
fn find(context: &ServeContext, address: &str, cursor: Option<Cursor>) -> Result<FoundBubb> {
    let named = |error: Error| match error.kind {
        ExitKind::Store => error,
        kind => Error::new(kind, format!("address {address:?}: {}", error.chain())),
    };
    let (only, word) = match ServedStores::is_uri(address) {
        true => {
            let (number, id) = context.stores.resolve_uri(address)?;
            BubbId::parse(id.as_bytes())
                .ok_or_else(|| Error::nothing(format!("no resource {address:?}: no id")))?;
            (Some(number), id)
        }
        false => (None, address),
    };
    let word = cursor.map_or_else(|| word.to_string(), |cursor| cursor.tail.to_string());
    let mut failed = None;
    for (number, store) in context.stores.all()? {
        if only.is_some_and(|only| only != number) {
            continue;
        }
        let found =
            store.address_scopes(&word).and_then(|wanted| store.forest_for(&wanted)).and_then(|forest| {
                let ix = store.find_bubb(&forest, &word)?.ix;
                Ok((forest, ix))
            });
        match found {
            Ok((forest, ix)) => return Ok(FoundBubb { store, number, forest, ix }),
            Err(error) => drop(failed.get_or_insert(error)),
        }
    }
    let none = || Error::nothing(format!("no message: {}", context.stores.missing_notes().trim_end()));
    Err(named(failed.unwrap_or_else(none)))
}

/// Returns a part of at most `most` bytes, and the start of the next.
fn part(
    context: &ServeContext,
    found: &FoundBubb,
    one: bool,
    cursor: Option<Cursor>,
    most: usize,
) -> Result<(String, Option<Cursor>)> {
    const END: usize = 160;
    let FoundBubb { store, forest, ix, .. } = found;
    let name = forest.name(*ix);
    let stopped = StoppedAnswers::new(store, forest);
    let names: Vec<BubbName> = match one {
        true => vec![name],
        false => {
            let path = forest.conv(*ix).path.into_iter().map(|ix| forest.name(ix));
            path.filter(|bubb| stopped.is_shown(bubb) || bubb.id == name.id).collect()
        }
    };
    let from = match cursor {
        None => 0,
        Some(cursor) => names.iter().position(|name| name.id == cursor.at).ok_or_else(|| {
            Error::usage(format!("address {}: the cursor is of another conversation", name.id))
        })?,
    };
    let facts = store.journal().index();
    let masker = context.masker();
    let mut quoted = QuoteBuilder::new(masker, most - END);
    quoted.line(PREFACE);
    let mut byte = cursor.map_or(0, |cursor| cursor.byte);
    let mut next = None;
    for bubb in names.into_iter().skip(from) {
        let begin = std::mem::take(&mut byte);
        let model = facts.get(bubb.id).and_then(|fact| fact.model);
        let marks = (stopped.contains(bubb.id), begin > 0);
        let head = head(masker, &bubb, model.as_deref(), store.speaker(forest, &bubb), marks);
        let at = |byte| Some(Cursor { tail: name.id, at: bubb.id, byte });
        if !quoted.line(&head) {
            next = at(begin);
            break;
        }
        let text = match store.text_within(&bubb, LONGEST)? {
            Some(text) => text,
            None => format!("(longer than {} MiB)", LONGEST >> 20),
        };
        if let Some(byte) = quoted.push_text(&text, begin) {
            next = at(byte);
            break;
        }
    }
    let mut text = quoted.into_text();
    if let Some(next) = next {
        text.push_str(&format!("There is more, at cursor {}\n", next.encode()));
    }
    Ok((text, next))
}

/// Formats the heading of a message: id, kind, time and model.
fn head(
    masker: &Masker,
    name: &BubbName,
    model: Option<&str>,
    speaker: Option<String>,
    (is_stopped, goes_on): (bool, bool),
) -> String {
    let mut head = format!("{} {} {}", name.id, name.role.as_str(), time::iso_minute(name.id.time()));
    for word in [model.map(model_label), speaker.as_deref()].into_iter().flatten() {
        head.push_str(&format!(" {}", inline(masker, word, 40)));
    }
    match (is_stopped, name.hidden) {
        (true, _) => head.push_str(" (stopped)"),
        (false, true) => head.push_str(" hidden"),
        (false, false) => {}
    }
    if goes_on {
        head.push_str(" (continued)");
    }
    head
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_is_read_as_it_was_written_and_nothing_else_is_one() {
        let id = "01JB3Z0Q4N8V2K5T7W9X1Y3Z5A";
        let word = format!("{id}.{id}.17");
        assert_eq!(Cursor::read(&word).unwrap().encode(), word);
        for wrong in
            ["", "1", id, &format!("{id}.{id}"), &format!("{id}.{id}.-1"), &format!("{word}.1"), "../../etc"]
        {
            assert_eq!(Cursor::read(wrong), None, "{wrong}");
        }
    }
}
