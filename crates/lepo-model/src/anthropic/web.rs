//! Blocks of Anthropic's own web search and fetch.

use serde_json::{Map, Value, json};

use crate::body_context::BodyContext;
use crate::event::{ChatEvent, Citation, EventQueue, WebCall};
use crate::notice::ModelNotice;
use crate::quirks::{MALFORMED, Quirk};

/// The first versions of the tools, the only ones that some servers of the API have.
pub(super) static OLDER: Quirk = Quirk {
    word: "older_web",
    status: MALFORMED,
    named: &[&[SEARCH, FETCH, "allowed_callers"]],
    notice: "does not support the web tools of 2026: retrying with those of 2025",
};

/// Search without fetch.
pub(super) static NO_FETCH: Quirk = Quirk {
    word: "no_web_fetch",
    status: MALFORMED,
    named: &[&[
        "tag 'web_fetch_20250910'",
        "web_fetch is not",
        "web_fetch_20250910 is not",
        "web_fetch_20250910' is not",
        "web_fetch_20250910` is not",
        "web fetch is not",
    ]],
    notice: "does not fetch pages: retrying with search alone",
};

const SEARCH: &str = "web_search_20260318";
const FETCH: &str = "web_fetch_20260318";

/// Returns the tools that the API runs itself.
///
/// By default, code calls the newer tools and filters their results. The code runs, for some minutes, in a
/// container of the provider, and each later request of the conversation must name the container; but a call may
/// wait days for consent, and a conversation may be continued elsewhere, or by another model. So the tools are
/// called directly, which every model supports.
pub(super) fn tools(asking: &mut BodyContext<'_>) -> Vec<Value> {
    let direct = |kind: &str, name: &str| json!({"type": kind, "name": name, "allowed_callers": ["direct"]});
    if asking.accepts(&OLDER) {
        return vec![direct(SEARCH, "web_search"), direct(FETCH, "web_fetch")];
    }
    let mut tools = vec![json!({"type": "web_search_20250305", "name": "web_search"})];
    if asking.accepts(&NO_FETCH) {
        tools.push(json!({"type": "web_fetch_20250910", "name": "web_fetch"}));
    }
    tools
}

/// The pages fetched for an answer, by title: their citations have no address.
#[derive(Default)]
pub(super) struct FetchedPages(Vec<(String, String)>);

impl FetchedPages {
    /// Emits the search or fetch of a complete block, records fetched pages, and reports failed results.
    pub fn end_block(&mut self, block: &Map<String, Value>, events: &mut EventQueue) {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let field = |name: &str| block.get(name).unwrap_or(&Value::Null);
        let content = field("content");
        match field("type").as_str().unwrap_or_default() {
            "server_tool_use" => {
                let input = field("input");
                let about = text(input.get("query").or(input.get("url")).unwrap_or(&Value::Null));
                events.push_back(ChatEvent::WebCall(WebCall { tool: text(field("name")), about }));
            }
            "web_fetch_tool_result" => {
                self.0.push((text(&content["content"]["title"]), text(&content["url"])));
                note_failure("web_fetch", content, events);
            }
            "web_search_tool_result" => note_failure("web_search", content, events),
            "text" => {
                let cited = field("citations").as_array().into_iter().flatten();
                let mut before = Vec::new();
                for citation in cited.filter_map(|citation| self.citation(citation)) {
                    if !before.contains(&citation.url) {
                        before.push(citation.url.clone());
                        events.push_back(ChatEvent::Citation(citation));
                    }
                }
            }
            _ => {}
        }
    }

    fn citation(&self, citation: &Value) -> Option<Citation> {
        let text = |name: &str| citation[name].as_str().map(str::to_owned);
        if let Some(url) = text("url") {
            return Some(Citation { title: text("title").unwrap_or_default(), url });
        }
        let title = text("document_title").unwrap_or_default();
        let url = self.0.iter().find(|(fetched, _)| *fetched == title).map(|(_, url)| url.clone())?;
        Some(Citation { title, url })
    }
}

/// Emits a notice for a failed result; the model sees the error too.
fn note_failure(tool: &str, content: &Value, events: &mut EventQueue) {
    if let Some(code) = content["error_code"].as_str() {
        events.push_back(ChatEvent::Notice(ModelNotice::WebToolFailed(tool.to_owned(), code.to_owned())));
    }
}
