//! MCP servers that an editor sends with a session: they are used only with the user's approval.

use super::consent::ask_shown;
use super::editor_server::EditorServer;
use super::peer::EditorConnection;
use super::session::AcpSession;
use crate::ui::{folder_name, in_fence};
use lepo_acp::permission::{PermissionOptionKind, PermissionOutcome};
use lepo_acp::update::{AcpToolCall, ToolCallStatus, ToolKind};
use lepo_base::error::Result;
use lepo_turn::config::{FolderQuestion, FolderTrust, Paths, Trust};
use lepo_turn::question_of_server;

/// Asks about each server without approval. A refused server is not used in this session; an unanswered question is
/// repeated before the next turn. Returns whether there are more servers now.
pub async fn ask(peer: &EditorConnection, session: &AcpSession, paths: &Paths) -> Result<bool> {
    let unapproved = std::mem::take(&mut session.state.borrow_mut().unapproved);
    let (mut more, mut remaining) = (!session.state.borrow().approved.is_empty(), Vec::new());
    let mut unapproved = unapproved.into_iter();
    while let Some(server) = unapproved.next() {
        let folder = question_of_server(&server.config, &session.dir, paths)?;
        let asked = async { Ok(ask_one(peer, session, &server, folder.as_ref()).await) };
        let outcome = match session.interrupt.or(asked).await {
            Ok(outcome) => outcome,
            Err(error) => {
                remaining.push(server);
                remaining.extend(unapproved);
                session.state.borrow_mut().unapproved = remaining;
                return Err(error);
            }
        };
        if let (
            PermissionOutcome::Chosen(PermissionOptionKind::AllowAlways | PermissionOptionKind::AllowOnce),
            Some(question),
        ) = (&outcome, &folder)
        {
            FolderTrust::new(paths).record_answer(&question.folder, true)?;
        }
        match outcome {
            PermissionOutcome::Chosen(PermissionOptionKind::AllowAlways) => {
                Trust::new(paths).save(std::slice::from_ref(&server.file))?;
                session.state.borrow_mut().approved.push(server);
                more = true;
            }
            PermissionOutcome::Chosen(PermissionOptionKind::AllowOnce) => {
                session.state.borrow_mut().approved.push(server);
                more = true;
            }
            PermissionOutcome::Chosen(
                PermissionOptionKind::RejectOnce | PermissionOptionKind::RejectAlways,
            ) => {}
            PermissionOutcome::Cancelled => remaining.push(server),
        }
    }
    session.state.borrow_mut().unapproved = remaining;
    Ok(more)
}

/// Asks about a server, and also about its start folder if the user has not decided on that yet.
async fn ask_one(
    peer: &EditorConnection,
    session: &AcpSession,
    server: &EditorServer,
    folder: Option<&FolderQuestion>,
) -> PermissionOutcome {
    let always = match server.is_for_everywhere {
        true => "Always allow exactly this server",
        false => "Always allow exactly this server in this folder",
    };
    let options = [
        (PermissionOptionKind::AllowOnce, "Allow for this session"),
        (PermissionOptionKind::AllowAlways, always),
        (PermissionOptionKind::RejectOnce, "Reject"),
    ];
    let name = crate::term::excerpt_within(&server.config.name, 60);
    let mut about = "The editor adds an MCP server. It runs outside any sandbox.".to_string();
    if let Some(question) = folder {
        let name = folder_name(&question.folder.root);
        about.push_str(&format!(
            " It may run files of the folder that it starts in: to allow it is to trust {name}, where other programs \
             of yours start then, too."
        ));
    }
    let call = AcpToolCall {
        id: format!("mcp-server-{name}"),
        title: Some(format!("Use the MCP server {name:?}")),
        kind: Some(ToolKind::Other),
        status: Some(ToolCallStatus::Pending),
        texts: Some(vec![format!("{about}\n\n{}", in_fence(&server.effect))]),
        ..AcpToolCall::default()
    };
    ask_shown((peer, session), call, &options).await
}
