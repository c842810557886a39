//! `--list-tools`: lists the active MCP servers and their tools.

use serde_json::{Value, json};

use super::DoArgs;
use super::setup::{Setup, run_with_signals};
use crate::commands::Context;
use crate::ui::{agree_to_start, print_server_notices, tool_table};
use lepo_base::error::{Error, Result};
use lepo_net::runtime::current_thread;
use lepo_tool::mcp::{McpPrompt, PromptArgument, Resource, Server, native_name};
use lepo_turn::{question_of_servers, take_answers};

pub fn list_tools(args: &DoArgs, context: &mut Context<'_>) -> Result<u8> {
    let setup = Setup::read(args, context)?;
    let mut servers = setup.servers()?;
    servers.ask_all();
    let none_is_up = run_with_signals(current_thread()?, async |interrupt| {
        let listed = interrupt
            .or(async {
                let paths = &setup.configured.paths;
                let question = question_of_servers(&mut servers, paths)?;
                if !question.is_empty()
                    && let Some(answer) = agree_to_start(question.clone()).await?
                {
                    question.keep(answer, paths, &servers.folders().work_dir)?;
                    take_answers(&mut servers, paths);
                }
                print_server_notices(&servers.ready().await);
                print_server_notices(&servers.list_offers().await);
                match args.json {
                    true => documents(context, servers.each()),
                    false => tool_table(context.out, servers.each()),
                }
                let none_is_up = servers.each().iter().all(|server| server.failure.is_some());
                Ok(none_is_up && !servers.is_empty())
            })
            .await;
        servers.close().await;
        listed
    });
    match none_is_up? {
        true => Err(Error::remote("no MCP server could be started").hint("the reasons are above")),
        false => Ok(0),
    }
}

fn documents(context: &mut Context<'_>, servers: &[Server]) {
    let servers: Vec<Value> = servers.iter().map(document).collect();
    context.out.line(&json!({ "servers": servers }).to_string());
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
    let offers = server.offers.clone().unwrap_or_default();
    let resources: Vec<Value> = offers.resources.iter().map(resource).collect();
    let prompts: Vec<Value> = offers.prompts.iter().map(prompt).collect();
    json!({
        "name": server.config.name,
        "description": server.config.description,
        "state": if server.failure.is_some() { "failed" } else { "up" },
        "tools": tools,
        "resources": resources,
        "prompts": prompts,
        "error": server.failure,
    })
}

fn resource(resource: &Resource) -> Value {
    json!({
        "uri": resource.uri,
        "template": resource.is_template,
        "name": resource.name,
        "description": resource.description,
        "mime": resource.mime,
    })
}

fn prompt(prompt: &McpPrompt) -> Value {
    let argument = |argument: &PromptArgument| {
        json!({
            "name": argument.name,
            "description": argument.description,
            "required": argument.required,
        })
    };
    json!({
        "name": prompt.name,
        "description": prompt.description,
        "arguments": prompt.arguments.iter().map(argument).collect::<Vec<Value>>(),
    })
}
