//! Talking to a model: one request in, one stream of events out. Knows no bubbs and no terminal.
//!
//! Each provider is a file or folder with its [`ProviderSpec`](spec::ProviderSpec): what is sent, and how what comes back is
//! read. All that may fail or be asked again before the first token is in `remote`.

mod accepts;
mod address;
mod answer;
mod anthropic;
mod body;
mod catalog;
mod cli;
mod config;
mod credit;
mod embedded;
mod error_text;
mod event;
mod forms;
mod gate;
mod http;
mod kept;
mod key;
mod lookup;
mod media;
mod memory;
mod message;
mod meter;
mod ollama;
mod openai;
mod options;
mod overflow;
mod payload;
mod planner;
mod preset;
mod price;
mod probe;
mod process;
mod provider;
mod quirks;
mod refusal;
mod remote;
mod replay;
mod request_log;
mod responses;
mod retry;
mod spec;
mod sse_answer;
mod text;
mod thinking;
mod utf8;
mod web;
pub mod weights;
mod well_formed;
#[cfg(fuzzing)]
mod wire;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

pub use accepts::accepts;
pub use address::{BASE_URL_FORM, base_url, ollama_url};
pub use answer::Answer;
pub use catalog::{ModelFacts, known_window, offered_before};
pub use config::{AnswerForm, Key, ModelConfig};
pub use embedded::{Installed, embedded_program};
pub use event::{Event, Finish, Usage};
pub use gate::Gate;
pub use media::IMAGES;
pub use media::{Accepts, MediaFile, encoded_len};
pub use message::{Message, Request, Role, Schema, ToolCall, ToolSpec};
pub use meter::{Meter, Planned, Taken};
pub use options::Options;
pub use planner::Planner;
pub use preset::{PRESETS, preset};
pub use price::Price;
pub use probe::first_ollama_model;
pub use provider::{Fields, OPENAI_URL, Provider, ServerFacts, Wire};
pub use replay::{Origin, Replay};
pub use spec::{PathForm, ToolWire, spec};
pub use text::Text;
pub use utf8::Utf8;
pub use web::{Citation, WebCall};
#[cfg(fuzzing)]
pub use wire::{StreamForm, read_pieces};

use answer::{Again, Source};
use embedded::Embedded;
use error_text::{hide_key, without_key};
use http::Http;
use lepo_base::error::{Error, Result};
use meter::Metered;
use remote::Remote;
use request_log::RequestLog;

/// The temperature of every request that says none.
const TEMPERATURE: f64 = 0.1;

/// The temperature that a model is asked with.
fn temperature(config: &ModelConfig) -> serde_json::Value {
    config.options.temperature.clone().map_or_else(|| TEMPERATURE.into(), serde_json::Value::Number)
}

/// The time limits of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeouts {
    /// To open a connection.
    pub connect: Duration,
    /// To say something, at first and between any two pieces of an answer.
    pub idle: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Timeouts { connect: Duration::from_secs(10), idle: Duration::from_secs(120) }
    }
}

/// A model that can be asked, with what it keeps between questions: connections, a running program.
pub struct Model {
    config: ModelConfig,
    timeouts: Timeouts,
    gate: Gate,
    backend: Backend,
    meter: Option<Arc<dyn Meter>>,
}

enum Backend {
    Http(Box<Remote>),
    Cli,
    Embedded(Box<Embedded>),
}

impl Model {
    /// Prepares the model that `config` names; nothing is connected or started yet.
    ///
    /// `state_dir` is where what models turn out not to take is remembered. `gate` holds every
    /// request back until it is open. `installed` is needed for the embedded model only.
    ///
    /// # Errors
    /// [`Kind::Usage`](lepo_base::error::Kind::Usage) for a `base_url` or key that cannot be used, and
    /// for an embedded model that is not installed.
    pub fn new(
        config: &ModelConfig,
        timeouts: Timeouts,
        state_dir: &Path,
        gate: Gate,
        installed: Option<Installed>,
    ) -> Result<Self> {
        let mut config = config.clone();
        config.key = key::resolve(config.key)?;
        let config = &config;
        let spec = spec(config);
        let backend = match (spec.http, spec.path) {
            (Some(api), _) => {
                let http = Http::new(config, api, timeouts, gate.clone())?;
                Backend::Http(Box::new(Remote::new(http, api, config, state_dir)))
            }
            (None, PathForm::Plain) => Backend::Embedded(Box::new(Embedded::new(
                installed.ok_or_else(|| missing(&config.model))?,
                config,
                timeouts,
            ))),
            (None, _) => Backend::Cli,
        };
        Ok(Model { config: config.clone(), timeouts, gate, backend, meter: None })
    }

