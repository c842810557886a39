//! lepo's side of a server's own messages: passes on progress and questions, records that a list has changed, and
//! discloses nothing but a root folder.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rmcp::model::{
    ClientCapabilities, ClientConfig, ElicitRequestParams, ElicitResult, ElicitationAction, Implementation,
    ProgressNotificationParam, ProtocolVersion,
};
use rmcp::service::{NotificationContext, RequestContext};
use rmcp::{ClientHandler, ErrorData, RoleClient};
use serde_json::json;
use tokio::sync::{mpsc, oneshot};
use url::Url;

use super::super::elicitation::{ElicitationResult, ServerQuestion};
use super::errors;

#[derive(Clone)]
pub struct SessionHandler {
    /// Folder that a local program gets as its root; a remote server has no use for one.
    pub root: Option<PathBuf>,
    pub progress: mpsc::Sender<String>,
    /// Receives the server's questions, each with a channel for the answer.
    pub questions: mpsc::Sender<(ServerQuestion, oneshot::Sender<ElicitationResult>)>,
    /// Set when the server reports a change of its tools.
    pub changed: Arc<AtomicBool>,
    /// Set when the server reports a change of its resources or prompts.
    pub offers_changed: Arc<AtomicBool>,
}

impl ClientHandler for SessionHandler {
    fn get_info(&self) -> ClientConfig {
        let mut capabilities = json!({ "elicitation": { "form": {}, "url": {} } });
        if self.root.is_some() {
            capabilities["roots"] = json!({});
        }
        let capabilities: ClientCapabilities = serde_json::from_value(capabilities).unwrap_or_default();
        ClientConfig::new(capabilities, Implementation::new("lepo", env!("CARGO_PKG_VERSION")))
            .with_protocol_version(ProtocolVersion::LATEST_WITH_INITIALIZE)
    }

    #[expect(deprecated, reason = "the servers that people have ask for roots")]
    async fn list_roots(
        &self,
        _: RequestContext<RoleClient>,
    ) -> Result<rmcp::model::ListRootsResult, ErrorData> {
        let address = self.root.as_ref().and_then(|root| Url::from_file_path(root).ok());
        let roots = address.into_iter().map(|address| rmcp::model::Root::new(address.to_string())).collect();
        Ok(rmcp::model::ListRootsResult::new(roots))
    }

    async fn on_progress(&self, progress: ProgressNotificationParam, _: NotificationContext<RoleClient>) {
        let part = match progress.total {
            Some(total) if total > 0.0 => format!("{:.0}%", 100.0 * progress.progress / total),
            _ => progress.progress.to_string(),
        };
        let words = match progress.message {
            // On a line of its own, the text would not be recognisable as the server's.
            Some(message) => format!("{part} {}", errors::one_line(&message)),
            None => part,
        };
        // If the last report has not been read yet, this one is dropped.
        let _ = self.progress.try_send(words);
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.changed.store(true, Ordering::Relaxed);
    }

    async fn on_resource_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.offers_changed.store(true, Ordering::Relaxed);
    }

    async fn on_prompt_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.offers_changed.store(true, Ordering::Relaxed);
    }

    async fn create_elicitation(
        &self,
        asked: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let declined = || ElicitResult::new(ElicitationAction::Decline);
        let asked = ServerQuestion::read(&serde_json::to_value(&asked).unwrap_or_default());
        let (sender, answer) = oneshot::channel();
        // A question is declined while another is open, or if its request is over.
        if self.questions.try_send((asked, sender)).is_err() {
            return Ok(declined());
        }
        let answer = answer.await.unwrap_or(ElicitationResult::Declined).to_json();
        Ok(serde_json::from_value(answer).unwrap_or_else(|_| declined()))
    }
}
