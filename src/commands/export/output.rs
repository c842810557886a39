//! Writes an exported conv to a new file, atomically.

use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use jiff::Zoned;
use unicode_segmentation::UnicodeSegmentation;

use crate::commands::output_file::bare;
use crate::term::clean;
use lepo_base::error::{Error, Result};

const TITLE: usize = 10;

/// Maximum bytes of a title: a file name has at most 255, and a character can have any number of combining
/// marks.
const TITLE_BYTES: usize = 200;

/// A file to write.
pub struct Document {
    /// Name of a new file in a folder, without its extension.
    pub stem: String,
    pub text: Vec<u8>,
}

pub enum OutputPath<'p> {
    Folder(&'p Path),
    File(&'p Path),
}

impl OutputPath<'_> {
    /// A folder if it exists as one, ends in `/`, or receives several files.
    pub fn new(output: &Path, has_several: bool) -> OutputPath<'_> {
        let says_folder = output.as_os_str().as_encoded_bytes().ends_with(b"/");
        match has_several || says_folder || output.is_dir() {
            true => OutputPath::Folder(output),
            false => OutputPath::File(output),
        }
    }
}

/// Formats `20251016_162030_대화_제목`: the time, and the first characters of the first question.
pub fn stem(time: &Zoned, question: &str) -> String {
    let time = time.strftime("%Y%m%d_%H%M%S").to_string();
    match title(question) {
        title if title.is_empty() => time,
        title => format!("{time}_{title}"),
    }
}

/// Returns the first characters with white space as `_`, without characters that a file name cannot contain
/// or a terminal cannot show.
fn title(question: &str) -> String {
    let holds = |character: &str| {
        !character.contains(['/', '\\', ':', '*', '?', '"', '<', '>', '|'])
            && !character.contains(char::is_control)
            && clean(character) == character
    };
    let words = question.split_whitespace().collect::<Vec<_>>().join("_");
    let mut title = String::new();
    for character in words.graphemes(true).take(TITLE).filter(|character| holds(character)) {
        if title.len() + character.len() > TITLE_BYTES {
            break;
        }
        title += character;
    }
    title
}

/// Writes a new file: `STEM.EXTENSION`, else `STEM-2.EXTENSION`, …. Readable by its owner only, like the
/// store.
pub fn write_new(dir: &Path, stem: &str, extension: &str, bytes: &[u8]) -> Result<PathBuf> {
    let no_place = |error| Error::usage(format!("cannot write in {}", dir.display())).because(error);
    std::fs::create_dir_all(dir).map_err(no_place)?;
    let mut file = tempfile::NamedTempFile::new_in(dir).map_err(|error| no_place(bare(error)))?;
    let failed = |error| Error::store(format!("cannot write a file in {}", dir.display())).because(error);
    file.write_all(bytes).and_then(|()| file.as_file().sync_all()).map_err(failed)?;
    let mut number = 1;
    loop {
        let again = if number > 1 { format!("-{number}") } else { String::new() };
        let path = dir.join(format!("{stem}{again}.{extension}"));
        match file.persist_noclobber(&path) {
            Ok(_) => return Ok(path),
            Err(error) if error.error.kind() == ErrorKind::AlreadyExists => file = error.file,
            Err(error) => return Err(failed(error.error)),
        }
        number += 1;
    }
}

/// Writes a file of exactly this name; it may already exist with the same content.
pub fn write_named(dir: &Path, name: &str, bytes: &[u8]) -> Result<PathBuf> {
    let path = dir.join(name);
    if std::fs::read(&path).is_ok_and(|there| there == bytes) {
        return Ok(path);
    }
    let no_place = |error| Error::usage(format!("cannot write in {}", dir.display())).because(error);
    std::fs::create_dir_all(dir).map_err(no_place)?;
    let mut file = tempfile::NamedTempFile::new_in(dir).map_err(|error| no_place(bare(error)))?;
    let failed = |error| Error::store(format!("cannot write {}", path.display())).because(error);
    file.write_all(bytes).and_then(|()| file.as_file().sync_all()).map_err(failed)?;
    match file.persist_noclobber(&path) {
        Ok(_) => Ok(path),
        Err(error) if error.error.kind() == ErrorKind::AlreadyExists => {
            Err(Error::usage(format!("{} already exists with other content", path.display()))
                .hint("remove it, or name another folder"))
        }
        Err(error) => Err(failed(error.error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_is_a_part_of_a_file_name() {
        for (question, expected) in [
            ("대화 제목 이다", "대화_제목_이다"),
            ("이 아키텍처 어떻게 구성할까?", "이_아키텍처_어떻게"),
            ("  what\n is  it\t?", "what_is_it"),
            ("a/b\\c:d", "abcd"),
            ("../../etc/passwd", "....etc"),
            ("\u{1b}[31mred\u{202e}", "[31mred"),
            ("👩\u{200d}💻👩\u{200d}💻 hi", "👩\u{200d}💻👩\u{200d}💻_hi"),
            ("\u{1112}\u{1161}\u{11ab} nfd", "\u{1112}\u{1161}\u{11ab}_nfd"),
            ("???", ""),
            ("", ""),
        ] {
            assert_eq!(title(question), expected, "{question:?}");
        }
        assert!(title(&("e".to_string() + &"\u{301}".repeat(500) + "x")).len() <= TITLE_BYTES);
    }
}
