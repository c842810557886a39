//! Resources and prompts of MCP servers for a question: each resource becomes a visible bubb before it, and
//! the messages of a prompt become bubbs of their roles. All of them are fetched before anything is written.

use std::fmt;

use lepo_base::error::{Error, Result};

/// A resource of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResourceAddress {
    /// Name of the server.
    pub server: String,
    /// URI of the resource on the server.
    pub uri: String,
}

/// A prompt of a server, with its arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerPrompt {
    /// Name of the server.
    pub server: String,
    /// Name of the prompt.
    pub name: String,
    /// Arguments by name.
    pub named: Vec<(String, String)>,
    /// Further arguments: `NAME=VALUE`, or values in the prompt's order.
    pub args: Vec<String>,
}

/// The resources and the prompt that servers provide for a question.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ServerContent {
    /// Resources, in order.
    pub resources: Vec<ResourceAddress>,
    /// A prompt.
    pub prompt: Option<ServerPrompt>,
}

impl ServerContent {
    /// Whether there are neither resources nor a prompt.
    pub fn is_empty(&self) -> bool {
        self.resources.is_empty() && self.prompt.is_none()
    }
}

impl ResourceAddress {
    /// Parses `mcp:SERVER/URI`; `None` for a text without this prefix.
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

    /// Returns the resources that a question mentions as `@SERVER:URI`, without duplicates. Punctuation at
    /// the end of a sentence is not part of a URI.
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
