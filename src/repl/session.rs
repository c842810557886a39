//! The loop of a session: entries read, turns taken, one conv followed whatever others add meanwhile.

use std::sync::Arc;

use super::by_name::offered;
use super::commands::After;
use super::complain::complain;
use super::entered::Entered;
use super::news::News;
use super::paths::pasted_file;
use super::reader::Reader;
use super::tokens::Spent;
use crate::term::{Out, Paint, say, say_dim};
use crate::ui::{self, Shown, State, Step, TurnView};
use lepo_base::error::{Error, Kind, Result};
use lepo_model::ModelConfig;
use lepo_store::bubb::{BubbId, Name};
use lepo_store::conv::{Addressee, Forest, Wanted};
use lepo_store::store::Store;
use lepo_turn::attach::NewFile;
use lepo_turn::config::EmptyLine;
use lepo_turn::skills::Skill;
use lepo_turn::{
    Ask, Decision, Question, Report, ResourceAddress, Served, Start, StartOptions, TurnEnv, start, unanswered,
};

/// SIGINT: it ends an answer, or at the prompt the session, and is no failure of either.
pub(super) const SIGINT: u8 = 2;

/// The options that a session begins with.
pub struct SessionOptions {
    /// With a new conversation.
    pub new: bool,
    /// The address that the first question follows.
    pub tail: Option<String>,
    /// The conversation so far is printed first.
    pub show_past: bool,
    /// The parts of a turn that are shown, and their form.
    pub shown: Shown,
    /// Commands of the person's own, run before the first question.
    pub runs: Vec<String>,
    /// Questions and answers are kept.
    pub keeps: bool,
}

/// The state that goes on from turn to turn.
pub struct Session<'o> {
    pub(super) env: TurnEnv,
    pub(super) store: Arc<Store>,
    pub(super) shown: Shown,
    pub(super) out: &'o mut Out,
    pub(super) paint: Paint,
    pub(super) reader: Reader,
    /// The bubb that the next question follows; none, where it begins a conv.
    pub(super) at: Option<BubbId>,
    /// The question before the next one that got nothing: `/retry` answers it.
    pub(super) unanswered: Option<BubbId>,
    /// The branch that moves on to each answer, and the bubb it names by now.
    pub(super) branch: Option<(String, BubbId)>,
    /// The model that answers, once it was chosen.
    pub(super) model: Option<ModelConfig>,
    /// The request that waits where the conversation stands.
    pub(super) waiting: Option<BubbId>,
    /// The end of the conversation before each question, and the question, the latest last: for `/undo`.
    pub(super) past: Vec<(Option<BubbId>, String)>,
    /// A first model was offered.
    pub(super) offered_model: bool,
    /// The model that `/model` chose.
    pub(super) chosen: Option<String>,
    /// Tokens of this session so far.
    pub(super) spent: Spent,
    /// Files that go with the next question.
    pub(super) files: Vec<NewFile>,
    /// Texts that go with the next question, each with its path.
    pub(super) contexts: Vec<(String, Vec<u8>)>,
    /// Resources and prompts of MCP servers for the turn that begins.
    pub(super) served: Served,
    /// The skill that the turn that begins is asked with.
    pub(super) named_skill: Option<Skill>,
    /// The list that `/ls` showed, by its numbers.
    pub(super) listed: Vec<BubbId>,
    pub(super) runs: Vec<String>,
    /// Messages of other people that were told.
    pub(super) news: News,
    /// The user was told how much of the window the conversation fills.
    pub(super) told_fill: bool,
}

/// Reads entries and takes turns until the person leaves.
pub async fn run_session(options: SessionOptions, env: TurnEnv, out: &mut Out, paint: Paint) -> Result<()> {
    let (mut session, tip) = Session::begin(options, env, out, paint)?;
    if session.reader.edits() && !session.shown.quiet {
        session.tell_place().await?;
    }
    if let Some(tip) = tip {
        session.find_waiting(tip)?;
    }
    let ended = session.go_on().await;
    session.env.close().await;
    ended
}

