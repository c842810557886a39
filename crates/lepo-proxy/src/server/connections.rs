//! The connections of clients: 64 at most. A 65th closes the longest idle connection.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use tokio::sync::Notify;

/// Connections at a time.
const MOST: usize = 64;

/// All open connections.
#[derive(Default)]
pub struct ConnectionTable {
    open: Mutex<BTreeMap<u64, OpenConnection>>,
    next: AtomicU64,
    changed: Notify,
}

struct OpenConnection {
    /// The time at which its last answer ended; `None` while a request is read or answered.
    idle_since: Option<Instant>,
    /// No request came yet: its first one may be on its way.
    is_new: bool,
    close: Arc<Notify>,
}

/// A connection in the table, until it is dropped.
pub struct ConnectionEntry {
    id: u64,
    table: Arc<ConnectionTable>,
    /// Notified when the connection is to end.
    pub close: Arc<Notify>,
}

impl ConnectionTable {
    fn open(&self) -> MutexGuard<'_, BTreeMap<u64, OpenConnection>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until there is room for one more connection, and adds it.
    pub async fn add(self: &Arc<Self>) -> ConnectionEntry {
        while !self.has_room() {
            self.changed.notified().await;
        }
        let close = Arc::new(Notify::new());
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let connection =
            OpenConnection { idle_since: Some(Instant::now()), is_new: true, close: close.clone() };
        self.open().insert(id, connection);
        ConnectionEntry { id, table: self.clone(), close }
    }

    /// Whether one more fits. If not, the longest idle connection has to end; answered ones go before new ones.
    fn has_room(&self) -> bool {
        let open = self.open();
        if open.len() < MOST {
            return true;
        }
        let idle = open.values().filter_map(|one| Some((one.is_new, one.idle_since?, &one.close)));
        if let Some((_, _, close)) = idle.min_by_key(|(is_new, since, _)| (*is_new, *since)) {
            close.notify_one();
        }
        false
    }
}

impl ConnectionEntry {
    fn set_idle(&self, is_idle: bool) {
        if let Some(connection) = self.table.open().get_mut(&self.id) {
            connection.idle_since = is_idle.then(Instant::now);
            connection.is_new = false;
        }
        if is_idle {
            self.table.changed.notify_one();
        }
    }
}

/// A request on its way; its connection is idle once it is dropped.
pub struct BusyConnection(Arc<ConnectionEntry>);

impl BusyConnection {
    /// Notes that a request has come.
    pub fn new(entry: Arc<ConnectionEntry>) -> BusyConnection {
        entry.set_idle(false);
        BusyConnection(entry)
    }
}

impl Drop for BusyConnection {
    fn drop(&mut self) {
        self.0.set_idle(true);
    }
}

impl Drop for ConnectionEntry {
    fn drop(&mut self) {
        self.table.open().remove(&self.id);
        self.table.changed.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt;

    #[test]
    fn one_more_than_fits_closes_the_oldest_idle_one() {
        let table = Arc::new(ConnectionTable::default());
        let mut entries: Vec<ConnectionEntry> =
            (0..MOST).map(|_| table.add().now_or_never().unwrap()).collect();
        // The first of these has not asked yet.
        entries.iter().skip(1).for_each(|entry| entry.set_idle(false));
        let asking = entries[0].close.clone();
        entries[9].set_idle(true);
        assert!(table.add().now_or_never().is_none());
        assert!(asking.notified().now_or_never().is_none());
        assert!(entries[9].close.notified().now_or_never().is_some());
        entries.iter().for_each(|entry| entry.set_idle(false));
        // Nothing is idle: it waits, and nobody is asked to end.
        assert!(table.add().now_or_never().is_none());
        assert!(entries.iter().all(|entry| entry.close.notified().now_or_never().is_none()));
        entries[5].set_idle(true);
        entries[3].set_idle(true);
        assert!(table.add().now_or_never().is_none());
        assert!(entries[5].close.notified().now_or_never().is_some());
        assert!(entries[3].close.notified().now_or_never().is_none());
        drop(entries.remove(5));
        assert!(table.add().now_or_never().is_some());
    }
}
