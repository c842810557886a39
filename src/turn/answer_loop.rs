//! The answer, and the tools that a model calls on the way to it: natively, where its API has such
//! fields, else as its prompt tells it to.
//!
//! Calls and results are a side branch that begins after the last bubb of the conversation; the answer is linked
//! to that same bubb, so that a finished turn leaves the side branch out of every later context.

use std::time::Instant;

use super::Event;
use super::answer::{AnswerPlace, Received, Tools, receive};
use super::called::CalledAnswer;
use super::context::{Inst, instruction, messages};
use super::flow::Turn;
use super::native::{call_text, command_of, run_command};
use super::request::{Next, several_note};
use super::schema::{asking_again, complaint, tell, unfit};
use super::send::send;
use crate::bubb::Kind;
use crate::error::{Error, Result};
use crate::model::{Request, ToolCall, ToolSpec, ToolWire, spec};
use crate::tool::ToolRequest;
use crate::tool::mcp::{CallRequest, blocks, native_name};

/// The tools that a model may call before its answer.
#[derive(Debug, Clone, Copy)]
pub(super) struct Offer {
    /// The shell command, natively.
    pub commands: bool,
    /// The tools of MCP servers.
    pub calls: bool,
    /// The tools are listed, as they were before, but tool use has ended.
    pub ended: bool,
}

/// The tools of a request, as the model is told of them: in fields of its API or as text of the prompt.
#[derive(Default)]
pub(super) struct ToolList {
    /// In fields of its API.
    native: bool,
    pub specs: Vec<ToolSpec>,
    pub blocks: Option<String>,
}

impl ToolList {
    fn is_nothing(&self) -> bool {
        self.specs.is_empty() && self.blocks.is_none()
    }
}

/// The result of a call where no tools are offered.
const NO_TOOLS: &str = "there are no tools here: answer in words";

/// The message to a model once tool use has ended.
const ENDED: &str = "no tool can be called any more for this question: answer with what there is";

/// One call in an answer.
enum Wanted {
    Native(ToolCall),
    InText(CallRequest),
}

