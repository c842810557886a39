//! A request over HTTP, repeated until it is answered or finally refused: the only module that decides on
//! repetitions. All of them happen before the first token.

use std::{borrow::Cow, collections::BTreeSet, path::Path, path::PathBuf};

use jiff::Timestamp;
use reqwest::Response;
use serde_json::{Map, Value};

use super::body_context::BodyContext;
use super::cache::Cache;
use super::error_text::hide_key;
use super::http::EndpointClient;
use super::lookup::{list, look_up};
use super::message::{ChatMessage, ChatRequest, ToolSpec};
use super::message_layout::adapted;
use super::model_facts::ModelFacts;
use super::notice::{ModelNotice, Retry};
use super::payload::Payload;
use super::provider_spec::HttpSpec;
use super::quirk_file::{QuirkFile, remembered_name};
use super::quirks::{self, BEGINS_THINKING, FILES, Quirk, Quirks, SYSTEM_FIRST, TOOLS};
use super::refusal::HttpRefusal;
use super::refusals::Meaning;
use super::refused_tool::refused_tools;
use super::retry::{self, RetryStep};
use super::stream::{ResponseBody, StartedAnswer};
use crate::ModelConfig;
use lepo_base::error::{Error, Result};
use lepo_base::hint::{Hint, HintCommand, ResumeAction};
use lepo_base::role::Role;

pub(super) struct RemoteModel {
    http: EndpointClient,
    spec: &'static HttpSpec,
    config: ModelConfig,
    quirks: Quirks,
    memory: QuirkFile,
    state_dir: PathBuf,
    /// The server's facts of the model, once requested.
    facts: Option<ModelFacts>,
    /// Whether the server rejected the received form of its own messages: they are rebuilt for the rest of the
    /// turn.
    rebuilds: bool,
    /// Names of the tools whose schemas the server rejects.
    left_out: BTreeSet<String>,
}

/// Fields of bodies with the conversation, the tools or the form of the answer.
const SEPARATE_FIELDS: &[&str] =
    &["messages", "input", "instructions", "system", "tools", "model", "text", "response_format", "format"];

/// The result of sending a body once.
enum PostOutcome {
    /// The answer has started.
    Begun(Box<StartedAnswer>),
    /// The request was refused; with the failure, if the refusal was part of an answer that had started.
    Refused(HttpRefusal, Option<Error>),
}

impl RemoteModel {
    /// Creates the model that `config` names, with the stored quirks.
    pub fn new(
        http: EndpointClient,
        spec: &'static HttpSpec,
        config: &ModelConfig,
        state_dir: &Path,
    ) -> Self {
        let memory = QuirkFile::new(state_dir, remembered_name(spec, &http.base, config));
        let mut quirks = memory.recall(spec.quirks);
        if config.system_first {
            quirks.add(&SYSTEM_FIRST);
        }
        let (config, state_dir) = (config.clone(), state_dir.to_path_buf());
        RemoteModel {
            http,
            spec,
            config,
            quirks,
            memory,
            state_dir,
            facts: None,
            rebuilds: false,
            left_out: BTreeSet::new(),
        }
    }

    /// Whether the model is not known to reject native tools.
    pub fn takes_tools(&self) -> bool {
        !self.quirks.contains(&TOOLS)
    }

    /// Whether its answers are known to start within thinking.
    pub fn begins_thinking(&self) -> bool {
        self.quirks.contains(&BEGINS_THINKING)
    }

    /// Stores whether its answers start within thinking.
    pub fn learn_beginning(&mut self, with_thinking: bool) {
        if with_thinking {
            let mut quirks = self.quirks.clone();
            quirks.add(&BEGINS_THINKING);
            self.accepted(quirks);
        } else {
            self.quirks.remove(&BEGINS_THINKING);
            self.memory.forget(&BEGINS_THINKING);
        }
    }

    /// Returns the server's facts of the model, requested at most once an hour.
    pub async fn facts(&mut self) -> ModelFacts {
        if let Some(facts) = &self.facts {
            return facts.clone();
        }
        let cache = Cache::new(&self.state_dir, self.spec.name, &self.http.url, &self.config.model);
        let facts = match cache.load() {
            Some(facts) => facts,
            None => match look_up(&mut self.http, self.spec, &self.config.model).await {
                Ok(facts) => {
                    cache.save(&facts);
                    facts
                }
                Err(error) => {
                    tracing::debug!(model = self.config.name, error = error.chain(), "catalogue");
                    ModelFacts::default()
                }
            },
        };
        self.facts = Some(facts.clone());
        facts
    }

    /// Returns the models of the server, requested at most once an hour.
    pub async fn offered_models(&mut self) -> Result<Vec<ModelFacts>> {
        let cache = Cache::new(&self.state_dir, self.spec.name, &self.config.base_url, "");
        if let Some(models) = cache.load() {
            return Ok(models);
        }
        let models = list(&mut self.http, self.spec).await?;
        cache.save(&models);
        Ok(models)
    }

