//! The tools of a turn, and the form in which its model is told of them.

use super::native::run_command;
use super::skills::skill_tool;
use super::turn::Turn;
use lepo_model::ToolSpec;
use lepo_tool::mcp::{blocks, native_name};

/// The tools that a model may call before its answer.
#[derive(Debug, Clone, Copy)]
pub(super) struct Offer {
    /// The shell command, natively.
    pub commands: bool,
    /// The tools of MCP servers.
    pub calls: bool,
    /// The tool that gives skills, natively.
    pub skills: bool,
    /// The tools are listed, as they were before, but tool use has ended.
    pub ended: bool,
}

/// The tools of a request, as the model is told of them: in fields of its API or as text of the prompt.
#[derive(Default)]
pub(super) struct ToolList {
    /// In fields of its API.
    pub native: bool,
    pub specs: Vec<ToolSpec>,
    pub blocks: Option<String>,
}

impl ToolList {
    pub fn is_nothing(&self) -> bool {
        self.specs.is_empty() && self.blocks.is_none()
    }

    /// The names by which a model may call them.
    pub fn names(&self, turn: &Turn<'_>) -> Vec<String> {
        match self.specs.is_empty() {
            true => turn.servers.native_names(),
            false => self.specs.iter().map(|spec| spec.name.clone()).collect(),
        }
    }
}

/// The tools of `offer`, in the form that the model of this turn takes.
pub(super) fn tool_list(turn: &Turn<'_>, offer: Offer) -> ToolList {
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
