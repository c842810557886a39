//! The embedded model: a separate program that reads and writes one JSON object a line.
//!
//! in `{"messages":[{"role","content"}],"temperature","max_tokens"}`; out
//! `{"event":"notice"|"text"|"usage"|"done"|"error", …}`. The program is started before the question may be sent,
//! because loading the weights takes half a second.

use std::path::PathBuf;

use bytes::Bytes;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::config::Timeouts;
use super::error_text::excerpt;
use super::event::{ChatEvent, EventQueue, FinishReason, Usage};
use super::gate::Gate;
use super::media::FileSupport;
use super::message::ChatRequest;
use super::notice::ModelNotice;
use super::process::ModelProcess;
use super::provider_spec::{ConversationFormat, ProviderSpec, ToolFormat};
use crate::config::ModelConfig;
use crate::provider_spec::Planner;
use lepo_base::error::{Error, ExitKind, Result};
use lepo_base::hint::{Hint, HintCommand};
use lepo_base::search_path::own_program;
use lepo_net::client::LineSplitter;
use lepo_process::{Program, environment};

pub(super) static SPEC: ProviderSpec = ProviderSpec {
    tools: ToolFormat::Prompt,
    planner: Planner::Off,
    path: ConversationFormat::Plain,
    attachments: FileSupport::NOTHING,
    own_tools: false,
    http: None,
};

const NAME: &str = "lepo-embedded";

/// The files of the embedded model.
#[derive(Debug, Clone)]
pub struct EmbeddedInstall {
    /// The program; see [`embedded_program`].
    pub program: PathBuf,
    /// The weights of the model, a GGUF file.
    pub weights: PathBuf,
    /// The name of the weights for messages if their file temporarily has another name.
    pub named: Option<String>,
}

/// Finds the program `lepo-embedded`: next to the running executable, else in `PATH`.
pub fn embedded_program() -> Option<PathBuf> {
    own_program(NAME)
}

/// The program, which runs on between answers.
pub(super) struct EmbeddedModel {
    installed: EmbeddedInstall,
    process: Option<ModelProcess>,
    timeouts: Timeouts,
    /// The parameters of every request.
    asked_with: Map<String, Value>,
}

impl EmbeddedModel {
    /// Creates the model without starting the program.
    pub fn new(installed: EmbeddedInstall, config: &ModelConfig, timeouts: Timeouts) -> Self {
        let mut asked_with = Map::new();
        asked_with.insert("temperature".into(), config.temperature());
        asked_with.extend(config.options.max_tokens.map(|most| ("max_tokens".into(), most.into())));
        EmbeddedModel { installed, process: None, timeouts, asked_with }
    }

    /// Starts the program if it is not running, and sends the question once the gate is open.
    pub async fn ask(&mut self, request: ChatRequest<'_>, gate: &Gate) -> Result<EmbeddedAnswer<'_>> {
        if !self.process.as_mut().is_some_and(ModelProcess::is_alive) {
            let weights = self.installed.weights.to_string_lossy().into_owned();
            let named = self.installed.named.iter().flat_map(|name| ["--named".to_owned(), name.clone()]);
            let arguments: Vec<String> = ["--weights".to_owned(), weights].into_iter().chain(named).collect();
            let program = &self.installed.program;
            let prepared = Program::new(program, environment(|_| false)).args(arguments).with_stdin();
            self.process = Some(ModelProcess::start(&program.to_string_lossy(), prepared)?);
        }
        gate.wait_open().await;
        let messages: Vec<_> =
            request.messages.iter().map(|m| json!({"role": m.role.as_str(), "content": &*m.text})).collect();
        let mut asked = self.asked_with.clone();
        asked.insert("messages".into(), messages.into());
        let line = Value::Object(asked).to_string() + "\n";
        tracing::debug!(model = "embedded", request = line, "request");
        if let Some(process) = &mut self.process {
            process.send(Bytes::from(line), true);
        }
        Ok(EmbeddedAnswer { model: self, lines: LineSplitter::default(), is_done: false })
    }
}

/// An answer in progress. Dropping it before its end ends the program.
pub(super) struct EmbeddedAnswer<'m> {
    model: &'m mut EmbeddedModel,
    lines: LineSplitter,
    is_done: bool,
}

