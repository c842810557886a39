//! `lepo::model` against servers and programs that do what a test says, and no other.

mod failures;
mod gate;
mod ollama;
mod openai;
pub mod programs;
mod quirks;
mod refused;
mod thinking;

use std::future::Future;
use std::time::Duration;

use lepo_base::error::Error;
use lepo_base::hint::HintTarget;
use lepo_base::role::Role;
use lepo_base::secret::Secret;
use lepo_model::{ApiKey, ModelConfig, Provider};
use lepo_model::{ChatEvent, ChatMessage, ChatRequest, Gate, Model, ModelNotice, Timeouts};

use super::scripted::Server;

/// The key of every model here; it must turn up in no message.
const KEY: &str = "sk-canary";

/// Limits that a broken test runs into soon.
const TIMEOUTS: Timeouts = Timeouts { connect: Duration::from_secs(5), idle: Duration::from_secs(5) };

fn config(provider: Provider, base_url: &str) -> ModelConfig {
    ModelConfig {
        model: "test-1".into(),
        base_url: base_url.into(),
        key: ApiKey {
            value: Some(Secret::new(KEY)),
            looked_for: "TEST_KEY in the environment".into(),
            ..ApiKey::default()
        },
        is_active: true,
        ..ModelConfig::new("mine", provider)
    }
}

fn openai(server: &Server) -> ModelConfig {
    config(Provider::Openai, &format!("{}/v1", server.url()))
}

fn ollama(server: &Server) -> ModelConfig {
    config(Provider::Ollama, &server.url())
}

fn run<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}

fn opened() -> Gate {
    let gate = Gate::new();
    gate.open();
    gate
}

/// The result of one question: all events, and the ending.
struct Heard {
    events: Vec<ChatEvent>,
    error: Option<Error>,
    notices: Vec<ModelNotice>,
}

impl Heard {
    fn text(&self) -> String {
        let text = |event: &ChatEvent| match event {
            ChatEvent::Text(text) => Some(text.clone()),
            _ => None,
        };
        self.events.iter().filter_map(text).collect()
    }

    fn thinking(&self) -> String {
        let text = |event: &ChatEvent| match event {
            ChatEvent::Thinking(text) => Some(text.clone()),
            _ => None,
        };
        self.events.iter().filter_map(text).collect()
    }

    /// The failure, as a person reads it: message and hint. It must not hold the key.
    fn failure(&self) -> String {
        let error = self.error.as_ref().expect("it failed");
        let text = format!("{} | {}", error.chain(), error.hint_for(HintTarget::SHELL).unwrap_or_default());
        assert!(!text.contains(KEY), "the key is in {text}");
        text
    }

    /// The events of an answer that did not fail.
    fn whole(self) -> Vec<ChatEvent> {
        assert!(self.error.is_none(), "{}", self.failure());
        self.events
    }
}

async fn hear(model: &mut Model, request: ChatRequest<'_>) -> Heard {
    let mut notices = Vec::new();
    let mut note = |notice| notices.push(notice);
    let mut heard = Heard { events: Vec::new(), error: None, notices: Vec::new() };
    match model.ask(request, &mut note).await {
        Err(error) => heard.error = Some(error),
        Ok(mut answer) => loop {
            match answer.next().await {
                Ok(Some(event)) => heard.events.push(event),
                Ok(None) => break,
                Err(error) => {
                    heard.error = Some(error);
                    assert!(matches!(answer.next().await, Ok(None)), "a failure ends the answer");
                    break;
                }
            }
        },
    }
    heard.notices = notices;
    heard
}

/// Asks a fresh model one request.
fn ask_request(config: &ModelConfig, timeouts: Timeouts, request: ChatRequest<'_>) -> Heard {
    let state = tempfile::tempdir().unwrap();
    run(async {
        let mut model = Model::new(config, timeouts, state.path(), opened(), None).unwrap();
        hear(&mut model, request).await
    })
}

/// Asks a fresh model one question.
fn ask(config: &ModelConfig) -> Heard {
    let messages = [ChatMessage::new(Role::User, "why?")];
    ask_request(config, TIMEOUTS, ChatRequest { messages: &messages, ..ChatRequest::default() })
}
