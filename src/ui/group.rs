//! The view of a group turn: finished text on stdout, notes on stderr, and below them one row for each working
//! model. Only these rows are redrawn.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use super::model_rows::ModelRows;
use super::notices::notice_lines;
use super::outcome::{CONCLUSION, heading, headings, set_apart};
use super::signs::Signs;
use super::{DisplayOptions, ShortIds};
use crate::term::{
    Cleaner, LiveRows, Markdown, Out, Paint, columns, excerpt_within, heading as bubb_heading, print_status,
    show, stderr_is_terminal, warn, width,
};
use lepo_base::error::Error;
use lepo_base::hint::HintTarget;
use lepo_base::role::Role;
use lepo_model::Usage;
use lepo_store::bubb::BubbName;
use lepo_store::store::Store;
use lepo_tool::OutputStream;
use lepo_turn::{Bid, FinishedAnswer, GroupEvent, GroupMode, Masking, PanelNames, TurnEvent};

/// The interval between redraws of the rows.
pub(super) const TICK: Duration = Duration::from_millis(100);

pub struct GroupTurnView<'o> {
    out: &'o mut Out,
    paint: Paint,
    store: &'o Store,
    hint_target: HintTarget<'o>,
    /// Recovers the unmasked text of a masked answer.
    masking: Arc<Masking>,
    mode: GroupMode,
    signs: Signs,
    /// In the order of the command line.
    participants: Vec<String>,
    orchestrator: Option<String>,
    /// Every heading that may occur in a pipe.
    headings: Vec<String>,
    live: LiveRows,
    rows: ModelRows,
    /// The complete replies that are not printed yet, because a pipe has a fixed order; `None` for a failed one.
    complete: BTreeMap<usize, Option<BubbName>>,
    printed: usize,
    /// Whether stdout has output already.
    has_begun: bool,
    /// The bids since bids were last printed.
    bids: Vec<(String, Bid)>,
    display: DisplayOptions,
    /// Renders the streaming speech or the printed text.
    markdown: Option<Markdown>,
    judging: bool,
    speaking: bool,
    cleaner: Cleaner,
}

impl<'o> GroupTurnView<'o> {
    pub fn new(
        out: &'o mut Out,
        paint: Paint,
        display: DisplayOptions,
        mode: GroupMode,
        names: PanelNames,
        (store, masking): (&'o Store, Arc<Masking>),
        hint_target: HintTarget<'o>,
    ) -> GroupTurnView<'o> {
        GroupTurnView {
            signs: Signs::of_environment(),
            out,
            paint,
            store,
            hint_target,
            masking,
            mode,
            headings: headings(mode, &names),
            participants: names.speakers,
            orchestrator: names.orchestrator,
            live: LiveRows::new(!display.quiet),
            rows: ModelRows::default(),
            complete: BTreeMap::new(),
            printed: 0,
            has_begun: false,
            bids: Vec::new(),
            display,
            markdown: None,
            judging: false,
            speaking: false,
            cleaner: Cleaner::default(),
        }
    }

    /// Prints the participants and the question.
    pub fn print_header(&mut self, question: Option<&str>) {
        let dot = self.signs.dot();
        let terminal = stderr_is_terminal();
        match &self.orchestrator {
            Some(name) => self.talk(&format!("lepo do --debate {dot} orchestrator: {name}")),
            None if terminal => {
                self.talk(&format!("lepo do --parallel {dot} {}", self.participants.join(", ")))
            }
            None => {}
        }
        if let Some(question) = question.filter(|_| terminal || self.mode == GroupMode::Debate) {
            let columns = self.out.columns().unwrap_or(80).saturating_sub("[user] ".len());
            self.talk(&format!("[user] {}", excerpt_within(question, columns)));
        }
    }

    /// Clears the rows and prints the remaining text.
    pub fn finish(&mut self) {
        self.live.clear();
        self.end_speech();
        self.out.flush();
    }

    /// Prints a progress line; with `--json` only if stderr is a terminal.
    fn talk(&mut self, text: &str) {
        if !self.display.quiet && (!self.display.json || stderr_is_terminal()) {
            self.note(text);
        }
    }

    fn note(&mut self, text: &str) {
        if self.display.quiet {
            return;
        }
        self.live.clear();
        self.end_speech();
        self.out.flush();
        print_status(text);
        self.draw();
    }

