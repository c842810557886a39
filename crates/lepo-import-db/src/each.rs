//! The taker of conversations.

use lepo_import::Conversation;

/// Takes each conversation; false once the reader is gone.
pub type Each<'e> = dyn FnMut(&str, &Conversation) -> bool + 'e;
