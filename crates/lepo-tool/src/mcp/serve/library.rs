//! The interface of what is served, and what it gives.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use lepo_base::error::Result;
use serde_json::{Map, Value};
use tokio::sync::mpsc::UnboundedSender;

/// A tool that is offered.
pub struct Offered {
    /// Its name.
    pub name: &'static str,
    /// Description, for a model.
    pub description: String,
    /// The JSON Schema of its arguments.
    pub input: Value,
    /// It writes.
    pub writes: bool,
}

/// The result of a call: text for a model, and the same for programs.
pub struct Told {
    /// For a model.
    pub text: String,
    /// For programs; null for none.
    pub structured: Value,
    /// The call failed: the text says why.
    pub is_error: bool,
}

/// A resource of a list.
pub struct Listed {
    /// Its address.
    pub uri: String,
    /// Its name.
    pub name: String,
    /// More words.
    pub title: Option<String>,
}

/// A request that is being worked on.
pub struct Going {
    pub(super) cancelled: Arc<AtomicBool>,
    pub(super) progress: Option<UnboundedSender<(u64, u64)>>,
}

impl Going {
    /// Work that nobody can cancel and that tells no progress.
    pub fn alone() -> Going {
        Going { cancelled: Arc::default(), progress: None }
    }

    /// True once nobody waits for the result.
    pub fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }

    /// Tells how much of how much is done.
    pub fn progress(&self, done: u64, total: u64) {
        if let Some(progress) = &self.progress {
            let _ = progress.send((done, total)); // the receiver is gone once the request is over
        }
    }
}

/// Interface of what is served. Its functions block, each in a thread of its own.
pub trait Library: Send + Sync + 'static {
    /// Instructions for a model that uses it.
    fn instructions(&self) -> String;
    /// The tools.
    fn tools(&self) -> Vec<Offered>;
    /// Calls a tool of [`tools`](Library::tools).
    fn call(&self, name: &str, arguments: &Map<String, Value>, going: &Going) -> Told;
    /// A page of resources, and the cursor of the next.
    ///
    /// # Errors
    /// If the cursor is none of its own, or something could not be read.
    fn resources(&self, cursor: Option<&str>) -> Result<(Vec<Listed>, Option<String>)>;
    /// The form of a resource's address, and what it is.
    fn template(&self) -> (String, String);
    /// The text of a resource.
    ///
    /// # Errors
    /// If there is no such resource, or it could not be read.
    fn read(&self, uri: &str) -> Result<String>;
    /// Tells of every change of the list of resources, until that returns false. Asked at least once a second.
    fn watch(&self, tell: &(dyn Fn(bool) -> bool + Sync));
}
