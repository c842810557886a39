//! The messages as HTML: the chosen conversation as the document, all others in a template for the script.

use std::fmt::Write;

use jiff::Timestamp;

use super::escape::{escape, escaped};
use super::page::{Page, PageMessage};
use lepo_base::role::Role;
use lepo_store::bubb::{BubbId, thousands};

/// Number of messages of a part, in the page's script too. A browser lays out only the visible parts.
const PART: usize = 50;

/// Appends the chosen conversation. With scripts a browser treats all but its first part as plain text, which the
/// page's script converts into messages after the first part is visible; without scripts all of it is part of the
/// document.
pub fn conversation(page: &Page, html: &mut String) {
    for (i, part) in page.path.chunks(PART).enumerate() {
        html.push_str(if i == 1 { "<noscript>\n" } else { "" });
        html.push_str("<div class=part>\n");
        for &at in part {
            article(page, &page.messages[at], None, html);
        }
        html.push_str("</div>\n");
    }
    html.push_str(if page.path.len() > PART { "</noscript>\n" } else { "" });
}

/// Appends all other messages. A message names its prev unless that is the message written before it.
pub fn push_others(page: &Page, html: &mut String) {
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); page.messages.len()];
    let mut roots = Vec::new();
    for (at, message) in page.messages.iter().enumerate() {
        match message.prev {
            Some(prev) => children[prev].push(at),
            None => roots.push(at),
        }
    }
    let mut waiting: Vec<usize> = roots.into_iter().rev().collect();
    let mut last = None;
    while let Some(at) = waiting.pop() {
        waiting.extend(children[at].iter().rev());
        if page.on_path[at] {
            continue;
        }
        let message = &page.messages[at];
        let prev = message.prev.map(|prev| page.messages[prev].id.to_string()).unwrap_or_default();
        article(page, message, (last.is_none() || last != message.prev).then_some(prev), html);
        last = Some(at);
    }
}

fn article(page: &Page, message: &PageMessage, prev: Option<String>, html: &mut String) {
    let _ = write!(html, "<article id={} class=", message.id);
    let _ = match message.hidden {
        true => write!(html, "\"{} h\"", message.role.letter()),
        false => write!(html, "{}", message.role.letter()),
    };
    if message.body.korean {
        html.push_str(" lang=ko");
    }
    if let Some(prev) = prev {
        let _ = write!(html, " data-p=\"{prev}\"");
    }
    html.push('>');
    head(page, message, html);
    if message.hidden || message.role == Role::Tool {
        folded(message, html);
    } else {
        html.push_str("<div>");
        html.push_str(&message.body.html);
        html.push_str("</div>");
    }
    for side in &message.sides {
        let _ = write!(html, "<section id={} class=side>", side.id);
        folded(side, html);
        html.push_str("</section>");
    }
    html.push_str("</article>\n");
}

/// Appends the heading of a message: speaker, time, model, tokens, duration.
fn head(page: &Page, message: &PageMessage, html: &mut String) {
    match &message.speaker {
        Some(speaker) => {
            let _ = write!(html, "<h2 class=c{}>{}</h2>", page.colour(speaker), escaped(speaker));
        }
        None => {
            let _ = write!(html, "<h2>{}</h2>", message.who());
        }
    }
    let _ = write!(html, "<p><a href=#{}><time>{}</time></a>", message.id, time(message.id));
    let model = message.model.as_deref().filter(|model| message.speaker.as_deref() != Some(model));
    if let Some(model) = model {
        html.push_str(" · ");
        escape(model, html);
    }
    if let Some(word) = message.ended_early {
        let _ = write!(html, " · {word}");
    }
    match (message.input, message.output) {
        (Some(input), Some(output)) => {
            let _ = write!(html, " · {} + {} tokens", thousands(input), thousands(output));
        }
        (_, Some(tokens)) | (Some(tokens), None) => {
            let _ = write!(html, " · {} tokens", thousands(tokens));
        }
        (None, None) => {}
    }
    if let Some(ms) = message.ms {
        let _ = write!(html, " · {}", seconds(ms));
    }
    for branch in &message.branches {
        html.push_str(" <i>");
        escape(branch, html);
        html.push_str("</i>");
    }
}

/// Appends a collapsed message.
fn folded(message: &PageMessage, html: &mut String) {
    let what = match message.role {
        Role::System => "System",
        Role::User => "Hidden question",
        Role::Assistant => "Call or draft",
        Role::Tool => "Tool output",
    };
    let _ = write!(html, "<details><summary><b>{what}</b> {}</summary>", escaped(&message.body.words));
    html.push_str(&message.body.html);
    html.push_str("</details>");
}

/// Formats the time of a bubb in UTC; the page's script converts it to the reader's time zone.
fn time(id: BubbId) -> String {
    let time = i64::try_from(id.time()).ok().and_then(|time| Timestamp::from_millisecond(time).ok());
    time.unwrap_or(Timestamp::MAX).strftime("%Y-%m-%d %H:%MZ").to_string()
}

/// Formats a duration: `2.1 s`, `350 ms`, `3 min 5 s`.
fn seconds(ms: u64) -> String {
    match ms {
        0..1_000 => format!("{ms} ms"),
        1_000..60_000 => format!("{}.{} s", ms / 1_000, ms % 1_000 / 100),
        _ => format!("{} min {} s", ms / 60_000, ms % 60_000 / 1_000),
    }
}
