//! Files come out whole and private, or not at all.

use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::{fs, io};

use crate::config::write::{create, replace};

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
