//! Lines of the record: a keyword, and escaped paths.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

pub(super) enum Line {
    Begin(OpenMark),
    End(String),
    File(PathBuf),
    /// Everything below a folder, with the command that changed it.
    Folder(PathBuf, String),
}

/// The mark of a command whose end is not recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct OpenMark {
    pub id: String,
    /// Start time in nanoseconds by the clock of the file system; `None` if unknown.
    pub since: Option<i128>,
    pub root: PathBuf,
}

#[derive(Debug, Default)]
pub(super) struct Record {
    pub files: BTreeSet<PathBuf>,
    pub folders: BTreeMap<PathBuf, String>,
    pub open: Vec<OpenMark>,
}

impl Record {
    /// Reads the record, which is empty if the file is missing.
    pub fn read(path: &Path) -> io::Result<Record> {
        let text = match std::fs::read(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Record::default()),
            text => text?,
        };
        let mut record = Record::default();
        for line in String::from_utf8_lossy(&text).lines().filter_map(Line::from_text) {
            match line {
                Line::Begin(mark) => record.open.push(mark),
                Line::End(id) => record.open.retain(|mark| mark.id != id),
                Line::File(path) => drop(record.files.insert(path)),
                Line::Folder(path, id) => drop(record.folders.insert(path, id)),
            }
        }
        Ok(record)
    }
}

impl Line {
    pub fn to_text(&self) -> String {
        match self {
            Line::Begin(OpenMark { id, since, root }) => {
                format!("begin {id} {} {}\n", since.unwrap_or_default(), plain(root))
            }
            Line::End(id) => format!("end {id}\n"),
            Line::File(path) => format!("file {}\n", plain(path)),
            Line::Folder(path, id) => format!("folder {} {id}\n", plain(path)),
        }
    }

    /// Ignores an incomplete line: the mark of its command stays open.
    fn from_text(line: &str) -> Option<Line> {
        let parts: Vec<&str> = line.split(' ').collect();
        Some(match parts.as_slice() {
            ["begin", id, since, root] => Line::Begin(OpenMark {
                id: id.to_string(),
                since: Some(since.parse().ok()?).filter(|since| *since != 0),
                root: path(root)?,
            }),
            ["end", id] => Line::End(id.to_string()),
            ["file", file] => Line::File(path(file)?),
            ["folder", folder, id] => Line::Folder(path(folder)?, id.to_string()),
            _ => return None,
        })
    }
}

fn plain(path: &Path) -> String {
    let mut text = String::new();
    for &byte in path.as_os_str().as_bytes() {
        match byte.is_ascii_graphic() && byte != b'%' {
            true => text.push(byte.into()),
            false => text.push_str(&format!("%{byte:02x}")),
        }
    }
    text
}

fn path(text: &str) -> Option<PathBuf> {
    let (mut bytes, mut rest) = (Vec::new(), text.bytes());
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'%' => {
                let digits = [rest.next()?, rest.next()?];
                u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?
            }
            byte => byte,
        });
    }
    Some(PathBuf::from(OsString::from_vec(bytes))).filter(|path| path.is_absolute())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_path_is_read_as_it_was_written() {
        for name in [&b"/a"[..], b"/a b", b"/%", b"/%20", b"/\n", b"/\xff\xfe", "/é".as_bytes()] {
            let name = PathBuf::from(OsString::from_vec(name.to_vec()));
            let text = plain(&name);
            assert!(text.bytes().all(|byte| byte.is_ascii_graphic()), "{text}");
            assert_eq!(path(&text), Some(name));
        }
        assert_eq!((path("%4"), path("relative")), (None, None));
    }

    #[test]
    fn a_line_that_was_cut_ends_no_mark() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("touched");
        let open = |text: &str| {
            std::fs::write(&file, text).unwrap();
            Record::read(&file).unwrap().open.len()
        };
        assert_eq!(open("begin 1 5 /a\n"), 1);
        assert_eq!(open("begin 1 5 /a\nfile /a/x\nend 1\n"), 0);
        assert_eq!(open("begin 1 5 /a\nfile /a/x\nen"), 1);
        assert_eq!(open("begin 1 5 /a\nend\n\nbegin 2 0 /b\n"), 2);
    }
}
