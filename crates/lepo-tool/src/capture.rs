//! A command's output: stored whole in a file, and cut to its head and tail for a model.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

/// A complete output stream of a command.
#[derive(Debug)]
pub struct CapturedStream {
    file: File,
    len: u64,
}

/// The part of a stream that a model reads.
#[derive(Debug, PartialEq, Eq)]
pub struct OutputExcerpt {
    /// The bytes; if the middle is missing, a line says how much.
    pub text: Vec<u8>,
    /// Whether the middle is missing.
    pub cut: bool,
}

impl CapturedStream {
    /// Wraps a stream that `file` contains from its beginning.
    pub fn new(mut file: File) -> io::Result<CapturedStream> {
        let len = file.seek(SeekFrom::End(0))?;
        Ok(CapturedStream { file, len })
    }

    /// Returns the length of the whole stream, in bytes.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether the command printed nothing.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the whole stream, to be read from its beginning.
    pub fn rewound(&mut self) -> io::Result<&mut File> {
        self.file.rewind()?;
        Ok(&mut self.file)
    }

    /// Returns at most about `limit` bytes: the head and the tail, cut between characters.
    pub fn section(&mut self, limit: usize) -> io::Result<OutputExcerpt> {
        let mut text = Vec::new();
        if self.len <= limit as u64 {
            self.rewound()?.read_to_end(&mut text)?;
            return Ok(OutputExcerpt { text, cut: false });
        }
        let half = (limit / 2) as u64;
        self.rewound()?.take(half).read_to_end(&mut text)?;
        text.truncate(text.len() - unfinished(&text));
        let mut tail = Vec::new();
        self.file.seek(SeekFrom::Start(self.len - half))?;
        self.file.read_to_end(&mut tail)?;
        let tail = tail.get(continuation(&tail)..).unwrap_or_default();
        let missing = self.len - text.len() as u64 - tail.len() as u64;
        text.extend(format!("\n[… {missing} bytes left out …]\n").bytes());
        text.extend(tail);
        Ok(OutputExcerpt { text, cut: true })
    }
}

/// Counts the bytes at the end that start a character without completing it.
fn unfinished(bytes: &[u8]) -> usize {
    match std::str::from_utf8(bytes) {
        Err(error) if error.error_len().is_none() => bytes.len() - error.valid_up_to(),
        _ => 0,
    }
}

/// Counts the bytes at the beginning that complete a character without starting it.
fn continuation(bytes: &[u8]) -> usize {
    bytes.iter().take(3).take_while(|&&byte| byte & 0xc0 == 0x80).count()
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn section(text: &[u8], limit: usize) -> OutputExcerpt {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(text).unwrap();
        CapturedStream::new(file).unwrap().section(limit).unwrap()
    }

    #[test]
    fn what_is_short_is_whole() {
        assert_eq!(section(b"abc", 3), OutputExcerpt { text: b"abc".to_vec(), cut: false });
        assert_eq!(section(b"", 3), OutputExcerpt { text: vec![], cut: false });
    }

    #[test]
    fn what_is_long_keeps_its_ends() {
        let cut = section(b"0123456789", 4);
        assert_eq!(String::from_utf8(cut.text).unwrap(), "01\n[… 6 bytes left out …]\n89");
        assert!(cut.cut);
    }

    #[test]
    fn no_character_is_split() {
        let text = "가나다라마바사".repeat(10);
        for limit in 2..40 {
            let cut = String::from_utf8(section(text.as_bytes(), limit).text).unwrap();
            assert!(!cut.contains('\u{fffd}'));
        }
    }
}
