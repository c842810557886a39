//! The flow of one turn: runs, question, chooser → writer → consent → command, and the answer.

use std::sync::Arc;
use std::time::Instant;

use super::answer::{Place, receive};
use super::command::{Carried, carry_out};
use super::context::{Inst, messages};
use super::line::Line;
use super::planner::{Choice, choice_schema, read_request, request_schema};
use super::{Event, Front, Interrupt, Report, Start, ToolUse};
use crate::bubb::{BubbId, Kind, Name};
use crate::config::{Insts, ModelConfig, Planner, Settings, ToolMode};
use crate::conv::Forest;
use crate::error::{Error, Kind as ErrorKind, Result};
use crate::model::{self, Answer, Gate, Model, Request, Schema};
use crate::store::{Entry, Store};
use crate::tool::{CommandRequest, Consent, Granted, Proposal, Sandbox, Shell};

/// What is asked.
pub struct Ask {
    /// Where it goes.
    pub start: Start,
    /// The question; none when one is answered again.
    pub question: Option<String>,
    /// The system prompt of a new conv.
    pub system_prompt: Option<String>,
    /// Commands of the user's own, run first.
    pub runs: Vec<String>,
}

/// All that a turn is lent.
pub struct Turn<'t> {
    /// Where it is written.
    pub store: &'t Arc<Store>,
    /// The forest as it was when the question was asked.
    pub forest: &'t Forest,
    /// The settings in force.
    pub settings: &'t Settings,
    /// The instructions in force.
    pub insts: &'t Insts,
    /// Who answers.
    pub config: &'t ModelConfig,
    /// The line to who answers.
    pub model: &'t mut Model,
    /// Holds requests back until the question is durable.
    pub gate: Gate,
    /// What ends it early.
    pub interrupt: &'t Interrupt,
    /// Who watches.
    pub front: &'t mut dyn Front,
}

/// How tool use goes on after one request.
enum Next {
    Again,
    Answer,
    Wait,
}

/// The longest answer of chooser or writer that is read, in bytes.
const PLANNER_LIMIT: usize = 1 << 20;

