//! `--events`: everything that happens in a turn, one JSON object a line, for programs built on lepo.
//! Stable, and told in lepo-do(1); the last line is the document of `--json`.

use std::future::Future;
use std::pin::Pin;

use serde_json::{Value, json};

use crate::bubb::Name;
use crate::error::Result;
use crate::model::Utf8;
use crate::repl::ask;
use crate::term::Out;
use crate::tool::{Proposal, Reply};
use crate::turn::{Event, Front};

/// A turn as lines on stdout.
pub struct Events<'o> {
    out: &'o mut Out,
    /// What a command writes may end inside a character.
    stderr: Utf8,
}

impl<'o> Events<'o> {
    /// Lines on `out`.
    pub fn new(out: &'o mut Out) -> Events<'o> {
        Events { out, stderr: Utf8::default() }
    }

    /// Something that happened, in the reply of the one of this name, where many are asked.
    pub fn tell(&mut self, name: Option<&str>, event: Event<'_>) {
        let told = match event {
            Event::Pause => return self.out.flush(),
            Event::Bubb(name, bytes) => bubb(name, bytes),
            Event::Waiting => json!({ "event": "waiting" }),
            Event::Thinking(text) => json!({ "event": "thinking", "text": text }),
            Event::Text(text) => json!({ "event": "text", "text": text }),
            Event::Say(text) => json!({ "event": "note", "text": text }),
            Event::Announce(proposal) => request("announce", proposal),
            Event::Running(command) => json!({ "event": "running", "command": command }),
            Event::Stderr(bytes) => json!({ "event": "stderr", "text": self.stderr.decode(bytes) }),
            Event::Calling(request) => json!({ "event": "calling", "request": request.to_json() }),
            Event::Progress(words) => json!({ "event": "progress", "text": words }),
            // Their bubbs tell of them; and what a REPL shows is not of one turn.
            Event::Called | Event::Done | Event::Stdout(_) => return,
        };
        self.line(named(told, name));
    }

    /// One line, seen at once; text of an answer waits for [`Event::Pause`].
    pub fn line(&mut self, event: Value) {
        self.out.line(&event.to_string());
        if !matches!(event["event"].as_str(), Some("text" | "thinking")) {
            self.out.flush();
        }
    }
}

impl Front for Events<'_> {
    fn happens(&mut self, event: Event<'_>) {
        self.tell(None, event);
    }

    fn shows_at_once(&self) -> bool {
        true
    }

    fn ask<'f>(&'f mut self, proposal: &'f Proposal) -> Pin<Box<dyn Future<Output = Result<Reply>> + 'f>> {
        self.line(request("ask", proposal));
        Box::pin(ask(proposal.clone()))
    }
}

/// With who it is about, if it is about one of many.
fn named(mut told: Value, name: Option<&str>) -> Value {
    if let Some(name) = name {
        told["name"] = name.into();
    }
    told
}

fn bubb(name: &Name, bytes: Option<&[u8]>) -> Value {
    json!({
        "event": "bubb",
        "id": name.id.to_string(),
        "kind": name.kind.word(),
        "hidden": name.hidden,
        "prev": name.prev.map(|prev| prev.to_string()),
        "text": bytes.map(String::from_utf8_lossy),
    })
}

fn request(event: &str, proposal: &Proposal) -> Value {
    match proposal {
        Proposal::Command(proposal) => json!({
            "event": event,
            "request": proposal.request.to_json(),
            "dir": proposal.dir.to_string_lossy(),
            "sandbox": proposal.sandbox.to_string(),
        }),
        Proposal::Call(proposal) => json!({
            "event": event,
            "request": proposal.request.to_json(),
            "description": proposal.description,
            "changed": proposal.changed,
        }),
    }
}
