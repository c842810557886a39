//! What a held command finds where: one table of paths, deepest wins, that both sandboxes are built from.

use std::io;
use std::path::{Path, PathBuf};

use super::mount::{Mount, Views, everything};
use super::protected::kept;
use super::toolchains::toolchains;
use crate::env;
use crate::tool::Access;

/// The place a command runs in.
#[derive(Debug, Clone, Copy)]
pub struct Policy<'a> {
    /// The working directory, absolute.
    pub dir: &'a Path,
    /// The store: never written, wherever it is.
    pub store: &'a Path,
    /// lepo's own directories, which hold keys, consent and trust: never even seen.
    pub own: &'a [PathBuf],
    /// Shown read-only besides, by the configuration.
    pub read_only: &'a [PathBuf],
}

impl Policy<'_> {
    /// What a command of this access finds. Paths are absolute, without links, and exist.
    pub(super) fn views(&self, access: Access) -> io::Result<Views> {
        let dir = self.dir.canonicalize()?;
        let mut views = everything();
        let home = std::env::home_dir().and_then(|home| home.canonicalize().ok());
        // `HOME` may be set to anything; the user's own files are where the system says.
        let users = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
        let users = home_of(&users, rustix::process::getuid().as_raw());
        let homes = [home.clone(), users.and_then(|home| home.canonicalize().ok())];
        let hidden = [Some(PathBuf::from("/run")), Some(PathBuf::from("/tmp"))].into_iter().chain(homes);
        for path in hidden.flatten().filter(|path| path.is_dir() && path.parent().is_some()) {
            views.insert(path, Mount::Hidden);
        }
        let found = home.iter().flat_map(|home| toolchains(home, env::var));
        // A link to what is above would show what is hidden.
        let found = found.filter(|path| path.canonicalize().is_ok_and(|path| !is_above(&path, &views)));
        let mut seen: Vec<PathBuf> = found.chain(self.read_only.iter().cloned()).collect();
        if access == Access::Net {
            // Often a link into /run.
            seen.push("/etc/resolv.conf".into());
        }
        for path in seen.iter().filter_map(|path| path.canonicalize().ok()) {
            views.insert(path, Mount::ReadOnly);
        }
        match access {
            Access::Read => drop(views.insert(dir.clone(), Mount::ReadOnly)),
            Access::Write | Access::Net => {
                views.insert(dir.clone(), Mount::ReadWrite);
                self.keep(&dir, &mut views)?;
            }
            Access::Full => return Err(io::Error::other("no sandbox is as wide as `full`")),
        }
        for own in self.own.iter().filter_map(|path| path.canonicalize().ok()) {
            // Below what is hidden anyway, its name alone would tell of it.
            if view_of(&views, &own) != Mount::Hidden {
                views.insert(own, Mount::Hidden);
            }
        }
        Ok(views)
    }

    /// What is not written in a working directory that is.
    fn keep(&self, dir: &Path, views: &mut Views) -> io::Result<()> {
        for (path, view) in kept(dir, self.store)? {
            // A directory in between could be moved away with all it holds, if it were no mount point itself.
            for between in
                path.ancestors().skip(1).take_while(|above| above.starts_with(dir) && *above != dir)
            {
                views.entry(between.to_path_buf()).or_insert(Mount::ReadWrite);
            }
            views.insert(path, view);
        }
        Ok(())
    }
}

/// The home directory that the text of `/etc/passwd` gives a user; the directories of the system that it
/// gives its own services are none.
fn home_of(users: &str, user: u32) -> Option<PathBuf> {
    let mut lines = users.lines().map(|line| line.split(':').collect::<Vec<_>>());
    let line = lines.find(|line| line.get(2).is_some_and(|id| id.parse() == Ok(user)))?;
    let home = PathBuf::from(line.get(5)?);
    let system = ["/usr", "/bin", "/sbin", "/lib", "/etc", "/dev", "/proc", "/sys"];
    (home.is_absolute() && !system.iter().any(|dir| home.starts_with(dir))).then_some(home)
}

/// Whether something hidden is at or below the path.
fn is_above(path: &Path, views: &Views) -> bool {
    views.iter().any(|(hidden, view)| *view == Mount::Hidden && hidden.starts_with(path))
}

/// How a path looks: as the deepest one that it is below.
fn view_of(views: &Views, path: &Path) -> Mount {
    path.ancestors().find_map(|above| views.get(above)).copied().unwrap_or(Mount::ReadOnly)
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
        let ground = Policy { dir: &dir, store: &dir.join("a/b"), own: &own, read_only: &[] };
        let view = |access: Access, path: &str| ground.views(access).unwrap().get(&dir.join(path)).copied();
        for (path, read, write) in [
            ("", Some(Mount::ReadOnly), Some(Mount::ReadWrite)),
            (".git", None, Some(Mount::Absent)),
            (".lepo", None, Some(Mount::ReadOnly)),
            ("a", None, Some(Mount::ReadWrite)),
            ("a/b", None, Some(Mount::ReadOnly)),
            ("own", Some(Mount::Hidden), Some(Mount::Hidden)),
            ("not there", None, None),
        ] {
            let path = path.trim_end_matches('/');
            let at = if path.is_empty() { "." } else { path };
            assert_eq!((view(Access::Read, at), view(Access::Write, at)), (read, write), "{path}");
        }
        assert_eq!(ground.views(Access::Read).unwrap().get(Path::new("/tmp")), Some(&Mount::Hidden));
        assert!(ground.views(Access::Full).is_err());
    }

    #[test]
    fn a_home_is_the_users_and_none_of_the_system() {
        let users =
            "root:x:0:0:root:/root:/bin/sh\ndaemon:x:1:1::/usr/sbin:/x\nu:x:1000:1000:U:/home/u:/bin/sh\n";
        for (user, home) in [(0, Some("/root")), (1, None), (1000, Some("/home/u")), (7, None)] {
            assert_eq!(home_of(users, user), home.map(PathBuf::from), "{user}");
        }
    }

    #[test]
    fn a_link_cannot_be_kept() {
        let place = tempfile::tempdir().unwrap();
        let dir = place.path().canonicalize().unwrap();
        std::fs::create_dir(dir.join("elsewhere")).unwrap();
        std::os::unix::fs::symlink("elsewhere", dir.join(".git")).unwrap();
        let ground = Policy { dir: &dir, store: &dir.join(".lepo"), own: &[], read_only: &[] };
        assert!(ground.views(Access::Read).is_ok());
        let error = ground.views(Access::Write).unwrap_err();
        assert!(error.to_string().contains("is a link"), "{error}");
    }
}
