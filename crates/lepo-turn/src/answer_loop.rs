//! The answer, and the tools that a model calls on the way to it: natively, where its API has such
//! fields, else as its prompt tells it to.
//!
//! Calls and results are a side branch that begins after the last bubb of the conversation; the answer is linked
//! to that same bubb, so that a finished turn leaves the side branch out of every later context.

use std::time::Instant;

use super::Event;
use super::answer_place::{AnswerPlace, Tools};
use super::called::CalledAnswer;
use super::context::{Inst, instruction, messages};
use super::flow::Turn;
use super::native::{call_text, command_of};
use super::offer::{Offer, ToolList};
use super::receive::{Received, receive};
use super::recorded::{RequestFacts, tools_hash};
use super::report::Answered;
use super::request::{Next, several_note};
use super::schema::{asking_again, complaint, tell, unfit};
use super::send::{Sent, send};
use lepo_base::error::{Error, Result};
use lepo_model::{AgentPlace, Message, Request, ToolCall, spec};
use lepo_store::bubb::{Kind, Name};
use lepo_tool::mcp::CallRequest;
use lepo_tool::{ToolMode, ToolRequest};

/// The result of a call where no tools are offered.
const NO_TOOLS: &str = "there are no tools here: answer in words";

/// The message to a model once tool use has ended.
const ENDED: &str = "no tool can be called any more for this question: answer with what there is";

/// One call in an answer.
enum Wanted {
    Native(ToolCall),
    InText(CallRequest),
}

/// The outcome of one request.
enum Asked {
    /// The answer was received.
    Received(Received),
    /// The model gave none.
    Failed(Error),
}

/// The state of the answer loop.
struct Progress {
    offer: Offer,
    /// The tools of `offer`, as the model is told of them.
    tools: ToolList,
    /// Rounds of tools that are left.
    rounds: usize,
    /// The requests that were carried out since the question.
    done: Vec<ToolRequest>,
    /// The length of the path up to where the side branch begins; not known before the first request has left.
    base: Option<usize>,
    cache_key: Option<String>,
    /// Options, schema and tools, for the journal.
    facts: RequestFacts,
    /// An answer did not fit the schema.
    asked_again: bool,
    /// The model called tools where none may be called.
    warned: bool,
}

impl Progress {
    /// True if the model may call tools now.
    fn is_open(&self) -> bool {
        self.rounds > 0 && !self.tools.is_nothing()
    }

    /// The way the model may call tools in its next answer.
    fn way_to_call(&self) -> Tools {
        match self.tools.blocks {
            Some(_) => Tools::InText,
            None if self.is_open() => Tools::Native,
            None => Tools::Unoffered,
        }
    }
}

