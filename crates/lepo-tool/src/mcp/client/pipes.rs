//! Messages on a program's stdin and stdout, one per line. Other lines, such as banners and log lines, are common: they
//! are skipped and counted.

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rmcp::RoleClient;
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::unix::pipe::{Receiver, Sender};
use tokio::sync::Mutex;

use super::message::{InitializeId, ServerLine, error_without_id, read};

/// Longest line read, in bytes: rmcp's limit over HTTP.
pub const LIMIT: usize = 16 << 20;

pub struct StdioTransport {
    stdout: BufReader<Receiver>,
    stdin: Arc<Mutex<Option<Sender>>>,
    /// The incomplete line; a field, because a read may be cancelled in its middle.
    line: Vec<u8>,
    is_too_long: bool,
    /// Further messages of a line that had several.
    queue: VecDeque<ServerJsonRpcMessage>,
    junk: Arc<AtomicUsize>,
    /// Current limit for a line, in bytes.
    limit: Arc<AtomicUsize>,
    initialize: InitializeId,
}

impl StdioTransport {
    /// Counts lines that are not messages in `junk`; no line is longer than `limit`, in bytes.
    pub fn new(
        stdout: Receiver,
        stdin: Sender,
        junk: Arc<AtomicUsize>,
        limit: Arc<AtomicUsize>,
    ) -> StdioTransport {
        StdioTransport {
            limit,
            stdout: BufReader::with_capacity(64 << 10, stdout),
            stdin: Arc::new(Mutex::new(Some(stdin))),
            line: Vec::new(),
            is_too_long: false,
            queue: VecDeque::new(),
            junk,
            initialize: InitializeId::default(),
        }
    }

    /// Returns the next line without its line end; `None` at the end of the stream. Safe to cancel.
    async fn next_line(&mut self) -> io::Result<Option<Vec<u8>>> {
        loop {
            let bytes = self.stdout.fill_buf().await?;
            if bytes.is_empty() {
                return Ok(None);
            }
            let end = memchr::memchr(b'\n', bytes);
            let piece = bytes.get(..end.unwrap_or(bytes.len())).unwrap_or_default();
            if self.line.len() + piece.len() > self.limit.load(Ordering::Relaxed) {
                self.is_too_long = true;
                self.line = Vec::new();
            }
            if !self.is_too_long {
                self.line.extend_from_slice(piece);
            }
            let taken = piece.len() + usize::from(end.is_some());
            self.stdout.consume(taken);
            if end.is_some() {
                return Ok(Some(std::mem::take(&mut self.line)));
            }
        }
    }
}

impl Transport<RoleClient> for StdioTransport {
    type Error = io::Error;

    fn send(
        &mut self,
        message: ClientJsonRpcMessage,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        self.initialize.record(&message);
        let stdin = Arc::clone(&self.stdin);
        async move {
            let mut line = serde_json::to_vec(&message)?;
            line.push(b'\n');
            let mut stdin = stdin.lock().await;
            let pipe = stdin.as_mut().ok_or(io::ErrorKind::BrokenPipe)?;
            pipe.write_all(&line).await?;
            pipe.flush().await
        }
    }

    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        loop {
            if let Some(message) = self.queue.pop_front() {
                return Some(message);
            }
            // A pipe that cannot be read counts as ended.
            let line = self.next_line().await.ok()??;
            if std::mem::take(&mut self.is_too_long) {
                let limit = self.limit.load(Ordering::Relaxed) >> 20;
                return Some(error_without_id(format!("an answer is longer than {limit} MiB")));
            }
            match read(&line, &self.initialize) {
                ServerLine::Messages(messages) => self.queue.extend(messages),
                ServerLine::Blank => {}
                ServerLine::Junk => drop(self.junk.fetch_add(1, Ordering::Relaxed)),
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        // A blocked writer has the lock on stdin; terminating its process unblocks it.
        if let Ok(mut stdin) = self.stdin.try_lock() {
            stdin.take();
        }
        Ok(())
    }
}
