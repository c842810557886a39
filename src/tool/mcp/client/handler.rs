//! lepo's side of what a server may say or ask by itself: progress is passed on, a changed list of
//! tools is remembered, and nothing is given away.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rmcp::model::{
    ClientCapabilities, ClientConfig, ElicitRequestParams, ElicitResult, ElicitationAction, Implementation,
    ProgressNotificationParam, ProtocolVersion,
};
use rmcp::service::{NotificationContext, RequestContext};
use rmcp::{ClientHandler, ErrorData, RoleClient};
use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::errors;

/// Fills in a form that a server asks for: its JSON schema in, the content out.
pub type FillIn = fn(&Value) -> Value;

/// The client's side of one session.
#[derive(Clone)]
pub struct Handler {
    /// Where progress goes, in words.
    pub progress: mpsc::Sender<String>,
    /// The server said that its tools are others now.
    pub changed: Arc<AtomicBool>,
    /// Who fills in forms; nobody, for lepo, and then servers are told that they need not ask.
    pub fill_in: Option<FillIn>,
}

impl Handler {
    /// The answer to a form.
    pub fn form(&self, schema: &Value) -> Value {
        match self.fill_in {
            Some(fill_in) => json!({ "action": "accept", "content": fill_in(schema) }),
            None => json!({ "action": "decline" }),
        }
    }
}

impl ClientHandler for Handler {
    fn get_info(&self) -> ClientConfig {
        let capabilities = match self.fill_in {
            Some(_) => json!({ "elicitation": {} }),
            None => json!({}),
        };
        let capabilities: ClientCapabilities = serde_json::from_value(capabilities).unwrap_or_default();
        ClientConfig::new(capabilities, Implementation::new("lepo", env!("CARGO_PKG_VERSION")))
            .with_protocol_version(ProtocolVersion::LATEST_WITH_INITIALIZE)
    }

    async fn on_progress(&self, progress: ProgressNotificationParam, _: NotificationContext<RoleClient>) {
        let part = match progress.total {
            Some(total) if total > 0.0 => format!("{:.0}%", 100.0 * progress.progress / total),
            _ => progress.progress.to_string(),
        };
        let words = match progress.message {
            // A line of its own would not be seen to be the server's.
            Some(message) => format!("{part} {}", errors::one_line(&message)),
            None => part,
        };
        // One that nobody has read yet is as good as this one.
        let _ = self.progress.try_send(words);
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.changed.store(true, Ordering::Relaxed);
    }

    async fn create_elicitation(
        &self,
        asked: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let asked = serde_json::to_value(&asked).unwrap_or_default();
        let answer = self.form(&asked["requestedSchema"]);
        let declined = || ElicitResult::new(ElicitationAction::Decline);
        Ok(serde_json::from_value(answer).unwrap_or_else(|_| declined()))
    }
}
