//! The view of a replay: a row for each line in progress, with its position, and notes.

use std::cell::RefCell;
use std::future::Future;
use std::pin::Pin;

use tokio::sync::Mutex;

use super::agent_permission;
use super::consent;
use super::form;
use super::group::TICK;
use super::model_rows::ModelRows;
use super::notices::notice_lines;
use super::start_question::agree_to_start;
use crate::term::{LiveRows, StatusLine, columns, print_status, tty};
use lepo_base::hint::HintTarget;
use lepo_model::{AgentQuestion, PermissionReply, Usage};
use lepo_tool::mcp::{ElicitationResult, ServerQuestion};
use lepo_tool::{ConsentReply, Proposal};
use lepo_turn::replay::ReplayObserver;
use lepo_turn::{Person, PersonAnswer, StartQuestion, TurnEvent, View};

pub struct ReplayRows<'a> {
    drawn: RefCell<DrawnRows>,
    /// Locked while the user is asked, so that questions are sequential and no redraw overwrites one.
    asking: Mutex<()>,
    quiet: bool,
    several: bool,
    hint_target: HintTarget<'a>,
}

struct DrawnRows {
    live: LiveRows,
    rows: ModelRows,
}

impl<'a> ReplayRows<'a> {
    pub fn new(names: &[String], quiet: bool, hint_target: HintTarget<'a>) -> ReplayRows<'a> {
        let mut rows = ModelRows::default();
        names.iter().for_each(|name| rows.start(name, "waiting"));
        ReplayRows {
            drawn: RefCell::new(DrawnRows { live: LiveRows::new(!quiet), rows }),
            asking: Mutex::new(()),
            quiet,
            several: names.len() > 1,
            hint_target,
        }
    }

    pub fn line<'r>(&'r self, name: &str) -> ReplayRow<'r> {
        ReplayRow { rows: self, name: name.to_string(), state: String::new() }
    }

    /// Redraws the rows ten times a second, as long as the future is polled.
    pub async fn ticks(&self) -> ! {
        loop {
            tokio::time::sleep(TICK).await;
            if self.asking.try_lock().is_ok() {
                self.draw();
            }
        }
    }

    /// Clears the rows.
    pub fn finish(&self) {
        self.drawn.borrow_mut().live.clear();
    }

    /// Marks a line as ended.
    pub fn mark_ended(&self, name: &str, is_complete: bool) {
        let state = if is_complete { "done" } else { "stopped" };
        self.drawn.borrow_mut().rows.end(name, state, Usage::default());
    }

    fn draw(&self) {
        let DrawnRows { live, rows } = &mut *self.drawn.borrow_mut();
        match rows.lines(columns()) {
            lines if lines.is_empty() => live.clear(),
            lines => live.show(&lines),
        }
    }

    fn note(&self, name: &str, line: StatusLine) {
        if self.quiet {
            return;
        }
        self.finish();
        print_status(&if self.several { line.about(name) } else { line });
    }
}

pub struct ReplayRow<'r> {
    rows: &'r ReplayRows<'r>,
    name: String,
    /// `2/5`: the current question.
    state: String,
}

impl ReplayObserver for ReplayRow<'_> {
    fn on_question(&mut self, number: usize, total: usize) {
        self.state = format!("{}/{total}", number + 1);
        self.rows.drawn.borrow_mut().rows.update(&self.name, &self.state, false);
    }

    fn view(&mut self) -> &mut dyn View {
        self
    }
}

impl View for ReplayRow<'_> {
    fn on_event(&mut self, event: TurnEvent<'_>) {
        match event {
            TurnEvent::Notice(notice) => {
                for line in notice_lines(notice, self.rows.hint_target) {
                    self.rows.note(&self.name, line);
                }
            }
            TurnEvent::Text(_) | TurnEvent::Thinking(_) => {
                self.rows.drawn.borrow_mut().rows.update(&self.name, &self.state, true);
            }
            _ => {}
        }
    }

    fn shows_partial_text(&self) -> bool {
        true
    }

    fn person(&mut self) -> Option<&mut dyn Person> {
        Some(self)
    }
}

/// Asks a single question at a time.
impl Person for ReplayRow<'_> {
    fn consent<'f>(&'f mut self, proposal: &'f Proposal) -> PersonAnswer<'f, ConsentReply> {
        Box::pin(async move {
            let _asking = self.rows.asking.lock().await;
            self.rows.finish();
            consent::ask(proposal.clone()).await
        })
    }

    fn permit<'f>(
        &'f mut self,
        agent: &'f str,
        question: &'f AgentQuestion,
    ) -> PersonAnswer<'f, PermissionReply> {
        Box::pin(async move {
            let _asking = self.rows.asking.lock().await;
            self.rows.finish();
            agent_permission::permit(agent.to_string(), question.clone()).await
        })
    }

    fn agree_to_start<'f>(&'f mut self, question: &'f StartQuestion) -> PersonAnswer<'f, Option<bool>> {
        Box::pin(async move {
            let _asking = self.rows.asking.lock().await;
            self.rows.finish();
            agree_to_start(question.clone()).await
        })
    }

    fn signs_in(&self) -> bool {
        tty().is_some()
    }

    fn fill_form<'f>(
        &'f mut self,
        server: &'f str,
        question: ServerQuestion,
    ) -> Pin<Box<dyn Future<Output = ElicitationResult> + 'f>> {
        Box::pin(async move {
            let _asking = self.rows.asking.lock().await;
            self.rows.finish();
            form::fill_in(server.to_string(), question).await
        })
    }
}
