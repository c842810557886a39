//! Reads a file named for a question: never an endless device, and only up to a limit.

use std::fs::File;
use std::io::{IsTerminal, Read};
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

use lepo_base::error::{Error, Result};

/// Maximum bytes of a file to send as text.
const MOST: u64 = 64 << 20;

/// Reads the rest of an open file after `start`, the bytes already read from it; `path` is for messages. Pipes are read,
/// and of devices only terminals and those without any bytes, such as `/dev/null`.
pub fn read_bounded(file: &File, path: &Path, start: Vec<u8>) -> Result<Vec<u8>> {
    let failed = |error| Error::usage(format!("cannot read {}", path.display())).because(error);
    let kind = file.metadata().map_err(failed)?.file_type();
    let is_device = kind.is_block_device() || (kind.is_char_device() && !file.is_terminal());
    if is_device && !start.is_empty() {
        return Err(Error::usage(format!("cannot read {}: it is a device", path.display())));
    }
    let (mut bytes, limit) = (start, MOST + 1);
    file.take(limit.saturating_sub(bytes.len() as u64)).read_to_end(&mut bytes).map_err(failed)?;
    match bytes.len() as u64 > MOST {
        true => Err(Error::usage(format!("{} is larger than {} MiB", path.display(), MOST >> 20))
            .hint("send only the part that matters")),
        false => Ok(bytes),
    }
}

/// Reads the text of a file.
pub fn read_text(path: &Path) -> Result<String> {
    let failed = |error| Error::usage(format!("cannot read {}", path.display())).because(error);
    let mut file = File::open(path).map_err(failed)?;
    let mut start = Vec::new();
    (&mut file).take(1).read_to_end(&mut start).map_err(failed)?;
    let bytes = read_bounded(&file, path, start)?;
    let text = String::from_utf8(bytes)
        .map_err(|error| Error::usage(format!("{} is not UTF-8", path.display())).because(error))?;
    // A byte order mark is not part of the text.
    Ok(text.strip_prefix('\u{feff}').map(str::to_string).unwrap_or(text))
}

#[cfg(test)]
mod tests {
    use super::super::NewFile;
    use super::*;

    #[test]
    fn what_has_no_end_is_not_read() {
        let dir = tempfile::tempdir().unwrap();
        let (link, sparse, text) = (dir.path().join("l"), dir.path().join("s"), dir.path().join("t"));
        std::os::unix::fs::symlink("/dev/zero", &link).unwrap();
        File::create(&sparse).unwrap().set_len(20 << 30).unwrap();
        std::fs::write(&text, "text").unwrap();
        for (path, expected) in [
            (link.as_path(), "it is a device"),
            (&sparse, "is larger than 64 MiB"),
            (Path::new("/dev/full"), "it is a device"),
        ] {
            assert!(read_text(path).unwrap_err().message.contains(expected), "{path:?}");
            assert!(NewFile::open_path(path).unwrap_err().message.contains(expected), "{path:?}");
            assert!(NewFile::open(path).unwrap_err().message.contains(expected), "{path:?}");
        }
        let marked = dir.path().join("m");
        std::fs::write(&marked, "\u{feff}text").unwrap();
        for (path, read) in [(text.as_path(), "text"), (&marked, "text"), (Path::new("/dev/null"), "")] {
            assert_eq!(read_text(path).unwrap(), read);
        }
    }
}
