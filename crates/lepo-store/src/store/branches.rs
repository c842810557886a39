//! Branches: names for bubbs, each a file with a line. A slash in the name is `%2F` in the file's name.
//!
//! A merge of two copies of a store may leave several ids in a file; the greatest counts.

use std::collections::{BTreeSet, HashMap};
use std::io::{self, Read, Write};

use rustix::fs::AtFlags;
use rustix::io::Errno;

use super::handle::Store;
use crate::bubb::BubbId;
use crate::conv::ReadScope;
use lepo_base::error::{Error, Result, quoted};
use lepo_base::sys;

const DIR: &str = "_branches";

const SLASH: &str = "%2F";

/// Maximum number of bytes read of a branch.
const MOST: u64 = 64 << 10;

#[doc(hidden)]
impl Store {
    /// Returns the bubb of a branch; `None` if the branch does not exist.
    pub fn branch(&self, name: &str) -> Result<Option<BubbId>> {
        if check_branch_name(name).is_err() {
            return Ok(None);
        }
        match self.branch_ids(name)?.map(|ids| ids.first().copied()) {
            None => Ok(None),
            Some(Some(id)) => Ok(Some(id)),
            Some(None) => Err(Error::store(format!(
                "branch {name} contains no id: {}/{DIR}/{}",
                self.dir.display_path.display(),
                file_of(name)
            ))
            .hint(format!("to set it again: lepo branch -f {} ADDR", quoted(name)))),
        }
    }

