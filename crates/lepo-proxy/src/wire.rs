//! The four kinds of recorded requests, by the path of their POST.

/// The form of a request and of its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ProxyWire {
    /// OpenAI's Chat Completions.
    Chat,
    /// OpenAI's Responses.
    Responses,
    /// Anthropic's Messages.
    Messages,
    /// Ollama's chat.
    Ollama,
}

impl ProxyWire {
    /// Returns the wire of a `POST` to the path, which has no query; `None` for a path that is only passed on.
    pub fn from_path(path: &str) -> Option<ProxyWire> {
        let mut parts = path.trim_end_matches('/').rsplit('/');
        let (last, parent) = (parts.next()?, parts.next());
        match (parent, last) {
            (Some("chat"), "completions") => Some(ProxyWire::Chat),
            (Some("api"), "chat") => Some(ProxyWire::Ollama),
            (Some(_), "responses") => Some(ProxyWire::Responses),
            // The Assistants interface has messages of its own kind below its threads.
            (Some(_), "messages") if !path.split('/').any(|part| part == "threads") => {
                Some(ProxyWire::Messages)
            }
            _ => None,
        }
    }

    /// Returns the name of the interface, for messages.
    pub fn title(self) -> &'static str {
        match self {
            ProxyWire::Chat => "OpenAI's Chat Completions",
            ProxyWire::Responses => "OpenAI's Responses",
            ProxyWire::Messages => "Anthropic's Messages",
            ProxyWire::Ollama => "Ollama's chat",
        }
    }

    /// Returns the path of its requests below the `base_url` of a model.
    pub fn endpoint(self) -> &'static [&'static str] {
        match self {
            ProxyWire::Chat => &["chat", "completions"],
            ProxyWire::Responses => &["responses"],
            ProxyWire::Messages => &["v1", "messages"],
            ProxyWire::Ollama => &["api", "chat"],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::ProxyWire;

    #[test]
    fn the_end_of_a_path_says_the_wire() {
        for (path, wire) in [
            ("/v1/chat/completions", Some(ProxyWire::Chat)),
            ("/openai/deployments/a/chat/completions", Some(ProxyWire::Chat)),
            ("/chat/completions/", Some(ProxyWire::Chat)),
            ("/v1/completions", None),
            ("/v1/responses", Some(ProxyWire::Responses)),
            ("/responses", Some(ProxyWire::Responses)),
            ("/v1/responses/resp_1", None),
            ("/v1/responses/compact", None),
            ("/v1/messages", Some(ProxyWire::Messages)),
            ("/v1/messages/count_tokens", None),
            ("/v1/threads/thread_1/messages", None),
            ("/api/chat", Some(ProxyWire::Ollama)),
            ("/api/generate", None),
            ("/v1/models", None),
            ("/", None),
            ("", None),
        ] {
            assert_eq!(ProxyWire::from_path(path), wire, "{path}");
        }
    }
}
