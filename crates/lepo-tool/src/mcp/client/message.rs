//! Parses server messages more leniently than the library: one malformed tool or block must not cost the whole answer,
//! and an error without a request id must not cost a minute.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use rmcp::RoleClient;
use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, ClientRequest, CustomResult, ErrorData, JsonRpcError,
    JsonRpcMessage, RequestId, ServerJsonRpcMessage, ServerResult,
};
use rmcp::transport::Transport;
use serde::Deserialize;
use serde_json::Value;
use tokio::time::Instant;

use super::errors::TOO_DEEP;
use super::normalise::normalise;
use lepo_base::loose_json::repaired;
use lepo_base::well_formed::well_formed;

pub enum ServerLine {
    /// A message, or all messages of a batch.
    Messages(Vec<ServerJsonRpcMessage>),
    Blank,
    Junk,
}

/// The id of the request `initialize`, once it was sent.
#[derive(Clone, Default)]
pub struct InitializeId(Arc<OnceLock<RequestId>>);

impl InitializeId {
    /// Records the id, if a message to the server is `initialize`.
    pub fn record(&self, message: &ClientJsonRpcMessage) {
        if let JsonRpcMessage::Request(request) = message
            && matches!(request.request, ClientRequest::InitializeRequest(_))
        {
            let _ = self.0.set(request.id.clone());
        }
    }
}

/// Parses a line. Invalid UTF-8 becomes U+FFFD, and terminal noise around a message is skipped.
pub fn read(line: &[u8], initialize: &InitializeId) -> ServerLine {
    let text = String::from_utf8_lossy(line);
    let text = without_noise(&text);
    if text.is_empty() {
        return ServerLine::Blank;
    }
    let message = |value| message(value, initialize);
    let found = match parse(text) {
        Ok(Value::Array(items)) => items.into_iter().filter_map(message).collect(),
        Ok(value) => Vec::from_iter(message(value)),
        Err(error) => match answer_before_text(text) {
            Some(answer) => Vec::from_iter(message(answer)),
            None if text.starts_with('{') && text.contains("\"jsonrpc\"") => {
                vec![error_without_id(match error.to_string().starts_with(TOO_DEEP) {
                    true => "an answer is nested too deep",
                    false => "an answer is not valid JSON",
                })]
            }
            None => Vec::new(),
        },
    };
    if found.is_empty() { ServerLine::Junk } else { ServerLine::Messages(found) }
}

/// Parses a line. In a message, invalid characters and what is nearly JSON are repaired.
fn parse(text: &str) -> serde_json::Result<Value> {
    serde_json::from_str(text).or_else(|error| {
        if !text.starts_with(['{', '[']) || !text.contains("\"jsonrpc\"") {
            return Err(error);
        }
        let whole = well_formed(text.as_bytes()).and_then(|whole| String::from_utf8(whole).ok());
        let whole = whole.unwrap_or_else(|| text.to_string());
        let read = serde_json::from_str(&whole).ok();
        read.or_else(|| serde_json::from_str(&repaired(&whole)?).ok()).ok_or(error)
    })
}

/// Skips white space, control characters, byte order marks and escape sequences before a message, and all but the latter
/// after it.
fn without_noise(text: &str) -> &str {
    let is_noise = |c: char| c.is_whitespace() || c == '\u{feff}' || (c.is_control() && c != ESCAPE);
    let mut text = text.trim_matches(is_noise);
    while let Some(rest) = text.strip_prefix(ESCAPE).and_then(after_sequence) {
        text = rest.trim_start_matches(is_noise);
    }
    text
}

const ESCAPE: char = '\u{1b}';

/// Returns what follows an escape sequence of ECMA-48 whose first character was already taken.
fn after_sequence(text: &str) -> Option<&str> {
    let mut rest = text.chars();
    match rest.next()? {
        '[' => {
            let end = rest.as_str().trim_start_matches(|c| matches!(c, ' '..='?'));
            end.strip_prefix(|c| matches!(c, '@'..='~'))
        }
        // A title or another string, up to BEL or ESC \.
        ']' | 'P' | 'X' | '^' | '_' => {
            let (end, mark) = rest.as_str().match_indices(['\u{7}', ESCAPE]).next()?;
            let after = rest.as_str().get(end + mark.len()..)?;
            if mark == "\u{7}" { Some(after) } else { after.strip_prefix('\\') }
        }
        '{' => Some(text),
        _ => text.trim_start_matches(|c| matches!(c, ' '..='/')).strip_prefix(|c| matches!(c, '0'..='z')),
    }
}

