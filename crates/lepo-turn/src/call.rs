//! One call of an MCP server's tool, from consent to result.

use std::time::Instant;

use super::command_runner::Carried;
use super::flow::Turn;
use super::result_text::ResultText;
use super::served::FrontCaller;
use super::{Event, Masking};
use lepo_base::error::{Error, Result, quoted};
use lepo_store::store::{Store, blobs_of_result};
use lepo_tool::mcp::{Block, CallResult, Called};

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
                .hint(format!("`lepo mcp login {}` signs in again", quoted(name))));
        }
        for server in self.servers.each() {
            self.env.pins.first_sight(server)?;
        }
        Ok(())
    }

    /// Makes a granted call, and makes the text of its result.
    pub(super) async fn call(&mut self, granted: lepo_tool::GrantedCall) -> Result<Carried> {
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
        };
        Ok(Carried { text, exit: None, ms, ran })
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
