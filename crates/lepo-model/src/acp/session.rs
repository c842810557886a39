//! The agent's session for a question: the session that already has the conversation before it, or else a new one, which
//! gets the conversation as text.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};

use super::agent::AgentLaunch;
use super::{AgentAnswer, AgentProcess, pool};
use crate::agent_types::{AgentContext, AgentSandboxer};
use crate::config::{ModelConfig, Timeouts};
use crate::event::ChatEvent;
use crate::gate::Gate;
use crate::message::{ChatMessage, ChatRequest};
use crate::message_layout::prompt_text;
use crate::model_facts::ModelFacts;
use crate::notice::ModelNotice;
use crate::start::ModelFolders;
use lepo_acp::client;
use lepo_acp::content::ContentBlock;
use lepo_base::error::{Error, Result};
use lepo_base::hint::{Hint, HintCommand};
use lepo_base::role::Role;

/// Asks a question: starts the agent while the question is made durable, finds its session, and sends the prompt.
pub async fn start_prompt(
    config: &ModelConfig,
    request: ChatRequest<'_>,
    timeouts: Timeouts,
    gate: &Gate,
    (sandboxer, folders): (Option<&dyn AgentSandboxer>, &ModelFolders),
) -> Result<AgentAnswer> {
    let dir = match request.agent.dir {
        Some(dir) => dir.to_path_buf(),
        None => std::env::current_dir().unwrap_or_else(|_| PathBuf::from("/")),
    };
    let start = folders.start_in(&dir);
    let launch = AgentLaunch {
        config,
        dir: &dir,
        start: &start,
        compare: &folders.compare_files,
        idle: timeouts.idle,
        sandboxer,
    };
    let (mut agent, note) = pool::acquire(launch, request.agent.session).await?;
    let messages: Vec<ChatMessage> =
        request.messages.iter().filter(|message| !message.instruction).cloned().collect();
    let has_files = messages.iter().any(|message| !message.files.is_empty());
    if has_files && !agent.can.image {
        return Err(Error::usage(format!("{} does not accept images", config.name))
            .hint(Hint::from("leave them out, or ask another model: ").command(HintCommand::OtherModel)));
    }
    gate.wait_open().await;
    let mut events: VecDeque<ChatEvent> = note.into_iter().map(ChatEvent::Notice).collect();
    let (session, is_continued) = open(&mut agent, request.agent, &dir, config).await?;
    let new_messages = if is_continued { since_answer(&messages) } else { &messages };
    if !is_continued && messages.iter().any(|message| message.role == Role::Assistant) {
        events.push_back(ChatEvent::Notice(ModelNotice::SentAsText(config.name.clone())));
    }
    events.push_back(ChatEvent::AgentSession(session.clone()));
    let prompt = prompt_blocks(new_messages)?;
    tracing::debug!(model = config.name, session, "prompt");
    let id = agent.request(&client::prompt(&session, prompt));
    Ok(AgentAnswer::new(agent, session, id, events))
}

/// Opens the session to ask in; returns its id, and whether it contains the conversation.
async fn open(
    agent: &mut AgentProcess,
    context: AgentContext<'_>,
    dir: &Path,
    config: &ModelConfig,
) -> Result<(String, bool)> {
    let folder = dir.to_string_lossy();
    if let Some(session) = context.session
        && context.forks
        && agent.can.fork
    {
        match agent.call(&client::fork(session, &folder)).await {
            Ok(fork_reply) => {
                if let Some(fork) = client::session_id(&fork_reply).filter(|fork| fork != session) {
                    agent.open.insert(fork.clone());
                    return Ok((fork, true));
                }
            }
            Err(error) if !agent.is_alive() => return Err(error),
            // The agent no longer has this session.
            Err(_) => {}
        }
    }
    if let Some(session) = context.session.filter(|_| !context.forks) {
        if agent.open.contains(session) {
            return Ok((session.to_owned(), true));
        }
        if let Some(request) = agent.can.reopen(session, &folder) {
            match agent.call(&request).await {
                Ok(_) => {
                    agent.open.insert(session.to_owned());
                    return Ok((session.to_owned(), true));
                }
                Err(error) if !agent.is_alive() => return Err(error),
                // The agent no longer has this session.
                Err(_) => {}
            }
        }
    }
    let reply = agent.call(&client::new_session(&folder)).await?;
    let session = client::session_id(&reply)
        .ok_or_else(|| Error::remote(format!("{} did not open a session", config.name)))?;
    agent.open.insert(session.clone());
    Ok((session, false))
}

/// Returns the messages after the last answer: the question, and anything put before it.
fn since_answer(messages: &[ChatMessage]) -> &[ChatMessage] {
    let last = messages.iter().rposition(|message| message.role == Role::Assistant);
    messages.get(last.map_or(0, |last| last + 1)..).unwrap_or_default()
}

/// Returns the blocks of a prompt: the text, then the images.
fn prompt_blocks(messages: &[ChatMessage]) -> Result<Vec<ContentBlock>> {
    let mut blocks = vec![ContentBlock::text(prompt_text(messages))];
    for file in messages.iter().flat_map(|message| &message.files) {
        let mut data = Vec::new();
        for piece in file.clone().encoded() {
            let piece =
                piece.map_err(|error| Error::usage(format!("cannot read {}", file.name)).because(error))?;
            data.extend_from_slice(&piece);
        }
        let data = String::from_utf8_lossy(&data).into_owned();
        blocks.push(ContentBlock::Image { mime: file.media.mime().to_string(), data });
    }
    Ok(blocks)
}

/// Returns the models that an agent lists for a new session.
pub async fn offered_models(
    config: &ModelConfig,
    timeouts: Timeouts,
    sandboxer: Option<&dyn AgentSandboxer>,
    folders: &ModelFolders,
) -> Result<Vec<ModelFacts>> {
    let dir = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("/"));
    let start = folders.start_in(&dir);
    let launch = AgentLaunch {
        config,
        dir: &dir,
        start: &start,
        compare: &folders.compare_files,
        idle: timeouts.idle,
        sandboxer,
    };
    let (mut agent, _) = pool::acquire(launch, None).await?;
    let reply = agent.call(&client::new_session(&dir.to_string_lossy())).await?;
    let facts = |id: String| ModelFacts { id, ..ModelFacts::default() };
    Ok(client::models(&reply).into_iter().map(facts).collect())
}
