//! Checks, repairs and tidies a store; the work is in `check`, `line_ends`, `recover` and `tidy`.

use super::handle::Store;

#[derive(Clone, Copy)]
pub struct Maintenance<'s> {
    pub(super) store: &'s Store,
}

impl Store {
    pub fn upkeep(&self) -> Maintenance<'_> {
        Maintenance { store: self }
    }
}
