//! Opens paths for a sandbox without following a link in any component.

use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::{CWD, Mode, OFlags, ResolveFlags};
use rustix::io::Errno;

/// Returns a descriptor of the current file at `path`. Fails if a component is a link: paths are resolved before, so
/// the link was created since.
pub fn open_without_links(path: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    let resolve = ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    rustix::fs::openat2(CWD, path, flags, Mode::empty(), resolve).map_err(|error| match error {
        Errno::LOOP => io::Error::other(format!("{} now leads through a link", path.display())),
        error => {
            io::Error::new(io::Error::from(error).kind(), format!("cannot open {}: {error}", path.display()))
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_anywhere_in_a_path_is_an_error() {
        let temp_dir = tempfile::tempdir().unwrap();
        let dir = temp_dir.path().canonicalize().unwrap();
        std::fs::create_dir_all(dir.join("real/sub")).unwrap();
        std::os::unix::fs::symlink("real", dir.join("link")).unwrap();
        assert!(open_without_links(&dir.join("real/sub")).is_ok());
        for path in ["link", "link/sub"] {
            let error = open_without_links(&dir.join(path)).unwrap_err();
            assert!(error.to_string().contains("leads through a link"), "{path}: {error}");
        }
    }
}
