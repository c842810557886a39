//! Two dim lines around an answer: what it goes on with, and what it took.

use super::ShortIds;
use crate::term::{excerpt, excerpt_within, width};
use lepo_base::when;
use lepo_store::bubb::{counted_in_thousands, shown_model, thousands};
use lepo_store::conv::{Forest, Ix, Origins};
use lepo_store::store::{Store, now};
use lepo_turn::Report;
use lepo_turn::config::{Money, Prices};

/// `MODEL · continuing ID (3 questions) 2h ago · AGENTS.md (1.2k tokens) "last question"`, or `MODEL · new conversation`, in so many
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
    let count = forest.up(ix).filter(|&ix| forest.is_question(ix)).count();
    let length = counted_in_thousands(count, "question");
    let ago = when::ago(name.id.time(), now());
    let id = ShortIds::of(forest.all().map(|ix| forest.name(ix).id)).show(name.id);
    let forms = [
        format!("{model}continuing {id} ({length}) {ago}{told}"),
        format!("{model}{id} ({length}) {ago}{told}"),
        format!("{id} ({length}) {ago}"),
    ];
    let fits = |form: &&String| width(form) <= columns;
    let line = forms.iter().find(fits).unwrap_or(&forms[2]).clone();
    let room = columns.saturating_sub(width(&line) + 3);
    let text = excerpt_within(&named_by(store, forest, ix), room);
    if text.is_empty() || room < 8 { line } else { format!("{line} \"{text}\"") }
}

/// The words that name a conversation: its title, else the excerpt of its last question that `lepo ls` prints.
pub fn named_by(store: &Store, forest: &Forest, tail: Ix) -> String {
    let root = forest.name(Origins::of(forest).origin(tail).root).id;
    if let Some(title) = store.titles().all().remove(&root) {
        return title;
    }
    let question = forest.last_question(tail).map(|ix| forest.name(ix));
    let text = question.and_then(|name| store.bubbs().words(&name).ok()).unwrap_or_default();
    excerpt(&text)
}

/// `MODEL · 3,000 in (2,800 cached) · 120 out · 4.2 s`, as far as it is known.
pub fn usage_line(report: &Report, prices: &Prices) -> String {
    let mut parts: Vec<String> = report.model.iter().map(|model| shown_model(model).to_string()).collect();
    if let Some(answer) = &report.answer {
        let cached = answer.usage.cached.filter(|&cached| cached > 0);
        let cached = cached.map(|cached| format!(" ({} cached)", thousands(cached))).unwrap_or_default();
        parts.extend(answer.usage.input.map(|input| format!("{} in{cached}", thousands(input))));
        parts.extend(answer.usage.output.map(|output| format!("{} out", thousands(output))));
        parts.extend(answer.usage.web.map(|web| format!("{web} web")));
        let usage = answer.usage;
        let price = report.model.as_deref().and_then(|model| prices.of(model, None));
        let (input, output) = (usage.input.unwrap_or(0), usage.output.unwrap_or(0));
        let cost =
            price.map(|price| price.cost(input, usage.cached.unwrap_or(0), output)).filter(|cost| *cost > 0);
        parts.extend(cost.map(|cost| format!("cost {}", Money::of_units(cost))));
        parts.push(format!("{}.{} s", answer.ms / 1000, answer.ms % 1000 / 100));
    }
    parts.join(" · ")
}
