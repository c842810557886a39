//! The error for a request without a recorded answer, with the nearest recorded line and the first
//! difference.

use std::collections::HashMap;

use super::past_message::PastMessage;
use super::query::{Query, RecordStore};
use crate::body::Body;
use lepo_base::error::{Error, ExitKind as ErrorKind, Result};
use lepo_base::hint::{Hint, ResumeAction};
use lepo_base::role::Role;
use lepo_store::bubb::BubbName;
use lepo_store::conv::Ix;

/// Maximum number of messages to compare if none is equal.
const COMPARED: usize = 500;

/// Characters of a text that a difference quotes.
const QUOTED: usize = 60;

/// The recorded line that is most similar to a request.
struct NearestLine {
    name: BubbName,
    difference: String,
}

/// Returns the error for a request that is not in the record.
pub fn miss_error(record: &RecordStore<'_>, query: &Query<'_>) -> Error {
    let message = match nearest(record, query) {
        Ok(Some(near)) => {
            format!("no recorded answer: nearest is {}: {}", near.name.id, near.difference)
        }
        Ok(None) => {
            format!("no recorded answer: nothing is recorded in {}", record.store.display_path().display())
        }
        Err(error) => return error,
    };
    not_recorded(message)
}

/// Returns the error for answers that this model has not judged.
pub fn no_verdict(judge: &str) -> Error {
    not_recorded(format!("no recorded answer: {judge} has not judged these answers"))
}

fn nearest(record: &RecordStore<'_>, query: &Query<'_>) -> Result<Option<NearestLine>> {
    let mut below: HashMap<Option<Ix>, Vec<Ix>> = HashMap::new();
    for ix in record.forest.all().rev() {
        below.entry(record.forest.prev(ix)).or_default().push(ix);
    }
    // The messages that end equal paths so far; `None` precedes the roots.
    let mut same: Vec<Option<Ix>> = vec![None];
    for (index, message) in query.history.iter().enumerate() {
        let after = after(record, &below, &same)?;
        let is = |(name, text): &(BubbName, String)| {
            (name.role, name.hidden) == (message.role, message.hidden) && message.matches(text)
        };
        let next: Vec<Option<Ix>> =
            after.iter().filter(|(_, stored)| is(stored)).map(|(ix, _)| Some(*ix)).collect();
        if next.is_empty() {
            let compared = after.iter().take(COMPARED).map(|(_, message)| message);
            let nearest = compared.max_by_key(|(name, text)| likeness(name, text, message));
            return Ok(match nearest {
                Some((name, text)) => {
                    let difference = differs(query.history, index, name, text);
                    Some(NearestLine { name: *name, difference })
                }
                None => same.iter().flatten().next().map(|ix| NearestLine {
                    name: record.forest.name(*ix),
                    difference: format!("{} was not asked there", label(query.history, index)),
                }),
            });
        }
        same = next;
    }
    let questions: Vec<Ix> = same.into_iter().flatten().collect();
    let answers = record.answers(&questions);
    let nearest_answer = answers.iter().find_map(|answer| {
        let name = record.forest.name(answer.ix);
        let fact = record.facts.get(name.id).unwrap_or_default();
        let (what, recorded, asked) = query.difference(&fact)?;
        let verb = if what.ends_with('s') { "differ" } else { "differs" };
        Some(NearestLine { name, difference: format!("{what} {verb}: recorded {recorded}, asked {asked}") })
    });
    Ok(nearest_answer.or_else(|| {
        let name = record.forest.name(*questions.first()?);
        Some(NearestLine { name, difference: "the question has no answer".into() })
    }))
}

/// Returns the messages that follow these, each with its text. Skips messages that a turn added.
fn after(
    record: &RecordStore<'_>,
    below: &HashMap<Option<Ix>, Vec<Ix>>,
    same: &[Option<Ix>],
) -> Result<Vec<(Ix, (BubbName, String))>> {
    let mut open: Vec<Ix> = same.iter().flat_map(|ix| below.get(ix)).flatten().copied().collect();
    let (mut after, mut index) = (Vec::new(), 0);
    while let Some(&ix) = open.get(index) {
        index += 1;
        let name = record.forest.name(ix);
        let text = record.store.text(&name)?;
        match Body::read_named(&name, &text).is_added() && open.len() <= record.forest.len() {
            true => open.extend(below.get(&Some(ix)).into_iter().flatten()),
            false => after.push((ix, (name, text))),
        }
    }
    Ok(after)
}

