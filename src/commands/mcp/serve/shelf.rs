//! The stores that are served.

use std::sync::OnceLock;

use super::masked_texts::{MaskedTexts, WithSecrets};
use super::stores::Stores;
use crate::commands::finder::masker;
use lepo_base::error::Result;
use lepo_secrets::Masker;
use lepo_store::store::Store;

/// The stores, and what their texts are masked with.
pub struct Shelf {
    pub stores: Stores,
    pub writes: bool,
    masker: OnceLock<Masker>,
    masked: MaskedTexts,
}

impl Shelf {
    /// Serves stores; with a tool that writes, if wanted.
    pub fn new(stores: Stores, writes: bool) -> Shelf {
        Shelf { stores, writes, masker: OnceLock::new(), masked: MaskedTexts::default() }
    }

    /// The masks, made when they are first needed.
    pub fn masker(&self) -> &Masker {
        self.masker.get_or_init(masker)
    }

    /// The messages of a store that have secrets.
    pub fn with_secrets(&self, number: usize, store: &Store) -> Result<WithSecrets> {
        self.masked.of_store(number, store, self.masker())
    }
}
