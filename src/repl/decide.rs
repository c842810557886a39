//! A turn of a session, a word on the request that one left waiting, and room in the model's window.

use super::complain::complain;
use super::session::{SIGINT, Session, told};
use super::slash::KEEP;
use crate::bubb::BubbId;
use crate::conv::Forest;
use crate::error::{Error, Kind, Result};
use crate::term::say;
use crate::turn::{Compaction, Decision, Question, Start, Verdict};
use crate::ui::{self, State, Step, TurnView};

/// The time limit for a server to tell the window of its model.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(2);

impl Session<'_> {
    /// Carries out or refuses the request that waits, and goes on with its turn.
    pub(super) async fn decide(&mut self, verdict: Verdict) -> Result<State> {
        let id = self.waiting.ok_or_else(|| {
            Error::nothing("no request is pending here")
                .hint("`lepo ls --pending` lists those of other conversations")
        })?;
        let store = self.store.clone();
        let _claim = store.claim(id)?;
        let forest = store.forest()?;
        let decision = Decision::on(&store, &forest, id, verdict)?;
        self.waiting = None;
        let state = State::Idle.after(Step::Entered);
        self.turn(state, &forest, Start::Decided(id), None, Some(decision)).await
    }

    /// Takes a turn, and goes on from what it came to.
    pub(super) async fn turn(
        &mut self,
        state: State,
        forest: &Forest,
        start: Start,
        question: Option<Question>,
        decision: Option<Decision>,
    ) -> Result<State> {
        match self.take(state, forest, start, question.clone(), decision).await {
            Ok(report) => {
                self.runs.clear();
                self.files.clear();
                self.contexts.clear();
                self.follow(&report)?;
                self.tell_fill().await?;
                match report.error {
                    Some(error) if error.kind == Kind::Signal(SIGINT) => {
                        self.tell_stopped(report.user)?;
                        Ok(state.after(Step::Failed).after(Step::Told))
                    }
                    Some(error) if error.kind == Kind::Pending => {
                        self.waiting = report.pending;
                        say(&error.chain());
                        say("  /approve or /deny it; another question drops it");
                        Ok(state.after(Step::Failed).after(Step::Told))
                    }
                    Some(error) => told(state, &ui::with_kept_question(error, report.user)),
                    None => Ok(state.after(Step::Done)),
                }
            }
            // It never began: the question is kept all the same.
            Err(error) => {
                if let Some(question) = question {
                    self.at = Some(self.env.keep_question(forest, start, question)?.id);
                    self.files.clear();
                    self.contexts.clear();
                    complain(&error);
                    say("Your question is kept: /retry answers it.");
                    return Ok(state.after(Step::Failed).after(Step::Told));
                }
                told(state, &error)
            }
        }
    }

    /// Compacts, and goes on from there.
    pub(super) async fn compacted(&mut self, forest: &Forest, wanted: Compaction<'_>) -> Result<BubbId> {
        let model = match self.model.take() {
            Some(model) => model,
            None => self.env.interrupt.or(self.env.configured.choose()).await?,
        };
        let insts = ui::insts_with_warnings(self.env.insts()?);
        let state = State::Idle.after(Step::Entered);
        let mut view = TurnView::new(self.out, self.paint, self.shown, state);
        let echo_off = self.reader.echo_off();
        let compacted = self.env.compact(&model, &insts, forest, wanted, &mut view).await;
        view.end();
        drop(echo_off);
        self.model = Some(model);
        let id = compacted?;
        (self.at, self.branch) = (Some(id), None);
        Ok(id)
    }

    /// Compacts the conversation if a question of `more` bytes would not fit.
    pub(super) async fn make_room(
        &mut self,
        forest: &Forest,
        tail: BubbId,
        more: usize,
    ) -> Result<Option<BubbId>> {
        let model = match self.model.take() {
            Some(model) => model,
            None => self.env.interrupt.or(self.env.configured.choose()).await?,
        };
        let filling = tokio::time::timeout(PATIENCE, self.env.fill(&model, forest, tail, more)).await;
        self.model = Some(model);
        match filling {
            Ok(Ok(Some(fill))) if fill.is_full() => {
                say("note: the conversation would not fit the model's window: it goes on from a summary");
                let wanted = Compaction { tail, keep: KEEP, instruction: None };
                match self.compacted(forest, wanted).await {
                    Err(error) if error.kind == Kind::Usage => Ok(None),
                    compacted => compacted.map(Some),
                }
            }
            _ => Ok(None),
        }
    }

    /// Says once that the conversation fills most of the model's window.
    pub(super) async fn tell_fill(&mut self) -> Result<()> {
        let (Some(model), Some(at), false) = (&self.model, self.at, self.told_fill) else { return Ok(()) };
        let forest = self.forest()?;
        let filling = tokio::time::timeout(PATIENCE, self.env.fill(model, &forest, at, 0));
        if let Ok(Ok(Some(fill))) = filling.await
            && fill.percent() >= 80
        {
            self.told_fill = true;
            say(&format!(
                "note: the conversation fills {} % of the model's window; /compact goes on from a summary",
                fill.percent()
            ));
        }
        Ok(())
    }
}
