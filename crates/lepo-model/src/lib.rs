//! Requests to a model: one request in, one stream of events out. Independent of bubbs and terminals.
//!
//! Each provider is a file or folder with its [`ProviderSpec`](provider_spec::ProviderSpec): how requests are written,
//! and how answers are parsed. Failures and retries before the first token are handled in `remote`.

mod acp;
mod address;
mod agent_types;
mod answer;
mod answer_log;
mod answer_reader;
mod anthropic;
mod arguments;
mod base_path;
mod body_context;
#[cfg(test)]
mod body_tests;
mod cache;
mod call_layout;
mod call_pieces;
mod cli;
mod config;
mod echoed_input;
mod embedded;
mod error_text;
mod event;
mod failure;
mod field_quirks;
mod file_support;
#[cfg(fuzzing)]
mod fuzz_entry;
mod gate;
mod harmony;
mod headers;
mod http;
mod key;
mod lookup;
mod loose_fields;
mod media;
mod merge;
mod message;
mod message_layout;
mod meter;
mod model_facts;
mod notice;
mod ollama;
mod openai;
mod openai_catalog;
mod options;
mod origin;
mod payload;
mod process;
mod provider;
mod provider_spec;
mod proxy;
mod quirk_file;
mod quirks;
mod refusal;
mod refusals;
mod refused_tool;
mod registry;
mod remote;
mod replay;
mod request_log;
mod responses;
mod retry;
mod slots;
mod sse_answer;
mod start;
mod stream;
mod text;
mod think_marks;
mod thinking;
mod tool_names;
mod unpack;
mod utf8;
pub mod weights;
mod well_formed;
#[cfg(test)]
mod wire_tests;

use std::path::Path;
use std::sync::Arc;

use reqwest::header::{HeaderName, HeaderValue};
use serde_json::{Map, Value};

pub use address::{BASE_URL_FORM, base_url, ollama_url};
pub use agent_types::{
    AgentAccess, AgentCall, AgentCommand, AgentContext, AgentQuestion, AgentSandbox, AgentSandboxer,
    PermissionReply, SandboxedAgent,
};
pub use answer::AnswerStream;
pub use cli::{AGENTS, PRESETS, agent_preset, preset};
pub use config::{AnswerFormat, ApiKey, CacheLife, ModelConfig, Price, Timeouts};
pub use embedded::{EmbeddedInstall, embedded_program, missing_weights, program_missing};
pub use event::{ChatEvent, Citation, FinishReason, Usage, WebCall};
pub use file_support::accepts;
#[cfg(fuzzing)]
pub use fuzz_entry::{StreamFormat, read_pieces, text_between};
pub use gate::Gate;
pub use lookup::{known_window, offered_before, takes_prefill};
pub use media::IMAGES;
pub use media::{FileSupport, MediaFile, encoded_len};
pub use message::{ChatMessage, ChatRequest, Schema, ToolCall, ToolSpec};
pub use meter::{Meter, RequestEstimate, RequestUsage};
pub use model_facts::ModelFacts;
pub use notice::{ModelNotice, Retry, TransientFailure};
pub use ollama::first_ollama_model;
pub use options::ModelOptions;
pub use origin::ReplayOrigin;
pub use provider::{OPENAI_URL, Provider, ProviderFields, ServerDefaults, Wire};
pub use provider_spec::{ConversationFormat, Planner, ToolFormat};
pub use registry::spec;
pub use replay::ProviderMessage;
pub use start::{CompareFiles, FindStart, ModelFolders};
pub use text::SharedText;
pub use utf8::Utf8Decoder;

use answer::{AnswerSource, PausedRequest};
use embedded::EmbeddedModel;
use error_text::without_key;
use http::EndpointClient;
use lepo_base::error::Result;
use meter::MeteredRequest;
use quirk_file::{QuirkFile, local_name};
use remote::RemoteModel;
use request_log::RequestLog;

