//! Acting for a model: its request, the user's consent, and the execution. Knows no messages and no store.
//!
//! | module | contains |
//! |---|---|
//! | `request`, `extract` | a model's request, and finding it in an answer |
//! | `consent`, `mode`, `access`, `unagreed` | the proposal to the user, the reply, and what may then run |
//! | `shell`, `capture`, `env_filter` | a command: its process, its output and its environment |
//! | `sandbox` | what a command may read and write, enforced by the kernel |
//! | `program_files`, `touched`, `dir_lock` | files of configured programs, and what sandboxed commands changed |
//! | [`mcp`] | MCP servers and their tools, and lepo as a server |

mod access;
mod capture;
mod consent;
mod dir_lock;
mod env_filter;
mod extract;
mod lenient_json;
pub mod mcp;
mod mode;
mod program_files;
mod request;
mod sandbox;
mod shell;
mod touched;
mod unagreed;

pub use access::Access;
pub use capture::CapturedStream;
pub use consent::{
    AllowedRequests, CallProposal, CommandProposal, Consent, ConsentReply, Grant, GrantedCall,
    GrantedCommand, Proposal,
};
pub use env_filter::EnvFilter;
pub use extract::{AnswerPart, find_objects, split_answer, without_thinking};
pub use lenient_json::parse as lenient_json;
pub use mode::{AutoAccess, ToolMode};
pub use program_files::{NamedProgram, ProgramFiles, Reach, RunningCheck, StartCheck, reach_of};
pub use request::{CommandRequest, ToolRequest};
pub use sandbox::{
    AutorunTrigger, CleanupReport, Policy, Sandbox, SandboxDetector, SandboxHold, covers_home, run_sandboxed,
    sandboxed_program,
};
pub use shell::{CommandExit, CommandOutcome, OutputSink, OutputStream, Shell};
pub use touched::{TouchedFiles, TouchedPaths};
pub use unagreed::Unagreed;

/// The shell that reads commands. Never one from `PATH`: a command that may write there could have replaced it.
const SHELL: &str = "/bin/sh";
