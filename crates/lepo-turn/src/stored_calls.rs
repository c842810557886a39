//! Answers with calls in a request: the assistant's message with all its calls, followed by all results. On the path,
//! each call and each result is a bubb.
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

/// A request on a path, with its result.
struct PathCall<'s> {
    /// Index of the request on the path.
    index: usize,
    request: &'s Message,
    result: Option<&'s Message>,
}

/// The bubbs of one answer with calls on a path.
#[derive(Default)]
struct PathCalls<'s> {
    /// Text around the calls, requests as they were before the user edited them, and the number of calls if it is
    /// announced.
    texts: Vec<&'s str>,
    calls: Vec<PathCall<'s>>,
    /// Index after its last result.
    end: usize,
}

/// Returns the messages of the answer with calls that starts at `start`, and the index of its end; `None` if no such
/// answer starts there.
///
/// With `rebuild`, calls that another process received become calls again; otherwise they are text.
pub fn answer_at(
    path: &[Message],
    start: usize,
    groups: &[CallGroup],
    rebuild: bool,
) -> Option<(Vec<ChatMessage>, usize)> {
    match groups.iter().position(|group| group.index == start) {
        Some(i) => {
            let group = groups.get(i)?;
            let end = groups.get(i + 1).map_or(path.len(), |next| next.index);
            let answer = PathCalls::read(path, start, end, group.calls.len());
            if answer.end == start {
                return None;
            }
            Some((answer.group_messages(group), end.min(answer.end)))
        }
        None if rebuild => {
            let next = groups.iter().map(|group| group.index).find(|&next| next > start);
            let end = next.unwrap_or(path.len());
            let answer = PathCalls::read(path, start, end, announced_calls(path, start));
            answer.is_finished().then(|| (answer.rebuilt(), answer.end))
        }
        None => None,
    }
}

/// Returns the number of calls that a note at the start of an answer announces, or 1 without a note.
fn announced_calls(path: &[Message], start: usize) -> usize {
    let of_answer = |message: &&Message| message.hidden && message.role == Role::Assistant;
    let hidden = path.get(start..).unwrap_or_default().iter().take_while(of_answer);
    let number = |message: &Message| match message.body {
        Body::Announcement(number) => Some(number),
        _ => None,
    };
    hidden.take_while(|message| !message.body.is_call()).find_map(number).unwrap_or(1)
}