impl<'o> Session<'o> {
    /// A session, and the bubb at whose end it stands: a request may wait there.
    fn begin(
        options: SessionOptions,
        env: TurnEnv,
        out: &'o mut Out,
        paint: Paint,
    ) -> Result<(Session<'o>, Option<Name>)> {
        let SessionOptions { new, tail: address, show_past, shown, runs, keeps } = options;
        let store = env.store.clone();
        let forest = store.addresses().forest_at(new, address.as_deref())?;
        let tail =
            address.as_deref().map(|address| store.addresses().find_bubb(&forest, address)).transpose()?;
        let begin = start(&store, &forest, StartOptions { new, tail, retry: false })?;
        let tip = tail.map(|tail| tail.ix).or_else(|| forest.newest()).filter(|_| begin != Start::New);
        let left = tip.filter(|_| tail.is_none()).and_then(|tip| unanswered(&store, &forest, tip));
        let left = left.map(|question| forest.name(question).id);
        let tip = tip.map(|ix| forest.name(ix));
        if show_past {
            ui::show_past(shown, (out, paint), &store, &forest, begin)?;
        }
        let named = address.filter(|_| tail.is_some_and(|tail| tail.by_branch));
        if !shown.quiet {
            ui::note_system_prompt(&env.configured, &store, &forest, begin);
        }
        let news = News::begin(&store)?;
        let settings = env.settings();
        let shown = Shown { thinking: settings.term_thinking, ..shown };
        let how = (paint, keeps, settings.repl_keys);
        let reader = Reader::new(&env.configured.paths, store.clone(), offered(&env)?, how);
        let session = Session {
            env,
            store,
            shown,
            out,
            paint,
            reader,
            at: begin.id(),
            unanswered: left,
            branch: named.zip(begin.id()),
            model: None,
            waiting: None,
            past: Vec::new(),
            offered_model: false,
            chosen: None,
            spent: Spent::default(),
            files: Vec::new(),
            contexts: Vec::new(),
            served: Served::default(),
            named_skill: None,
            listed: Vec::new(),
            runs,
            news,
            told_fill: false,
        };
        Ok((session, tip))
    }

    async fn go_on(&mut self) -> Result<()> {
        let mut state = State::Idle;
        while state != State::End {
            if self.reader.edits()
                && let Err(error) = self.tell_news()
            {
                complain(&error);
            }
            let entered = match self.entry().await {
                Ok(Some(text)) => match self.pasted(&text).await? {
                    Some(attach) => attach,
                    None => Entered::read(&text),
                },
                Ok(None) => Entered::Leave,
                Err(error) if error.kind == Kind::Signal(SIGINT) => Entered::Leave,
                Err(error) => return Err(self.kept_at_prompt(error)),
            };
            state = match entered {
                // Typed while an answer came, it was meant for that.
                Entered::Empty if self.reader.typed_ahead && self.reader.edits() => state,
                Entered::Empty if self.env.settings().empty_line == EmptyLine::Stay => state,
                Entered::Empty | Entered::Leave => state.after(Step::Left),
                Entered::Question(text) => self.ask_typed(state, text).await?,
                Entered::Run(command) => self.run(state, &command).await?,
                Entered::Command(command, argument) => match command.run(self, &argument).await {
                    Ok(After::Prompt) => state,
                    Ok(After::Turn(question)) => self.ask(state, question).await?,
                    Ok(After::Decide(verdict)) => match self.decide(verdict).await {
                        Ok(state) => state,
                        Err(error) => told(state.after(Step::Entered), &error)?,
                    },
                    Ok(After::Leave) => state.after(Step::Left),
                    Err(error) => {
                        complain(&error);
                        state
                    }
                },
                Entered::Prompt(name, words) => match self.enter_prompt(state, &name, &words).await {
                    Err(error) if error.kind == Kind::Usage => {
                        complain(&error);
                        state
                    }
                    entered => entered?,
                },
                Entered::Wrong(why) => {
                    say(&why);
                    state
                }
            };
            if self.env.interrupt.has_come() {
                self.reader.has_stopped();
            }
            self.env.interrupt.reset();
        }
        self.tell_leaving();
        Ok(())
    }

    /// The next entry. Meanwhile servers list their offers, if completion asks for them.
    async fn entry(&mut self) -> Result<Option<String>> {
        tokio::select! {
            biased;
            entry = self.reader.read(&self.env.interrupt) => entry,
            () = self.env.serve_catalogue() => Ok(None),
        }
    }

    /// An entry that is the path of an image or a PDF and nothing else: on a yes it is attached, else it is a question.
    async fn pasted(&mut self, text: &str) -> Result<Option<Entered>> {
        const QUESTION: &str = "Attach this file to the next question? (Y/n): ";
        if !self.reader.edits() || pasted_file(text, self.env.configured.paths.home.as_deref()).is_none() {
            return Ok(None);
        }
        let answer = self.reader.answer(QUESTION, &self.env.interrupt).await?.unwrap_or_else(|| "n".into());
        let yes = matches!(answer.trim(), "" | "y" | "Y");
        Ok(Some(match yes {
            true => Entered::read(&format!("/attach {}", text.trim())),
            false => Entered::Question(text.to_string()),
        }))
    }

    /// Takes a turn that this model answers, if one is named; the next ones are answered as before.
    pub(super) async fn ask_model(
        &mut self,
        state: State,
        text: String,
        model: Option<ModelConfig>,
    ) -> Result<State> {
        let Some(model) = model else { return self.ask(state, Some(text)).await };
        let before = self.model.replace(model);
        let asked = self.ask(state, Some(text)).await;
        self.model = before;
        asked
    }

    /// Takes a turn: a question, or the last one again.
    pub(super) async fn ask(&mut self, state: State, question: Option<String>) -> Result<State> {
        let resources = question.as_deref().map(|text| self.resources(text)).unwrap_or_default();
        self.ask_with(state, question, resources).await
    }

