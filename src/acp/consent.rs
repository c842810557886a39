//! Asks for permission to run a request: the editor asks the user.

use super::peer::EditorConnection;
use super::session::AcpSession;
use crate::ui::{agent_text, fenced_about, permission_text, programs_line, start_title};
use lepo_acp::TEXT;
use lepo_acp::permission::{self, PermissionOptionKind, PermissionOutcome};
use lepo_acp::update::{AcpToolCall, ChunkKind, SessionUpdate, ToolCallStatus, ToolKind};
use lepo_base::error::Result;
use lepo_model::{AgentQuestion, PermissionReply};
use lepo_store::bubb::BubbId;
use lepo_tool::{ConsentReply, Proposal};
use lepo_turn::{ChangedProgram, StartQuestion};

pub struct ConsentAnswer {
    /// The user's reply.
    pub reply: ConsentReply,
    /// Whether the editor left the question unanswered, or withdrew it.
    pub has_withdrawn: bool,
}

/// Asks about one request. If the editor cannot ask, or does not answer, the request stays pending.
pub async fn ask(
    (peer, session): (&EditorConnection, &AcpSession),
    open: Option<BubbId>,
    proposal: &Proposal,
) -> Result<ConsentAnswer> {
    let permission = permission_text(proposal);
    let nobody = ConsentAnswer { reply: ConsentReply::NoTerminal, has_withdrawn: false };
    let Some(open) = open else { return Ok(nobody) };
    if permission.text.len() > TEXT {
        let note = "The request is too long to be shown here: decide on it in a terminal.\n";
        peer.send_text(&session.id, ChunkKind::Agent, note);
        return Ok(nobody);
    }
    let mut options = vec![(PermissionOptionKind::AllowOnce, "Allow")];
    if permission.may_be_remembered {
        options.push((PermissionOptionKind::AllowAlways, "Allow for this session"));
    }
    options.push((PermissionOptionKind::RejectOnce, "Reject"));
    let call = AcpToolCall {
        id: open.to_string(),
        title: Some(permission.title),
        status: Some(ToolCallStatus::Pending),
        texts: Some(vec![permission.text]),
        ..AcpToolCall::default()
    };
    let params = permission::params(&session.id, &call, &options);
    let answer = peer.ask(permission::METHOD, &params).answer().await;
    session.state.borrow_mut().is_asking = false;
    let outcome = match &answer {
        Some(Ok(result)) => permission::outcome(result, &options),
        // The editor cannot ask a user.
        Some(Err(_)) => return Ok(nobody),
        None => PermissionOutcome::Cancelled,
    };
    let reply = match outcome {
        PermissionOutcome::Chosen(PermissionOptionKind::AllowOnce) => ConsentReply::Yes,
        PermissionOutcome::Chosen(PermissionOptionKind::AllowAlways) => ConsentReply::Always,
        PermissionOutcome::Chosen(PermissionOptionKind::RejectOnce | PermissionOptionKind::RejectAlways) => {
            ConsentReply::No
        }
        PermissionOutcome::Cancelled => return Ok(ConsentAnswer { has_withdrawn: true, ..nobody }),
    };
    Ok(ConsentAnswer { reply, has_withdrawn: false })
}

/// Asks whether programs of the user may start: in a new folder, or although their files have changed. `None` if
/// the editor cannot ask, or does not answer.
pub async fn agree_to_start(
    (peer, session): (&EditorConnection, &AcpSession),
    question: &StartQuestion,
) -> Option<bool> {
    let files = question.changed.iter().map(ChangedProgram::identity);
    let (id, options) = match question.folders.first() {
        Some(first) => (
            format!("trust-{}", first.folder.identity.chars().take(12).collect::<String>()),
            [
                (PermissionOptionKind::AllowAlways, "Trust this folder"),
                (PermissionOptionKind::RejectAlways, "Do not trust it"),
            ],
        ),
        None => (
            format!("changed-{}", files.collect::<Vec<_>>().join("-")),
            [
                (PermissionOptionKind::AllowOnce, "Start it as it is now"),
                (PermissionOptionKind::RejectOnce, "Reject"),
            ],
        ),
    };
    let texts: Vec<String> = fenced_about(question).into_iter().chain(programs_line(question)).collect();
    if texts.iter().map(String::len).sum::<usize>() > TEXT {
        return None;
    }
    let call = AcpToolCall {
        id,
        title: Some(start_title(question)),
        kind: (!question.folders.is_empty()).then_some(ToolKind::Other),
        status: Some(ToolCallStatus::Pending),
        texts: Some(texts),
        ..AcpToolCall::default()
    };
    match ask_shown((peer, session), call, &options).await {
        PermissionOutcome::Chosen(choice) => Some(is_yes(choice)),
        PermissionOutcome::Cancelled => None,
    }
}

/// Asks with a tool call as a separate row, which then shows the result of the question.
pub(super) async fn ask_shown(
    (peer, session): (&EditorConnection, &AcpSession),
    call: AcpToolCall,
    options: &[(PermissionOptionKind, &str)],
) -> PermissionOutcome {
    peer.update(&session.id, &SessionUpdate::ToolCall(call.clone()));
    let outcome = outcome((peer, session), &call, options).await;
    let agrees = matches!(outcome, PermissionOutcome::Chosen(choice) if is_yes(choice));
    let status = if agrees { ToolCallStatus::Completed } else { ToolCallStatus::Failed };
    let ended = AcpToolCall { id: call.id, status: Some(status), ..AcpToolCall::default() };
    peer.update(&session.id, &SessionUpdate::ToolCallUpdate(ended));
    outcome
}

async fn outcome(
    (peer, session): (&EditorConnection, &AcpSession),
    call: &AcpToolCall,
    options: &[(PermissionOptionKind, &str)],
) -> PermissionOutcome {
    let params = permission::params(&session.id, call, options);
    match peer.ask(permission::METHOD, &params).answer().await {
        Some(Ok(result)) => permission::outcome(&result, options),
        Some(Err(_)) | None => PermissionOutcome::Cancelled,
    }
}

fn is_yes(choice: PermissionOptionKind) -> bool {
    matches!(choice, PermissionOptionKind::AllowOnce | PermissionOptionKind::AllowAlways)
}

/// Passes an agent's question on to the editor.
pub async fn permit(
    (peer, session): (&EditorConnection, &AcpSession),
    agent: &str,
    question: &AgentQuestion,
) -> Result<PermissionReply> {
    let (title, text) = agent_text(agent, question);
    let mut options = vec![(PermissionOptionKind::AllowOnce, "Allow")];
    if question.offers_always {
        options.push((PermissionOptionKind::AllowAlways, "Always allow, as the agent defines it"));
    }
    options.push((PermissionOptionKind::RejectOnce, "Reject"));
    if text.len() > TEXT {
        return Ok(PermissionReply::Nobody);
    }
    let call = AcpToolCall {
        id: format!("agent-{}", question.number),
        title: Some(title),
        status: Some(ToolCallStatus::Pending),
        texts: Some(vec![text]),
        ..AcpToolCall::default()
    };
    Ok(match outcome((peer, session), &call, &options).await {
        PermissionOutcome::Chosen(PermissionOptionKind::AllowOnce) => PermissionReply::Once,
        PermissionOutcome::Chosen(PermissionOptionKind::AllowAlways) => PermissionReply::Always,
        PermissionOutcome::Chosen(PermissionOptionKind::RejectOnce | PermissionOptionKind::RejectAlways) => {
            PermissionReply::No
        }
        PermissionOutcome::Cancelled => PermissionReply::Nobody,
    })
}
