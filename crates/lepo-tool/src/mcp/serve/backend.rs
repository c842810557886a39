//! The interface of the tools and resources that lepo serves by MCP, which the program implements, and its types.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use lepo_base::error::Result;
use serde_json::{Map, Value};
use tokio::sync::mpsc::UnboundedSender;

/// A tool that lepo offers.
pub struct ToolInfo {
    /// Name of the tool.
    pub name: &'static str,
    /// Description for a model.
    pub description: String,
    /// JSON schema of the arguments.
    pub input: Value,
    /// Whether the tool writes.
    pub can_write: bool,
}

/// The result of a call, for a model and for programs.
pub struct ToolOutput {
    /// Text for a model.
    pub text: String,
    /// Data for programs; null without any.
    pub structured: Value,
    /// Whether the call failed; `text` says why.
    pub is_error: bool,
}

/// An entry of the list of resources.
pub struct ResourceInfo {
    /// Address of the resource.
    pub uri: String,
    /// Name of the resource.
    pub name: String,
    /// Title of the resource.
    pub title: Option<String>,
}

/// A request in progress.
pub struct ActiveRequest {
    pub(super) cancelled: Arc<AtomicBool>,
    pub(super) progress: Option<UnboundedSender<(u64, u64)>>,
}

impl ActiveRequest {
    /// Creates a request that nobody can cancel and that reports no progress.
    pub fn detached() -> ActiveRequest {
        ActiveRequest { cancelled: Arc::default(), progress: None }
    }

    /// Whether nobody waits for the result any more.
    pub fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }

    /// Reports that `done` of `total` is done.
    pub fn progress(&self, done: u64, total: u64) {
        if let Some(progress) = &self.progress {
            let _ = progress.send((done, total)); // the receiver is gone once the request is over
        }
    }
}

/// The tools and resources to serve. The functions block, so each call runs in a thread of its own.
pub trait ServeBackend: Send + Sync + 'static {
    /// Returns instructions for a model that uses the tools.
    fn instructions(&self) -> String;
    /// Returns all tools.
    fn tools(&self) -> Vec<ToolInfo>;
    /// Calls a tool of [`tools`](ServeBackend::tools).
    fn call(&self, name: &str, arguments: &Map<String, Value>, request: &ActiveRequest) -> ToolOutput;
    /// Returns a page of resources, and the cursor of the next page.
    ///
    /// # Errors
    /// If the cursor is not one that this function returned, or something could not be read.
    fn resources(&self, cursor: Option<&str>) -> Result<(Vec<ResourceInfo>, Option<String>)>;
    /// Returns the template of a resource's address, and its description.
    fn template(&self) -> (String, String);
    /// Returns the text of a resource.
    ///
    /// # Errors
    /// If the resource does not exist or could not be read.
    fn read(&self, uri: &str) -> Result<String>;
    /// Watches the list of resources: calls `report(true)` after every change, and `report(false)` at least once a second.
    /// Ends when `report` returns false, because no client listens any more.
    fn watch(&self, report: &(dyn Fn(bool) -> bool + Sync));
}