/// Finds the answer at the start of a line with other text after it. An answer after other text is not taken, although
/// servers print log entries without a line end: a program also logs what others sent to it, so a web page or an upstream
/// server could replace an answer.
fn answer_before_text(text: &str) -> Option<Value> {
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    let value = values.next()?.ok()?;
    let is_answer =
        value.get("jsonrpc").is_some() && (value.get("result").is_some() || value.get("error").is_some());
    is_answer.then_some(value)
}

/// Parses a message as strictly as the library does, wherever that loses nothing.
fn message(mut value: Value, initialize: &InitializeId) -> Option<ServerJsonRpcMessage> {
    normalise(&mut value, initialize.0.get());
    // A list of tools may be long, and is parsed tool by tool later: the library would need several times its size.
    if value.pointer("/result/tools").is_some_and(Value::is_array)
        && let Ok(id) = RequestId::deserialize(&value["id"])
    {
        let list = value["result"].take();
        return Some(JsonRpcMessage::response(ServerResult::CustomResult(CustomResult::new(list)), id));
    }
    let raw = value.get("result").filter(|result| result.is_object()).cloned();
    match serde_json::from_value::<ServerJsonRpcMessage>(value.clone()) {
        Ok(JsonRpcMessage::Response(mut response)) => {
            // The library parses a result that it cannot read as an empty one.
            if let (ServerResult::TaskAckResult(_) | ServerResult::EmptyResult(_), Some(raw)) =
                (&response.result, raw)
            {
                response.result = ServerResult::CustomResult(CustomResult::new(raw));
            }
            Some(JsonRpcMessage::Response(response))
        }
        Ok(message) => Some(message),
        Err(_) => loose(value, raw),
    }
}

/// Parses an answer without `"jsonrpc"`, or an error of unusual form.
fn loose(value: Value, raw: Option<Value>) -> Option<ServerJsonRpcMessage> {
    let id: Option<RequestId> = serde_json::from_value(value.get("id")?.clone()).ok();
    if let Some(error) = value.get("error") {
        let words =
            error.get("message").and_then(Value::as_str).map_or_else(|| error.to_string(), str::to_string);
        return Some(JsonRpcMessage::Error(JsonRpcError::new(id, ErrorData::internal_error(words, None))));
    }
    Some(JsonRpcMessage::response(ServerResult::CustomResult(CustomResult::new(raw?)), id?))
}

/// Creates an error without a request id, marked as lepo's own.
pub fn error_without_id(words: impl Into<Cow<'static, str>>) -> ServerJsonRpcMessage {
    JsonRpcMessage::Error(JsonRpcError::new(None, ErrorData::internal_error(words, Some(OWN.into()))))
}

/// Data of an error that lepo itself found in the input: it certainly concerns an answer and needs no grace period.
const OWN: &str = "lepo";

/// Wraps a transport and attributes an error without a request id to the only open request, unless that request is
/// answered within the grace period.
pub struct AttributeErrors<T> {
    inner: T,
    waiting: Arc<Mutex<HashSet<RequestId>>>,
    grace: Duration,
    /// An error without a request id, and when it is attributed.
    unassigned: Option<(JsonRpcError, Instant)>,
    has_ended: bool,
    /// Requests that are no longer awaited, because `initialize` was sent after them: a server that starts slowly still
    /// answers them, and that is not the answer to `initialize`.
    overtaken: Arc<Mutex<HashSet<RequestId>>>,
}

impl<T> AttributeErrors<T> {
    /// Wraps `inner`. With a `grace` above zero, an error without a request id may concern something else.
    pub fn new(inner: T, grace: Duration) -> AttributeErrors<T> {
        AttributeErrors {
            inner,
            waiting: Arc::default(),
            grace,
            unassigned: None,
            has_ended: false,
            overtaken: Arc::default(),
        }
    }