    pub(super) fn draw(&mut self) {
        let lines = self.rows.lines(columns());
        if lines.is_empty() || self.speaking {
            self.live.clear();
        } else {
            self.live.show(&lines);
        }
    }

    /// Prints a heading on stdout, after a blank line unless it is the first.
    fn head(&mut self, heading: &str) {
        self.live.clear();
        if std::mem::replace(&mut self.has_begun, true) {
            self.out.trusted("\n");
        }
        let (before, after) = self.paint.green_ends();
        self.out.trusted(before);
        self.out.untrusted(heading.as_bytes());
        self.out.trusted(after);
        self.out.trusted("\n");
    }

    /// Prints a whole bubb on stdout. On a terminal the heading has its id, which no answer can contain.
    fn print(&mut self, name: &str, bubb: &BubbName) {
        match self.out.is_terminal() {
            true => {
                let id = ShortIds::new(std::iter::empty()).show(bubb.id);
                self.head(&format!("{}  {id}", heading(name)));
            }
            false => self.head(&heading(name)),
        }
        self.out.trusted("\n");
        match self.masking.unmasked_text(bubb.id) {
            Some(given) => self.print_text(given.as_bytes()),
            None => match self.store.read_bubb(bubb) {
                Ok(bytes) => self.print_text(&bytes),
                Err(error) => warn(&error),
            },
        }
        self.end_line();
        self.out.flush();
        self.draw();
    }

    /// Prints text of a model; its Markdown is rendered on a terminal.
    fn print_text(&mut self, bytes: &[u8]) {
        if self.markdown.is_none() {
            self.markdown = self.display.markdown(self.out, self.paint);
        }
        match &mut self.markdown {
            // Without other replies a conclusion has no heading, and on a terminal a heading has an id: neither can
            // be forged.
            None if self.out.is_terminal() || (self.display.quiet && self.mode == GroupMode::Debate) => {
                self.out.untrusted(bytes);
            }
            None => self.out.untrusted(&set_apart(bytes, &self.headings)),
            Some(markdown) => {
                let mut shown = String::new();
                markdown.push(bytes, &mut shown);
                self.out.trusted(&shown);
            }
        }
    }

    fn end_line(&mut self) {
        let mut rest = String::new();
        self.markdown.take().iter_mut().for_each(|markdown| markdown.finish(&mut rest));
        self.out.trusted(&rest);
        if !self.out.at_line_start() {
            self.out.trusted("\n");
        }
    }

    /// Records a complete reply. A terminal prints it at once, a pipe in the order of the participants.
    fn complete(&mut self, name: &str, bubb: Option<BubbName>) {
        if self.display.json || self.mode == GroupMode::Debate {
            return;
        }
        if self.out.is_terminal() {
            return bubb.iter().for_each(|bubb| self.print(name, bubb));
        }
        let Some(index) = self.participants.iter().position(|other| other == name) else { return };
        self.complete.insert(index, bubb);
        while let Some(bubb) = self.complete.remove(&self.printed) {
            if let Some(bubb) = bubb {
                let name = self.participants[self.printed].clone();
                self.print(&name, &bubb);
            }
            self.printed += 1;
        }
    }

    /// Prints a fragment of a speech, if speeches are streamed.
    fn speech(&mut self, name: &str, text: &str) {
        if self.display.quiet || self.display.json || !self.out.is_terminal() {
            return self.rows.update(name, "speaking", true);
        }
        if !std::mem::replace(&mut self.speaking, true) {
            self.rows.clear();
            self.head(&self.signs.speaker(name));
        }
        self.print_text(text.as_bytes());
    }

    fn end_speech(&mut self) {
        if std::mem::take(&mut self.speaking) {
            self.end_line();
            self.out.flush();
        }
    }

    fn spoken(&mut self, name: &str, answered: &FinishedAnswer) {
        self.rows.end(name, "done", answered.usage);
        match self.mode {
            GroupMode::Parallel => self.complete(name, Some(answered.name)),
            GroupMode::Debate if self.speaking => self.end_speech(),
            GroupMode::Debate if self.display.quiet || self.display.json => {}
            GroupMode::Debate => self.print(name, &answered.name),
        }
    }

    fn print_failure(&mut self, name: &str, error: &Error) {
        self.rows.end(name, "failed", Usage::default());
        self.note(&format!("{name} failed: {}", error.chain()));
        if let Some(hint) = error.hint_for(self.hint_target) {
            self.note(&format!("hint: {hint}"));
        }
        self.complete(name, None);
    }

