//! Re-exports for tests, fuzzers and benchmarks. Not a public interface: it changes at any time.

/// Names of bubbs.
pub mod bubb {
    pub use crate::bubb::Name;
}

/// The scripts of shells.
pub mod completions {
    pub use crate::commands::completions::*;
}

/// Configuration.
pub mod config {
    pub use crate::config::{
        AnswerForm, ClientIdentity, Flags, Insts, Key, ModelConfig, Paths, Provider, Secret, ServerConfig,
        ServerDetails, Settings, Target, Transport, parse_servers,
    };
    pub use crate::env::Env;
}

/// Models.
pub mod model {
    pub use crate::model::weights::installed;
    pub use crate::model::{
        Event, Finish, Gate, Installed, Message, Model, Request, Role, Schema, Timeouts, ToolCall, ToolSpec,
        Usage,
    };
    #[cfg(fuzzing)]
    pub use crate::model::{Wire, read_pieces};
}

/// Searching.
#[cfg(fuzzing)]
pub mod search {
    pub use crate::search::read_forged;
}

/// Text on its way to a terminal.
pub mod term {
    pub use crate::term::{Cleaner, Color, Markdown, Paint, clean};
}

/// Calls in the text of an answer, and the client of MCP servers.
pub mod tool {
    pub use crate::tool::mcp::client::auth::{LiveSecrets, Login, Redirected};
    pub use crate::tool::mcp::client::{Client, Failure, Limits, List, ProcessSetup};
    pub use crate::tool::mcp::{Asked, Caller, Field, FormAnswer};
    pub use crate::tool::{Piece, pieces};
}
