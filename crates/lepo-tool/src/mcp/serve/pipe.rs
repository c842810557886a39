//! Messages on lepo's own stdin and stdout, one per line. A malformed line is answered with an error, and the end of
//! stdin is reported only once every request has its answer: `printf … | lepo mcp serve` works.

use std::collections::HashSet;
use std::io::{self, BufRead, Read};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use rmcp::RoleServer;
use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, ClientRequest, ErrorData, JsonRpcError, JsonRpcMessage,
    RequestId, ServerJsonRpcMessage,
};
use rmcp::transport::Transport;
use serde::Deserialize;
use serde_json::Value;
use tokio::sync::{Notify, mpsc};

/// Maximum length of a line in bytes.
const LONGEST: u64 = 4 << 20;

/// Number of lines to read ahead.
const AHEAD: usize = 16;

/// Most requests without an answer: no further line is read until one of them is answered, so that a client that sends
/// without reading cannot fill the memory.
const OPEN: usize = 16;

/// The source of messages.
pub type LineSource = Box<dyn BufRead + Send>;

/// Writes a whole line.
pub type LineSink = Box<dyn FnMut(&str) -> io::Result<()> + Send>;

enum InputLine {
    Text(Vec<u8>),
    TooLong,
}

pub struct Pipe {
    lines: mpsc::Receiver<InputLine>,
    shared: Arc<PipeState>,
    /// Whether a request has come; before the first one, no other message has a meaning.
    has_begun: bool,
}

struct PipeState {
    output: Mutex<LineSink>,
    /// Requests without an answer.
    open: Mutex<HashSet<RequestId>>,
    answered: Notify,
}

impl Pipe {
    /// Reads in a thread of its own, which ends with the input.
    pub fn new(input: LineSource, output: LineSink) -> Pipe {
        let (sender, lines) = mpsc::channel(AHEAD);
        // Without a thread the receiver sees the end of the input at once.
        let _ = thread::Builder::new().name("stdin".into()).spawn(move || read_lines(input, &sender));
        let shared =
            PipeState { output: Mutex::new(output), open: Mutex::default(), answered: Notify::default() };
        Pipe { lines, shared: Arc::new(shared), has_begun: false }
    }

    /// Waits until at most `most` requests are open.
    async fn drained(&self, most: usize) {
        loop {
            let answered = self.shared.answered.notified();
            if self.shared.open().len() <= most {
                return;
            }
            answered.await;
        }
    }
}

impl PipeState {
    fn open(&self) -> MutexGuard<'_, HashSet<RequestId>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn close(&self, id: &RequestId) {
        self.open().remove(id);
        self.answered.notify_one();
    }

    fn write(&self, message: &ServerJsonRpcMessage) -> io::Result<()> {
        let line = serde_json::to_string(message)?;
        let written = (self.output.lock().unwrap_or_else(PoisonError::into_inner))(&line);
        match message {
            JsonRpcMessage::Response(response) => self.close(&response.id),
            JsonRpcMessage::Error(JsonRpcError { id: Some(id), .. }) => self.close(id),
            _ => {}
        }
        written
    }
}

