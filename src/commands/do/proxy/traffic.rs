//! The proxy's lines on stderr: one for each request, and the sums at the end.

use std::sync::{Mutex, MutexGuard, PoisonError};

use schemars::JsonSchema;
use serde::Serialize;

use crate::term::{StatusLine, print_status, print_verbatim};
use crate::view::IdText;
use lepo_proxy::{ExchangeFacts, ExchangeNote, ProxyEvent};
use lepo_store::bubb::plural;

/// The form of these lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TrafficForm {
    /// A line of text for each request.
    Lines,
    /// A JSON object for each request.
    Json,
    /// Nothing except faults.
    Silent,
}

/// Sums of all requests.
#[derive(Debug, Default)]
struct TrafficSums {
    requests: u64,
    failures: u64,
    input: u64,
    output: u64,
}

/// The writer of these lines, for all connections.
pub struct Traffic {
    form: TrafficForm,
    sums: Mutex<TrafficSums>,
}

impl Traffic {
    pub fn new(form: TrafficForm) -> Traffic {
        Traffic { form, sums: Mutex::default() }
    }

    fn sums(&self) -> MutexGuard<'_, TrafficSums> {
        self.sums.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Prints an event.
    pub fn print(&self, event: &ProxyEvent) {
        if let ProxyEvent::Exchange(exchange) = event {
            let mut sums = self.sums();
            sums.requests += 1;
            sums.failures += u64::from(exchange.answer.is_none());
            sums.input += exchange.input.unwrap_or_default();
            sums.output += exchange.output.unwrap_or_default();
        }
        if let ProxyEvent::Unrecorded { .. } = event {
            let mut sums = self.sums();
            sums.requests += 1;
            sums.failures += 1;
        }
        match (self.form, event) {
            (TrafficForm::Json, ProxyEvent::Exchange(exchange)) => {
                print_document(&TrafficDocument::from_exchange(exchange));
            }
            (TrafficForm::Json, ProxyEvent::Unrecorded { path, message }) => {
                print_document(&TrafficDocument::Unrecorded {
                    path,
                    status: 404,
                    recorded: false,
                    error: message,
                });
            }
            (TrafficForm::Lines, ProxyEvent::Exchange(exchange)) => print_status(&exchange_line(exchange)),
            (TrafficForm::Json | TrafficForm::Silent, _) => {}
            (TrafficForm::Lines, event) => print_status(&StatusLine::note(event_text(event))),
        }
        if let ProxyEvent::Exchange(exchange) = event {
            self.print_faults(exchange);
        }
    }

    fn print_faults(&self, exchange: &ExchangeFacts) {
        if let Some(fault) = exchange.fault.as_ref().filter(|_| self.form != TrafficForm::Json) {
            print_status(&StatusLine::warning(fault.clone()));
        }
        if self.form == TrafficForm::Lines {
            exchange.notes.iter().for_each(|note| print_status(&StatusLine::note(note_text(note))));
        }
    }

    /// Prints the sums, if there was a request.
    pub fn print_sums(&self) {
        let sums = self.sums();
        if self.form != TrafficForm::Lines || sums.requests == 0 {
            return;
        }
        let mut line =
            format!("{} · {} in, {} out", plural(sums.requests, "request"), sums.input, sums.output);
        if sums.failures > 0 {
            line.push_str(&format!(" · {} without an answer", sums.failures));
        }
        print_status(&line);
    }
}

fn exchange_line(exchange: &ExchangeFacts) -> String {
    let mut parts = vec![
        if exchange.model.is_empty() { "no model".to_string() } else { exchange.model.clone() },
        format!("{}, {} new", plural(exchange.messages, "message"), exchange.new),
    ];
    match exchange.answer {
        Some(id) if exchange.is_recorded => parts.push(format!("{id} (recorded)")),
        Some(id) => parts.push(id.to_string()),
        None if exchange.status == 0 => parts.push("stopped".to_string()),
        None => parts.push(format!("status {}", exchange.status)),
    }
    if exchange.input.is_some() || exchange.output.is_some() {
        let count = |tokens: Option<u64>| tokens.map_or("?".to_string(), |tokens| tokens.to_string());
        parts.push(format!("{} in, {} out", count(exchange.input), count(exchange.output)));
    }
    parts.push(format!("{:.1} s", exchange.took.as_secs_f64()));
    parts.join(" · ")
}

