//! The stores to serve, with their masked texts.

use std::sync::OnceLock;

use super::masked_texts::{MaskedTexts, WithSecrets};
use super::stores::ServedStores;
use crate::commands::secret_finder::masker;
use lepo_base::error::Result;
use lepo_secrets::Masker;
use lepo_store::store::Store;

pub struct ServeContext {
    pub stores: ServedStores,
    pub can_write: bool,
    masker: OnceLock<Masker>,
    masked: MaskedTexts,
}

impl ServeContext {
    /// `writes` adds a tool that writes.
    pub fn new(stores: ServedStores, can_write: bool) -> ServeContext {
        ServeContext { stores, can_write, masker: OnceLock::new(), masked: MaskedTexts::default() }
    }

    /// Creates the masker on first use.
    pub fn masker(&self) -> &Masker {
        self.masker.get_or_init(masker)
    }

    pub fn with_secrets(&self, number: usize, store: &Store) -> Result<WithSecrets> {
        self.masked.of_store(number, store, self.masker())
    }
}
