//! A call of an MCP server's tool, from consent to result.

use std::time::Instant;

use super::call_fault::fault_text;
use super::command_runner::ToolResult;
use super::folders::{StartNeeds, ask_about_start};
use super::result_text::ResultBuilder;
use super::servers::{FrontCaller, naming_starts, sign_ins_hold};
use super::turn::Turn;
use super::{CommandOrigin, Masking, Notice, TurnEvent};
use lepo_base::error::Result;
use lepo_store::store::{Store, blobs_of_result};
use lepo_tool::mcp::{CallOutcome, CallRequest, CallResult, ResultBlock};
use lepo_tool::{CallProposal, OutputStream, Proposal};

/// Returns the proposal for a call, with the definition of the tool in its running server, or a text for the
/// model why the call is not possible.
pub(super) async fn propose_call(
    turn: &mut Turn<'_>,
    request: &CallRequest,
) -> Result<std::result::Result<Proposal, String>> {
    ask_about_start(turn, StartNeeds { calls: &[&request.server], ..StartNeeds::default() }).await?;
    let servers = &mut *turn.servers;
    let up =
        naming_starts(&mut *turn.view, turn.env.configured.starting.clone(), Box::pin(servers.up(request)));
    let up = turn.env.interrupt.or(async { Ok(up.await) }).await?;
    for notice in turn.servers.unsaid() {
        turn.view.on_event(TurnEvent::Notice(&Notice::Server(notice)));
    }
    sign_ins_hold(turn)?;
    if let Err(why) = up {
        let why = turn.servers.not_up(&request.server).unwrap_or(why);
        return Ok(Err(format!("error: {why}")));
    }
    let Some((server, tool)) = turn.servers.live(request) else { return Ok(Err(no_tool(turn, request))) };
    let changed = !turn.env.pins.matches(server, tool)?;
    Ok(Ok(Proposal::Call(CallProposal {
        request: request.clone(),
        description: tool.description.clone(),
        tool: tool.fingerprint(),
        changed,
        unagreed: Vec::new(),
    })))
}

/// Explains to the model that the server does not have the tool.
fn no_tool(turn: &Turn<'_>, request: &CallRequest) -> String {
    let CallRequest { server, tool, .. } = request;
    match turn.servers.is_advertised(request) {
        true => format!("error: server {server:?} no longer has a tool {tool:?}"),
        false => {
            let tools = turn.servers.each().iter();
            let names: Vec<String> = tools
                .flat_map(|server| {
                    server.tools.iter().map(|tool| format!("{:?} of {:?}", tool.name, server.config.name))
                })
                .collect();
            format!("error: there is no tool {tool:?} of a server {server:?}; {}", fault_text(&names))
        }
    }
}

/// Makes a granted call, and returns the text of its result; `None` if the tool has changed since consent.
pub(super) async fn call(turn: &mut Turn<'_>, granted: lepo_tool::GrantedCall) -> Result<Option<ToolResult>> {
    turn.view.on_event(TurnEvent::ToolStarted(granted.request()));
    let start = Instant::now();
    let Turn { env, servers, view, .. } = turn;
    let server = granted.request().server.clone();
    let mut caller = FrontCaller { view: &mut **view, server: &server };
    let called = env.interrupt.or(async { Ok(servers.call(granted, &mut caller).await) }).await?;
    let ms = start.elapsed().as_millis() as u64;
    let is_result = matches!(called, CallOutcome::Result(_));
    let (text, ran) = match called {
        CallOutcome::Result(result) => (
            result_text(
                &turn.env.store,
                result,
                (turn.env.settings().output_limit.get() as usize, &turn.env.masking),
            )?,
            true,
        ),
        CallOutcome::Failed(why) => (format!("error: {why}").into_bytes(), false),
        CallOutcome::Changed => return Ok(None),
    };
    if is_result {
        // Displayed like the output of a command.
        turn.view.on_event(TurnEvent::CommandOutput(CommandOrigin::Model, OutputStream::Stdout, &text));
    }
    Ok(Some(ToolResult { text, exit: None, ms, ran }))
}

/// Formats a result, shortened if it is too long, then a line for each blob: the complete text, images and
/// other data.
fn result_text(store: &Store, result: CallResult, (limit, masking): (usize, &Masking)) -> Result<Vec<u8>> {
    let mut joined = String::new();
    if result.is_error {
        joined.push_str("the tool reports an error:\n");
    }
    let mut files = Vec::new();
    for block in result.blocks {
        match block {
            ResultBlock::Text(text) => joined.push_str(&text),
            ResultBlock::Bytes(what, bytes) => {
                joined.push_str(&format!("[{what}]"));
                files.push(bytes);
            }
        }
        joined.push('\n');
    }
    let mut text = ResultBuilder::new(Vec::new(), masking);
    match joined.trim_end_matches('\n') {
        "" => text.text.extend(b"(it gave nothing)"),
        joined => text.add_capped(store, joined, limit)?,
    }
    // Text of a server that looks like the line of a blob remains text.
    let result = String::from_utf8_lossy(&text.text).trim_end_matches('\n').to_string();
    if !blobs_of_result(&result).is_empty() {
        text.text.extend(b"\n\n");
    }
    for bytes in files {
        text.add_blob(store, &bytes)?;
    }
    Ok(text.into_bytes())
}
