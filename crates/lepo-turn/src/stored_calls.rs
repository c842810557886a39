//! Answers with calls: an answer is an assistant's message with all its calls, followed by all results.
//!
//! The message of this turn's model is sent back as it was received. If it is not available any more, or differs
//! from the bubbs, the message is rebuilt from the bubbs.

use std::collections::HashSet;

use super::body::{Body, REFUSED, announcement};
use super::message::{CallGroup, Message};
use super::native::{call_of, is_message_of};
use lepo_base::role::Role;
use lepo_model::{ChatMessage, ConversationFormat};

/// The result of a call that was never executed.
const DROPPED: &str = "dropped: it was not carried out, because a call before it ended the use of tools";

/// The result of a call that was never executed, if the call before it was executed later.
const DROPPED_WAITING: &str = "dropped: it was not carried out, because a call before it waited for consent; call again if it is needed";

/// The bubbs on a path that one answer with calls consists of.
#[derive(Default)]
struct PathCalls<'s> {
    /// Text around the calls, edited requests, and the note that several requests follow.
    texts: Vec<&'s str>,
    /// Each request with its index on the path and its result.
    requests: Vec<(usize, &'s Message, Option<&'s Message>)>,
    /// Index after its last result.
    end: usize,
}

/// Returns the messages for the bubbs at `at`, if an answer with calls starts there, and the index of their
/// end.
///
/// With `rebuild`, calls that another process received become calls again; otherwise they are text.
pub fn answer_at(
    entries: &[Message],
    at: usize,
    groups: &[CallGroup],
    rebuild: bool,
) -> Option<(Vec<ChatMessage>, usize)> {
    match groups.iter().position(|answer| answer.index == at) {
        Some(i) => {
            let answer = groups.get(i)?;
            let end = groups.get(i + 1).map_or(entries.len(), |next| next.index);
            let group = PathCalls::read(entries, at, end, answer.calls.len());
            if group.end == at {
                return None;
            }
            Some((group.received(answer), end.min(group.end)))
        }
        None if rebuild => {
            let end =
                groups.iter().map(|answer| answer.index).find(|&next| next > at).unwrap_or(entries.len());
            let calls = announced(entries, at);
            let group = PathCalls::read(entries, at, end, calls);
            let whole =
                !group.requests.is_empty() && group.requests.iter().all(|(.., result)| result.is_some());
            whole.then(|| (group.rebuilt(), group.end))
        }
        None => None,
    }
}

/// Returns the number of requests that the note of an answer at this index announces, or 1 without a note.
fn announced(entries: &[Message], at: usize) -> usize {
    let hidden = entries.get(at..).unwrap_or_default().iter().take_while(|entry| is_asked(entry));
    let number = |entry: &Message| match entry.body {
        Body::Announcement(number) => Some(number),
        _ => None,
    };
    hidden.take_while(|entry| !entry.body.is_call()).find_map(number).unwrap_or(1)
}

fn is_asked(entry: &Message) -> bool {
    entry.hidden && entry.role == Role::Assistant
}

impl<'s> PathCalls<'s> {
    /// Reads at most `most` requests with their results.
    fn read(entries: &'s [Message], at: usize, end: usize, most: usize) -> PathCalls<'s> {
        let mut group = PathCalls { end: at, ..PathCalls::default() };
        for (place, bubb) in entries.iter().enumerate().take(end).skip(at) {
            let waits = matches!(group.requests.last(), Some((.., None)));
            match bubb.role {
                Role::Assistant if bubb.hidden => {
                    if !bubb.body.is_call() {
                        // Text after a call starts another answer.
                        if !group.requests.is_empty() {
                            break;
                        }
                        group.texts.push(&bubb.text);
                    } else if waits {
                        // The user edited the request; the second bubb ran.
                        group.texts.extend(group.requests.pop().map(|(_, edited, _)| &*edited.text));
                        group.requests.push((place, bubb, None));
                    } else if group.requests.len() < most {
                        group.requests.push((place, bubb, None));
                    } else {
                        break;
                    }
                }
                Role::Tool if bubb.hidden && waits => {
                    if let Some((.., result)) = group.requests.last_mut() {
                        *result = Some(bubb);
                        group.end = place + 1;
                    }
                }
                _ => break,
            }
        }
        group
    }

    /// Returns the messages of an answer that this turn received.
    fn received(&self, answer: &CallGroup) -> Vec<ChatMessage> {
        let carried = self.requests.iter().filter(|(.., result)| result.is_some());
        let as_said = carried.clone().count() <= answer.calls.len()
            && carried.clone().zip(&answer.calls).all(|((_, request, _), call)| is_message_of(call, request));
        if !as_said {
            return self.rebuilt();
        }
        let note = announcement(answer.calls.len());
        let words = self.texts.iter().filter(|words| Some(**words) != note.as_deref());
        let text = words.copied().collect::<Vec<_>>().join("\n\n");
        let calls = answer.calls.clone();
        let mut messages = vec![ChatMessage {
            calls,
            replay: answer.replay.clone(),
            ..ChatMessage::new(Role::Assistant, text)
        }];
        let last = carried.clone().next_back().and_then(|(.., result)| *result);
        let is_refused = last.is_some_and(|result| *result.text == *REFUSED);
        let dropped = if answer.waited && !is_refused { DROPPED_WAITING } else { DROPPED };
        let mut results = carried.map(|(.., result)| *result);
        for call in &answer.calls {
            messages.push(match results.next().flatten() {
                Some(result) => result_message(call.id.clone(), result),
                None => {
                    ChatMessage { call_id: Some(call.id.clone()), ..ChatMessage::new(Role::Tool, dropped) }
                }
            });
        }
        messages
    }

    /// Returns the messages rebuilt from the bubbs alone.
    fn rebuilt(&self) -> Vec<ChatMessage> {
        let text = self.texts.join("\n\n");
        let carried = || {
            self.requests
                .iter()
                .filter_map(|(place, request, result)| Some((call_of(&request.body, *place)?, (*result)?)))
        };
        let calls = carried().map(|(call, _)| call).collect();
        let mut messages = vec![ChatMessage { calls, ..ChatMessage::new(Role::Assistant, text) }];
        messages.extend(carried().map(|(call, result)| result_message(call.id, result)));
        messages
    }
}

fn result_message(call: String, result: &Message) -> ChatMessage {
    let files = result.sent_files();
    ChatMessage { call_id: Some(call), files, ..ChatMessage::new(Role::Tool, result.text.clone()) }
}

/// Returns the calls of a path, and the form of its messages, for a request. If it lists no tools and its API has fields for
/// them, earlier calls are text, because an API may reject calls of tools that the request does not list.
pub fn calls_for<'c>(
    lists_tools: bool,
    entries: &[Message],
    groups: &'c [CallGroup],
    form: ConversationFormat,
) -> (&'c [CallGroup], ConversationFormat) {
    if lists_tools || form != ConversationFormat::Messages {
        return (groups, form);
    }
    let turn = start_of_turn(entries);
    let since = groups.partition_point(|answer| answer.index < turn);
    let before = entries.get(..turn).unwrap_or_default();
    let has_earlier = (0..before.len()).any(|at| answer_at(before, at, &[], true).is_some());
    (groups.get(since..).unwrap_or_default(), if has_earlier { ConversationFormat::Prompted } else { form })
}

