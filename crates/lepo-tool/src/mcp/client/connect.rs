//! The ways to open a session with a server, in order, and the record of the transport that an address turned out to
//! speak.

use std::path::PathBuf;

use super::ProcessSetup;
use lepo_base::hash::hash_of;
use lepo_base::hash_file::HashFile;

use crate::mcp::config::{ServerConfig, ServerTarget, Transport};

/// How a session starts: `Either` tries `server/discover` first and then `initialize`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Handshake {
    Either,
    Initialize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RemoteTransport {
    Sse,
    Http,
}

/// A way to open a session. For a program, `transport` has no meaning and is `Http`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConnectMethod {
    pub(super) transport: RemoteTransport,
    pub(super) beginning: Handshake,
}

impl ConnectMethod {
    /// Returns all ways to try with a server, the most likely first.
    pub(super) fn all(server: &ServerConfig, setup: &ProcessSetup) -> Vec<ConnectMethod> {
        // Older servers exit or go silent if the first message is not `initialize`.
        let http = [Handshake::Either, Handshake::Initialize]
            .map(|beginning| ConnectMethod { transport: RemoteTransport::Http, beginning });
        let sse = [ConnectMethod { transport: RemoteTransport::Sse, beginning: Handshake::Initialize }];
        let ServerTarget::Remote { transport, .. } = &server.target else { return http.to_vec() };
        match (transport, ConnectMethod::recorded_transport(server, setup)) {
            (Transport::Sse, _) => sse.to_vec(),
            (Transport::Http, _) => http.to_vec(),
            (_, Some(RemoteTransport::Sse)) | (Transport::SseFirst, None) => [&sse[..], &http].concat(),
            (_, Some(RemoteTransport::Http)) | (Transport::HttpFirst, None) => [&http[..], &sse].concat(),
        }
    }

    /// Whether the transport is HTTP with server-sent events.
    pub fn is_sse(self) -> bool {
        self.transport == RemoteTransport::Sse
    }

    /// Records the transport of an address, if it is neither configured nor tried first anyway.
    pub(super) fn remember(self, server: &ServerConfig, setup: &ProcessSetup) {
        let first = ConnectMethod::all(server, setup).first().map(|way| way.transport);
        let Some((record, hash)) = record(server, setup).filter(|_| first != Some(self.transport)) else {
            return;
        };
        let word = if self.is_sse() { "sse" } else { "http" };
        // Without the record, the next process tries both again.
        let _ = HashFile::at(record).append(&[format!("{hash} {word}")]);
    }

    fn recorded_transport(server: &ServerConfig, setup: &ProcessSetup) -> Option<RemoteTransport> {
        let (record, hash) = record(server, setup)?;
        match HashFile::at(record).last(&[&hash]).ok()??.as_str() {
            "sse" => Some(RemoteTransport::Sse),
            "http" => Some(RemoteTransport::Http),
            _ => None,
        }
    }
}

/// Returns the record, and the hash of the server's address in it; `None` if the transport is configured.
fn record(server: &ServerConfig, setup: &ProcessSetup) -> Option<(PathBuf, String)> {
    match &server.target {
        ServerTarget::Remote { url, transport: Transport::HttpFirst | Transport::SseFirst, .. } => {
            let mut address = url.clone();
            address.set_query(None);
            let record = setup.transports.clone()?;
            Some((record, hash_of(&[address.as_str().as_bytes()])))
        }
        _ => None,
    }
}
