//! Whether anything changed since a sync that left nothing to do: told without listing the days that are over.

use std::fmt::Write;

use super::remote::{Refs, Tips};
use super::state::Settings;
use crate::bubb::sha256_hex;
use crate::store::{Store, now};

/// The state of a store's own bubbs and branches; `None` where its filesystem does not tell changes of the days
/// that are over, or one of them changed just now.
pub fn store_state(store: &Store) -> Option<String> {
    let mut names = store.recent_names().ok()?;
    names.sort_unstable();
    let mut text = String::new();
    // Writing to a string cannot fail.
    for name in names {
        let _ = writeln!(text, "{name}");
    }
    for (branch, id) in store.branches().ok()? {
        let _ = writeln!(text, "{branch} {id}");
    }
    for (day, state) in store.old_state(now())? {
        let _ = writeln!(text, "{day} {} {} {}", state.inode, state.ctime, state.mtime);
    }
    Some(sha256_hex(text.as_bytes()))
}

/// The state of everything that decides what a sync does, of the remote too.
pub fn whole_state(store: &str, settings: &Settings, refs: &Refs, remote: &Tips) -> String {
    let Settings { url, name, mine, others, allowed, heads, held_blobs, settled: _ } = settings;
    let decided = format!("{url:?} {name} {heads} {mine:?} {others:?} {allowed:?} {held_blobs:?}");
    sha256_hex(
        format!("{store} {decided} {:?} {:?} {:?} {remote:?}", refs.own, refs.theirs, refs.taken).as_bytes(),
    )
}
