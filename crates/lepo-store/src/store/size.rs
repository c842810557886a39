//! The size of a bubb's file, without opening it.

use rustix::fs::AtFlags;

use super::dir::OLD;
use super::read::Bubbs;
use crate::bubb::{BubbName, Day};

impl Bubbs<'_> {
    /// Returns the size in bytes of a bubb's file; `None` if it is not found under its usual name.
    pub fn size(&self, name: &BubbName) -> Option<u64> {
        let (file, day) = (name.to_string(), Day::from_id(name.id));
        let stat = |path: &str| rustix::fs::statat(&self.store.dir, path, AtFlags::SYMLINK_NOFOLLOW).ok();
        let in_day = || stat(&format!("{OLD}/{day}/{file}"));
        let found = match self.store.last_reading.has_days() {
            true if self.store.last_reading.has_left(name) => in_day().or_else(|| stat(&file)),
            true => stat(&file).or_else(in_day),
            false => stat(&file),
        };
        Some(found?.st_size as u64)
    }
}