/// Returns the error for a missing recorded answer, with the command that asks a model instead.
pub fn not_recorded(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::NotRecorded, message).hint(
        Hint::from(ResumeAction::Recorded).text(" asks a model, and keeps its answer for the next time"),
    )
}

/// Ranks how similar a stored message is to `message`: an equal kind first, then the length of the common prefix and
/// suffix.
fn likeness(name: &BubbName, text: &str, message: &PastMessage) -> (bool, usize) {
    let common = |a: &mut dyn Iterator<Item = char>, b: &mut dyn Iterator<Item = char>| {
        a.zip(b).take_while(|(a, b)| a == b).count()
    };
    let begin = common(&mut text.chars(), &mut message.text.chars());
    let end = common(&mut text.chars().rev(), &mut message.text.chars().rev());
    ((name.role, name.hidden) == (message.role, message.hidden), begin + end)
}

/// Describes the message at this index of a history.
fn label(history: &[PastMessage], index: usize) -> String {
    let Some(message) = history.get(index) else { return "the question".into() };
    let is_same = |other: &&PastMessage| (other.role, other.hidden) == (message.role, message.hidden);
    let number = history.iter().take(index + 1).filter(is_same).count();
    match (message.role, message.hidden) {
        (Role::System, true) if index == 0 => "the system prompt".into(),
        (Role::User, false) => format!("question {number}"),
        (Role::Assistant, false) => format!("answer {number}"),
        (Role::System, false) => format!("output {number} of a command"),
        _ => format!("hidden message {number}"),
    }
}

fn differs(history: &[PastMessage], index: usize, name: &BubbName, text: &str) -> String {
    let Some(message) = history.get(index) else { return String::new() };
    let what = label(history, index);
    if (name.role, name.hidden) != (message.role, message.hidden) {
        return format!("instead of {what}, there is a message of kind {}", name.tag());
    }
    let (recorded, asked) = differing_excerpts(text, &message.text);
    format!("{what} differs: recorded {recorded:?}, asked {asked:?}")
}

/// Returns the excerpts of two texts that show how they differ.
pub fn differing_excerpts(one: &str, other: &str) -> (String, String) {
    let same = one.chars().zip(other.chars()).take_while(|(a, b)| a == b).count();
    // A few characters before the first difference, if the prefix does not include it.
    let from = if same < QUOTED / 2 { 0 } else { same - QUOTED / 3 };
    let part = |text: &str| {
        let before = if from > 0 { "…" } else { "" };
        let mut rest = text.chars().skip(from);
        let shown: String = rest.by_ref().take(QUOTED).collect();
        let after = if rest.next().is_some() { "…" } else { "" };
        format!("{before}{shown}{after}")
    };
    (part(one), part(other))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_is_quoted_where_it_is() {
        for (one, other, parts) in [
            ("what is x", "what is y", ("what is x", "what is y")),
            ("질문", "다른 질문", ("질문", "다른 질문")),
        ] {
            assert_eq!(differing_excerpts(one, other), (parts.0.to_string(), parts.1.to_string()));
        }
        let long = |end: &str| format!("{}{end}", "a".repeat(200));
        let (one, other) = differing_excerpts(&long("x"), &long("yz"));
        assert!(one.starts_with('…') && one.ends_with('x') && other.ends_with("yz"), "{one} {other}");
        assert!(differing_excerpts(&long(""), "b").0.chars().count() <= QUOTED + 2);
    }

    #[test]
    fn a_message_is_named_by_its_place() {
        let message = |role, hidden| PastMessage::new(role, hidden, "x");
        let history = [
            message(Role::System, true),
            message(Role::User, false),
            message(Role::Assistant, false),
            message(Role::System, true),
            message(Role::System, false),
            message(Role::User, false),
        ];
        let labels: Vec<String> = (0..history.len()).map(|index| label(&history, index)).collect();
        let expected = ["the system prompt", "question 1", "answer 1", "hidden message 2"];
        assert_eq!(labels[..4], expected);
        assert_eq!(labels[4..], ["output 1 of a command", "question 2"]);
    }
}
