//! Texts of a model's or a provider's notices.

use std::time::Duration;

use super::table::{COMMANDS, MODELS, ManualNotice, name_values, notices};
use crate::term::StatusLine;
use lepo_base::hint::HintTarget;
use lepo_model::{ModelNotice, Retry, TransientFailure};

notices! { ModelNotice, _at;
    ModelNotice::Retries(Retry { model, after, wait, attempt, tries: most }),
        failure = failure(after), seconds = seconds(*wait) =>
        plain "{model} {failure}: retrying in {seconds} s ({attempt} of {most})"
        as "{model} answered 503: retrying in 1.0 s (1 of 3)",
        MODELS: "The failure may pass. If the last try fails too, `lepo do --retry` asks again later.";
    ModelNotice::Learned(model, quirk) => plain "{model} {quirk}"
        as "{model} does not accept `temperature`: retrying without it",
        MODELS: "The server refused that part of the request. lepo remembers this for the model, and says it only once.";
    ModelNotice::OwnMessageRejected(model, reason) =>
        plain "{model} rejects its own earlier message: retrying without the thinking in it ({reason})",
        MODELS: "Its earlier thinking is not sent back; the answers are.";
    ModelNotice::ToolLeftOut(model, tool, reason), tool = tool_label(tool) =>
        warning "{model} does not accept the schema of {tool}, which is left out ({reason})"
        as "{model} does not accept the schema of tool {tool} of MCP server {server}, which is left out ({reason})",
        MODELS: "The other tools are offered. The MCP server should fix the schema; another model may accept it.";
    ModelNotice::OtherAddress(model, url) =>
        note "nothing answers at the `base_url` of {model}: trying {url}, which is probably meant",
        MODELS: "The key goes to the same host. `lepo model` and lepo-config(5) say where it is configured.";
    ModelNotice::Slipped(model, call) =>
        plain "{model} wrote a call that its server cannot read: asking once more (it tried {call})",
        MODELS: "Nothing was executed. A second failure is an error.";
    ModelNotice::WasThinking(model) =>
        note "all of this was thinking, whose end {model} marked, but not its beginning; the answer follows",
        MODELS: "Only the answer is stored, and printed by `-q` and `--json`. From now on, its answers are read as beginning with thinking.";
    ModelNotice::WebToolFailed(tool, code) => plain "{tool} failed: {code}";
    ModelNotice::SentAsText(model) => note "{model} gets the conversation so far as text",
        COMMANDS: "The agent has no session of this conversation that it could continue.";
    ModelNotice::Sandboxed(model, access, sandbox) =>
        note "{model} is sandboxed by {sandbox} with access `{access}`: it has no network"
        as "{model} is sandboxed by bubblewrap with access `read`: it has no network",
        COMMANDS: "Only an agent whose model runs in the same sandbox can answer; `sandbox = \"net\"` gives it a network.";
    ModelNotice::Program(text) => plain "{text}";
}

fn failure(after: &TransientFailure) -> String {
    match after {
        TransientFailure::Status(status) => format!("answered {status}"),
        TransientFailure::Message(message) => format!("failed: {message}"),
    }
}

fn seconds(wait: Duration) -> String {
    format!("{:.1}", wait.as_secs_f32())
}

fn tool_label(tool: &str) -> String {
    match tool.split_once("__") {
        Some((server, tool)) => format!("tool {tool} of MCP server {server}"),
        None => format!("tool {tool}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_retry_tells_why_and_when() {
        let retry = |after| {
            ModelNotice::Retries(Retry {
                model: "m".into(),
                after,
                wait: Duration::from_millis(1_500),
                attempt: 1,
                tries: 3,
            })
        };
        for (after, words) in [
            (TransientFailure::Status(503), "m answered 503: retrying in 1.5 s (1 of 3)"),
            (
                TransientFailure::Message("Overloaded".into()),
                "m failed: Overloaded: retrying in 1.5 s (1 of 3)",
            ),
        ] {
            let lines = lines(&retry(after), HintTarget::SHELL);
            assert_eq!(lines.iter().map(ToString::to_string).collect::<Vec<_>>(), [words]);
        }
    }
}
