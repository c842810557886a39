//! Checks, repairs and tidies a store; the work is in `check`, `line_ends`, `recover` and `tidy`.

use super::handle::Store;

#[derive(Clone, Copy)]
pub struct Upkeep<'s> {
    pub(super) store: &'s Store,
}

impl Store {
    pub fn upkeep(&self) -> Upkeep<'_> {
        Upkeep { store: self }
    }
}
