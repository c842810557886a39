//! One call of an MCP server's tool, from consent to result.

use std::io::Write;
use std::time::Instant;

use super::Event;
use super::command_runner::{Carried, section};
use super::flow::Turn;
use super::served::FrontCaller;
use crate::error::{Error, Result};
use crate::store::Store;
use crate::tool::Captured;
use crate::tool::mcp::{Block, CallResult, Called};

impl Turn<'_> {
    /// Waits until each server has started or failed, and reports notes about them.
    pub(super) async fn servers_ready(&mut self) -> Result<()> {
        let servers = &mut *self.servers;
        let said = self.env.interrupt.or(async { Ok(servers.ready().await) }).await?;
        for text in said {
            self.front.happens(Event::Say(&text));
        }
        // Without a terminal the turn fails: a script must not get an answer that was made without its server.
        let over = self.servers.each().iter().find(|server| server.sign_in_is_over);
        if let Some(server) = over.filter(|_| !self.front.has_person()) {
            let name = &server.config.name;
            return Err(Error::remote(format!("the sign-in to MCP server {name} has expired"))
                .hint(format!("`lepo mcp login {name}` signs in again")));
        }
        for server in self.servers.each() {
            self.env.pins.first_sight(server)?;
        }
        Ok(())
    }

    /// Makes a granted call, and makes the text of its result.
    pub(super) async fn call(&mut self, granted: crate::tool::GrantedCall) -> Result<Carried> {
        self.front.happens(Event::ToolStarted(granted.request()));
        let start = Instant::now();
        let Turn { env, servers, front, .. } = self;
        let server = granted.request().server.clone();
        let mut caller = FrontCaller { front: &mut **front, server: &server };
        let called = env.interrupt.or(async { Ok(servers.call(granted, &mut caller).await) }).await?;
        let ms = start.elapsed().as_millis() as u64;
        let (text, ran) = match called {
            Called::Result(result) => {
                (result_text(&self.env.store, result, self.env.settings().output_limit as usize)?, true)
            }
            Called::Failed(words) => (format!("error: {words}").into_bytes(), false),
        };
        Ok(Carried { text, exit: None, ms, ran })
    }
}

/// The text of a result, cut where it is too long; then a line for each blob: the whole text, images and the like.
fn result_text(store: &Store, result: CallResult, limit: usize) -> Result<Vec<u8>> {
    let mut whole = String::new();
    if result.is_error {
        whole.push_str("the tool reports an error:\n");
    }
    let mut blobs = Vec::new();
    for block in result.blocks {
        match block {
            Block::Text(text) => whole.push_str(&text),
            Block::Bytes(what, bytes) => {
                whole.push_str(&format!("[{what}]"));
                blobs.push(store.blob(&mut bytes.as_slice())?.line());
            }
        }
        whole.push('\n');
    }
    let whole = whole.trim_end_matches('\n');
    let mut text = Vec::new();
    match whole.len() {
        0 => text.extend(b"(it gave nothing)"),
        length if length <= limit => text.extend(whole.bytes()),
        _ => {
            let failed = |error| Error::store("cannot keep the result of the tool").because(error);
            let mut scratch = store.scratch()?;
            scratch.write_all(whole.as_bytes()).map_err(failed)?;
            let mut lines = Vec::new();
            section(store, &mut Captured::new(scratch).map_err(failed)?, limit, &mut text, &mut lines)?;
            blobs.splice(..0, lines);
        }
    }
    while text.ends_with(b"\n") {
        text.pop();
    }
    for line in blobs {
        text.extend(format!("\n{line}").bytes());
    }
    Ok(text)
}
