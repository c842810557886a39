//! `lepo do --acp`: the conversations of an editor that speaks the Agent Client Protocol. A view of turns beside those
//! of `do` and of a session.
//!
//! | module | holds |
//! |---|---|
//! | [`inbox`], [`peer`] | messages in and out |
//! | [`agent`] | which request is served by what |
//! | [`session`], [`turns`], [`begin`] | a session, its turns, and how it is found again |
//! | [`front`], [`tool_calls`], [`consent`] | the view of a turn, and the question for permission |
//! | [`question`], [`commands`], [`servers`] | what a prompt consists of |
//! | [`list`], [`replay`] | the sessions of a store, and what was said in one |

mod agent;
mod begin;
mod commands;
mod consent;
mod failure;
mod front;
mod given;
mod inbox;
mod list;
mod peer;
mod question;
mod replay;
mod servers;
mod session;
mod tool_calls;
mod turns;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use lepo_base::error::Result;
use lepo_store::store::Store;
use lepo_turn::{Configured, TrustedFile};

pub use agent::serve;

/// A folder in which sessions are held: its settings and its store.
pub struct Opened {
    /// The settings in force there.
    pub configured: Configured,
    /// The working directory of turns.
    pub dir: PathBuf,
    /// The MCP servers that the repository brings, if they are trusted.
    pub repo_servers: Option<TrustedFile>,
    /// The store.
    pub store: Arc<Store>,
}

/// Opens folders for sessions.
pub trait Folders {
    /// The folder with its store, which is made if there is none.
    fn open(&self, cwd: &Path) -> Result<Opened>;

    /// The store of a folder, if there is one.
    fn store(&self, cwd: &Path) -> Result<Option<Store>>;
}
