//! Formats a conversation for another agent that continues it: subject, questions, the last turns, the files
//! and commands that it names. A conversation always produces the same text, and no model is asked.

use std::collections::HashSet;

use super::args::ExportArgs;
use super::output::{self, Document};
use super::render::local;
use crate::commands::address_args::find_in;
use crate::commands::secret_finder::masker;
use crate::term::{StatusLine, print_status};
use crate::ui::{read_request, warn_incomplete};
use crate::view::Overviews;
use lepo_base::error::{Error, Result};
use lepo_base::role::Role;
use lepo_store::bubb::{excerpt_text, model_label};
use lepo_store::conv::{Forest, Ix};
use lepo_store::store::Store;
use lepo_tool::ToolRequest;
use lepo_turn::StoppedAnswers;

struct HandoffMessage {
    /// A question of the user; otherwise an answer, or text that came with a question.
    is_question: bool,
    heading: String,
    /// Masked.
    text: String,
}

struct HandoffCommand {
    /// Masked.
    command: String,
    /// `None` if it has no exit code.
    exit: Option<i32>,
}

struct HandoffConversation {
    title: String,
    /// Oldest first.
    messages: Vec<HandoffMessage>,
    /// Oldest first.
    ran: Vec<HandoffCommand>,
}

/// Default limit of the text, in bytes.
const BYTES: usize = 24 << 10;

/// Maximum characters of a line in a list.
const LINE: usize = 120;

/// Maximum entries of a list.
const MOST: usize = 40;

/// Returns the text from which another agent can continue a conversation.
pub fn documents(args: &ExportArgs, store: &Store) -> Result<Vec<Document>> {
    let address = args.address()?;
    let forest = store.forest()?;
    let tip = find_in(store, &forest, address)?;
    let conv = forest.conv(tip);
    warn_incomplete(&conv);
    let conversation = gather(store, &forest, &conv.path)?;
    if conversation.messages.is_empty() {
        return Err(Error::nothing("nothing to hand over: all messages are hidden"));
    }
    let most = args.bytes.unwrap_or(BYTES);
    let (document, left) = text(&conversation, most).map_err(|needed| {
        Error::usage(format!("--bytes {most} is too small: the last question needs {needed}"))
    })?;
    if left > 0 {
        print_status(&StatusLine::note(format!(
            "the last answer is cut: {left} bytes left out; --bytes takes more"
        )));
    }
    let stem = output::stem(&local(forest.name(tip).id), &excerpt_text(&conversation.title));
    Ok(vec![Document { stem, text: document.into_bytes() }])
}

/// Reads the messages and commands of a path, masked.
fn gather(store: &Store, forest: &Forest, path: &[Ix]) -> Result<HandoffConversation> {
    let (facts, masker) = (store.journal().facts(), masker());
    let mask = |text: &str| masker.mask(text).text.replace('\0', "\u{FFFD}");
    let (mut messages, mut ran) = (Vec::new(), Vec::new());
    let stopped = StoppedAnswers::new(store, forest);
    for name in path.iter().map(|&ix| forest.name(ix)).filter(|name| stopped.is_shown(name)) {
        let text = store.text(&name)?;
        let fact = facts.get(&name.id);
        let heading = match name.role {
            Role::User => "User".to_string(),
            Role::System => "Context".to_string(),
            Role::Tool => "Tool".to_string(),
            Role::Assistant => match fact.and_then(|fact| fact.model.as_deref()) {
                Some(model) => format!("Assistant ({})", model_label(model)),
                None => "Assistant".to_string(),
            },
        };
        let heading = if stopped.contains(name.id) { format!("{heading} (stopped)") } else { heading };
        if let (Role::System, Some(rest)) = (name.role, text.strip_prefix("$ ")) {
            let command = rest.lines().next().unwrap_or_default();
            ran.push((
                name.id,
                HandoffCommand { command: mask(command), exit: fact.and_then(|fact| fact.exit) },
            ));
        }
        messages.push(HandoffMessage { is_question: name.role == Role::User, heading, text: mask(&text) });
    }
    // Requests and results are hidden branches of the path.
    let mut seen: HashSet<Ix> = path.iter().copied().collect();
    let hidden = |ix: Ix| forest.children(ix).filter(|child| forest.name(*child).hidden).collect::<Vec<_>>();
    let mut left: Vec<Ix> = path.iter().flat_map(|&ix| hidden(ix)).collect();
    while let Some(ix) = left.pop() {
        if !seen.insert(ix) {
            continue;
        }
        let below = hidden(ix);
        let name = forest.name(ix);
        if let Some(ToolRequest::Command(request)) = read_request(store, &name) {
            let result = below.iter().map(|&ix| forest.name(ix)).find(|name| name.role == Role::Tool);
            let exit = result.and_then(|result| facts.get(&result.id)?.exit);
            ran.push((name.id, HandoffCommand { command: mask(&request.command), exit }));
        }
        left.extend(below);
    }
    ran.sort_by_key(|(id, _)| *id);
    let overviews = Overviews::new(store, forest);
    let title = path.last().and_then(|&tip| overviews.overview(tip).title());
    let first = || {
        messages
            .iter()
            .find(|message| message.is_question)
            .map(|message| excerpt_text(&message.text).into_owned())
    };
    let title = title.map(mask).or_else(first).unwrap_or_default();
    Ok(HandoffConversation { title, messages, ran: ran.into_iter().map(|(_, ran)| ran).collect() })
}

