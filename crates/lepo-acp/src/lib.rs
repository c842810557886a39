//! The Agent Client Protocol, version 1: its messages as values and its lines. Does no I/O and is independent of lepo.
//!
//! Only this crate uses the protocol's names: a new major version changes this crate alone.
//!
//! | module | contents |
//! |---|---|
//! | [`rpc`] | JSON-RPC 2.0: one message a line, errors and their codes |
//! | [`lines`] | splits bytes into lines of bounded length |
//! | [`content`] | the blocks of a prompt and of an update |
//! | [`update`] | the updates of a session, including tool calls |
//! | [`request`] | requests and notifications of a client, in either direction |
//! | [`agent`] | the agent's answers, built |
//! | [`client`] | the client's own requests, and the agent's answers, parsed |
//! | [`permission`] | the request for permission and its answer |

pub mod agent;
pub mod client;
pub mod content;
pub mod lines;
pub mod permission;
mod reading;
pub mod request;
pub mod rpc;
pub mod update;

/// The major version of the protocol.
pub const VERSION: u64 = 1;

/// Maximum length of a line to write: 1 MiB. Longer content is split into several updates.
pub const LONGEST_WRITTEN: usize = 1 << 20;

/// Maximum bytes of text in an update: each may need six as JSON.
pub const TEXT: usize = 128 << 10;

/// Splits a text into pieces that each fit into an update.
pub fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let (piece, after) = rest.split_at(rest.floor_char_boundary(TEXT));
        rest = after;
        Some(piece)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_bounded_and_make_the_text() {
        let text = "한".repeat(100_000);
        let parts: Vec<&str> = pieces(&text).collect();
        assert_eq!(parts.concat(), text);
        assert!(parts.len() == 3 && parts.iter().all(|part| part.len() <= TEXT));
        assert_eq!(pieces("").count(), 0);
    }
}
