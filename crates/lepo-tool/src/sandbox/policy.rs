//! The mounts of a sandboxed command: a table of paths, in which the deepest one wins, for both sandboxes.

use std::io;
use std::path::{Path, PathBuf};

use super::homes::homes;
use super::mount::{Mount, Mounts, everything};
use super::own_paths::{self, ResolvedPath};
use super::protected::protected;
use super::survey::{Survey, survey_for_reading};
use super::toolchains::toolchains;
use crate::{Access, NamedProgram, TouchedFiles};
use lepo_base::env;

/// Entries of a store: settings and servers, which contain keys, and answers as a model's server sent them.
const SECRETS: &[&str] = &["_config.toml", "_mcp.json", "_wire"];

/// The paths that decide the mounts of a command.
#[derive(Debug, Clone, Copy)]
pub struct Policy<'a> {
    /// The working directory, absolute.
    pub dir: &'a Path,
    /// The start folder of the program, absolute.
    pub start: &'a Path,
    /// The store: never writable, wherever it is.
    pub store: &'a Path,
    /// lepo's own directories, which contain keys, consent and trust: never visible.
    pub own_paths: &'a [PathBuf],
    /// Paths that the configuration makes readable in addition.
    pub read_only: &'a [PathBuf],
    /// Paths that are writable in addition to the working directory.
    pub writable: &'a [PathBuf],
    /// Programs that lepo starts unsandboxed: the files that they name are never writable.
    pub programs: &'a [NamedProgram],
    /// The record of the files that it changes.
    pub touched: &'a TouchedFiles,
}