impl Turn<'_> {
    /// Asks for the answer, which is streamed and becomes a visible bubb. The model may call the tools of `offer` first.
    pub(super) async fn answer(&mut self, offer: Offer) -> Result<()> {
        let mut progress = self.progress(offer).await?;
        loop {
            let wanted = match self.ask_once(&mut progress).await? {
                Asked::Failed(error) => {
                    self.plan_instead(error, &mut progress).await?;
                    continue;
                }
                Asked::Received(Received::Answer(answered)) => {
                    self.keep_answer(answered, &progress);
                    return Ok(());
                }
                Asked::Received(Received::Cut(part, error)) => {
                    self.record.report.partial = part.map(|part| part.id);
                    return Err(error);
                }
                Asked::Received(Received::Unfit(words, fault)) => {
                    self.ask_for_form(&words, &fault, &mut progress)?;
                    continue;
                }
                Asked::Received(Received::Calls(words, calls, replay)) => {
                    let at = self.record.transcript.entries.len();
                    if let Some(words) = words {
                        self.take_up(&words)?;
                    }
                    let answer = CalledAnswer { at, calls: calls.clone(), replay, waited: false };
                    self.record.transcript.called.push(answer);
                    calls.into_iter().map(Wanted::Native).collect()
                }
                Asked::Received(Received::TextCalls(words, calls)) => {
                    if !words.is_empty() {
                        self.add(Kind::Assistant, true, words.as_bytes())?;
                    }
                    calls.into_iter().map(Wanted::InText).collect()
                }
            };
            match progress.is_open() {
                true => self.calls_of_round(wanted, &mut progress).await?,
                false => self.not_carried_out(wanted, &mut progress)?,
            }
        }
    }

    /// The beginning of the loop: the tools are ready to be told, and nothing was asked.
    async fn progress(&mut self, offer: Offer) -> Result<Progress> {
        if offer.calls {
            self.question_saved().await?;
            self.front.happens(Event::Waiting);
            self.servers_ready().await?;
        }
        let done = self.record.transcript.requests_of_turn();
        Ok(Progress {
            offer,
            tools: self.tool_list(offer),
            rounds: match offer.ended {
                true => 0,
                false => (self.env.settings().max_rounds as usize).saturating_sub(done.len()),
            },
            done,
            // A turn that is gone on with has a side branch already.
            base: self.record.transcript.side_branch(),
            cache_key: self.cache_key().await?,
            facts: self.request_facts(),
            asked_again: false,
            warned: false,
        })
    }

    /// Options, schema and tools of this turn, for the journal.
    fn request_facts(&self) -> RequestFacts {
        let settings = self.env.settings();
        let tools = match settings.tool_call_mode {
            ToolMode::Off => None,
            _ => tools_hash(settings.may_command(self.config), self.servers.each()),
        };
        RequestFacts::of(self.config, self.schema.as_deref(), tools)
    }

    /// Sends one request and receives its answer.
    async fn ask_once(&mut self, progress: &mut Progress) -> Result<Asked> {
        // Results since the last request may have files.
        self.choose_files();
        if let Some(base) = progress.base {
            self.keep_skills(base)?;
        }
        let kept_skills = self.kept_skills();
        let messages = self.messages(progress);
        let session = self.agent_session();
        let schema = self.schema.clone();
        let (start, interrupt) = (Instant::now(), &self.env.interrupt);
        let request = Request {
            messages: &messages,
            tools: &progress.tools.specs,
            tools_ended: !progress.is_open(),
            agent: AgentPlace {
                session: session.as_deref(),
                forks: self.forks,
                dir: Some(self.env.store.root()),
            },
            web: self.env.settings().tool_call_mode != ToolMode::Off,
            cache_key: progress.cache_key.as_deref(),
            // A request with a schema is sent without callable tools.
            schema: schema.as_ref().filter(|_| !progress.is_open()).map(|schema| &schema.wire),
        };
        let sent = interrupt.or(send(self.model, self.front, &mut self.record, request)).await?;
        let answer = match sent {
            Sent::Answer(answer) => answer,
            Sent::ModelFailed(error) => return Ok(Asked::Failed(error)),
        };
        let base = *progress.base.get_or_insert(self.record.transcript.path.len());
        let path = &self.record.transcript.path;
        let place = AnswerPlace {
            store: &self.env.store,
            under: kept_skills.or_else(|| path.get(..base).and_then(|path| path.last()).copied()),
            tip: self.record.transcript.tip(),
            before: None,
            tools: progress.way_to_call(),
            asks: self.env.settings().tool_call_mode != ToolMode::Off,
            schema: schema.as_deref(),
            model: &self.config.name,
            start,
            limit: self.env.settings().max_answer,
            facts: &progress.facts,
            masking: &self.env.masking,
        };
        Ok(Asked::Received(receive(*answer, place, self.front, interrupt).await?))
    }

    /// The messages of the next request.
    fn messages(&self, progress: &Progress) -> Vec<Message> {
        let (transcript, path) = (&self.record.transcript, spec(self.config).path);
        let inst = Inst::General(self.insts.general.as_deref());
        let blocks = progress.tools.blocks.as_deref();
        let mut messages = messages(&transcript.entries, &transcript.called, inst, path, blocks);
        if progress.rounds == 0 && blocks.is_some() {
            messages.push(instruction(ENDED));
        }
        if let Some(schema) = &self.schema {
            tell(&mut messages, path, &schema.instruction());
        }
        messages
    }

    /// Goes on without native tools where the server takes none: they are told in words, and a chooser plans
    /// where one still can. Any other failure of the model ends the turn.
    async fn plan_instead(&mut self, failed: Error, progress: &mut Progress) -> Result<()> {
        let Progress { offer, tools, base, .. } = &*progress;
        if !tools.native || tools.specs.is_empty() || self.model.takes_tools() {
            return Err(failed);
        }
        if offer.commands && progress.is_open() && base.is_none() {
            self.plan().await?;
        }
        self.record.pending()?;
        progress.tools = self.tool_list(Offer { commands: false, ..progress.offer });
        Ok(())
    }

    /// The answer ends the side branch: the conversation goes on where that began.
    fn keep_answer(&mut self, answered: Answered, progress: &Progress) {
        if let Some(base) = progress.base {
            self.record.transcript.path.truncate(base);
            self.record.transcript.path.extend(self.kept_skills());
        }
        self.record.report.answer = Some(answered);
        self.record.report.is_json = self.schema.is_some();
    }

    /// Lets the model answer again, in the form of the schema; once.
    fn ask_for_form(&mut self, words: &Name, fault: &str, progress: &mut Progress) -> Result<()> {
        if std::mem::replace(&mut progress.asked_again, true) {
            return Err(unfit(&self.config.name, fault));
        }
        self.take_up(words)?;
        self.add(Kind::System, true, complaint(fault).as_bytes())?;
        self.front.happens(Event::Say(&asking_again(fault)));
        progress.rounds = 0;
        Ok(())
    }

    /// Takes up what the model just said, as it said it.
    fn take_up(&mut self, words: &Name) -> Result<()> {
        self.record.transcript.take_up(words)?;
        let last = self.record.transcript.entries.last();
        if let Some(text) = last.and_then(|entry| self.env.masking.restored(&entry.text)) {
            self.record.transcript.restore_last(&text);
        }
        Ok(())
    }

    /// The key of the server's cache of this conversation: its root, where the model's API has a field for
    /// it. A new conversation's root is known once it is on disk.
    pub(super) async fn cache_key(&mut self) -> Result<Option<String>> {
        if !spec(self.config).names_root() {
            return Ok(None);
        }
        if self.record.transcript.path.is_empty() {
            self.question_saved().await?;
        }
        Ok(self.record.transcript.path.first().map(ToString::to_string))
    }

    /// Answers calls that are not allowed any more; an error the second time.
    fn not_carried_out(&mut self, calls: Vec<Wanted>, progress: &mut Progress) -> Result<()> {
        if std::mem::replace(&mut progress.warned, true) {
            return Err(Error::remote("the model calls tools and does not answer").hint_to_retry(|place| {
                let (retry, other) = (place.retry(), place.other_model());
                format!("ask again with {retry}, or another model: {other}")
            }));
        }
        let why = if progress.tools.is_nothing() { NO_TOOLS } else { ENDED };
        if let Some(told) = several_note(calls.len()) {
            self.add(Kind::Assistant, true, told.as_bytes())?;
        }
        for call in calls {
            let text = match call {
                Wanted::InText(request) => ToolRequest::Call(request).canonical(),
                Wanted::Native(call) => {
                    self.request_of(&call).map_or_else(|| call_text(&call), |request| request.canonical())
                }
            };
            self.add(Kind::Assistant, true, text.as_bytes())?;
            self.add(Kind::Tool, true, format!("error: {why}").as_bytes())?;
        }
        Ok(())
    }

    /// Carries out the calls of one answer: a round of tools.
    async fn calls_of_round(&mut self, calls: Vec<Wanted>, progress: &mut Progress) -> Result<()> {
        progress.rounds = match self.calls(calls, &mut progress.done).await? {
            Next::Again if progress.rounds == 1 => {
                let limit = self.env.settings().max_rounds;
                let note = format!("note: no more tools in this turn: max_rounds ({limit}) is reached");
                self.front.happens(Event::Say(&note));
                0
            }
            Next::Again => progress.rounds - 1,
            Next::Answer => 0,
            Next::Wait => {
                if let Some(id) = self.record.report.pending {
                    self.record.transcript.keep_called(&self.env.store, self.config, id);
                }
                self.keep_truth();
                return self.record.pending();
            }
        };
        Ok(())
    }

    /// The calls of one answer, in order. Those after one that ends tool use are dropped.
    async fn calls(&mut self, calls: Vec<Wanted>, done: &mut Vec<ToolRequest>) -> Result<Next> {
        self.env.sandbox.begin(self.env.store.root());
        if let Some(told) = several_note(calls.len()) {
            self.add(Kind::Assistant, true, told.as_bytes())?;
        }
        let mut calls = calls.into_iter();
        while let Some(call) = calls.next() {
            let request = match call {
                Wanted::InText(request) => Ok(ToolRequest::Call(request)),
                Wanted::Native(call) => self.request_of(&call).ok_or(call),
            };
            let request = match request {
                Ok(request) => request,
                Err(call) if self.gives_skill(&call)? => continue,
                Err(call) => {
                    self.add(Kind::Assistant, true, call_text(&call).as_bytes())?;
                    let text = match self.servers.not_up_by_name(&call.name) {
                        Some(not_up) => format!("error: {not_up}"),
                        None => "error: there is no such tool, or its arguments do not fit its schema".into(),
                    };
                    self.add(Kind::Tool, true, text.as_bytes())?;
                    continue;
                }
            };
            let name = self.add(Kind::Assistant, true, request.canonical().as_bytes())?;
            let next = self.decide_and_run(request, name, done).await?;
            if next == Next::Answer && calls.len() > 0 {
                let text = format!("calls of the same answer that were dropped: {}", calls.len());
                self.add(Kind::System, true, text.as_bytes())?;
            }
            if next != Next::Again {
                return Ok(next);
            }
        }
        Ok(Next::Again)
    }

    /// The request that a native call is, if it is sound and its tool is there.
    fn request_of(&self, call: &ToolCall) -> Option<ToolRequest> {
        if let Some(request) = command_of(call) {
            return Some(ToolRequest::Command(request));
        }
        let (server, tool) = self.servers.by_name(&call.name)?;
        let arguments = call.arguments.as_object()?.clone();
        Some(ToolRequest::Call(CallRequest {
            server: server.config.name.clone(),
            tool: tool.name.clone(),
            arguments,
        }))
    }
}
