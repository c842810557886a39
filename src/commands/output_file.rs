//! Writes files that `-o` names. A repository may have planted a symbolic link: links are neither followed
//! nor replaced.

use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

use lepo_base::error::{Error, Result, quoted};

/// Opens a file for writing without truncating it; creates it if missing.
pub fn open_output(path: &Path) -> Result<File> {
    let flags = if is_stream(path) { OFlags::empty() } else { OFlags::NOFOLLOW };
    let mut options = File::options();
    options.write(true).create(true).truncate(false).custom_flags(flags.bits().cast_signed());
    options.open(path).map_err(|error| match is_link(path) {
        true => link(path),
        false => Error::usage(format!("cannot write --output {}", path.display())).because(error),
    })
}

/// Writes a file atomically; a pipe or a device is written directly.
pub fn replace_output(path: &Path, bytes: &[u8]) -> Result<()> {
    let failed = |error| Error::store(format!("cannot write {}", path.display())).because(error);
    let there = match is_stream(path) {
        true => path.metadata(),
        false => path.symlink_metadata(),
    };
    let is_new = match there {
        Ok(there) if there.is_symlink() => return Err(link(path)),
        Ok(there) if !there.is_file() => return open_output(path)?.write_all(bytes).map_err(failed),
        // `/dev/fd/N` of a file that the shell opened for a redirection.
        Ok(_) if is_stream(path) => return open_output(path)?.write_all(bytes).map_err(failed),
        there => there.is_err(),
    };
    check_parent(path)?;
    let dir = parent(path);
    let no_place = |error| Error::usage(format!("cannot write {}", path.display())).because(bare(error));
    let mut new = tempfile::NamedTempFile::new_in(&dir).map_err(no_place)?;
    new.write_all(bytes).and_then(|()| new.as_file().sync_all()).map_err(failed)?;
    let placed = match is_new {
        true => new.persist_noclobber(path),
        false if is_link(path) => return Err(link(path)),
        false => new.persist(path),
    };
    match placed {
        Ok(_) => Ok(()),
        Err(error) if is_link(path) || error.error.kind() == io::ErrorKind::AlreadyExists => {
            Err(Error::usage(format!("{} was created in the meantime", path.display())))
        }
        Err(error) => Err(failed(error.error)),
    }
}

/// Rejects a file whose directory does not exist.
pub fn check_parent(path: &Path) -> Result<()> {
    let dir = parent(path);
    if is_stream(path) || dir.is_dir() {
        return Ok(());
    }
    let (target, dir) = (path.display(), dir.display().to_string());
    let error = Error::usage(format!("cannot write {target}: there is no folder {dir}"));
    // A hint is a line to copy: one line, whatever a folder is called.
    Err(if dir.contains(char::is_control) { error } else { error.hint(format!("mkdir -p {}", quoted(&dir))) })
}

fn parent(path: &Path) -> PathBuf {
    match path.parent() {
        Some(dir) if !dir.as_os_str().is_empty() => dir.to_path_buf(),
        _ => PathBuf::from("."),
    }
}

/// Drops the name of a temporary file from its error, as it means nothing to a user.
pub fn bare(error: io::Error) -> io::Error {
    error.kind().into()
}

/// Rejects a directory that is a symbolic link, unless the name ends in `/`: its files would be written
/// elsewhere.
pub fn check_folder(dir: &Path) -> Result<()> {
    let says_folder = dir.as_os_str().as_encoded_bytes().ends_with(b"/");
    if says_folder || !is_link(dir) {
        return Ok(());
    }
    let folder = dir.display();
    Err(Error::usage(format!("cannot write in {folder}: it is a link"))
        .hint(format!("-o {folder}/ follows it; or name the folder that it leads to")))
}

/// Whether a path names an open descriptor (a link on some systems) or the null device.
fn is_stream(path: &Path) -> bool {
    let Some(name) = path.to_str().and_then(|path| path.strip_prefix("/dev/")) else { return false };
    let number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    matches!(name, "stdout" | "stderr" | "null") || name.strip_prefix("fd/").is_some_and(number)
}

fn is_link(path: &Path) -> bool {
    !is_stream(path) && path.symlink_metadata().is_ok_and(|meta| meta.is_symlink())
}

fn link(path: &Path) -> Error {
    let error = Error::usage(format!("cannot write {}: it is a link", path.display()));
    match path.read_link() {
        Ok(to) => error.hint(format!("it leads to {}; name that file, or remove the link", to.display())),
        Err(_) => error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_open_files_are_known() {
        for (path, is) in [
            ("/dev/stdout", true),
            ("/dev/stderr", true),
            ("/dev/null", true),
            ("/dev/fd/3", true),
            ("/dev/fd/", false),
            ("/dev/fd/3/x", false),
            ("/dev/fd/../shm/x", false),
            ("/dev/shm/x", false),
            ("dev/stdout", false),
        ] {
            assert_eq!(is_stream(Path::new(path)), is, "{path}");
        }
    }

    #[test]
    fn a_link_is_neither_written_through_nor_replaced() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        std::fs::write(at("file"), "before").unwrap();
        for (name, to) in [("link", "file"), ("lost", "nowhere"), ("round", "round")] {
            std::os::unix::fs::symlink(to, at(name)).unwrap();
            assert!(open_output(&at(name)).is_err_and(|error| error.to_string().contains("it is a link")));
            assert!(replace_output(&at(name), b"x").is_err_and(|e| e.to_string().contains("it is a link")));
            assert!(at(name).is_symlink());
        }
        assert_eq!(std::fs::read(at("file")).unwrap(), b"before");
        assert!(!at("nowhere").exists());
        // A symbolic link to a directory is followed: the user named it.
        std::os::unix::fs::symlink(".", at("folder")).unwrap();
        replace_output(&at("folder/file"), b"after").unwrap();
        replace_output(&at("folder/new"), b"new").unwrap();
        assert_eq!(std::fs::read(at("file")).unwrap(), b"after");
        assert_eq!(std::fs::read(at("new")).unwrap(), b"new");
    }
}
