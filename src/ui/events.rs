//! `--events`: all events of a turn or a group turn, one JSON object a line, for programs built on lepo. The format
//! is stable and documented in lepo-do(1); the last line is the document of `--json`.

use std::cell::RefCell;

use serde_json::{Value, json};

use super::notices::notice_lines;
use super::person::TerminalPerson;
use super::start_question::{about_words, programs_line, start_title};
use crate::term::{LineLevel, Out, tty};
use lepo_base::hint::HintTarget;
use lepo_model::Utf8Decoder;
use lepo_store::bubb::BubbName;
use lepo_tool::{OutputStream, Proposal, Unagreed};
use lepo_turn::{GroupEvent, GroupView, Person, StartQuestion, TurnEvent, View};

/// Prints the events of a turn on stdout.
pub struct EventLines<'o> {
    out: &'o mut Out,
    /// Decodes a command's stderr, whose chunks may end inside a character.
    stderr: Utf8Decoder,
    /// Whether the last line was `waiting`.
    waits: bool,
    hint_target: HintTarget<'o>,
    person: TerminalPerson,
}

impl<'o> EventLines<'o> {
    pub fn new(out: &'o mut Out, hint_target: HintTarget<'o>) -> EventLines<'o> {
        EventLines { out, stderr: Utf8Decoder::default(), waits: false, hint_target, person: TerminalPerson }
    }

    /// Prints an event, with the name of the participant to whose reply it belongs.
    fn emit(&mut self, name: Option<&str>, event: TurnEvent<'_>) {
        let json = match event {
            TurnEvent::Pause => return self.out.flush(),
            // The wait for MCP servers was printed already.
            TurnEvent::Waiting if name.is_none() && self.waits => return,
            TurnEvent::Bubb(name, bytes) => bubb(name, bytes),
            TurnEvent::Waiting => json!({ "event": "waiting" }),
            TurnEvent::Thinking(text) => json!({ "event": "thinking", "text": text }),
            TurnEvent::Text(text) => json!({ "event": "text", "text": text }),
            TurnEvent::WebCall(call) => json!({ "event": "web", "tool": call.tool, "about": call.about }),
            TurnEvent::Citation(page) => json!({ "event": "citation", "title": page.title, "url": page.url }),
            TurnEvent::Notice(notice) => {
                for line in notice_lines(notice, self.hint_target) {
                    let text = if line.level == LineLevel::Warning { line.to_string() } else { line.text };
                    self.line(named(json!({ "event": "note", "text": text }), name));
                }
                return;
            }
            TurnEvent::Announce(proposal) | TurnEvent::Approved(proposal) => request("announce", proposal),
            TurnEvent::CommandStarted(command) => json!({ "event": "running", "command": command }),
            TurnEvent::CommandOutput(_, OutputStream::Stderr, bytes) => {
                json!({ "event": "stderr", "text": self.stderr.decode(bytes) })
            }
            TurnEvent::ToolStarted(request) => json!({ "event": "calling", "request": request.to_json() }),
            TurnEvent::Progress(text) => json!({ "event": "progress", "text": text }),
            TurnEvent::Consent(proposal) => request("ask", proposal),
            TurnEvent::Permit(agent, question) => {
                let text = format!("{agent} asks for permission: {}", question.title);
                json!({ "event": "note", "text": text })
            }
            TurnEvent::Start(question) if tty().is_some() => start_note(question),
            TurnEvent::Start(_) => return,
            TurnEvent::Form(server) => json!({ "event": "form", "server": server }),
            // Their bubbs have events of their own, and output of a REPL does not belong to one turn.
            TurnEvent::NotFinal | TurnEvent::Done | TurnEvent::CommandOutput(_, OutputStream::Stdout, _) => {
                return;
            }
        };
        self.line(named(json, name));
    }

    /// Prints one line and flushes it; text of an answer is flushed at [`TurnEvent::Pause`].
    fn line(&mut self, event: Value) {
        self.waits = event["event"] == "waiting" && event["name"].is_null();
        self.out.line(&event.to_string());
        if !matches!(event["event"].as_str(), Some("text" | "thinking")) {
            self.out.flush();
        }
    }
}

impl View for EventLines<'_> {
    fn on_event(&mut self, event: TurnEvent<'_>) {
        self.emit(None, event);
    }

    fn shows_partial_text(&self) -> bool {
        true
    }

    fn person(&mut self) -> Option<&mut dyn Person> {
        Some(&mut self.person)
    }
}

/// Returns the note that the terminal asks a question before programs start.
pub fn start_note(question: &StartQuestion) -> Value {
    let title =
        programs_line(question).into_iter().chain([start_title(question)]).collect::<Vec<_>>().join(" ");
    let text = about_words(question).into_iter().chain([title]).collect::<Vec<_>>().join("\n");
    json!({ "event": "note", "text": text })
}

/// The events of a group turn with concurrent replies.
pub struct SharedEvents<'e>(RefCell<EventLines<'e>>);

impl<'e> SharedEvents<'e> {
    pub fn new(events: EventLines<'e>) -> SharedEvents<'e> {
        SharedEvents(RefCell::new(events))
    }
}

impl GroupView for SharedEvents<'_> {
    fn on_event(&self, moment: GroupEvent<'_>) {
        let mut events = self.0.borrow_mut();
        let line = match moment {
            GroupEvent::Common(event) => return events.emit(None, event),
            GroupEvent::In(name, event) => return events.emit(Some(name), event),
            // The last line has both in full.
            GroupEvent::Spoken(..) | GroupEvent::Concluded(_) => return,
            GroupEvent::Failed(name, error) => {
                json!({ "event": "failed", "name": name, "error": error.to_json(events.hint_target) })
            }
            GroupEvent::Floor(round, names) => json!({ "event": "floor", "round": round, "names": names }),
            GroupEvent::Wants(name, bid) => json!({ "event": "bid", "name": name, "bid": bid.as_str() }),
            GroupEvent::Judging(name) => json!({ "event": "judging", "name": name }),
            GroupEvent::Narration(text) => json!({ "event": "narration", "text": text }),
            GroupEvent::Chosen(name) => json!({ "event": "chosen", "name": name }),
        };
        events.line(line);
    }
}

/// Adds the name of the participant, if any.
fn named(mut event: Value, name: Option<&str>) -> Value {
    if let Some(name) = name {
        event["name"] = name.into();
    }
    event
}

fn bubb(name: &BubbName, bytes: Option<&[u8]>) -> Value {
    json!({
        "event": "bubb",
        "id": name.id.to_string(),
        "kind": name.role.as_str(),
        "hidden": name.hidden,
        "prev": name.prev.map(|prev| prev.to_string()),
        "text": bytes.map(String::from_utf8_lossy),
    })
}

fn labels(unagreed: &[Unagreed]) -> Vec<String> {
    unagreed.iter().map(Unagreed::label).collect()
}

fn request(event: &str, proposal: &Proposal) -> Value {
    match proposal {
        Proposal::Command(proposal) => json!({
            "event": event,
            "request": proposal.request.to_json(),
            "dir": proposal.dir.to_string_lossy(),
            "sandbox": proposal.sandbox.to_string(),
            "unagreed": labels(&proposal.unagreed),
        }),
        Proposal::Call(proposal) => json!({
            "event": event,
            "request": proposal.request.to_json(),
            "description": proposal.description,
            "changed": proposal.changed,
            "unagreed": labels(&proposal.unagreed),
        }),
    }
}