impl<'s> PathCalls<'s> {
    /// Reads an answer that starts at `start`: at most `max_calls` calls with their results, before `end`.
    fn read(path: &'s [Message], start: usize, end: usize, max_calls: usize) -> PathCalls<'s> {
        let mut answer = PathCalls { end: start, ..PathCalls::default() };
        for (index, message) in path.iter().enumerate().take(end).skip(start) {
            let waits = answer.calls.last().is_some_and(|call| call.result.is_none());
            let call = PathCall { index, request: message, result: None };
            match message.role {
                Role::Assistant if message.hidden => {
                    if !message.body.is_call() {
                        // Text after a call starts another answer.
                        if !answer.calls.is_empty() {
                            break;
                        }
                        answer.texts.push(&message.text);
                    } else if waits {
                        // The user edited the request; the second bubb ran.
                        answer.texts.extend(answer.calls.pop().map(|edited| &*edited.request.text));
                        answer.calls.push(call);
                    } else if answer.calls.len() < max_calls {
                        answer.calls.push(call);
                    } else {
                        break;
                    }
                }
                Role::Tool if message.hidden && waits => {
                    if let Some(call) = answer.calls.last_mut() {
                        call.result = Some(message);
                        answer.end = index + 1;
                    }
                }
                _ => break,
            }
        }
        answer
    }

    /// Whether it has calls, and each has its result.
    fn is_finished(&self) -> bool {
        !self.calls.is_empty() && self.calls.iter().all(|call| call.result.is_some())
    }

    /// Returns the messages of an answer that this turn received as `group`.
    fn group_messages(&self, group: &CallGroup) -> Vec<ChatMessage> {
        let finished = self.calls.iter().filter(|call| call.result.is_some());
        let is_unchanged = finished.clone().count() <= group.calls.len()
            && finished.clone().zip(&group.calls).all(|(call, sent)| is_message_of(sent, call.request));
        if !is_unchanged {
            return self.rebuilt();
        }
        let note = announcement(group.calls.len());
        let texts = self.texts.iter().filter(|text| Some(**text) != note.as_deref());
        let text = texts.copied().collect::<Vec<_>>().join("\n\n");
        let calls = group.calls.clone();
        let mut messages = vec![ChatMessage {
            calls,
            replay: group.replay.clone(),
            ..ChatMessage::new(Role::Assistant, text)
        }];
        let last = finished.clone().next_back().and_then(|call| call.result);
        let is_refused = last.is_some_and(|result| *result.text == *REFUSED);
        let dropped = if group.was_pending && !is_refused { DROPPED_WAITING } else { DROPPED };
        let mut results = finished.map(|call| call.result);
        for call in &group.calls {
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
        let finished = || {
            let call = |call: &PathCall<'s>| Some((call_of(&call.request.body, call.index)?, call.result?));
            self.calls.iter().filter_map(call)
        };
        let calls = finished().map(|(call, _)| call).collect();
        let mut messages = vec![ChatMessage { calls, ..ChatMessage::new(Role::Assistant, text) }];
        messages.extend(finished().map(|(call, result)| result_message(call.id, result)));
        messages
    }
}

fn result_message(call: String, result: &Message) -> ChatMessage {
    let files = result.sent_files();
    ChatMessage { call_id: Some(call), files, ..ChatMessage::new(Role::Tool, result.text.clone()) }
}

/// Returns the calls to send with a path, and the form of its messages. If the request lists no tools and its API has
/// fields for them, earlier calls are text, because an API may reject calls of tools that the request does not list.
pub fn calls_for<'c>(
    lists_tools: bool,
    path: &[Message],
    groups: &'c [CallGroup],
    form: ConversationFormat,
) -> (&'c [CallGroup], ConversationFormat) {
    if lists_tools || form != ConversationFormat::Messages {
        return (groups, form);
    }
    let turn = start_of_turn(path);
    let since = groups.partition_point(|group| group.index < turn);
    let before = path.get(..turn).unwrap_or_default();
    let has_earlier = (0..before.len()).any(|start| answer_at(before, start, &[], true).is_some());
    (groups.get(since..).unwrap_or_default(), if has_earlier { ConversationFormat::Prompted } else { form })
}

/// Returns the indexes of the bubbs of finished calls on a path: text around them, calls, results, and notes about
/// dropped calls.
pub fn finished_calls(path: &[Message]) -> HashSet<usize> {
    let (mut found, mut start) = (HashSet::new(), 0);
    while start < path.len() {
        let answer = PathCalls::read(path, start, path.len(), announced_calls(path, start));
        let is_note = |message: &Message| {
            let follows_call = start.checked_sub(1).is_some_and(|before| found.contains(&before));
            follows_call && message.body == Body::DroppedCalls
        };
        let end = match path.get(start) {
            _ if answer.is_finished() => answer.end,
            Some(message) if is_note(message) => start + 1,
            _ => start,
        };
        found.extend(start..end);
        start = end.max(start + 1);
    }
    found
}

/// Returns the index of the last question.
pub fn start_of_turn(path: &[Message]) -> usize {
    path.iter().rposition(Message::is_question).unwrap_or_default()
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
            was_pending: false,
        };
        for (text, form, expected, received) in [
            ("u0 q / a1 CALL / t1 r / a0 x / u0 and?", Messages, Prompted, &[][..]),
            ("u0 q / a1 CALL / t1 r / a0 x / u0 and? / a1 CALL / t1 r", Messages, Prompted, &[5]),
            ("u0 q / a1 CALL / t1 r / a0 x / u0 and?", Prompted, Prompted, &[1]),
            ("u0 q / a1 CALL / t1 r / a0 x / u0 and?", Plain, Plain, &[1]),
            ("u0 q / a1 CALL / t1 r", Messages, Messages, &[1]),
            ("u0 q / a0 x / u0 and?", Messages, Messages, &[]),
        ] {
            let path = path(&text.replace("CALL", CALL));
            let is_call = |at: &usize| &*path[*at].text == CALL;
            let groups: Vec<CallGroup> = (0..path.len()).filter(is_call).map(group).collect();
            let (groups, form) = calls_for(false, &path, &groups, form);
            let found: Vec<usize> = groups.iter().map(|group| group.index).collect();
            assert_eq!((form, &found[..]), (expected, received), "{text}");
        }
    }
}
