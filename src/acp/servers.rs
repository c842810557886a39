//! MCP servers that an editor gives with a session: they count only once the person has agreed to them.

use super::given::Given;
use super::peer::Peer;
use super::session::Session;
use crate::ui::in_fence;
use lepo_acp::permission::{self, Choice, Outcome};
use lepo_acp::update::{Status, ToolCall, ToolKind, Update};
use lepo_base::error::Result;
use lepo_turn::config::{Paths, Trust};

/// Asks about each server that nobody agreed to yet. What is refused does not count in this session; what is left
/// without an answer is asked about again before the next turn. True if there are more servers now.
pub async fn ask(peer: &Peer, session: &Session, paths: &Paths) -> Result<bool> {
    let given = std::mem::take(&mut session.state.borrow_mut().given);
    let (mut more, mut left) = (!session.state.borrow().agreed.is_empty(), Vec::new());
    let mut given = given.into_iter();
    while let Some(server) = given.next() {
        let outcome = match session.interrupt.or(async { Ok(ask_one(peer, session, &server).await) }).await {
            Ok(outcome) => outcome,
            Err(error) => {
                left.push(server);
                left.extend(given);
                session.state.borrow_mut().given = left;
                return Err(error);
            }
        };
        match outcome {
            Outcome::Chosen(Choice::AllowAlways) => {
                Trust::of(paths).keep(std::slice::from_ref(&server.file))?;
                session.state.borrow_mut().agreed.push(server);
                more = true;
            }
            Outcome::Chosen(Choice::AllowOnce) => {
                session.state.borrow_mut().agreed.push(server);
                more = true;
            }
            Outcome::Chosen(Choice::RejectOnce | Choice::RejectAlways) => {}
            Outcome::Cancelled => left.push(server),
        }
    }
    session.state.borrow_mut().given = left;
    Ok(more)
}

async fn ask_one(peer: &Peer, session: &Session, server: &Given) -> Outcome {
    let always = match server.is_for_everywhere {
        true => "Always allow exactly this server",
        false => "Always allow exactly this server in this folder",
    };
    let options = [
        (Choice::AllowOnce, "Allow for this session"),
        (Choice::AllowAlways, always),
        (Choice::RejectOnce, "Reject"),
    ];
    let name = crate::term::excerpt_within(&server.config.name, 60);
    let about = "The editor adds an MCP server. It runs outside any sandbox.";
    let call = ToolCall {
        id: format!("mcp-server-{name}"),
        title: Some(format!("Use the MCP server {name:?}")),
        kind: Some(ToolKind::Other),
        status: Some(Status::Pending),
        texts: Some(vec![format!("{about}\n\n{}", in_fence(&server.effect))]),
        ..ToolCall::default()
    };
    peer.update(&session.id, &Update::ToolCall(call.clone()));
    let params = permission::params(&session.id, &call, &options);
    let outcome = match peer.ask(permission::METHOD, &params).answer().await {
        Some(Ok(result)) => permission::outcome(&result, &options),
        Some(Err(_)) | None => Outcome::Cancelled,
    };
    let is_yes = matches!(outcome, Outcome::Chosen(Choice::AllowOnce | Choice::AllowAlways));
    let status = if is_yes { Status::Completed } else { Status::Failed };
    let ended = ToolCall { id: call.id, status: Some(status), ..ToolCall::default() };
    peer.update(&session.id, &Update::ToolUpdate(ended));
    outcome
}
