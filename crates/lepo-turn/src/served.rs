//! Resources and prompts of MCP servers for a question: each resource a visible bubb before it, and a prompt,
//! whose messages become bubbs of their roles. All of it is there before anything is written.

use std::fmt;
use std::future::Future;
use std::pin::Pin;

use super::attach::{Looked, NewFile, keep_files};
use super::flow::Turn;
use super::question::{Question, fenced};
use super::result_text::{ResultText, blob_line};
use super::{Event, Front, Masking};
use lepo_base::error::{Error, Result};
use lepo_store::bubb::{Kind, counted_in_thousands};
use lepo_store::store::Store;
use lepo_tool::ToolMode;
use lepo_tool::mcp::{Asked, Block, Caller, Content, FormAnswer, PromptMessage};

/// A bubb to be: its kind, whether it is hidden, its text.
type Opening = (Kind, bool, String);

/// A resource of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResourceAddress {
    /// The server.
    pub server: String,
    /// Address of the resource on the server.
    pub uri: String,
}

/// A prompt of a server, and what it is filled in with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromptWish {
    /// The server.
    pub server: String,
    /// The prompt.
    pub name: String,
    /// Arguments by name.
    pub named: Vec<(String, String)>,
    /// More of them: `NAME=VALUE`, or values in the prompt's order.
    pub words: Vec<String>,
}

/// The resources and the prompt that servers are to give a question.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Served {
    /// Resources, in order.
    pub resources: Vec<ResourceAddress>,
    /// A prompt.
    pub prompt: Option<PromptWish>,
}

impl Served {
    /// True if it is nothing.
    pub fn is_empty(&self) -> bool {
        self.resources.is_empty() && self.prompt.is_none()
    }
}

impl ResourceAddress {
    /// Reads `mcp:SERVER/URI`; `None` for anything that does not begin so.
    pub fn of_context(word: &str) -> Option<Result<ResourceAddress>> {
        let rest = word.strip_prefix("mcp:")?;
        let wrong = || {
            Error::usage(format!("{word} names no resource"))
                .hint("a resource is mcp:SERVER/URI; a file of that name is ./mcp:…")
        };
        let found = rest.split_once('/').filter(|(server, uri)| !server.is_empty() && !uri.is_empty());
        Some(
            found
                .map(|(server, uri)| ResourceAddress { server: server.into(), uri: uri.into() })
                .ok_or_else(wrong),
        )
    }

    /// The resources that a question names as `@SERVER:URI`, each once; a sentence's end is no part of them.
    pub fn in_question(text: &str, servers: &[String]) -> Vec<ResourceAddress> {
        let mut found = Vec::new();
        for word in text.split_whitespace().filter_map(|word| word.strip_prefix('@')) {
            let server = servers.iter().filter(|server| {
                word.strip_prefix(server.as_str()).is_some_and(|rest| rest.len() > 1 && rest.starts_with(':'))
            });
            let Some(server) = server.max_by_key(|server| server.len()) else { continue };
            let uri = word.strip_prefix(server.as_str()).and_then(|rest| rest.strip_prefix(':'));
            let uri =
                uri.unwrap_or_default().trim_end_matches(['.', ',', ';', ':', '!', '?', ')', '"', '\'']);
            let address = ResourceAddress { server: server.clone(), uri: uri.to_string() };
            if !uri.is_empty() && !found.contains(&address) {
                found.push(address);
            }
        }
        found
    }
}

impl fmt::Display for ResourceAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "mcp:{}/{}", self.server, self.uri)
    }
}

/// Passes a server's questions and progress to the view of the turn.
pub(super) struct FrontCaller<'f> {
    /// The view.
    pub front: &'f mut dyn Front,
    /// The server that works.
    pub server: &'f str,
}

impl Caller for FrontCaller<'_> {
    fn hears(&mut self, words: &str) {
        self.front.happens(Event::Progress(words));
    }

    async fn answers(&mut self, asked: Asked) -> FormAnswer {
        let answering: Pin<Box<dyn Future<Output = FormAnswer> + '_>> =
            self.front.fill_in(self.server, asked);
        answering.await
    }
}

