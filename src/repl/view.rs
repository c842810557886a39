//! What a person sees of a turn: the answer on stdout; waiting, thinking and talk on stderr.

use std::future::Future;
use std::io::{IsTerminal, Write};
use std::pin::Pin;

use super::consent;
use crate::bubb::{Kind, Name};
use crate::error::Result;
use crate::talk::{Event, Front};
use crate::term::{Cleaner, Out, Paint, heading, say};
use crate::tool::{Proposal, Reply};

const WAITING: &str = "Waiting for response...";

/// A view of one turn.
pub struct View<'o> {
    out: &'o mut Out,
    paint: Paint,
    /// The answer is in a document that comes at the end.
    json: bool,
    show_all: bool,
    /// The answer and nothing else.
    quiet: bool,
    /// stderr is a terminal, and not all is to be quiet.
    talkative: bool,
    stage: Stage,
    /// For what comes from outside and goes to stderr.
    cleaner: Cleaner,
}

#[derive(PartialEq, Eq)]
enum Stage {
    Quiet,
    Waiting,
    Thinking,
    Answering,
}

impl<'o> View<'o> {
    /// A view on stdout and stderr.
    pub fn new(out: &'o mut Out, paint: Paint, json: bool, quiet: bool, show_all: bool) -> View<'o> {
        let talkative = !quiet && std::io::stderr().is_terminal();
        View {
            out,
            paint,
            json,
            show_all,
            quiet,
            talkative,
            stage: Stage::Quiet,
            cleaner: Cleaner::default(),
        }
    }

    /// The turn is over: the answer's line ends, what is buffered is shown.
    pub fn end(&mut self) {
        self.turn_to(Stage::Quiet);
        self.out.flush();
    }

    /// Leaves one stage for the next; each cleans up after itself.
    fn turn_to(&mut self, next: Stage) {
        if self.stage == next {
            return;
        }
        match std::mem::replace(&mut self.stage, next) {
            Stage::Waiting => self.err("\r\u{1b}[K"),
            Stage::Thinking => {
                let mut rest = String::new();
                self.cleaner.finish(&mut rest);
                self.err(&format!("{rest}\n<<< End Thinking >>>\n"));
            }
            Stage::Answering if !self.out.at_line_start() => self.out.own("\n"),
            Stage::Answering | Stage::Quiet => {}
        }
        match self.stage {
            Stage::Waiting => self.err(WAITING),
            Stage::Thinking => self.err("<<< Thinking >>>\n"),
            Stage::Answering | Stage::Quiet => {}
        }
    }

    fn err(&self, text: &str) {
        if self.talkative {
            let _ = std::io::stderr().lock().write_all(text.as_bytes());
        }
    }

    fn foreign(&mut self, bytes: &[u8]) {
        let mut text = String::new();
        self.cleaner.push(bytes, &mut text);
        self.err(&text);
    }

    fn bubb(&mut self, name: &Name, bytes: &[u8]) {
        if self.json || !self.show_all || !name.hidden || name.kind == Kind::User {
            return;
        }
        self.turn_to(Stage::Quiet);
        self.out.own(&format!("{}\n", heading(name, self.paint)));
        self.out.text(bytes);
        self.out.own(if self.out.at_line_start() { "\n" } else { "\n\n" });
        self.out.flush();
    }
}

impl Front for View<'_> {
    fn happens(&mut self, event: Event<'_>) {
        match event {
            Event::Waiting => self.turn_to(Stage::Waiting),
            Event::Thinking(text) => {
                self.turn_to(Stage::Thinking);
                self.foreign(text.as_bytes());
            }
            Event::Text(text) => {
                self.turn_to(Stage::Answering);
                if !self.json {
                    self.out.text(text.as_bytes());
                }
            }
            Event::Pause => self.out.flush(),
            Event::Say(_) if self.quiet => {}
            Event::Say(text) => {
                let after = if self.stage == Stage::Waiting { Stage::Waiting } else { Stage::Quiet };
                self.turn_to(Stage::Quiet);
                self.out.flush();
                say(text);
                self.turn_to(after);
            }
            Event::Announce(proposal) => {
                self.turn_to(Stage::Quiet);
                self.out.flush();
                if !self.quiet {
                    say(consent::text(proposal).trim());
                }
            }
            Event::Running(command) => {
                self.turn_to(Stage::Quiet);
                if self.talkative {
                    say(&format!("$ {command}"));
                }
            }
            Event::Stderr(bytes) => self.foreign(bytes),
            Event::Bubb(name, Some(bytes)) => self.bubb(name, bytes),
            Event::Bubb(_, None) => {}
        }
    }

    fn shows_at_once(&self) -> bool {
        self.out.is_terminal()
    }

    fn ask<'f>(&'f mut self, proposal: &'f Proposal) -> Pin<Box<dyn Future<Output = Result<Reply>> + 'f>> {
        self.turn_to(Stage::Quiet);
        self.out.flush();
        Box::pin(consent::ask(proposal.clone()))
    }
}
