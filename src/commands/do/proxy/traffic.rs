//! The proxy's lines on stderr: one for each request, and the sums at the end.

use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};

use crate::term::{StatusLine, print_status};
use lepo_proxy::{ExchangeFacts, ExchangeNote, ProxyEvent};

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
                print_status(&exchange_json(exchange).to_string())
            }
            (TrafficForm::Json, ProxyEvent::Unrecorded { path, message }) => {
                let unrecorded = json!({ "path": path, "status": 404, "recorded": false, "error": message });
                print_status(&unrecorded.to_string());
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
            format!("{} · {} in, {} out", count_text(sums.requests, "request"), sums.input, sums.output);
        if sums.failures > 0 {
            line.push_str(&format!(" · {} without an answer", sums.failures));
        }
        print_status(&line);
    }
}

fn count_text(count: u64, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

fn exchange_line(exchange: &ExchangeFacts) -> String {
    let mut parts = vec![
        if exchange.model.is_empty() { "no model".to_string() } else { exchange.model.clone() },
        format!("{}, {} new", count_text(exchange.messages as u64, "message"), exchange.new),
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

fn exchange_json(exchange: &ExchangeFacts) -> Value {
    json!({
        "model": exchange.model,
        "messages": exchange.messages,
        "new": exchange.new,
        "status": exchange.status,
        "answer": exchange.answer.map(|id| id.to_string()),
        "recorded": exchange.is_recorded,
        "input": exchange.input,
        "output": exchange.output,
        "ms": exchange.took.as_millis() as u64,
        "notes": exchange.notes.iter().map(note_text).collect::<Vec<_>>(),
        "error": exchange.fault,
    })
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

    #[test]
    fn a_request_is_one_line() {
        let exchange = ExchangeFacts {
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
        };
        let line = "gpt-5 · 4 messages, 1 new · 01M80QW3N3DDGKXDE279QNWF38 · 812 in, 64 out · 1.4 s";
        assert_eq!(exchange_line(&exchange), line);
        let failed =
            ExchangeFacts { answer: None, input: None, output: None, status: 401, messages: 1, ..exchange };
        assert_eq!(exchange_line(&failed), "gpt-5 · 1 message, 1 new · status 401 · 1.4 s");
    }
}
