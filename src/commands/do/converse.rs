//! A conversation at a prompt: entries read, turns taken, one conv followed whatever others add meanwhile.

use std::sync::Arc;

use super::session::{Session, runtime};
use super::{Args, find_tail, move_branch, past};
use crate::bubb::BubbId;
use crate::commands::Context;
use crate::config::ModelConfig;
use crate::conv::{Addressee, Forest};
use crate::error::{Error, Kind, Result};
use crate::repl::{Entered, Reader, State, Step, View, complain};
use crate::store::Store;
use crate::term::say;
use crate::turn::{self, Ask, Interrupt, Report, Start, Wish, start};

/// SIGINT: it ends an answer, or at the prompt the conversation, and is no failure of either.
const SIGINT: u8 = 2;

/// What goes on from turn to turn.
pub struct Conversation<'c, 'o> {
    pub(super) args: &'c Args,
    pub(super) context: &'c mut Context<'o>,
    pub(super) session: Session,
    pub(super) store: Arc<Store>,
    pub(super) reader: Reader,
    pub(super) interrupt: Interrupt,
    /// What the next question follows; nothing, where it begins a conv.
    pub(super) at: Option<BubbId>,
    /// The branch that moves on to each answer, and the bubb it names by now.
    pub(super) branch: Option<(String, BubbId)>,
    /// Who answers, once that was found out.
    pub(super) model: Option<ModelConfig>,
    /// Commands of the person's own, run before the first question.
    runs: Vec<String>,
}

/// Converses until the person leaves.
pub fn converse(args: &Args, context: &mut Context<'_>) -> Result<u8> {
    let session = Session::new(args, context)?;
    let store = Arc::new(super::store(args, context)?);
    let runtime = runtime()?;
    let ended = runtime.block_on(async {
        let mut conversation = Conversation::begin(args, context, session, store)?;
        let ended = conversation.go_on().await;
        conversation.session.close().await;
        ended
    });
    // A prompt that was left by a signal still waits for its line.
    runtime.shutdown_background();
    ended.map(|()| 0)
}

impl<'c, 'o> Conversation<'c, 'o> {
    fn begin(
        args: &'c Args,
        context: &'c mut Context<'o>,
        session: Session,
        store: Arc<Store>,
    ) -> Result<Self> {
        let forest = store.forest()?;
        let tail = find_tail(args, &store, &forest)?;
        let begin = start(&store, &forest, Wish { new: args.new, tail, retry: false })?;
        if args.show_past {
            past::show(args.shown(), context, &store, &forest, begin)?;
        }
        let named = args.tail.clone().filter(|_| tail.is_some_and(|tail| tail.by_branch));
        let reader = Reader::new(session.state_dir(), store.clone(), context.paint);
        Ok(Conversation {
            args,
            context,
            session,
            store,
            reader,
            interrupt: Interrupt::listen()?,
            at: begin.id(),
            branch: named.zip(begin.id()),
            model: None,
            runs: args.run.clone(),
        })
    }

    async fn go_on(&mut self) -> Result<()> {
        let mut state = State::Idle;
        while state != State::End {
            let entered = match self.reader.read(&self.interrupt).await {
                Ok(Some(text)) => Entered::read(&text),
                Ok(None) => Entered::Leave,
                Err(error) if error.kind == Kind::Signal(SIGINT) => Entered::Leave,
                Err(error) => return Err(error),
            };
            state = match entered {
                Entered::Leave => state.after(Step::Left),
                Entered::Question(text) => self.ask(state, Some(text)).await?,
                Entered::Retry => self.ask(state, None).await?,
                Entered::Run(command) => self.run(state, &command).await?,
                Entered::Edit(text) => match self.edit(&text)? {
                    Some(text) => self.ask(state, Some(text)).await?,
                    None => state,
                },
                command => {
                    self.obey(command).await;
                    state
                }
            };
            self.interrupt.reset();
        }
        Ok(())
    }

