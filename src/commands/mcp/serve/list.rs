//! The tools `list` and `about_file`, and the list of resources: conversations by their tails, newest first.

use std::ops::ControlFlow;
use std::path::Path;

use serde_json::{Value, json};

use super::arguments::{FileArguments, ListArguments, ResultLimits, read_time};
use super::context::ServeContext;
use super::masked_texts::WithSecrets;
use super::quote::{PREFACE, QuoteBuilder, inline, marked};
use crate::view::Overviews;
use lepo_base::error::{Error, Result};
use lepo_base::time::{self, DayEnd};
use lepo_search::{Filter, Pattern, PatternOptions};
use lepo_store::bubb::{BubbId, BubbName};
use lepo_store::conv::{Forest, Ix, ReadScope};
use lepo_store::store::Store;
use lepo_tool::mcp::serve::{ActiveRequest, ResourceInfo, ToolOutput};

const PAGE: usize = 100;

/// Maximum characters of a question's excerpt.
const QUESTION: usize = 200;

#[derive(Default)]
struct Conditions<'a> {
    words: Vec<&'a str>,
    path: Option<&'a str>,
    since: Option<u64>,
    until: Option<u64>,
    /// Only conversations older than this tail.
    below: Option<BubbId>,
}

struct ListedConv {
    store: usize,
    tail: BubbName,
    height: u32,
    title: Option<String>,
    first: Option<String>,
    last: Option<String>,
}

pub fn list(
    context: &ServeContext,
    arguments: &ListArguments,
    request: &ActiveRequest,
) -> Result<ToolOutput> {
    let ListArguments { words, since, until, path, limits } = arguments;
    let conditions = Conditions {
        words: words.as_deref().unwrap_or_default().split_whitespace().collect(),
        path: path.as_deref().filter(|path| !path.is_empty()),
        since: read_time("since", since.as_deref(), DayEnd::First)?,
        until: read_time("until", until.as_deref(), DayEnd::Last)?,
        below: None,
    };
    list_output(context, &conditions, limits, request)
}

pub fn about_file(
    context: &ServeContext,
    arguments: &FileArguments,
    request: &ActiveRequest,
) -> Result<ToolOutput> {
    let conditions = Conditions { path: Some(&arguments.path), ..Conditions::default() };
    list_output(context, &conditions, &arguments.limits, request)
}

/// Returns a page of resources, and the cursor of the next: the number of a store, and the last tail listed
/// from it.
pub fn resources(
    context: &ServeContext,
    cursor: Option<&str>,
) -> Result<(Vec<ResourceInfo>, Option<String>)> {
    let unknown =
        || Error::usage(format!("cursor {:?} is not from resources/list", cursor.unwrap_or_default()));
    let (first, mut below) = match cursor {
        None => (0, None),
        Some(text) => {
            let (number, id) = text.split_once('.').ok_or_else(unknown)?;
            let id = BubbId::parse(id.as_bytes()).ok_or_else(unknown)?;
            (number.parse::<usize>().map_err(|_| unknown())?, Some(id))
        }
    };
    let mut listed = Vec::new();
    let masker = context.masker();
    for (number, store) in context.stores.all()? {
        if number < first {
            continue;
        }
        let conditions =
            Conditions { below: below.take().filter(|_| number == first), ..Conditions::default() };
        let room = PAGE - listed.len();
        let mut rows = rows(context, (number, &store), &conditions, room + 1, &ActiveRequest::detached())?;
        let more = rows.len() > room;
        rows.truncate(room);
        let last = rows.last().map(|row| row.tail.id);
        for row in rows {
            let id = row.tail.id.to_string();
            let name = row.title.or(row.first).or(row.last).unwrap_or_default();
            let name =
                Some(inline(masker, &name, 80)).filter(|name| !name.is_empty()).map(|name| marked(&name));
            listed.push(ResourceInfo {
                uri: context.stores.uri(number, &id),
                name: name.unwrap_or_else(|| id.clone()),
                title: Some(format!("{} ({})", time::iso_minute(row.tail.id.time()), row.height)),
            });
        }
        if let Some(last) = last.filter(|_| more) {
            return Ok((listed, Some(format!("{number}.{last}"))));
        }
    }
    Ok((listed, None))
}

fn list_output(
    context: &ServeContext,
    conditions: &Conditions<'_>,
    limits: &ResultLimits,
    request: &ActiveRequest,
) -> Result<ToolOutput> {
    let (limit, most) = (limits.results(), limits.size.bytes());
    let mut all = Vec::new();
    for (number, store) in context.stores.all()? {
        all.extend(rows(context, (number, &store), conditions, limit + 1, request)?);
    }
    all.sort_by_key(|row| std::cmp::Reverse(row.tail.id));
    let masker = context.masker();
    let mut quoted = QuoteBuilder::new(masker, most);
    let mut found: Vec<Value> = Vec::new();
    for row in all.iter().take(limit) {
        if quoted.is_empty() {
            quoted.line(PREFACE);
        }
        let (id, date) = (row.tail.id.to_string(), time::iso_minute(row.tail.id.time()));
        let short = |words: &Option<String>| words.as_deref().map(|words| inline(masker, words, QUESTION));
        let (title, first, last) = (short(&row.title), short(&row.first), short(&row.last));
        let mut fits = quoted.line(&format!("{id} {date} ({} messages)", row.height));
        for (label, words) in [("title: ", &title), ("", &first), ("last: ", &last)] {
            let Some(words) =
                words.as_ref().filter(|words| label != "last: " || first.as_ref() != Some(words))
            else {
                continue;
            };
            fits = fits && quoted.push_text(&format!("{label}{words}"), 0).is_none();
        }
        if !fits {
            break;
        }
        found.push(json!({
            "address": id,
            "uri": context.stores.uri(row.store, &id),
            "date": date,
            "messages": row.height,
            "title": title.as_deref().map(marked),
            "first": first.as_deref().map(marked),
            "last": last.as_deref().map(marked),
        }));
    }
    let more = found.len() < all.len();
    let mut text = context.stores.missing_notes() + &quoted.into_text();
    match (all.is_empty(), more) {
        (true, _) => text.push_str("No conversation.\n"),
        (false, true) => text.push_str("There are more: a higher limit, or until, lists others.\n"),
        (false, false) => {}
    }
    let structured = json!({ "note": PREFACE, "conversations": found, "more": more });
    Ok(ToolOutput { text, structured, is_error: false })
}