/// Returns the bubbs of finished calls on a path: text around them, calls, results, and notes about dropped calls.
pub fn finished_calls(entries: &[Message]) -> HashSet<usize> {
    let (mut found, mut at) = (HashSet::new(), 0);
    while at < entries.len() {
        let group = PathCalls::read(entries, at, entries.len(), announced(entries, at));
        let is_whole =
            !group.requests.is_empty() && group.requests.iter().all(|(.., result)| result.is_some());
        let is_note = |entry: &Message| {
            let after = at.checked_sub(1).is_some_and(|before| found.contains(&before));
            after && entry.body == Body::DroppedCalls
        };
        let end = match entries.get(at) {
            _ if is_whole => group.end,
            Some(entry) if is_note(entry) => at + 1,
            _ => at,
        };
        found.extend(at..end);
        at = end.max(at + 1);
    }
    found
}

/// Returns the index of the last question.
pub fn start_of_turn(entries: &[Message]) -> usize {
    entries.iter().rposition(Message::is_question).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::super::message::fixture::path;
    use super::*;
    use ConversationFormat::{Messages, Plain, Prompted};

    const CALL: &str = r#"{"access":"read","command":"ls"}"#;

    #[test]
    fn finished_calls_are_found_with_the_words_around_them_and_nothing_else() {
        for (text, expected) in [
            ("s1 P / u0 q / a1 I look. / a1 CALL / t1 r / a0 x", "2 3 4"),
            (
                "s1 P / u0 q / a1 CALL / t1 r / s1 calls of the same answer that were dropped: 2 / a0 x",
                "2 3 4",
            ),
            ("u0 q / a1 CALL / t1 r / a1 CALL / t1 s / a1 part / u0 go on / a0 x", "1 2 3 4"),
            ("u0 q / a1 part / u0 go on / a1 CALL / t1 r / a0 x", "3 4"),
            // Waiting, planned, visible, and a note of something else.
            ("u0 q / a1 CALL", ""),
            (r#"u0 q / s1 {"tool":"command"} / s1 CALL / s1 r / a0 x"#, ""),
            ("u0 q / a0 CALL / t0 r", ""),
            ("s1 P / s1 calls of the same answer that were dropped: 2 / u0 q", ""),
        ] {
            let mut found: Vec<usize> =
                finished_calls(&path(&text.replace("CALL", CALL))).into_iter().collect();
            found.sort_unstable();
            let found: Vec<String> = found.iter().map(ToString::to_string).collect();
            assert_eq!(found.join(" "), expected, "{text}");
        }
    }

    #[test]
    fn without_tools_earlier_calls_are_text_where_an_api_has_fields_for_them() {
        let body = Body::read(Role::Assistant, true, CALL);
        let group = |at| CallGroup {
            index: at,
            calls: vec![call_of(&body, 0).unwrap()],
            replay: None,
            waited: false,
        };
        for (text, form, expected, received) in [
            ("u0 q / a1 CALL / t1 r / a0 x / u0 and?", Messages, Prompted, &[][..]),
            ("u0 q / a1 CALL / t1 r / a0 x / u0 and? / a1 CALL / t1 r", Messages, Prompted, &[5]),
            ("u0 q / a1 CALL / t1 r / a0 x / u0 and?", Prompted, Prompted, &[1]),
            ("u0 q / a1 CALL / t1 r / a0 x / u0 and?", Plain, Plain, &[1]),
            ("u0 q / a1 CALL / t1 r", Messages, Messages, &[1]),
            ("u0 q / a0 x / u0 and?", Messages, Messages, &[]),
        ] {
            let entries = path(&text.replace("CALL", CALL));
            let is_call = |at: &usize| &*entries[*at].text == CALL;
            let answers: Vec<CallGroup> = (0..entries.len()).filter(is_call).map(group).collect();
            let (answers, form) = calls_for(false, &entries, &answers, form);
            let found: Vec<usize> = answers.iter().map(|answer| answer.index).collect();
            assert_eq!((form, &found[..]), (expected, received), "{text}");
        }
    }
}
