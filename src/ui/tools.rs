//! The table of MCP servers and their tools: `--list-tools`, and `/mcp` of a session.

use crate::term::{Out, excerpt_within, say, width};
use crate::tool::mcp::Server;

/// The narrowest that a description is cut to.
const NARROWEST: usize = 20;

/// A tool a line: server, name, description.
pub fn tool_table(out: &mut Out, servers: &[Server]) {
    if servers.is_empty() {
        say("no MCP servers are on; they are configured in mcp.json, see lepo-config(5)");
    }
    let names = servers.iter().map(|server| width(&server.config.name)).max().unwrap_or_default();
    let tools = servers.iter().flat_map(|server| &server.tools).map(|tool| width(&tool.name)).max();
    let tools = tools.unwrap_or_default();
    let room = out.columns().map(|columns| columns.saturating_sub(names + tools + 4).max(NARROWEST));
    for server in servers {
        for tool in &server.tools {
            let name = padded(&server.config.name, names);
            let words: Vec<&str> = tool.description.split_whitespace().collect();
            let words = words.join(" ");
            let words = room.map_or(words.clone(), |room| excerpt_within(&words, room));
            out.line(format!("{name}  {}  {words}", padded(&tool.name, tools)).trim_end());
        }
    }
}

fn padded(text: &str, columns: usize) -> String {
    format!("{text}{}", " ".repeat(columns.saturating_sub(width(text))))
}