    /// Prints the bids, on one line if they fit.
    fn print_bids(&mut self) {
        if self.bids.is_empty() {
            return;
        }
        let mut bids = std::mem::take(&mut self.bids);
        bids.sort_by_key(|(name, _)| self.participants.iter().position(|other| other == name));
        let lines: Vec<String> =
            bids.iter().map(|(name, bid)| format!("{name}: {}", self.signs.bid(*bid))).collect();
        self.rows.clear();
        let line = lines.join("   ");
        let fits = self.out.columns().is_none_or(|columns| width(&line) <= columns);
        self.talk(&if fits { line } else { lines.join("\n") });
    }

    fn conclude(&mut self, text: &str) {
        self.rows.clear();
        self.live.clear();
        if self.display.json {
            return;
        }
        if !self.display.quiet {
            let terminal = self.out.is_terminal();
            let heading = if terminal { self.signs.conclusion() } else { heading(CONCLUSION) };
            self.head(&heading);
            self.out.trusted(if terminal { "" } else { "\n" });
        }
        self.print_text(text.as_bytes());
        self.end_line();
        self.out.flush();
    }

    fn bubb(&mut self, name: &BubbName, bytes: Option<&[u8]>) {
        let Some(bytes) = bytes else { return };
        if self.display.json || !self.display.all || !name.hidden || name.role == Role::User {
            return;
        }
        self.head(&bubb_heading(name, self.paint));
        self.out.untrusted(&set_apart(bytes, &self.headings));
        self.end_line();
        self.out.flush();
        self.draw();
    }

    /// Prints stderr of the user's own command.
    fn foreign(&mut self, bytes: &[u8]) {
        if !self.display.quiet && stderr_is_terminal() {
            let mut text = String::new();
            self.cleaner.push(bytes, &mut text);
            show(&text);
        }
    }

    fn event(&mut self, name: Option<&str>, event: TurnEvent<'_>) {
        match (name, event) {
            (_, TurnEvent::Bubb(name, bytes)) => self.bubb(name, bytes),
            (name, TurnEvent::Notice(notice)) => {
                for line in notice_lines(notice, self.hint_target) {
                    let line = if let Some(name) = name { line.about(name) } else { line };
                    self.note(&line.to_string());
                }
            }
            (None, TurnEvent::CommandStarted(command)) => self.talk(&format!("$ {command}")),
            (None, TurnEvent::CommandOutput(_, OutputStream::Stderr, bytes)) => self.foreign(bytes),
            (Some(name), TurnEvent::Waiting) => {
                // An orchestrator may take part, too: if asked for the floor, it bids like the others.
                let decides = self.judging && self.orchestrator.as_deref() == Some(name);
                let state = if decides { "deciding" } else { "waiting" };
                self.rows.start(name, state);
                self.draw();
            }
            (Some(name), TurnEvent::Thinking(_)) => self.rows.update(name, "thinking", false),
            (Some(name), TurnEvent::Text(text)) if self.mode == GroupMode::Debate => self.speech(name, text),
            (Some(name), TurnEvent::Text(_)) => self.rows.update(name, "answering", true),
            (_, TurnEvent::Pause) if self.speaking => self.out.flush(),
            _ => {}
        }
    }

    pub(super) fn moment(&mut self, moment: GroupEvent<'_>) {
        match moment {
            GroupEvent::Common(event) => self.event(None, event),
            GroupEvent::In(name, event) => self.event(Some(name), event),
            GroupEvent::Spoken(name, answered) => self.spoken(name, answered),
            GroupEvent::Failed(name, error) => self.print_failure(name, error),
            GroupEvent::Floor(round, _) => {
                self.judging = false;
                self.print_bids();
                self.rows.clear();
                self.rows.title = Some(format!("round {round}: who wants the floor?"));
            }
            GroupEvent::Wants(name, bid) => {
                self.rows.end(name, bid.as_str(), Usage::default());
                self.bids.push((name.into(), bid));
                self.draw();
            }
            GroupEvent::Judging(_) => {
                self.judging = true;
                self.print_bids();
                self.rows.clear();
            }
            GroupEvent::Narration(text) => {
                self.rows.clear();
                self.talk(&format!("[orchestrator] {text}"));
            }
            GroupEvent::Chosen(name) => {
                self.judging = false;
                self.rows.clear();
                self.talk(&format!("{} {name}", self.signs.arrow()));
            }
            GroupEvent::Concluded(text) => self.conclude(text),
        }
    }
}
