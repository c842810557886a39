//! Asks for permission to run a request: the editor asks the user.

use super::peer::Peer;
use super::session::Session;
use crate::ui::{about_words, agent_words, permission_words, programs_line, start_title};
use lepo_acp::TEXT;
use lepo_acp::permission::{self, Choice, Outcome};
use lepo_acp::update::{Status, ToolCall, ToolKind, Update, Voice};
use lepo_base::error::Result;
use lepo_model::{AgentQuestion, Permit};
use lepo_store::bubb::BubbId;
use lepo_tool::{Proposal, Reply};
use lepo_turn::{ChangedProgram, StartQuestion};

pub struct Asked {
    /// The user's reply.
    pub reply: Reply,
    /// Whether the editor left the question unanswered, or withdrew it.
    pub withdrew: bool,
}

/// Asks about one request. If the editor cannot ask, or does not answer, the request stays pending.
pub async fn ask(
    (peer, session): (&Peer, &Session),
    open: Option<BubbId>,
    proposal: &Proposal,
) -> Result<Asked> {
    let words = permission_words(proposal);
    let nobody = Asked { reply: Reply::NoTerminal, withdrew: false };
    let Some(open) = open else { return Ok(nobody) };
    if words.text.len() > TEXT {
        let said = "The request is too long to be shown here: decide on it in a terminal.\n";
        peer.say(&session.id, Voice::Agent, said);
        return Ok(nobody);
    }
    let mut options = vec![(Choice::AllowOnce, "Allow")];
    if words.may_be_kept {
        options.push((Choice::AllowAlways, "Allow for this session"));
    }
    options.push((Choice::RejectOnce, "Reject"));
    let call = ToolCall {
        id: open.to_string(),
        title: Some(words.title),
        status: Some(Status::Pending),
        texts: Some(vec![words.text]),
        ..ToolCall::default()
    };
    let params = permission::params(&session.id, &call, &options);
    let answer = peer.ask(permission::METHOD, &params).answer().await;
    session.state.borrow_mut().asks_again = false;
    let outcome = match &answer {
        Some(Ok(result)) => permission::outcome(result, &options),
        // The editor cannot ask a user.
        Some(Err(_)) => return Ok(nobody),
        None => Outcome::Cancelled,
    };
    let reply = match outcome {
        Outcome::Chosen(Choice::AllowOnce) => Reply::Yes,
        Outcome::Chosen(Choice::AllowAlways) => Reply::Always,
        Outcome::Chosen(Choice::RejectOnce | Choice::RejectAlways) => Reply::No,
        Outcome::Cancelled => return Ok(Asked { withdrew: true, ..nobody }),
    };
    Ok(Asked { reply, withdrew: false })
}

/// Asks whether programs of the user may start: in a new folder, or although their files have changed. `None` if
/// the editor cannot ask, or does not answer.
pub async fn agree_to_start((peer, session): (&Peer, &Session), question: &StartQuestion) -> Option<bool> {
    let files = question.changed.iter().map(ChangedProgram::identity);
    let (id, options) = match question.folders.first() {
        Some(first) => (
            format!("trust-{}", first.folder.identity.chars().take(12).collect::<String>()),
            [(Choice::AllowAlways, "Trust this folder"), (Choice::RejectAlways, "Do not trust it")],
        ),
        None => (
            format!("changed-{}", files.collect::<Vec<_>>().join("-")),
            [(Choice::AllowOnce, "Start it as it is now"), (Choice::RejectOnce, "Reject")],
        ),
    };
    let texts: Vec<String> = about_words(question).into_iter().chain(programs_line(question)).collect();
    if texts.iter().map(String::len).sum::<usize>() > TEXT {
        return None;
    }
    let call = ToolCall {
        id,
        title: Some(start_title(question)),
        kind: (!question.folders.is_empty()).then_some(ToolKind::Other),
        status: Some(Status::Pending),
        texts: Some(texts),
        ..ToolCall::default()
    };
    match ask_shown((peer, session), call, &options).await {
        Outcome::Chosen(choice) => Some(is_yes(choice)),
        Outcome::Cancelled => None,
    }
}

/// Asks with a tool call as a separate row, which then shows the result of the question.
pub(super) async fn ask_shown(
    (peer, session): (&Peer, &Session),
    call: ToolCall,
    options: &[(Choice, &str)],
) -> Outcome {
    peer.update(&session.id, &Update::ToolCall(call.clone()));
    let outcome = outcome((peer, session), &call, options).await;
    let agrees = matches!(outcome, Outcome::Chosen(choice) if is_yes(choice));
    let status = if agrees { Status::Completed } else { Status::Failed };
    let ended = ToolCall { id: call.id, status: Some(status), ..ToolCall::default() };
    peer.update(&session.id, &Update::ToolUpdate(ended));
    outcome
}

async fn outcome((peer, session): (&Peer, &Session), call: &ToolCall, options: &[(Choice, &str)]) -> Outcome {
    let params = permission::params(&session.id, call, options);
    match peer.ask(permission::METHOD, &params).answer().await {
        Some(Ok(result)) => permission::outcome(&result, options),
        Some(Err(_)) | None => Outcome::Cancelled,
    }
}

fn is_yes(choice: Choice) -> bool {
    matches!(choice, Choice::AllowOnce | Choice::AllowAlways)
}

/// Passes an agent's question on to the editor.
pub async fn permit(
    (peer, session): (&Peer, &Session),
    agent: &str,
    question: &AgentQuestion,
) -> Result<Permit> {
    let (title, text) = agent_words(agent, question);
    let mut options = vec![(Choice::AllowOnce, "Allow")];
    if question.offers_always {
        options.push((Choice::AllowAlways, "Always allow, as the agent defines it"));
    }
    options.push((Choice::RejectOnce, "Reject"));
    if text.len() > TEXT {
        return Ok(Permit::Nobody);
    }
    let call = ToolCall {
        id: format!("agent-{}", question.number),
        title: Some(title),
        status: Some(Status::Pending),
        texts: Some(vec![text]),
        ..ToolCall::default()
    };
    Ok(match outcome((peer, session), &call, &options).await {
        Outcome::Chosen(Choice::AllowOnce) => Permit::Once,
        Outcome::Chosen(Choice::AllowAlways) => Permit::Always,
        Outcome::Chosen(Choice::RejectOnce | Choice::RejectAlways) => Permit::No,
        Outcome::Cancelled => Permit::Nobody,
    })
}
