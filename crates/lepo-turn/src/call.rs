//! One call of an MCP server's tool, from consent to result.

use std::time::Instant;

use super::command_runner::Carried;
use super::flow::Turn;
use super::result_text::ResultText;
use super::served::FrontCaller;
use super::{Event, Masking};
use lepo_base::error::{Error, Result, quoted};
use lepo_store::store::{Store, blobs_of_result};
use lepo_tool::mcp::{Block, CallRequest, CallResult, Called};
use lepo_tool::{CallProposal, Proposal};

impl Turn<'_> {
    /// Waits until each server has started or failed, and reports notes about them.
    pub(super) async fn servers_ready(&mut self) -> Result<()> {
        let servers = &mut *self.servers;
        let said = self.env.interrupt.or(async { Ok(servers.ready().await) }).await?;
        for text in said {
            self.front.happens(Event::Say(&text));
        }
        self.sign_ins_hold()?;
        for server in self.servers.each() {
            self.env.pins.first_sight(server)?;
        }
        Ok(())
    }

    /// Fails without a terminal if a sign-in is over: a script must not get an answer that was made without its server.
    fn sign_ins_hold(&self) -> Result<()> {
        let over = self.servers.each().iter().find(|server| server.sign_in_is_over);
        match over.filter(|_| !self.front.has_person()) {
            None => Ok(()),
            Some(server) => {
                let name = &server.config.name;
                Err(Error::remote(format!("the sign-in to MCP server {name} has expired"))
                    .hint(format!("`lepo mcp login {}` signs in again", quoted(name))))
            }
        }
    }

    /// The proposal for a call, of the tool as its running server has it; or for the model why it cannot be made.
    pub(super) async fn propose_call(
        &mut self,
        request: &CallRequest,
    ) -> Result<std::result::Result<Proposal, String>> {
        let servers = &mut *self.servers;
        let up = self.env.interrupt.or(async { Ok(servers.up(request).await) }).await?;
        for text in self.servers.unsaid() {
            self.front.happens(Event::Say(&text));
        }
        self.sign_ins_hold()?;
        if let Err(words) = up {
            let words = self.servers.not_up(&request.server).unwrap_or(words);
            return Ok(Err(format!("error: {words}")));
        }
        let Some((server, tool)) = self.servers.live(request) else { return Ok(Err(self.no_tool(request))) };
        let changed = !self.env.pins.holds(server, tool)?;
        Ok(Ok(Proposal::Call(CallProposal {
            request: request.clone(),
            description: tool.description.clone(),
            tool: tool.fingerprint(),
            changed,
            unagreed: Vec::new(),
        })))
    }

    /// For the model: a tool that its server does not have.
    fn no_tool(&self, request: &CallRequest) -> String {
        let CallRequest { server, tool, .. } = request;
        match self.servers.is_told(request) {
            true => format!("error: server {server:?} no longer has a tool {tool:?}"),
            false => format!("error: there is no tool {tool:?} of a server {server:?}"),
        }
    }

    /// Makes a granted call, and makes the text of its result; `None` if the tool has changed since it was granted.
    pub(super) async fn call(&mut self, granted: lepo_tool::GrantedCall) -> Result<Option<Carried>> {
        self.front.happens(Event::ToolStarted(granted.request()));
        let start = Instant::now();
        let Turn { env, servers, front, .. } = self;
        let server = granted.request().server.clone();
        let mut caller = FrontCaller { front: &mut **front, server: &server };
        let called = env.interrupt.or(async { Ok(servers.call(granted, &mut caller).await) }).await?;
        let ms = start.elapsed().as_millis() as u64;
        let (text, ran) = match called {
            Called::Result(result) => (
                result_text(
                    &self.env.store,
                    result,
                    (self.env.settings().output_limit as usize, &self.env.masking),
                )?,
                true,
            ),
            Called::Failed(words) => (format!("error: {words}").into_bytes(), false),
            Called::Changed => return Ok(None),
        };
        Ok(Some(Carried { text, exit: None, ms, ran }))
    }
}

/// The text of a result, cut where it is too long; then a line for each blob: the whole text, images and the like.
fn result_text(store: &Store, result: CallResult, (limit, masking): (usize, &Masking)) -> Result<Vec<u8>> {
    let mut whole = String::new();
    if result.is_error {
        whole.push_str("the tool reports an error:\n");
    }
    let mut files = Vec::new();
    for block in result.blocks {
        match block {
            Block::Text(text) => whole.push_str(&text),
            Block::Bytes(what, bytes) => {
                whole.push_str(&format!("[{what}]"));
                files.push(bytes);
            }
        }
        whole.push('\n');
    }
    let mut text = ResultText::new(Vec::new(), masking);
    match whole.trim_end_matches('\n') {
        "" => text.text.extend(b"(it gave nothing)"),
        whole => text.add_capped(store, whole, limit)?,
    }
    // A server's own words that look as a line of a blob stay words.
    let words = String::from_utf8_lossy(&text.text).trim_end_matches('\n').to_string();
    if !blobs_of_result(&words).is_empty() {
        text.text.extend(b"\n\n");
    }
    for bytes in files {
        text.add_blob(store, &bytes)?;
    }
    Ok(text.into_bytes())
}
