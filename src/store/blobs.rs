//! Blobs: what is too large for a bubb or is not text, whole, under the SHA-256 of its bytes.

use std::fs::File;
use std::io::{self, Read, Write};

use rustix::fs::{AtFlags, OFlags};
use rustix::io::Errno;
use sha2::{Digest, Sha256};

use super::{FILE, Store};
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
        let (blobs, tmp) = (self.subdir("_blobs")?, self.subdir("_tmp")?);
        let nonce = std::time::SystemTime::UNIX_EPOCH.elapsed().map_or(0, |d| d.as_nanos());
        let tmp_name = format!("blob-{}-{nonce:x}", std::process::id());
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let mut file = File::from(rustix::fs::openat(&tmp, tmp_name.as_str(), flags, FILE)?);
        let kept = (|| {
            let (mut hasher, mut len, mut buffer) = (Sha256::new(), 0, vec![0; 64 << 10]);
            loop {
                let n = from.read(&mut buffer)?;
                if n == 0 {
                    break;
                }
                file.write_all(&buffer[..n])?;
                hasher.update(&buffer[..n]);
                len += n as u64;
            }
            file.sync_all()?;
            let hash: String = hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
            match rustix::fs::renameat(&tmp, tmp_name.as_str(), &blobs, hash.as_str()) {
                Ok(()) | Err(Errno::EXIST) => {}
                Err(error) => return Err(error.into()),
            }
            rustix::fs::fsync(&blobs)?;
            Ok(Blob { hash, len })
        })();
        if kept.is_err() {
            let _ = rustix::fs::unlinkat(&tmp, tmp_name.as_str(), AtFlags::empty());
        }
        kept
    }
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
    fn lengths_are_written_in_thousands() {
        for (n, text) in [(0, "0"), (999, "999"), (1_000, "1,000"), (1_234_567, "1,234,567")] {
            assert_eq!(thousands(n), text);
        }
    }
}
