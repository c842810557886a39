//! Finds the message of an address.

use crate::commands::address_args::find_one;
use lepo_base::error::{Error, Result};
use lepo_store::conv::{Forest, Ix};
use lepo_store::store::Store;

/// Resolves an address in a forest that contains all bubbs.
pub fn find_in(store: &Store, forest: &Forest, address: &str) -> Result<Ix> {
    let (found_in, found) = find_one(store, address, &[])?;
    let id = found_in.name(found.ix).id;
    forest.find(id).ok_or_else(|| Error::nothing(format!("message {id} no longer exists")))
}
