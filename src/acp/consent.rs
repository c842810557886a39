//! The question for permission before a request is carried out: the editor asks the person.

use super::peer::Peer;
use super::session::Session;
use crate::ui::{
    agent_words, changed_words, in_fence, permission_words, programs_line, trust_line, words_text,
};
use lepo_acp::TEXT;
use lepo_acp::permission::{self, Choice, Outcome};
use lepo_acp::update::{Status, ToolCall, ToolKind, Update, Voice};
use lepo_base::error::Result;
use lepo_model::{AgentQuestion, Permit};
use lepo_store::bubb::BubbId;
use lepo_tool::{Proposal, Reply};
use lepo_turn::ChangedProgram;
use lepo_turn::config::FolderQuestion;

/// The outcome of a question.
pub struct Asked {
    /// The reply of the person.
    pub reply: Reply,
    /// The editor left the question unanswered, or withdrew it.
    pub withdrew: bool,
}

/// Asks about one request. An editor that cannot ask, or leaves the question, leaves the request waiting.
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
        // It has nobody to ask.
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

/// Asks whether programs of the user's may start in a folder. `None` if the editor has nobody to ask, or leaves the
/// question.
pub async fn trust_folder((peer, session): (&Peer, &Session), question: &FolderQuestion) -> Option<bool> {
    let options = [(Choice::AllowAlways, "Trust this folder"), (Choice::RejectAlways, "Do not trust it")];
    let call = ToolCall {
        id: format!("trust-{}", question.folder.identity.chars().take(12).collect::<String>()),
        title: Some(trust_line(question)),
        kind: Some(ToolKind::Other),
        status: Some(Status::Pending),
        texts: Some(
            words_text(question)
                .map(|text| in_fence(&text))
                .into_iter()
                .chain([programs_line(question)])
                .collect(),
        ),
        ..ToolCall::default()
    };
    peer.update(&session.id, &Update::ToolCall(call.clone()));
    let params = permission::params(&session.id, &call, &options);
    let answer = match peer.ask(permission::METHOD, &params).answer().await {
        Some(Ok(result)) => match permission::outcome(&result, &options) {
            Outcome::Chosen(choice) => Some(choice == Choice::AllowAlways),
            Outcome::Cancelled => None,
        },
        Some(Err(_)) | None => None,
    };
    let status = if answer == Some(true) { Status::Completed } else { Status::Failed };
    let ended = ToolCall { id: call.id, status: Some(status), ..ToolCall::default() };
    peer.update(&session.id, &Update::ToolUpdate(ended));
    answer
}

/// Hands a question of an agent on to the editor.
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
    let params = permission::params(&session.id, &call, &options);
    let outcome = match peer.ask(permission::METHOD, &params).answer().await {
        Some(Ok(result)) => permission::outcome(&result, &options),
        Some(Err(_)) | None => Outcome::Cancelled,
    };
    Ok(match outcome {
        Outcome::Chosen(Choice::AllowOnce) => Permit::Once,
        Outcome::Chosen(Choice::AllowAlways) => Permit::Always,
        Outcome::Chosen(Choice::RejectOnce | Choice::RejectAlways) => Permit::No,
        Outcome::Cancelled => Permit::Nobody,
    })
}

/// Asks whether a program is started though its files changed; `None` if the editor cannot ask, or leaves the question.
pub async fn agree_to_files(
    (peer, session): (&Peer, &Session),
    changed: &ChangedProgram,
) -> Result<Option<bool>> {
    let (title, text) = changed_words(changed);
    if text.len() > TEXT {
        return Ok(None);
    }
    let options = [(Choice::AllowOnce, "Start it as it is now"), (Choice::RejectOnce, "Reject")];
    let call = ToolCall {
        id: format!("changed-{}", changed.identity()),
        title: Some(title),
        status: Some(Status::Pending),
        texts: Some(vec![text]),
        ..ToolCall::default()
    };
    peer.update(&session.id, &Update::ToolCall(call.clone()));
    let params = permission::params(&session.id, &call, &options);
    let outcome = match peer.ask(permission::METHOD, &params).answer().await {
        Some(Ok(result)) => permission::outcome(&result, &options),
        Some(Err(_)) | None => Outcome::Cancelled,
    };
    let answer = match outcome {
        Outcome::Chosen(choice) => Some(matches!(choice, Choice::AllowOnce | Choice::AllowAlways)),
        Outcome::Cancelled => None,
    };
    let status = if answer == Some(true) { Status::Completed } else { Status::Failed };
    let ended = ToolCall { id: call.id, status: Some(status), ..ToolCall::default() };
    peer.update(&session.id, &Update::ToolUpdate(ended));
    Ok(answer)
}