impl Turn<'_> {
    /// Asks for the answer, which is streamed and becomes a visible bubb. The model may call the tools of `offer` first.
    pub(super) async fn answer(&mut self, offer: Offer) -> Result<()> {
        if offer.calls {
            self.front.happens(Event::Waiting);
            self.servers_ready().await?;
        }
        let mut offered = self.tool_list(offer);
        let mut done = self.record.transcript.requests_of_turn();
        let mut rounds = match offer.ended {
            true => 0,
            false => (self.env.settings().max_rounds as usize).saturating_sub(done.len()),
        };
        // A turn that is gone on with has a side branch already.
        let side = self.record.transcript.side_branch();
        let schema = self.schema.clone();
        let mut asked_again = false;
        let cache_key = self.cache_key().await?;
        let mut warned = false;
        loop {
            let open = rounds > 0 && !offered.is_nothing();
            let inst = Inst::General(self.insts.general.as_deref());
            let transcript = &self.record.transcript;
            let mut messages = messages(
                &transcript.entries,
                &transcript.called,
                inst,
                spec(self.config).path,
                offered.blocks.as_deref(),
            );
            if rounds == 0 && offered.blocks.is_some() {
                messages.push(instruction(ENDED));
            }
            if let Some(schema) = &schema {
                tell(&mut messages, spec(self.config).path, &schema.instruction());
            }
            let (start, interrupt) = (Instant::now(), &self.env.interrupt);
            let tools = match &offered.blocks {
                Some(_) => Tools::InText,
                None if open => Tools::Native,
                None => Tools::Unoffered,
            };
            // A request with a schema is sent without callable tools.
            let wire = schema.as_ref().filter(|_| !open).map(|schema| &schema.wire);
            let request = Request {
                messages: &messages,
                tools: &offered.specs,
                tools_ended: !open,
                cache_key: cache_key.as_deref(),
                schema: wire,
            };
            let sent = interrupt.or(send(self.model, self.front, &mut self.record, request)).await?;
            if sent.is_err() {
                let Some(error) = sent.err() else { continue };
                if !offered.native || offered.specs.is_empty() || self.model.takes_tools() {
                    return Err(error);
                }
                self.plan_instead(offer, open && side.get().is_none()).await?;
                if self.record.report.pending.is_some() {
                    return self.record.pending();
                }
                offered = self.tool_list(Offer { commands: false, ..offer });
                continue;
            }
            let Some(answer) = sent.ok() else { continue };
            let base = *side.get_or_init(|| self.record.transcript.path.len());
            let place = AnswerPlace {
                store: &self.env.store,
                under: self.record.transcript.path.get(base - 1).copied(),
                tip: self.record.transcript.tip(),
                speaker: None,
                tools,
                schema: schema.as_deref(),
                model: &self.config.name,
                start,
                limit: self.env.settings().max_answer,
            };
            let at = self.record.transcript.entries.len();
            let wanted: Vec<Wanted> = match receive(answer, place, self.front, interrupt).await? {
                Received::Answer(answered) => {
                    self.record.transcript.path.truncate(base);
                    self.record.report.answer = Some(answered);
                    self.record.report.is_json = schema.is_some();
                    return Ok(());
                }
                Received::Unfit(_, fault) if !open && asked_again => {
                    return Err(unfit(&self.config.name, &fault));
                }
                Received::Unfit(words, fault) => {
                    self.record.transcript.take_up(&words)?;
                    self.add(Kind::System, true, complaint(&fault).as_bytes())?;
                    self.front.happens(Event::Say(&asking_again(&fault)));
                    asked_again |= !open;
                    rounds = 0;
                    continue;
                }
                Received::Calls(words, calls, replay) => {
                    if let Some(words) = words {
                        self.record.transcript.take_up(&words)?;
                    }
                    let answer = CalledAnswer { at, calls: calls.clone(), replay };
                    self.record.transcript.called.push(answer);
                    calls.into_iter().map(Wanted::Native).collect()
                }
                Received::TextCalls(words, calls) => {
                    if !words.is_empty() {
                        self.add(Kind::Assistant, true, words.as_bytes())?;
                    }
                    calls.into_iter().map(Wanted::InText).collect()
                }
            };
            if !open {
                if std::mem::replace(&mut warned, true) {
                    return Err(Error::remote("the model calls tools and does not answer")
                        .hint("ask again with `lepo do --retry`, or another model: -m NAME"));
                }
                self.not_carried_out(wanted, if offered.is_nothing() { NO_TOOLS } else { ENDED })?;
                continue;
            }
            rounds = match self.calls(wanted, &mut done).await? {
                Next::Again if rounds == 1 => {
                    let limit = self.env.settings().max_rounds;
                    let note = format!("note: no more tools in this turn: max_rounds ({limit}) is reached");
                    self.front.happens(Event::Say(&note));
                    0
                }
                Next::Again => rounds - 1,
                Next::Answer => 0,
                Next::Wait => {
                    if let Some(id) = self.record.report.pending {
                        self.record.transcript.keep_called(&self.env.store, self.config, id);
                    }
                    return self.record.pending();
                }
            };
        }
    }

    /// The server takes no native tools: they are told in words, and a chooser plans where one still can.
    async fn plan_instead(&mut self, offer: Offer, can_plan: bool) -> Result<()> {
        match offer.commands && can_plan {
            true => self.plan().await,
            false => Ok(()),
        }
    }

    /// The key of the server's cache of this conversation: its root, where the model's API has a field for
    /// it. A new conversation's root is known once it is on disk.
    pub(super) async fn cache_key(&mut self) -> Result<Option<String>> {
        if !spec(self.config).names_root() {
            return Ok(None);
        }
        if self.record.transcript.path.is_empty() {
            let saved = self.record.transcript.saved().await?;
            self.record.tell_saved(self.front, saved);
        }
        Ok(self.record.transcript.path.first().map(ToString::to_string))
    }

    /// Answers calls that are not allowed any more.
    fn not_carried_out(&mut self, calls: Vec<Wanted>, why: &str) -> Result<()> {
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

    /// The tools of `offer`, in the form that the model of this turn takes.
    pub(super) fn tool_list(&self, offer: Offer) -> ToolList {
        let native = spec(self.config).tools == ToolWire::Native && self.model.takes_tools();
        let mut offered = ToolList { native, ..ToolList::default() };
        if offer.commands && native {
            offered.specs.push(run_command());
        }
        let servers = self.servers.each().iter().filter(|server| offer.calls && !server.tools.is_empty());
        match native {
            true => {
                for server in servers {
                    offered.specs.extend(server.tools.iter().map(|tool| ToolSpec {
                        name: native_name(&server.config.name, &tool.name),
                        description: tool.description.clone(),
                        schema: tool.parameters(),
                    }));
                }
            }
            false => {
                let mut servers = servers.map(|s| (s.config.name.as_str(), s.tools.as_slice())).peekable();
                if servers.peek().is_some() {
                    offered.blocks = Some(blocks(servers));
                }
            }
        }
        offered
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
                Err(call) => {
                    self.add(Kind::Assistant, true, call_text(&call).as_bytes())?;
                    let text = "error: there is no such tool, or its arguments do not fit its schema";
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