    /// Whether a message answers an overtaken request; each is answered once. An error without a request id counts as
    /// such an answer, because servers answer in order.
    fn is_late(&self, message: &ServerJsonRpcMessage) -> bool {
        let mut overtaken = self.overtaken.lock().unwrap_or_else(PoisonError::into_inner);
        match message {
            JsonRpcMessage::Response(response) => overtaken.remove(&response.id),
            JsonRpcMessage::Error(error) => match &error.id {
                Some(id) => overtaken.remove(id),
                None => {
                    let first = overtaken.iter().next().cloned();
                    first.is_some_and(|id| overtaken.remove(&id))
                }
            },
            _ => false,
        }
    }

    fn pending(&self) -> std::sync::MutexGuard<'_, HashSet<RequestId>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T: Transport<RoleClient>> Transport<RoleClient> for AttributeErrors<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        message: ClientJsonRpcMessage,
    ) -> impl Future<Output = Result<(), T::Error>> + Send + 'static {
        match &message {
            JsonRpcMessage::Request(request) => {
                let mut waiting = self.pending();
                if matches!(request.request, ClientRequest::InitializeRequest(_)) {
                    let mut overtaken = self.overtaken.lock().unwrap_or_else(PoisonError::into_inner);
                    overtaken.extend(waiting.drain());
                }
                waiting.insert(request.id.clone());
            }
            JsonRpcMessage::Notification(notification) => {
                if let ClientNotification::CancelledNotification(cancelled) = &notification.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    self.pending().remove(id);
                }
            }
            _ => {}
        }
        self.inner.send(message)
    }

    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        loop {
            if self.has_ended && self.unassigned.is_none() {
                return None;
            }
            let due =
                self.unassigned.as_ref().map(|(_, due)| if self.has_ended { Instant::now() } else { *due });
            let message = tokio::select! {
                biased;
                message = self.inner.receive(), if !self.has_ended => message,
                () = tokio::time::sleep_until(due.unwrap_or_else(Instant::now)), if due.is_some() => {
                    let Some((mut error, _)) = self.unassigned.take() else { continue };
                    let mut waiting = self.pending();
                    if waiting.len() == 1 {
                        error.id = waiting.drain().next();
                    }
                    return Some(JsonRpcMessage::Error(error));
                }
            };
            match message {
                None => self.has_ended = true,
                Some(message) if self.is_late(&message) => {}
                Some(JsonRpcMessage::Error(error)) if error.id.is_none() => {
                    let grace =
                        if error.error.data == Some(OWN.into()) { Duration::ZERO } else { self.grace };
                    self.unassigned.get_or_insert((error, Instant::now() + grace));
                }
                Some(message) => {
                    let answered = match &message {
                        JsonRpcMessage::Response(response) => self.pending().remove(&response.id),
                        JsonRpcMessage::Error(error) => {
                            error.id.as_ref().is_some_and(|id| self.pending().remove(id))
                        }
                        _ => false,
                    };
                    if answered {
                        self.unassigned = None;
                    }
                    return Some(message);
                }
            }
        }
    }

    fn close(&mut self) -> impl Future<Output = Result<(), T::Error>> + Send {
        self.inner.close()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(line: &str) -> String {
        match read(line.as_bytes(), &InitializeId::default()) {
            ServerLine::Blank => "blank".to_string(),
            ServerLine::Junk => "junk".to_string(),
            ServerLine::Messages(messages) => messages.iter().map(one).collect::<Vec<_>>().join(" "),
        }
    }

    fn one(message: &ServerJsonRpcMessage) -> String {
        match message {
            JsonRpcMessage::Request(_) => "request".to_string(),
            JsonRpcMessage::Notification(_) => "notification".to_string(),
            JsonRpcMessage::Error(error) => format!("error:{}", error.error.message),
            JsonRpcMessage::Response(response) => match &response.result {
                ServerResult::CustomResult(result) => format!("custom:{}", result.0),
                ServerResult::CallToolResult(_) => "call".to_string(),
                _ => "other".to_string(),
            },
        }
    }

    #[test]
    fn what_is_sent_is_read_kindly() {
        let deep = format!(r#"{{"jsonrpc":"2.0","id":1,"result":{}{}}}"#, "[".repeat(200), "]".repeat(200));
        for (line, expected) in [
            (deep.as_str(), "error:an answer is nested too deep"),
            ("", "blank"),
            ("Server listening…", "junk"),
            (r#"{"level":"info"}"#, "junk"),
            ("{", "junk"),
            (r#"{"jsonrpc":"2.0","id":1,"result":{"a":}}"#, "error:an answer is not valid JSON"),
            // https://github.com/inkeep/open-knowledge/issues/472, https://github.com/microsoft/playwright-mcp/issues/1410
            (r#"{"jsonrpc":"2.0","id":1,"result":{"a":"x\ud83d"}}"#, "custom:{\"a\":\"x\u{fffd}\"}"),
            // https://github.com/DeusData/codebase-memory-mcp/issues/511: bytes of another encoding are replaced too.
            (
                "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"a\":NaN,\"b\":\"x\ty\"}}",
                r#"custom:{"a":null,"b":"x\ty"}"#,
            ),
            (r#"{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"x"}]}}"#, "call"),
            (
                r#"{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","content":[{"type":"odd"}]}}"#,
                r#"custom:{"resultType":"complete","content":[{"type":"odd"}]}"#,
            ),
            (r#"{"id":1,"result":{"tools":[1]}}"#, r#"custom:{"tools":[1]}"#),
            (r#"{"jsonrpc":"2.0","id":1,"error":"no"}"#, r#"error:"no""#),
            (r#"{"jsonrpc":"2.0","error":{"code":1,"message":"m"}}"#, "error:m"),
            (r#"[{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"a"}},3]"#, "error:a"),
            // https://github.com/modelcontextprotocol/typescript-sdk/pull/2790
            ("\u{feff}{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"tools\":[]}}\r", r#"custom:{"tools":[]}"#),
            ("\u{feff}", "blank"),
            // An answer after other text may come from a log entry.
            // https://github.com/Fromsko/siyuan-mcp-server/issues/4, https://github.com/microsoft/azure-devops-mcp/issues/147
            (r#"Loading 2 {shops} {"jsonrpc":"2.0","id":1,"result":{"tools":[]}}"#, "junk"),
            (r#"INFO upstream answered: {"jsonrpc":"2.0","id":1,"result":{"text":"SPOOFED"}}"#, "junk"),
            ("\u{1b}[32mINFO\u{1b}[0m \u{1b}[1m{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"a\":1}}", "junk"),
            (r#""{"jsonrpc":"2.0","id":1,"result":{"a":1}}"#, "junk"),
            (r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[]}}Found 2 shops: ["#, r#"custom:{"tools":[]}"#),
            (
                "\u{1b}]0;npx\u{7}{\"id\":1,\"jsonrpc\":\"2.0\",\"error\":{\"code\":1,\"message\":\"m\"}}",
                "error:m",
            ),
            (
                "\0\u{feff}\u{1b}[?25l\u{1b}(B\u{1b}]0;t\u{1b}\\\u{8}{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"a\":1}}\u{1b}[0m",
                r#"custom:{"a":1}"#,
            ),
            ("\u{1b}[0m\r", "blank"),
            ("\u{1b}]0;{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"a\":1}}", "junk"),
            // https://github.com/shinpr/sub-agents-mcp/issues/18
            (r#"{"timestamp":"t","level":"info","message":"m","service":"s","name":"n"}"#, "junk"),
            (r#"received {"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}"#, "junk"),
            // https://github.com/explodinglabs/jsonrpcclient/pull/57
            (r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[]},"error":null}"#, r#"custom:{"tools":[]}"#),
            (r#"{"jsonrpc":"2.0","id":1,"result":null,"error":{"code":1,"message":"m"}}"#, "error:m"),
        ] {
            assert_eq!(kind(line), expected, "{line}");
        }
    }
}