/// Formats the conversation in at most `most` bytes; also returns how many bytes of the last answer were
/// omitted. `Err`: the bytes that the last question needs.
///
/// The text is used as a command-line argument: it contains no NUL, which no argument can, and begins with a
/// heading, never with `-`.
fn text(conversation: &HandoffConversation, most: usize) -> std::result::Result<(String, usize), usize> {
    let messages = &conversation.messages;
    let starts: Vec<usize> = (0..messages.len()).filter(|at| messages[*at].is_question).collect();
    let first_of_last = starts.last().copied().unwrap_or(0);
    let tail = lists(conversation, most / 4);
    let head = format!("# Hand-over: {}\n", line(&conversation.title));
    let fixed = head.len() + tail.len();
    let turn = |from: usize, to: usize| messages[from..to].iter().map(block).collect::<String>();
    let last = turn(first_of_last, messages.len());
    if fixed + LAST.len() + last.len() > most {
        let question = messages.get(first_of_last).map(block).unwrap_or_default();
        let room = most
            .checked_sub(fixed + LAST.len() + question.len() + CUT)
            .ok_or(fixed + LAST.len() + question.len() + CUT)?;
        let answer = last.get(question.len()..).unwrap_or_default();
        let mut kept = room.min(answer.len());
        while !answer.is_char_boundary(kept) {
            kept -= 1;
        }
        let left = answer.len() - kept;
        let answer = answer.get(..kept).unwrap_or_default();
        return Ok((format!("{head}{LAST}{question}{answer}\n\n(cut: {left} bytes left out)\n{tail}"), left));
    }
    // As many complete turns as fit, preceded by a line for each earlier question.
    let mut from = starts.len().saturating_sub(1);
    let whole = |from: usize| {
        let begin = starts.get(from).copied().unwrap_or(0);
        let earlier = earlier(messages, starts.get(..from).unwrap_or_default(), most / 4);
        format!("{head}{earlier}{LAST}{}{tail}", turn(begin, messages.len()))
    };
    let mut best = whole(from);
    if best.len() > most {
        best = format!("{head}{LAST}{last}{tail}");
    }
    while from > 0 {
        from -= 1;
        let next = whole(from);
        if next.len() > most {
            break;
        }
        best = next;
    }
    Ok((best, 0))
}

const LAST: &str = "\n## The last turns\n";

/// Bytes for the note about omitted text.
const CUT: usize = 48;

fn block(message: &HandoffMessage) -> String {
    format!("\n### {}\n\n{}\n", message.heading, message.text.trim_end())
}

/// Joins a text to one line, and shortens it.
fn line(text: &str) -> String {
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match flat.char_indices().nth(LINE) {
        Some((at, _)) => format!("{}…", flat.get(..at).unwrap_or_default()),
        None => flat,
    }
}

/// Formats a list with the newest entries that fit.
fn list(title: &str, entries: &[String], most: usize) -> String {
    let mut kept: Vec<&String> = Vec::new();
    let mut room = most;
    for entry in entries.iter().rev().take(MOST) {
        let Some(left) = room.checked_sub(entry.len() + 3) else { break };
        room = left;
        kept.push(entry);
    }
    if kept.is_empty() {
        return String::new();
    }
    let left = entries.len() - kept.len();
    let note = if left > 0 { format!("- ({left} before these)\n") } else { String::new() };
    let lines: String = kept.iter().rev().map(|entry| format!("- {entry}\n")).collect();
    format!("\n## {title}\n\n{note}{lines}")
}

fn earlier(messages: &[HandoffMessage], starts: &[usize], most: usize) -> String {
    let questions: Vec<String> = starts.iter().map(|at| line(&messages[*at].text)).collect();
    list("Earlier questions", &questions, most)
}