/// Returns the newest conversations of a store that meet the conditions.
fn rows(
    context: &ServeContext,
    (number, store): (usize, &Store),
    conditions: &Conditions<'_>,
    most: usize,
    request: &ActiveRequest,
) -> Result<Vec<ListedConv>> {
    let is_searched = !conditions.words.is_empty() || conditions.path.is_some();
    let wanted = match is_searched || conditions.until.is_some() || conditions.below.is_some() {
        _ if !store.peers().is_empty() => ReadScope::All { peers: true },
        true => ReadScope::All { peers: false },
        false => ReadScope::newest(most),
    };
    let forest = store.forest_for(&[wanted])?;
    let mut tails: Vec<Ix> = Vec::new();
    for tail in forest.newest_first(false) {
        let id = forest.name(tail).id;
        let is_in = conditions.since.is_none_or(|since| id.time() >= since)
            && conditions.until.is_none_or(|until| id.time() <= until)
            && conditions.below.is_none_or(|below| id < below);
        if is_in {
            tails.push(tail);
        }
        if !is_searched && tails.len() >= most {
            break;
        }
    }
    let with_secrets = is_searched.then(|| context.with_secrets(number, store)).transpose()?;
    let matching = |text: &str, is_path: bool| match &with_secrets {
        Some(with_secrets) => matching((store, with_secrets), &forest, text, is_path, request),
        None => Ok(Vec::new()),
    };
    for words in &conditions.words {
        let named = matching(words, false)?;
        tails = forest.tails_through(&tails, &named);
    }
    if let Some(path) = conditions.path {
        let named = matching(&relative(path, store.root()), true)?;
        tails = forest.tails_through(&tails, &named);
    }
    tails.truncate(most);
    let overviews = Overviews::new(store, &forest);
    let words = |name: BubbName| store.excerpt_text(&name).ok();
    let rows = tails.into_iter().map(|tail| {
        let overview = overviews.overview(tail);
        ListedConv {
            store: number,
            tail: overview.tail,
            height: overview.messages,
            title: overview.title().map(str::to_string),
            first: overview.first.and_then(words),
            last: overview.last.and_then(words),
        }
    });
    Ok(rows.collect())
}

/// Converts a path to the form that conversations of a project use: relative to its root.
fn relative(path: &str, root: &Path) -> String {
    let below =
        Path::new(path).strip_prefix(root).ok().and_then(Path::to_str).filter(|path| !path.is_empty());
    let below = below.unwrap_or(path);
    below.strip_prefix("./").unwrap_or(below).to_string()
}

/// Builds a pattern that matches only the whole path: neither `src/main.rs.bak` for `src/main.rs`, nor the
/// end of another name. A full stop after it ends the sentence.
fn whole_path(path: &str) -> String {
    let is_plain = |letter: char| letter.is_alphanumeric() || letter == '_' || letter == '/';
    let escaped =
        |letter: char| if is_plain(letter) || !letter.is_ascii() { vec![letter] } else { vec!['\\', letter] };
    let literal: String = path.chars().flat_map(escaped).collect();
    format!(r"(?:^|[^\w.~-]|[^\w./~-]\.|\./){literal}(?:$|[^\w./~-]|\.(?:$|[^\w]))")
}

/// Finds the messages that contain a text, or mention a path. A hidden message, such as a command, represents
/// the visible one before it.
fn matching(
    (store, with_secrets): (&Store, &WithSecrets),
    forest: &Forest,
    text: &str,
    is_path: bool,
    request: &ActiveRequest,
) -> Result<Vec<Ix>> {
    let options =
        PatternOptions { ignore_case: !is_path, fixed: !is_path, first: true, ..PatternOptions::default() };
    let text = if is_path { whole_path(text) } else { text.to_string() };
    let pattern = Pattern::new(&text, options)?;
    let filter = Filter { hidden: is_path, ..Filter::visible() };
    let mut found = Vec::new();
    let mut add = |name: BubbName| {
        let Some(ix) = forest.find(name.id) else { return };
        let visible = forest.up(ix).find(|ix| !forest.name(*ix).hidden);
        found.push(visible.unwrap_or(ix));
    };
    with_secrets.matching(&pattern, &filter).into_iter().for_each(|(name, _)| add(name));
    with_secrets.search_others(store, (&pattern, &filter), request, |name, _| {
        add(name);
        ControlFlow::Continue(())
    })?;
    Ok(found)
}
