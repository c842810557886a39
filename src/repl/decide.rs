//! A turn of a session, a word on the request that one left waiting, and room in the model's window.

use super::commands::After;
use super::complain::complain;
use super::session::{SIGINT, Session, told};
use crate::term::say;
use crate::ui::{self, State, Step, Stopped, TurnView};
use lepo_base::error::{Error, Kind, Result};
use lepo_store::bubb::{BubbId, Name};
use lepo_store::conv::Forest;
use lepo_turn::{Compaction, Decision, Question, Start, TurnEnv, Verdict};

/// The fewest letters of an id that name a request.
const LEAST_OF_ID: usize = 4;

/// Says that a request waits, and how to decide on it.
fn tell_waiting(needs: &str) {
    say(needs);
    say("  /approve or /deny it; another question drops it");
}

impl Session<'_> {
    /// Carries out or refuses the request that waits, and goes on with its turn.
    pub(super) async fn decide(&mut self, verdict: Verdict) -> Result<State> {
        let id = self.waiting.ok_or_else(|| {
            Error::nothing("no request is pending here")
                .hint("/ls lists the conversations, /tail ID continues at a pending request")
        })?;
        let store = self.store.clone();
        let _claim = store.requests().claim(id)?;
        let forest = store.names().forest()?;
        let decision = Decision::on((&store, &self.env.masking), &forest, id, verdict)?;
        self.waiting = None;
        let state = State::Idle.after(Step::Entered);
        self.turn(state, &forest, Start::Decided(id), None, Some(decision)).await
    }

    /// A word on a request: on the one that waits, which may be named by its id or an end of it.
    pub(super) fn decision(&self, named: &str, verdict: Verdict) -> Result<After> {
        let (named, id) = (named.to_ascii_uppercase(), self.waiting.map(|id| id.to_string()));
        let is_meant = |id: &String| {
            let is_part = named.len() >= LEAST_OF_ID && (id.starts_with(&named) || id.ends_with(&named));
            named.is_empty() || is_part
        };
        match id {
            Some(id) if !is_meant(&id) => Err(Error::usage(format!("the pending request here is {id}"))
                .hint("/tail ID continues at another one")),
            _ => Ok(After::Decide(verdict)),
        }
    }

    /// Finds the request that waits at the end where the session stands, and says so.
    pub(super) fn find_waiting(&mut self, tip: Name) -> Result<()> {
        let waiting = ui::waiting_at(&self.store, &tip)?;
        self.waiting = waiting.as_ref().map(|_| tip.id);
        if let Some(request) = waiting.filter(|_| !self.shown.quiet) {
            tell_waiting(&format!("needs approval: {}", request.line()));
        }
        Ok(())
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
                let user = report.user;
                match report.error {
                    Some(ref error) if error.kind == Kind::Signal(SIGINT) => {
                        self.tell_stopped(&report)?;
                        Ok(state.after(Step::Failed).after(Step::Told))
                    }
                    Some(ref error) if matches!(error.kind, Kind::Signal(_)) => {
                        let left = Stopped::find(&self.store, &report).unwrap_or(Stopped::Nothing);
                        report.error.map_or(Ok(state), |error| Err(left.explain(error)))
                    }
                    Some(error) if error.kind == Kind::Pending => {
                        self.waiting = report.pending;
                        tell_waiting(&error.chain());
                        Ok(state.after(Step::Failed).after(Step::Told))
                    }
                    Some(error) => told(state, &ui::with_kept_question(error, user)),
                    None => Ok(state.after(Step::Done)),
                }
            }
            // It never began: the question is kept all the same.
            Err(error) => {
                if let Some(question) = question {
                    let kept = self.env.keep_question(forest, start, question)?;
                    (self.at, self.unanswered) = (kept.prev, Some(kept.id));
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
        let model = self.model().await?;
        let insts = ui::insts_with_warnings(self.env.insts()?);
        let state = State::Idle.after(Step::Entered);
        let compacting = async |env: &TurnEnv, view: &mut TurnView<'_>| {
            env.compact(&model, &insts, forest, wanted, view).await
        };
        let id = self.with_view(state, compacting).await?;
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
        let model = self.model().await?;
        let state = State::Idle.after(Step::Entered);
        let making = async |env: &TurnEnv, view: &mut TurnView<'_>| {
            env.make_room(&model, forest, tail, more, view).await
        };
        let made = self.with_view(state, making).await?;
        if made.is_some() {
            (self.at, self.branch) = (made, None);
        }
        Ok(made)
    }

    /// Says once that the conversation fills most of the model's window.
    pub(super) async fn tell_fill(&mut self) -> Result<()> {
        let (Some(model), Some(at), false) = (&self.model, self.at, self.told_fill) else { return Ok(()) };
        let forest = self.forest()?;
        if let Some(fill) = self.env.fill_in_time(model, &forest, at, 0).await
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
