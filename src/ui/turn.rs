//! The view of a turn: the answer on stdout; waiting, thinking and notes on stderr.

use super::consent;
use super::display_options::DisplayOptions;
use super::notices::notice_lines;
use super::output_preview::OutputPreview;
use super::person::TerminalPerson;
use super::state::{ViewEvent, ViewState};
use super::thinking::Thinking;
use super::waiting::{WAITING, WaitingCounter, starting_line};
use crate::term::{
    Cleaner, Markdown, Out, Paint, columns, erase_line, heading, one_line, print_status, show,
    stderr_is_stdout, stderr_is_terminal, tty,
};
use lepo_base::hint::HintTarget;
use lepo_base::role::Role;
use lepo_model::Citation;
use lepo_store::bubb::BubbName;
use lepo_tool::{OutputStream, Proposal};
use lepo_turn::{CommandOrigin, Person, TurnEvent, View};

pub struct TurnView<'o> {
    out: &'o mut Out,
    paint: Paint,
    display: DisplayOptions,
    hint_target: HintTarget<'o>,
    /// Whether stderr is a terminal and `quiet` is off.
    talkative: bool,
    state: ViewState,
    /// Whether the state's text is on the screen.
    is_on_screen: bool,
    /// Whether an answer continues after output on stderr: its line has not ended.
    continues_line: bool,
    markdown: Option<Markdown>,
    thinking: Thinking,
    /// Escapes control characters in foreign text for stderr.
    cleaner: Cleaner,
    /// The output of the running command.
    output: OutputPreview,
    /// The counter on the waiting line.
    waiting: Option<WaitingCounter>,
    /// Whether the waiting line was opened to name servers, and ends with their start.
    is_for_starts: bool,
    /// The pages that the answer cites, in the order of their first citation.
    cited: Vec<Citation>,
    person: TerminalPerson,
}

