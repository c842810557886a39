//! The Agent Client Protocol, version 1: its messages as values and its lines. Does no I/O and knows nothing of lepo.
//!
//! This crate alone names what the protocol names: a new major version is a change of this crate.
//!
//! | module | holds |
//! |---|---|
//! | [`rpc`] | JSON-RPC 2.0: one message a line, errors and their codes |
//! | [`lines`] | bytes into lines of a bounded length |
//! | [`content`] | the blocks of a prompt and of an update |
//! | [`update`] | the updates of a session, tool calls among them |
//! | [`agent`] | what a client asks of an agent, and the answers |
//! | [`client`] | what a client asks of an agent, from the client's side |
//! | [`permission`] | the question for permission and its answer |

pub mod agent;
pub mod client;
pub mod content;
pub mod lines;
pub mod permission;
pub mod rpc;
pub mod update;

/// The version of the protocol.
pub const VERSION: u64 = 1;

/// The longest line that is written: 1 MiB. What is longer is told in several updates.
pub const LONGEST_WRITTEN: usize = 1 << 20;

/// Bytes of text in one update at most: each may take six as JSON.
pub const TEXT: usize = 128 << 10;

/// Parts a text into pieces that each fit into one update.
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
