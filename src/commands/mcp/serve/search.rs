//! The tool `search`: lists matching messages, newest first, as `lepo grep` does.

use std::ops::ControlFlow;

use serde_json::{Value, json};

use super::arguments::{SearchArguments, read_time};
use super::context::ServeContext;
use super::masked_texts::WithSecrets;
use super::quote::{PREFACE, QuoteBuilder, inline, marked};
use lepo_base::error::{Error, Result};
use lepo_base::role::Role;
use lepo_base::time::{self, DayEnd};
use lepo_search::{Filter, FoundLine, LineKind, Pattern, PatternOptions};
use lepo_store::bubb::{BubbName, model_label};
use lepo_store::store::{JournalIndex, Store};
use lepo_tool::mcp::serve::{ActiveRequest, ToolOutput};

/// Bytes of a line before its first match, and in total.
const BEFORE: usize = 80;
const SHOWN: usize = 400;

struct SearchHit {
    name: BubbName,
    store: usize,
    model: Option<String>,
    excerpt: String,
}

pub fn search(
    context: &ServeContext,
    arguments: &SearchArguments,
    request: &ActiveRequest,
) -> Result<ToolOutput> {
    let SearchArguments { pattern, ignore_case, kinds: words, since, limits } = arguments;
    let options = PatternOptions { ignore_case: *ignore_case, ..PatternOptions::default() };
    let pattern = Pattern::new(pattern, options)?;
    let (limit, most) = (limits.results(), limits.size.bytes());
    let since = read_time("since", since.as_deref(), DayEnd::First)?.unwrap_or_default();
    let filter = Filter { kinds: kinds(words)?, times: since..=u64::MAX, ..Filter::visible() };
    let mut hits = Vec::new();
    for (number, store) in context.stores.all()? {
        let with_secrets = context.with_secrets(number, &store)?;
        hits.extend(in_store((number, &store), &pattern, &filter, (limit, &with_secrets), request)?);
    }
    hits.sort_by_key(|hit| std::cmp::Reverse(hit.name.id));
    let more = hits.len() > limit;
    hits.truncate(limit);
    Ok(search_output(context, &hits, more, most))
}

fn kinds(words: &[String]) -> Result<Vec<Role>> {
    let kind = |word: &String| {
        let found = Role::ALL.into_iter().find(|role| role.as_str() == word);
        found.ok_or_else(|| Error::usage(format!("kinds: {word:?} is not user, assistant, system or tool")))
    };
    words.iter().map(kind).collect()
}

/// Returns the newest hits of a store: at most one more than the limit, to detect that it was exceeded.
fn in_store(
    (number, store): (usize, &Store),
    pattern: &Pattern,
    filter: &Filter,
    (limit, with_secrets): (usize, &WithSecrets),
    request: &ActiveRequest,
) -> Result<Vec<SearchHit>> {
    let mut facts: Option<JournalIndex> = None;
    let mut hit = |name: BubbName, lines: &[FoundLine]| {
        let model = (name.role == Role::Assistant)
            .then(|| facts.get_or_insert_with(|| store.journal().index()).get(name.id)?.model)
            .flatten();
        SearchHit { name, store: number, model, excerpt: excerpt(lines) }
    };
    let masked = with_secrets.matching(pattern, filter).into_iter().take(limit + 1);
    let masked: Vec<SearchHit> = masked.map(|(name, lines)| hit(name, &lines)).collect();
    let mut hits: Vec<SearchHit> = Vec::new();
    with_secrets.search_others(store, (pattern, filter), request, |name, lines| {
        hits.push(hit(name, &lines));
        if hits.len() > limit { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })?;
    hits.extend(masked);
    Ok(hits)
}

/// Returns the first matching line, around its first match.
fn excerpt(lines: &[FoundLine]) -> String {
    let Some(line) = lines.iter().find(|line| line.kind == LineKind::Match) else { return String::new() };
    let first = line.matches.first().map_or(0, |found| found.start);
    let (from, all) = match line.bytes.len() > SHOWN {
        true => (first.saturating_sub(BEFORE), line.bytes.get(first.saturating_sub(BEFORE)..)),
        false => (0, Some(&line.bytes[..])),
    };
    let all = all.unwrap_or_default();
    let shown = all.get(..SHOWN).unwrap_or(all);
    let (before, after) = (if from > 0 { "…" } else { "" }, if shown.len() < all.len() { "…" } else { "" });
    format!("{before}{}{after}", String::from_utf8_lossy(shown))
}

fn search_output(context: &ServeContext, hits: &[SearchHit], more: bool, most: usize) -> ToolOutput {
    let masker = context.masker();
    let mut quoted = QuoteBuilder::new(masker, most);
    let mut found: Vec<Value> = Vec::new();
    let several = context.stores.len() > 1;
    for hit in hits {
        let id = hit.name.id.to_string();
        let (kind, date) = (hit.name.role.as_str(), time::iso_minute(hit.name.id.time()));
        let model = hit.model.as_deref().map(|model| inline(masker, model_label(model), 80));
        let store =
            if several { format!(" in {}", context.stores.uri_segment(hit.store)) } else { String::new() };
        let by = model.as_deref().map(|model| format!(" {model}")).unwrap_or_default();
        if quoted.is_empty() {
            quoted.line(PREFACE);
        }
        if !quoted.line(&format!("{id} {kind} {date}{by}{store}"))
            || quoted.push_text(&hit.excerpt, 0).is_some()
        {
            break;
        }
        found.push(json!({
            "address": id,
            "uri": context.stores.uri(hit.store, &id),
            "kind": kind,
            "date": date,
            "model": model,
            "excerpt": marked(&inline(masker, &hit.excerpt, SHOWN)),
        }));
    }
    let more = more || found.len() < hits.len();
    let mut text = context.stores.missing_notes() + &quoted.into_text();
    match (hits.is_empty(), more) {
        (true, _) => text.push_str("No message matches.\n"),
        (false, true) => {
            text.push_str("There are more: a narrower pattern, since, or a higher limit finds others.\n")
        }
        (false, false) => {}
    }
    ToolOutput { text, structured: json!({ "note": PREFACE, "hits": found, "more": more }), is_error: false }
}
