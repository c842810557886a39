//! The tools of a turn, in the form for its model.

use super::native::run_command;
use super::skills::skill_tool;
use super::turn::Turn;
use lepo_model::ToolSpec;
use lepo_tool::mcp::{blocks, native_name};

/// The tools that a model may call before its answer.
#[derive(Debug, Clone, Copy)]
pub(super) struct ToolOffer {
    /// The shell command, natively.
    pub commands: bool,
    /// The tools of MCP servers.
    pub calls: bool,
    /// The tool `skill`, natively.
    pub skills: bool,
    /// Whether tool use has ended. The tools are still listed as before.
    pub ended: bool,
}

/// The tools of a request: in fields of the API or as text of the prompt.
#[derive(Default)]
pub(super) struct ToolList {
    /// Whether they are in fields of the API.
    pub native: bool,
    pub specs: Vec<ToolSpec>,
    pub blocks: Option<String>,
}

impl ToolList {
    pub fn is_nothing(&self) -> bool {
        self.specs.is_empty() && self.blocks.is_none()
    }

    /// Returns the names by which a model may call them.
    pub fn names(&self, turn: &Turn<'_>) -> Vec<String> {
        match self.specs.is_empty() {
            true => turn.servers.native_names(),
            false => self.specs.iter().map(|spec| spec.name.clone()).collect(),
        }
    }
}

/// Returns the tools of `offer`, in the form for the model of this turn.
pub(super) fn tool_list(turn: &Turn<'_>, offer: ToolOffer) -> ToolList {
    let native = turn.takes_native_tools();
    let mut offered = ToolList { native, ..ToolList::default() };
    if offer.commands && native {
        offered.specs.push(run_command());
    }
    if offer.skills && native {
        offered.specs.extend(skill_tool(turn));
    }
    let servers = turn.servers.each().iter().filter(|server| offer.calls && !server.tools.is_empty());
    match native {
        true => {
            for server in servers {
                offered.specs.extend(server.tools.iter().map(|tool| ToolSpec {
                    name: native_name(&server.config.name, &tool.name),
                    description: tool.description.clone(),
                    schema: tool.parameters(),
                }));
            }
        }
        false => {
            let mut servers = servers.map(|s| (s.config.name.as_str(), s.tools.as_slice())).peekable();
            if servers.peek().is_some() {
                offered.blocks = Some(blocks(servers));
            }
        }
    }
    offered
}