    /// The same, with these resources of MCP servers.
    pub(super) async fn ask_with(
        &mut self,
        state: State,
        question: Option<String>,
        resources: Vec<ResourceAddress>,
    ) -> Result<State> {
        if let Err(error) = self.offer_model().await {
            return told(state.after(Step::Entered), &error);
        }
        let state = state.after(Step::Entered);
        let forest = self.forest()?;
        let start = match self.start(&forest, question.is_none()) {
            Ok(start) => start,
            Err(error) => return told(state, &error),
        };
        if let Err(error) = self.check_files().await {
            return told(state, &error);
        }
        let (forest, start) = match (&question, start) {
            (Some(text), Start::Under(tail)) if self.env.compacts_by_itself() => {
                match self.make_room(&forest, tail, text.len()).await {
                    Ok(Some(id)) => (self.forest()?, Start::Under(id)),
                    Ok(None) => (forest, start),
                    Err(error) => return told(state, &error),
                }
            }
            _ => (forest, start),
        };
        let typed = question.clone();
        let question = match question.map(|text| self.with_files(text)).transpose() {
            Ok(question) => question,
            Err(error) => return told(state, &error),
        };
        self.drop_waiting();
        // Answered again, it is still the same last question.
        if let Some(typed) = typed {
            self.past.push((self.at, typed));
        }
        self.served = Served { resources, prompt: None };
        self.turn(state, &forest, start, question, None).await
    }

    /// Drops the request that waits for a decision.
    pub(super) fn drop_waiting(&mut self) {
        if let Some(id) = self.waiting.take() {
            say(&format!("note: request {id} was dropped: the conversation moved on"));
        }
    }

    pub(super) async fn take(
        &mut self,
        state: State,
        forest: &Forest,
        start: Start,
        question: Option<Question>,
        decision: Option<Decision>,
    ) -> Result<Report> {
        let model = self.model().await?;
        let insts = ui::insts_with_warnings(self.env.insts()?);
        let served = std::mem::take(&mut self.served);
        let skill = self.named_skill.take();
        let ask = Ask { decision, served, skill, ..Ask::new(start, question, &self.runs) };
        let turn =
            async |env: &TurnEnv, view: &mut TurnView<'_>| env.turn(&model, &insts, forest, view, ask).await;
        let taken = self.with_view(state, turn).await;
        if let Ok(report) = &taken
            && let Some(answer) = &report.answer
        {
            self.spent.add(answer.usage.input, answer.usage.output);
            let wanted = !self.shown.no_usage && self.env.settings().term_usage;
            if wanted && !self.shown.quiet && self.reader.edits() {
                say_dim(&ui::usage_line(report, &self.env.settings().prices()), self.paint);
            }
        }
        taken
    }

    /// The model that answers, chosen once.
    pub(super) async fn model(&mut self) -> Result<ModelConfig> {
        if let Some(model) = &self.model {
            return Ok(model.clone());
        }
        let model = self.env.interrupt.or(self.env.configured.choose()).await?;
        if let Some(note) = self.env.settings().embedded_note(&model).filter(|_| !self.shown.quiet) {
            say(&note);
        }
        self.model = Some(model.clone());
        Ok(model)
    }

    /// Does work that a view shows; what is typed meanwhile is for the next prompt.
    pub(super) async fn with_view<T>(
        &mut self,
        state: State,
        work: impl AsyncFnOnce(&TurnEnv, &mut TurnView<'_>) -> T,
    ) -> T {
        let mut view = TurnView::new(self.out, self.paint, self.shown, state);
        self.reader.keep_typed();
        let done = work(&self.env, &mut view).await;
        view.end();
        done
    }

    /// The forest as far as the next turn needs it.
    pub(super) fn forest(&self) -> Result<Forest> {
        let wanted = self.at.into_iter().chain(self.unanswered).collect();
        self.store.names().forest_for(&[Wanted::Tip, Wanted::Paths(wanted)])
    }

    /// The start of the next question; or of the last one, if it is answered `again`.
    pub(super) fn start(&self, forest: &Forest, again: bool) -> Result<Start> {
        let tail = self.at.and_then(|id| forest.find(id)).map(|ix| Addressee { ix, by_branch: false });
        if let Some(id) = self.unanswered.filter(|_| again) {
            return Ok(Start::Again(id));
        }
        match (tail, again) {
            (None, true) => Err(Error::usage("no question to answer again: nothing was asked yet")),
            (None, false) => Ok(Start::New),
            (Some(_), retry) => start(&self.store, forest, StartOptions { new: false, tail, retry }),
        }
    }
}

/// Tells what went wrong, and the prompt comes again; unless a signal ends it all.
pub(super) fn told(state: State, error: &Error) -> Result<State> {
    match error.kind {
        Kind::Signal(SIGINT) => say("stopped; /retry answers again"),
        Kind::Signal(number) => return Err(Error::new(Kind::Signal(number), "interrupted")),
        _ => complain(error),
    }
    Ok(state.after(Step::Failed).after(Step::Told))
}
