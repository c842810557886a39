//! The tools of a request, as values: which kinds a model may call, and their list in the form for the model.

use super::native::run_command;
use lepo_model::{Planner, ToolSpec};
use lepo_tool::mcp::{Server, Servers, Tool, blocks, native_name};

/// The tools that a model may call before its answer.
#[derive(Debug, Clone, Copy, Default)]
pub struct ToolOffer {
    /// The shell command, natively.
    pub commands: bool,
    /// The tools of MCP servers.
    pub calls: bool,
    /// The tool `skill`, natively.
    pub skills: bool,
    /// Whether tool use has ended. The tools are still listed as before.
    pub has_ended: bool,
    /// Whether tools are off for this question, and listed because the conversation has them.
    pub is_former: bool,
}

impl ToolOffer {
    /// Returns the offer of a turn that may have `tools`.
    pub fn new(tools: bool, planner: Planner, servers: &Servers, has_ended: bool) -> ToolOffer {
        ToolOffer {
            commands: tools && planner == Planner::Native,
            calls: tools && !servers.is_empty(),
            skills: tools,
            has_ended,
            is_former: false,
        }
    }
}

/// The tools of a request: in fields of the API or as text of the prompt.
#[derive(Default)]
pub struct ToolList {
    pub offer: ToolOffer,
    pub specs: Vec<ToolSpec>,
    pub blocks: Option<String>,
}

impl ToolList {
    /// Returns the tools of `offer`: in fields of the API if `native`, and then with `skill`.
    pub fn new(offer: ToolOffer, native: bool, skill: Option<ToolSpec>, servers: &Servers) -> ToolList {
        let mut offered = ToolList { offer, ..ToolList::default() };
        if offer.commands && native {
            offered.specs.push(run_command());
        }
        if offer.skills && native {
            offered.specs.extend(skill);
        }
        let with_tools = servers.each().iter().filter(|server| offer.calls && !server.tools.is_empty());
        let mut servers: Vec<&Server> = with_tools.collect();
        // However they are configured and listed, so that a server's cache finds them as they were.
        servers.sort_by(|a, b| a.config.name.cmp(&b.config.name));
        let sorted = |server: &Server| {
            let mut tools = server.tools.clone();
            tools.sort_by(|a, b| a.name.cmp(&b.name));
            tools
        };
        match native {
            true => {
                for server in servers {
                    offered.specs.extend(sorted(server).into_iter().map(|tool| ToolSpec {
                        name: native_name(&server.config.name, &tool.name),
                        schema: tool.parameters(),
                        description: tool.description,
                    }));
                }
            }
            false => {
                let lists: Vec<(&str, Vec<Tool>)> =
                    servers.into_iter().map(|server| (server.config.name.as_str(), sorted(server))).collect();
                if !lists.is_empty() {
                    offered.blocks =
                        Some(blocks(lists.iter().map(|(name, tools)| (*name, tools.as_slice()))));
                }
            }
        }
        offered
    }

    pub fn is_nothing(&self) -> bool {
        self.specs.is_empty() && self.blocks.is_none()
    }

    /// Returns the names by which a model may call them.
    pub fn names(&self, servers: &Servers) -> Vec<String> {
        match self.specs.is_empty() {
            true => servers.native_names(),
            false => self.specs.iter().map(|spec| spec.name.clone()).collect(),
        }
    }
}
