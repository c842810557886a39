//! Parses server messages more leniently than the library: one malformed tool or block must not cost the whole answer,
//! and an error without a request id must not cost a minute.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};
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

/// Parses a line. Invalid UTF-8 becomes U+FFFD, and a byte order mark is skipped.
pub fn read(line: &[u8]) -> ServerLine {
    let text = String::from_utf8_lossy(line);
    let text = text.trim_matches(|c: char| c.is_whitespace() || matches!(c, '\u{feff}' | '\0'));
    if text.is_empty() {
        return ServerLine::Blank;
    }
    let found = match parse(text) {
        Ok(Value::Array(items)) => items.into_iter().filter_map(message).collect(),
        Ok(value) => Vec::from_iter(message(value)),
        Err(error) => match answer_within(text) {
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

/// Number of offsets of a line at which an answer is searched for.
const OFFSETS: usize = 16;

/// Finds the answer in a line with a log entry or an escape sequence before or after it. Requests are not searched for,
/// because programs log the requests that they receive.
fn answer_within(text: &str) -> Option<Value> {
    let starts =
        text.match_indices('{').map(|(start, _)| start).take(if text.starts_with('{') { 1 } else { OFFSETS });
    for start in starts {
        let mut values = serde_json::Deserializer::from_str(text.get(start..)?).into_iter::<Value>();
        if let Some(Ok(value)) = values.next()
            && value.get("jsonrpc").is_some()
            && (value.get("result").is_some() || value.get("error").is_some())
        {
            return Some(value);
        }
    }
    None
}

/// Parses a message as strictly as the library does, wherever that loses nothing.
fn message(mut value: Value) -> Option<ServerJsonRpcMessage> {
    normalise(&mut value);
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
        match read(line.as_bytes()) {
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
            // https://github.com/Fromsko/siyuan-mcp-server/issues/4, https://github.com/microsoft/azure-devops-mcp/issues/147
            (r#"Loading 2 {shops} {"jsonrpc":"2.0","id":1,"result":{"tools":[]}}"#, r#"custom:{"tools":[]}"#),
            (r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[]}}Found 2 shops: ["#, r#"custom:{"tools":[]}"#),
            (
                "\u{1b}]0;npx\u{7}{\"id\":1,\"jsonrpc\":\"2.0\",\"error\":{\"code\":1,\"message\":\"m\"}}",
                "error:m",
            ),
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
