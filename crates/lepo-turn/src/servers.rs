//! The MCP servers of a turn: waits until they are ready, and passes their events to the display.

use std::future::Future;
use std::pin::Pin;

use super::turn::Turn;
use super::{Front, Notice, TurnEvent};
use lepo_base::error::{Error, Result, quoted};
use lepo_tool::mcp::{ElicitationHandler, ElicitationResult, ServerQuestion};

/// Passes a server's questions and progress to the display of the turn.
pub(super) struct FrontCaller<'f> {
    /// The display.
    pub front: &'f mut dyn Front,
    /// Name of the server.
    pub server: &'f str,
}

impl ElicitationHandler for FrontCaller<'_> {
    fn on_progress(&mut self, words: &str) {
        self.front.on_event(TurnEvent::Progress(words));
    }

    async fn elicit(&mut self, asked: ServerQuestion) -> ElicitationResult {
        let answering: Pin<Box<dyn Future<Output = ElicitationResult> + '_>> =
            self.front.fill_form(self.server, asked);
        answering.await
    }
}

/// Fails without a terminal if a sign-in has expired: a script must not receive an answer without the data of
/// its server.
pub(super) fn sign_ins_hold(turn: &Turn<'_>) -> Result<()> {
    let over = turn.servers.each().iter().find(|server| server.sign_in_is_over);
    match over.filter(|_| !turn.front.is_interactive()) {
        None => Ok(()),
        Some(server) => {
            let name = &server.config.name;
            Err(Error::remote(format!("the sign-in to MCP server {name} has expired"))
                .hint(format!("`lepo mcp login {}` signs in again", quoted(name))))
        }
    }
}

/// Waits until the tools of each server are known or the server has failed, and reports notices about them.
pub(super) async fn servers_ready(turn: &mut Turn<'_>) -> Result<()> {
    let servers = &mut *turn.servers;
    let said = turn.env.interrupt.or(async { Ok(servers.ready().await) }).await?;
    for said in said {
        turn.front.on_event(TurnEvent::Notice(&Notice::Server(said)));
    }
    sign_ins_hold(turn)?;
    for server in turn.servers.each() {
        turn.env.pins.first_sight(server)?;
    }
    Ok(())
}
