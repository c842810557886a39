//! The table of MCP servers and what they offer: `--list-tools`, and `/mcp` in a session.

use crate::term::{Column, Out, Table, clean, fold_foreign, print_status};
use lepo_tool::mcp::{Resource, Server};

/// Server, kind and name; then the description, on a line of its own if less than this remains.
const COLUMNS: [Column; 4] = [Column::WHOLE, Column::WHOLE, Column::WHOLE, Column::REST.at_least(24)];

struct ToolRow {
    cells: [String; 3],
    about: String,
}

/// Prints server, kind, name and the whole description, one item a line, wrapped on a terminal.
pub fn tool_table(out: &mut Out, servers: &[Server]) {
    if servers.is_empty() {
        print_status("no MCP servers are enabled; they are configured in mcp.json, see lepo-config(5)");
    }
    let rows: Vec<ToolRow> = servers.iter().flat_map(rows).collect();
    let terminal = out.columns();
    let table = Table::new(&COLUMNS, 2, rows.iter().map(|row| &row.cells), terminal);
    for ToolRow { cells, about } in &rows {
        out.line(&table.row(cells, |room| match terminal {
            Some(_) => fold_foreign(&clean(about), room),
            None => about.clone(),
        }));
    }
}

fn rows(server: &Server) -> Vec<ToolRow> {
    let row = |kind: &str, name: &str, about: String| {
        let about = about.split_whitespace().collect::<Vec<&str>>().join(" ");
        ToolRow { cells: [server.config.name.clone(), kind.to_string(), name.to_string()], about }
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