/// Returns the header with the key of a model; `None` without a key. A program that prints the key is not started.
///
/// # Errors
///
/// [`ExitKind::Usage`](lepo_base::error::ExitKind::Usage) for a key that cannot be sent.
pub fn key_header(config: &ModelConfig) -> Result<Option<(HeaderName, HeaderValue)>> {
    let Some(api) = spec(config).http else { return Ok(None) };
    let mut headers = headers::headers(&config.key, api)?.into_iter();
    Ok(headers.find_map(|(name, value)| Some((name?, value)).filter(|(_, value)| value.is_sensitive())))
}

/// A model that can be asked, with its resources between questions: connections, a running program.
pub struct Model {
    config: ModelConfig,
    timeouts: Timeouts,
    gate: Gate,
    backend: Backend,
    meter: Option<Arc<dyn Meter>>,
    sandboxer: Option<Arc<dyn AgentSandboxer>>,
    folders: ModelFolders,
    /// Stores quirks of a model without a URL.
    memory: QuirkFile,
}

enum Backend {
    Http(Box<RemoteModel>),
    Cli,
    Acp,
    Embedded(Box<EmbeddedModel>),
}

impl Model {
    /// Prepares the model that `config` names; does not connect or start anything yet.
    ///
    /// `state_dir` stores the forms of requests that models reject. Until [`Model::set_folders`] a program starts
    /// as for a trial. `gate` delays every request until it is open. `installed` is needed for the embedded model
    /// only.
    ///
    /// # Errors
    ///
    /// [`ExitKind::Usage`](lepo_base::error::ExitKind::Usage) for an invalid `base_url` or key, and for an embedded model
    /// that is not installed.
    pub fn new(
        config: &ModelConfig,
        timeouts: Timeouts,
        state_dir: &Path,
        gate: Gate,
        installed: Option<EmbeddedInstall>,
    ) -> Result<Self> {
        let mut config = config.clone();
        config.key = key::resolve(config.key, state_dir)?;
        let config = &config;
        let spec = spec(config);
        let backend = match (spec.http, spec.path) {
            (Some(api), _) => {
                let http = EndpointClient::new(config, api, timeouts, gate.clone())?;
                Backend::Http(Box::new(RemoteModel::new(http, api, config, state_dir)))
            }
            (None, ConversationFormat::Plain) => Backend::Embedded(Box::new(EmbeddedModel::new(
                installed.ok_or_else(|| missing_weights(&config.model))?,
                config,
                timeouts,
            ))),
            (None, _) if spec.own_tools => Backend::Acp,
            (None, _) => Backend::Cli,
        };
        let folders = ModelFolders::of_trial(state_dir);
        let memory = QuirkFile::new(state_dir, local_name(config));
        Ok(Model {
            config: config.clone(),
            timeouts,
            gate,
            backend,
            meter: None,
            sandboxer: None,
            folders,
            memory,
        })
    }

    /// Returns the configuration of the model.
    pub fn config(&self) -> &ModelConfig {
        &self.config
    }

    /// Sets the meter that every request asks first.
    pub fn set_meter(&mut self, meter: Option<Arc<dyn Meter>>) {
        self.meter = meter;
    }

    /// Sets the sandbox for agents; without it, an agent with a configured sandbox does not start.
    pub fn set_sandboxer(&mut self, sandboxer: Arc<dyn AgentSandboxer>) {
        self.sandboxer = Some(sandboxer);
    }

    /// Sets the folders in which its program starts.
    pub fn set_folders(&mut self, folders: ModelFolders) {
        self.folders = folders;
    }

    /// Whether the server is not known to reject native tools.
    pub fn takes_tools(&self) -> bool {
        match &self.backend {
            Backend::Http(remote) => remote.takes_tools(),
            Backend::Cli | Backend::Acp | Backend::Embedded(_) => true,
        }
    }

    /// Returns the fields of a request's body without its conversation and its tools, if they are known before a
    /// request to the server; empty for a program.
    pub fn fields(&self, request: ChatRequest<'_>) -> Map<String, Value> {
        match &self.backend {
            Backend::Http(remote) => remote.fields(request),
            Backend::Cli | Backend::Acp | Backend::Embedded(_) => Map::new(),
        }
    }

