//! Blocks of Anthropic's own web search and fetch.

use serde_json::{Map, Value};

use crate::event::{Event, Events};
use crate::web::{Citation, WebCall, WebTool};

/// The tools that the API runs itself.
pub(super) const TOOLS: &[WebTool] = &[
    WebTool { kind: "web_search_20250305", name: Some("web_search") },
    WebTool { kind: "web_fetch_20250910", name: Some("web_fetch") },
];

/// Headers that `web_fetch` needs beside its tool.
pub(super) const HEADERS: &[(&str, &str)] = &[("anthropic-beta", "web-fetch-2025-09-10")];

/// The pages that were fetched for an answer, by title: their citations tell no address.
#[derive(Default)]
pub(super) struct Fetched(Vec<(String, String)>);

impl Fetched {
    /// A block has ended, and is whole.
    pub fn ended(&mut self, block: &Map<String, Value>, events: &mut Events) {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let field = |name: &str| block.get(name).unwrap_or(&Value::Null);
        let content = field("content");
        match field("type").as_str().unwrap_or_default() {
            "server_tool_use" => {
                let input = field("input");
                let about = text(input.get("query").or(input.get("url")).unwrap_or(&Value::Null));
                events.push_back(Event::WebCall(WebCall { tool: text(field("name")), about }));
            }
            "web_fetch_tool_result" => {
                self.0.push((text(&content["content"]["title"]), text(&content["url"])));
                failed("web_fetch", content, events);
            }
            "web_search_tool_result" => failed("web_search", content, events),
            "text" => {
                let cited = field("citations").as_array().into_iter().flatten();
                let mut before = Vec::new();
                for citation in cited.filter_map(|citation| self.citation(citation)) {
                    if !before.contains(&citation.url) {
                        before.push(citation.url.clone());
                        events.push_back(Event::Citation(citation));
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

/// A result that is an error is told; the model sees it, too.
fn failed(tool: &str, content: &Value, events: &mut Events) {
    if let Some(code) = content["error_code"].as_str() {
        events.push_back(Event::Notice(format!("{tool} failed: {code}")));
    }
}
