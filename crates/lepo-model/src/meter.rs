//! Meters requests: each asks the meter of its model for admission, and reports its usage afterwards.

use std::sync::Arc;

use super::config::ModelConfig;
use super::event::{ChatEvent, Usage};
use super::message::ChatRequest;
use lepo_base::error::Result;

/// Estimated bytes of a token.
const BYTES: u64 = 4;

/// Estimated tokens of an image or another file.
const FILE: u64 = 2_000;

/// A request before it is sent.
#[derive(Debug, Clone, Copy)]
pub struct RequestEstimate<'a> {
    /// The configuration of the model.
    pub config: &'a ModelConfig,
    /// The estimated tokens of the request.
    pub input: u64,
    /// The token limit of the answer, if set.
    pub output: Option<u64>,
}

/// Usage of a finished request.
#[derive(Debug, Clone, Copy)]
pub struct RequestUsage<'a> {
    /// The configuration of the model.
    pub config: &'a ModelConfig,
    /// The ticket that [`Meter::before`] returned.
    pub ticket: u64,
    /// Tokens: the provider's count, else an estimate from the bytes.
    pub usage: Usage,
    /// Whether a part of the usage is an estimate.
    pub is_estimate: bool,
}

/// Admits requests, and receives their usage.
pub trait Meter: Send + Sync {
    /// Admits a request before it is sent, and returns its ticket.
    ///
    /// # Errors
    ///
    /// If the request is not admitted.
    fn before(&self, estimate: RequestEstimate<'_>) -> Result<u64>;

    /// Receives the usage of a finished request, whatever its result.
    fn after(&self, usage: RequestUsage<'_>);
}

/// A request in progress. Dropping it reports its usage.
pub(super) struct MeteredRequest {
    meter: Arc<dyn Meter>,
    config: ModelConfig,
    ticket: u64,
    usage: Usage,
    input: u64,
    /// Bytes of the answer.
    bytes: u64,
    /// Whether an answer started: without one, the request costs nothing.
    has_begun: bool,
}

impl MeteredRequest {
    /// Asks the meter for admission.
    pub fn start(
        meter: &Arc<dyn Meter>,
        config: &ModelConfig,
        request: &ChatRequest<'_>,
    ) -> Result<MeteredRequest> {
        let (input, output) = (estimate(request), config.options.max_tokens);
        let ticket = meter.before(RequestEstimate { config, input, output })?;
        let (usage, config) = (Usage::default(), config.clone());
        Ok(MeteredRequest {
            meter: Arc::clone(meter),
            config,
            ticket,
            usage,
            input,
            bytes: 0,
            has_begun: false,
        })
    }

    /// Marks the start of an answer.
    pub fn mark_begun(&mut self) {
        self.has_begun = true;
    }

    /// Counts an event of the answer.
    pub fn on_event(&mut self, event: &ChatEvent) {
        match event {
            ChatEvent::Usage(usage) => self.usage = *usage,
            ChatEvent::Text(text) | ChatEvent::Thinking(text) => self.bytes += text.len() as u64,
            ChatEvent::ToolCall(call) => self.bytes += call.arguments.to_string().len() as u64,
            _ => {}
        }
    }
}

impl Drop for MeteredRequest {
    fn drop(&mut self) {
        let Usage { input, output, .. } = self.usage;
        let is_estimate = self.has_begun && (input.is_none() || output.is_none());
        let guessed = |tokens: u64| self.has_begun.then_some(tokens);
        let usage = Usage {
            input: input.or(guessed(self.input)),
            output: output.or(guessed(self.bytes.div_ceil(BYTES))),
            ..self.usage
        };
        self.meter.after(RequestUsage { config: &self.config, ticket: self.ticket, usage, is_estimate });
    }
}

/// Estimates the tokens of a request: a quarter of its bytes.
fn estimate(request: &ChatRequest<'_>) -> u64 {
    let mut bytes = 0;
    let mut files = 0;
    for message in request.messages {
        bytes += message.text.len() as u64;
        files += message.files.len() as u64;
        bytes += message.calls.iter().map(|call| call.arguments.to_string().len() as u64).sum::<u64>();
    }
    for tool in request.tools {
        bytes += (tool.name.len() + tool.description.len() + tool.schema.to_string().len()) as u64;
    }
    bytes += request.schema.map_or(0, |schema| schema.schema.to_string().len() as u64);
    bytes.div_ceil(BYTES) + files * FILE
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;
    use crate::message::ChatMessage;
    use crate::provider::Provider;
    use lepo_base::role::Role;

    #[derive(Default)]
    struct UsageLog(Mutex<Vec<(Usage, bool)>>);

    impl Meter for UsageLog {
        fn before(&self, planned: RequestEstimate<'_>) -> Result<u64> {
            Ok(planned.input)
        }

        fn after(&self, taken: RequestUsage<'_>) {
            self.0.lock().unwrap().push((taken.usage, taken.is_estimate));
        }
    }

    #[test]
    fn a_request_without_usage_counts_a_quarter_of_its_bytes() {
        let usage_log = Arc::new(UsageLog::default());
        let meter: Arc<dyn Meter> = usage_log.clone();
        let config = ModelConfig::new("m", Provider::Cli);
        let messages = [ChatMessage::new(Role::User, "12345678")];
        let request = ChatRequest { messages: &messages, ..ChatRequest::default() };
        let begin = || MeteredRequest::start(&meter, &config, &request).unwrap();
        drop(begin());
        let mut cut = begin();
        cut.mark_begun();
        cut.on_event(&ChatEvent::Text("123456789".into()));
        drop(cut);
        let mut counted = begin();
        counted.mark_begun();
        counted.on_event(&ChatEvent::Text("123".into()));
        counted.on_event(&ChatEvent::Usage(Usage { input: Some(70), output: Some(5), ..Usage::default() }));
        drop(counted);
        let usage = |input, output| Usage { input, output, ..Usage::default() };
        let expected =
            [(usage(None, None), false), (usage(Some(2), Some(3)), true), (usage(Some(70), Some(5)), false)];
        assert_eq!(*usage_log.0.lock().unwrap(), expected);
    }
}