impl EmbeddedAnswer<'_> {
    /// Waits for the next events.
    pub async fn read_more(&mut self, events: &mut EventQueue) -> Result<()> {
        let EmbeddedAnswer { model, lines, is_done } = self;
        let Some(process) = &mut model.process else {
            return Err(Error::remote("the embedded model has exited"));
        };
        match process.read(model.timeouts.idle).await? {
            Some(bytes) => lines.feed(&bytes, |line| {
                *is_done |= parse_line(line, events)?;
                Ok(())
            }),
            None => Err(process.exit_error()),
        }
    }
}

impl Drop for EmbeddedAnswer<'_> {
    fn drop(&mut self) {
        if !self.is_done {
            self.model.process = None;
        }
    }
}

#[derive(Deserialize)]
#[serde(tag = "event", rename_all = "lowercase")]
enum ProgramEvent {
    Notice {
        text: String,
    },
    Text {
        text: String,
    },
    Usage {
        input: Option<u64>,
        output: Option<u64>,
    },
    Done {
        reason: String,
    },
    Error {
        message: String,
        #[serde(default)]
        too_long: bool,
    },
}

/// Parses a line of output; returns whether it is the last line of the answer.
fn parse_line(line: &[u8], events: &mut EventQueue) -> Result<bool> {
    let program_event = serde_json::from_slice(line)
        .map_err(|_| Error::remote(format!("unexpected output of the embedded model: {}", excerpt(line))))?;
    let event = match program_event {
        ProgramEvent::Notice { text } => ChatEvent::Notice(ModelNotice::Program(text)),
        ProgramEvent::Text { text } => ChatEvent::Text(text),
        ProgramEvent::Usage { input, output } => {
            ChatEvent::Usage(Usage { input, output, ..Usage::default() })
        }
        ProgramEvent::Done { reason } => ChatEvent::Done(FinishReason::from_word(&reason)),
        ProgramEvent::Error { message, too_long: true } => {
            return Err(Error::new(ExitKind::Overflow, excerpt(message.as_bytes())).hint(
                Hint::from("ask with less text, or a model with a larger window: ")
                    .command(HintCommand::OtherModel),
            ));
        }
        ProgramEvent::Error { message, .. } => {
            return Err(Error::remote(format!("the embedded model failed: {}", excerpt(message.as_bytes()))));
        }
    };
    let last = matches!(event, ChatEvent::Done(_));
    events.push_back(event);
    Ok(last)
}

/// Returns the error for an embedded model without its program.
pub fn program_missing() -> Error {
    Error::usage("the program lepo-embedded, which runs the embedded model, is not installed")
        .hint("it comes with the packages of lepo; from source: cargo install --path crates/lepo-embedded")
}

/// Returns the error for an embedded model without weights or program; `name` may be empty.
pub fn missing_weights(name: &str) -> Error {
    if embedded_program().is_none() {
        return program_missing();
    }
    if name.is_empty() || name == crate::weights::SMOLLM2.name {
        return Error::usage("the embedded model is not installed").hint("`lepo model get` fetches it");
    }
    Error::usage(format!("the embedded model {name} is not installed")).hint(
        Hint::from(HintCommand::Models)
            .text(" lists those that are; ")
            .command(HintCommand::Lepo(format!("model add FILE --sha256 HASH --name {name}")))
            .text(" adds it"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_that_is_too_long_is_no_failure_that_may_pass() {
        for (line, kind) in [
            (r#"{"event":"error","message":"no"}"#, ExitKind::Remote),
            (r#"{"event":"error","message":"no","too_long":true}"#, ExitKind::Overflow),
        ] {
            let error = parse_line(line.as_bytes(), &mut EventQueue::new()).unwrap_err();
            assert_eq!(error.kind, kind);
            assert_eq!(error.hint.is_some(), kind == ExitKind::Overflow, "{line}");
        }
    }
}
