//! Blobs: what is too large for a bubb or is not text, whole, under the SHA-256 of its bytes.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};

use sha2::{Digest, Sha256};

use super::Store;
use crate::error::Result;

/// A blob that is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Blob {
    /// SHA-256 of its bytes, 64 lower-case hexadecimal digits: its file name.
    pub hash: String,
    /// Its length in bytes.
    pub len: u64,
}

impl Blob {
    /// The line that ends a bubb something was cut from.
    pub fn line(&self) -> String {
        format!("[{} bytes: _blobs/{}]", thousands(self.len), self.hash)
    }
}

impl Store {
    /// Keeps all that `from` gives, durable when this returns.
    pub fn blob(&self, from: &mut dyn Read) -> Result<Blob> {
        self.keep_blob(from).map_err(|error| self.error("cannot write in", "_blobs", error))
    }

    fn keep_blob(&self, from: &mut dyn Read) -> io::Result<Blob> {
        let blobs = self.subdir("_blobs")?;
        let mut tmp = self.temporary("blob")?;
        let (mut hasher, mut len, mut buffer) = (Sha256::new(), 0, vec![0; 64 << 10]);
        loop {
            let n = from.read(&mut buffer)?;
            if n == 0 {
                break;
            }
            tmp.file.write_all(&buffer[..n])?;
            hasher.update(&buffer[..n]);
            len += n as u64;
        }
        tmp.file.sync_all()?;
        let hash: String = hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        tmp.replace(&blobs, &hash)?;
        rustix::fs::fsync(&blobs)?;
        Ok(Blob { hash, len })
    }
}

/// Bytes at the end of a bubb in which its blob lines are looked for: about five hundred lines.
const END: u64 = 64 << 10;

/// The hashes in the blob lines that end a bubb's file.
pub(super) fn blobs_at_end(file: &mut File) -> io::Result<Vec<String>> {
    let len = file.seek(SeekFrom::End(0))?;
    file.seek(SeekFrom::Start(len.saturating_sub(END)))?;
    let mut end = Vec::new();
    file.take(END).read_to_end(&mut end)?;
    Ok(blob_lines(&end))
}

/// The hashes in the blob lines that end a text.
pub(super) fn blob_lines(text: &[u8]) -> Vec<String> {
    text.rsplit(|&byte| byte == b'\n').map_while(blob_line).collect()
}

/// The hash in `[1,234,567 bytes: _blobs/SHA256]`.
fn blob_line(line: &[u8]) -> Option<String> {
    let line = std::str::from_utf8(line).ok()?.strip_prefix('[')?.strip_suffix(']')?;
    let (len, hash) = line.split_once(" bytes: _blobs/")?;
    let is_len = !len.is_empty() && len.bytes().all(|byte| byte.is_ascii_digit() || byte == b',');
    (is_len && is_hash(hash)).then(|| hash.to_string())
}

/// 64 hexadecimal digits in lower case: the name of a blob.
pub(super) fn is_hash(name: &str) -> bool {
    name.len() == 64 && name.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// `1234567` as `1,234,567`.
fn thousands(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bubb_names_the_blobs_in_the_lines_that_end_it() {
        let (a, b) = ("a".repeat(64), "0123456789abcdef".repeat(4));
        let line = |hash: &str| Blob { hash: hash.to_string(), len: 1_234_567 }.line();
        for (text, hashes) in [
            (String::new(), vec![]),
            (line(&a), vec![&a]),
            (format!("$ make\n{}\n{}", line(&a), line(&b)), vec![&b, &a]),
            (format!("{}\nand more", line(&a)), vec![]),
            (format!("see {}", line(&a)), vec![]),
            (format!("{}\n", line(&a)), vec![]),
            (format!("[12 bytes: _blobs/{}]", "A".repeat(64)), vec![]),
            (format!("[ bytes: _blobs/{a}]"), vec![]),
            ("[12 bytes: _blobs/../../etc/passwd]".to_string(), vec![]),
        ] {
            assert_eq!(
                blob_lines(text.as_bytes()),
                hashes.into_iter().cloned().collect::<Vec<_>>(),
                "{text}"
            );
        }
    }

    #[test]
    fn lengths_are_written_in_thousands() {
        for (n, text) in [(0, "0"), (999, "999"), (1_000, "1,000"), (1_234_567, "1,234,567")] {
            assert_eq!(thousands(n), text);
        }
    }
}
