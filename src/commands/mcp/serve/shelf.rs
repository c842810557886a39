//! The stores that are served.

use std::sync::OnceLock;

use super::stores::Stores;
use crate::commands::finder::masker;
use lepo_secrets::Masker;

/// The stores, and what their texts are masked with.
pub struct Shelf {
    pub stores: Stores,
    pub writes: bool,
    masker: OnceLock<Masker>,
}

impl Shelf {
    /// Serves stores; with a tool that writes, if wanted.
    pub fn new(stores: Stores, writes: bool) -> Shelf {
        Shelf { stores, writes, masker: OnceLock::new() }
    }

    /// The masks, made when they are first needed.
    pub fn masker(&self) -> &Masker {
        self.masker.get_or_init(masker)
    }
}
