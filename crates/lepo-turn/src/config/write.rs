//! Writes the user's own files atomically, and readable by their owner only, as they may contain keys.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use lepo_base::error::{Error, Result};

/// Replaces the content of a file, mode 0600, by a rename in its directory. A symbolic link remains, and its
/// target is replaced, as a manager of dotfiles expects. Exit 2 on failure, and then the old file is
/// unchanged.
pub fn replace(path: &Path, bytes: &[u8]) -> Result<()> {
    let attempt = || {
        let target = follow(path)?;
        if target.metadata().is_ok_and(|metadata| !metadata.is_file()) {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"));
        }
        write_temporary(&target, bytes)?.persist(&target)?;
        sync_directory(&target)
    };
    attempt().map_err(|error| failed(path, error))
}

/// Creates a file with `bytes`, mode 0600; creates its directory with 0700 if necessary. If the file exists
/// by then, it remains unchanged. A reader never sees a partial file. Exit 2 on failure.
pub fn create(path: &Path, bytes: &[u8]) -> Result<()> {
    let attempt = || {
        match write_temporary(path, bytes)?.persist_noclobber(path) {
            Err(failed) if failed.error.kind() == io::ErrorKind::AlreadyExists => return Ok(()),
            // The file system supports neither this rename nor links.
            Err(_) => exclusively(path, bytes)?,
            Ok(_) => {}
        }
        sync_directory(path)
    };
    attempt().map_err(|error| failed(path, error))
}

fn failed(path: &Path, error: io::Error) -> Error {
    Error::usage(format!("cannot write {}", path.display()))
        .because(error)
        .hint("make its directory writable, or name another one with LEPO_CONFIG_HOME")
}

/// Resolves symbolic links. A path that does not exist yet resolves to itself.
fn follow(path: &Path) -> io::Result<PathBuf> {
    match fs::canonicalize(path) {
        Ok(target) => Ok(target),
        Err(error) if error.kind() == io::ErrorKind::NotFound => match fs::read_link(path) {
            Ok(target) => Ok(directory(path).join(target)),
            Err(_) => Ok(path.to_path_buf()),
        },
        Err(error) => Err(error),
    }
}

fn directory(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// Writes and syncs `bytes` to a temporary file in the directory of `path`.
fn write_temporary(path: &Path, bytes: &[u8]) -> io::Result<NamedTempFile> {
    let directory = directory(path);
    DirBuilder::new().recursive(true).mode(0o700).create(directory)?;
    let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?.to_string_lossy();
    let mut file =
        tempfile::Builder::new().prefix(&format!(".{name}.")).suffix(".tmp").tempfile_in(directory)?;
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    Ok(file)
}

fn exclusively(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

fn sync_directory(path: &Path) -> io::Result<()> {
    File::open(directory(path))?.sync_all()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    fn names(directory: &Path) -> Vec<String> {
        let name = |entry: io::Result<fs::DirEntry>| entry.unwrap().file_name().into_string().unwrap();
        let mut names: Vec<_> = fs::read_dir(directory).unwrap().map(name).collect();
        names.sort();
        names
    }

    #[test]
    fn a_file_is_replaced_whole_and_private() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("new/config.toml");
        for text in ["one", "two"] {
            replace(&path, text.as_bytes()).unwrap();
            assert_eq!(fs::read_to_string(&path).unwrap(), text);
            fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        }
        replace(&path, b"three").unwrap();
        assert_eq!((mode(&path), mode(path.parent().unwrap())), (0o600, 0o700));
        assert_eq!(names(path.parent().unwrap()), ["config.toml"]);
    }

    #[test]
    fn a_link_stays_a_link() {
        let home = tempfile::tempdir().unwrap();
        let dotfiles = home.path().join("dotfiles");
        fs::create_dir(&dotfiles).unwrap();
        let path = home.path().join("config.toml");
        symlink("dotfiles/lepo.toml", &path).unwrap();
        for text in ["made through the link", "replaced through it"] {
            replace(&path, text.as_bytes()).unwrap();
            assert_eq!(fs::read_to_string(dotfiles.join("lepo.toml")).unwrap(), text);
            assert!(fs::symlink_metadata(&path).unwrap().is_symlink());
        }
        assert_eq!(names(&dotfiles), ["lepo.toml"]);
    }

    #[test]
    fn a_device_is_not_replaced() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("config.toml");
        let device = home.path().join("device");
        let _socket = std::os::unix::net::UnixListener::bind(&device).unwrap();
        symlink(&device, &path).unwrap();
        let error = replace(&path, b"x").unwrap_err();
        assert!(error.chain().ends_with("it is not a regular file"), "{}", error.chain());
        assert!(!fs::metadata(&device).unwrap().is_file());
    }

    #[test]
    fn what_is_there_is_not_touched() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("a/b/system_prompt.txt");
        create(&path, b"mine").unwrap();
        create(&path, b"yours").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"mine");
        assert_eq!((mode(&path), mode(path.parent().unwrap())), (0o600, 0o700));
        assert_eq!(names(path.parent().unwrap()), ["system_prompt.txt"]);
    }

    #[test]
    fn a_failure_names_the_file() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("file");
        fs::write(&path, "").unwrap();
        let error = replace(&path.join("config.toml"), b"").unwrap_err();
        assert_eq!(error.kind.exit_code(), 2);
        assert!(error.message.contains("file/config.toml"));
    }
}
