//! What a held command finds where: one table of paths, deepest wins, that both sandboxes are built from.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use super::toolchains::toolchains;
use crate::tool::Access;

/// How a path and all below it looks from inside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum View {
    /// As an empty directory of its own.
    Hidden,
    /// As it is, but not to be changed.
    Seen,
    /// As it is.
    Written,
    /// It is not there, and is not to be made: an empty directory that nothing can be put in.
    Absent,
}

/// Each path with its view; parents before what is below them.
pub type Views = BTreeMap<PathBuf, View>;

/// The place a command runs in.
#[derive(Debug, Clone, Copy)]
pub struct Ground<'a> {
    /// The working directory, absolute.
    pub dir: &'a Path,
    /// The store: never written, wherever it is.
    pub store: &'a Path,
    /// lepo's own directories, which hold keys, consent and trust: never even seen.
    pub own: &'a [PathBuf],
    /// Shown read-only besides, by the configuration.
    pub read_only: &'a [PathBuf],
}

impl Ground<'_> {
    /// What a command of this access finds. Paths are absolute, without links, and exist.
    pub(super) fn views(&self, access: Access) -> io::Result<Views> {
        let dir = self.dir.canonicalize()?;
        let mut views = everything();
        let home = std::env::home_dir().and_then(|home| home.canonicalize().ok());
        let hidden = [Some(PathBuf::from("/run")), Some(PathBuf::from("/tmp")), home.clone()];
        for path in hidden.into_iter().flatten().filter(|path| path.is_dir() && path.parent().is_some()) {
            views.insert(path, View::Hidden);
        }
        let found = home.iter().flat_map(|home| toolchains(home, |name| std::env::var_os(name)));
        let mut seen: Vec<PathBuf> = found.chain(self.read_only.iter().cloned()).collect();
        if access == Access::Net {
            // Often a link into /run.
            seen.push("/etc/resolv.conf".into());
        }
        for path in seen.iter().filter_map(|path| path.canonicalize().ok()) {
            views.insert(path, View::Seen);
        }
        match access {
            Access::Read => drop(views.insert(dir.clone(), View::Seen)),
            Access::Write | Access::Net => {
                views.insert(dir.clone(), View::Written);
                self.keep(&dir, &mut views)?;
            }
            Access::Full => return Err(io::Error::other("no sandbox is as wide as `full`")),
        }
        for own in self.own.iter().filter_map(|path| path.canonicalize().ok()) {
            // Below what is hidden anyway, its name alone would tell of it.
            if view_of(&views, &own) != View::Hidden {
                views.insert(own, View::Hidden);
            }
        }
        Ok(views)
    }

    /// What is not written in a working directory that is: `.git`, `.lepo` and the store.
    fn keep(&self, dir: &Path, views: &mut Views) -> io::Result<()> {
        for path in [dir.join(".git"), dir.join(".lepo"), self.store.to_path_buf()] {
            match path.symlink_metadata() {
                Ok(meta) if meta.is_symlink() => {
                    // The link could be put elsewhere, whatever is done to its target.
                    let what = format!("{} is a link, which a sandbox cannot keep unchanged", path.display());
                    return Err(io::Error::other(what));
                }
                Ok(_) => {}
                // A repository made by a command would bring hooks and settings that git obeys.
                Err(_) => {
                    views.insert(path, View::Absent);
                    continue;
                }
            }
            let path = path.canonicalize()?;
            // A directory in between could be moved away with all it holds, if it were no mount point itself.
            for between in
                path.ancestors().skip(1).take_while(|above| above.starts_with(dir) && *above != dir)
            {
                views.entry(between.to_path_buf()).or_insert(View::Written);
            }
            views.insert(path, View::Seen);
        }
        Ok(())
    }
}

/// How a path looks: as the deepest one that it is below.
fn view_of(views: &Views, path: &Path) -> View {
    path.ancestors().find_map(|above| views.get(above)).copied().unwrap_or(View::Seen)
}

/// All there is, to be looked at.
pub fn everything() -> Views {
    Views::from([(PathBuf::from("/"), View::Seen)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_working_directory_is_written_but_not_what_is_kept_in_it() {
        let place = tempfile::tempdir().unwrap();
        let dir = place.path().canonicalize().unwrap();
        for sub in [".lepo", "a/b", "own"] {
            std::fs::create_dir_all(dir.join(sub)).unwrap();
        }
        let own = [dir.join("own"), dir.join("not there")];
        let ground = Ground { dir: &dir, store: &dir.join("a/b"), own: &own, read_only: &[] };
        let view = |access: Access, path: &str| ground.views(access).unwrap().get(&dir.join(path)).copied();
        for (path, read, write) in [
            ("", Some(View::Seen), Some(View::Written)),
            (".git", None, Some(View::Absent)),
            (".lepo", None, Some(View::Seen)),
            ("a", None, Some(View::Written)),
            ("a/b", None, Some(View::Seen)),
            ("own", Some(View::Hidden), Some(View::Hidden)),
            ("not there", None, None),
        ] {
            let path = path.trim_end_matches('/');
            let at = if path.is_empty() { "." } else { path };
            assert_eq!((view(Access::Read, at), view(Access::Write, at)), (read, write), "{path}");
        }
        assert_eq!(ground.views(Access::Read).unwrap().get(Path::new("/tmp")), Some(&View::Hidden));
        assert!(ground.views(Access::Full).is_err());
    }

    #[test]
    fn a_link_cannot_be_kept() {
        let place = tempfile::tempdir().unwrap();
        let dir = place.path().canonicalize().unwrap();
        std::fs::create_dir(dir.join("elsewhere")).unwrap();
        std::os::unix::fs::symlink("elsewhere", dir.join(".git")).unwrap();
        let ground = Ground { dir: &dir, store: &dir.join(".lepo"), own: &[], read_only: &[] };
        assert!(ground.views(Access::Read).is_ok());
        let error = ground.views(Access::Write).unwrap_err();
        assert!(error.to_string().contains("is a link"), "{error}");
    }
}
