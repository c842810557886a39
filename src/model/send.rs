//! One request over HTTP, asked until it is answered or refused for good: the only place that
//! decides to ask again. Everything here happens before the first token.

use jiff::Timestamp;
use reqwest::Response;

use super::answer::Source;
use super::body::Body;
use super::forms::system_first;
use super::http::Http;
use super::memory::Memory;
use super::message::{Message, Request};
use super::payload::Payload;
use super::quirks::{self, Quirk, Quirks, SYSTEM_FIRST};
use super::refusal::Refusal;
use super::retry::{self, Next};
use super::spec::HttpSpec;
use crate::config::ModelConfig;
use crate::error::{Error, Result};

/// A model behind HTTP.
pub(super) struct Remote {
    http: Http,
    spec: &'static HttpSpec,
    config: ModelConfig,
    quirks: Quirks,
    memory: Memory,
}

/// A request that is being put into a body.
pub(super) struct Asking<'a> {
    /// The model.
    pub config: &'a ModelConfig,
    /// What is asked.
    pub request: Request<'a>,
    learned: &'a Quirks,
    open: Vec<&'static Quirk>,
}

impl<'a> Asking<'a> {
    /// A request to a model of which `learned` is known.
    pub fn new(config: &'a ModelConfig, request: Request<'a>, learned: &'a Quirks) -> Self {
        Asking { config, request, learned, open: Vec::new() }
    }

    /// Whether the model has this quirk. If it is not known to, a refusal may be about it.
    pub fn has(&mut self, quirk: &'static Quirk) -> bool {
        let known = self.learned.has(quirk);
        if !known {
            self.open.push(quirk);
        }
        known
    }

    /// Whether the model takes what this quirk would forbid.
    pub fn takes(&mut self, quirk: &'static Quirk) -> bool {
        !self.has(quirk)
    }
}

impl Remote {
    /// The model `config` names, with the quirks that were learned of it before.
    pub fn new(
        http: Http,
        spec: &'static HttpSpec,
        config: &ModelConfig,
        state_dir: &std::path::Path,
    ) -> Self {
        let memory = Memory::new(state_dir, format!("{} {} {}", spec.name, http.place, config.model));
        let mut quirks = memory.recall(spec.quirks);
        if config.system_first {
            quirks.add(&SYSTEM_FIRST);
        }
        Remote { http, spec, config: config.clone(), quirks, memory }
    }

    /// Asks, and asks again where that can help. `notice` is told each time.
    pub async fn ask(
        &mut self,
        request: Request<'_>,
        notice: &mut dyn FnMut(&str),
    ) -> Result<Source<'static>> {
        let mut quirks = self.quirks.clone();
        let mut attempt = 0;
        loop {
            let (body, open) = self.body(request, &quirks);
            tracing::debug!(model = self.config.name, request = body.shown(), "request");
            let response = self.http.post(body).await?;
            tracing::debug!(model = self.config.name, status = response.status().as_u16(), "response");
            if response.status().is_success() {
                let body = self.accepted(response, quirks);
                return Ok(Source::Http(body, (self.spec.reader)(!request.tools.is_empty())));
            }
            let refusal = Refusal::read(response, self.http.timeouts.idle).await;
            let learned = quirks::named(refusal.status, &refusal.body, &open);
            if !learned.is_empty() {
                for quirk in learned.each() {
                    notice(&format!("{} {}", self.config.name, quirk.says));
                    quirks.add(quirk);
                }
                continue;
            }
            self.pause(&refusal, attempt, notice).await?;
            attempt += 1;
        }
    }

    /// The body of the request, and the quirks that a refusal of it may be about.
    fn body(&self, request: Request<'_>, quirks: &Quirks) -> (Payload, Vec<&'static Quirk>) {
        let merged: Vec<Message>;
        let mut asking = Asking::new(&self.config, request, quirks);
        if self.spec.quirks.iter().any(|quirk| quirk.word == SYSTEM_FIRST.word) {
            let first = system_first(request.messages);
            if first != request.messages && asking.has(&SYSTEM_FIRST) {
                merged = first;
                asking.request.messages = &merged;
            }
        }
        let payload = (self.spec.body)(&mut asking);
        (payload, asking.open)
    }

    fn accepted(&mut self, response: Response, quirks: Quirks) -> Body {
        let learned = quirks.beyond(&self.quirks);
        if !learned.is_empty() {
            self.memory.keep(&learned);
            self.quirks = quirks;
        }
        Body::new(response, self.http.place.clone(), self.http.timeouts)
    }

    /// Waits before the next try, or says why there is none.
    async fn pause(&self, refusal: &Refusal, attempt: u32, notice: &mut dyn FnMut(&str)) -> Result<()> {
        let error = || -> Error { refusal.error(&self.config, self.spec, &self.http.place) };
        if !refusal.may_pass() || attempt == retry::TRIES {
            return Err(error());
        }
        match retry::pause(attempt, refusal.retry_after.as_deref(), Timestamp::now(), retry::dice()) {
            Next::TooLong(wait) => {
                Err(error()
                    .hint(format!("it asks to be left alone for {} s: ask again then", wait.as_secs())))
            }
            Next::After(wait) => {
                notice(&format!(
                    "{} answered {}: asking again in {:.1} s ({} of {})",
                    self.config.name,
                    refusal.status,
                    wait.as_secs_f32(),
                    attempt + 1,
                    retry::TRIES
                ));
                tokio::time::sleep(wait).await;
                Ok(())
            }
        }
    }
}
