//! The table of MCP servers and what they offer: `--list-tools`, and `/mcp` in a session.

use crate::term::{Out, padded, print_status, width};
use lepo_tool::mcp::{Resource, Server};

/// The minimum width of a description; if less remains, it starts on a line of its own.
const NARROWEST: usize = 24;

struct ToolRow {
    server: String,
    kind: &'static str,
    name: String,
    about: String,
}

/// Prints server, kind, name and the whole description, one item a line, wrapped on a terminal.
pub fn tool_table(out: &mut Out, servers: &[Server]) {
    if servers.is_empty() {
        print_status("no MCP servers are enabled; they are configured in mcp.json, see lepo-config(5)");
    }
    let rows: Vec<ToolRow> = servers.iter().flat_map(rows).collect();
    let widest = |of: fn(&ToolRow) -> &str| rows.iter().map(|row| width(of(row))).max().unwrap_or_default();
    let (server, kind) = (widest(|row| &row.server), widest(|row| row.kind));
    let name = widest(|row| &row.name);
    for row in &rows {
        let begin = format!("{}  {}  ", padded(&row.server, server), padded(row.kind, kind));
        let Some(columns) = out.columns() else {
            out.line(format!("{begin}{}  {}", padded(&row.name, name), row.about).trim_end());
            continue;
        };
        let indent = width(&begin) + name + 2;
        let (first, indent) = match columns.saturating_sub(indent) >= NARROWEST {
            true => (format!("{begin}{}  ", padded(&row.name, name)), indent),
            false => (format!("{begin}{}", row.name), 6),
        };
        let is_same_line = width(&first) == indent;
        let mut lines = wrapped(&row.about, columns.saturating_sub(indent).max(1)).into_iter();
        let head = if is_same_line { lines.next().unwrap_or_default() } else { String::new() };
        out.line(format!("{first}{head}").trim_end());
        lines.for_each(|line| out.line(&format!("{}{line}", " ".repeat(indent))));
    }
}

fn rows(server: &Server) -> Vec<ToolRow> {
    let row = |kind, name: &str, about: String| {
        let about = about.split_whitespace().collect::<Vec<&str>>().join(" ");
        ToolRow { server: server.config.name.clone(), kind, name: name.to_string(), about }
    };
    let mut rows = match &server.failure {
        Some(why) => vec![row("failed", "-", why.clone())],
        None => vec![row("up", "-", server.config.description.clone().unwrap_or_default())],
    };
    rows.extend(server.tools.iter().map(|tool| row("tool", &tool.name, tool.description.clone())));
    let Some(offers) = &server.offers else { return rows };
    rows.extend(offers.resources.iter().map(|resource| {
        row(if resource.is_template { "template" } else { "resource" }, &resource.uri, about(resource))
    }));
    rows.extend(offers.prompts.iter().map(|prompt| {
        row("prompt", format!("{} {}", prompt.name, prompt.usage()).trim_end(), prompt.description.clone())
    }));
    rows
}

fn about(resource: &Resource) -> String {
    let Resource { name, description, mime, .. } = resource;
    let mime = mime.as_ref().map(|mime| format!("({mime})")).unwrap_or_default();
    [name.as_str(), description, &mime].join(" ")
}

/// Wraps a text at `columns`; a longer word gets a line of its own.
fn wrapped(text: &str, columns: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if width(line) + 1 + width(word) <= columns => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_string()),
        }
    }
    lines
}
