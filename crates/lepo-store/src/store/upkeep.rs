//! The part of a store for checking, repairing and tidying; the work is in `check`, `line_ends`, `recover` and `tidy`.

use super::handle::Store;

/// Checking, repairing and tidying a store.
#[derive(Clone, Copy)]
pub struct Upkeep<'s> {
    pub(super) store: &'s Store,
}

impl Store {
    /// Checking, repairing and tidying.
    pub fn upkeep(&self) -> Upkeep<'_> {
        Upkeep { store: self }
    }
}
