//! The document of `--json`: of many an array of those of one, each with its `name`; of a debate one, with
//! its speeches.

use serde_json::{Value, json};

use super::Outcome;
use crate::commands::r#do::document::{document as of_one, end as end_of_one};
use crate::commands::error_json;
use crate::store::Store;

/// What it came to.
pub fn document(store: &Store, outcome: &Outcome) -> Value {
    match outcome {
        Outcome::Polled(polled) => {
            let one = |(name, report): &(String, crate::turn::Report)| {
                let mut told = json!({ "name": name });
                extend(&mut told, of_one(Some(store), report, report.error.as_ref()));
                told
            };
            polled.replies.iter().map(one).collect()
        }
        Outcome::Debated(debated) => {
            let report = &debated.report;
            let mut told = of_one(Some(store), report, report.error.as_ref());
            let speech = |speech: &crate::turn::Speech| {
                let text = store.text(&speech.bubb).unwrap_or_default();
                json!({ "name": speech.name, "id": speech.bubb.id.to_string(), "text": text })
            };
            told["speeches"] = debated.speeches.iter().map(speech).collect();
            told["rounds"] = debated.rounds.into();
            told
        }
    }
}

/// The same as the last line of `--events`: the array under `replies`, with what ended it besides.
pub fn end(outcome: &Outcome, document: Value) -> Value {
    match outcome {
        Outcome::Polled(polled) => {
            let error = polled.error.as_ref().map(error_json);
            end_of_one(json!({ "replies": document, "error": error }))
        }
        Outcome::Debated(_) => end_of_one(document),
    }
}

fn extend(told: &mut Value, more: Value) {
    if let (Value::Object(told), Value::Object(more)) = (told, more) {
        told.extend(more);
    }
}