impl<'o> TurnView<'o> {
    /// Creates a view of a turn that starts in `state`.
    pub fn new(
        out: &'o mut Out,
        paint: Paint,
        display: DisplayOptions,
        hint_target: HintTarget<'o>,
        state: ViewState,
    ) -> TurnView<'o> {
        let talkative = !display.quiet && stderr_is_terminal();
        let markdown = display.markdown(out, paint);
        TurnView {
            out,
            paint,
            display,
            hint_target,
            talkative,
            state,
            is_on_screen: false,
            continues_line: false,
            markdown,
            thinking: Thinking::new(display.thinking, display.plain, paint),
            cleaner: Cleaner::default(),
            output: OutputPreview::new(columns),
            waiting: None,
            is_for_starts: false,
            cited: Vec::new(),
            person: TerminalPerson,
        }
    }

    /// Ends the view: closes open output and flushes the buffers.
    pub fn finish(&mut self) {
        self.end_printed();
        self.close();
        self.end_answer();
        self.out.flush();
    }

    /// Enters the next state, and closes the output of the old one.
    fn step(&mut self, step: ViewEvent) {
        let next = self.state.after(step);
        if next != self.state {
            match (self.state, next) {
                (ViewState::Content, ViewState::Thinking) => self.pause(),
                _ => self.close(),
            }
        }
        if !matches!(next, ViewState::Content | ViewState::Thinking) {
            self.end_answer();
        }
        self.state = next;
        if self.is_on_screen {
            return;
        }
        self.is_on_screen = true;
        match (next, step) {
            (ViewState::Streaming, ViewEvent::Asked) => {
                self.err(WAITING);
                self.waiting = self.talkative.then(|| WaitingCounter::start(WAITING.to_string()));
            }
            (ViewState::Thinking, _) => {
                let opening = self.thinking.start(WAITING);
                self.err(&opening);
            }
            (ViewState::Content, _) => {}
            _ => self.is_on_screen = false,
        }
    }

    /// Names servers that are starting on the waiting line; without any, it is as before.
    fn show_starts(&mut self, names: &[String]) {
        if !self.talkative {
            return;
        }
        if names.is_empty() && std::mem::take(&mut self.is_for_starts) {
            return self.close();
        }
        if !self.is_on_screen {
            if names.is_empty() {
                return;
            }
            self.out.flush();
            self.is_for_starts = true;
            self.step(ViewEvent::Asked);
        }
        if self.state != ViewState::Streaming {
            return;
        }
        let line = if names.is_empty() { WAITING.to_string() } else { starting_line(names) };
        self.waiting = None;
        self.err(erase_line());
        self.err(&line);
        self.waiting = Some(WaitingCounter::start(line));
    }

    /// Prepares stderr output within an answer. The answer's line is ended only if both outputs share a terminal, a
    /// pipe or a file.
    fn pause(&mut self) {
        if (self.talkative && self.out.is_terminal()) || stderr_is_stdout() {
            return self.close();
        }
        self.out.flush();
        if std::mem::take(&mut self.is_on_screen) {
            self.continues_line = true;
            if !self.out.at_line_start() {
                self.err("\n");
            }
        }
    }

    /// Ends a paused answer that did not continue.
    fn end_answer(&mut self) {
        if std::mem::take(&mut self.continues_line) {
            self.end_content();
        }
    }

    fn end_content(&mut self) {
        let mut rest = String::new();
        self.markdown.iter_mut().for_each(|markdown| markdown.finish(&mut rest));
        self.out.trusted(&rest);
        if !self.out.at_line_start() {
            self.out.trusted("\n");
        }
        // The next output may be on stderr.
        self.out.flush();
    }

    /// Erases or ends the open output.
    fn close(&mut self) {
        if !std::mem::take(&mut self.is_on_screen) {
            return;
        }
        self.waiting = None;
        match self.state {
            ViewState::Streaming => self.err(erase_line()),
            ViewState::Thinking => {
                let end = self.thinking.end();
                self.err(&end);
            }
            ViewState::Content => self.end_content(),
            _ => {}
        }
    }

    /// Prepares the output of a command.
    fn begin_command(&mut self) {
        self.step(ViewEvent::Called);
        self.out.flush();
        self.output = OutputPreview::new(columns);
    }

    /// Announces a command that runs without a question.
    fn announce(&mut self, proposal: &Proposal, why: &str) {
        self.begin_command();
        if !self.display.quiet {
            print_status(&consent::announcement(proposal, why));
        }
    }

    fn command_output(&mut self, by: CommandOrigin, stream: OutputStream, bytes: &[u8]) {
        match (by, stream) {
            (CommandOrigin::Session, OutputStream::Stdout) => {
                self.out.untrusted(bytes);
                self.out.flush();
            }
            (CommandOrigin::Session | CommandOrigin::RunOption, OutputStream::Stderr) => self.foreign(bytes),
            // Output of the command must not pass for a question of lepo's.
            (CommandOrigin::RunOption, OutputStream::Stdout) | (CommandOrigin::Model, _) => {
                let shown = self.output.push(bytes);
                self.err(&self.paint.dim(&shown));
            }
        }
    }

    /// Ends the open line of a command's output.
    fn end_printed(&mut self) {
        let end = self.output.finish();
        self.err(end);
    }

    /// Prints a line of another source.
    fn interject(&mut self, line: impl FnOnce()) {
        let waits = self.is_on_screen && self.state == ViewState::Streaming;
        match self.state {
            ViewState::Content => self.pause(),
            _ => self.close(),
        }
        self.out.flush();
        line();
        if waits {
            self.step(ViewEvent::Asked);
        }
    }

    fn answer(&mut self, text: &str) {
        match &mut self.markdown {
            None => self.out.untrusted(text.as_bytes()),
            Some(markdown) => {
                let mut shown = String::new();
                markdown.push(text.as_bytes(), &mut shown);
                self.out.trusted(&shown);
            }
        }
    }

    /// Appends the number of the cited page to the preceding text, on a terminal only.
    fn cite(&mut self, page: &Citation) {
        if self.display.json || self.display.plain || !self.out.is_terminal() {
            return;
        }
        let known = self.cited.iter().position(|known| known.url == page.url);
        let number = known.unwrap_or_else(|| {
            self.cited.push(page.clone());
            self.cited.len() - 1
        });
        self.answer(&format!(" [{}]", number + 1));
    }

    /// Lists the pages that the answer cites, each once, below the answer.
    fn list_citations(&mut self) {
        let cited = std::mem::take(&mut self.cited);
        if cited.is_empty() {
            return;
        }
        self.end_answer();
        self.out.trusted("\n");
        for (number, page) in (1..).zip(&cited) {
            let line = [&format!("[{number}]"), page.title.trim(), &page.url].map(one_line).join(" ");
            self.out.untrusted(line.replace("  ", " ").as_bytes());
            self.out.trusted("\n");
        }
        self.out.flush();
    }

    fn err(&self, text: &str) {
        if self.talkative {
            show(text);
        }
    }

    fn foreign(&mut self, bytes: &[u8]) {
        let mut text = String::new();
        self.cleaner.push(bytes, &mut text);
        self.err(&text);
    }

    fn bubb(&mut self, name: &BubbName, bytes: &[u8]) {
        if self.display.json || !self.display.all || !name.hidden || name.role == Role::User {
            return;
        }
        self.close();
        self.end_answer();
        self.out.trusted(&format!("{}\n", heading(name, self.paint)));
        self.out.untrusted(bytes);
        self.out.trusted(if self.out.at_line_start() { "\n" } else { "\n\n" });
        self.out.flush();
    }
}