impl Policy<'_> {
    /// Returns the mounts of a command with this access. The paths are absolute, without links, and exist. With an
    /// access that allows writing, `survey` is required.
    pub(super) fn mounts(&self, access: Access, survey: Option<&Survey>) -> io::Result<Mounts> {
        let dir = self.dir.canonicalize()?;
        let mut mounts = everything();
        let homes = homes();
        let hidden = [PathBuf::from("/run"), PathBuf::from("/tmp")].into_iter().chain(homes.clone());
        for path in hidden.filter(|path| path.is_dir()) {
            mounts.insert(path, Mount::Hidden);
        }
        let found = homes.first().into_iter().flat_map(|home| toolchains(home, env::var));
        // A link to a directory above a hidden one would reveal that.
        let found = found.filter(|path| path.canonicalize().is_ok_and(|path| !is_above(&path, &mounts)));
        let mut seen: Vec<PathBuf> = found.chain(self.read_only.iter().cloned()).collect();
        if access == Access::Net {
            // Often a link into /run.
            seen.push("/etc/resolv.conf".into());
        }
        for path in seen.iter().filter_map(|path| path.canonicalize().ok()) {
            mounts.insert(path, Mount::ReadOnly);
        }
        match access {
            Access::Read => drop(mounts.insert(dir.clone(), Mount::ReadOnly)),
            // New entries of a home could be files that a shell runs.
            Access::Write | Access::Net if homes.contains(&dir) => {
                mounts.insert(dir.clone(), Mount::ReadOnly);
                mounts.extend(plain_entries(&dir)?.into_iter().map(|path| (path, Mount::ReadWrite)));
            }
            Access::Write | Access::Net => drop(mounts.insert(dir.clone(), Mount::ReadWrite)),
            Access::Full => return Err(io::Error::other("no sandbox allows `full`")),
        }
        if homes.contains(&dir) {
            let store = self.store.canonicalize().ok();
            let hidden = hidden_entries(&dir)?.into_iter().filter(|path| Some(path) != store.as_ref());
            // Visible paths below a hidden one, such as a toolchain, stay.
            mounts.extend(hidden.map(|path| (path, Mount::Hidden)));
        }
        if let Some(survey) = survey {
            self.protect(&dir, survey, &mut mounts)?;
        }
        for path in self.writable.iter().filter_map(|path| path.canonicalize().ok()) {
            mounts.insert(path, Mount::ReadWrite);
        }
        if let Some(store) = self.store.canonicalize().ok().filter(|_| !self.writable.is_empty())
            && mount_at(&mounts, &store) == Mount::ReadWrite
        {
            mounts.insert(store, Mount::ReadOnly);
        }
        for secret in self.secrets(&dir, access, survey) {
            // Like lepo's own directories below.
            if mount_at(&mounts, &secret) != Mount::Hidden {
                mounts.insert(secret, Mount::Secret);
            }
        }
        let is_writable = |folder: &Path| mount_at(&mounts, folder) == Mount::ReadWrite;
        let own = own_paths::resolve_all(self.own_paths, is_writable)?;
        let mut roots: Vec<PathBuf> =
            self.writable.iter().filter_map(|path| path.canonicalize().ok()).collect();
        roots.push(dir.clone());
        for path in own {
            let (path, mount) = match path {
                // A link to the working directory itself, or above it, cannot be hidden from what works there.
                ResolvedPath::Existing(path) if dir.starts_with(&path) && !self.own_paths.contains(&path) => {
                    continue;
                }
                ResolvedPath::Existing(path) => (path, Mount::Hidden),
                ResolvedPath::Missing { path, .. } => (path, Mount::Absent),
            };
            // Below a hidden path, even the name would reveal it.
            let above = path.parent().map_or(Mount::ReadOnly, |parent| mount_at(&mounts, parent));
            if mount_at(&mounts, &path) == Mount::Hidden
                || (mount == Mount::Absent && above != Mount::ReadWrite)
            {
                continue;
            }
            let root = roots.iter().find(|root| path.starts_with(root)).unwrap_or(&dir);
            insert_fixed(path, mount, root, &mut mounts);
        }
        Ok(mounts)
    }

    /// Returns the entries of stores that may contain keys, with links resolved; and for a command that only reads, the
    /// named pipes in the working directory, which are writable in spite of a read-only mount.
    fn secrets(&self, dir: &Path, access: Access, survey: Option<&Survey>) -> Vec<PathBuf> {
        let found;
        let survey = match survey {
            Some(survey) => survey,
            None => {
                found = survey_for_reading(dir);
                &found
            }
        };
        let stores = survey.stores.iter().map(PathBuf::as_path).chain([self.store]);
        let within = stores.flat_map(|store| SECRETS.iter().map(move |name| store.join(name)));
        // lepo does not read a link to a directory, and hiding its target could break programs.
        let is_secret =
            |path: &PathBuf| path.is_file() || path.symlink_metadata().is_ok_and(|meta| meta.is_dir());
        let within = within.filter(is_secret).filter_map(|path| path.canonicalize().ok());
        let mut secrets: Vec<PathBuf> = within.collect();
        if access == Access::Read {
            secrets.extend(survey.pipes.iter().cloned());
        }
        secrets.retain(|path| !self.dir.starts_with(path) && !dir.starts_with(path));
        secrets
    }

    /// Makes paths in a writable working directory read-only.
    fn protect(&self, dir: &Path, survey: &Survey, mounts: &mut Mounts) -> io::Result<()> {
        for (path, mount) in protected(dir, self.store, survey)? {
            // A directory that is not writable gets no mount points, and a hidden one reveals nothing.
            let parent = path.parent().map_or(Mount::ReadOnly, |parent| mount_at(mounts, parent));
            if parent == Mount::Hidden || (parent == Mount::ReadOnly && mount == Mount::Absent) {
                continue;
            }
            insert_fixed(path, mount, dir, mounts);
        }
        for path in self.programs.iter().flat_map(|program| program.read_only(dir)) {
            if mount_at(mounts, &path) == Mount::ReadWrite {
                insert_fixed(path, Mount::ReadOnly, dir, mounts);
            }
        }
        Ok(())
    }
}

/// Mounts a path below `dir` so that no directory above it can be moved away with it: each becomes a mount point
/// itself.
fn insert_fixed(path: PathBuf, mount: Mount, dir: &Path, mounts: &mut Mounts) {
    for between in path.ancestors().skip(1).take_while(|above| above.starts_with(dir) && *above != dir) {
        let mount = mount_at(mounts, between);
        mounts.entry(between.to_path_buf()).or_insert(mount);
    }
    mounts.insert(path, mount);
}

/// Returns the entries of a home directory that start with a dot; for a link, its target in the home.
fn hidden_entries(home: &Path) -> io::Result<Vec<PathBuf>> {
    let mut hidden = Vec::new();
    for entry in std::fs::read_dir(home)?.flatten().filter(begins_with_dot) {
        match entry.file_type() {
            Ok(kind) if kind.is_symlink() => {
                let target = entry.path().canonicalize().ok();
                hidden.extend(target.filter(|path| path.starts_with(home) && path != home));
            }
            _ => hidden.push(entry.path()),
        }
    }
    Ok(hidden)
}

/// Returns the other entries, except links.
fn plain_entries(home: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = std::fs::read_dir(home)?.flatten().filter(|entry| !begins_with_dot(entry));
    let real = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file() || kind.is_dir()));
    Ok(real.map(|entry| entry.path()).collect())
}

