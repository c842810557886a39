//! `--list-tools`: the MCP servers that are on, and what each can do.

use serde_json::{Value, json};

use super::Args;
use super::session::{Session, runtime};
use crate::commands::Context;
use crate::error::{Error, Result};
use crate::term::{excerpt_within, say, width};
use crate::tool::mcp::{Server, native_name};
use crate::turn::Interrupt;

/// The narrowest that a description is cut to.
const NARROWEST: usize = 20;

/// Starts the servers, lists them, and ends them.
pub fn list(args: &Args, context: &mut Context<'_>) -> Result<u8> {
    let session = Session::new(args, context)?;
    let runtime = runtime()?;
    let listed = runtime.block_on(async {
        let interrupt = Interrupt::listen()?;
        let listed = interrupt
            .or(async {
                let (servers, said) = session.servers().await;
                said.iter().for_each(|text| say(text));
                match args.json {
                    true => documents(context, servers.each()),
                    false => table(context, servers.each()),
                }
                let none_is_up = servers.each().iter().all(|server| server.failed.is_some());
                Ok(none_is_up && !servers.is_empty())
            })
            .await;
        session.close().await;
        listed
    });
    match listed? {
        true => Err(Error::remote("no MCP server could be started").hint("each said why, above")),
        false => Ok(0),
    }
}

fn documents(context: &mut Context<'_>, servers: &[Server]) {
    let servers: Vec<Value> = servers.iter().map(document).collect();
    context.out.line(&json!({ "servers": servers }).to_string());
}

/// A tool a line: server, name, description.
pub fn table(context: &mut Context<'_>, servers: &[Server]) {
    if servers.is_empty() {
        say("no MCP servers are on; they are configured in mcp.json, see lepo-config(5)");
    }
    let names = servers.iter().map(|server| width(&server.config.name)).max().unwrap_or_default();
    let tools = servers.iter().flat_map(|server| &server.tools).map(|tool| width(&tool.name)).max();
    let tools = tools.unwrap_or_default();
    let room = context.out.columns().map(|columns| columns.saturating_sub(names + tools + 4).max(NARROWEST));
    for server in servers {
        for tool in &server.tools {
            let name = padded(&server.config.name, names);
            let words: Vec<&str> = tool.description.split_whitespace().collect();
            let words = words.join(" ");
            let words = room.map_or(words.clone(), |room| excerpt_within(&words, room));
            context.out.line(format!("{name}  {}  {words}", padded(&tool.name, tools)).trim_end());
        }
    }
}

fn padded(text: &str, columns: usize) -> String {
    format!("{text}{}", " ".repeat(columns.saturating_sub(width(text))))
}

fn document(server: &Server) -> Value {
    let tools: Vec<Value> = server
        .tools
        .iter()
        .map(|tool| {
            json!({
                "name": tool.name,
                "call": native_name(&server.config.name, &tool.name),
                "description": tool.description,
                "schema": tool.schema,
            })
        })
        .collect();
    json!({
        "name": server.config.name,
        "description": server.config.description,
        "tools": tools,
        "error": server.failed,
    })
}