fn read_lines(mut input: LineSource, to: &mpsc::Sender<InputLine>) {
    loop {
        let mut bytes = Vec::new();
        match (&mut input).take(LONGEST).read_until(b'\n', &mut bytes) {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
        let mut line = InputLine::Text(bytes);
        if let InputLine::Text(bytes) = &line
            && bytes.len() as u64 >= LONGEST
            && !bytes.ends_with(b"\n")
        {
            line = InputLine::TooLong;
            if input.skip_until(b'\n').is_err() {
                return;
            }
        }
        if to.blocking_send(line).is_err() {
            return;
        }
    }
}

/// Parses a line into a message, or into the error to answer with; `None` for a blank line or a malformed notification.
fn message(line: &[u8]) -> Option<Result<ClientJsonRpcMessage, JsonRpcError>> {
    let refuse = |id, error| Some(Err(JsonRpcError::new(id, error)));
    let text = String::from_utf8_lossy(line);
    let text = text.trim_start_matches('\u{feff}').trim();
    if text.is_empty() {
        return None;
    }
    let value: Value = match serde_json::from_str(text) {
        Ok(value) => value,
        Err(_) => return refuse(None, ErrorData::parse_error("not a line of JSON", None)),
    };
    let id = value.get("id").and_then(|id| RequestId::deserialize(id).ok());
    let method = value.get("method").and_then(Value::as_str).unwrap_or_default().to_string();
    match serde_json::from_value::<ClientJsonRpcMessage>(value) {
        Ok(message) => Some(Ok(message)),
        Err(_) if method.is_empty() => refuse(id, ErrorData::invalid_request("not a message", None)),
        Err(_) if id.is_none() => None, // a notification has no answer
        Err(_) => {
            refuse(id, ErrorData::invalid_params(format!("{method}: its parameters cannot be read"), None))
        }
    }
}

impl Transport<RoleServer> for Pipe {
    type Error = io::Error;

    fn send(
        &mut self,
        message: ServerJsonRpcMessage,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let shared = Arc::clone(&self.shared);
        async move { shared.write(&message) }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            self.drained(OPEN - 1).await;
            let Some(line) = self.lines.recv().await else {
                self.drained(0).await;
                return None;
            };
            let read = match line {
                InputLine::Text(bytes) => message(&bytes),
                InputLine::TooLong => Some(Err(JsonRpcError::new(
                    None,
                    ErrorData::invalid_request(format!("a line is longer than {} MiB", LONGEST >> 20), None),
                ))),
            };
            let message = match read {
                None => continue,
                Some(Ok(message)) => message,
                Some(Err(error)) => {
                    if self.shared.write(&JsonRpcMessage::Error(error)).is_err() {
                        return None;
                    }
                    continue;
                }
            };
            match &message {
                JsonRpcMessage::Request(request) => {
                    self.has_begun = true;
                    // A subscription has no answer until it ends.
                    if !matches!(request.request, ClientRequest::SubscriptionsListenRequest(_)) {
                        self.shared.open().insert(request.id.clone());
                    }
                }
                JsonRpcMessage::Notification(notification) => {
                    if let ClientNotification::CancelledNotification(cancelled) = &notification.notification
                        && let Some(id) = &cancelled.params.request_id
                    {
                        self.shared.close(id);
                    }
                    if !self.has_begun {
                        continue;
                    }
                }
                _ if !self.has_begun => continue,
                _ => {}
            }
            return Some(message);
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_a_message_or_has_an_answer_that_says_why_not() {
        for (line, expected) in [
            (r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#, "message"),
            (r#"{"jsonrpc":"2.0","id":"a","method":"no/such"}"#, "message"),
            (r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#, "message"),
            ("", "nothing"),
            (" \r", "nothing"),
            ("hello", "-32700 without id"),
            ("[1]", "-32600 without id"),
            (r#"{"id":7}"#, "-32600 with id"),
            (r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":7}}"#, "message"),
            ("\u{fffd}{", "-32700 without id"),
            // https://github.com/modelcontextprotocol/kotlin-sdk/issues/956, https://github.com/joshrotenberg/tower-mcp/issues/795
            ("\u{feff}{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"ping\"}\r", "message"),
            ("\u{feff}", "nothing"),
        ] {
            let got = match message(line.as_bytes()) {
                None => "nothing".to_string(),
                Some(Ok(_)) => "message".to_string(),
                Some(Err(error)) => {
                    format!(
                        "{} {} id",
                        error.error.code.0,
                        if error.id.is_some() { "with" } else { "without" }
                    )
                }
            };
            assert_eq!(got, expected, "{line}");
        }
    }

    #[tokio::test]
    async fn no_request_is_taken_while_too_many_have_no_answer() {
        let lines: String = (0..OPEN + 4)
            .map(|id| format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"ping\"}}\n"))
            .collect();
        let mut pipe = Pipe::new(Box::new(io::Cursor::new(lines)), Box::new(|_| Ok(())));
        for _ in 0..OPEN {
            assert!(matches!(pipe.receive().await, Some(JsonRpcMessage::Request(_))));
        }
        // The next line is available, and is not consumed.
        while pipe.lines.is_empty() {
            tokio::task::yield_now().await;
        }
        let taken =
            tokio::select! { biased; _ = pipe.receive() => true, () = tokio::task::yield_now() => false };
        assert!(!taken);
        let answer = serde_json::from_str(r#"{"jsonrpc":"2.0","id":3,"result":{}}"#).unwrap();
        pipe.send(answer).await.unwrap();
        assert!(matches!(pipe.receive().await, Some(JsonRpcMessage::Request(_))));
    }

    #[test]
    fn an_endless_line_is_passed_over_and_the_next_one_read() {
        let mut bytes = vec![b'x'; (LONGEST + 10) as usize];
        bytes.extend(b"\nshort\nlast");
        let (sender, mut lines) = mpsc::channel(AHEAD);
        read_lines(Box::new(io::Cursor::new(bytes)), &sender);
        assert!(matches!(lines.try_recv(), Ok(InputLine::TooLong)));
        assert!(matches!(lines.try_recv(), Ok(InputLine::Text(text)) if text == b"short\n"));
        assert!(matches!(lines.try_recv(), Ok(InputLine::Text(text)) if text == b"last"));
    }
}
