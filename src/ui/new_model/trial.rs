//! Tries a new model with one question. Nothing is stored.

use lepo_base::error::{Error, Result};
use lepo_base::role::Role;
use lepo_model::{
    ChatEvent, ChatMessage, ChatRequest, EmbeddedInstall, Gate, Model, ModelConfig, ModelFacts, ModelNotice,
    PermissionReply, Timeouts,
};
use lepo_turn::config::{Paths, Settings};
use lepo_turn::without_summary_hint;

const QUESTION: &str = "What is the capital of France?";

/// Asks a model the question, without waiting for the end of the answer. Returns the URL that answered, if it is
/// not the configured one.
pub async fn answers(
    config: &ModelConfig,
    settings: &Settings,
    paths: &Paths,
    installed: Option<EmbeddedInstall>,
) -> Result<Option<String>> {
    let mut model = client(config, settings, paths, installed)?;
    let messages = [ChatMessage::new(Role::User, QUESTION)];
    let request = ChatRequest { messages: &messages, ..ChatRequest::default() };
    let mut other = None;
    let mut listen = |notice| {
        if let ModelNotice::OtherAddress(_, right) = notice {
            other = Some(right);
        }
    };
    let mut answer = model.ask(request, &mut listen).await.map_err(without_summary_hint)?;
    loop {
        match answer.next().await.map_err(without_summary_hint)? {
            Some(ChatEvent::Text(text)) if !text.trim().is_empty() => return Ok(other),
            Some(ChatEvent::AgentAsks(question)) => answer.permit(question.number, PermissionReply::Nobody),
            Some(_) => {}
            None => return Err(Error::remote("the model's answer was empty")),
        }
    }
}

pub async fn list_models(
    config: &ModelConfig,
    settings: &Settings,
    paths: &Paths,
) -> Result<Vec<ModelFacts>> {
    client(config, settings, paths, None)?.offered_models().await
}

fn client(
    config: &ModelConfig,
    settings: &Settings,
    paths: &Paths,
    installed: Option<EmbeddedInstall>,
) -> Result<Model> {
    let gate = Gate::new();
    gate.open();
    let timeouts = Timeouts { connect: settings.http_connect, idle: settings.http_idle };
    Model::new(config, timeouts, &paths.state, gate, installed)
}