impl Turn<'_> {
    /// Takes the turn. Whatever goes wrong is in the report, beside all that went right before.
    pub async fn take(mut self, ask: Ask) -> Report {
        let mut report = Report { model: Some(self.config.name.clone()), ..Report::default() };
        let conv = match ask.start {
            Start::New => None,
            Start::Under(id) | Start::Again(id) => self.forest.find(id).map(|ix| self.forest.conv(ix)),
        };
        match Line::new(self.store, self.forest, conv.as_ref()) {
            Err(error) => report.error = Some(error),
            Ok(mut line) => {
                if let Start::Again(question) = ask.start {
                    report.user = Some(question);
                }
                report.error = self.go(ask, &mut line, &mut report).await.err();
                // Interrupted, it may still be on its way to the disk.
                match line.saved().await {
                    Ok(saved) => tell_saved(self.front, &mut report, saved),
                    Err(error) => report.error = report.error.or(Some(error)),
                }
                report.conv = line.path;
                report.conv.extend(report.answer.map(|answer| answer.name.id));
            }
        }
        report
    }

    async fn go(&mut self, ask: Ask, line: &mut Line, report: &mut Report) -> Result<()> {
        let mut opening: Vec<(Kind, bool, String)> = Vec::new();
        if ask.start == Start::New
            && let Some(prompt) = ask.system_prompt
        {
            opening.push((Kind::System, true, prompt));
        }
        if !ask.runs.is_empty() {
            for (kind, hidden, text) in opening.drain(..) {
                self.add(line, kind, hidden, text.as_bytes())?;
            }
            for command in &ask.runs {
                self.run(line, command, report).await?;
            }
        }
        opening.extend(ask.question.map(|question| (Kind::User, false, question)));
        if opening.is_empty() {
            self.gate.open();
        } else {
            let gate = self.gate.clone();
            line.begin(opening, move || gate.open());
        }

        let planning = self.settings.tool_call_mode != ToolMode::Off
            && self.settings.planner_for(self.config) == Planner::Chooser;
        if planning {
            self.plan(line, report).await?;
        }
        match report.pending {
            Some(id) => Err(Error::new(ErrorKind::Pending, format!("request {id} waits for consent"))
                .hint("on a terminal `lepo do --retry` asks for it again")),
            None => self.answer(line, report).await,
        }
    }

    /// The user's own command: no consent, no sandbox, its output for all to see.
    async fn run(&mut self, line: &mut Line, command: &str, report: &mut Report) -> Result<()> {
        self.front.happens(Event::Running(command));
        let carried = self.carry_out(Granted::by_user(command)).await?;
        let name = self.add(line, Kind::System, false, &carried.text)?;
        self.journal_command(&name, &carried);
        report.tools.push(ToolUse {
            bubb: name.id,
            kind: "run",
            request: serde_json::json!({ "command": command }),
            result: Some(name.id),
            exit: carried.exit,
        });
        Ok(())
    }

    /// Chooser, writer, consent, command; again, until no command is needed.
    async fn plan(&mut self, line: &mut Line, report: &mut Report) -> Result<()> {
        let (chooser, writer) = (self.insts.tool_chooser.clone(), self.insts.command_writer.clone());
        let mut done = Vec::new();
        for _ in 0..self.settings.max_rounds {
            let choice = self.ask(line, &chooser, &choice_schema(), report, Choice::read).await?;
            let Some((choice, used)) = choice else {
                self.front.happens(Event::Say("warning: the tool chooser's answer could not be read"));
                return Ok(());
            };
            let name = self.add(line, Kind::System, true, choice.canonical().as_bytes())?;
            self.journal(Some(name.id), "chooser", used);
            if choice == Choice::None {
                return Ok(());
            }
            let written = self.ask(line, &writer, &request_schema(), report, read_request).await?;
            let Some(((request, words), used)) = written else {
                self.front.happens(Event::Say("warning: the command writer's answer could not be read"));
                return Ok(());
            };
            if !words.is_empty() {
                self.add(line, Kind::Assistant, true, words.as_bytes())?;
            }
            let name = self.add(line, Kind::System, true, request.canonical().as_bytes())?;
            self.journal(Some(name.id), "writer", used);
            match self.request(line, request, name, &mut done, report).await? {
                Next::Again => {}
                Next::Answer | Next::Wait => return Ok(()),
            }
        }
        let limit = self.settings.max_rounds;
        self.front.happens(Event::Say(&format!("note: {limit} rounds of commands are the limit of a turn")));
        Ok(())
    }

    /// One request: asked about, carried out, its result told.
    async fn request(
        &mut self,
        line: &mut Line,
        mut request: CommandRequest,
        mut name: Name,
        done: &mut Vec<CommandRequest>,
        report: &mut Report,
    ) -> Result<Next> {
        let granted = loop {
            if done.iter().any(|earlier| earlier.same_deed(&request)) {
                let text = "This very request was carried out before in this turn; its result is above.";
                self.result(line, &name, &request, text.as_bytes(), None, report)?;
                return Ok(Next::Again);
            }
            let proposal = Proposal {
                request: request.clone(),
                dir: self.store.root().to_path_buf(),
                sandbox: Sandbox::None,
            };
            let asked = self.interrupt.or(self.front.ask(&proposal)).await;
            let reply = asked?;
            match Consent::of(proposal, reply) {
                Consent::Granted(granted) => break granted,
                Consent::Edited(edited) => {
                    if edited != request {
                        name = self.add(line, Kind::System, true, edited.canonical().as_bytes())?;
                        request = edited;
                    }
                }
                Consent::Refused => {
                    self.result(line, &name, &request, b"refused: the user said no", None, report)?;
                    return Ok(Next::Answer);
                }
                Consent::Pending => {
                    report.pending = Some(name.id);
                    report.tools.push(tool_use(&name, &request));
                    return Ok(Next::Wait);
                }
            }
        };
        done.push(request.clone());
        self.front.happens(Event::Running(&request.command));
        let carried = self.carry_out(granted).await?;
        let result = self.result(line, &name, &request, &carried.text, carried.exit, report)?;
        self.journal_command(&result, &carried);
        Ok(if carried.ran { Next::Again } else { Next::Answer })
    }

    fn result(
        &mut self,
        line: &mut Line,
        request_name: &Name,
        request: &CommandRequest,
        text: &[u8],
        exit: Option<i32>,
        report: &mut Report,
    ) -> Result<Name> {
        let name = self.add(line, Kind::System, true, text)?;
        report.tools.push(ToolUse { result: Some(name.id), exit, ..tool_use(request_name, request) });
        Ok(name)
    }

    async fn carry_out(&mut self, granted: Granted) -> Result<Carried> {
        let shell = Shell {
            dir: self.store.root(),
            hidden_env: self.settings.key_variables(),
            timeout: self.settings.command_timeout,
        };
        let front = &mut *self.front;
        let mut live = |bytes: &[u8]| front.happens(Event::Stderr(bytes));
        let carried = carry_out(self.store, shell, granted, self.settings.output_limit, &mut live);
        self.interrupt.or(carried).await
    }

    /// The last word: streamed, and a visible bubb.
    async fn answer(&mut self, line: &mut Line, report: &mut Report) -> Result<()> {
        let messages =
            messages(&line.said, Inst::General(self.insts.general.as_deref()), self.config.provider);
        let start = Instant::now();
        let interrupt = self.interrupt;
        let request = Request { messages: &messages, ..Request::default() };
        let (answer, saved) = interrupt.or(send(self.model, self.front, line, request)).await?;
        tell_saved(self.front, report, saved);
        let answer = answer?;
        let place = Place { store: self.store, prev: line.tip(), model: &self.config.name, start };
        report.answer = Some(receive(answer, place, self.front, interrupt).await?);
        Ok(())
    }

    /// A question that is answered in JSON; `None` if it could not be read, twice.
    async fn ask<T>(
        &mut self,
        line: &mut Line,
        inst: &Option<String>,
        schema: &Schema,
        report: &mut Report,
        read: impl Fn(&str) -> Option<T>,
    ) -> Result<Option<(T, Used)>> {
        let messages = messages(&line.said, Inst::Planner(inst.as_deref()), self.config.provider);
        for schema in [Some(schema), None] {
            let request = Request { messages: &messages, schema, ..Request::default() };
            let start = Instant::now();
            let interrupt = self.interrupt;
            let work = async {
                let (answer, saved) = send(self.model, self.front, line, request).await?;
                tell_saved(self.front, report, saved);
                whole(answer?, self.front).await
            };
            let (text, usage) = interrupt.or(work).await?;
            let used = Used { usage, ms: start.elapsed().as_millis() as u64 };
            match read(&text) {
                Some(found) => return Ok(Some((found, used))),
                None => self.journal(None, "unreadable", used),
            }
        }
        Ok(None)
    }

    fn add(&mut self, line: &mut Line, kind: Kind, hidden: bool, text: &[u8]) -> Result<Name> {
        let name = line.add(kind, hidden, text)?;
        self.front.happens(Event::Bubb(&name, Some(text)));
        Ok(name)
    }

    // The journal is never needed: that it cannot be written is no reason to fail.
    fn journal(&self, bubb: Option<BubbId>, what: &str, used: Used) {
        let _ = self.store.journal(Entry {
            bubb,
            what,
            model: Some(&self.config.name),
            input: used.usage.input,
            output: used.usage.output,
            ms: used.ms,
            ..Entry::default()
        });
    }

    fn journal_command(&self, name: &Name, carried: &Carried) {
        let _ = self.store.journal(Entry {
            bubb: Some(name.id),
            what: "command",
            ms: carried.ms,
            exit: carried.exit,
            ..Entry::default()
        });
    }
}