fn begins_with_dot(entry: &std::fs::DirEntry) -> bool {
    entry.file_name().as_encoded_bytes().starts_with(b".")
}

/// Whether a hidden path is at or below `path`.
fn is_above(path: &Path, mounts: &Mounts) -> bool {
    mounts.iter().any(|(hidden, mount)| *mount == Mount::Hidden && hidden.starts_with(path))
}

/// Returns the mount of a path, which is the mount of the deepest listed path above it.
fn mount_at(mounts: &Mounts, path: &Path) -> Mount {
    path.ancestors().find_map(|above| mounts.get(above)).copied().unwrap_or(Mount::ReadOnly)
}

#[cfg(test)]
mod tests {
    use super::super::survey::survey;
    use super::*;

    #[test]
    fn the_working_directory_is_written_but_not_what_is_kept_in_it() {
        let temp_dir = tempfile::tempdir().unwrap();
        let dir = temp_dir.path().canonicalize().unwrap();
        for sub in [".lepo", "a/b/_wire", "own", "sub/.lepo/_wire", "sub/tools"] {
            std::fs::create_dir_all(dir.join(sub)).unwrap();
        }
        std::fs::write(dir.join("sub/tools/server.py"), "").unwrap();
        std::fs::write(dir.join("keys"), "").unwrap();
        std::os::unix::fs::symlink("../keys", dir.join(".lepo/_mcp.json")).unwrap();
        let own = [dir.join("own"), dir.join("not there")];
        let program = NamedProgram::new("python3", &["sub/tools/server.py".to_string()], &dir);
        let policy = Policy {
            dir: &dir,
            start: &dir,
            store: &dir.join("a/b"),
            own_paths: &own,
            read_only: &[],
            writable: &[],
            programs: &[program],
            touched: &TouchedFiles::in_state(&dir),
        };
        let survey = survey(&dir, 100).unwrap();
        let mount = |access: Access, path: &str| {
            let survey = Some(&survey).filter(|_| access != Access::Read);
            policy.mounts(access, survey).unwrap().get(&dir.join(path)).copied()
        };
        for (path, read, write) in [
            ("", Some(Mount::ReadOnly), Some(Mount::ReadWrite)),
            (".git", None, Some(Mount::Absent)),
            (".lepo", None, Some(Mount::ReadOnly)),
            ("a", None, Some(Mount::ReadWrite)),
            ("a/b", None, Some(Mount::ReadOnly)),
            ("sub", None, Some(Mount::ReadWrite)),
            ("sub/tools", None, Some(Mount::ReadWrite)),
            ("sub/tools/server.py", None, Some(Mount::ReadOnly)),
            ("own", Some(Mount::Hidden), Some(Mount::Hidden)),
            ("not there", None, Some(Mount::Absent)),
            ("a/b/_wire", Some(Mount::Secret), Some(Mount::Secret)),
            ("a/b/_mcp.json", None, None),
            ("sub/.lepo/_wire", Some(Mount::Secret), Some(Mount::Secret)),
            ("keys", Some(Mount::Secret), Some(Mount::Secret)),
        ] {
            let path = path.trim_end_matches('/');
            let at = if path.is_empty() { "." } else { path };
            assert_eq!((mount(Access::Read, at), mount(Access::Write, at)), (read, write), "{path}");
        }
        assert_eq!(policy.mounts(Access::Read, None).unwrap().get(Path::new("/tmp")), Some(&Mount::Hidden));
        assert!(policy.mounts(Access::Full, None).is_err());
    }

    #[test]
    fn a_link_cannot_be_kept() {
        let temp_dir = tempfile::tempdir().unwrap();
        let dir = temp_dir.path().canonicalize().unwrap();
        std::fs::create_dir(dir.join("elsewhere")).unwrap();
        std::os::unix::fs::symlink("elsewhere", dir.join(".git")).unwrap();
        let store = dir.join(".lepo");
        let policy = Policy {
            dir: &dir,
            start: &dir,
            store: &store,
            own_paths: &[],
            read_only: &[],
            writable: &[],
            programs: &[],
            touched: &TouchedFiles::in_state(&dir),
        };
        assert!(policy.mounts(Access::Read, None).is_ok());
        let error = policy.mounts(Access::Write, Some(&survey(&dir, 100).unwrap())).unwrap_err();
        assert!(error.to_string().contains("is a link"), "{error}");
    }
}
