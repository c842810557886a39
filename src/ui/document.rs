//! The documents of `--json`: one object for a turn, an array of them for `--parallel`, each with its `name`, and
//! one object with the speeches for a debate. The format is stable and documented in lepo-do(1).

use serde_json::{Value, json};

use lepo_base::error::Error;
use lepo_base::hint::HintTarget;
use lepo_store::store::Store;
use lepo_turn::{GroupOutcome, Masking, Outcome, Speech, ToolUse};

pub fn turn_document(
    store: Option<&Store>,
    outcome: &Outcome,
    error: Option<&Error>,
    at: HintTarget<'_>,
) -> Value {
    let ids: Vec<String> = outcome.conv.iter().map(|id| id.to_string()).collect();
    let answer = outcome.answer.and_then(|answer| {
        let text = outcome.as_given(store?.text(&answer.name).ok()?);
        let mut usage = json!({ "input": answer.usage.input, "output": answer.usage.output });
        if let Some(web) = answer.usage.web {
            usage["web"] = web.into();
        }
        let value: Option<Value> = outcome.is_json.then(|| serde_json::from_str(&text).ok()).flatten();
        let mut document = json!({
            "id": answer.name.id.to_string(),
            "text": text,
            "model": outcome.model,
            "usage": usage,
            "ms": answer.ms,
        });
        if let Some(value) = value {
            document["value"] = value;
        }
        if let Some(limit) = answer.cut {
            document["cut"] = limit.into();
        }
        Some(document)
    });
    let mut document = json!({
        "conv": ids,
        "user": outcome.user.map(|id| id.to_string()),
        "answer": answer,
        "tools": outcome.tools.iter().map(tool).collect::<Vec<_>>(),
        "pending": outcome.pending.map(|id| id.to_string()),
        "error": error.map(|error| error.to_json(at)),
    });
    if let Some(id) = outcome.recorded {
        document["recorded"] = id.to_string().into();
    }
    document
}

/// Returns `document` as the last line of `--events`.
pub fn end_event(document: Value) -> Value {
    let mut line = json!({ "event": "end" });
    extend(&mut line, document);
    line
}

/// Returns the document of a group turn, with all texts unmasked.
pub fn group_document(store: &Store, masking: &Masking, outcome: &GroupOutcome, at: HintTarget<'_>) -> Value {
    let document = |outcome: &Outcome| {
        let mut group = turn_document(Some(store), outcome, outcome.error.as_ref(), at);
        if let Some(unmasked) = outcome.answer.and_then(|answer| masking.unmasked_text(answer.name.id)) {
            if let Some(value) = outcome.is_json.then(|| serde_json::from_str(&unmasked).ok()).flatten() {
                group["answer"]["value"] = value;
            }
            group["answer"]["text"] = unmasked.into();
        }
        group
    };
    match outcome {
        GroupOutcome::Polled(polled) => {
            let one = |(name, outcome): &(String, Outcome)| {
                let mut named = json!({ "name": name });
                extend(&mut named, document(outcome));
                named
            };
            let verdict = polled.judge.iter().map(
                |(_, outcome)| json!({ "judge": turn_document(Some(store), outcome, outcome.error.as_ref(), at) }),
            );
            polled.replies.iter().map(one).chain(verdict).collect()
        }
        GroupOutcome::Debated(debated) => {
            let outcome = &debated.outcome;
            let mut whole = document(outcome);
            let speech = |speech: &Speech| {
                let unmasked = masking.unmasked_text(speech.bubb.id);
                let text = unmasked.unwrap_or_else(|| store.text(&speech.bubb).unwrap_or_default());
                json!({ "name": speech.name, "id": speech.bubb.id.to_string(), "text": text })
            };
            whole["speeches"] = debated.speeches.iter().map(speech).collect();
            whole["rounds"] = debated.rounds.into();
            whole
        }
    }
}

/// Returns a group document as the last line of `--events`: an array becomes the field `replies`, next to the error
/// that ended it.
pub fn group_end_event(outcome: &GroupOutcome, document: Value, at: HintTarget<'_>) -> Value {
    match outcome {
        GroupOutcome::Polled(polled) => {
            let error = polled.error.as_ref().map(|error| error.to_json(at));
            end_event(json!({ "replies": document, "error": error }))
        }
        GroupOutcome::Debated(_) => end_event(document),
    }
}

fn extend(to: &mut Value, more: Value) {
    if let (Value::Object(to), Value::Object(more)) = (to, more) {
        to.extend(more);
    }
}

fn tool(used: &ToolUse) -> Value {
    json!({
        "bubb": used.bubb.to_string(),
        "kind": used.kind,
        "request": used.request,
        "result": used.result.map(|id| id.to_string()),
        "exit": used.exit,
    })
}
