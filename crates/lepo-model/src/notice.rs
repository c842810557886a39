//! Notices: values that an answer tells a person besides itself; a view has the words for them.

use std::time::Duration;

use super::error_text::hide_key;
use lepo_base::secret::Secret;

/// Something that a person is told. The first text is the name of the model, unless it says otherwise.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Notice {
    /// It is asked again in a form that it accepts; the words, behind its name, are of the quirk that was learned.
    Learned(String, &'static str),
    /// It rejects a message of its own as it was sent back, with these words, and is asked without the thinking in it.
    OwnMessageRejected(String, String),
    /// It does not accept the schema of this tool, which is left out; and its words.
    ToolLeftOut(String, String, String),
    /// Nothing answers at its `base_url`; it is asked at this address.
    OtherAddress(String, String),
    /// It wrote a call that its server could not read, and is asked once more; what it wrote, or the server's words.
    Slipped(String, String),
    /// The text so far was thinking: a mark told its end and not its beginning.
    WasThinking(String),
    /// It failed in a way that may pass, and is asked again.
    Retries(Retry),
    /// A tool of the provider's server failed: the tool, and the code of its error.
    WebToolFailed(String, String),
    /// A new session of this agent is given the conversation so far as text.
    ToldAsText(String),
    /// This agent starts in a sandbox without a network: the word of its access, and the name of the sandbox.
    Held(String, &'static str, &'static str),
    /// Words of the program that runs the embedded model.
    Program(String),
}

/// A request that is made again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Retry {
    /// Name of the model.
    pub model: String,
    /// The failure.
    pub after: Passing,
    /// The wait before the request.
    pub wait: Duration,
    /// Number of this try.
    pub attempt: u32,
    /// The most tries.
    pub of: u32,
}

/// A failure that may pass.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Passing {
    /// An HTTP status.
    Status(u16),
    /// Words of the server, within its answer.
    Words(String),
}

impl Notice {
    /// The same without the key, should a server have repeated it.
    pub(super) fn without_key(mut self, key: Option<&Secret>) -> Notice {
        let texts: &mut [&mut String] = match &mut self {
            Notice::OwnMessageRejected(model, words)
            | Notice::WebToolFailed(model, words)
            | Notice::OtherAddress(model, words)
            | Notice::Slipped(model, words) => &mut [model, words],
            Notice::ToolLeftOut(model, tool, words) => &mut [model, tool, words],
            Notice::Retries(Retry { model, after: Passing::Words(words), .. }) => &mut [model, words],
            Notice::Retries(Retry { model, after: Passing::Status(_), .. })
            | Notice::Learned(model, _)
            | Notice::WasThinking(model)
            | Notice::ToldAsText(model)
            | Notice::Held(model, ..)
            | Notice::Program(model) => &mut [model],
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
            after: Passing::Words(says()),
            wait: Duration::ZERO,
            attempt: 1,
            of: 3,
        };
        for notice in [Notice::OwnMessageRejected("m".into(), says()), Notice::Retries(retry)] {
            let told = format!("{:?}", notice.clone().without_key(Some(&key)));
            assert!(!told.contains("abcdefgh") && told.contains("no "), "{told}");
            assert_eq!(notice.clone().without_key(None), notice);
        }
    }
}