    /// Sends the request until a model answers it or finally refuses it; `notice` receives a notice for each
    /// repetition.
    pub async fn ask(
        &mut self,
        request: ChatRequest<'_>,
        notice: &mut dyn FnMut(ModelNotice),
    ) -> Result<StartedAnswer> {
        let facts = match self.spec.catalog.needed {
            true => self.facts().await,
            false => ModelFacts::default(),
        };
        let mut quirks = self.quirks.clone();
        let mut attempt = 0;
        let replays = request.messages.iter().any(|message| message.replay.is_some());
        let rebuilt = if replays { rebuilt(request.messages) } else { Vec::new() };
        let mut request = request;
        self.rebuilds &= replays;
        if self.rebuilds {
            request.messages = &rebuilt;
        }
        let mut has_slipped = false;
        loop {
            let tools = self.taken_tools(request.tools);
            let request_now = ChatRequest { tools: &tools, ..request };
            let (body, open) = self.body(request_now, &facts, &quirks);
            let (refusal, failure) = match self.send(body, &request_now).await? {
                PostOutcome::Begun(begun) => {
                    self.accepted(quirks);
                    return Ok(*begun);
                }
                PostOutcome::Refused(refusal, failure) => (refusal, failure),
            };
            let meaning = refusal.meaning(&self.config.model);
            if let Meaning::UsedUp | Meaning::OverMinute | Meaning::Overflow = meaning {
                return Err(refusal.error(&self.config, self.spec, &self.http.url));
            }
            let left_out = refused_tools(refusal.status, &refusal.body, &tools);
            if !left_out.is_empty() {
                for tool in left_out {
                    let (model, name) = (self.config.name.clone(), tool.name.clone());
                    notice(ModelNotice::ToolLeftOut(model, name.clone(), refusal.message().to_string()));
                    self.left_out.insert(name);
                }
                continue;
            }
            let learned = quirks::quirks_named_in(refusal.status, &refusal.body, &open);
            if !learned.is_empty() {
                self.learn(&learned, &mut quirks, (&request, &refusal), notice)?;
                continue;
            }
            match meaning {
                Meaning::Path => {
                    let Some(right) = self.http.go_to_meant(self.spec.path) else {
                        return Err(self.http.back_from_meant(refusal.error(
                            &self.config,
                            self.spec,
                            &self.http.url,
                        )));
                    };
                    notice(ModelNotice::OtherAddress(self.config.name.clone(), right));
                    continue;
                }
                Meaning::Slip if !std::mem::replace(&mut has_slipped, true) => {
                    let tried = refusal.rejected_output().unwrap_or_else(|| refusal.message().to_string());
                    notice(ModelNotice::Slipped(self.config.name.clone(), tried));
                    continue;
                }
                Meaning::Slip
                | Meaning::Key
                | Meaning::Forbidden
                | Meaning::Model
                | Meaning::Wire
                | Meaning::Limit
                | Meaning::ManyTools => {
                    return Err(refusal.error(&self.config, self.spec, &self.http.url));
                }
                _ => {}
            }
            if replays && !self.rebuilds && matches!(refusal.status, 400 | 422) {
                notice(ModelNotice::OwnMessageRejected(
                    self.config.name.clone(),
                    refusal.message().to_string(),
                ));
                self.rebuilds = true;
                request.messages = &rebuilt;
                continue;
            }
            match failure {
                Some(failure) if !refusal.may_pass(&self.config.model) => return Err(failure),
                _ => self.pause(&refusal, attempt, notice).await?,
            }
            attempt += 1;
        }
    }

