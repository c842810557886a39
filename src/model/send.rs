//! One request over HTTP, asked until it is answered or refused for good: the only place that
//! decides to ask again. Everything here happens before the first token.

use bytes::Bytes;
use jiff::Timestamp;
use reqwest::Response;

use super::forms::system_first;
use super::http::Http;
use super::message::{Message, Request};
use super::quirks::{self, Memory, Quirk, Quirks};
use super::refusal::Refusal;
use super::retry::{self, Next};
use super::{ollama, openai};
use crate::config::{ModelConfig, Provider};
use crate::error::{Error, Result};

/// A model behind HTTP.
pub(super) struct Remote {
    http: Http,
    config: ModelConfig,
    quirks: Quirks,
    memory: Memory,
}

impl Remote {
    /// The model `config` names, with the quirks that were learned of it before.
    pub fn new(http: Http, config: &ModelConfig, state_dir: &std::path::Path) -> Self {
        let provider = match config.provider {
            Provider::Ollama => "ollama",
            _ => "openai",
        };
        let memory = Memory::new(state_dir, format!("{provider} {} {}", http.place, config.model));
        let mut quirks = memory.recall();
        if config.system_first {
            quirks.insert(Quirk::SystemFirst);
        }
        Remote { http, config: config.clone(), quirks, memory }
    }

    /// Asks, and asks again where that can help. `notice` is told each time.
    pub async fn ask(
        &mut self,
        request: Request<'_>,
        notice: &mut dyn FnMut(&str),
    ) -> Result<super::body::Body> {
        let mut quirks = self.quirks.clone();
        let mut attempt = 0;
        loop {
            let (body, sent) = self.body(request, &quirks);
            tracing::debug!(model = self.config.name, request = %String::from_utf8_lossy(&body), "request");
            let response = self.http.post(body).await?;
            tracing::debug!(model = self.config.name, status = response.status().as_u16(), "response");
            if response.status().is_success() {
                return Ok(self.accepted(response, quirks));
            }
            let refusal = Refusal::read(response, self.http.timeouts.idle).await;
            let learned = quirks::named(refusal.status, &refusal.body, &sent);
            if !learned.is_empty() {
                learned.iter().for_each(|quirk| notice(&quirk.notice(&self.config.name)));
                quirks.extend(learned);
                continue;
            }
            self.pause(&refusal, attempt, notice).await?;
            attempt += 1;
        }
    }

    /// The body of the request, and what in it a refusal may be about.
    fn body(&self, request: Request<'_>, quirks: &Quirks) -> (Bytes, Quirks) {
        let merged: Vec<Message>;
        let mut form = request;
        let first = system_first(request.messages);
        let differs = first != request.messages;
        if quirks.contains(&Quirk::SystemFirst) {
            merged = first;
            form.messages = &merged;
        }
        let body = match self.config.provider {
            Provider::Ollama => ollama::body(&self.config.model, form, quirks),
            _ => openai::body(&self.config.model, form, quirks),
        };
        let mut sent: Quirks = match self.config.provider {
            Provider::Ollama => [Quirk::Temperature].into(),
            _ => [Quirk::Temperature, Quirk::StreamOptions].into(),
        };
        if request.schema.is_some() && self.config.provider == Provider::Openai {
            sent.insert(Quirk::ResponseFormat);
        }
        if differs {
            sent.insert(Quirk::SystemFirst);
        }
        (Bytes::from(body), &sent - quirks)
    }

    fn accepted(&mut self, response: Response, quirks: Quirks) -> super::body::Body {
        let learned = &quirks - &self.quirks;
        if !learned.is_empty() {
            self.memory.keep(&learned);
            self.quirks = quirks;
        }
        super::body::Body::new(response, self.http.place.clone(), self.http.timeouts)
    }

    /// Waits before the next try, or says why there is none.
    async fn pause(&self, refusal: &Refusal, attempt: u32, notice: &mut dyn FnMut(&str)) -> Result<()> {
        let error = || -> Error { refusal.error(&self.config, &self.http.place) };
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
