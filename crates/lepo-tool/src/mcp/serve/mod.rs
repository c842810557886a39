//! The server side of the protocol: lepo on stdin and stdout. A [`ServeBackend`] defines what it offers; this module speaks
//! the revisions 2025-11-25 and 2026-07-28 (and older ones that clients still ask for).

mod backend;
mod handler;
mod pipe;

use std::sync::Arc;

use lepo_base::error::{Error, Result};
use lepo_net::runtime::current_thread;
use rmcp::service::ServerInitializeError;

use handler::ServeHandler;
use pipe::Pipe;

pub use backend::{ActiveRequest, ResourceInfo, ServeBackend, ToolInfo, ToolOutput};
pub use pipe::{LineSink, LineSource};

/// Serves until the client closes its side.
///
/// # Errors
/// If no session can be started.
pub fn serve(backend: Arc<dyn ServeBackend>, input: LineSource, output: LineSink) -> Result<()> {
    current_thread()?.block_on(async {
        let handler = ServeHandler::new(backend);
        match rmcp::serve_server(handler, Pipe::new(input, output)).await {
            Ok(session) => {
                let _ = session.waiting().await;
                Ok(())
            }
            // The client left before it requested anything.
            Err(
                ServerInitializeError::ConnectionClosed(_) | ServerInitializeError::TransportError { .. },
            ) => Ok(()),
            Err(error) => Err(Error::remote("the MCP session could not begin").because(error)),
        }
    })
}