    /// Reads the ids in a branch's file, greatest first; `None` if the branch does not exist.
    pub fn branch_ids(&self, name: &str) -> Result<Option<Vec<BubbId>>> {
        let path = format!("{DIR}/{}", file_of(name));
        let mut text = Vec::new();
        let read = self.dir.open_file(path.as_str()).and_then(|file| file.take(MOST).read_to_end(&mut text));
        match read {
            Ok(_) => {
                let lines = text.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii_end);
                let ids: BTreeSet<BubbId> = lines.filter_map(BubbId::parse).collect();
                Ok(Some(ids.into_iter().rev().collect()))
            }
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                Ok(None)
            }
            Err(error) => Err(self.dir.error("cannot read", path, error)),
        }
    }

    /// Sets a branch to these ids, or deletes it, durable when this returns.
    pub fn restore_branch(&self, name: &str, ids: Option<&[BubbId]>) -> Result<()> {
        check_branch_name(name)?;
        match ids {
            Some(ids) => {
                self.write_branch(name, ids, true).map(|_| ()).map_err(|error| self.branch_error(name, error))
            }
            None => self.delete_branch(name).map(|_| ()),
        }
    }

    /// Moves a branch from `from` to `to`. Returns `false`, and leaves it, if it has moved in the meantime.
    pub fn advance_branch(&self, name: &str, from: BubbId, to: BubbId) -> Result<bool> {
        let mut ids = self.branch_ids(name)?.unwrap_or_default();
        if ids.first() != Some(&from) {
            return Ok(false);
        }
        // Other ids left by a merge stay until the user chooses.
        ids[0] = to;
        self.write_branch(name, &ids, true).map_err(|error| self.branch_error(name, error))
    }

    /// Returns the bubbs of a branch to which a merge of two copies left several ids, greatest first; empty if it has
    /// only one.
    pub fn merged_branch_ids(&self, name: &str) -> Result<Vec<BubbId>> {
        Ok(self.branch_ids(name)?.filter(|ids| ids.len() > 1).unwrap_or_default())
    }

    /// Returns the ends of a branch that a merge left with several, greatest first; empty if it has one.
    pub fn branch_ends(&self, name: &str) -> Result<Vec<BubbId>> {
        let ids = self.merged_branch_ids(name)?;
        if ids.is_empty() {
            return Ok(ids);
        }
        let forest = self.forest_for(&[ReadScope::Ids(ids.clone())])?;
        Ok(Some(forest.ends_among(&ids)).filter(|ends| ends.len() > 1).unwrap_or_default())
    }

    /// Sets a branch to `to`, durable when this returns.
    pub fn set_branch(&self, name: &str, to: BubbId) -> Result<()> {
        check_branch_name(name)?;
        self.write_branch(name, &[to], true).map(|_| ()).map_err(|error| self.branch_error(name, error))
    }

    /// Creates a branch, durable when this returns; `false`, without a change, if the name is in use.
    pub fn make_branch(&self, name: &str, to: BubbId) -> Result<bool> {
        check_branch_name(name)?;
        self.write_branch(name, &[to], false).map_err(|error| self.branch_error(name, error))
    }

    fn write_branch(&self, name: &str, ids: &[BubbId], replace: bool) -> io::Result<bool> {
        let branches = self.dir.subdir(DIR)?;
        let mut tmp = self.dir.temporary("branch")?;
        for id in ids {
            writeln!(tmp.file, "{id}")?;
        }
        tmp.file.sync_all()?;
        let placed = match replace {
            true => tmp.replace(&branches, &file_of(name)).map(|()| true)?,
            false => tmp.publish(&branches, &file_of(name))?,
        };
        sys::sync(&branches)?;
        Ok(placed)
    }

    /// Deletes a branch, but not its bubb; `false` if the branch does not exist.
    pub fn delete_branch(&self, name: &str) -> Result<bool> {
        check_branch_name(name)?;
        let deleted = self.dir.subdir(DIR).and_then(|branches| {
            match rustix::fs::unlinkat(&branches, file_of(name), AtFlags::empty()) {
                Err(Errno::NOENT) => return Ok(false),
                result => result?,
            }
            sys::sync(&branches)?;
            Ok(true)
        });
        deleted.map_err(|error| self.dir.error("cannot delete", format!("{DIR}/{}", file_of(name)), error))
    }

    fn branch_error(&self, name: &str, error: io::Error) -> Error {
        self.dir.error("cannot write", format!("{DIR}/{}", file_of(name)), error)
    }

    /// Returns the branches with their bubbs, by name, for listings, without unreadable branches.
    pub fn branches(&self) -> Result<Vec<(String, BubbId)>> {
        let named =
            self.branch_names()?.into_iter().filter_map(|name| Some((self.branch(&name).ok()??, name)));
        let mut found: Vec<(String, BubbId)> = named.map(|(id, name)| (name, id)).collect();
        found.sort();
        Ok(found)
    }

    /// Returns the branches with their bubbs, by name, for commands that move or delete bubbs: an unreadable branch
    /// is an error. A file without an id is ignored.
    pub fn branches_or_error(&self) -> Result<Vec<(String, BubbId)>> {
        let mut found = Vec::new();
        for name in self.branch_names()?.into_iter().filter(|name| check_branch_name(name).is_ok()) {
            if let Some(Some(id)) = self.branch_ids(&name)?.map(|ids| ids.first().copied()) {
                found.push((name, id));
            }
        }
        found.sort();
        Ok(found)
    }

    fn branch_names(&self) -> Result<Vec<String>> {
        let mut names = Vec::new();
        self.dir
            .each_entry_of(DIR, |file, _| names.extend(std::str::from_utf8(file).map(name_of)))
            .map_err(|error| self.dir.error("cannot read", DIR, error))?;
        Ok(names)
    }

    /// Returns the branch names of each bubb, including bubbs that a merge left in a branch besides the greatest.
    pub fn branches_by_end(&self) -> Result<HashMap<BubbId, Vec<String>>> {
        let mut names = self.branches_by_bubb()?;
        for (name, greatest) in self.branches()? {
            for id in self.merged_branch_ids(&name)?.into_iter().filter(|id| *id != greatest) {
                names.entry(id).or_default().push(name.clone());
            }
        }
        Ok(names)
    }

    pub fn branches_by_bubb(&self) -> Result<HashMap<BubbId, Vec<String>>> {
        let mut names: HashMap<BubbId, Vec<String>> = HashMap::new();
        for (name, id) in self.branches()? {
            names.entry(id).or_default().push(name);
        }
        Ok(names)
    }
}

