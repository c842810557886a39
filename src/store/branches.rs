//! Branches: a name for a bubb, one file of one line each.

use std::io::{self, Write};
use std::os::fd::AsFd;

use rustix::fs::{AtFlags, OFlags};
use rustix::io::Errno;

use super::{FILE, Store};
use crate::bubb::BubbId;
use crate::error::{Error, Result};

const DIR: &str = "_branches";

impl Store {
    /// The bubb a branch names; `None` if there is no such branch.
    pub fn branch(&self, name: &str) -> Result<Option<BubbId>> {
        if check_branch_name(name).is_err() {
            return Ok(None);
        }
        let path = format!("{DIR}/{name}");
        let mut text = String::new();
        match self
            .open_file(path.as_str())
            .and_then(|mut file| io::Read::read_to_string(&mut file, &mut text))
        {
            Ok(_) => match BubbId::parse(text.trim_end().as_bytes()) {
                Some(id) => Ok(Some(id)),
                None => {
                    Err(Error::store(format!("branch {name} holds no id: {}/{path}", self.shown.display()))
                        .hint(format!("set it anew: lepo branch -f {name} ADDR")))
                }
            },
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                Ok(None)
            }
            Err(error) => Err(self.error("cannot read", path, error)),
        }
    }

    /// Moves a branch from `from` to `to`, unless it has moved meanwhile: then false, and it stays.
    pub fn move_branch(&self, name: &str, from: BubbId, to: BubbId) -> Result<bool> {
        if self.branch(name)? != Some(from) {
            return Ok(false);
        }
        self.set_branch(name, to)?;
        Ok(true)
    }

    /// Makes a branch name `to`, durable when this returns.
    pub fn set_branch(&self, name: &str, to: BubbId) -> Result<()> {
        check_branch_name(name)?;
        let written = self.replace_branch(name, to);
        written.map_err(|error| self.error("cannot write", format!("{DIR}/{name}"), error))
    }

    fn replace_branch(&self, name: &str, to: BubbId) -> io::Result<()> {
        let (branches, tmp) = (self.subdir(DIR)?, self.subdir("_tmp")?);
        let tmp_name = format!("branch-{}-{to}", std::process::id());
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mut file = std::fs::File::from(rustix::fs::openat(&tmp, tmp_name.as_str(), flags, FILE)?);
        let put = writeln!(file, "{to}")
            .and_then(|()| file.sync_all())
            .and_then(|()| Ok(rustix::fs::renameat(&tmp, tmp_name.as_str(), &branches, name)?))
            .and_then(|()| Ok(rustix::fs::fsync(branches.as_fd())?));
        if put.is_err() {
            let _ = rustix::fs::unlinkat(&tmp, tmp_name.as_str(), AtFlags::empty());
        }
        put
    }

    /// All branches with the bubbs they name, by name. One that cannot be read is left out.
    pub fn branches(&self) -> Result<Vec<(String, BubbId)>> {
        let mut found = Vec::new();
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let dir = match rustix::fs::openat(&self.dir, DIR, flags, rustix::fs::Mode::empty()) {
            Ok(dir) => dir,
            Err(Errno::NOENT) => return Ok(found),
            Err(error) => return Err(self.error("cannot read", DIR, error.into())),
        };
        let entries =
            rustix::fs::Dir::read_from(&dir).map_err(|e| self.error("cannot read", DIR, e.into()))?;
        for entry in entries {
            let entry = entry.map_err(|e| self.error("cannot read", DIR, e.into()))?;
            if let Ok(name) = entry.file_name().to_str()
                && let Ok(Some(id)) = self.branch(name)
            {
                found.push((name.to_string(), id));
            }
        }
        found.sort();
        Ok(found)
    }
}

/// git's rules for one component of a ref, and not a text that reads as an id.
pub fn check_branch_name(name: &str) -> Result<()> {
    let why = if name.is_empty() {
        "is empty"
    } else if name == "@" || name == "-" {
        "is an address already"
    } else if name.starts_with(['-', '.']) {
        "begins with - or ."
    } else if name.ends_with('.') || name.ends_with(".lock") || name.ends_with(".md") {
        "ends with ., .lock or .md"
    } else if name.contains("..") || name.contains("@{") {
        "holds .. or @{"
    } else if name.chars().any(|c| c.is_control() || c.is_whitespace() || "/\\~^:?*[".contains(c)) {
        "holds white space, a control character or one of / \\ ~ ^ : ? * ["
    } else if name.len() > 255 {
        "is longer than 255 bytes"
    } else if BubbId::parse(name.as_bytes()).is_some() {
        "reads as an id"
    } else {
        return Ok(());
    };
    Err(Error::usage(format!("{name:?} cannot be the name of a branch: it {why}")))
}

#[cfg(test)]
mod tests {
    use super::*;

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
            ("a/b", false),
            ("a~1", false),
            ("a^", false),
            ("a b", false),
            ("a\nb", false),
            ("x.lock", false),
            ("@", false),
            ("01JB3Z0Q4N8V2K5T7W9X1Y3Z5A", false),
            ("01jb3z0q4n8v2k5t7w9x1y3z5a", false),
        ] {
            assert_eq!(check_branch_name(name).is_ok(), good, "{name:?}");
        }
    }
}
