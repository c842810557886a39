//! The ways in which a session with a server may begin, in order; and the transport that an address turned out to have.

use std::path::PathBuf;

use super::ProcessSetup;
use lepo_base::hash::hash_of;
use lepo_base::record::HashFile;

use crate::mcp::config::{ServerConfig, Target, Transport};

/// The way a session begins: `server/discover` with `initialize` as the second try, or that alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Beginning {
    Either,
    Initialize,
}

/// A transport of remote servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Remote {
    /// HTTP with server-sent events.
    Sse,
    /// Streamable HTTP.
    Http,
}

/// One way to begin a session. A program has no transport: `Http` stands for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Way {
    pub(super) transport: Remote,
    pub(super) beginning: Beginning,
}

impl Way {
    /// All ways that are tried with a server, the most likely first.
    pub(super) fn all(server: &ServerConfig, place: &ProcessSetup) -> Vec<Way> {
        // Older servers end, or turn mute, when `initialize` is not the first thing they hear.
        let http = [Beginning::Either, Beginning::Initialize]
            .map(|beginning| Way { transport: Remote::Http, beginning });
        let sse = [Way { transport: Remote::Sse, beginning: Beginning::Initialize }];
        let Target::Remote { transport, .. } = &server.target else { return http.to_vec() };
        match (transport, Way::remembered(server, place)) {
            (Transport::Sse, _) => sse.to_vec(),
            (Transport::Http, _) => http.to_vec(),
            (_, Some(Remote::Sse)) | (Transport::SseFirst, None) => [&sse[..], &http].concat(),
            (_, Some(Remote::Http)) | (Transport::HttpFirst, None) => [&http[..], &sse].concat(),
        }
    }

    /// True if it is HTTP with server-sent events.
    pub fn is_sse(self) -> bool {
        self.transport == Remote::Sse
    }

    /// Remembers the transport of an address, where it is not configured and not what is tried first.
    pub(super) fn remember(self, server: &ServerConfig, place: &ProcessSetup) {
        let first = Way::all(server, place).first().map(|way| way.transport);
        let Some((record, hash)) = record(server, place).filter(|_| first != Some(self.transport)) else {
            return;
        };
        let word = if self.is_sse() { "sse" } else { "http" };
        // Without it, the next process tries both again.
        let _ = HashFile::at(record).keep(&[format!("{hash} {word}")]);
    }

    fn remembered(server: &ServerConfig, place: &ProcessSetup) -> Option<Remote> {
        let (record, hash) = record(server, place)?;
        match HashFile::at(record).last(&[&hash]).ok()??.as_str() {
            "sse" => Some(Remote::Sse),
            "http" => Some(Remote::Http),
            _ => None,
        }
    }
}

/// The record, and the hash of the server's address in it, where its transport is not configured.
fn record(server: &ServerConfig, place: &ProcessSetup) -> Option<(PathBuf, String)> {
    match &server.target {
        Target::Remote { url, transport: Transport::HttpFirst | Transport::SseFirst, .. } => {
            let mut address = url.clone();
            address.set_query(None);
            let record = place.transports.clone()?;
            Some((record, hash_of(&[address.as_str().as_bytes()])))
        }
        _ => None,
    }
}