fn file_of(name: &str) -> String {
    name.replace('/', SLASH)
}

pub(super) fn name_of(file: &str) -> String {
    file.replace(SLASH, "/")
}

/// Applies git's rules for refs, and rejects a name that parses as an id.
pub fn check_branch_name(name: &str) -> Result<()> {
    let part = |is_wrong: fn(&str) -> bool| name.split('/').any(is_wrong);
    let why = if name.is_empty() {
        "is empty"
    } else if matches!(name, "@" | "-" | "head") {
        "is already an address"
    } else if part(str::is_empty) {
        "begins or ends with a slash, or has two together"
    } else if name.starts_with('-') || part(|part| part.starts_with('.')) {
        "begins with - or ., or a part of it with ."
    } else if name.ends_with(".md") || part(|part| part.ends_with('.') || part.ends_with(".lock")) {
        "ends with ., .lock or .md"
    } else if name.contains("..") || name.contains("@{") || name.contains(SLASH) {
        "contains .., @{ or %2F"
    } else if name.chars().any(|c| c.is_control() || c.is_whitespace() || "\\~^:?*[".contains(c)) {
        "contains white space, a control character or one of \\ ~ ^ : ? * ["
    } else if file_of(name).len() > 255 {
        "is longer than 255 bytes"
    } else if BubbId::parse(name.as_bytes()).is_some() {
        "reads as an id"
    } else {
        return Ok(());
    };
    Err(Error::usage(format!("{name:?} is not a valid branch name: it {why}")))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use tempfile::TempDir;

    use super::super::STORE;
    use super::super::oracle::store;
    use super::*;

    #[test]
    fn a_branch_that_cannot_be_read_is_an_error_where_bubbs_move_or_go() {
        let dir = TempDir::new().unwrap();
        let (store, branches) = (store(&dir), dir.path().join(STORE).join("_branches"));
        let id = BubbId::parse(b"01JB3Z0Q4N8V2K5T7W9X1Y3Z5A").unwrap();
        assert_eq!(store.branches_or_error().unwrap(), []);
        store.set_branch("try/2", id).unwrap();
        fs::write(branches.join("empty"), "").unwrap();
        fs::write(branches.join("other.lock"), "no branch").unwrap();
        let readable = vec![("try/2".to_string(), id)];
        assert_eq!(store.branches_or_error().unwrap(), readable);
        fs::create_dir(branches.join("main")).unwrap();
        assert_eq!(store.branches().unwrap(), readable);
        let error = store.branches_or_error().unwrap_err().to_string();
        assert!(error.contains("cannot read") && error.contains("_branches/main"), "{error}");
        fs::remove_dir_all(&branches).unwrap();
        fs::write(&branches, "no directory").unwrap();
        assert!(store.branches_or_error().is_err());
    }

    #[test]
    fn names_follow_gits_rules() {
        for (name, good) in [
            ("main", true),
            ("try-2", true),
            ("한글", true),
            ("a.b", true),
            ("", false),
            ("-x", false),
            (".x", false),
            ("a..b", false),
            ("a/b", true),
            ("feature/x/2", true),
            ("/a", false),
            ("a/", false),
            ("a//b", false),
            ("a/.b", false),
            ("a%2Fb", false),
            ("a~1", false),
            ("a^", false),
            ("a b", false),
            ("a\nb", false),
            ("x.lock", false),
            ("@", false),
            ("head", false),
            ("01JB3Z0Q4N8V2K5T7W9X1Y3Z5A", false),
            ("01jb3z0q4n8v2k5t7w9x1y3z5a", false),
        ] {
            assert_eq!(check_branch_name(name).is_ok(), good, "{name:?}");
        }
    }
}
