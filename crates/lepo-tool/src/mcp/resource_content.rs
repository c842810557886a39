//! Reads resources and fills in prompts that the user named.

use serde_json::{Map, Value};

use super::client::TimeLimits;
use super::content::{self, ResultBlock, decode};
use super::elicitation::ElicitationHandler;
use super::offers::McpPrompt;
use super::servers::Servers;
use lepo_base::error::{Error, Result};
use lepo_base::hint::{Hint, HintCommand};

/// Maximum number of parts to read of a resource.
const PARTS: usize = 100;

/// A part of a resource.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResourceContent {
    /// Address of the part.
    pub uri: String,
    /// MIME type, if the server names it.
    pub mime: Option<String>,
    /// Bytes of the content.
    pub bytes: Vec<u8>,
    /// Whether the content is text.
    pub is_text: bool,
}

/// A message of a completed prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromptMessage {
    /// Whether the assistant says it; otherwise the user does.
    pub by_assistant: bool,
    /// Content of the message.
    pub block: ResultBlock,
}

/// Makes sure that the server of this name runs. Defers notices of its start.
pub async fn wake_server(servers: &mut Servers, name: &str) -> Result<()> {
    servers.awake(name).await.map(drop)
}

/// Reads a resource of a server.
pub async fn read_resource(
    servers: &mut Servers,
    server: &str,
    uri: &str,
    caller: &mut impl ElicitationHandler,
) -> Result<Vec<ResourceContent>> {
    let patience = servers.patience;
    let server = servers.awake(server).await?;
    let limits = patience.with(&server.config).call;
    let client = server.client.as_mut().ok_or_else(|| missing_error(&server.config.name))?;
    let read = client.read(uri, limits, caller).await;
    let result = server.screen_result(read).await.map_err(|words| {
        Error::remote_lines(&format!("cannot read {uri} of server {}: {words}", server.config.name))
            .hint(Hint::from(HintCommand::Tools).text(" lists its resources"))
    })?;
    let contents = result.get("contents").and_then(Value::as_array);
    let contents: Option<Vec<ResourceContent>> = contents
        .map(|all| all.iter().take(PARTS).filter_map(|one| ResourceContent::read(one, uri)).collect());
    contents.filter(|contents| !contents.is_empty()).ok_or_else(|| {
        Error::remote(format!("server {} returned nothing readable for {uri}", server.config.name))
    })
}

/// Finds a prompt in the server's list.
pub async fn listed_prompt(servers: &mut Servers, server: &str, name: &str) -> Result<McpPrompt> {
    let limit = servers.patience.connect;
    let server = servers.awake(server).await?;
    let listed = server.list_offers(TimeLimits { idle: limit, total: limit }).await;
    let server_name = &server.config.name;
    let prompts = server.offers.as_ref().map(|offers| offers.prompts.as_slice()).unwrap_or_default();
    prompts.iter().find(|prompt| prompt.name == name).cloned().ok_or_else(|| match listed {
        Ok(()) => Error::usage(format!("server {server_name} has no prompt {name:?}"))
            .hint(Hint::from(HintCommand::Tools).text(" lists its prompts")),
        Err(words) => {
            Error::remote_lines(&format!("cannot list the prompts of server {server_name}: {words}"))
        }
    })
}

/// Fills in a prompt of a server.
pub async fn fill_prompt(
    servers: &mut Servers,
    server: &str,
    name: &str,
    arguments: Map<String, Value>,
    caller: &mut impl ElicitationHandler,
) -> Result<Vec<PromptMessage>> {
    let patience = servers.patience;
    let server = servers.awake(server).await?;
    let limits = patience.with(&server.config).call;
    let client = server.client.as_mut().ok_or_else(|| missing_error(&server.config.name))?;
    let filled = client.prompt(name, arguments, limits, caller).await;
    let result = server.screen_result(filled).await.map_err(|words| {
        Error::remote_lines(&format!("prompt {name} of server {} failed: {words}", server.config.name))
    })?;
    let messages = result.get("messages").and_then(Value::as_array);
    let message = |message: &Value| PromptMessage {
        by_assistant: message.get("role").and_then(Value::as_str) == Some("assistant"),
        block: content::block(message.get("content").unwrap_or(&Value::Null)),
    };
    let messages: Vec<PromptMessage> = messages.into_iter().flatten().take(PARTS).map(message).collect();
    match messages.is_empty() {
        false => Ok(messages),
        true => Err(Error::remote(format!("prompt {name} of server {} has no messages", server.config.name))),
    }
}

fn missing_error(name: &str) -> Error {
    Error::remote(format!("server {name} is not running"))
}

impl ResourceContent {
    fn read(content: &Value, asked: &str) -> Option<ResourceContent> {
        let text = |key: &str| content.get(key).and_then(Value::as_str);
        let uri = text("uri").filter(|uri| !uri.contains(char::is_control)).unwrap_or(asked).to_string();
        let mime = text("mimeType").filter(|mime| !mime.contains(char::is_control)).map(str::to_string);
        let (bytes, is_text) = match (text("text"), text("blob")) {
            (Some(text), _) => (text.as_bytes().to_vec(), true),
            (None, Some(blob)) => (decode(blob)?, false),
            (None, None) => return None,
        };
        Some(ResourceContent { uri, mime, bytes, is_text })
    }
}
