//! The document around the conversations: its security policy, its style, its script, its landmarks.

use std::fmt::Write;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

use super::escape::escaped;
use super::page::Page;
use super::{article, chart, svg};
use lepo_store::bubb::plural_in_thousands;

const STYLE: &str = include_str!("page.css");
/// Runs before the page is visible.
const EARLY: &str = include_str!("early.js");
/// A single function, in files that use the names of the files before them.
const SCRIPT: &str = concat!(
    "(function () {\n\"use strict\";\n",
    include_str!("script/messages.js"),
    include_str!("script/forest.js"),
    include_str!("script/conversation.js"),
    include_str!("script/compare.js"),
    include_str!("script/search.js"),
    include_str!("script/keys.js"),
    "})();\n"
);

/// The search field and the buttons, which only work with the script.
const TOOLS: &str = "<div id=tools class=js-only>\
<input id=q type=search placeholder=\"Search\" aria-label=\"Search all messages\" autocomplete=off spellcheck=false>\
<button id=theme aria-label=\"Light or dark\" title=\"Light or dark\">◐</button>\
<button id=keys aria-label=\"Keys\" title=\"Keys\">?</button></div>\
<p id=found class=js-only role=status hidden></p><ol id=hits hidden></ol>";

const HELP: &str = "<dialog id=help aria-labelledby=help-h><h2 id=help-h>Keys</h2><dl>\
<dt><kbd>j</kbd> <kbd>k</kbd><dd>next and previous message\
<dt><kbd>h</kbd> <kbd>l</kbd><dd>the other answers or questions at a fork\
<dt><kbd>d</kbd><dd>compare with the next of them\
<dt><kbd>o</kbd><dd>open and close what is folded\
<dt><kbd>/</kbd><dd>search\
<dt><kbd>?</kbd><dd>this help\
<dt><kbd>Esc</kbd><dd>close</dl><button>Close</button></dialog>\
<dialog id=compare aria-labelledby=compare-h><div class=top><h2 id=compare-h>Compare</h2>\
<button aria-label=Close>✕</button></div><div id=sides></div></dialog>";

/// Renders the page.
pub fn document(page: &Page) -> String {
    let size: usize = page.messages.iter().map(|message| message.body.html.len() + 512).sum();
    let mut html = String::with_capacity(size + STYLE.len() + SCRIPT.len() + 4096);
    let title = escaped(&page.title);
    let _ = write!(
        html,
        "<!doctype html>\n<html lang=en>\n<head>\n<meta charset=utf-8>\n\
         <meta http-equiv=Content-Security-Policy content=\"default-src 'none'; script-src '{}' '{}'; \
         style-src '{}'; img-src data:; base-uri 'none'; form-action 'none'\">\n\
         <meta name=viewport content=\"width=device-width, initial-scale=1\">\n\
         <meta name=referrer content=no-referrer>\n<meta name=color-scheme content=\"light dark\">\n\
         <title>{title}</title>\n<style>{STYLE}</style>\n<script>{EARLY}</script>\n</head>\n<body>\n",
        hash(EARLY),
        hash(SCRIPT),
        hash(STYLE)
    );
    html.push_str("<a class=skip href=#conv>Skip to the conversation</a>\n<header id=bar class=js-only>");
    html.push_str(
        "<button id=menu aria-expanded=false aria-controls=forest>☰ Conversations</button></header>\n",
    );
    html.push_str("<nav id=forest class=js-only aria-label=Conversations>");
    html.push_str(TOOLS);
    html.push_str("<div id=trees>");
    svg::write_forest(page, &mut html);
    html.push_str("</div></nav>\n<main>\n<header id=top><h1 id=title>");
    html.push_str(&title);
    html.push_str("</h1><p id=about>");
    html.push_str(&escaped(&about(page)));
    html.push_str("</p>");
    if let Some(figures) = &page.figures {
        chart::figures(figures, &mut html);
    }
    html.push_str("</header>\n<div id=conv tabindex=-1>\n");
    article::conversation(page, &mut html);
    html.push_str("</div>\n</main>\n<template id=rest><noscript>\n");
    article::push_others(page, &mut html);
    html.push_str("</noscript></template>\n");
    html.push_str(HELP);
    let _ = write!(html, "\n<script>{SCRIPT}</script>\n</body>\n</html>\n");
    html
}

/// Describes the number of messages in the chosen conversation, and of conversations on the page.
fn about(page: &Page) -> String {
    let shown = plural_in_thousands(page.path.len(), "message");
    let tails = page.is_tail.iter().filter(|tail| **tail).count();
    match tails {
        0 | 1 => shown,
        _ => format!("{shown} · one of {} on this page", plural_in_thousands(tails, "conversation")),
    }
}

/// Formats the hash of a source for a content security policy.
fn hash(source: &str) -> String {
    format!("sha256-{}", STANDARD.encode(Sha256::digest(source)))
}