impl Turn<'_> {
    /// Fetches the resources and the prompt from their servers. Writes nothing but blobs.
    pub(super) async fn fetch(&mut self, served: &Served) -> Result<Vec<Opening>> {
        if served.is_empty() {
            return Ok(Vec::new());
        }
        if self.env.settings().tool_call_mode == ToolMode::Off {
            return Err(Error::usage("tools are off, and so are MCP servers")
                .hint("--tools manual, or `tool_call_mode` in config.toml, turns them on"));
        }
        self.servers_ready().await?;
        let (store, limit) = (self.env.store.clone(), self.env.settings().output_limit as usize);
        let mut opening = Vec::new();
        for address in &served.resources {
            let Turn { env, servers, front, .. } = self;
            let mut caller = FrontCaller { front: &mut **front, server: &address.server };
            let reading = servers.read(&address.server, &address.uri, &mut caller);
            let contents = env.interrupt.or(reading).await?;
            let bytes: usize = contents.iter().map(|content| content.bytes.len()).sum();
            self.front
                .happens(Event::Say(&format!("read {address}: {}", counted_in_thousands(bytes, "byte"))));
            opening.push((
                Kind::System,
                false,
                resource_text(&store, address, contents, (limit, &self.env.masking))?,
            ));
        }
        if let Some(wish) = &served.prompt {
            let messages = self.prompt_messages(wish).await?;
            for message in messages {
                opening.push(self.message_text(&store, &wish.server, message, limit)?);
            }
        }
        Ok(opening)
    }

    async fn prompt_messages(&mut self, wish: &PromptWish) -> Result<Vec<PromptMessage>> {
        let Turn { env, servers, front, .. } = self;
        let mut caller = FrontCaller { front: &mut **front, server: &wish.server };
        let filling = async {
            let prompt = servers.listed_prompt(&wish.server, &wish.name).await?;
            let arguments = prompt.arguments(&wish.named, &wish.words).map_err(Error::usage)?;
            servers.prompt(&wish.server, &wish.name, arguments, &mut caller).await
        };
        env.interrupt.or(filling).await
    }

    /// A message of a prompt as a bubb; an image of the user's is attached, as one of a question is.
    fn message_text(
        &self,
        store: &Store,
        server: &str,
        message: PromptMessage,
        limit: usize,
    ) -> Result<Opening> {
        let kind = if message.by_assistant { Kind::Assistant } else { Kind::User };
        let text = match message.block {
            Block::Text(text) => capped(store, &text, (limit, &self.env.masking))?,
            Block::Bytes(what, bytes) => match NewFile::of_bytes(&what, bytes)? {
                Looked::Media(file) if kind == Kind::User => {
                    self.env.configured.check_files(std::slice::from_ref(&file), self.config)?;
                    let text = format!("[{what} of server {server}]");
                    keep_files(store, Question { text, files: vec![file], ..Question::default() })?
                }
                Looked::Media(file) => format!("[{what}]\n{}", file.keep(store)?.line()),
                Looked::Other(bytes) => {
                    format!("[{what}]\n{}", blob_line(store, &self.env.masking, &bytes)?)
                }
            },
        };
        Ok((kind, false, text))
    }
}

/// The contents of a resource, each text in a fence; then a line for each blob.
fn resource_text(
    store: &Store,
    address: &ResourceAddress,
    contents: Vec<Content>,
    (limit, masking): (usize, &Masking),
) -> Result<String> {
    let (mut parts, mut blobs) = (Vec::new(), Vec::new());
    for content in contents {
        let name = match content.uri == address.uri {
            true => address.to_string(),
            false => format!("{address} ({})", content.uri),
        };
        let mime = content.mime.map(|mime| format!(", {mime}")).unwrap_or_default();
        match String::from_utf8(content.bytes) {
            Ok(text) if content.is_text => {
                let mut capped = ResultText::new(Vec::new(), masking);
                capped.add_capped(store, &text, limit)?;
                parts.push(fenced(&format!("{name}{mime}"), shown(&capped).trim_end_matches(['\n', '\r'])));
                blobs.append(&mut capped.blobs);
            }
            bytes => {
                let bytes = bytes.map_or_else(|error| error.into_bytes(), String::into_bytes);
                parts.push(format!("{name}{mime}"));
                blobs.push(blob_line(store, masking, &bytes)?);
            }
        }
    }
    let mut text = parts.join("\n\n");
    for line in blobs {
        text.push('\n');
        text.push_str(&line);
    }
    Ok(text)
}

/// A text as it is, or its begin and end and behind them the line of the whole.
fn capped(store: &Store, text: &str, (limit, masking): (usize, &Masking)) -> Result<String> {
    let mut capped = ResultText::new(Vec::new(), masking);
    capped.add_capped(store, text, limit)?;
    Ok(match capped.blobs.as_slice() {
        [] => text.to_string(),
        lines => format!("{}\n{}", shown(&capped).trim_end_matches('\n'), lines.join("\n")),
    })
}

fn shown(text: &ResultText) -> String {
    String::from_utf8_lossy(&text.text).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_context_may_be_a_resource() {
        for (word, read) in [
            ("mcp:docs/file:///a.md", Some(Ok("mcp:docs/file:///a.md"))),
            ("mcp:docs/a", Some(Ok("mcp:docs/a"))),
            ("mcp:docs", Some(Err(()))),
            ("mcp:/a", Some(Err(()))),
            ("mcp:docs/", Some(Err(()))),
            ("./mcp:docs/a", None),
            ("src/main.rs", None),
        ] {
            let found = ResourceAddress::of_context(word);
            let found = found.map(|found| found.map(|address| address.to_string()).map_err(|_| ()));
            assert_eq!(found, read.map(|read| read.map(str::to_string)), "{word}");
        }
    }

    #[test]
    fn a_question_names_resources_of_known_servers() {
        let servers = ["docs".to_string(), "docs-2".to_string(), "한글".to_string()];
        for (text, found) in [
            ("what is in @docs:file:///a.md?", vec!["mcp:docs/file:///a.md"]),
            ("@docs:a://b and (@docs:a://b)", vec!["mcp:docs/a://b"]),
            ("@docs-2:x @한글:y.", vec!["mcp:docs-2/x", "mcp:한글/y"]),
            ("@other:x me@docs:x @docs @docs: @src/main.rs", vec![]),
        ] {
            let read = ResourceAddress::in_question(text, &servers);
            assert_eq!(read.iter().map(ToString::to_string).collect::<Vec<_>>(), found, "{text}");
        }
    }
}
