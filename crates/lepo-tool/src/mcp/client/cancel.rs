//! Notifies a server that a request is cancelled.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rmcp::RoleClient;
use rmcp::model::{CancelledNotificationParam, RequestId};
use rmcp::service::Peer;
use tokio::task::JoinHandle;

/// Time limit for sending the notice.
const NOTICE: Duration = Duration::from_millis(500);

/// Notifies the server, when dropped, that the request `id` is no longer awaited.
pub(super) struct CancelGuard {
    pub peer: Peer<RoleClient>,
    pub id: Option<RequestId>,
    pub leaving: InFlightNotice,
}

/// A notice that is being sent; closing waits for it.
#[derive(Clone, Default)]
pub(super) struct InFlightNotice(Arc<Mutex<Option<JoinHandle<()>>>>);

impl InFlightNotice {
    /// Waits a moment until the notice has been sent.
    pub async fn wait(&self) {
        let notice = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(notice) = notice {
            let _ = tokio::time::timeout(NOTICE, notice).await;
        }
    }
}

impl CancelGuard {
    /// Sends the notice now, and waits a moment for it.
    pub async fn send(&mut self, reason: &'static str) {
        if let Some(id) = self.id.take() {
            let _ = tokio::time::timeout(NOTICE, notice(self.peer.clone(), id, reason)).await;
        }
    }
}

impl Drop for CancelGuard {
    fn drop(&mut self) {
        let Some(id) = self.id.take() else { return };
        let peer = self.peer.clone();
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            let notice = runtime.spawn(notice(peer, id, "interrupted"));
            *self.leaving.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(notice);
        }
    }
}

async fn notice(peer: Peer<RoleClient>, id: RequestId, reason: &'static str) {
    let _ = peer.notify_cancelled(CancelledNotificationParam::new(Some(id), Some(reason.to_string()))).await;
}
