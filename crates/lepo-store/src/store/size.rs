//! The size of a bubb's file, told without opening it.

use std::sync::atomic::Ordering;

use rustix::fs::AtFlags;

use super::{OLD, Store};
use crate::bubb::{Day, Name};

impl Store {
    /// The bytes of a bubb, as its file tells; none where its usual name is not found at once.
    pub fn size_of(&self, name: &Name) -> Option<u64> {
        let (file, day) = (name.to_string(), Day::of(name.id));
        let stat = |path: &str| rustix::fs::statat(&self.dir, path, AtFlags::SYMLINK_NOFOLLOW).ok();
        let in_day = || stat(&format!("{OLD}/{day}/{file}"));
        let found = match self.has_days.load(Ordering::Relaxed) {
            true if name.id.time() < self.oldest_recent.load(Ordering::Relaxed) => {
                in_day().or_else(|| stat(&file))
            }
            true => stat(&file).or_else(in_day),
            false => stat(&file),
        };
        Some(found?.st_size as u64)
    }
}