    /// Returns the tools except those whose schemas the server rejects.
    fn taken_tools<'t>(&self, tools: &'t [ToolSpec]) -> Cow<'t, [ToolSpec]> {
        if self.left_out.is_empty() {
            return Cow::Borrowed(tools);
        }
        tools.iter().filter(|tool| !self.left_out.contains(&tool.name)).cloned().collect()
    }

    async fn send(&mut self, body: Payload, request: &ChatRequest<'_>) -> Result<PostOutcome> {
        let key = self.config.key.value.as_ref();
        tracing::debug!(model = self.config.name, request = %hide_key(&body.log_text(), key), "request");
        let response = self.http.post(body).await?;
        tracing::debug!(model = self.config.name, status = response.status().as_u16(), "response");
        if !response.status().is_success() {
            return Ok(PostOutcome::Refused(
                HttpRefusal::read(response, self.http.timeouts.idle).await,
                None,
            ));
        }
        let mut begun = self.first_event(response, request).await;
        match begun.refusal() {
            None => Ok(PostOutcome::Begun(Box::new(begun))),
            Some(refused) => Ok(PostOutcome::Refused(HttpRefusal::from_stream(refused), begun.failure())),
        }
    }

    /// Adds the quirks that a refusal names; fails if the request cannot be repeated without the rejected field.
    fn learn(
        &mut self,
        learned: &Quirks,
        quirks: &mut Quirks,
        (request, refusal): (&ChatRequest<'_>, &HttpRefusal),
        notice: &mut dyn FnMut(ModelNotice),
    ) -> Result<()> {
        for quirk in learned.each() {
            notice(ModelNotice::Learned(self.config.name.clone(), quirk.notice));
            quirks.add(quirk);
        }
        if learned.contains(&TOOLS) {
            // The next request belongs to another kind of turn, which plans without native tools.
            self.accepted(quirks.clone());
            return Err(refusal.error(&self.config, self.spec, &self.http.url));
        }
        if learned.contains(&FILES) && asks_about_files(request) {
            self.accepted(quirks.clone());
            let message = format!("{} does not accept files: {}", self.config.name, refusal.message());
            return Err(Error::remote(message).hint(
                Hint::from(HintCommand::OtherModel)
                    .text(" asks another model; ")
                    .command(ResumeAction::Retry)
                    .text(" sends the text without the files"),
            ));
        }
        Ok(())
    }

    /// Returns the body of the request, and the quirks that may explain a refusal.
    fn body(
        &self,
        request: ChatRequest<'_>,
        facts: &ModelFacts,
        quirks: &Quirks,
    ) -> (Payload, Vec<&'static Quirk>) {
        let mut asking = BodyContext::new(&self.config, request, facts, quirks);
        let messages = adapted(request.messages, |quirk| self.spec.may_have(quirk) && asking.has(quirk));
        asking.request.messages = &messages;
        let payload = (self.spec.body)(&mut asking);
        (payload, asking.open)
    }

    /// Returns the fields of a request's body without its conversation and its tools.
    pub fn fields(&self, request: ChatRequest<'_>) -> Map<String, Value> {
        let cache = Cache::new(&self.state_dir, self.spec.name, &self.http.url, &self.config.model);
        let facts: ModelFacts = self.facts.clone().or_else(|| cache.load()).unwrap_or_default();
        let (body, _) = self.body(request, &facts, &self.quirks);
        let Ok(Value::Object(mut fields)) = serde_json::from_str(&body.outline()) else { return Map::new() };
        fields.retain(|name, _| !SEPARATE_FIELDS.contains(&name.as_str()));
        // A configured extra field may contain a secret.
        let own = fields.iter_mut().filter(|(name, _)| self.config.extra.contains_key(*name));
        own.for_each(|(_, value)| *value = Value::from("(as configured)"));
        fields
    }

    /// Whether the request's schema changes its body: not if the server rejected schemas.
    pub fn sends_schema(&self, request: ChatRequest<'_>) -> bool {
        let facts = self.facts.clone().unwrap_or_default();
        let outline = |request| self.body(request, &facts, &self.quirks).0.outline();
        outline(request) != outline(ChatRequest { schema: None, ..request })
    }

    /// Waits for the first event of the answer, as a refusal may still arrive instead.
    async fn first_event(&self, response: Response, request: &ChatRequest<'_>) -> StartedAnswer {
        let status = response.status().as_u16();
        let body = ResponseBody::new(response, self.http.url.clone(), self.http.timeouts);
        StartedAnswer::wait(status, body, (self.spec.reader)(request.tools)).await
    }

    fn accepted(&mut self, quirks: Quirks) {
        let learned = quirks.beyond(&self.quirks);
        if !learned.is_empty() {
            self.memory.save(&learned);
            self.quirks = quirks;
        }
    }

    /// Waits before the next attempt; returns the error of the refusal if no attempt remains or it is not
    /// temporary.
    async fn pause(
        &self,
        refusal: &HttpRefusal,
        attempt: u32,
        notice: &mut dyn FnMut(ModelNotice),
    ) -> Result<()> {
        let error = || -> Error { refusal.error(&self.config, self.spec, &self.http.url) };
        if !refusal.may_pass(&self.config.model) || attempt == retry::TRIES {
            return Err(error());
        }
        match retry::pause(attempt, refusal.retry_after.as_deref(), Timestamp::now(), retry::dice()) {
            RetryStep::TooLong(wait) => {
                Err(error().hint(format!("the server asks to wait {} s before retrying", wait.as_secs())))
            }
            RetryStep::After(wait) => {
                notice(ModelNotice::Retries(Retry {
                    model: self.config.name.clone(),
                    after: refusal.passing(),
                    wait,
                    attempt: attempt + 1,
                    tries: retry::TRIES,
                }));
                tokio::time::sleep(wait).await;
                Ok(())
            }
        }
    }
}

/// Rebuilds messages without their received form. Arguments that are not an object are wrapped in one.
fn rebuilt(messages: &[ChatMessage]) -> Vec<ChatMessage> {
    let sound = |mut message: ChatMessage| {
        for call in &mut message.calls {
            if !call.arguments.is_object() {
                let given = call.arguments.take();
                call.arguments = serde_json::json!({ "given": given });
            }
        }
        ChatMessage { replay: None, ..message }
    };
    messages.iter().cloned().map(sound).collect()
}

/// Whether the user's last message has files, so that the question is about them.
fn asks_about_files(request: &ChatRequest<'_>) -> bool {
    let mut asked = request.messages.iter().rev().filter(|m| m.role == Role::User && !m.instruction);
    asked.next().is_some_and(|message| !message.files.is_empty())
}
