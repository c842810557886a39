//! `--events`: all events of a turn or a group turn, one JSON object a line, for programs built on lepo. The format
//! is stable and documented in lepo-do(1); the last line is the document of `--json`.

use std::cell::RefCell;

use super::event_document::{EventDocument, ProposalFields, TurnEventFields};
use super::notices::notice_lines;
use super::person::TerminalPerson;
use super::start_question::{fenced_about, programs_line, start_title};
use crate::term::{LineLevel, Out, tty};
use crate::view::{ErrorFields, RequestFields};
use lepo_base::hint::HintTarget;
use lepo_model::Utf8Decoder;
use lepo_tool::OutputStream;
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
        let fields = match event {
            TurnEvent::Pause => return self.out.flush(),
            TurnEvent::ServersStarting(_) => return,
            // The wait for MCP servers was printed already.
            TurnEvent::Waiting if name.is_none() && self.waits => return,
            TurnEvent::Bubb(name, bytes) => TurnEventFields::from_bubb(name, bytes),
            TurnEvent::Waiting => TurnEventFields::Waiting,
            TurnEvent::Thinking(text) => TurnEventFields::Thinking { text },
            TurnEvent::Text(text) => TurnEventFields::Text { text },
            TurnEvent::WebCall(call) => TurnEventFields::Web { tool: &call.tool, about: &call.about },
            TurnEvent::Citation(page) => TurnEventFields::Citation { title: &page.title, url: &page.url },
            TurnEvent::Notice(notice) => {
                for line in notice_lines(notice, self.hint_target) {
                    let text = if line.level == LineLevel::Warning { line.to_string() } else { line.text };
                    self.line(EventDocument::new(TurnEventFields::Note { text }, name));
                }
                return;
            }
            TurnEvent::Announce(proposal) | TurnEvent::Approved(proposal) => {
                TurnEventFields::Announce(ProposalFields::new(proposal))
            }
            TurnEvent::CommandStarted(command) => TurnEventFields::Running { command },
            TurnEvent::CommandOutput(_, OutputStream::Stderr, bytes) => {
                TurnEventFields::Stderr { text: self.stderr.decode(bytes) }
            }
            TurnEvent::ToolStarted(request) => {
                TurnEventFields::Calling { request: RequestFields(request.to_json()) }
            }
            TurnEvent::Progress(text) => TurnEventFields::Progress { text },
            TurnEvent::Consent(proposal) => TurnEventFields::Ask(ProposalFields::new(proposal)),
            TurnEvent::Permit(agent, question) => {
                TurnEventFields::Note { text: format!("{agent} asks for permission: {}", question.title) }
            }
            TurnEvent::Start(question) if tty().is_some() => start_note(question),
            TurnEvent::Start(_) => return,
            TurnEvent::Form(server) => TurnEventFields::Form { server },
            // Their bubbs have events of their own, and output of a REPL does not belong to one turn.
            TurnEvent::NotFinal | TurnEvent::Done | TurnEvent::CommandOutput(_, OutputStream::Stdout, _) => {
                return;
            }
        };
        self.line(EventDocument::new(fields, name));
    }

    /// Prints one line and flushes it; text of an answer is flushed at [`TurnEvent::Pause`].
    fn line(&mut self, event: EventDocument<'_>) {
        self.waits = event.is_common_wait();
        self.out.document(&event);
        if !event.is_piece() {
            self.out.flush();
        }
    }

    /// Prints the note that the terminal asks a question before programs start.
    pub fn note_start(&mut self, question: &StartQuestion) {
        self.line(EventDocument::new(start_note(question), None));
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

fn start_note(question: &StartQuestion) -> TurnEventFields<'static> {
    let title =
        programs_line(question).into_iter().chain([start_title(question)]).collect::<Vec<_>>().join(" ");
    let text = fenced_about(question).into_iter().chain([title]).collect::<Vec<_>>().join("\n");
    TurnEventFields::Note { text }
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
        let fields = match moment {
            GroupEvent::Common(event) => return events.emit(None, event),
            GroupEvent::In(name, event) => return events.emit(Some(name), event),
            // The last line has both in full.
            GroupEvent::Spoken(..) | GroupEvent::Concluded(_) => return,
            GroupEvent::Failed(name, error) => {
                TurnEventFields::Failed { name, error: ErrorFields::new(error, events.hint_target) }
            }
            GroupEvent::Floor(round, names) => TurnEventFields::Floor { round, names },
            GroupEvent::Wants(name, bid) => TurnEventFields::Bid { name, bid: bid.as_str() },
            GroupEvent::Judging(name) => TurnEventFields::Judging { name },
            GroupEvent::Narration(text) => TurnEventFields::Narration { text },
            GroupEvent::Chosen(name) => TurnEventFields::Chosen { name },
        };
        events.line(EventDocument::new(fields, None));
    }
}
