//! Two dim lines around an answer: what it goes on with, and what it took.

use crate::term::{excerpt_within, width};
use lepo_base::when;
use lepo_store::bubb::{shown_model, thousands};
use lepo_store::conv::{Forest, Ix};
use lepo_store::store::{Store, now};
use lepo_turn::Report;

/// Letters of an id where there is no room for all: enough for an address.
const SHORT_ID: usize = 12;

/// `MODEL · continuing ID (12) 2h ago · AGENTS.md (1.2k tokens) "first question…"`, or `MODEL · new conversation`, in so many
/// columns; `told` are the repository's instructions.
pub fn place_line(
    (store, forest): (&Store, &Forest),
    at: Option<Ix>,
    model: &str,
    told: Option<&str>,
    columns: usize,
) -> String {
    let model = if model.is_empty() { String::new() } else { format!("{} · ", shown_model(model)) };
    let told = told.map(|told| format!(" · {told}")).unwrap_or_default();
    let Some(ix) = at else { return format!("{model}new conversation{told}") };
    let name = forest.name(ix);
    let height = forest.heights(&[ix]).first().copied().unwrap_or_default();
    let ago = when::ago(name.id.time(), now());
    let id = name.id.to_string();
    let short = format!("{}…", id.chars().take(SHORT_ID).collect::<String>());
    let forms = [
        format!("{model}continuing {id} ({height}) {ago}{told}"),
        format!("{model}continuing {short} ({height}) {ago}{told}"),
        format!("{model}{short} ({height}) {ago}{told}"),
        format!("{short} ({height}) {ago}"),
    ];
    let fits = |form: &&String| width(form) <= columns;
    let line = forms.iter().find(fits).unwrap_or(&forms[3]).clone();
    let first = lepo_store::conv::Origins::of(forest).origin(ix).question;
    let text = first.and_then(|ix| store.bubbs().words(&forest.name(ix)).ok()).unwrap_or_default();
    let room = columns.saturating_sub(width(&line) + 3);
    let excerpt = excerpt_within(&text, room);
    if excerpt.is_empty() || room < 8 { line } else { format!("{line} \"{excerpt}\"") }
}

/// `MODEL · 3,000 in (2,800 cached) · 120 out · 4.2 s`, as far as it is known.
pub fn usage_line(report: &Report) -> String {
    let mut parts: Vec<String> = report.model.iter().map(|model| shown_model(model).to_string()).collect();
    if let Some(answer) = &report.answer {
        let cached = answer.usage.cached.filter(|&cached| cached > 0);
        let cached = cached.map(|cached| format!(" ({} cached)", thousands(cached))).unwrap_or_default();
        parts.extend(answer.usage.input.map(|input| format!("{} in{cached}", thousands(input))));
        parts.extend(answer.usage.output.map(|output| format!("{} out", thousands(output))));
        parts.extend(answer.usage.web.map(|web| format!("{web} web")));
        parts.push(format!("{}.{} s", answer.ms / 1000, answer.ms % 1000 / 100));
    }
    parts.join(" · ")
}
