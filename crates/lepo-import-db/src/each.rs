//! The callback for conversations.

use lepo_import::History;

/// Receives each conversation with its format; returns false once the reader has gone.
pub type FormatSink<'e> = dyn FnMut(&str, &History) -> bool + 'e;