/// What a request cost.
struct Used {
    usage: model::Usage,
    ms: u64,
}

/// Sends a request. What is still being written becomes durable meanwhile; if that fails, nothing has left.
async fn send<'m>(
    model: &'m mut Model,
    front: &mut dyn Front,
    line: &mut Line,
    request: Request<'_>,
) -> Result<(Result<Answer<'m>>, Vec<(Name, Vec<u8>)>)> {
    front.happens(Event::Waiting);
    let mut notice = |text: &str| front.happens(Event::Say(text));
    tokio::pin! {
        let asked = model.ask(request, &mut notice);
    }
    let saved = tokio::select! {
        biased;
        saved = line.saved() => saved?,
        // Not before the gate is open, so it is a failure to connect: the question is kept all the same.
        failed = &mut asked => {
            let saved = line.saved().await?;
            return Ok((failed, saved));
        }
    };
    Ok((asked.await, saved))
}

fn tell_saved(front: &mut dyn Front, report: &mut Report, saved: Vec<(Name, Vec<u8>)>) {
    for (name, text) in saved {
        if name.kind == Kind::User {
            report.user = Some(name.id);
        }
        front.happens(Event::Bubb(&name, Some(&text)));
    }
}

/// The whole text of a short answer.
async fn whole(mut answer: Answer<'_>, front: &mut dyn Front) -> Result<(String, model::Usage)> {
    let (mut text, mut usage) = (String::new(), model::Usage::default());
    while let Some(event) = answer.next().await? {
        match event {
            model::Event::Text(piece) if text.len() + piece.len() <= PLANNER_LIMIT => text.push_str(&piece),
            model::Event::Usage(told) => usage = told,
            model::Event::Notice(words) => front.happens(Event::Say(&words)),
            _ => {}
        }
    }
    Ok((text, usage))
}

fn tool_use(name: &Name, request: &CommandRequest) -> ToolUse {
    ToolUse {
        bubb: name.id,
        kind: "command",
        request: serde_json::from_str(&request.canonical()).unwrap_or_default(),
        result: None,
        exit: None,
    }
}
