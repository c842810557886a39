//! Notices to the user besides the answer, as values; a view has the texts.

use std::time::Duration;

use super::error_text::hide_key;
use lepo_base::secret::Secret;

/// A notice to the user. The first text is the name of the model, unless stated otherwise.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ModelNotice {
    /// The request is repeated in a form that the model accepts; with the text of the learned quirk, which follows
    /// the name.
    Learned(String, &'static str),
    /// The model rejected its own message, with this error, and is asked again without the thinking in it.
    OwnMessageRejected(String, String),
    /// The model rejects the schema of this tool, which is omitted; with its error.
    ToolLeftOut(String, String, String),
    /// Nothing answers at `base_url`; this URL is used instead.
    OtherAddress(String, String),
    /// The server could not parse the model's call, and the request is repeated; with the call, or the server's
    /// error.
    Slipped(String, String),
    /// The text so far was thinking: it had an end mark, but no start mark.
    WasThinking(String),
    /// A temporary failure; the request is repeated.
    Retries(Retry),
    /// A tool of the provider's server failed: the tool, and its error code.
    WebToolFailed(String, String),
    /// A new session of this agent receives the conversation so far as text.
    SentAsText(String),
    /// This agent starts in a sandbox without a network: its access, and the name of the sandbox.
    Sandboxed(String, &'static str, &'static str),
    /// A text of the program that runs the embedded model.
    Program(String),
}

/// A repeated request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Retry {
    /// The name of the model.
    pub model: String,
    /// The failure before it.
    pub after: TransientFailure,
    /// The delay before the request.
    pub wait: Duration,
    /// The number of this attempt.
    pub attempt: u32,
    /// The maximum number of attempts.
    pub tries: u32,
}

/// A temporary failure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TransientFailure {
    /// An HTTP status.
    Status(u16),
    /// An error message of the server, within its answer.
    Message(String),
}

impl ModelNotice {
    /// Removes the key, in case a server repeats it.
    pub(super) fn without_key(mut self, key: Option<&Secret>) -> ModelNotice {
        let texts: &mut [&mut String] = match &mut self {
            ModelNotice::OwnMessageRejected(model, words)
            | ModelNotice::WebToolFailed(model, words)
            | ModelNotice::OtherAddress(model, words)
            | ModelNotice::Slipped(model, words) => &mut [model, words],
            ModelNotice::ToolLeftOut(model, tool, words) => &mut [model, tool, words],
            ModelNotice::Retries(Retry { model, after: TransientFailure::Message(words), .. }) => {
                &mut [model, words]
            }
            ModelNotice::Retries(Retry { model, after: TransientFailure::Status(_), .. })
            | ModelNotice::Learned(model, _)
            | ModelNotice::WasThinking(model)
            | ModelNotice::SentAsText(model)
            | ModelNotice::Sandboxed(model, ..)
            | ModelNotice::Program(model) => &mut [model],
        };
        texts.iter_mut().for_each(|text| **text = hide_key(text, key).into_owned());
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_that_a_server_repeats_is_hidden() {
        let key = Secret::new("sk-abcdefgh");
        let says = || "no sk-abcdefgh".to_string();
        let retry = Retry {
            model: "m".into(),
            after: TransientFailure::Message(says()),
            wait: Duration::ZERO,
            attempt: 1,
            tries: 3,
        };
        for notice in [ModelNotice::OwnMessageRejected("m".into(), says()), ModelNotice::Retries(retry)] {
            let text = format!("{:?}", notice.clone().without_key(Some(&key)));
            assert!(!text.contains("abcdefgh") && text.contains("no "), "{text}");
            assert_eq!(notice.clone().without_key(None), notice);
        }
    }
}