    /// Takes a turn: a question, or the last one again.
    async fn ask(&mut self, state: State, question: Option<String>) -> Result<State> {
        let state = state.after(Step::Entered);
        let forest = self.store.forest()?;
        let start = match self.start(&forest, question.is_none()) {
            Ok(start) => start,
            Err(error) => return told(state, &error),
        };
        match self.take(state, &forest, start, question.clone()).await {
            Ok(report) => {
                self.runs.clear();
                self.follow(&report)?;
                match report.error {
                    Some(error) => told(state, &error),
                    None => Ok(state.after(Step::Done)),
                }
            }
            // It never began: the question is kept all the same.
            Err(error) => {
                if let Some(question) = question {
                    self.keep(&forest, start, &question)?;
                    complain(&error);
                    say("Your question is kept: /retry answers it.");
                    return Ok(state.after(Step::Failed).after(Step::Told));
                }
                told(state, &error)
            }
        }
    }

    async fn take(
        &mut self,
        state: State,
        forest: &Forest,
        start: Start,
        question: Option<String>,
    ) -> Result<Report> {
        let model = match self.model.take() {
            Some(model) => model,
            None => self.interrupt.or(self.session.choose()).await?,
        };
        let mut view = View::new(self.context.out, self.context.paint, self.args.shown(), state);
        let ask = Ask::new(start, question, &self.runs);
        let hush = self.reader.hush();
        let taken = self.session.turn(&model, &self.store, forest, &self.interrupt, &mut view, ask).await;
        view.end();
        drop(hush);
        self.model = Some(model);
        taken
    }

    /// Goes on from what a turn came to, its branch too.
    fn follow(&mut self, report: &Report) -> Result<()> {
        self.at = report.answer.map(|answer| answer.name.id).or(report.user).or(self.at);
        // Stopped or failed, it waits where it is for the next answer.
        if let Some(answer) = &report.answer
            && let Some((name, from)) = self.branch.take()
        {
            let moved = move_branch(&self.store, &name, from, answer.name.id, self.args.quiet)?;
            self.branch = moved.then_some((name, answer.name.id));
        }
        Ok(())
    }

    fn keep(&mut self, forest: &Forest, start: Start, question: &str) -> Result<()> {
        let prompt = self.session.system_prompt().unwrap_or_default();
        self.at = Some(turn::keep(&self.store, forest, start, prompt, question)?.id);
        Ok(())
    }

    /// Runs the person's own command; its output is what the next question follows.
    async fn run(&mut self, state: State, command: &str) -> Result<State> {
        let state = state.after(Step::Entered);
        let forest = self.store.forest()?;
        let start = self.start(&forest, false)?;
        let prompt = self.session.system_prompt()?;
        let mut view = View::new(self.context.out, self.context.paint, self.args.shown(), state);
        let runner = self.session.runner(&self.store, &self.interrupt);
        let hush = self.reader.hush();
        let ran = turn::run(runner, &self.store, &forest, start, prompt, command, &mut view).await;
        view.end();
        drop(hush);
        match ran {
            Ok(bubb) => {
                self.at = Some(bubb);
                Ok(state.after(Step::Done))
            }
            Err(error) if error.kind == Kind::Signal(SIGINT) => {
                say("Stopped. Nothing of it is kept.");
                Ok(state.after(Step::Failed).after(Step::Told))
            }
            Err(error) => told(state, &error),
        }
    }

    /// Where the next question goes; or, `again`, the last one.
    pub(super) fn start(&self, forest: &Forest, again: bool) -> Result<Start> {
        let tail = self.at.and_then(|id| forest.find(id)).map(|ix| Addressee { ix, by_branch: false });
        match (tail, again) {
            (None, true) => Err(Error::usage("no question to answer again: nothing was asked yet")),
            (None, false) => Ok(Start::New),
            (Some(_), retry) => start(&self.store, forest, Wish { new: false, tail, retry }),
        }
    }
}

/// Tells what went wrong, and the prompt comes again; unless a signal ends it all.
fn told(state: State, error: &Error) -> Result<State> {
    match error.kind {
        Kind::Signal(SIGINT) => say("Stopped. What came of an answer is kept; /retry answers again."),
        Kind::Signal(number) => return Err(Error::new(Kind::Signal(number), "interrupted")),
        _ => complain(error),
    }
    Ok(state.after(Step::Failed).after(Step::Told))
}
