//! `--list-tools`: lists the active MCP servers and their tools.

use super::DoArgs;
use super::document::{
    DoDocument, OfferedArgument, OfferedPrompt, OfferedResource, OfferedTool, ServerOffers,
};
use super::setup::{Setup, run_with_signals};
use crate::commands::Context;
use crate::ui::{agree_to_start, print_server_notices, show_starts, tool_table};
use lepo_base::error::{Error, Result};
use lepo_net::runtime::current_thread;
use lepo_tool::mcp::{McpPrompt, PromptArgument, Resource, Server, Tool, native_name};
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
                    question.record_answer(answer, paths, &servers.folders().work_dir)?;
                    take_answers(&mut servers, paths);
                }
                print_server_notices(&show_starts(setup.configured.starting.clone(), servers.ready()).await);
                print_server_notices(&servers.list_offers().await);
                match args.json {
                    true => print_document(context, servers.each()),
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

fn print_document(context: &mut Context<'_>, servers: &[Server]) {
    context.out.document(&DoDocument::Servers { servers: servers.iter().map(offers).collect() });
}

fn offers(server: &Server) -> ServerOffers<'_> {
    let tool = |tool| offered_tool(server, tool);
    let offers = server.offers.iter();
    ServerOffers {
        name: &server.config.name,
        description: server.config.description.as_deref(),
        state: if server.failure.is_some() { "failed" } else { "up" },
        tools: server.tools.iter().map(tool).collect(),
        resources: offers.clone().flat_map(|offers| &offers.resources).map(resource).collect(),
        prompts: offers.flat_map(|offers| &offers.prompts).map(prompt).collect(),
        error: server.failure.as_deref(),
    }
}

fn offered_tool<'d>(server: &Server, tool: &'d Tool) -> OfferedTool<'d> {
    OfferedTool {
        name: &tool.name,
        call: native_name(&server.config.name, &tool.name),
        description: &tool.description,
        schema: &tool.schema,
    }
}

fn resource(resource: &Resource) -> OfferedResource<'_> {
    OfferedResource {
        uri: &resource.uri,
        template: resource.is_template,
        name: &resource.name,
        description: &resource.description,
        mime: resource.mime.as_deref(),
    }
}

fn prompt(prompt: &McpPrompt) -> OfferedPrompt<'_> {
    OfferedPrompt {
        name: &prompt.name,
        description: &prompt.description,
        arguments: prompt.arguments.iter().map(offered_argument).collect(),
    }
}

fn offered_argument(argument: &PromptArgument) -> OfferedArgument<'_> {
    OfferedArgument { name: &argument.name, description: &argument.description, required: argument.required }
}
