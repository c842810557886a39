//! The document of `--json`: stable, and told in lepo-do(1).

use serde_json::{Value, json};

use crate::commands::error_json;
use crate::store::Store;
use crate::talk::{Report, ToolUse};

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