    /// The model as it is configured.
    pub fn config(&self) -> &ModelConfig {
        &self.config
    }

    /// Every request asks this meter first.
    pub fn set_meter(&mut self, meter: Option<Arc<dyn Meter>>) {
        self.meter = meter;
    }

    /// True if the server is not known to refuse native tools.
    pub fn takes_tools(&self) -> bool {
        match &self.backend {
            Backend::Http(remote) => remote.takes_tools(),
            Backend::Cli | Backend::Embedded(_) => true,
        }
    }

    /// The server's facts of the model; none of a program. Asked at most once an hour.
    pub async fn facts(&mut self) -> ModelFacts {
        match &mut self.backend {
            Backend::Http(remote) => remote.facts().await,
            Backend::Cli | Backend::Embedded(_) => ModelFacts::default(),
        }
    }

    /// The models that the server offers, asked at most once an hour; none of a program.
    ///
    /// # Errors
    /// [`Kind::Remote`](lepo_base::error::Kind::Remote) if the server cannot be reached or does not tell.
    pub async fn offered(&mut self) -> Result<Vec<ModelFacts>> {
        match &mut self.backend {
            Backend::Http(remote) => remote.offered().await,
            Backend::Cli | Backend::Embedded(_) => Ok(Vec::new()),
        }
    }

    /// Sends a request, and gives the answer as soon as it begins. `notice` receives messages for the user
    /// meanwhile: that the request is sent again, and why.
    ///
    /// Dropping the future, or the answer before its end, cancels the request.
    ///
    /// # Errors
    /// [`Kind::Remote`](lepo_base::error::Kind::Remote) for everything that fails on the way; the key
    /// and the query of a URL are in no message.
    pub async fn ask<'m>(
        &'m mut self,
        request: Request<'m>,
        notice: &mut dyn FnMut(&str),
    ) -> Result<Answer<'m>> {
        let key = self.config.key.value.clone();
        let begin = |meter| Metered::begin(meter, &self.config, &request);
        let metered = self.meter.as_ref().map(begin).transpose()?;
        let mut log = RequestLog::begin(&self.config.name);
        let asked: Result<Source<'_>> = match &mut self.backend {
            Backend::Http(remote) => {
                let model = &self.config.name;
                let mut warn = |text: &str| {
                    let text = hide_key(text, key.as_ref());
                    tracing::warn!(model, said = &*text, "request");
                    notice(&text);
                };
                match remote.ask(request, &mut warn).await {
                    Ok(begun) => {
                        let again = Again { remote, request, said: None, pauses: 0 };
                        return Ok(Answer::begun(begun, key, log, again).metered(metered));
                    }
                    Err(error) => Err(error),
                }
            }
            Backend::Cli => {
                self.gate.passed().await;
                cli::Run::start(&self.config, request, self.timeouts).map(|run| Source::Cli(Box::new(run)))
            }
            Backend::Embedded(embedded) => embedded.ask(request, &self.gate).await.map(Source::Embedded),
        };
        match asked {
            Ok(source) => Ok(Answer::new(source, key, log).metered(metered)),
            Err(error) => {
                let error = without_key(error, key.as_ref());
                log.failed(&error);
                Err(error)
            }
        }
    }
}

/// The error of an embedded model without its program.
pub fn program_missing() -> Error {
    Error::usage("the program lepo-embedded, which runs the embedded model, is not installed")
        .hint("it comes with the packages of lepo; from source: cargo install --path crates/lepo-embedded")
}

/// The error of an embedded model without weights or program, by its name where it has one.
pub fn missing(name: &str) -> Error {
    if embedded_program().is_none() {
        return program_missing();
    }
    if name.is_empty() || name == weights::SMOLLM2.name {
        return Error::usage("the embedded model is not installed").hint("`lepo model get` fetches it");
    }
    Error::usage(format!("the embedded model {name} is not installed")).hint_at(|place| {
        let models = place.models();
        format!("{models} lists those that are; `lepo model add FILE --sha256 HASH --name {name}` adds it")
    })
}
