//! Tools that a conversation has had: they stay the same for its whole length, because a model's server reads all of it
//! again if they change.

use serde_json::Value;

use super::recorded::ToolHashes;
use super::skills::{offer_former_skills, skill_tool};
use super::tools::{ToolList, ToolOffer};
use super::turn::Turn;
use lepo_base::error::Result;
use lepo_base::role::Role;
use lepo_model::{Planner, spec};
use lepo_tool::ToolMode;
use lepo_tool::mcp::{unshelve, use_last_lists};

/// Returns the tools of `offer`, in the form for the model of this turn.
pub(super) fn tool_list(turn: &Turn<'_>, offer: ToolOffer) -> ToolList {
    ToolList::new(offer, turn.takes_native_tools(), skill_tool(turn), turn.servers)
}

/// Returns the hashes of the tools in a request that lists these.
pub(super) fn tool_hashes(turn: &Turn<'_>, listed: &ToolList) -> ToolHashes {
    let settings = turn.env.settings();
    if settings.tool_call_mode == ToolMode::Off && listed.is_nothing() {
        return ToolHashes::default();
    }
    let commands = settings.planner_with_tools(spec(turn.config).planner) != Planner::Off;
    ToolHashes::new(commands, turn.servers.each())
        .with_skills(skill_tool(turn).filter(|_| turn.takes_native_tools()))
}

/// Returns the journal's hashes of the tools in the request of the last answer.
fn former_hashes(turn: &Turn<'_>) -> Option<Value> {
    let is_answer = |role: Role, hidden: bool| role == Role::Assistant && !hidden;
    let last = turn.path.loaded.iter().rev().find(|name| is_answer(name.role, name.hidden))?;
    turn.env.store.journal().index().get(last.id)?.tools
}

/// Lists the last known tools of failed servers, if the last request listed tools of them.
pub(super) fn list_tools_of_failed(turn: &mut Turn<'_>) {
    if turn.servers.each().iter().all(|server| server.failure.is_none()) {
        return;
    }
    let Some(former) = former_hashes(turn) else { return };
    use_last_lists(turn.servers, |name| former.get(name).is_some());
}

/// Returns the tools to list, and not to call, for a question with tools off: the last request's, if they have not changed
/// and the model's API can say that none may be called. Else nothing is listed.
pub(super) fn former_offer(turn: &mut Turn<'_>) -> Result<Option<ToolOffer>> {
    let is_off = turn.env.settings().tool_call_mode == ToolMode::Off;
    if !is_off || spec(turn.config).own_tools || !turn.takes_native_tools() {
        return Ok(None);
    }
    let Some(former) = former_hashes(turn) else { return Ok(None) };
    unshelve(turn.servers);
    offer_former_skills(turn)?;
    let planner = turn.env.settings().planner_with_tools(spec(turn.config).planner);
    let offer = ToolOffer { is_former: true, ..ToolOffer::new(true, planner, turn.servers, true) };
    let is_same = tool_hashes(turn, &tool_list(turn, offer)).changes_since(Some(&former)).is_empty();
    if !is_same {
        turn.skills.offered.clear();
    }
    Ok(is_same.then_some(offer))
}