/// An object per line on stderr, for each request.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
pub enum TrafficDocument<'d> {
    Exchange {
        /// The model, as the program named it.
        model: &'d str,
        /// Messages of the request, with its system prompt.
        messages: usize,
        /// Messages of the request that were not in the store.
        new: usize,
        /// The HTTP status of the answer; 0 if the request was stopped.
        status: u16,
        /// The message of the answer, if the store has one.
        answer: Option<IdText>,
        /// Whether the answer is a recorded one.
        recorded: bool,
        /// Tokens of the request, as counted by the provider.
        input: Option<u64>,
        /// Tokens of the answer, as counted by the provider.
        output: Option<u64>,
        /// Milliseconds from the request to the end of the answer.
        ms: u64,
        /// Notes on the answer, such as why it was not stored.
        notes: Vec<String>,
        /// Why something could not be written.
        error: Option<&'d str>,
    },
    /// A request without a recorded answer, which was not sent.
    Unrecorded {
        path: &'d str,
        /// 404.
        status: u16,
        /// false.
        recorded: bool,
        error: &'d str,
    },
}

impl<'d> TrafficDocument<'d> {
    fn from_exchange(exchange: &'d ExchangeFacts) -> TrafficDocument<'d> {
        TrafficDocument::Exchange {
            model: &exchange.model,
            messages: exchange.messages,
            new: exchange.new,
            status: exchange.status,
            answer: exchange.answer.map(IdText),
            recorded: exchange.is_recorded,
            input: exchange.input,
            output: exchange.output,
            ms: exchange.took.as_millis() as u64,
            notes: exchange.notes.iter().map(note_text).collect(),
            error: exchange.fault.as_deref(),
        }
    }
}

fn print_document(document: &TrafficDocument<'_>) {
    // Its keys are fields, so that it always serializes.
    print_verbatim(&serde_json::to_string(document).unwrap_or_default());
}

fn note_text(note: &ExchangeNote) -> String {
    match note {
        ExchangeNote::UnknownResponse => {
            "the request continues a response that is not in the store: it begins a conversation".to_string()
        }
        ExchangeNote::NotKept(reason) => format!("the answer was not kept: {reason}"),
        ExchangeNote::Failed(text) => format!("the server failed: {text}"),
    }
}

fn event_text(event: &ProxyEvent) -> String {
    match event {
        ProxyEvent::PassedOn { method, path } => format!("{method} {path} is passed on and not kept"),
        ProxyEvent::NotKept { path, reason } => format!("{path} is passed on and not kept: {reason}"),
        ProxyEvent::Unrecorded { path, message } => format!("{path}: {message}"),
        ProxyEvent::Masked => "recorded answers have masks in place of secrets".to_string(),
        ProxyEvent::Refused { path, status, message } => format!("{path} was refused ({status}): {message}"),
        ProxyEvent::Exchange(exchange) => exchange_line(exchange),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn exchange() -> ExchangeFacts {
        ExchangeFacts {
            model: "gpt-5".into(),
            messages: 4,
            new: 1,
            status: 200,
            answer: lepo_store::bubb::BubbId::parse(b"01M80QW3N3DDGKXDE279QNWF38"),
            is_recorded: false,
            input: Some(812),
            output: Some(64),
            took: Duration::from_millis(1_400),
            notes: Vec::new(),
            fault: None,
        }
    }

    #[test]
    fn a_request_is_one_line() {
        let exchange = exchange();
        let line = "gpt-5 · 4 messages, 1 new · 01M80QW3N3DDGKXDE279QNWF38 · 812 in, 64 out · 1.4 s";
        assert_eq!(exchange_line(&exchange), line);
        let failed =
            ExchangeFacts { answer: None, input: None, output: None, status: 401, messages: 1, ..exchange };
        assert_eq!(exchange_line(&failed), "gpt-5 · 1 message, 1 new · status 401 · 1.4 s");
    }

    #[test]
    fn a_request_is_one_document() {
        let failed = ExchangeFacts {
            answer: None,
            input: None,
            notes: vec![ExchangeNote::NotKept("too long")],
            fault: Some("the disk is full".into()),
            ..exchange()
        };
        for (document, line) in [
            (
                TrafficDocument::from_exchange(&exchange()),
                r#"{"model":"gpt-5","messages":4,"new":1,"status":200,"answer":"01M80QW3N3DDGKXDE279QNWF38","recorded":false,"input":812,"output":64,"ms":1400,"notes":[],"error":null}"#,
            ),
            (
                TrafficDocument::from_exchange(&failed),
                r#"{"model":"gpt-5","messages":4,"new":1,"status":200,"answer":null,"recorded":false,"input":null,"output":64,"ms":1400,"notes":["the answer was not kept: too long"],"error":"the disk is full"}"#,
            ),
            (
                TrafficDocument::Unrecorded { path: "/v1/x", status: 404, recorded: false, error: "no" },
                r#"{"path":"/v1/x","status":404,"recorded":false,"error":"no"}"#,
            ),
        ] {
            assert_eq!(serde_json::to_string(&document).unwrap(), line);
        }
    }
}