    /// Whether the request's schema changes what is sent: never for a program.
    pub fn sends_schema(&self, request: ChatRequest<'_>) -> bool {
        match &self.backend {
            Backend::Http(remote) => remote.sends_schema(request),
            Backend::Cli | Backend::Acp | Backend::Embedded(_) => false,
        }
    }

    /// Returns the server's facts of the model, requested at most once an hour; empty for a program.
    pub async fn facts(&mut self) -> ModelFacts {
        match &mut self.backend {
            Backend::Http(remote) => remote.facts().await,
            Backend::Cli | Backend::Acp | Backend::Embedded(_) => ModelFacts::default(),
        }
    }

    /// Returns the models that the server offers, requested at most once an hour; empty for a program.
    ///
    /// # Errors
    ///
    /// [`ExitKind::Remote`](lepo_base::error::ExitKind::Remote) if the server cannot be reached or has no list.
    pub async fn offered_models(&mut self) -> Result<Vec<ModelFacts>> {
        match &mut self.backend {
            Backend::Http(remote) => remote.offered_models().await,
            Backend::Acp => {
                acp::offered_models(&self.config, self.timeouts, self.sandboxer.as_deref(), &self.folders)
                    .await
            }
            Backend::Cli | Backend::Embedded(_) => Ok(Vec::new()),
        }
    }

    /// Sends a request, and returns the answer as soon as it starts. `notice` receives messages for the user: that
    /// the request is repeated, and why.
    ///
    /// Dropping the future, or the answer before its end, cancels the request.
    ///
    /// # Errors
    ///
    /// [`ExitKind::Remote`](lepo_base::error::ExitKind::Remote) for every failure of the request; no message contains the
    /// key or the query of a URL.
    pub async fn ask<'m>(
        &'m mut self,
        request: ChatRequest<'m>,
        notice: &mut dyn FnMut(ModelNotice),
    ) -> Result<AnswerStream<'m>> {
        let key = self.config.key.value.clone();
        let begin = |meter| MeteredRequest::start(meter, &self.config, &request);
        let metered = self.meter.as_ref().map(begin).transpose()?;
        let mut log = RequestLog::start(&self.config.name);
        let asked: Result<AnswerSource<'_>> = match &mut self.backend {
            Backend::Http(remote) => {
                let model = &self.config.name;
                let mut warn = |with_key: ModelNotice| {
                    let model_notice = with_key.without_key(key.as_ref());
                    tracing::warn!(model, notice = ?model_notice, "request");
                    notice(model_notice);
                };
                match remote.ask(request, &mut warn).await {
                    Ok(begun) => {
                        let paused_request = PausedRequest { remote, request, answer: None, pauses: 0 };
                        return Ok(
                            AnswerStream::from_started(begun, key, log, paused_request).metered(metered)
                        );
                    }
                    Err(error) => Err(error),
                }
            }
            Backend::Cli => {
                self.gate.wait_open().await;
                let run = cli::CliAnswer::start(&self.config, request, self.timeouts, &self.folders);
                run.map(|run| AnswerSource::Cli(Box::new(run)))
            }
            Backend::Acp => {
                let sandboxer = self.sandboxer.as_deref();
                let run = acp::start_prompt(
                    &self.config,
                    request,
                    self.timeouts,
                    &self.gate,
                    (sandboxer, &self.folders),
                );
                let run = run.await;
                run.map(|run| AnswerSource::Acp(Box::new(run)))
            }
            Backend::Embedded(embedded) => {
                embedded.ask(request, &self.gate).await.map(AnswerSource::Embedded)
            }
        };
        match asked {
            Ok(source) => Ok(AnswerStream::local(source, key, log, &self.memory).metered(metered)),
            Err(error) => {
                let error = without_key(error, key.as_ref());
                log.log_failure(&error);
                Err(error)
            }
        }
    }
}