/// Formats the sections after the turns: files, commands, the pending request.
fn lists(conversation: &HandoffConversation, most: usize) -> String {
    let mut files: Vec<String> = Vec::new();
    let texts = conversation.messages.iter().map(|message| &message.text);
    for text in texts.chain(conversation.ran.iter().map(|ran| &ran.command)) {
        for file in files_in(text) {
            if !files.contains(&file) {
                files.push(file);
            }
        }
    }
    let exit = |ran: &HandoffCommand| match ran.exit {
        Some(code) => format!("`{}`: exit {code}", line(&ran.command)),
        None => format!("`{}`: no exit code", line(&ran.command)),
    };
    let commands: Vec<String> = conversation.ran.iter().map(exit).collect();
    let last = conversation.messages.iter().rposition(|message| message.is_question);
    let open = last.map_or(String::new(), |at| {
        let state = if at + 1 == conversation.messages.len() { "not answered yet" } else { "answered above" };
        format!("\n## The request\n\n{} ({state})\n", line(&conversation.messages[at].text))
    });
    list("Files named", &files, most / 2) + &list("Commands", &commands, most / 2) + &open
}

/// Finds file paths in a text, by their extensions.
fn files_in(text: &str) -> impl Iterator<Item = String> + '_ {
    const ENDS: &[&str] = &[
        "c", "cc", "cpp", "css", "csv", "go", "h", "html", "java", "js", "json", "jsonl", "kt", "lock", "md",
        "py", "rb", "rs", "sh", "sql", "swift", "toml", "ts", "tsx", "txt", "xml", "yaml", "yml", "zig",
    ];
    let is_apart = |c: char| c.is_whitespace() || "`'\"()[]{}<>,;|=".contains(c);
    let words = text.split(is_apart).map(|word| word.trim_end_matches(['.', ':', '?', '!']));
    let is_path = |word: &&str| {
        let name = word.rsplit('/').next().unwrap_or_default();
        let end = name.rsplit_once('.').filter(|(stem, _)| !stem.is_empty()).map(|(_, end)| end);
        !word.contains("://") && word.len() <= 200 && end.is_some_and(|end| ENDS.contains(&end))
    };
    words.filter(is_path).map(str::to_string)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn conversation(turns: &[(&str, &str)]) -> HandoffConversation {
        let message = |is_question: bool, heading: &str, text: &str| HandoffMessage {
            is_question,
            heading: heading.into(),
            text: text.into(),
        };
        let messages = turns
            .iter()
            .flat_map(|(question, answer)| {
                [message(true, "User", question), message(false, "Assistant", answer)]
            })
            .filter(|message| !message.text.is_empty())
            .collect();
        let ran = vec![HandoffCommand { command: "cargo test".into(), exit: Some(101) }];
        HandoffConversation { title: "a title".into(), messages, ran }
    }

    #[test]
    fn all_of_a_short_conversation_is_in_it() {
        let short = conversation(&[("read src/a.rs", "It reads."), ("and b.toml?", "")]);
        let (text, left) = text(&short, 24 << 10).unwrap();
        let expected = "# Hand-over: a title\n\n## The last turns\n\n### User\n\nread src/a.rs\n\n### Assistant\n\nIt reads.\n\n\
            ### User\n\nand b.toml?\n\n## Files named\n\n- src/a.rs\n- b.toml\n\n## Commands\n\n- `cargo test`: exit 101\n\n\
            ## The request\n\nand b.toml? (not answered yet)\n";
        assert_eq!((text.as_str(), left), (expected, 0));
    }

    #[test]
    fn what_does_not_fit_is_a_line_each_and_the_last_turn_stays_whole() {
        let long = "word ".repeat(200);
        let turns: Vec<(String, String)> = (0..20).map(|i| (format!("question {i}"), long.clone())).collect();
        let turns: Vec<(&str, &str)> = turns.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
        let short = conversation(&turns);
        for most in [2000, 4000, 8000, 100_000] {
            let (text, left) = text(&short, most).unwrap();
            assert!(text.len() <= most && left == 0, "{most}: {}", text.len());
            assert!(text.contains("### User\n\nquestion 19\n"), "{text}");
            assert_eq!(text.contains("- question 3\n"), most < 20_000, "{most}");
        }
    }

    #[test]
    fn the_last_question_is_whole_and_its_answer_cut() {
        let short = conversation(&[("짧은 질문?", &"긴 답 ".repeat(1000))]);
        let (text, left) = super::text(&short, 1024).unwrap();
        assert!(
            text.len() <= 1024 && left > 0 && text.contains(&format!("(cut: {left} bytes left out)")),
            "{text}"
        );
        assert!(text.contains("짧은 질문?\n"));
        let long = conversation(&[(&"긴 질문 ".repeat(1000), "x")]);
        assert!(super::text(&long, 1024).unwrap_err() > 1024);
    }
}
