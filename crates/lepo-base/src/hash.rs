//! Hexadecimal text: hashes in file names, in records and in links.

use std::fmt::Write;

use sha2::{Digest, Sha256};

/// Returns two lower-case digits per byte.
pub fn hex(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    text
}

/// Returns the SHA-256 of `bytes` as hexadecimal text, which is the name of a blob.
pub fn sha256_hex(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// Computes a SHA-256 piece by piece.
#[derive(Default)]
pub struct StreamHasher(Sha256);

impl StreamHasher {
    /// Appends bytes.
    pub fn add(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// Returns the hash of all bytes as hexadecimal text.
    pub fn finish(self) -> String {
        hex(&self.0.finalize())
    }
}

/// Returns the SHA-256 of `parts`, hexadecimal. A zero byte, which no part may contain, separates them.
pub fn hash_of(parts: &[&[u8]]) -> String {
    let mut hasher = Sha256::new();
    for (i, part) in parts.iter().enumerate() {
        if i > 0 {
            hasher.update([0]);
        }
        hasher.update(part);
    }
    hex(&hasher.finalize())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_digits_a_byte() {
        assert_eq!(hex(&[0, 0x0f, 0xa0, 0xff]), "000fa0ff");
        assert_eq!(hex(&[]), "");
        assert!(sha256_hex(b"").starts_with("e3b0c44298fc1c149afbf4c8996fb924"));
        let mut pieces = StreamHasher::default();
        [&b"a"[..], b"", b"bc"].into_iter().for_each(|piece| pieces.add(piece));
        assert_eq!(pieces.finish(), sha256_hex(b"abc"));
    }
}
