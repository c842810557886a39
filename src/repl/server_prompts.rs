//! Prompts and resources of MCP servers in a session: `/SERVER:PROMPT ARG…`, and `@SERVER:URI` in a question.

use super::session::{ReplSession, UndoStep, report_error};
use super::turn::turn;
use crate::ui::{ViewEvent, ViewState};
use lepo_base::error::{Error, Result};
use lepo_turn::{ResourceAddress, ServerContent, ServerPrompt, TurnRequest};

/// Parses `/NAME WORDS` as a server's prompt; `None` if NAME does not start with a server's name and a colon.
pub(super) fn server_prompt(
    session: &ReplSession<'_>,
    name: &str,
    args: &str,
) -> Option<Result<ServerPrompt>> {
    let servers = session.env.catalogue.names();
    let (server, prompt) = servers
        .iter()
        .find_map(|server| Some((server, name.strip_prefix(server.as_str())?.strip_prefix(':')?)))?;
    if prompt.is_empty() {
        let hint = "Tab completes its prompts; /mcp lists them";
        return Some(Err(Error::usage(format!("name a prompt of {server}")).hint(hint)));
    }
    let args = shlex::split(args).unwrap_or_else(|| vec![args.to_string()]);
    Some(Ok(ServerPrompt { server: server.clone(), name: prompt.to_string(), named: Vec::new(), args }))
}

pub(super) async fn ask_prompt(
    session: &mut ReplSession<'_>,
    state: ViewState,
    prompt: ServerPrompt,
) -> Result<ViewState> {
    let state = state.after(ViewEvent::Entered);
    let next = match session.next_turn(false) {
        Ok(next) => next,
        Err(error) => return report_error(state, &error),
    };
    session.drop_waiting();
    let line = shlex::try_join(prompt.args.iter().map(String::as_str)).unwrap_or_default();
    let line = format!("/{}:{} {line}", prompt.server, prompt.name);
    session.undo_steps.push(UndoStep::Asked(session.tip(), line.trim_end().to_string()));
    session.served = ServerContent { prompt: Some(prompt), ..ServerContent::default() };
    let ask = TurnRequest::new(next.start, None, &session.runs);
    turn(session, state, &next.forest, ask).await
}

pub(super) fn resources(session: &ReplSession<'_>, question: &str) -> Vec<ResourceAddress> {
    ResourceAddress::in_question(question, session.env.catalogue.names())
}