impl View for TurnView<'_> {
    fn on_event(&mut self, event: TurnEvent<'_>) {
        match event {
            TurnEvent::Waiting => self.step(ViewEvent::Asked),
            TurnEvent::ServersStarting(names) => self.show_starts(names),
            TurnEvent::Thinking(text) => {
                self.step(ViewEvent::Thought);
                let shown = self.thinking.push(text);
                self.err(&shown);
            }
            TurnEvent::Text(text) => {
                self.step(ViewEvent::Said);
                if !self.display.json {
                    self.answer(text);
                }
            }
            TurnEvent::WebCall(call) => {
                if self.talkative {
                    self.interject(|| print_status(&one_line(&format!("{} {}", call.tool, call.about))));
                }
            }
            TurnEvent::Citation(page) => self.cite(page),
            TurnEvent::NotFinal => self.step(ViewEvent::Called),
            TurnEvent::Done => {
                self.step(ViewEvent::Done);
                self.list_citations();
            }
            TurnEvent::Pause => self.out.flush(),
            TurnEvent::Notice(_) if self.display.quiet => {}
            TurnEvent::Notice(notice) => {
                for line in notice_lines(notice, self.hint_target) {
                    self.interject(|| print_status(&line));
                }
            }
            TurnEvent::Announce(proposal) => self.announce(proposal, "(auto)"),
            TurnEvent::Approved(proposal) => self.announce(proposal, "(approved)"),
            TurnEvent::CommandStarted(command) => {
                self.begin_command();
                if self.talkative {
                    print_status(&format!("$ {command}"));
                }
            }
            TurnEvent::CommandOutput(by, stream, bytes) => self.command_output(by, stream, bytes),
            TurnEvent::ToolStarted(_) => self.begin_command(),
            TurnEvent::Progress(words) => {
                if self.talkative {
                    self.interject(|| print_status(&format!("  {words}")));
                }
            }
            TurnEvent::Bubb(name, Some(bytes)) => {
                self.end_printed();
                self.bubb(name, bytes);
            }
            TurnEvent::Bubb(_, None) => {}
            TurnEvent::Start(_) if tty().is_none() => {}
            TurnEvent::Consent(_) | TurnEvent::Permit(..) | TurnEvent::Start(_) | TurnEvent::Form(_) => {
                self.step(ViewEvent::Called);
                self.out.flush();
            }
        }
    }

    fn shows_partial_text(&self) -> bool {
        self.out.is_terminal() || !self.display.waits_for_end
    }

    fn person(&mut self) -> Option<&mut dyn Person> {
        Some(&mut self.person)
    }
}
