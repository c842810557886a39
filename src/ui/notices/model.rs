//! Texts of a model's or a provider's notices.

use crate::term::StatusLine;
use lepo_model::{ModelNotice, Retry, TransientFailure};

pub fn line(notice: &ModelNotice) -> StatusLine {
    match notice {
        ModelNotice::Learned(model, says) => StatusLine::plain(format!("{model} {says}")),
        ModelNotice::OwnMessageRejected(model, words) => StatusLine::plain(format!(
            "{model} rejects its own earlier message: retrying without the thinking in it ({words})"
        )),
        ModelNotice::ToolLeftOut(model, tool, words) => {
            let tool = match tool.split_once("__") {
                Some((server, tool)) => format!("tool {tool} of MCP server {server}"),
                None => format!("tool {tool}"),
            };
            StatusLine::warning(format!(
                "{model} does not accept the schema of {tool}, which is left out ({words})"
            ))
        }
        ModelNotice::OtherAddress(model, right) => StatusLine::note(format!(
            "nothing answers at the `base_url` of {model}: trying {right}, which is probably meant"
        )),
        ModelNotice::Slipped(model, tried) => StatusLine::plain(format!(
            "{model} wrote a call that its server cannot read: asking once more (it tried {tried})"
        )),
        ModelNotice::WasThinking(model) => StatusLine::note(format!(
            "all of this was thinking, whose end {model} marked, but not its beginning; the answer follows"
        )),
        ModelNotice::Retries(Retry { model, after, wait, attempt, of }) => {
            let failed = match after {
                TransientFailure::Status(status) => format!("answered {status}"),
                TransientFailure::Words(words) => format!("failed: {words}"),
            };
            let wait = wait.as_secs_f32();
            StatusLine::plain(format!("{model} {failed}: retrying in {wait:.1} s ({attempt} of {of})"))
        }
        ModelNotice::WebToolFailed(tool, code) => StatusLine::plain(format!("{tool} failed: {code}")),
        ModelNotice::ToldAsText(model) => {
            StatusLine::note(format!("{model} gets the conversation so far as text"))
        }
        ModelNotice::Held(model, access, by) => StatusLine::note(format!(
            "{model} is sandboxed by {by} with access `{access}`: it has no network"
        )),
        ModelNotice::Program(words) => StatusLine::plain(words),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn a_retry_tells_why_and_when() {
        let retry = |after| {
            ModelNotice::Retries(Retry {
                model: "m".into(),
                after,
                wait: Duration::from_millis(1_500),
                attempt: 1,
                of: 3,
            })
        };
        for (after, words) in [
            (TransientFailure::Status(503), "m answered 503: retrying in 1.5 s (1 of 3)"),
            (
                TransientFailure::Words("Overloaded".into()),
                "m failed: Overloaded: retrying in 1.5 s (1 of 3)",
            ),
        ] {
            assert_eq!(line(&retry(after)).to_string(), words);
        }
    }
}
