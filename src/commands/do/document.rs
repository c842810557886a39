//! The document of `--json`: stable, and told in lepo-do(1).

use serde_json::{Value, json};

use crate::commands::error_json;
use crate::store::Store;
use crate::talk::{Report, ToolUse};

/// The end of the help and of the man page.
pub const AFTER: &str = "\
Examples:
  lepo do 'what does this repository do?'
  lepo do --run 'git log --oneline -5' 'what changed?'
  git diff | lepo do --file review.md --context src/main.rs
  lepo do --tail main --retry -m other

The document of --json is printed on failure too:
  conv     the ids of the conversation, oldest first, as far as it got
  user     the id of the question
  answer   null, or {id, text, model, usage: {input, output}, ms}: tokens as the provider
           counted them or null, milliseconds from the request to the end
  tools    [{bubb, kind, request, result, exit}]: the request's bubb and what it says, the
           bubb of its result or null, the exit code or null; kind is command, or run for --run
  pending  the id of a request that waits for consent, or null
  error    null, or {kind, message, hint}; kind is nothing, usage, remote, pending, store or
           interrupted, one for each exit code";

/// What a turn came to.
pub fn document(store: Option<&Store>, report: &Report) -> Value {
    let ids: Vec<String> = report.conv.iter().map(|id| id.to_string()).collect();
    let answer = report.answer.and_then(|answer| {
        let text = store?.text(&answer.name).ok()?;
        let usage = json!({ "input": answer.usage.input, "output": answer.usage.output });
        Some(json!({
            "id": answer.name.id.to_string(),
            "text": text,
            "model": report.model,
            "usage": usage,
            "ms": answer.ms,
        }))
    });
    json!({
        "conv": ids,
        "user": report.user.map(|id| id.to_string()),
        "answer": answer,
        "tools": report.tools.iter().map(tool).collect::<Vec<_>>(),
        "pending": report.pending.map(|id| id.to_string()),
        "error": report.error.as_ref().map(error_json),
    })
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
