//! `lepo do --acp`: the conversations of an editor that speaks the Agent Client Protocol. Its [`view`] is a
//! view of turns, like those in `ui`.
//!
//! | module | contents |
//! |---|---|
//! | [`inbox`], [`peer`] | messages in and out |
//! | [`agent`] | the dispatch of requests |
//! | [`session`], [`turns`], [`session_start`] | a session, its turns, and how it is found again |
//! | [`view`], [`tool_calls`], [`consent`] | the view of a turn, and the question for permission |
//! | [`question`], [`commands`], [`servers`] | the parts of a prompt |
//! | [`list`], [`history`] | the sessions of a store, and the history of one |

mod agent;
mod commands;
mod consent;
mod editor_server;
mod failure;
mod history;
mod inbox;
mod list;
mod peer;
mod question;
mod servers;
mod session;
mod session_start;
mod tool_calls;
mod turns;
mod view;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use lepo_base::error::Result;
use lepo_store::store::Store;
use lepo_turn::{Configuration, TrustedFile};

pub use agent::serve;

/// The settings and the store of a session's folder.
pub struct OpenFolder {
    pub configured: Configuration,
    /// The working directory of turns.
    pub dir: PathBuf,
    /// The MCP servers of the repository, if they are trusted.
    pub repo_servers: Option<TrustedFile>,
    pub store: Arc<Store>,
}

pub trait FolderOpener {
    /// Opens a folder and its store, which is created if it does not exist.
    fn open(&self, cwd: &Path) -> Result<OpenFolder>;

    /// Opens the store of a folder, if one exists.
    fn store(&self, cwd: &Path) -> Result<Option<Store>>;
}
