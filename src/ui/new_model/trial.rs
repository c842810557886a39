//! Tries a new model with one question. Nothing is stored.

use lepo_base::error::{Error, Result};
use lepo_model::{
    Event, Gate, Installed, Message, Model, ModelConfig, ModelFacts, Notice, Permit, Request, Role, Timeouts,
};
use lepo_turn::config::{Paths, Settings};

const QUESTION: &str = "What is the capital of France?";

/// Asks a model the question, without waiting for the end of the answer. Returns the URL that answered, if it is
/// not the configured one.
pub async fn answers(
    config: &ModelConfig,
    settings: &Settings,
    paths: &Paths,
    installed: Option<Installed>,
) -> Result<Option<String>> {
    let mut model = client(config, settings, paths, installed)?;
    let messages = [Message::new(Role::User, QUESTION)];
    let request = Request { messages: &messages, ..Request::default() };
    let mut other = None;
    let mut listen = |notice| {
        if let Notice::OtherAddress(_, right) = notice {
            other = Some(right);
        }
    };
    let mut answer = model.ask(request, &mut listen).await?;
    loop {
        match answer.next().await? {
            Some(Event::Text(text)) if !text.trim().is_empty() => return Ok(other),
            Some(Event::AgentAsks(question)) => answer.permit(question.number, Permit::Nobody),
            Some(_) => {}
            None => return Err(Error::remote("the model's answer was empty")),
        }
    }
}

pub async fn offered(config: &ModelConfig, settings: &Settings, paths: &Paths) -> Result<Vec<ModelFacts>> {
    client(config, settings, paths, None)?.offered().await
}

fn client(
    config: &ModelConfig,
    settings: &Settings,
    paths: &Paths,
    installed: Option<Installed>,
) -> Result<Model> {
    let gate = Gate::new();
    gate.open();
    let timeouts = Timeouts { connect: settings.http_connect, idle: settings.http_idle };
    Model::new(config, timeouts, &paths.state, gate, installed)
}
