//! The answer, and the tools that a model calls on the way to it: natively, where its API has such
//! fields, else as its prompt tells it to.
//!
//! Calls and results are a side branch that grows from where General started; the answer is linked
//! to that place itself, so that a finished turn leaves them out of every later context.

use std::time::Instant;

use super::Event;
use super::answer::{Place, Received, Tools, receive};
use super::context::{Inst, messages};
use super::flow::Turn;
use super::native::{call_text, command_of, run_command};
use super::request::{Next, several};
use super::schema::{asking_again, complaint, tell, unfit};
use super::send::send;
use crate::bubb::Kind;
use crate::error::Result;
use crate::model::{Request, ToolCall, ToolSpec, ToolWire, spec};
use crate::tool::ToolRequest;
use crate::tool::mcp::{CallRequest, blocks, native_name};

/// What a model may ask for before its answer.
#[derive(Debug, Clone, Copy)]
pub(super) struct Offer {
    /// The shell command, natively.
    pub commands: bool,
    /// The tools of MCP servers.
    pub calls: bool,
}

/// How the model is told of tools.
#[derive(Default)]
struct Told {
    specs: Vec<ToolSpec>,
    blocks: Option<String>,
}

/// What a model asked for in one answer.
enum Wanted {
    Native(ToolCall),
    Told(CallRequest),
}

impl Turn<'_> {
    /// The last word: streamed, and a visible bubb. The model may ask for what is offered first.
    pub(super) async fn answer(&mut self, offer: Offer) -> Result<()> {
        if offer.calls {
            self.front.happens(Event::Waiting);
            self.servers_ready().await?;
        }
        let mut told = self.tell(offer);
        let nothing = Told::default();
        let mut done = self.record.transcript.requests_of_turn();
        let mut rounds = (self.env.settings().max_rounds as usize).saturating_sub(done.len());
        // A turn that is gone on with has a side branch already.
        let side = self.record.transcript.side_branch();
        let schema = self.schema.clone();
        let mut asked_again = false;
        loop {
            let offered = if rounds > 0 { &told } else { &nothing };
            let inst = Inst::General(self.insts.general.as_deref());
            let mut messages = messages(
                &self.record.transcript.said,
                inst,
                spec(self.config).path,
                offered.blocks.as_deref(),
            );
            if let Some(schema) = &schema {
                tell(&mut messages, spec(self.config).path, &schema.instruction());
            }
            let (start, interrupt) = (Instant::now(), &self.env.interrupt);
            let tools = match (&offered.blocks, offered.specs.as_slice()) {
                (Some(_), _) => Tools::Told,
                (None, []) => Tools::None,
                (None, _) => Tools::Native,
            };
            // An answer that must have a form could call no tools.
            let wire = schema.as_ref().filter(|_| tools == Tools::None).map(|schema| &schema.wire);
            let request = Request { messages: &messages, tools: &offered.specs, schema: wire };
            let answer = interrupt.or(send(self.model, self.front, &mut self.record, request)).await??;
            let base = *side.get_or_init(|| self.record.transcript.path.len());
            let place = Place {
                store: &self.env.store,
                under: self.record.transcript.path.get(base - 1).copied(),
                tip: self.record.transcript.tip(),
                speaker: None,
                tools,
                schema: schema.as_deref(),
                model: &self.config.name,
                start,
            };
            let wanted: Vec<Wanted> = match receive(answer, place, self.front, interrupt).await? {
                Received::Answer(answered) => {
                    self.record.transcript.path.truncate(base);
                    self.record.report.answer = Some(answered);
                    self.record.report.is_json = schema.is_some();
                    return Ok(());
                }
                Received::Unfit(_, fault) if tools == Tools::None && asked_again => {
                    return Err(unfit(&self.config.name, &fault));
                }
                Received::Unfit(words, fault) => {
                    self.record.transcript.take_up(&words)?;
                    self.add(Kind::System, true, complaint(&fault).as_bytes())?;
                    self.front.happens(Event::Say(&asking_again(&fault)));
                    asked_again |= tools == Tools::None;
                    (rounds, told) = (0, Told::default());
                    continue;
                }
                Received::Calls(words, calls) => {
                    if let Some(words) = words {
                        self.record.transcript.take_up(&words)?;
                    }
                    calls.into_iter().map(Wanted::Native).collect()
                }
                Received::Told(words, calls) => {
                    if !words.is_empty() {
                        self.add(Kind::Assistant, true, words.as_bytes())?;
                    }
                    calls.into_iter().map(Wanted::Told).collect()
                }
            };
            rounds = match self.calls(wanted, &mut done).await? {
                Next::Again if rounds == 1 => {
                    let limit = self.env.settings().max_rounds;
                    let note = format!("note: {limit} rounds of tools are the limit of a turn");
                    self.front.happens(Event::Say(&note));
                    0
                }
                Next::Again => rounds - 1,
                Next::Answer => 0,
                Next::Wait => return self.record.pending(),
            };
            if rounds == 0 {
                told = Told::default();
            }
        }
    }

    /// How the model of this turn is told of what it may ask for.
    fn tell(&self, offer: Offer) -> Told {
        let mut told = Told::default();
        if offer.commands {
            told.specs.push(run_command());
        }
        let servers = self.servers.each().iter().filter(|server| offer.calls && !server.tools.is_empty());
        match spec(self.config).tools {
            ToolWire::Native => {
                for server in servers {
                    told.specs.extend(server.tools.iter().map(|tool| ToolSpec {
                        name: native_name(&server.config.name, &tool.name),
                        description: tool.description.clone(),
                        schema: tool.parameters(),
                    }));
                }
            }
            ToolWire::Prompt => {
                let mut servers = servers.map(|s| (s.config.name.as_str(), s.tools.as_slice())).peekable();
                if servers.peek().is_some() {
                    told.blocks = Some(blocks(servers));
                }
            }
        }
        told
    }

    /// The calls of one answer, in order. Those after one that ends tool use are dropped.
    async fn calls(&mut self, calls: Vec<Wanted>, done: &mut Vec<ToolRequest>) -> Result<Next> {
        self.env.sandbox.begin(self.env.store.root());
        if let Some(told) = several(calls.len()) {
            self.add(Kind::Assistant, true, told.as_bytes())?;
        }
        let mut calls = calls.into_iter();
        while let Some(call) = calls.next() {
            let request = match call {
                Wanted::Told(request) => Ok(ToolRequest::Call(request)),
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
            let next = self.request(request, name, done).await?;
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
